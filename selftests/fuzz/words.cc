// SPDX-License-Identifier: GPL-2.0-only
// Anything in the mapped words: WQEs, indices, CQEs and what the kernel writes itself, with
// doorbells in between, now and then while a second thread goes on changing all of them.
#include <atomic>
#include <cstring>
#include <random>
#include <thread>

#include <result/must.h>

#include "health.h"
#include "memory.h"
#include "raw_queues.h"
#include "secret.h"
#include "target.h"

namespace fuzz {
namespace {

constexpr size_t kPiece = 48;
constexpr size_t kGuard = 8192;
constexpr size_t kOpen = 32 << 10;
// Between guards: what the queue pairs may use, what they may only read, and what is another's.
constexpr size_t kStillAt = 2 * kGuard + kOpen;
constexpr size_t kForeignAt = kStillAt + 2 * kGuard;
constexpr std::byte kStill{0x11};

class Words : public Target {
 public:
  Words();

  size_t piece() const override { return kPiece; }
  void Check() override { health_.Check(); }
  void Run(const Input& input) override;

 private:
  void Act(Source source, RawQueues& queues);
  void ForgeSend(Source& source, const RawQueues& queues, const RawQp& qp);
  void ForgeRecv(Source& source, const RawQueues& queues, const RawQp& qp);
  void FillWqe(Source& source, const RawQueues& queues, srn_send_wqe& wqe);
  srn_sge Sge(Source& source, const RawQueues& queues);
  uint64_t Address(Source& source);
  uint32_t Key(Source& source, const RawQueues& queues);
  void CheckGuards() const;

