// SPDX-License-Identifier: GPL-2.0-only
#include "retry.h"

#include <algorithm>
#include <utility>

namespace model {
namespace {

// requester.c, TIMED_FROM
constexpr uint32_t kTimedFrom = SRN_WINDOW_FEW;
// retry.c, PROBE_SHIFT_MAX
constexpr uint32_t kProbeShiftMax = 10;

}  // namespace

Retry::Retry(Events& events, srn_window& window, srn_rtt& rtt, srn_lately& known, uint64_t timeout,
             std::function<void(uint32_t nth)> probes, std::function<void()> goes_back)
    : events_(events),
      window_(window),
      rtt_(rtt),
      known_(known),
      timeout_(timeout),
      probes_(std::move(probes)),
      goes_back_(std::move(goes_back)),
      silence_(events, [this] { Silent(); }) {}

void Retry::Time(uint32_t psn) {
  const bool queue = srn_window_inflight(&window_) >= kTimedFrom;
  if (window_.timed) return;
  if (queue || srn_window_is_narrow(&window_) || srn_rtt_wants(&rtt_))
    srn_window_time(&window_, psn, events_.now(), queue);
}

void Retry::Sent() {
  if (!silence_.is_set()) Restart();
}

void Retry::Progress() {
  probing_ = false;
  probed_ = 0;
  used_ = 0;
}

void Retry::Heard() {
  probed_ = 0;
  Restart();
}

void Retry::LookAtDelay() {
  const uint64_t now = events_.now();
  const uint64_t took = now - window_.timed_ns;
  if (window_.timed_again) {
    srn_rtt_bound(&rtt_, took, timeout_);
    srn_window_answered_again(&window_, took, timeout_);
    return;
  }
  srn_rtt_sample(&rtt_, took);
  const uint64_t least = srn_lately_least(&known_, took, now);
  const uint64_t delay = srn_window_delay(&window_, least, now);
  srn_window_mind(&window_);
  if (srn_window_is_late(&window_, delay, timeout_)) srn_window_late(&window_);
}

uint64_t Retry::Timeout() const { return srn_rtt_patience_ns(&rtt_, timeout_, used_); }

void Retry::Await() {
  const uint64_t all = Timeout(), probe = srn_rtt_probe_ns(&rtt_, all);
  const uint32_t shift = std::clamp(probed_, 1u, kProbeShiftMax + 1) - 1;
  step_ = std::min(all - std::min(all, waited_), probe << shift);
  silence_.Set(step_);
}

void Retry::Restart() {
  silence_.Clear();
  waited_ = 0;
  if (srn_window_inflight(&window_)) Await();
}

void Retry::Silent() {
  if (!srn_window_inflight(&window_)) return;
  waited_ += step_;
  if (waited_ < Timeout()) {
    ++probed_;
    Await();
    probes_(probed_);
    return;
  }
  ++timeouts_;
  srn_window_silent(&window_, used_++ > 0);
  probing_ = true;
  goes_back_();
}

}  // namespace model
