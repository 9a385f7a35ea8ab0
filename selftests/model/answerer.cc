// SPDX-License-Identifier: GPL-2.0-only
#include "answerer.h"

#include <algorithm>
#include <utility>

namespace model {
namespace {

// ack.c, SACK_EVERY_NS
constexpr uint64_t kEvery = 50'000;
constexpr uint32_t kEveryWords = 16;
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

}  // namespace model
