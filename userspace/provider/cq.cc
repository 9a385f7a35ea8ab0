// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Completion queues: create, modify, resize, destroy; poll and arm without a system call.

#include "srn.h"

namespace srn {
namespace {

// Maps the queue that the kernel has made; 0 or an errno, then nothing has changed.
int MapQueue(Cq& cq, int fd, uint64_t offset, uint64_t length, uint32_t entries) {
  Mapping mapping;
  if (const int err = mapping.Map(fd, offset, length)) return err;

  cq.mapping = static_cast<Mapping&&>(mapping);
  cq.page = cq.mapping.at<srn_cq_page>(0);
  cq.ring.Init(&cq.page->cons, &cq.page->prod, cq.mapping.at<srn_cqe>(SRN_QUEUE_OFFSET), entries);
  return 0;
}

// A datagram's address information says whether it came by IPv4 or IPv6 (IBTA annex A17.4.5.1), and
// ibv_wc has no field for that. Mellanox adapters tell it in `sl`, which RoCE has no use for, and
// UCX reads it there: bit 3 for UDP, below it the type of the IP header.
constexpr uint8_t kUdp = 1 << 3;
constexpr uint8_t kUdpOverIpv6 = kUdp | 1;
constexpr uint8_t kUdpOverIpv4 = kUdp | 2;

void FillWc(ibv_wc& wc, const srn_cqe& cqe) {
  wc.wr_id = cqe.wr_id;
  wc.status = static_cast<ibv_wc_status>(cqe.status);
  wc.opcode = static_cast<ibv_wc_opcode>(cqe.opcode);
  wc.vendor_err = cqe.vendor_err;
  wc.byte_len = cqe.byte_len;
  wc.imm_data = cqe.imm;  // or invalidated_rkey: both are unions of the two
  wc.qp_num = cqe.qp_num;
  wc.src_qp = cqe.src_qp;
  wc.wc_flags = cqe.wc_flags;
  wc.pkey_index = cqe.pkey_index;
  wc.slid = 0;
  wc.sl = ServiceLevel(cqe);
  wc.dlid_path_bits = 0;
}

// Takes completions as they are there; how many.
int Drain(Cq& cq, int num_entries, ibv_wc* wc) {
  int polled = 0;
  while (polled < num_entries) {
    const srn_cqe* cqe = cq.ring.Peek();
    if (cqe == nullptr) break;
    FillWc(wc[polled++], *cqe);
    cq.ring.Consume();
  }
  if (polled > 0) cq.ring.Release();
  return polled;
}

int Poll(Cq& cq, int num_entries, ibv_wc* wc) {
  LockGuard guard(cq.lock);

  int polled = Drain(cq, num_entries, wc);
  if (polled == 0 && num_entries > 0 && IsDead(cq)) {
    polled = Drain(cq, num_entries, wc);
    // Who waits for a completion must not wait forever.
    if (polled == 0) return -1;
  }
  return polled;
}

}  // namespace

uint8_t ServiceLevel(const srn_cqe& cqe) {
  if (!(cqe.wc_flags & IBV_WC_GRH)) return cqe.sl;
  return cqe.network_hdr_type == SRN_CQE_IPV4 ? kUdpOverIpv4 : kUdpOverIpv6;
}

Owned<Cq> MakeCq(ibv_context* context, const ibv_cq_init_attr_ex& attr) {
  Owned<Cq> cq = Make<Cq>();
  if (!cq) return Fail(ENOMEM);

  CreateCqRequest cmd;
  CreateCqResponse resp;
  int err = ibv_cmd_create_cq_ex(context, &attr, &cq->vcq, cmd.data(), cmd.size(), resp.data(),
                                 resp.size(), /*cmd_flags=*/0);
  if (err) return Fail(err);

  const srn_create_cq_resp queue = resp.driver();
  err = MapQueue(*cq, context->cmd_fd, queue.mmap_offset, queue.mmap_len, queue.entries);
  if (err) {
    ibv_cmd_destroy_cq(&cq->vcq.cq);
    return Fail(err);
  }
  return cq;
}

ibv_cq* CreateCq(ibv_context* context, int cqe, ibv_comp_channel* channel, int comp_vector) {
  ibv_cq_init_attr_ex attr = {};

  attr.cqe = static_cast<uint32_t>(cqe);
  attr.channel = channel;
  attr.comp_vector = static_cast<uint32_t>(comp_vector);
  attr.wc_flags = IBV_WC_STANDARD_FLAGS;
  Owned<Cq> cq = MakeCq(context, attr);
  return cq ? &cq.release()->vcq.cq : nullptr;
}

int PollCq(ibv_cq* ibcq, int num_entries, ibv_wc* wc) {
  const int polled = Poll(ToCq(ibcq), num_entries, wc);

  // Without the lock, as a post does it.
  if (polled >= 0 && polled < num_entries) RingForGathered(ibcq->context);
  return polled;
}

int ReqNotifyCq(ibv_cq* ibcq, int solicited_only) {
  Cq& cq = ToCq(ibcq);
  {
    LockGuard guard(cq.arm_lock);
    std::atomic_ref<uint32_t> arm(cq.page->arm);

    if (solicited_only) {
      // Keeps a request for any completion, which asks for more, if one is pending.
      uint32_t disarmed = SRN_CQ_DISARMED;
      arm.compare_exchange_strong(disarmed, SRN_CQ_ARM_SOLICITED);
    } else {
      arm.store(SRN_CQ_ARM_NEXT, std::memory_order_relaxed);
    }
    // Before the poll that follows loads prod: either it finds the CQE, or the kernel finds us
    // armed.
    FullBarrier();
  }
  // Who arms is about to sleep.
  RingForGathered(ibcq->context);
  return 0;
}

// Moderation is all the kernel's: it puts events off, and takes `arm` back when it tells.
int ModifyCq(ibv_cq* cq, ibv_modify_cq_attr* attr) {
  ModifyCqRequest cmd;
  return ibv_cmd_modify_cq(cq, attr, cmd.data(), cmd.size());
}

int ResizeCq(ibv_cq* ibcq, int cqe) {
  Cq& cq = ToCq(ibcq);
  // Nobody may consume from, or arm, the old queue once the kernel has copied it.
  LockGuard guard(cq.lock);
  LockGuard arm_guard(cq.arm_lock);

  // Lost by a resize before (see below): what is polled now the kernel would copy once more.
  if (LoadAcquire(cq.page->dead) == SRN_CQ_GONE) return EIO;

  ResizeCqRequest cmd;
  ResizeCqResponse resp;
  const int err = ibv_cmd_resize_cq(ibcq, cqe, cmd.data(), cmd.size(), resp.data(), resp.size());
  if (err) return err;

  const srn_resize_cq_resp queue = resp.driver();
  const int lost =
      MapQueue(cq, ibcq->context->cmd_fd, queue.mmap_offset, queue.mmap_len, queue.entries);
  // The kernel writes to the new queue alone now: what the old one still has may be polled, and
  // then that nothing comes.
  if (lost) StoreRelease(cq.page->dead, SRN_CQ_GONE);
  return lost;
}

void ForgetCompletions(ibv_cq* ibcq, uint32_t qp_num) {
  if (ibcq == nullptr) return;
  Cq& cq = ToCq(ibcq);
  LockGuard guard(cq.lock);
  cq.ring.Forget([qp_num](const srn_cqe& cqe) { return cqe.qp_num == qp_num; });
}

int DestroyCq(ibv_cq* cq) {
  if (const int err = ibv_cmd_destroy_cq(cq)) return err;
  Drop(&ToCq(cq));
  return 0;
}

}  // namespace srn
