// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// ibv_wr_*: requests built in the slots themselves, between wr_start and wr_complete. An error on
// the way is kept until wr_complete, which then posts none of them.

#include "opcodes.h"
#include "srn.h"

namespace srn {
namespace {

void KeepError(Qp& qp, int error) {
  if (qp.wr_error == 0) qp.wr_error = error;
}

// Begins a request: claims a slot and fills its head. Null after an error.
srn_send_wqe* Begin(ibv_qp_ex* ibqp, ibv_wr_opcode opcode) {
  Qp& qp = ToQp(ibqp);

  qp.wr_current = nullptr;
  if (ibqp->wr_flags & ~kSendFlags) KeepError(qp, EINVAL);
  if (qp.wr_error) return nullptr;
  auto* wqe = qp.sq.Claim<srn_send_wqe>();
  if (wqe == nullptr) {
    KeepError(qp, ENOMEM);
    return nullptr;
  }
  wqe->wr_id = ibqp->wr_id;
  wqe->opcode = opcode;
  // Inline is what wr_set_inline_data() makes it.
  wqe->flags = ibqp->wr_flags & ~static_cast<uint32_t>(IBV_SEND_INLINE);
  wqe->num_sge = 0;
  wqe->inline_len = 0;
  wqe->imm = 0;
  wqe->inv_rkey = 0;
  qp.wr_current = wqe;
  return wqe;
}

srn_send_wqe* BeginRdma(ibv_qp_ex* qp, ibv_wr_opcode opcode, uint32_t rkey, uint64_t addr) {
  srn_send_wqe* wqe = Begin(qp, opcode);
  if (wqe != nullptr) {
    wqe->rdma.remote_addr = addr;
    wqe->rdma.rkey = rkey;
  }
  return wqe;
}

void Send(ibv_qp_ex* qp) { Begin(qp, IBV_WR_SEND); }

void SendImm(ibv_qp_ex* qp, __be32 imm) {
  if (srn_send_wqe* wqe = Begin(qp, IBV_WR_SEND_WITH_IMM)) wqe->imm = imm;
}

void SendInv(ibv_qp_ex* qp, uint32_t rkey) {
  if (srn_send_wqe* wqe = Begin(qp, IBV_WR_SEND_WITH_INV)) wqe->inv_rkey = rkey;
}

void LocalInv(ibv_qp_ex* qp, uint32_t rkey) {
  if (srn_send_wqe* wqe = Begin(qp, IBV_WR_LOCAL_INV)) wqe->inv_rkey = rkey;
}

void RdmaWrite(ibv_qp_ex* qp, uint32_t rkey, uint64_t addr) {
  BeginRdma(qp, IBV_WR_RDMA_WRITE, rkey, addr);
}

void RdmaWriteImm(ibv_qp_ex* qp, uint32_t rkey, uint64_t addr, __be32 imm) {
  if (srn_send_wqe* wqe = BeginRdma(qp, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, addr)) wqe->imm = imm;
}

void RdmaRead(ibv_qp_ex* qp, uint32_t rkey, uint64_t addr) {
  BeginRdma(qp, IBV_WR_RDMA_READ, rkey, addr);
}

void CompareSwap(ibv_qp_ex* qp, uint32_t rkey, uint64_t addr, uint64_t compare, uint64_t swap) {
  if (srn_send_wqe* wqe = BeginRdma(qp, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, addr)) {
    wqe->rdma.compare_add = compare;
    wqe->rdma.swap = swap;
  }
}

void FetchAdd(ibv_qp_ex* qp, uint32_t rkey, uint64_t addr, uint64_t add) {
  if (srn_send_wqe* wqe = BeginRdma(qp, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, addr)) {
    wqe->rdma.compare_add = add;
  }
}

void AtomicWrite(ibv_qp_ex* qp, uint32_t rkey, uint64_t addr, const void* value) {
  if (srn_send_wqe* wqe = BeginRdma(qp, IBV_WR_ATOMIC_WRITE, rkey, addr)) {
    std::memcpy(&wqe->rdma.compare_add, value, sizeof(wqe->rdma.compare_add));
  }
}

// The key before the first bind of the window since wr_start. False while another QP is at it.
bool RememberKey(Qp& qp, Mw& mw) {
  Qp* binder = nullptr;

  if (!mw.binder.compare_exchange_strong(binder, &qp)) return binder == &qp;
  mw.old_rkey = mw.mw.rkey;
  mw.next = qp.wr_bound;
  qp.wr_bound = &mw;
  return true;
}

void WrBindMw(ibv_qp_ex* ibqp, ibv_mw* mw, uint32_t rkey, const ibv_mw_bind_info* info) {
  Qp& qp = ToQp(ibqp);

  qp.wr_current = nullptr;
  if (mw->type != IBV_MW_TYPE_2) {
    KeepError(qp, EINVAL);
    return;
  }
  if (!RememberKey(qp, ToMw(mw))) {
    KeepError(qp, EBUSY);
    return;
  }
  if (srn_send_wqe* wqe = Begin(ibqp, IBV_WR_BIND_MW)) {
    wqe->bind.addr = info->addr;
    wqe->bind.length = info->length;
    wqe->bind.mr_lkey = info->mr != nullptr ? info->mr->lkey : 0;
    wqe->bind.mw_rkey = mw->rkey;
    wqe->bind.new_rkey = rkey;
    wqe->bind.access = info->mw_access_flags;
    TakeKeyByte(*mw, rkey);
  }
}

void SetUdAddr(ibv_qp_ex* qp, ibv_ah* ah, uint32_t remote_qpn, uint32_t remote_qkey) {
  srn_send_wqe* wqe = ToQp(qp).wr_current;

  if (wqe == nullptr) return;
  wqe->ud.ah = ToAh(ah).index;
  wqe->ud.remote_qpn = remote_qpn;
  wqe->ud.remote_qkey = remote_qkey;
}

void SetSgeList(ibv_qp_ex* ibqp, size_t num_sge, const ibv_sge* sges) {
  Qp& qp = ToQp(ibqp);

  if (qp.wr_current == nullptr) return;
  if (num_sge > qp.max_send_sge) {
    KeepError(qp, EINVAL);
    return;
  }
  qp.wr_current->num_sge = static_cast<uint32_t>(num_sge);
  if (num_sge != 0) std::memcpy(qp.wr_current + 1, sges, num_sge * sizeof(srn_sge));
}

void SetSge(ibv_qp_ex* qp, uint32_t lkey, uint64_t addr, uint32_t length) {
  const ibv_sge sge = {.addr = addr, .length = length, .lkey = lkey};
  SetSgeList(qp, 1, &sge);
}

void SetInlineDataList(ibv_qp_ex* ibqp, size_t num_buf, const ibv_data_buf* bufs) {
  Qp& qp = ToQp(ibqp);
  srn_send_wqe* wqe = qp.wr_current;

  if (wqe == nullptr) return;
  if (!(OpBit(static_cast<ibv_wr_opcode>(wqe->opcode)) & kInlineOps)) {
    KeepError(qp, EINVAL);
    return;
  }
  auto* to = reinterpret_cast<unsigned char*>(wqe + 1);
  uint32_t room = qp.max_inline;
  for (size_t i = 0; i < num_buf; ++i) {
    if (bufs[i].length > room) {
      KeepError(qp, EINVAL);
      return;
    }
    if (bufs[i].length == 0) continue;
    std::memcpy(to, bufs[i].addr, bufs[i].length);
    to += bufs[i].length;
    room -= static_cast<uint32_t>(bufs[i].length);
  }
  wqe->inline_len = qp.max_inline - room;
  wqe->flags |= IBV_SEND_INLINE;
}

void SetInlineData(ibv_qp_ex* qp, void* addr, size_t length) {
  const ibv_data_buf buf = {.addr = addr, .length = length};
  SetInlineDataList(qp, 1, &buf);
}

void Start(ibv_qp_ex* ibqp) {
  Qp& qp = ToQp(ibqp);

  qp.sq_lock.lock();
  qp.wr_current = nullptr;
  qp.wr_error = MayPostSend(qp);
}

int Complete(ibv_qp_ex* ibqp) {
  Qp& qp = ToQp(ibqp);
  const int err = qp.wr_error;

  if (err) qp.sq.Rewind();
  EndBinds(qp, err == 0);
  const bool posted = qp.sq.Publish();
  qp.sq_lock.unlock();
  if (posted) qp.doorbell.AfterSend(*qp.page);
  if (err == ENOMEM) RingForGathered(ibqp->qp_base.context);
  return err;
}

void Abort(ibv_qp_ex* ibqp) {
  Qp& qp = ToQp(ibqp);

  qp.sq.Rewind();
  EndBinds(qp, false);
  qp.sq_lock.unlock();
}

}  // namespace

void EndBinds(Qp& qp, bool posted) {
  while (Mw* mw = qp.wr_bound) {
    qp.wr_bound = mw->next;
    if (!posted) mw->mw.rkey = mw->old_rkey;
    mw->binder.store(nullptr);
  }
}

void EnableWr(ibv_qp_ex& qp, uint64_t send_ops) {
  qp.wr_start = Start;
  qp.wr_complete = Complete;
  qp.wr_abort = Abort;
  qp.wr_set_sge = SetSge;
  qp.wr_set_sge_list = SetSgeList;
  qp.wr_set_inline_data = SetInlineData;
  qp.wr_set_inline_data_list = SetInlineDataList;
  if (qp.qp_base.qp_type == IBV_QPT_UD) qp.wr_set_ud_addr = SetUdAddr;

  // Only what was asked for at creation may be used, so only that is set.
  if (send_ops & IBV_QP_EX_WITH_SEND) qp.wr_send = Send;
  if (send_ops & IBV_QP_EX_WITH_SEND_WITH_IMM) qp.wr_send_imm = SendImm;
  if (send_ops & IBV_QP_EX_WITH_SEND_WITH_INV) qp.wr_send_inv = SendInv;
  if (send_ops & IBV_QP_EX_WITH_RDMA_WRITE) qp.wr_rdma_write = RdmaWrite;
  if (send_ops & IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM) qp.wr_rdma_write_imm = RdmaWriteImm;
  if (send_ops & IBV_QP_EX_WITH_RDMA_READ) qp.wr_rdma_read = RdmaRead;
  if (send_ops & IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP) qp.wr_atomic_cmp_swp = CompareSwap;
  if (send_ops & IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD) qp.wr_atomic_fetch_add = FetchAdd;
  if (send_ops & IBV_QP_EX_WITH_ATOMIC_WRITE) qp.wr_atomic_write = AtomicWrite;
  if (send_ops & IBV_QP_EX_WITH_LOCAL_INV) qp.wr_local_inv = LocalInv;
  if (send_ops & IBV_QP_EX_WITH_BIND_MW) qp.wr_bind_mw = WrBindMw;
}

}  // namespace srn
