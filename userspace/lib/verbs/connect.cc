// SPDX-License-Identifier: GPL-2.0-only
#include "connect.h"

#include <algorithm>

namespace verbs {
namespace {

ibv_mtu AgreedMtu(const Port& a, const Port& b, const WireOptions& options) {
  return options.mtu ? options.mtu : std::min(a.active_mtu, b.active_mtu);
}

}  // namespace

ibv_ah_attr AhAttr(const Port& local, const ibv_gid& remote, const WireOptions& options) {
  ibv_ah_attr attr = {};

  attr.is_global = 1;
  attr.port_num = local.num;
  attr.grh.dgid = remote;
  attr.grh.sgid_index = static_cast<uint8_t>(local.gid_index);
  attr.grh.hop_limit = options.hop_limit;
  attr.grh.traffic_class = options.traffic_class;
  attr.grh.flow_label = options.flow_label;
  return attr;
}

Transition ToInit(ibv_qp_type type, const Port& local, const WireOptions& options) {
  Transition t;

  t.attr.qp_state = IBV_QPS_INIT;
  t.attr.port_num = local.num;
  t.attr.qkey = options.qkey;
  t.attr.qp_access_flags = options.access;
  // UC knows neither READ nor atomics, and a right to them is refused.
  if (type == IBV_QPT_UC)
    t.attr.qp_access_flags &= IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
  t.mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
  t.mask |= type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
  return t;
}

Transition ToRtr(ibv_qp_type type, const Port& local, const ibv_gid& remote, uint32_t dest_qpn,
                 uint32_t rq_psn, const WireOptions& options) {
  Transition t;

  t.attr.qp_state = IBV_QPS_RTR;
  t.mask = IBV_QP_STATE;
  if (type == IBV_QPT_UD) return t;
  t.attr.ah_attr = AhAttr(local, remote, options);
  t.attr.path_mtu = options.mtu ? options.mtu : local.active_mtu;
  t.attr.dest_qp_num = dest_qpn;
  t.attr.rq_psn = rq_psn;
  t.mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
  if (type == IBV_QPT_RC) {
    t.attr.max_dest_rd_atomic = options.rd_atomic;
    t.attr.min_rnr_timer = options.min_rnr_timer;
    t.mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  }
  return t;
}

Transition ToRts(ibv_qp_type type, uint32_t sq_psn, const WireOptions& options) {
  Transition t;

  t.attr.qp_state = IBV_QPS_RTS;
  t.attr.sq_psn = sq_psn;
  t.mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
  if (type == IBV_QPT_RC) {
    t.attr.timeout = options.timeout;
    t.attr.retry_cnt = options.retry_cnt;
    t.attr.rnr_retry = options.rnr_retry;
    t.attr.max_rd_atomic = options.rd_atomic;
    t.mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
  }
  return t;
}

Status Apply(const Qp& qp, const Transition& transition) {
  return qp.Modify(transition.attr, transition.mask);
}

Status ConnectTo(const Qp& qp, const Port& local, const ibv_gid& remote, uint32_t dest_qpn,
                 uint32_t rq_psn, uint32_t sq_psn, const WireOptions& options) {
  const ibv_qp_type type = qp->qp_type;

  Status status = Apply(qp, ToInit(type, local, options));
  if (status.ok()) status = Apply(qp, ToRtr(type, local, remote, dest_qpn, rq_psn, options));
  if (status.ok()) status = Apply(qp, ToRts(type, sq_psn, options));
  return status;
}

Status Connect(const Qp& a, const Port& port_a, const Qp& b, const Port& port_b,
               WireOptions options) {
  options.mtu = AgreedMtu(port_a, port_b, options);

  Status status = ConnectTo(a, port_a, port_b.gid, b.num(), options.psn_b, options.psn_a, options);
  if (status.ok())
    status = ConnectTo(b, port_b, port_a.gid, a.num(), options.psn_a, options.psn_b, options);
  return status;
}

Status BringUpUd(const Qp& qp, const Port& local, uint32_t qkey, uint32_t sq_psn) {
  return ConnectTo(qp, local, {}, 0, 0, sq_psn, {.qkey = qkey});
}

}  // namespace verbs
