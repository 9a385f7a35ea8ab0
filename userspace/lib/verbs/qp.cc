// SPDX-License-Identifier: GPL-2.0-only
#include "qp.h"

#include <thread>

#include "chain.h"

namespace verbs {

Result<Qp> Qp::Create(const Pd& pd, const Cq& send_cq, const Cq& recv_cq, const Options& options) {
  ibv_qp_init_attr_ex init = {};

  init.qp_context = options.context;
  init.send_cq = send_cq.get();
  init.recv_cq = recv_cq.get();
  init.srq = options.srq ? options.srq->get() : nullptr;
  init.cap = {.max_send_wr = options.max_send_wr,
              .max_recv_wr = options.max_recv_wr,
              .max_send_sge = options.max_send_sge,
              .max_recv_sge = options.max_recv_sge,
              .max_inline_data = options.max_inline};
  init.qp_type = options.type;
  init.sq_sig_all = options.sq_sig_all;
  init.comp_mask = IBV_QP_INIT_ATTR_PD;
  init.pd = pd.get();
  if (options.send_ops) {
    init.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    init.send_ops_flags = options.send_ops;
  }

  errno = 0;
  Result<Qp> qp = Adopt<Qp>(ibv_create_qp_ex(pd->context, &init), "ibv_create_qp_ex");
  if (qp.ok()) qp->cap_ = init.cap;
  return qp;
}

Status Qp::Modify(ibv_qp_attr attr, int mask) const {
  return FromReturn(ibv_modify_qp(get(), &attr, mask), "ibv_modify_qp");
}

Status Qp::ModifyState(ibv_qp_state state) const {
  ibv_qp_attr attr = {};

  attr.qp_state = state;
  return Modify(attr, IBV_QP_STATE);
}

Result<QpState> Qp::Query() const {
  QpState state = {};
  // The mask is a hint; every bit is asked for.
  Status status = FromReturn(ibv_query_qp(get(), &state.attr, IBV_QP_DEST_QPN * 2 - 1, &state.init),
                             "ibv_query_qp");

  if (!status.ok()) return status.failure();
  return state;
}

ibv_qp_state Qp::State() const {
  Result<QpState> state = Query();

  return state.ok() ? state->attr.qp_state : IBV_QPS_UNKNOWN;
}

Status Qp::WaitState(ibv_qp_state state, Timeout timeout) const {
  const auto deadline = std::chrono::steady_clock::now() + timeout;

  while (State() != state) {
    if (std::chrono::steady_clock::now() > deadline) return Error{ETIMEDOUT, "wait for a QP state"};
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return {};
}

Status Qp::Post(SendWr wr) const { return Post(std::span(&wr, 1), nullptr); }

Status Qp::Post(std::span<SendWr> list, size_t* posted) const {
  ibv_send_wr* bad = nullptr;
  Status status = FromReturn(ibv_post_send(get(), Chain<ibv_send_wr>(list), &bad), "ibv_post_send");

  if (posted) *posted = CountBefore<ibv_send_wr>(list, status.ok() ? nullptr : bad);
  return status;
}

Status Qp::Post(RecvWr wr) const { return Post(std::span(&wr, 1), nullptr); }

Status Qp::Post(std::span<RecvWr> list, size_t* posted) const {
  ibv_recv_wr* bad = nullptr;
  Status status = FromReturn(ibv_post_recv(get(), Chain<ibv_recv_wr>(list), &bad), "ibv_post_recv");

  if (posted) *posted = CountBefore<ibv_recv_wr>(list, status.ok() ? nullptr : bad);
  return status;
}

Result<Ah> Ah::Create(const Pd& pd, ibv_ah_attr attr) {
  errno = 0;
  return Adopt<Ah>(ibv_create_ah(pd.get(), &attr), "ibv_create_ah");
}

}  // namespace verbs
