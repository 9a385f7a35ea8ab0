// SPDX-License-Identifier: GPL-2.0-only
#include "reader.h"

#include <algorithm>
#include <utility>

namespace model {
namespace {

// Code 17, as programs of long paths ask for.
constexpr uint64_t kTimeout = 4096ull << 17;

}  // namespace

Reader::Reader(Events& events, srn_lately& known, uint32_t psn, const Reads& reads,
               std::function<void(const Ask&)> asks)
    : events_(events),
      reads_(reads),
      asks_(std::move(asks)),
      lost_(window_, rtt_),
      gaps_(window_, rtt_, reorder_),
      retry_(
          events, window_, rtt_, known, kTimeout, [this](uint32_t nth) { Probe(nth); },
          [this] {
            Seek(window_.una);
            Run();
          }),
      gap_(events, [this] { Run(); }) {
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
    if (gaps_.Sent(now, psn, num)) retry_.Restart();
  }
  const uint64_t due = std::min(lost_.Due(now), gaps_.Due(now));
  if (due != UINT64_MAX) gap_.Set(due);
}

void Reader::SendNew() {
  while (undone() > srn_window_inflight(&window_) && !srn_window_is_full(&window_, 1) &&
         srn_window_reads(&window_) < reads_.most && srn_window_takes_read(&window_) &&
         !(retry_.probing() && srn_window_inflight(&window_))) {
    const uint32_t psn = window_.at.psn;
    if (messages_.empty() ||
        srn_psn_diff(psn, messages_.back().first) >= static_cast<int32_t>(reads_.message))
      messages_.push_back({psn, srn_window_chunk(&window_, reads_.message, reads_.most, true)});
    const uint32_t num = LeftOf(psn);
    asks_({psn, num});
    if (!srn_window_sent(&window_, num, true, true)) retry_.Time(psn);
    gaps_.SentNew(num);
    for (uint32_t i = 0; i < num; ++i) lost_.SentNew();
    retry_.Sent();
  }
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
      if (window_.timed && window_.timed_psn == psn) retry_.LookAtDelay();
    }
  }
  Run();
}

void Reader::Answered(const Answer& sack) {
  srn_window_guilty(&window_);
  if (srn_psn_diff(sack.expected, window_.una) > 0)
    gaps_.Reached(srn_psn_add(sack.expected, -1), events_.now());
  if (lost_.Heard(sack, events_.now())) retry_.Heard();
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
  retry_.Progress();
  lost_.Acked(events_.now());
  gaps_.Acked(events_.now());
  if (srn_window_is_timed(&window_)) retry_.LookAtDelay();
  if (srn_psn_diff(una, window_.at.psn) > 0) Seek(una);
  retry_.Restart();
}

void Reader::Probe(uint32_t nth) {
  if (nth > 1) srn_window_time_again(&window_, window_.una, 1);
  asks_({window_.una, gaps_.is_open() ? 1 : LeftOf(window_.una)});
  Run();
}

void Reader::Seek(uint32_t psn) {
  lost_.Drop();
  gaps_.Drop();
  srn_window_seek(&window_, {.index = 0, .psn = psn});
  retry_.Stop();
}

}  // namespace model
