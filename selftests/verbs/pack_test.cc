// SPDX-License-Identifier: GPL-2.0-only
// Lists of small messages, which cross the host as one: each byte and each completion is as if they
// went one by one.
#include <chrono>
#include <functional>
#include <random>
#include <thread>

#include <share/counters.h>
#include <share/parameter.h>

#include "env.h"

namespace verbs_test {
namespace {

constexpr size_t kSlot = 512;
constexpr uint32_t kWord = 0x0a0b0c00;
constexpr uint8_t kNothing = 0xee;

class Pack : public WireTest {
 protected:
  void SetUp() override {
    if (Foreign()) GTEST_SKIP() << "what others send nobody knows";
    WireTest::SetUp();
  }
  void TearDown() override { Runs("Y"); }
  static void Runs(const char* how) { share::SetParameter("runs", how); }

  // What the senders, or the receivers, device has counted.
  static uint64_t Sent(const char* name) { return share::FreshCounter(DeviceA(), name); }
  static uint64_t Received(const char* name) { return share::FreshCounter(DeviceB(), name); }

  enum Kind { kWrite, kWriteImm, kSend, kSendImm, kKinds };
  struct Message {
    Kind kind;
    size_t length;
    bool inline_data;
  };

  static bool Receives(const Message& m) { return m.kind != kWrite; }
  // Where message `i` is at both sides.
  static size_t Place(size_t i) { return i * kSlot; }
  std::vector<Message> Mixed(size_t num, uint32_t seed) const {
    std::mt19937 random(seed);
    std::vector<Message> list;
    for (size_t i = 0; i < num; ++i)
      list.push_back({.kind = static_cast<Kind>(random() % kKinds),
                      .length = random() % 4 ? random() % 40 : random() % (kSlot + 1),
                      .inline_data = random() % 2 == 0});
    return list;
  }
  void Prepare(const std::vector<Message>& list, uint32_t seed) {
    for (size_t i = 0; i < list.size(); ++i) {
      FillPattern(a_.bytes(Place(i), kSlot), seed + static_cast<uint32_t>(i));
      Fill(b_.bytes(Place(i), kSlot), kNothing);
    }
  }
  SendWr Wr(const Message& m, size_t i, uint32_t rkey) const {
    auto data = m.length ? SendWr::Sges{a_.mr.Slice(Place(i), m.length)} : SendWr::Sges{};
    const Remote remote = {b_.mr.At(Place(i)).addr, rkey};
    SendWr wr = m.kind == kWrite || m.kind == kWriteImm ? SendWr::Write(i, data, remote)
                                                        : SendWr::Send(i, data);
    if (m.kind == kWriteImm || m.kind == kSendImm) wr.Imm(kWord + static_cast<uint32_t>(i));
    if (m.inline_data && m.length <= kInline) wr.Inline();
    return wr;
  }
  std::vector<SendWr> Wrs(const std::vector<Message>& list) const {
    std::vector<SendWr> wrs;
    for (size_t i = 0; i < list.size(); ++i) wrs.push_back(Wr(list[i], i, b_.mr->rkey));
    return wrs;
  }
  // Each receive where its message has its place.
  template <typename Queue>
  void PostReceives(const Queue& queue, const std::vector<Message>& list) const {
    for (size_t i = 0; i < list.size(); ++i)
      if (Receives(list[i])) Must(queue.Post(RecvWr(i, {b_.mr.Slice(Place(i), kSlot)})));
  }
  void ExpectPlaced(const Message& m, size_t i, uint32_t seed) const {
    ExpectPattern(b_.bytes(Place(i), m.length), seed + static_cast<uint32_t>(i));
    ExpectAll(b_.bytes(Place(i) + m.length, kSlot - m.length), kNothing);
  }
  void ExpectReceived(const Pair& p, const Message& m, size_t i) const {
    const bool imm = m.kind != kSend;
    ExpectWc(Await(p.b.recv_cq),
             {.wr_id = i,
              .opcode = m.kind == kWriteImm ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV,
              .qp_num = p.b.qp.num(),
              .byte_len = static_cast<uint32_t>(m.length),
              .flags = imm ? unsigned{IBV_WC_WITH_IMM} : 0u,
              .imm = imm ? std::optional(kWord + static_cast<uint32_t>(i)) : std::nullopt});
  }
  static void ExpectSent(const Pair& p, const Message& m, size_t i) {
    ExpectWc(Await(p.a.send_cq),
             {.wr_id = i,
              .opcode = m.kind == kWrite || m.kind == kWriteImm ? IBV_WC_RDMA_WRITE : IBV_WC_SEND,
              .qp_num = p.a.qp.num()});
  }
  void ExpectWhole(const Pair& p, const std::vector<Message>& list, uint32_t seed) const {
    for (size_t i = 0; i < list.size(); ++i) {
      SCOPED_TRACE("message " + std::to_string(i));
      if (Receives(list[i])) ExpectReceived(p, list[i], i);
      ExpectSent(p, list[i], i);
    }
    for (size_t i = 0; i < list.size(); ++i) ExpectPlaced(list[i], i, seed);
    ExpectQuiet(p.b.recv_cq);
  }
  // Lists of `num`, a few times.
  template <typename Queue>
  void RunLists(const Pair& p, const Queue& receives, size_t num) {
    for (uint32_t round = 0; round < 8; ++round) {
      SCOPED_TRACE("round " + std::to_string(round));
      const auto list = Mixed(num, round);
      Prepare(list, round * 1000);
      PostReceives(receives, list);
      auto wrs = Wrs(list);
      Must(p.a.qp.Post(wrs, nullptr));
      ExpectWhole(p, list, round * 1000);
    }
  }

