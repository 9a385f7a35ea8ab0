// SPDX-License-Identifier: GPL-2.0-only
#include "board.h"

#include <algorithm>

namespace model {
namespace {

// board.c, WATCH_MIN_NS
constexpr uint64_t kWatchMin = 50'000;

}  // namespace

srn_score_wait Board::Wait() const {
  return {.reorder = srn_reorder_ns(&reorder_, rtt_.srtt_ns),
          .again = srn_rtt_again_ns(&rtt_),
          .soon = rtt_.srtt_ns / 2};
}

bool Board::Begin() {
  if (score_) return false;
  score_ = std::make_unique<srn_score>();
  srn_score_start(score_.get(), window_.una);
  return true;
}

// srn_board_heard(); here a program asks for no timeout.
void Board::NoteTook(uint64_t now) {
  const uint64_t took = srn_score_took(score_.get(), now);
  if (took) srn_rtt_longer(&rtt_, took, 0);
}

bool Board::Acked(uint64_t now) {
  // It was overtaken and came by itself: it was late, not the path long.
  if (window_.timed && srn_psn_diff(window_.timed_psn, score_->high) < 0)
    srn_window_untime(&window_);
  if (srn_score_acked(score_.get(), window_.una)) srn_reorder_seen(&reorder_);
  NoteTook(now);
  if (!srn_score_is_over(score_.get())) return true;
  if (score_->resent) srn_reorder_lost(&reorder_);
  return false;
}

// What was out when a queue was to drain, and was not heard of, is lost.
void Board::Conclude(const srn_score_wait& wait, uint64_t now) {
  const uint64_t had = wait.again + 2 * window_.crowd.delay_ns;
  const uint32_t out = srn_window_drained(&window_, had, now);
  const uint32_t most = std::min<uint32_t>(out, SRN_PSNS - 1);
  srn_score_reached(score_.get(), srn_psn_add(window_.una, static_cast<int32_t>(most)), &wait, now);
}

uint32_t Board::Pick(uint64_t now, uint32_t* psn) {
  if (!score_) return 0;
  const srn_score_wait wait = Wait();
  Conclude(wait, now);
  const uint32_t len = srn_score_pick(score_.get(), &wait, now, psn);
  return len && srn_window_is_out(&window_, *psn) ? len : 0;
}

void Board::Sent(uint64_t now, uint32_t psn, uint32_t len) {
  srn_window_lost(&window_, len, srn_score_tried_ns(score_.get(), psn), now);
  srn_window_untime_run(&window_, psn, len);
  srn_score_sent(score_.get(), psn, len, window_.at.psn, now);
}

uint64_t Board::Due(uint64_t now) const {
  if (!score_) return UINT64_MAX;
  const srn_score_wait wait = Wait();
  const uint64_t due = srn_score_due(score_.get(), &wait, now);
  // What is due by now was looked at.
  return due == 0 ? UINT64_MAX : std::max(due, kWatchMin);
}

}  // namespace model
