// SPDX-License-Identifier: GPL-2.0-only
#include "gaps.h"

namespace model {
namespace {

// gaps.c, ASKED
constexpr uint32_t kAsked = 96;

}  // namespace

srn_score* Gaps::Get(uint32_t psn) {
  if (!srn_window_is_out(&window_, psn)) return nullptr;
  if (board_.Begin()) board_.score()->most = kAsked;
  return board_.score();
}

void Gaps::Reached(uint32_t psn, uint64_t now) {
  srn_score* s = Get(psn);
  if (!s) return;
  const srn_score_wait wait = board_.Wait();
  srn_score_reached(s, srn_psn_add(psn, 1), &wait, now);
  NoteOut();
}

void Gaps::Came(uint32_t psn, uint64_t now) {
  srn_score* s = Get(psn);
  if (!s) return;
  const srn_score_wait wait = board_.Wait();
  srn_score_came(s, psn, &wait, now);
  board_.NoteTook(now);
  NoteOut();
}

void Gaps::Twice() {
  srn_score* s = board_.score();
  if (!s || !s->resent || s->vain) return;
  s->vain = true;
  srn_reorder_vain(&reorder_);
  srn_rtt_vain(&rtt_);
}

void Gaps::Acked(uint64_t now) {
  if (!is_open()) return;
  if (board_.Acked(now))
    NoteOut();
  else
    Drop();
}

void Gaps::Drop() {
  board_.Drop();
  window_.came = 0;
}

uint32_t Gaps::Next(uint64_t now, uint32_t* psn) {
  const uint32_t len = board_.Pick(now, psn);
  if (!len) return 0;
  NoteOut();
  const srn_score_wait wait = board_.Wait();
  const bool room = srn_window_takes_part(&window_);
  return srn_score_may_go(board_.score(), &wait, now, room, false) ? len : 0;
}

bool Gaps::Sent(uint64_t now, uint32_t psn, uint32_t len) {
  const bool first = psn == window_.una && srn_psn_diff(psn, board_.score()->next) >= 0;
  board_.Sent(now, psn, len);
  NoteOut();
  return first;
}

}  // namespace model