  // A list of WRITEs whose `bad` one, which `make` makes, fails with `status`.
  void EndsAt(size_t bad, ibv_wc_status status, const std::function<SendWr(size_t)>& make) {
    constexpr size_t kNum = 40;
    const Pair p = Connected(kOptions);
    const std::vector<Message> list(kNum,
                                    {.kind = kWrite, .length = kWrites, .inline_data = false});
    Prepare(list, 7);
    auto wrs = Wrs(list);
    wrs[bad] = make(bad);
    const uint64_t sent = Sent("sent_runs");
    Must(p.a.qp.Post(wrs, nullptr));
    for (size_t i = 0; i < bad; ++i) ExpectSent(p, list[i], i);
    ExpectFailed(Await(p.a.send_cq), bad, status, p.a.qp.num());
    for (size_t i = bad + 1; i < kNum; ++i)
      ExpectFailed(Await(p.a.send_cq), i, IBV_WC_WR_FLUSH_ERR, p.a.qp.num());
    for (size_t i = 0; i < bad; ++i) ExpectPlaced(list[i], i, 7);
    for (size_t i = bad; i < kNum; ++i) ExpectAll(b_.bytes(Place(i), kSlot), kNothing);
    EXPECT_GT(Sent("sent_runs"), sent);
  }