  std::string device_;
  Health health_;
  verbs::Buffer buffer_;
  verbs::Bytes open_;
  verbs::Bytes still_;  // may be read, and not written to
  // Of another program, as far as the kernel knows: a secret of its.
  verbs::Pd pd_;
  verbs::Mr foreign_;
};

Words::Words()
    : device_(std::string("/dev/infiniband/") + wire::Wire::Get().context()->device->dev_name),
      health_(net::IpVersion::kV4),
      buffer_(result::Must(verbs::Buffer::Map(kForeignAt + kGuard))),
      open_(buffer_.Slice(kGuard, kOpen)),
      still_(buffer_.Slice(kStillAt, kGuard)),
      pd_(result::Must(verbs::Pd::Create(wire::Wire::Get().context()))),
      foreign_(result::Must(verbs::Mr::Register(pd_, buffer_.Slice(kForeignAt, kGuard)))) {
  FillSecret(buffer_.bytes());
  std::ranges::fill(open_, std::byte{0});
  std::ranges::fill(still_, kStill);
}

// The queue pairs send to each other: what one read where it should not is in the other's memory.
void Words::CheckGuards() const {
  if (!IsUntouched(buffer_.Slice(0, kGuard)) ||
      !IsUntouched(buffer_.Slice(kGuard + kOpen, kGuard)) ||
      !IsUntouched(buffer_.Slice(kStillAt + kGuard, 2 * kGuard)))
    throw Broken("memory outside of the region changed");
  if (verbs::FirstOther(still_, kStill)) throw Broken("memory that may only be read changed");
  if (HoldsSecret(open_)) throw Broken("the region holds what lies outside of it");
}

uint64_t Words::Address(Source& source) {
  const auto open = reinterpret_cast<uint64_t>(open_.data());
  switch (source.Below(12)) {
    case 0:
      return foreign_.At(0).addr;
    case 1:
      return open + kOpen - source.Byte();
    case 2:
      return open - source.Byte();
    case 3:
      return uint64_t{source.Word()} << 32 | source.Edge();
    case 4:
      return reinterpret_cast<uint64_t>(still_.data()) + source.Byte();
    default:
      return open + source.Take<uint16_t>() / 4 * 8 % kOpen;
  }
}

uint32_t Words::Key(Source& source, const RawQueues& queues) {
  const uint32_t keys[] = {queues.key(),
                           queues.key(),
                           queues.key(),
                           queues.key(),
                           queues.key(),
                           queues.key(),
                           queues.key(),
                           queues.still_key(),
                           foreign_->rkey,
                           queues.window(),
                           0,
                           source.Word()};
  return source.Pick(keys);
}

// Some end where the region does, or a little behind.
srn_sge Words::Sge(Source& source, const RawQueues& queues) {
  static constexpr uint32_t kLengths[] = {0, 1, 8, 64, 1000, 1024, 4096, 10000};
  static constexpr uint32_t kBehind[] = {0, 1, 8, 64};
  srn_sge sge = {.addr = Address(source),
                 .length = source.OneIn(8) ? source.Edge() : source.Pick(kLengths),
                 .lkey = Key(source, queues)};
  if (source.OneIn(4))
    sge.addr = reinterpret_cast<uint64_t>(open_.data()) + kOpen + source.Pick(kBehind) - sge.length;
  // Its key and its address go together, or never would.
  if (sge.lkey == queues.still_key() && !source.OneIn(4)) {
    sge.addr = reinterpret_cast<uint64_t>(still_.data()) + source.Byte();
    sge.length = std::min<uint32_t>(sge.length, kGuard / 2);
  }
  return sge;
}

void Words::FillWqe(Source& source, const RawQueues& queues, srn_send_wqe& wqe) {
  wqe.wr_id = source.Byte();
  wqe.opcode = source.OneIn(16) ? source.Edge() : source.Below(18);
  wqe.flags = source.OneIn(16) ? source.Edge() : source.Byte() & 0x1f & ~IBV_SEND_INLINE;
  wqe.num_sge = source.OneIn(16) ? source.Edge() : source.Below(4);
  if (source.OneIn(6)) {
    wqe.flags |= IBV_SEND_INLINE;
    wqe.num_sge = 0;
    wqe.inline_len = source.OneIn(4) ? source.Edge() : source.Below(65);
  }
  wqe.inv_rkey = Key(source, queues);
  switch (source.Below(6)) {
    case 0:
      wqe.ud = {.ah = source.OneIn(4) ? source.Edge() : queues.ah(),
                .remote_qpn = source.OneIn(4) ? source.Edge() : queues.qps()[1].number,
                .remote_qkey = 0x11};
      break;
    case 1:
      wqe.bind = {.addr = Address(source),
                  .length = source.OneIn(4) ? source.Edge() : source.Byte(),
                  .mr_lkey = Key(source, queues),
                  .mw_rkey = queues.window(),
                  .new_rkey = queues.window() ^ source.Byte(),
                  .access = source.Byte()};
      break;
    default:
      wqe.rdma = {.remote_addr = Address(source),
                  .compare_add = source.Byte(),
                  .swap = source.Byte(),
                  .rkey = Key(source, queues)};
  }
}

void Words::ForgeSend(Source& source, const RawQueues& queues, const RawQp& qp) {
  srn_send_wqe wqe = {};
  const uint32_t tail = qp.page()->sq_tail;
  const uint32_t slot = (source.OneIn(8) ? source.Byte() : tail) & (qp.driver.sq_entries - 1);
  char* place = qp.queue.start + qp.driver.sq_offset + slot * qp.driver.sq_stride;
  FillWqe(source, queues, wqe);
  std::memcpy(place, &wqe, sizeof(wqe));
  for (size_t at = sizeof(wqe); at + sizeof(srn_sge) <= qp.driver.sq_stride;
       at += sizeof(srn_sge)) {
    const srn_sge sge = Sge(source, queues);
    std::memcpy(place + at, &sge, sizeof(sge));
  }
  const uint32_t step = source.OneIn(12) ? source.Edge() : 1;
  __atomic_store_n(&qp.page()->sq_tail, tail + step, __ATOMIC_RELEASE);
}

void Words::ForgeRecv(Source& source, const RawQueues& queues, const RawQp& qp) {
  const bool shared = qp.driver.rq_entries == 0;
  const uint32_t stride = shared ? queues.srq_stride() : qp.driver.rq_stride;
  char* slots =
      shared ? queues.srq().start + SRN_QUEUE_OFFSET : qp.queue.start + qp.driver.rq_offset;
  uint32_t* tail =
      shared ? &reinterpret_cast<srn_srq_page*>(queues.srq().start)->tail : &qp.page()->rq_tail;
  for (uint32_t count = 1 + source.Below(3); count > 0; --count) {
    const srn_recv_wqe wqe = {.wr_id = source.Byte(),
                              .num_sge = source.OneIn(8) ? source.Edge() : source.Below(3)};
    char* place = slots + (*tail & 15) * stride;
    std::memcpy(place, &wqe, sizeof(wqe));
    const srn_sge sge = Sge(source, queues);
    std::memcpy(place + sizeof(wqe), &sge, sizeof(sge));
    __atomic_store_n(tail, *tail + (source.OneIn(16) ? source.Edge() : 1), __ATOMIC_RELEASE);
  }
}

void Words::Act(Source source, RawQueues& queues) {
  static constexpr ibv_qp_state kStates[] = {IBV_QPS_ERR, IBV_QPS_SQD, IBV_QPS_RTS, IBV_QPS_RESET};
  const RawQp& qp = queues.qps()[source.Below(2)];
  const RawQueue mapped[] = {queues.qps()[0].queue, queues.qps()[1].queue, queues.cq(),
                             queues.srq()};
  const uint32_t kind = source.Below(16);
  if (kind < 7) return ForgeSend(source, queues, qp);
  if (kind < 10) return ForgeRecv(source, queues, qp);
  if (kind < 14) {
    queues.Doorbell(source.OneIn(8) ? source.Edge() : 0xff);
    if (source.OneIn(2)) queues.Consume();
    return;
  }
  if (kind < 15 && source.OneIn(3)) return queues.Modify(qp, source.Pick(kStates));
  // The control block's words are each in a line of their own.
  const std::span<uint32_t> words = source.Pick(mapped).words();
  for (uint32_t count = 1 + source.Below(6); count > 0; --count) {
    const size_t at = source.OneIn(2) ? source.Below(4) * 16 + source.Below(5)
                                      : source.Take<uint16_t>() % words.size();
    words[at] = source.OneIn(2) ? words[at] + source.Byte() : source.Edge();
  }
}

void Words::Run(const Input& input) {
  static constexpr ibv_qp_type kTypes[] = {IBV_QPT_RC, IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD};
  Source source(input);
  Source head = source.Part(kPiece);
  const ibv_qp_type type = head.Pick(kTypes);
  RawQueues queues(device_, type, head.OneIn(2) && type == IBV_QPT_RC, open_, still_);
  std::atomic<bool> done = false;
  std::thread scribbler;
  if (head.OneIn(8))
    scribbler = std::thread([&, random = std::minstd_rand(head.Word())]() mutable {
      for (; !done; std::this_thread::yield())
        for (const RawQp& qp : queues.qps())
          for (int i = 0; i < 64; ++i)
            qp.queue.words()[random() % qp.queue.words().size()] = random();
    });
  while (!source.empty()) Act(source.Part(kPiece), queues);
  queues.Doorbell(0xff);
  done = true;
  if (scribbler.joinable()) scribbler.join();
  CheckGuards();
}

}  // namespace

std::unique_ptr<Target> CreateWords() { return std::make_unique<Words>(); }

}  // namespace fuzz
