// SPDX-License-Identifier: GPL-2.0-only
#include "endpoint.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include <gtest/gtest.h>

namespace wire {
namespace {

constexpr int kCqDepth = 512;
constexpr uint32_t kQueueDepth = 128;
constexpr uint32_t kInline = 64;
constexpr uint8_t kPort = 1;
constexpr uint8_t kHopLimit = 64;

ibv_mtu ToEnum(uint32_t mtu) {
  switch (mtu) {
    case 256:
      return IBV_MTU_256;
    case 512:
      return IBV_MTU_512;
    case 2048:
      return IBV_MTU_2048;
    case 4096:
      return IBV_MTU_4096;
    default:
      return IBV_MTU_1024;
  }
}

ibv_ah_attr PeerAddress(const Peer& peer, uint8_t gid_index) {
  ibv_ah_attr attr = {};
  attr.is_global = 1;
  attr.port_num = kPort;
  attr.grh.sgid_index = gid_index;
  attr.grh.hop_limit = kHopLimit;
  const auto gid = Wire::Get().peer(peer.version()).gid();
  std::copy(gid.begin(), gid.end(), attr.grh.dgid.raw);
  return attr;
}

// A slow machine must not run into timeouts that the test did not mean.
QpOptions Patient(QpOptions options) {
  constexpr uint8_t kLongest = 31;
  auto scale = Wire::Get().Patience(std::chrono::microseconds(1000)).count();
  for (; options.timeout != 0 && options.timeout < kLongest && scale > 1000; scale /= 2)
    ++options.timeout;
  return options;
}

ibv_send_wr ToVerbs(const SendWr& wr, ibv_sge& sge) {
  ibv_send_wr out = {};
  out.wr_id = wr.id;
  out.opcode = wr.opcode;
  out.send_flags = wr.flags;
  out.sg_list = &sge;
  out.num_sge = wr.length == 0 ? 0 : 1;
  if (wr.opcode == IBV_WR_SEND_WITH_INV)
    out.invalidate_rkey = wr.imm;
  else
    out.imm_data = htonl(wr.imm);
  if (wr.opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
    out.wr.atomic = {wr.remote_va, wr.compare_add, wr.swap, wr.rkey};
  } else {
    out.wr.rdma = {wr.remote_va, wr.rkey};
  }
  return out;
}

}  // namespace

std::unique_ptr<Endpoint> Endpoint::Create(Peer& peer, const QpOptions& options) {
  const auto gid_index = Wire::Get().GidIndex(peer.version());
  if (!gid_index) {
    ADD_FAILURE() << "no RoCEv2 GID for " << Wire::Get().local(peer.version()).ToString();
    return nullptr;
  }
  std::unique_ptr<Endpoint> endpoint(new Endpoint(Patient(options)));
  if (!endpoint->CreateObjects() || !endpoint->CreateQp()) return nullptr;
  int err = endpoint->ToInit();
  if (err == 0 && options.last_state >= IBV_QPS_RTR) err = endpoint->ToRtr(peer, *gid_index);
  if (err == 0 && options.last_state >= IBV_QPS_RTS) err = endpoint->ToRts();
  if (err != 0) {
    ADD_FAILURE() << "ibv_modify_qp: " << std::strerror(err);
    return nullptr;
  }
  peer.Connect(endpoint->qpn(), options.mtu, options.sq_psn);
  return endpoint;
}

bool Endpoint::CreateObjects() {
  ibv_context* context = Wire::Get().context();
  pd_ = ibv_alloc_pd(context);
  if (pd_ != nullptr) mr_ = ibv_reg_mr(pd_, buffer_.data(), buffer_.size(), options_.mr_access);
  send_cq_ = ibv_create_cq(context, kCqDepth, nullptr, nullptr, 0);
  recv_cq_ = ibv_create_cq(context, kCqDepth, nullptr, nullptr, 0);
  if (mr_ != nullptr && send_cq_ != nullptr && recv_cq_ != nullptr) return true;
  ADD_FAILURE() << "cannot create PD, MR or CQ: " << std::strerror(errno);
  return false;
}

bool Endpoint::CreateQp() {
  ibv_qp_init_attr attr = {};
  attr.qp_type = options_.type;
  attr.send_cq = send_cq_;
  attr.recv_cq = recv_cq_;
  attr.sq_sig_all = options_.signal_all;
  attr.cap = {kQueueDepth, kQueueDepth, 2, 2, kInline};
  qp_ = ibv_create_qp(pd_, &attr);
  if (qp_ != nullptr) return true;
  ADD_FAILURE() << "ibv_create_qp: " << std::strerror(errno);
  return false;
}

Endpoint::~Endpoint() {
  // Each may fail only if the device is broken, and then the test should say so.
  if (qp_ != nullptr) {
    EXPECT_EQ(ibv_destroy_qp(qp_), 0);
  }
  for (ibv_ah* ah : ahs_) EXPECT_EQ(ibv_destroy_ah(ah), 0);
  if (send_cq_ != nullptr) {
    EXPECT_EQ(ibv_destroy_cq(send_cq_), 0);
  }
  if (recv_cq_ != nullptr) {
    EXPECT_EQ(ibv_destroy_cq(recv_cq_), 0);
  }
  if (mr_ != nullptr) {
    EXPECT_EQ(ibv_dereg_mr(mr_), 0);
  }
  if (pd_ != nullptr) {
    EXPECT_EQ(ibv_dealloc_pd(pd_), 0);
  }
}

int Endpoint::ToInit() {
  ibv_qp_attr attr = {};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = kPort;
  attr.qkey = options_.qkey;
  attr.qp_access_flags = static_cast<unsigned int>(
      options_.type == IBV_QPT_UC ? options_.qp_access & IBV_ACCESS_REMOTE_WRITE
                                  : options_.qp_access);
  const int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
  return ibv_modify_qp(qp_, &attr,
                       mask | (options_.type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS));
}

int Endpoint::ToRtr(Peer& peer, uint8_t gid_index) {
  ibv_qp_attr attr = {};
  attr.qp_state = IBV_QPS_RTR;
  attr.path_mtu = ToEnum(options_.mtu);
  attr.dest_qp_num = peer.qpn();
  attr.rq_psn = options_.rq_psn;
  attr.max_dest_rd_atomic = options_.max_dest_rd_atomic;
  attr.min_rnr_timer = options_.min_rnr_timer;
  attr.ah_attr = PeerAddress(peer, gid_index);
  int mask = IBV_QP_STATE;
  if (options_.type != IBV_QPT_UD)
    mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
  if (options_.type == IBV_QPT_RC) mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  return ibv_modify_qp(qp_, &attr, mask);
}

int Endpoint::ToRts() {
  ibv_qp_attr attr = {};
  attr.qp_state = IBV_QPS_RTS;
  attr.sq_psn = options_.sq_psn;
  attr.timeout = options_.timeout;
  attr.retry_cnt = options_.retry_cnt;
  attr.rnr_retry = options_.rnr_retry;
  attr.max_rd_atomic = options_.max_rd_atomic;
  int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
  if (options_.type == IBV_QPT_RC)
    mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
  return ibv_modify_qp(qp_, &attr, mask);
}

std::vector<uint8_t> Endpoint::Copy(size_t offset, size_t length) const {
  const auto begin = buffer_.begin() + static_cast<ptrdiff_t>(offset);
  return {begin, begin + static_cast<ptrdiff_t>(length)};
}

void Endpoint::FillPattern(size_t offset, size_t length, uint8_t seed) {
  for (size_t i = 0; i < length; ++i)
    buffer_[offset + i] = static_cast<uint8_t>(seed + i + i / 251);
}

uint64_t Endpoint::Load64(size_t offset) const {
  uint64_t value;
  std::memcpy(&value, buffer_.data() + offset, sizeof(value));
  return value;
}

void Endpoint::Store64(size_t offset, uint64_t value) {
  std::memcpy(buffer_.data() + offset, &value, sizeof(value));
}

void Endpoint::PostRecv(uint64_t id, size_t offset, uint32_t length) {
  PostRecvKey(id, offset, length, lkey());
}

void Endpoint::PostRecvKey(uint64_t id, size_t offset, uint32_t length, uint32_t lkey) {
  ibv_sge sge = {Va(offset), length, lkey};
  ibv_recv_wr wr = {};
  wr.wr_id = id;
  wr.sg_list = &sge;
  wr.num_sge = length == 0 ? 0 : 1;
  ibv_recv_wr* bad = nullptr;
  EXPECT_EQ(ibv_post_recv(qp_, &wr, &bad), 0);
}

void Endpoint::PostSend(const SendWr& wr) {
  ibv_sge sge = {Va(wr.offset), wr.length, lkey()};
  ibv_send_wr out = ToVerbs(wr, sge);
  ibv_send_wr* bad = nullptr;
  EXPECT_EQ(ibv_post_send(qp_, &out, &bad), 0);
}

void Endpoint::PostSendTo(const SendWr& wr, ibv_ah* ah, uint32_t qpn, uint32_t qkey) {
  ibv_sge sge = {Va(wr.offset), wr.length, lkey()};
  ibv_send_wr out = ToVerbs(wr, sge);
  out.wr.ud = {ah, qpn, qkey};
  ibv_send_wr* bad = nullptr;
  EXPECT_EQ(ibv_post_send(qp_, &out, &bad), 0);
}

ibv_global_route Endpoint::DefaultGrh() {
  ibv_global_route grh = {};
  grh.hop_limit = kHopLimit;
  return grh;
}

ibv_ah* Endpoint::CreateAh(Peer& peer, const ibv_global_route& grh) {
  ibv_ah_attr attr = PeerAddress(peer, *Wire::Get().GidIndex(peer.version()));
  attr.grh.hop_limit = grh.hop_limit;
  attr.grh.traffic_class = grh.traffic_class;
  attr.grh.flow_label = grh.flow_label;
  ibv_ah* ah = ibv_create_ah(pd_, &attr);
  EXPECT_NE(ah, nullptr) << std::strerror(errno);
  if (ah != nullptr) ahs_.push_back(ah);
  return ah;
}

std::optional<ibv_wc> Endpoint::PollSend() {
  ibv_wc wc = {};
  return ibv_poll_cq(send_cq_, 1, &wc) == 1 ? std::optional(wc) : std::nullopt;
}

std::optional<ibv_wc> Endpoint::PollRecv() {
  ibv_wc wc = {};
  return ibv_poll_cq(recv_cq_, 1, &wc) == 1 ? std::optional(wc) : std::nullopt;
}

ibv_wc Endpoint::Wait(ibv_cq* cq, std::chrono::microseconds timeout, const char* what) {
  const Clock::time_point deadline = Clock::now() + Wire::Get().Patience(timeout);
  ibv_wc wc = {};
  for (;;) {
    const int got = ibv_poll_cq(cq, 1, &wc);
    if (got == 1) return wc;
    if (got < 0 || Clock::now() > deadline) break;
    // Sleeping lets a device on this same CPU do its work.
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  ADD_FAILURE() << "no " << what << " completion within " << timeout.count() << " us";
  wc = {};
  wc.status = kNoCompletion;
  return wc;
}

ibv_wc Endpoint::WaitSend(std::chrono::microseconds timeout) {
  return Wait(send_cq_, timeout, "send");
}

ibv_wc Endpoint::WaitRecv(std::chrono::microseconds timeout) {
  return Wait(recv_cq_, timeout, "receive");
}

void Endpoint::ExpectNoCompletion(std::chrono::microseconds duration) {
  const Clock::time_point deadline = Clock::now() + duration;
  do {
    if (const auto wc = PollSend())
      ADD_FAILURE() << "unexpected send completion " << wc->wr_id << ": "
                    << ibv_wc_status_str(wc->status);
    if (const auto wc = PollRecv())
      ADD_FAILURE() << "unexpected receive completion " << wc->wr_id << ": "
                    << ibv_wc_status_str(wc->status);
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  } while (Clock::now() < deadline);
}

ibv_qp_state Endpoint::State() const {
  ibv_qp_attr attr = {};
  ibv_qp_init_attr init = {};
  if (ibv_query_qp(qp_, &attr, IBV_QP_STATE, &init) != 0) return IBV_QPS_UNKNOWN;
  return attr.qp_state;
}

bool Endpoint::ReachesState(ibv_qp_state state, std::chrono::microseconds timeout) const {
  const Clock::time_point deadline = Clock::now() + Wire::Get().Patience(timeout);
  while (State() != state) {
    if (Clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace wire
