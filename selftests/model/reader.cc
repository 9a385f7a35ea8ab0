// SPDX-License-Identifier: GPL-2.0-only
#include "reader.h"

#include <algorithm>
#include <utility>

namespace model {
namespace {

// ack.c, SACK_EVERY_NS; board.c, WATCH_MIN_NS
constexpr uint64_t kEvery = 50'000;
constexpr uint32_t kEveryWords = 16;
// gaps.c, ASKED
constexpr uint32_t kAsked = 96;
constexpr uint32_t kTimedFrom = SRN_WINDOW_FEW;
// Code 17, as programs of long paths ask for.
constexpr uint64_t kTimeout = 4096ull << 17;
constexpr uint32_t kProbeShiftMax = 10;
constexpr uint32_t kWord = 32;

}  // namespace

Answerer::Answerer(Events& events, uint32_t psn, std::function<void(uint32_t psn)> sends,
                   std::function<void(const Answer&)> tells)
    : events_(events),
      sends_(std::move(sends)),
      tells_(std::move(tells)),
      tell_(events, [this] { Tell(); }),
      expected_(psn) {}

void Answerer::Send(const Ask& ask) {
  for (uint32_t i = 0; i < ask.num; ++i) sends_(srn_psn_add(ask.psn, static_cast<int32_t>(i)));
}

void Answerer::Arrived(const Ask& ask) {
  const int32_t ahead = srn_psn_diff(ask.psn, expected_);
  if (ahead < 0) {
    Send(ask);
    return;
  }
  if (ahead > SRN_HOLD_WIDE) return;
  held_.emplace(place_ + static_cast<uint64_t>(ahead), ask);
  while (!held_.empty() && held_.begin()->first <= place_) {
    const auto [place, next] = *held_.begin();
    held_.erase(held_.begin());
    if (place < place_) continue;  // another one asked for it, and for what is in front of it
    place_ += next.num;
    expected_ = srn_psn_add(expected_, static_cast<int32_t>(next.num));
    Send(next);
  }
  if (held_.empty()) return;
  if (events_.now() >= tells_at_)
    Tell();
  else if (!tell_.is_set())
    tell_.Set(tells_at_ - events_.now());
}

void Answerer::Tell() {
  if (held_.empty()) return;
  const auto& [last, ask] = *held_.rbegin();
  const auto span = static_cast<uint32_t>(last + ask.num - place_ - 1);
  Answer sack{.expected = expected_, .num = (span + kWord - 1) / kWord * kWord};
  sack.held.resize(BITS_TO_LONGS(sack.num));
  for (const auto& [place, held] : held_)
    for (uint32_t i = 0; i < std::min<uint32_t>(held.num, SRN_HOLD_AHEAD); ++i) {
      const uint64_t bit = place + i - place_ - 1;
      sack.held[bit / 64] |= 1ul << bit % 64;
    }
  tells_at_ = events_.now() + kEvery * (1 + sack.num / kWord / kEveryWords);
  tells_(sack);
}

srn_score_wait Gaps::Wait() const {
  return {.reorder = srn_reorder_ns(&reorder_, rtt_.srtt_ns),
          .again = srn_rtt_again_ns(&rtt_),
          .soon = rtt_.srtt_ns / 2};
}

srn_score* Gaps::Get(uint32_t psn) {
  if (!srn_window_is_out(&window_, psn)) return nullptr;
  if (!score_) {
    score_ = std::make_unique<srn_score>();
    srn_score_start(score_.get(), window_.una);
    score_->most = kAsked;
  }
  return score_.get();
}

void Gaps::Reached(uint32_t psn, uint64_t now) {
  srn_score* s = Get(psn);
  if (!s) return;
  const srn_score_wait wait = Wait();
  srn_score_reached(s, srn_psn_add(psn, 1), &wait, now);
  NoteOut();
}

void Gaps::Came(uint32_t psn, uint64_t now) {
  srn_score* s = Get(psn);
  if (!s) return;
  const srn_score_wait wait = Wait();
  srn_score_came(s, psn, &wait, now);
  NoteTook(now);
  NoteOut();
}

void Gaps::Twice() {
  if (!score_ || !score_->resent || score_->vain) return;
  score_->vain = true;
  srn_reorder_vain(&reorder_);
  srn_rtt_vain(&rtt_);
}

void Gaps::NoteTook(uint64_t now) {
  const uint64_t took = srn_score_took(score_.get(), now);
  if (took) srn_rtt_longer(&rtt_, took, 0);
}

void Gaps::Acked(uint64_t now) {
  if (!score_) return;
  if (window_.timed && srn_psn_diff(window_.timed_psn, score_->high) < 0)
    srn_window_untime(&window_);
  if (srn_score_acked(score_.get(), window_.una)) srn_reorder_seen(&reorder_);
  NoteTook(now);
  if (!srn_score_is_over(score_.get())) {
    NoteOut();
    return;
  }
  if (score_->resent) srn_reorder_lost(&reorder_);
  Drop();
}

void Gaps::Drop() {
  score_.reset();
  window_.came = 0;
}

uint32_t Gaps::Next(uint64_t now, uint32_t* psn) {
  if (!score_) return 0;
  const srn_score_wait wait = Wait();
  const uint64_t had = wait.again + 2 * window_.crowd.delay_ns;
  const uint32_t out = std::min<uint32_t>(srn_window_drained(&window_, had, now), SRN_PSNS - 1);
  srn_score_reached(score_.get(), srn_psn_add(window_.una, static_cast<int32_t>(out)), &wait, now);
  const uint32_t len = srn_score_pick(score_.get(), &wait, now, psn);
  if (!len || !srn_window_is_out(&window_, *psn)) return 0;
  NoteOut();
  const bool room = srn_window_takes_part(&window_);
  return srn_score_may_go(score_.get(), &wait, now, room, false) ? len : 0;
}

bool Gaps::Sent(uint64_t now, uint32_t psn, uint32_t len) {
  const bool first = psn == window_.una && srn_psn_diff(psn, score_->next) >= 0;
  srn_window_lost(&window_, len, srn_score_tried_ns(score_.get(), psn), now);
  srn_window_untime_run(&window_, psn, len);
  srn_score_sent(score_.get(), psn, len, window_.at.psn, now);
  NoteOut();
  return first;
}

uint64_t Gaps::Due(uint64_t now) const {
  if (!score_) return UINT64_MAX;
  const srn_score_wait wait = Wait();
  const uint64_t due = srn_score_due(score_.get(), &wait, now);
  return due == 0 ? UINT64_MAX : std::max(due, kEvery);
}

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
