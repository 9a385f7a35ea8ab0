// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Queue pairs: create, modify, query, destroy. post.cc and wr.cc fill their queues.

#include "opcodes.h"
#include "srn.h"

namespace srn {
namespace {

constexpr uint32_t kAttrMask =
    IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;

// Maps the queues and makes them ready; 0 or an errno.
int MapQueues(Qp& qp, ibv_context* context, const srn_create_qp_resp& queues,
              const ibv_qp_cap& cap) {
  if (const int err = qp.mapping.Map(context->cmd_fd, queues.mmap_offset, queues.mmap_len)) {
    return err;
  }
  qp.page = qp.mapping.at<srn_qp_page>(0);
  Context& own = ToContext(context);
  qp.doorbell = Doorbell(own.doorbell_fd, queues.db_index, own.gathered, PollerSleeps(own));
  qp.sq.Init(&qp.page->sq_tail, &qp.page->sq_head, qp.mapping.at<unsigned char>(queues.sq_offset),
             queues.sq_entries, queues.sq_stride, cap.max_send_wr);
  qp.rq.Init(&qp.page->rq_tail, &qp.page->rq_head, qp.mapping.at<unsigned char>(queues.rq_offset),
             queues.rq_entries, queues.rq_stride, cap.max_recv_wr);
  qp.max_send_sge = cap.max_send_sge;
  qp.max_recv_sge = cap.max_recv_sge;
  qp.max_inline = cap.max_inline_data;
  return 0;
}

// What the program asks for and srn does not have.
bool IsSupported(const ibv_qp_init_attr_ex& attr) {
  if (attr.comp_mask & ~kAttrMask || SendOps(attr.qp_type) == 0) return false;
  if (attr.comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) {
    return !(attr.send_ops_flags & ~SendOpsFlags(attr.qp_type));
  }
  return true;
}

// Only the extended command carries a rate limit, or anything of srn's, and only the other one is
// of all kernels.
int Modify(ibv_qp* qp, ibv_qp_attr* attr, int attr_mask) {
  const srn_modify_qp_req ece = EceOf(ToQp(qp), attr_mask);
  if (attr_mask & IBV_QP_RATE_LIMIT || ece.comp_mask != 0) {
    ModifyQpExRequest cmd;
    ModifyQpExResponse resp;
    cmd.set_driver(ece);
    return ibv_cmd_modify_qp_ex(qp, attr, attr_mask, cmd.data(), cmd.size(), resp.data(),
                                resp.size());
  }
  ModifyQpRequest cmd;
  return ibv_cmd_modify_qp(qp, attr, attr_mask, cmd.data(), cmd.size());
}

}  // namespace

ibv_qp* CreateQpEx(ibv_context* context, ibv_qp_init_attr_ex* attr) {
  if (!IsSupported(*attr)) return Fail(EOPNOTSUPP);

  Owned<Qp> qp = Make<Qp>();
  if (!qp) return Fail(ENOMEM);

  CreateQpRequest cmd;
  CreateQpResponse resp;
  int err = ibv_cmd_create_qp_ex2(context, &qp->vqp, attr, cmd.data(), cmd.size(), resp.data(),
                                  resp.size());
  if (err) return Fail(err);

  err = MapQueues(*qp, context, resp.driver(), attr->cap);
  if (err) {
    ibv_cmd_destroy_qp(&qp->vqp.qp);
    return Fail(err);
  }
  qp->opcodes = SendOps(attr->qp_type);
  qp->ece_offered = resp.driver().ece;
  qp->domain.Enter(attr->pd);
  if (IsSingleThreaded(attr->pd)) {
    qp->sq_lock.Disable();
    qp->rq_lock.Disable();
  }
  if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) {
    EnableWr(qp->vqp.qp_ex, attr->send_ops_flags);
    qp->vqp.comp_mask |= VERBS_QP_EX;
  }
  return &qp.release()->vqp.qp;
}

ibv_qp* CreateQp(ibv_pd* pd, ibv_qp_init_attr* attr) {
  ibv_qp_init_attr_ex attr_ex = {};

  attr_ex.qp_context = attr->qp_context;
  attr_ex.send_cq = attr->send_cq;
  attr_ex.recv_cq = attr->recv_cq;
  attr_ex.srq = attr->srq;
  attr_ex.cap = attr->cap;
  attr_ex.qp_type = attr->qp_type;
  attr_ex.sq_sig_all = attr->sq_sig_all;
  attr_ex.comp_mask = IBV_QP_INIT_ATTR_PD;
  attr_ex.pd = pd;
  ibv_qp* qp = CreateQpEx(pd->context, &attr_ex);
  if (qp != nullptr) attr->cap = attr_ex.cap;
  return qp;
}

// In any other state, and from there on, it sends what was posted before.
bool Stops(ibv_qp_state state) {
  return state == IBV_QPS_RESET || state == IBV_QPS_SQD || state == IBV_QPS_ERR;
}

// What was posted and left goes before the QP stops: a program that closes what it is done with
// need not know that posts are gathered, or that a poller looks for them.
void SendBeforeStop(ibv_qp* ibqp) {
  RingForGathered(ibqp->context);
  ToQp(ibqp).doorbell.BeforeStop();
}

int ModifyQp(ibv_qp* ibqp, ibv_qp_attr* attr, int attr_mask) {
  Qp& qp = ToQp(ibqp);
  if (attr_mask & IBV_QP_STATE && Stops(attr->qp_state)) SendBeforeStop(ibqp);
  if (const int err = Modify(ibqp, attr, attr_mask)) return err;
  if (attr_mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RESET) {
    qp.ece_known = false;
    // What was posted is forgotten: the queues are empty where the kernel says they begin.
    LockGuard sq_guard(qp.sq_lock);
    LockGuard rq_guard(qp.rq_lock);
    qp.sq.Restart();
    qp.rq.Restart();
    // Completions of its former life would be taken for those of the next one.
    ForgetCompletions(ibqp->send_cq, ibqp->qp_num);
    ForgetCompletions(ibqp->recv_cq, ibqp->qp_num);
  }
  return 0;
}

// What may go at once is for srn to choose.
int ModifyQpRateLimit(ibv_qp* qp, ibv_qp_rate_limit_attr* limit) {
  if (limit->comp_mask || limit->max_burst_sz || limit->typical_pkt_sz) return EINVAL;
  ibv_qp_attr attr = {};
  attr.rate_limit = limit->rate_limit;
  return Modify(qp, &attr, IBV_QP_RATE_LIMIT);
}

int QueryQp(ibv_qp* qp, ibv_qp_attr* attr, int attr_mask, ibv_qp_init_attr* init_attr) {
  QueryQpRequest cmd;
  return ibv_cmd_query_qp(qp, attr, attr_mask, init_attr, cmd.data(), cmd.size());
}

int DestroyQp(ibv_qp* qp) {
  SendBeforeStop(qp);
  if (const int err = ibv_cmd_destroy_qp(qp)) return err;
  EndBinds(ToQp(qp), /*posted=*/false);
  // Its number may be the next QP's.
  ForgetCompletions(qp->send_cq, qp->qp_num);
  ForgetCompletions(qp->recv_cq, qp->qp_num);
  Drop(&ToQp(qp));
  return 0;
}

}  // namespace srn
