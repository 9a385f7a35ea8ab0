// SPDX-License-Identifier: GPL-2.0-only
// What every run of the simulation has to show, and of some seeds the worst.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include <gtest/gtest.h>

#include "network.h"

namespace model {

inline constexpr uint64_t kSeeds = 5;

// And what holds on every path: all that was posted came, once and in order, and no sender takes
// for acknowledged what has not come. Return: of some seeds the worst.
inline Report Worst(Options options) {
  Report worst{.goodput = 2, .jain = 1, .rival = 2, .calmed = UINT64_MAX};
  for (options.seed = 1; options.seed <= kSeeds; ++options.seed) {
    const Report report = Simulate(options);
    EXPECT_EQ(report.faults, 0u) << "seed " << options.seed;
    EXPECT_EQ(report.unrepaired, 0u) << "seed " << options.seed;
    worst.goodput = std::min(worst.goodput, report.goodput);
    worst.dropped = std::max(worst.dropped, report.dropped);
    worst.jain = std::min(worst.jain, report.jain);
    worst.cwnd = std::max(worst.cwnd, report.cwnd);
    worst.again = std::max(worst.again, report.again);
    worst.told = std::max(worst.told, report.told);
    worst.rival = std::min(worst.rival, report.rival);
    worst.calmed = std::min(worst.calmed, report.calmed);
  }
  std::printf("# goodput %.3f of the wire, dropped %.2f %%, Jain %.3f, cwnd %.0f, again %llu\n",
              worst.goodput, worst.dropped * 100, worst.jain, worst.cwnd,
              static_cast<unsigned long long>(worst.again));
  return worst;
}

}  // namespace model
