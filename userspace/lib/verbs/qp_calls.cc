// SPDX-License-Identifier: GPL-2.0-only
// Posting by ibv_wr_*(): a call for each request, and one or two for what it has.
#include <vector>

#include "qp.h"

namespace verbs {
namespace {

// False of what is posted by ibv_post_send() alone here: what is done with windows.
bool Begin(ibv_qp_ex* qp, const ibv_send_wr& wr) {
  const auto& rdma = wr.wr.rdma;
  const auto& atomic = wr.wr.atomic;

  qp->wr_id = wr.wr_id;
  // rxe's provider does not set IBV_SEND_INLINE itself where it is given inline data; others do not
  // mind it. An atomic write is inline by what it is.
  qp->wr_flags = wr.send_flags;
  if (wr.opcode == IBV_WR_ATOMIC_WRITE) qp->wr_flags &= ~static_cast<unsigned>(IBV_SEND_INLINE);
  switch (wr.opcode) {
    case IBV_WR_SEND:
      ibv_wr_send(qp);
      return true;
    case IBV_WR_SEND_WITH_IMM:
      ibv_wr_send_imm(qp, wr.imm_data);
      return true;
    case IBV_WR_SEND_WITH_INV:
      ibv_wr_send_inv(qp, wr.invalidate_rkey);
      return true;
    case IBV_WR_RDMA_WRITE:
      ibv_wr_rdma_write(qp, rdma.rkey, rdma.remote_addr);
      return true;
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      ibv_wr_rdma_write_imm(qp, rdma.rkey, rdma.remote_addr, wr.imm_data);
      return true;
    case IBV_WR_RDMA_READ:
      ibv_wr_rdma_read(qp, rdma.rkey, rdma.remote_addr);
      return true;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
      ibv_wr_atomic_cmp_swp(qp, atomic.rkey, atomic.remote_addr, atomic.compare_add, atomic.swap);
      return true;
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      ibv_wr_atomic_fetch_add(qp, atomic.rkey, atomic.remote_addr, atomic.compare_add);
      return true;
    case IBV_WR_ATOMIC_WRITE:
      ibv_wr_atomic_write(qp, rdma.rkey, rdma.remote_addr,
                          reinterpret_cast<const void*>(wr.sg_list[0].addr));
      return true;
    default:
      return false;
  }
}

void SetInline(ibv_qp_ex* qp, const ibv_send_wr& wr) {
  std::vector<ibv_data_buf> buffers;

  for (int i = 0; i < wr.num_sge; i++)
    buffers.push_back({reinterpret_cast<void*>(wr.sg_list[i].addr), wr.sg_list[i].length});
  if (buffers.size() == 1)
    ibv_wr_set_inline_data(qp, buffers[0].addr, buffers[0].length);
  else
    ibv_wr_set_inline_data_list(qp, buffers.size(), buffers.data());
}

// The atomic write has taken its data already.
void SetData(ibv_qp_ex* qp, const ibv_send_wr& wr) {
  if (wr.opcode == IBV_WR_ATOMIC_WRITE) return;
  if (wr.send_flags & IBV_SEND_INLINE)
    SetInline(qp, wr);
  else if (wr.num_sge == 1)
    ibv_wr_set_sge(qp, wr.sg_list[0].lkey, wr.sg_list[0].addr, wr.sg_list[0].length);
  else
    ibv_wr_set_sge_list(qp, static_cast<size_t>(wr.num_sge), wr.sg_list);
}

}  // namespace

Status Qp::PostByCalls(std::span<SendWr> list) const {
  ibv_qp_ex* qp = ibv_qp_to_qp_ex(get());

  if (!qp) return Error{EOPNOTSUPP, "ibv_qp_to_qp_ex"};
  ibv_wr_start(qp);
  for (SendWr& each : list) {
    const ibv_send_wr& wr = *each.raw();
    if (!Begin(qp, wr)) {
      ibv_wr_abort(qp);
      return Error{EINVAL, "ibv_wr_*"};
    }
    if (get()->qp_type == IBV_QPT_UD)
      ibv_wr_set_ud_addr(qp, wr.wr.ud.ah, wr.wr.ud.remote_qpn, wr.wr.ud.remote_qkey);
    SetData(qp, wr);
  }
  return FromReturn(ibv_wr_complete(qp), "ibv_wr_complete");
}

}  // namespace verbs
