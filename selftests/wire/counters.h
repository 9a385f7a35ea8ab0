// SPDX-License-Identifier: GPL-2.0-only
// The device's hw_counters, as sysfs shows them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <share/counters.h>

namespace wire {

// A snapshot to compare with, of what was counted until now. The core caches counters for some
// milliseconds, so it waits for the end of that, and what looks for a change does not read once.
class Counters {
 public:
  Counters() : before_(ReadFresh()) {}

  // Waits until the counter has grown by at least `least` since the snapshot.
  bool Grew(const std::string& name, uint64_t least = 1) const;
  // The same, and true of a foreign device (SRN_WIRE_LAX) that has no such counter.
  bool Counted(const std::string& name, uint64_t least = 1) const;
  // How much the counter has grown, read after the cache has expired.
  uint64_t Growth(const std::string& name) const;
  // What the counter says now.
  static uint64_t Now(const std::string& name);

 private:
  using Clock = std::chrono::steady_clock;

  uint64_t GrowthSoFar(const std::string& name) const;
  bool Has(const std::string& name) const { return before_.contains(name); }
  static share::CounterValues Read();
  static share::CounterValues ReadFresh();

  static Clock::time_point last_read_;
  share::CounterValues before_;
};

}  // namespace wire
