// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// ibv_post_send, ibv_post_recv, ibv_post_srq_recv: prove a request, fill a slot, publish the list.

#include "opcodes.h"
#include "srn.h"

namespace srn {
namespace {

// Operand size of atomic operations.
constexpr uint32_t kAtomicBytes = 8;

// Pointers that a C program gives us may be null where their count is 0: no memcpy then.
void CopySges(void* to, const ibv_sge* sges, uint32_t count) {
  if (count != 0) std::memcpy(to, sges, count * sizeof(srn_sge));
}

uint64_t TotalLength(const ibv_send_wr& wr) {
  uint64_t total = 0;
  for (int i = 0; i < wr.num_sge; ++i) total += wr.sg_list[i].length;
  return total;
}

void CopyInline(unsigned char* to, const ibv_send_wr& wr) {
  for (int i = 0; i < wr.num_sge; ++i) {
    const ibv_sge& sge = wr.sg_list[i];
    if (sge.length == 0) continue;
    std::memcpy(to, reinterpret_cast<const void*>(sge.addr), sge.length);
    to += sge.length;
  }
}

// The part of a request that says what is moved; 0 or EINVAL.
int ProvePayload(const Qp& qp, const ibv_send_wr& wr, uint32_t op) {
  if (op & kBareOps) return 0;
  if (wr.num_sge < 0) return EINVAL;
  if (op & OpBit(IBV_WR_ATOMIC_WRITE)) {
    // The operand travels in the head of the WQE: it must be at hand now.
    return wr.send_flags & IBV_SEND_INLINE && TotalLength(wr) == kAtomicBytes ? 0 : EINVAL;
  }
  if (!(wr.send_flags & IBV_SEND_INLINE)) {
    return static_cast<uint32_t>(wr.num_sge) > qp.max_send_sge ? EINVAL : 0;
  }
  return op & kInlineOps && TotalLength(wr) <= qp.max_inline ? 0 : EINVAL;
}

// A program in C writes any number there, and a compiler of C++ may take an enum for one of its own
// values: it could leave out the check of the others.
uint32_t OpcodeNumber(const ibv_send_wr& wr) {
  uint32_t number;

  static_assert(sizeof(number) == sizeof(wr.opcode));
  std::memcpy(&number, &wr.opcode, sizeof(number));
  return number;
}

int ProveSend(const Qp& qp, const ibv_send_wr& wr, ibv_mw_type mw_type) {
  if (OpcodeNumber(wr) > 31) return EINVAL;
  const uint32_t op = 1U << OpcodeNumber(wr);
  if (!(qp.opcodes & op) || wr.send_flags & ~kSendFlags) return EINVAL;
  if (qp.vqp.qp.qp_type == IBV_QPT_UD && wr.wr.ud.ah == nullptr) return EINVAL;
  if (wr.opcode == IBV_WR_BIND_MW && (wr.bind_mw.mw == nullptr || wr.bind_mw.mw->type != mw_type)) {
    return EINVAL;
  }
  if (wr.opcode == IBV_WR_BIND_MW && ToMw(wr.bind_mw.mw).binder.load() != nullptr) return EBUSY;
  return ProvePayload(qp, wr, op);
}

void FillBind(srn_send_wqe& wqe, const ibv_send_wr& wr) {
  const ibv_mw_bind_info& info = wr.bind_mw.bind_info;

  wqe.bind.addr = info.addr;
  wqe.bind.length = info.length;
  wqe.bind.mr_lkey = info.mr != nullptr ? info.mr->lkey : 0;
  wqe.bind.mw_rkey = wr.bind_mw.mw->rkey;
  wqe.bind.new_rkey = wr.bind_mw.rkey;
  wqe.bind.access = info.mw_access_flags;
  TakeKeyByte(*wr.bind_mw.mw, wr.bind_mw.rkey);
}

void FillOperation(srn_send_wqe& wqe, const Qp& qp, const ibv_send_wr& wr) {
  if (qp.vqp.qp.qp_type == IBV_QPT_UD) {
    wqe.ud.ah = ToAh(wr.wr.ud.ah).index;
    wqe.ud.remote_qpn = wr.wr.ud.remote_qpn;
    wqe.ud.remote_qkey = wr.wr.ud.remote_qkey;
    return;
  }
  switch (wr.opcode) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
    case IBV_WR_RDMA_READ:
      wqe.rdma.remote_addr = wr.wr.rdma.remote_addr;
      wqe.rdma.rkey = wr.wr.rdma.rkey;
      break;
    case IBV_WR_ATOMIC_WRITE:
      wqe.rdma.remote_addr = wr.wr.rdma.remote_addr;
      wqe.rdma.rkey = wr.wr.rdma.rkey;
      CopyInline(reinterpret_cast<unsigned char*>(&wqe.rdma.compare_add), wr);
      break;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      wqe.rdma.remote_addr = wr.wr.atomic.remote_addr;
      wqe.rdma.rkey = wr.wr.atomic.rkey;
      wqe.rdma.compare_add = wr.wr.atomic.compare_add;
      wqe.rdma.swap = wr.wr.atomic.swap;
      break;
    case IBV_WR_BIND_MW:
      FillBind(wqe, wr);
      break;
    default:
      break;
  }
}

void FillPayload(srn_send_wqe& wqe, const ibv_send_wr& wr) {
  const uint32_t op = OpBit(wr.opcode);

  wqe.num_sge = 0;
  wqe.inline_len = 0;
  if (op & (kBareOps | OpBit(IBV_WR_ATOMIC_WRITE))) {
    wqe.flags &= ~static_cast<uint32_t>(IBV_SEND_INLINE);
  } else if (wr.send_flags & IBV_SEND_INLINE) {
    wqe.inline_len = static_cast<uint32_t>(TotalLength(wr));
    CopyInline(reinterpret_cast<unsigned char*>(&wqe + 1), wr);
  } else {
    wqe.num_sge = static_cast<uint32_t>(wr.num_sge);
    CopySges(&wqe + 1, wr.sg_list, wqe.num_sge);
  }
}

void FillSend(srn_send_wqe& wqe, const Qp& qp, const ibv_send_wr& wr) {
  const bool invalidates = wr.opcode == IBV_WR_LOCAL_INV || wr.opcode == IBV_WR_SEND_WITH_INV;

  wqe.wr_id = wr.wr_id;
  wqe.opcode = wr.opcode;
  wqe.flags = wr.send_flags;
  wqe.imm = invalidates ? 0 : wr.imm_data;
  wqe.inv_rkey = invalidates ? wr.invalidate_rkey : 0;
  FillOperation(wqe, qp, wr);
  FillPayload(wqe, wr);
}

// Fills slots up to the first request that cannot be posted, which `bad_wr` gets.
int FillSends(Qp& qp, ibv_mw_type mw_type, ibv_send_wr* wr, ibv_send_wr** bad_wr) {
  int err = MayPostSend(qp);

  for (; wr != nullptr; wr = wr->next) {
    if (!err) err = ProveSend(qp, *wr, mw_type);
    auto* wqe = err ? nullptr : qp.sq.Claim<srn_send_wqe>();
    if (wqe == nullptr) {
      *bad_wr = wr;
      return err ? err : ENOMEM;
    }
    FillSend(*wqe, qp, *wr);
  }
  return 0;
}

int RefuseRecvs(int err, ibv_recv_wr* wr, ibv_recv_wr** bad_wr) {
  *bad_wr = wr;
  return err;
}

int FillRecvs(WorkRing& ring, uint32_t max_sge, ibv_recv_wr* wr, ibv_recv_wr** bad_wr) {
  for (; wr != nullptr; wr = wr->next) {
    const bool fits = wr->num_sge >= 0 && static_cast<uint32_t>(wr->num_sge) <= max_sge;
    auto* wqe = fits ? ring.Claim<srn_recv_wqe>() : nullptr;
    if (wqe == nullptr) {
      *bad_wr = wr;
      return fits ? ENOMEM : EINVAL;
    }
    wqe->wr_id = wr->wr_id;
    wqe->num_sge = static_cast<uint32_t>(wr->num_sge);
    CopySges(wqe + 1, wr->sg_list, wqe->num_sge);
  }
  return 0;
}

}  // namespace

