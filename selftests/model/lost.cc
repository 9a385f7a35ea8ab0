// SPDX-License-Identifier: GPL-2.0-only
#include "lost.h"

#include <algorithm>

namespace model {

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
  if (sack.expected == window_.una) Missed();
  // What is behind that was not sent, or the cursor went back before it.
  const int32_t left = srn_psn_diff(window_.at.psn, sack.expected) - 1;
  const uint32_t num = std::min(sack.num, static_cast<uint32_t>(left));
  if (bitmap_empty(sack.held.data(), num)) return false;
  board_.Begin();
  const srn_score_wait wait = board_.Wait();
  const uint32_t added =
      srn_score_heard(board_.score(), sack.expected, sack.held.data(), num, &wait, now);
  board_.NoteTook(now);
  NoteOut();
  if (added) srn_window_came(&window_, added);
  return added;
}

void Lost::Acked(uint64_t now) {
  if (!is_open()) return;
  if (board_.Acked(now))
    NoteOut();
  else
    Drop();
  if (srn_psn_diff(window_.at.psn, window_.una) >= 0) srn_window_refilled(&window_);
}

void Lost::Drop() {
  board_.Drop();
  window_.gone = 0;
}

void Lost::Missed() {
  if (Has(window_.una)) Drop();
}

uint32_t Lost::Next(uint64_t now, uint32_t* psn) {
  const uint32_t len = board_.Pick(now, psn);
  if (!len) return 0;
  NoteOut();
  const srn_score_wait wait = board_.Wait();
  const bool room = srn_window_takes_again(&window_);
  const bool tight = srn_window_is_tight(&window_);
  return srn_score_may_go(board_.score(), &wait, now, room, tight) ? len : 0;
}

void Lost::Sent(uint64_t now, uint32_t psn) {
  ++reorder_.resent;
  board_.Sent(now, psn, 1);
  NoteOut();
}

}  // namespace model
