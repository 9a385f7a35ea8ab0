// SPDX-License-Identifier: GPL-2.0-only
#include "cq.h"

#include <thread>

namespace verbs {
namespace {

// Polls of an empty queue before the CPU is given away. The completion may
// need this very CPU, so this stays small.
constexpr int kSpins = 32;
constexpr std::chrono::microseconds kNap(20);

}  // namespace

Result<Cq> Cq::Create(const Context& context, int entries, Options options) {
  ibv_comp_channel* channel = options.channel ? options.channel->get() : nullptr;

  if (options.by_calls) return CreateForCalls(context, entries, options);
  errno = 0;
  return Adopt<Cq>(ibv_create_cq(context.get(), entries, options.context, channel, options.vector),
                   "ibv_create_cq");
}

Result<Cq> Cq::Create(const Context& context, int entries) {
  return Create(context, entries, Options());
}

std::optional<ibv_wc> Cq::Poll() const {
  ibv_wc wc = {};

  if (PollRaw(&wc, 1) != 1) return std::nullopt;
  return wc;
}

int Cq::PollRaw(ibv_wc* wc, int count) const {
  return calls_ ? PollByCalls(wc, count) : ibv_poll_cq(get(), count, wc);
}

Result<ibv_wc> Cq::Wait(Timeout timeout) const {
  const auto deadline = std::chrono::steady_clock::now() + timeout;

  for (int spins = 0;; spins++) {
    ibv_wc wc = {};
    int count = PollRaw(&wc, 1);

    if (count == 1) return wc;
    if (count < 0) return Error{EIO, "ibv_poll_cq"};
    if (spins < kSpins) continue;
    if (std::chrono::steady_clock::now() > deadline)
      return Error{ETIMEDOUT, "wait for a completion"};
    std::this_thread::sleep_for(kNap);
  }
}

Result<std::vector<ibv_wc>> Cq::WaitFor(size_t count, Timeout timeout) const {
  std::vector<ibv_wc> all;

  while (all.size() < count) {
    Result<ibv_wc> wc = Wait(timeout);
    if (!wc.ok()) return wc.failure();
    all.push_back(*wc);
  }
  return all;
}

Status Cq::Arm(bool solicited_only) const {
  return FromReturn(ibv_req_notify_cq(get(), solicited_only), "ibv_req_notify_cq");
}

Status Cq::Resize(int entries) const {
  return FromReturn(ibv_resize_cq(get(), entries), "ibv_resize_cq");
}

Status Cq::Moderate(uint16_t count, uint16_t period_us) const {
  ibv_modify_cq_attr attr = {};

  attr.attr_mask = IBV_CQ_ATTR_MODERATE;
  attr.moderate.cq_count = count;
  attr.moderate.cq_period = period_us;
  return FromReturn(ibv_modify_cq(get(), &attr), "ibv_modify_cq");
}

}  // namespace verbs
