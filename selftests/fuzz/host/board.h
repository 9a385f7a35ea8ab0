// SPDX-License-Identifier: GPL-2.0-only
// The module's scoreboard, and beside it a set that is slow and plain: what one says of a PSN the
// other must say, too.
#pragma once

#include <cstdint>
#include <set>

#include <share/kernel.h>

extern "C" {
#include "psn.h"
#include "score.h"
}

namespace fuzz {

// A sender's. Places are numbers that never wrap: that of the first PSN is 0.
class Board {
 public:
  Board(uint32_t first_psn, const srn_score_wait& wait);

  // What no SACK changes: time passes, new PSNs go.
  void Wait(uint64_t ns) { now_ += ns; }
  void SendNew(uint32_t count);

  // The peer has all before `expected`, and what `map` says behind that.
  void Heard(uint64_t expected, const unsigned long* map, uint32_t num);
  void Acked(uint64_t una);
  void Came(uint64_t place);
  void Reached(uint64_t end);
  // What is lost goes again: `most` of it; or is not missed after all.
  void SendAgain(uint32_t most, bool room, bool tight, bool skip);

  // All that must hold; aborts where it does not.
  void Check() const;

  uint64_t una() const { return una_; }
  uint64_t nxt() const { return nxt_; }
  uint32_t Psn(uint64_t place) const { return (first_psn_ + place) & 0xffffff; }

 private:
  void Add(uint64_t place);
  uint64_t PlaceOf(uint32_t psn) const;
  uint32_t Missing(const srn_score_try& t) const;
  void CheckTries() const;
  void CheckIdle() const;

  const uint32_t first_psn_;
  const srn_score_wait wait_;
  uint64_t now_ = 1;
  uint64_t una_ = 0, nxt_ = 0;
  uint64_t high_ = 0;  // behind the highest that is known of
  std::set<uint64_t> has_;
  srn_score score_;
};

}  // namespace fuzz
