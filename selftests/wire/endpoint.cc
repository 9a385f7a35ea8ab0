// SPDX-License-Identifier: GPL-2.0-only
#include "endpoint.h"

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include <result/must.h>

namespace wire {
namespace {

using result::Must;

constexpr int kCqDepth = 512;
constexpr uint32_t kQueueDepth = 128;
constexpr uint32_t kInline = 64;
// The region begins and ends inside of pages: a check that looks at pages alone lets through what
// lies before and behind it. Nobody writes there, whatever a test sends.
constexpr size_t kMargin = 4096 + 64;
constexpr std::byte kGuard{0xa7};

verbs::Timeout Patience(std::chrono::microseconds base) {
  return std::chrono::ceil<verbs::Timeout>(Wire::Get().Patience(base));
}

// A slow machine must not run into timeouts that the test did not mean.
QpOptions Patient(QpOptions options) {
  constexpr uint8_t kLongest = 31;
  auto scale = Wire::Get().Patience(std::chrono::microseconds(1000)).count();
  for (; options.timeout != 0 && options.timeout < kLongest && scale > 1000; scale /= 2)
    ++options.timeout;
  return options;
}

ibv_gid GidOf(const Peer& peer) { return ToGid(Wire::Get().peer(peer.version())); }

verbs::Port PortTo(const Peer& peer) {
  return Must(Wire::Get().context().FindPort(ToGid(peer.device_address())));
}

// It fails only if the device is broken, and then the test should say so.
template <typename T>
void ExpectCloses(verbs::Handle<T>& object) {
  const verbs::Status closed = object.Close();
  EXPECT_TRUE(closed) << closed.message();
}

ibv_wc Wait(const verbs::Cq& cq, const char* what) {
  const verbs::Result<ibv_wc> wc = cq.Wait(Patience(kSoon));
  if (wc) return *wc;
  ADD_FAILURE() << "no " << what << " completion: " << wc.message();
  ibv_wc none = {};
  none.status = kNoCompletion;
  return none;
}

void ExpectEmpty(const verbs::Cq& cq, const char* what) {
  if (const auto wc = cq.Poll())
    ADD_FAILURE() << "unexpected " << what << " completion " << wc->wr_id << ": "
                  << ibv_wc_status_str(wc->status);
}

}  // namespace

Endpoint::Endpoint(Peer& peer, const QpOptions& options) : options_(Patient(options)) {
  const verbs::Context& context = Wire::Get().context();
  buffer_ = Must(verbs::Buffer::Map(kBufferSize + 2 * kMargin));
  std::ranges::fill(buffer_.bytes(), kGuard);
  std::ranges::fill(Memory(0, kBufferSize), std::byte{0});
  pd_ = Must(verbs::Pd::Create(context));
  mr_ = Must(verbs::Mr::Register(pd_, Memory(0, kBufferSize), options_.mr_access));
  send_cq_ = Must(verbs::Cq::Create(context, kCqDepth));
  recv_cq_ = Must(verbs::Cq::Create(context, kCqDepth));
  qp_ = Must(verbs::Qp::Create(pd_, send_cq_, recv_cq_,
                               {.type = options_.type,
                                .max_send_wr = kQueueDepth,
                                .max_recv_wr = kQueueDepth,
                                .max_send_sge = 2,
                                .max_recv_sge = 2,
                                .max_inline = kInline,
                                .sq_sig_all = options_.signal_all}));
  Connect(peer);
  peer.Connect(qpn(), options_.mtu, options_.sq_psn);
}

Endpoint::~Endpoint() {
  ExpectCloses(qp_);
  for (verbs::Ah& ah : ahs_) ExpectCloses(ah);
  ExpectCloses(send_cq_);
  ExpectCloses(recv_cq_);
  ExpectCloses(mr_);
  ExpectCloses(pd_);
  EXPECT_FALSE(verbs::FirstOther(buffer_.Slice(0, kMargin), kGuard)) << "written before the region";
  EXPECT_FALSE(verbs::FirstOther(Memory(kBufferSize, kMargin), kGuard)) << "written behind it";
}

void Endpoint::Connect(const Peer& peer) {
  const verbs::Port port = PortTo(peer);
  const verbs::WireOptions wire = {.mtu = verbs::MtuOf(options_.mtu),
                                   .access = options_.qp_access,
                                   .timeout = options_.timeout,
                                   .retry_cnt = options_.retry_cnt,
                                   .rnr_retry = options_.rnr_retry,
                                   .min_rnr_timer = options_.min_rnr_timer,
                                   .rd_atomic = options_.max_rd_atomic,
                                   .qkey = options_.qkey};
  verbs::Transition rtr =
      verbs::ToRtr(options_.type, port, GidOf(peer), peer.qpn(), options_.rq_psn, wire);
  rtr.attr.max_dest_rd_atomic = options_.max_dest_rd_atomic;
  if (options_.ece) {
    const uint32_t whose = options_.ece_own ? qp_.num() : peer.qpn();
    ibv_ece ece = {.vendor_id = kEceVendor, .options = *options_.ece | whose << 8, .comp_mask = 0};
    EXPECT_EQ(ibv_set_ece(qp_.get(), &ece), 0);
  }
  for (const verbs::Transition& step : {verbs::ToInit(options_.type, port, wire), rtr,
                                        verbs::ToRts(options_.type, options_.sq_psn, wire)})
    if (step.attr.qp_state <= options_.last_state) Must(verbs::Apply(qp_, step));
}

verbs::Bytes Endpoint::Memory(size_t offset, size_t length) const {
  return buffer_.Slice(kMargin + offset, length);
}

SendWr::Sges Endpoint::Data(size_t offset, size_t length) const {
  if (length == 0) return {};
  return {mr_.Slice(offset, length)};
}

roce::Bytes Endpoint::Copy(size_t offset, size_t length) const {
  roce::Bytes copy(length);
  std::ranges::copy(Memory(offset, length), std::as_writable_bytes(std::span(copy)).begin());
  return copy;
}

void Endpoint::Fill(uint8_t value) { std::ranges::fill(Memory(0, kBufferSize), std::byte{value}); }

void Endpoint::FillPattern(size_t offset, size_t length, uint32_t seed) {
  verbs::FillPattern(Memory(offset, length), seed);
}

uint64_t Endpoint::Load64(size_t offset) const {
  uint64_t value;
  std::memcpy(&value, Memory(offset, sizeof(value)).data(), sizeof(value));
  return value;
}

void Endpoint::Store64(size_t offset, uint64_t value) {
  std::memcpy(Memory(offset, sizeof(value)).data(), &value, sizeof(value));
}

void Endpoint::Post(SendWr wr) {
  const verbs::Status posted = qp_.Post(std::move(wr));
  EXPECT_TRUE(posted) << posted.message();
}

void Endpoint::Post(RecvWr wr) {
  const verbs::Status posted = qp_.Post(std::move(wr));
  EXPECT_TRUE(posted) << posted.message();
}

void Endpoint::PostSend(uint64_t id, size_t offset, size_t length) {
  Post(SendWr::Send(id, Data(offset, length)).Unsignaled());
}

void Endpoint::PostRecv(uint64_t id, size_t offset, size_t length) {
  Post(RecvWr(id, Data(offset, length)));
}

void Endpoint::Reconnect(Peer& peer) {
  Must(qp_.ModifyState(IBV_QPS_RESET));
  Connect(peer);
  peer.Connect(qpn(), options_.mtu, options_.sq_psn);
}

ibv_ah* Endpoint::CreateAh(const Peer& peer, const verbs::WireOptions& path, uint8_t sl) {
  const verbs::Port port = PortTo(peer);
  ibv_ah_attr attr = verbs::AhAttr(port, GidOf(peer), path);
  attr.sl = sl;
  ahs_.push_back(Must(verbs::Ah::Create(pd_, attr)));
  return ahs_.back().get();
}

ibv_wc Endpoint::WaitSend() { return Wait(send_cq_, "send"); }

ibv_wc Endpoint::WaitRecv() { return Wait(recv_cq_, "receive"); }

void Endpoint::ExpectNoCompletion(std::chrono::microseconds duration) {
  const Clock::time_point deadline = Clock::now() + Wire::Get().Patience(duration);
  do {
    ExpectEmpty(send_cq_, "send");
    ExpectEmpty(recv_cq_, "receive");
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  } while (Clock::now() < deadline);
}

bool Endpoint::ReachesState(ibv_qp_state state) const {
  return qp_.WaitState(state, Patience(kSoon)).ok();
}

}  // namespace wire
