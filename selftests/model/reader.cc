// SPDX-License-Identifier: GPL-2.0-only
#include "reader.h"

#include <algorithm>
#include <utility>

namespace model {
namespace {

constexpr uint32_t kTimedFrom = SRN_WINDOW_FEW;
// Code 17, as programs of long paths ask for.
constexpr uint64_t kTimeout = 4096ull << 17;
constexpr uint32_t kProbeShiftMax = 10;

}  // namespace

Reader::Reader(Events& events, srn_lately& known, uint32_t psn, const Reads& reads,
               std::function<void(const Ask&)> asks)
    : events_(events),
      known_(known),
      reads_(reads),
      asks_(std::move(asks)),
      lost_(window_, rtt_),
      gaps_(window_, rtt_, reorder_),
      gap_(events, [this] { Run(); }),
      silence_(events, [this] { Silent(); }) {
  srn_window_start(&window_, psn, kMtu);
  srn_window_set_reach(&window_, SRN_HOLD_WIDE);
  srn_window_set_room(&window_, rd_last_.data(), static_cast<uint32_t>(rd_last_.size()));
  posted_ = static_cast<uint64_t>(reads.depth) * reads.message;
}

void Reader::Run() {
  SendMissing();
  SendNew();
}

uint32_t Reader::LeftOf(uint32_t psn) const {
  for (const Message& m : messages_) {
    const auto at = static_cast<uint32_t>(srn_psn_diff(psn, m.first));
    if (at < reads_.message) return std::min(m.chunk - at % m.chunk, reads_.message - at);
  }
  return 1;
}

void Reader::SendMissing() {
  const uint64_t now = events_.now();
  uint32_t psn, len;
  while ((len = lost_.Next(now, &psn)) > 0) {
    const uint32_t num = LeftOf(psn);
    asks_({psn, num});
    for (uint32_t i = 0; i < std::min(len, num); ++i)
      lost_.Sent(now, srn_psn_add(psn, static_cast<int32_t>(i)));
  }
  while ((len = gaps_.Next(now, &psn)) > 0) {
    const uint32_t num = std::min(len, LeftOf(psn));
    asks_({psn, num});
    if (gaps_.Sent(now, psn, num)) Restart();
  }
  const uint64_t due = std::min(lost_.Due(now), gaps_.Due(now));
  if (due != UINT64_MAX) gap_.Set(due);
}

void Reader::SendNew() {
  while (undone() > srn_window_inflight(&window_) && !srn_window_is_full(&window_, 1) &&
         srn_window_reads(&window_) < reads_.most && srn_window_takes_read(&window_) &&
         !(probing_ && srn_window_inflight(&window_))) {
    const uint32_t psn = window_.at.psn;
    if (messages_.empty() ||
        srn_psn_diff(psn, messages_.back().first) >= static_cast<int32_t>(reads_.message))
      messages_.push_back({psn, srn_window_chunk(&window_, reads_.message, reads_.most, true)});
    const uint32_t num = LeftOf(psn);
    asks_({psn, num});
    if (!srn_window_sent(&window_, num, true, true)) TimeIt(psn);
    gaps_.SentNew(num);
    for (uint32_t i = 0; i < num; ++i) lost_.SentNew();
    if (!silence_.is_set()) Restart();
  }
}

void Reader::TimeIt(uint32_t psn) {
  const bool queue = srn_window_inflight(&window_) >= kTimedFrom;
  if (window_.timed) return;
  if (queue || srn_window_is_narrow(&window_) || srn_rtt_wants(&rtt_))
    srn_window_time(&window_, psn, events_.now(), queue);
}

void Reader::Arrived(uint32_t psn) {
  const uint64_t now = events_.now();
  if (!srn_window_has(&window_, psn)) return;
  if (psn == window_.una) {
    uint32_t una = psn;
    do {
      early_.reset(una % SRN_PSNS);
      una = srn_psn_add(una, 1);
    } while (early_.test(una % SRN_PSNS));
    Progress(una);
  } else {
    gaps_.Reached(srn_psn_add(psn, -1), now);
    if (srn_psn_diff(psn, window_.una) >= static_cast<int32_t>(SRN_WINDOW_READS)) return;
    gaps_.Came(psn, now);
    if (early_.test(psn % SRN_PSNS)) {
      gaps_.Twice();
    } else {
      early_.set(psn % SRN_PSNS);
      if (window_.timed && window_.timed_psn == psn) LookAtDelay();
    }
  }
  Run();
}

void Reader::Answered(const Answer& sack) {
  srn_window_guilty(&window_);
  if (srn_psn_diff(sack.expected, window_.una) > 0)
    gaps_.Reached(srn_psn_add(sack.expected, -1), events_.now());
  if (lost_.Heard(sack, events_.now())) {
    probes_ = 0;
    Restart();
  }
  Run();
}

void Reader::Progress(uint32_t una) {
  done_ += static_cast<uint64_t>(srn_psn_diff(una, window_.una));
  srn_window_acked(&window_, una);
  while (!messages_.empty() &&
         srn_psn_diff(una, messages_.front().first) >= static_cast<int32_t>(reads_.message))
    messages_.pop_front();
  if (!finished_)
    posted_ = (done_ / reads_.message + static_cast<uint64_t>(reads_.depth)) * reads_.message;
  probing_ = false;
  probes_ = 0;
  used_ = 0;
  lost_.Acked(events_.now());
  gaps_.Acked(events_.now());
  if (srn_window_is_timed(&window_)) LookAtDelay();
  if (srn_psn_diff(una, window_.at.psn) > 0) Seek(una);
  Restart();
}

void Reader::LookAtDelay() {
  const uint64_t now = events_.now(), took = now - window_.timed_ns;
  if (window_.timed_again) {
    srn_rtt_bound(&rtt_, took, kTimeout);
    srn_window_answered_again(&window_, took, kTimeout);
    return;
  }
  srn_rtt_sample(&rtt_, took);
  const uint64_t least = srn_lately_least(&known_, took, now);
  const uint64_t delay = srn_window_delay(&window_, least, now);
  srn_window_mind(&window_);
  if (srn_window_is_late(&window_, delay, kTimeout)) srn_window_late(&window_);
}

uint64_t Reader::Timeout() const { return srn_rtt_patience_ns(&rtt_, kTimeout, used_); }

void Reader::Await() {
  const uint64_t all = Timeout(), probe = srn_rtt_probe_ns(&rtt_, all);
  step_ = std::min(all - std::min(all, waited_), probe << std::min(probes_, kProbeShiftMax));
  silence_.Set(step_);
}

void Reader::Restart() {
  silence_.Clear();
  waited_ = 0;
  if (srn_window_inflight(&window_)) Await();
}

void Reader::Silent() {
  if (!srn_window_inflight(&window_)) return;
  waited_ += step_;
  if (waited_ < Timeout()) {
    Probe();
    return;
  }
  srn_window_silent(&window_, used_++ > 0);
  Seek(window_.una);
  probing_ = true;
  Run();
}

void Reader::Probe() {
  ++probes_;
  Await();
  if (probes_ > 1) srn_window_time_again(&window_, window_.una, 1);
  asks_({window_.una, gaps_.is_open() ? 1 : LeftOf(window_.una)});
  Run();
}

void Reader::Seek(uint32_t psn) {
  lost_.Drop();
  gaps_.Drop();
  srn_window_seek(&window_, {.index = 0, .psn = psn});
  probing_ = false;
  silence_.Clear();
}

}  // namespace model
