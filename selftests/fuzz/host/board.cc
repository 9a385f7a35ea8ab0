// SPDX-License-Identifier: GPL-2.0-only
#include "board.h"

#include <algorithm>

#include "require.h"

namespace fuzz {

Board::Board(uint32_t first_psn, const srn_score_wait& wait) : first_psn_(first_psn), wait_(wait) {
  srn_score_start(&score_, Psn(0));
}

// Of what is known of, none is more than a set's length from the oldest.
uint64_t Board::PlaceOf(uint32_t psn) const {
  return una_ + static_cast<int64_t>(srn_psn_diff(psn, Psn(una_)));
}

void Board::SendNew(uint32_t count) {
  nxt_ = std::min<uint64_t>(nxt_ + count, una_ + SRN_PSNS - 1);
  srn_score_used(&score_, count);
}

void Board::Add(uint64_t place) {
  has_.insert(place);
  high_ = std::max(high_, place + 1);
}

void Board::Heard(uint64_t expected, const unsigned long* map, uint32_t num) {
  const size_t before = has_.size();
  for (uint64_t place = una_; place < expected; ++place) has_.insert(place);
  for (uint32_t i = 0; i < num; ++i)
    if (test_bit(i, map)) has_.insert(expected + 1 + i);
  const size_t news = has_.size() - before;
  if (news) high_ = std::max({high_, expected, *has_.rbegin() + 1});
  Require(srn_score_heard(&score_, Psn(expected), map, num, &wait_, now_) == news,
          "the news are counted wrong");
}

// When nothing is missing any more, who has the board drops it.
void Board::Acked(uint64_t una) {
  srn_score_acked(&score_, Psn(una));
  has_.erase(has_.begin(), has_.lower_bound(una));
  una_ = una;
  high_ = std::max(high_, una);
  Require(srn_score_is_over(&score_) == (high_ == una_), "whether it is over");
  if (!srn_score_is_over(&score_)) return;
  Require(has_.empty(), "it is over, and something is known");
  srn_score_start(&score_, Psn(una_));
}

void Board::Came(uint64_t place) {
  Add(place);
  srn_score_came(&score_, Psn(place), &wait_, now_);
}

void Board::Reached(uint64_t end) {
  high_ = std::max(high_, end);
  srn_score_reached(&score_, Psn(end), &wait_, now_);
}

// Nothing is lost: no hole is where it would be.
void Board::CheckIdle() const {
  const srn_score& s = score_;
  Require(s.num_again == 0, "what is lost again is forgotten");
  if (s.num_tries >= SRN_SCORE_NEW) return;
  for (uint64_t place = PlaceOf(s.next); place < PlaceOf(s.ripe); ++place)
    Require(has_.contains(place), "what is lost is forgotten");
}

void Board::SendAgain(uint32_t most, bool room, bool tight, bool skip) {
  uint32_t psn = 0;
  const uint32_t len = srn_score_pick(&score_, &wait_, now_, &psn);
  if (!len) return CheckIdle();
  const uint64_t from = PlaceOf(psn);
  Require(from >= una_ && from + len <= high_, "what is lost is none of what can be missing");
  const auto known = has_.lower_bound(from);
  Require(known == has_.end() || *known >= from + len, "what is here is lost");
  (void)srn_score_tried_ns(&score_, psn);
  if (!srn_score_may_go(&score_, &wait_, now_, room, tight)) return;
  const uint32_t part = std::clamp<uint32_t>(most, 1, len);
  if (skip) {
    for (uint32_t i = 0; i < part; ++i) has_.insert(from + i);
    srn_score_skip(&score_, psn, part);
  } else {
    srn_score_sent(&score_, psn, part, Psn(nxt_), now_);
  }
}

uint32_t Board::Missing(const srn_score_try& t) const {
  const uint64_t end = PlaceOf(t.psn) + t.len;
  uint32_t missing = 0;
  for (uint64_t place = std::max(PlaceOf(t.psn), una_); place < end; ++place)
    missing += !has_.contains(place);
  return missing;
}

void Board::CheckTries() const {
  const srn_score& s = score_;
  uint32_t out = 0;
  Require(s.num_tries <= SRN_SCORE_TRIES && s.num_again <= s.num_tries,
          "more tries than there are");
  for (uint32_t i = 0; i < s.num_tries; ++i) {
    const srn_score_try& t = s.tries[(s.first_try + i) % SRN_SCORE_TRIES];
    Require(PlaceOf(t.psn) + t.len <= high_, "what was never missing went again");
    if (i >= s.num_again) out += Missing(t);
  }
  Require(s.out == out, "what is out is counted wrong");
}

void Board::Check() const {
  const srn_score& s = score_;
  srn_psns plain = {};
  for (const uint64_t place : has_) {
    const uint32_t bit = Psn(place) % SRN_PSNS;
    plain.bits[BIT_WORD(bit)] |= BIT(bit % BITS_PER_LONG);
  }
  Require(std::equal(std::begin(plain.bits), std::end(plain.bits), std::begin(s.has.bits)),
          "another PSN is here");
  Require(s.has.num == has_.size(), "what is here is counted wrong");
  Require(s.una == Psn(una_) && s.high == Psn(high_), "the ends are elsewhere");
  Require(PlaceOf(s.next) >= una_ && PlaceOf(s.next) <= high_, "what went again is behind the end");
  Require(PlaceOf(s.ripe) >= una_ && PlaceOf(s.ripe) <= high_, "what is lost is behind the end");
  Require(s.owed <= SRN_SCORE_OWED && s.num_marks <= SRN_SCORE_MARKS, "more than there may be");
  CheckTries();
  (void)srn_score_due(&s, &wait_, now_);
}

}  // namespace fuzz
