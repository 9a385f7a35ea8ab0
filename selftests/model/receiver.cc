// SPDX-License-Identifier: GPL-2.0-only
#include "receiver.h"

#include <utility>

namespace model {
namespace {

// ack.c, SACK_EVERY_NS
constexpr uint64_t kTellEvery = 50'000;
constexpr uint32_t kTellWords = 16;
// Bits that a SACK tells at a time.
constexpr uint32_t kWord = 32;

}  // namespace

Receiver::Receiver(Events& events, uint32_t psn, std::function<void(const Answer&)> answers)
    : events_(events),
      answers_(std::move(answers)),
      tell_(events, [this] { Conclude(); }),
      expected_(psn),
      high_(psn) {}

void Receiver::Arrived(const Request& request) {
  const int32_t ahead = srn_psn_diff(request.psn, expected_);
  if (ahead == 0) {
    Take(request);
  } else if (ahead >= SRN_HOLD_WIDE) {
    ++faults_;
  } else if (ahead > 0) {
    Hold(request);
  } else {
    ++twice_;
    ack_ |= request.asked;
    news_ = true;
  }
  Conclude();
}

void Receiver::Shed() {
  held_ = {};
  high_ = expected_;
}

void Receiver::Deliver(uint64_t serial) {
  faults_ += serial != delivered_++;
  expected_ = srn_psn_add(expected_, 1);
}

// And all that waited for it, of which an ACK tells in any case.
void Receiver::Take(const Request& request) {
  Deliver(request.serial);
  ack_ |= request.asked;
  news_ = true;
  while (srn_psns_drop(&held_, expected_, 1)) {
    Deliver(serials_[expected_ % SRN_PSNS]);
    ack_ = true;
  }
  if (srn_psn_diff(high_, expected_) < 0) high_ = expected_;
}

void Receiver::Hold(const Request& request) {
  if (srn_psns_add(&held_, request.psn, 1))
    serials_[request.psn % SRN_PSNS] = request.serial;
  else
    ++twice_;
  news_ = true;
  const uint32_t end = srn_psn_add(request.psn, 1);
  if (srn_psn_diff(end, high_) > 0) high_ = end;
}

// A SACK says what an ACK would. What cannot be told yet is told with the next one.
void Receiver::Conclude() {
  if (!held_.num) news_ = false;
  if (news_ && events_.now() >= tells_at_) {
    Tell();
    return;
  }
  if (news_ && !tell_.is_set()) tell_.Set(tells_at_ - events_.now());
  if (ack_) answers_({.expected = expected_, .twice = twice_});
  ack_ = false;
}

void Receiver::Tell() {
  const uint32_t span = static_cast<uint32_t>(srn_psn_diff(high_, expected_)) - 1;
  const uint32_t words = (span + kWord - 1) / kWord;
  Answer sack{.expected = expected_, .twice = twice_, .num = words * kWord};
  sack.held.resize(BITS_TO_LONGS(sack.num));
  for (uint32_t i = 0; i < words; ++i) {
    const auto first = static_cast<int32_t>(1 + i * kWord);
    const unsigned long word = srn_psns_word(&held_, srn_psn_add(expected_, first));
    sack.held[i / 2] |= word << i % 2 * kWord;
  }
  ack_ = false;
  news_ = false;
  tells_at_ = events_.now() + kTellEvery * (1 + words / kTellWords);
  answers_(sack);
}

}  // namespace model