int PostSendBinding(Qp& qp, ibv_mw_type mw_type, ibv_send_wr* wr, ibv_send_wr** bad_wr) {
  qp.sq_lock.lock();
  const int err = FillSends(qp, mw_type, wr, bad_wr);
  const bool posted = qp.sq.Publish();
  qp.sq_lock.unlock();

  // Without the lock: the kernel transmits in the doorbell, others may post meanwhile.
  if (posted) qp.doorbell.AfterSend(*qp.page);
  if (err == ENOMEM) RingForGathered(qp.vqp.qp.context);
  return err;
}

int PostSend(ibv_qp* qp, ibv_send_wr* wr, ibv_send_wr** bad_wr) {
  return PostSendBinding(ToQp(qp), IBV_MW_TYPE_2, wr, bad_wr);
}

int PostRecv(ibv_qp* ibqp, ibv_recv_wr* wr, ibv_recv_wr** bad_wr) {
  Qp& qp = ToQp(ibqp);

  if (LoadRelaxed(qp.page->gone)) return RefuseRecvs(EIO, wr, bad_wr);
  if (ibqp->srq != nullptr || LoadRelaxed(qp.page->state) == IBV_QPS_RESET) {
    return RefuseRecvs(EINVAL, wr, bad_wr);
  }
  qp.rq_lock.lock();
  const int err = FillRecvs(qp.rq, qp.max_recv_sge, wr, bad_wr);
  const bool posted = qp.rq.Publish();
  qp.rq_lock.unlock();

  if (posted) qp.doorbell.AfterRecv(*qp.page);
  return err;
}

int PostSrqRecv(ibv_srq* ibsrq, ibv_recv_wr* wr, ibv_recv_wr** bad_wr) {
  Srq& srq = ToSrq(ibsrq);

  LockGuard guard(srq.lock);
  if (LoadRelaxed(srq.page->gone)) return RefuseRecvs(EIO, wr, bad_wr);
  const int err = FillRecvs(srq.ring, srq.max_sge, wr, bad_wr);
  srq.ring.Publish();
  return err;
}

}  // namespace srn
