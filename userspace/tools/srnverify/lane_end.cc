// SPDX-License-Identifier: GPL-2.0-only
#include "lane_end.h"

#include <fmt/format.h>

#include "fault.h"

namespace srnverify {
namespace {

constexpr uint32_t kMostRequests = 64;
constexpr uint32_t kPsnMask = 0xffffff;
// PSNs from one life of a queue pair to the next.
constexpr uint32_t kPsnStep = 100003;
constexpr verbs::Timeout kSoon(60000);
// 4.096 us * 2^n: 268 ms. Seven retries are used up in no less than 2 s, which a machine under
// load can be late by; a loss that only silence tells of costs that much, lossy or not.
constexpr uint8_t kAckTimeout = 16;

}  // namespace

LaneEnd::LaneEnd(const Device& device, const Plan& plan, int lane, int side, const Queues& queues,
                 const verbs::Srq* srq)
    : device_(device), plan_(plan), lane_(plan.lanes[lane]), side_(side), queues_(queues) {
  const Features& features = plan.features;
  const uint32_t sge = features.Has("sge") ? features.max_sge : 1;
  qp_ =
      Need(verbs::Qp::Create(device.pd, queues.send(lane_), queues.receive(lane_),
                             {.type = lane_.type,
                              .max_send_wr = kMostRequests,
                              .max_recv_wr = kMostRequests,
                              .max_send_sge = sge,
                              .max_recv_sge = sge,
                              .max_inline = features.Has("inline") ? features.max_inline : 0,
                              .srq = lane_.srq ? srq : nullptr,
                              .send_ops = features.Has("wr") ? SendOps(lane_.type, features) : 0}),
           fmt::format("{} QP of {}", Name(lane_.type), device.name));
  if (!HasWindow(lane_, features)) return;
  window_ = Need(verbs::Mw::Create(device.pd, IBV_MW_TYPE_2), "memory window");
  key_ = window_->rkey;
}

void LaneEnd::Connect(const ibv_gid& peer, uint32_t peer_qpn) {
  peer_ = peer;
  peer_qpn_ = peer_qpn;
  verbs::WireOptions options;
  options.mtu = verbs::MtuOf(lane_.mtu);
  options.timeout = kAckTimeout;
  options.rd_atomic = plan_.features.rd_atomic;
  options.qkey = lane_.qkey;
  if (!plan_.features.Has("atomic")) options.access &= ~IBV_ACCESS_REMOTE_ATOMIC;
  const uint32_t own = (lane_.psn[side_] + times_ * kPsnStep) & kPsnMask;
  const uint32_t theirs = (lane_.psn[1 - side_] + times_ * kPsnStep) & kPsnMask;
  Need(verbs::ConnectTo(qp_, device_.port, peer, peer_qpn, theirs, own, options),
       fmt::format("connect a QP, {}, path MTU {}", Name(lane_.type), lane_.mtu));
  if (lane_.type == IBV_QPT_UD && !ah_)
    ah_ = Need(verbs::Ah::Create(device_.pd, verbs::AhAttr(device_.port, peer)), "address handle");
}

void LaneEnd::Renew() {
  ++times_;
  Need(qp_.ModifyState(IBV_QPS_RESET), "reset a QP");
  Connect(peer_, peer_qpn_);
}

uint32_t LaneEnd::Bind(const verbs::Mr& mr, uint64_t offset, uint64_t length, uint64_t id) {
  key_ = ibv_inc_rkey(key_);
  const ibv_mw_bind_info info = {
      .mr = mr.get(),
      .addr = mr.At(offset).addr,
      .length = length,
      .mw_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ};
  Need(qp_.Post(verbs::SendWr::BindMw(id, window_.get(), key_, info)), "post BIND_MW");
  Await(id, IBV_WC_BIND_MW, "BIND_MW");
  // ibv_post_send leaves this to the program (ibv_bind_mw does not), and a provider may name the
  // window by it when it is bound again: rxe's does.
  window_->rkey = key_;
  return key_;
}

void LaneEnd::Invalidate(uint64_t id) {
  Need(qp_.Post(verbs::SendWr::LocalInvalidate(id, key_)), "post LOCAL_INV");
  Await(id, IBV_WC_LOCAL_INV, "LOCAL_INV");
}

// Nothing else is posted on the thread's queues meanwhile.
void LaneEnd::Await(uint64_t id, ibv_wc_opcode opcode, const char* what) const {
  const ibv_wc wc = Need(queues_.send(lane_).Wait(kSoon), what);
  if (wc.wr_id != id || wc.status != IBV_WC_SUCCESS || wc.opcode != opcode ||
      wc.qp_num != qp_.num())
    throw Fault(
        fmt::format("{} of QP {:#x}: completion has wr_id {:#x} ({:#x}), {}, opcode {} ({}), "
                    "QP {:#x}",
                    what, qp_.num(), wc.wr_id, id, ibv_wc_status_str(wc.status),
                    static_cast<int>(wc.opcode), static_cast<int>(opcode), wc.qp_num));
}

}  // namespace srnverify
