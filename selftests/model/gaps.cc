// SPDX-License-Identifier: GPL-2.0-only
#include "gaps.h"

#include <algorithm>

namespace model {
namespace {

// board.c, WATCH_MIN_NS
constexpr uint64_t kWatchMin = 50'000;
// gaps.c, ASKED
constexpr uint32_t kAsked = 96;

}  // namespace

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
  return due == 0 ? UINT64_MAX : std::max(due, kWatchMin);
}

}  // namespace model
