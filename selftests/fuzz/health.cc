// SPDX-License-Identifier: GPL-2.0-only
#include "health.h"

#include <cstring>

#include <fmt/format.h>

#include "target.h"

namespace fuzz {
namespace {

constexpr uint32_t kLength = 3 * 1024 + 5;
constexpr size_t kTheirs = 0, kOurs = 8192, kBack = 16384;  // in the device's memory
constexpr uint64_t kModelVa = 0x10000;
constexpr size_t kModelSize = 64 << 10;

void Require(bool right, const char* what) {
  if (!right) throw Broken(fmt::format("healthy connection: {}", what));
}

}  // namespace

Health::Health(net::IpVersion version)
    : peer_(wire::Peer::Create(version)),
      endpoint_(std::make_unique<wire::Endpoint>(*peer_, wire::QpOptions{})),
      next_psn_(endpoint_->options().rq_psn) {
  model_ = std::make_unique<wire::ModelResponder>(
      kModelVa, kModelSize, endpoint_->options().sq_psn, endpoint_->options().mtu,
      [this](const wire::Packet& packet) { peer_->Send(packet); });
}

void Health::CheckResponder() {
  const uint32_t mtu = endpoint_->options().mtu;
  const wire::Bytes data = wire::Pattern(kLength, round_);
  for (const wire::Packet& p :
       wire::WriteMessage(next_psn_, data, mtu, endpoint_->Va(kTheirs), endpoint_->rkey()))
    peer_->Send(p);
  next_psn_ = roce::PsnAdd(next_psn_, static_cast<int>(roce::PsnCount(kLength, mtu)));
  while (peer_->Expect().bth.psn != roce::PsnAdd(next_psn_, -1)) {
  }
  Require(endpoint_->Copy(kTheirs, kLength) == data, "the peer's WRITE arrives");
  peer_->Send(wire::ReadRequest(next_psn_, {endpoint_->Va(kTheirs), endpoint_->rkey(), kLength}));
  wire::Bytes read;
  while (read.size() < kLength) {
    const wire::Packet packet = peer_->Expect();
    Require(packet.bth.psn == next_psn_, "the peer's READ is answered in order");
    next_psn_ = roce::PsnAdd(next_psn_, 1);
    read.insert(read.end(), packet.payload.begin(), packet.payload.end());
  }
  Require(read == data, "the peer's READ brings what is there");
}

// Plays the responder until this request has completed.
void Health::Answer(uint64_t wr_id) {
  for (;;) {
    if (const auto wc = endpoint_->PollSend()) {
      Require(wc->status == IBV_WC_SUCCESS, ibv_wc_status_str(wc->status));
      if (wc->wr_id == wr_id) return;
      continue;
    }
    model_->Handle(peer_->Expect());
  }
}

void Health::CheckRequester() {
  const verbs::Remote there = {kModelVa, 1};
  endpoint_->FillPattern(kOurs, kLength, round_ + 1000);
  endpoint_->Post(wire::SendWr::Write(1, endpoint_->Data(kOurs, kLength), there));
  endpoint_->Post(wire::SendWr::Send(2, endpoint_->Data(kOurs, kLength)));
  endpoint_->Post(wire::SendWr::Read(3, endpoint_->Data(kBack, kLength), there));
  Answer(3);
  const wire::Bytes want = endpoint_->Copy(kOurs, kLength);
  Require(std::memcmp(model_->memory().data(), want.data(), kLength) == 0, "WRITE arrives");
  Require(model_->sends().back() == want, "SEND arrives");
  Require(endpoint_->Copy(kBack, kLength) == want, "READ brings what was written");
  endpoint_->Post(wire::SendWr::FetchAdd(4, endpoint_->mr().Slice(kBack, 8), there + 16384, 3));
  Answer(4);
  Require(endpoint_->Load64(kBack) == 3 * uint64_t{round_}, "the atomic returns what was there");
}

void Health::Check() {
  (void)peer_->Drain(std::chrono::microseconds(0));
  CheckResponder();
  CheckRequester();
  ++round_;
}

}  // namespace fuzz
