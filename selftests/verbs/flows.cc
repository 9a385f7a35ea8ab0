// SPDX-License-Identifier: GPL-2.0-only
#include "flows.h"

#include <algorithm>

namespace verbs_test {
namespace {

// A wr_id has the connection, and whether it is a receive.
constexpr uint64_t kReceive = 1ull << 32;

}  // namespace

const char* ToString(Load load) {
  return load == Load::kWrite ? "WRITE" : load == Load::kSend ? "SEND" : "READ";
}

Flows::Flows(std::vector<Host>& from, Host& to, const FlowOptions& options)
    : options_(options), from_(from), to_(to), bytes_(options.count) {
  const int entries = options.count * options.depth * 2 + 1;
  for (const Host& host : from) from_cqs_.push_back(Must(Cq::Create(host.ctx, entries)));
  to_cq_ = Must(Cq::Create(to.ctx, entries));
  for (int i = 0; i < options.count; ++i) Connect(i);
}

void Flows::Connect(size_t i) {
  const size_t host = i % from_.size();
  const uint32_t depth = options_.depth;
  const Qp::Options options = {.max_send_wr = depth, .max_recv_wr = 2 * depth};
  const Cq& cq = from_cqs_[host];
  flows_.push_back({Must(Qp::Create(from_[host].pd, cq, cq, options)),
                    Must(Qp::Create(to_.pd, to_cq_, to_cq_, options)), host});
  const Flow& flow = flows_.back();
  Must(verbs::Connect(flow.from, from_[host].port, flow.to, to_.port, options_.wire));
  for (uint32_t n = 0; options_.load == Load::kSend && n < 2 * depth; ++n) PostReceive(i);
}

void Flows::PostReceive(size_t i) {
  Must(flows_[i].to.Post(RecvWr(i | kReceive, {to_.mr.Slice(0, options_.message)})));
}

void Flows::Post(size_t i) {
  const Host& from = HostOf(i);
  const ibv_sge here = from.mr.Slice(0, options_.message);
  if (options_.load == Load::kRead)
    Must(flows_[i].to.Post(SendWr::Read(i, to_.mr.Slice(0, options_.message), from.mr.At(0))));
  else if (options_.load == Load::kSend)
    Must(flows_[i].from.Post(SendWr::Send(i, here)));
  else
    Must(flows_[i].from.Post(SendWr::Write(i, here, to_.mr.At(0))));
  outstanding_++;
}

void Flows::Start() {
  for (size_t i = 0; i < flows_.size(); ++i)
    for (int n = 0; n < options_.depth; ++n) Post(i);
}

void Flows::Done(const ibv_wc& wc) {
  const bool receive = wc.wr_id & kReceive;
  const size_t i = wc.wr_id & ~kReceive;
  if (!receive) outstanding_--;
  if (wc.status != IBV_WC_SUCCESS) {
    errors_++;
    return;
  }
  if (receive) {
    PostReceive(i);
    return;
  }
  bytes_[i] += options_.message;
  if (!stopped_) Post(i);
}

// A few of each queue: where a post sends at once, there may always be more.
bool Flows::Poll() {
  ibv_wc wcs[64];
  bool any = false;
  const auto take = [&](const Cq& cq) {
    const int num = cq.PollRaw(wcs, std::size(wcs));
    for (int i = 0; i < num; ++i) Done(wcs[i]);
    any = any || num > 0;
  };
  take(to_cq_);
  for (const Cq& cq : from_cqs_) take(cq);
  return any;
}

double Jain(const std::vector<uint64_t>& shares) {
  double sum = 0, squares = 0;
  for (uint64_t share : shares) {
    sum += share;
    squares += static_cast<double>(share) * share;
  }
  return squares > 0 ? sum * sum / (shares.size() * squares) : 0;
}

}  // namespace verbs_test
