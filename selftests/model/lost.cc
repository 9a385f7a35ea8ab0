// SPDX-License-Identifier: GPL-2.0-only
#include "lost.h"

#include <algorithm>

namespace model {
namespace {

// board.c, WATCH_MIN_NS
constexpr uint64_t kWatchMin = 50'000;

}  // namespace

srn_score_wait Lost::Wait() const {
  return {.reorder = srn_reorder_ns(&reorder_, rtt_.srtt_ns),
          .again = srn_rtt_again_ns(&rtt_),
          .soon = rtt_.srtt_ns / 2};
}

void Lost::NoteTwice(uint32_t twice) {
  const uint32_t more = srn_reorder_twice(&reorder_, twice);
  if (!more || !reorder_.resent) return;
  reorder_.resent -= std::min(more, reorder_.resent);
  srn_reorder_vain(&reorder_);
  srn_rtt_vain(&rtt_);
}

bool Lost::Heard(const Answer& sack, uint64_t now) {
  if (!srn_window_is_out(&window_, sack.expected)) return false;
  NoteTwice(sack.twice);
  // What is behind that was not sent, or the cursor went back before it.
  const int32_t left = srn_psn_diff(window_.at.psn, sack.expected) - 1;
  const uint32_t num = std::min(sack.num, static_cast<uint32_t>(left));
  if (bitmap_empty(sack.held.data(), num)) return false;
  if (!score_) {
    score_ = std::make_unique<srn_score>();
    srn_score_start(score_.get(), window_.una);
  }
  const srn_score_wait wait = Wait();
  const uint32_t added =
      srn_score_heard(score_.get(), sack.expected, sack.held.data(), num, &wait, now);
  NoteTook(now);
  NoteOut();
  if (added) srn_window_came(&window_, added);
  return added;
}

// board.c, srn_board_heard(); here a program asks for no timeout.
void Lost::NoteTook(uint64_t now) {
  const uint64_t took = srn_score_took(score_.get(), now);
  if (took) srn_rtt_longer(&rtt_, took, 0);
}

void Lost::Acked(uint64_t now) {
  if (!score_) return;
  // It was overtaken and came by itself: it was late, not the path long.
  if (window_.timed && srn_psn_diff(window_.timed_psn, score_->high) < 0)
    srn_window_untime(&window_);
  if (srn_score_acked(score_.get(), window_.una)) srn_reorder_seen(&reorder_);
  NoteTook(now);
  if (!srn_score_is_over(score_.get())) {
    NoteOut();
  } else {
    if (score_->resent) srn_reorder_lost(&reorder_);
    Drop();
  }
  if (srn_psn_diff(window_.at.psn, window_.una) >= 0) srn_window_refilled(&window_);
}

void Lost::Drop() {
  score_.reset();
  window_.gone = 0;
}

// What was out when a queue was to drain, and was not heard of, is lost.
void Lost::Conclude(const srn_score_wait& wait, uint64_t now) {
  const uint64_t had = wait.again + 2 * window_.crowd.delay_ns;
  const uint32_t out = srn_window_drained(&window_, had, now);
  const uint32_t most = std::min<uint32_t>(out, SRN_PSNS - 1);
  srn_score_reached(score_.get(), srn_psn_add(window_.una, static_cast<int32_t>(most)), &wait, now);
}

uint32_t Lost::Next(uint64_t now, uint32_t* psn) {
  if (!score_) return 0;
  const srn_score_wait wait = Wait();
  Conclude(wait, now);
  const uint32_t len = srn_score_pick(score_.get(), &wait, now, psn);
  if (!len || !srn_window_is_out(&window_, *psn)) return 0;
  NoteOut();
  const bool room = srn_window_takes_again(&window_);
  const bool tight = srn_window_is_tight(&window_);
  return srn_score_may_go(score_.get(), &wait, now, room, tight) ? len : 0;
}

void Lost::Sent(uint64_t now, uint32_t psn) {
  ++reorder_.resent;
  srn_window_lost(&window_, 1, srn_score_tried_ns(score_.get(), psn), now);
  if (window_.timed && window_.timed_psn == psn) srn_window_untime(&window_);
  srn_score_sent(score_.get(), psn, 1, window_.at.psn, now);
  NoteOut();
}

uint64_t Lost::Due(uint64_t now) const {
  if (!score_) return UINT64_MAX;
  const srn_score_wait wait = Wait();
  const uint64_t due = srn_score_due(score_.get(), &wait, now);
  // What is due by now was looked at.
  return due == 0 ? UINT64_MAX : std::max(due, kWatchMin);
}

}  // namespace model