  static constexpr size_t kWrites = 24;  // bytes, of those
  static constexpr uint32_t kInline = 256;
  static constexpr Qp::Options kOptions = {
      .max_send_wr = 128, .max_recv_wr = 128, .max_inline = kInline};
};
SRN_OVER_BOTH_IP(Pack);

TEST_P(Pack, ListsOfAllKindsArriveWholeAndInOrder) {
  const Pair p = Connected(kOptions);
  const uint64_t sent = Sent("sent_runs"), rcvd = Received("rcvd_runs"),
                 split = Received("split_runs");
  const uint64_t again = Sent("retransmitted_pkts");
  RunLists(p, p.b.qp, 64);
  EXPECT_GE(Sent("sent_runs"), sent + 8);
  EXPECT_GE(Received("rcvd_runs"), rcvd + 8);
  // Where a busy machine has packets sent again, these are no packs.
  if (Sent("retransmitted_pkts") == again) {
    EXPECT_EQ(Received("split_runs"), split);
  }
}

TEST_P(Pack, ListsArriveAlikeWithoutRuns) {
  Runs("N");
  const Pair p = Connected(kOptions);
  const uint64_t sent = Sent("sent_runs");
  RunLists(p, p.b.qp, 64);
  EXPECT_EQ(Sent("sent_runs"), sent);
}

TEST_P(Pack, ListsArriveInASharedQueue) {
  const Srq srq = Must(Srq::Create(b_.pd, 128, 1));
  Pair p = {End::Create(a_, kOptions), End::Create(b_, {.srq = &srq})};
  Must(Connect(p.a.qp, a_.port, p.b.qp, b_.port));
  const uint64_t rcvd = Received("rcvd_runs");
  RunLists(p, srq, 40);
  EXPECT_GE(Received("rcvd_runs"), rcvd + 8);
}

// The receives are posted when the list has found none: what waited arrives, each once.
TEST_P(Pack, MessagesWaitForReceivesInTheMiddleOfAList) {
  const Pair p = Connected(kOptions, {.min_rnr_timer = 16});
  for (uint32_t seed = 0; seed < 4; ++seed) {
    const auto list = Mixed(48, seed + 100);
    size_t first = 0;
    Prepare(list, seed);
    // Only the first few find one.
    for (; first < 5 + seed; ++first)
      if (Receives(list[first]))
        Must(p.b.qp.Post(RecvWr(first, {b_.mr.Slice(Place(first), kSlot)})));
    const uint64_t rnr = Received("send_rnr_err");
    auto wrs = Wrs(list);
    Must(p.a.qp.Post(wrs, nullptr));
    for (int i = 0; i < 5000 && Received("send_rnr_err") == rnr; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_GT(Received("send_rnr_err"), rnr);
    for (size_t i = first; i < list.size(); ++i)
      if (Receives(list[i])) Must(p.b.qp.Post(RecvWr(i, {b_.mr.Slice(Place(i), kSlot)})));
    ExpectWhole(p, list, seed);
  }
}

// What stands before it is done, itself is refused, and nothing behind it is written.
TEST_P(Pack, BadKeyInTheMiddleOfAListEndsItThere) {
  EndsAt(20, IBV_WC_REM_ACCESS_ERR, [&](size_t i) {
    return SendWr::Write(i, a_.mr.Slice(Place(i), kWrites),
                         {b_.mr.At(Place(i)).addr, ~b_.mr->rkey});
  });
}

// One whose own memory is bad ends the list, too; what stands before it arrives.
TEST_P(Pack, BadLocalKeyInTheMiddleOfAListEndsItThere) {
  EndsAt(11, IBV_WC_LOC_PROT_ERR, [&](size_t i) {
    ibv_sge sge = a_.mr.Slice(Place(i), kWrites);
    sge.lkey = ~sge.lkey;
    return SendWr::Write(i, sge, b_.mr.At(Place(i)));
  });
}

// A window that is invalidated in the middle of a list is there for what stands before.
TEST_P(Pack, InvalidationInAListEndsAccessThere) {
  const Pair p = Connected(kOptions);
  const Mw mw = Must(Mw::Create(b_.pd, IBV_MW_TYPE_2));
  const uint32_t key = ibv_inc_rkey(mw->rkey);
  Must(p.b.qp.Post(SendWr::BindMw(71, mw.get(), key,
                                  {.mr = b_.mr.get(),
                                   .addr = b_.mr.At(0).addr,
                                   .length = 64 * kSlot,
                                   .mw_access_flags = IBV_ACCESS_REMOTE_WRITE})));
  ASSERT_EQ(Await(p.b.send_cq).status, IBV_WC_SUCCESS);
  std::vector<Message> list(6, {.kind = kWrite, .length = 8, .inline_data = false});
  Prepare(list, 9);
  std::vector<SendWr> wrs;
  for (size_t i = 0; i < 6; ++i) wrs.push_back(Wr(list[i], i, key));
  wrs[3] = std::move(SendWr::Send(3, a_.mr.Slice(Place(3), 8)).Invalidate(key));
  wrs[4] = Wr(list[4], 4, b_.mr->rkey);
  Must(p.b.qp.Post(RecvWr(3, {b_.mr.Slice(Place(3), kSlot)})));
  Must(p.a.qp.Post(wrs, nullptr));
  ExpectWc(Await(p.b.recv_cq), {.wr_id = 3,
                                .opcode = IBV_WC_RECV,
                                .qp_num = p.b.qp.num(),
                                .byte_len = 8,
                                .flags = IBV_WC_WITH_INV,
                                .invalidated = key});
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(Await(p.a.send_cq).status, IBV_WC_SUCCESS);
  ExpectFailed(Await(p.a.send_cq), 5, IBV_WC_REM_ACCESS_ERR, p.a.qp.num());
  for (size_t i = 0; i < 5; ++i) ExpectPlaced(list[i], i, 9);
  ExpectAll(b_.bytes(Place(5), kSlot), kNothing);
}

}  // namespace
}  // namespace verbs_test
