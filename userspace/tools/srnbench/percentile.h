// SPDX-License-Identifier: GPL-2.0-only
// What most of many measurements stay below.
#pragma once

#include <vector>

namespace srnbench {

// The smallest of them that at least the part `p` of all do not exceed (nearest rank): 0.5 is the
// median, 1 the largest. `samples`, of which there is one at least, get into another order; p is
// above 0 and at most 1.
double Percentile(std::vector<double>& samples, double p);

// Whether there are enough of them to tell: one, at least, above it.
bool CanTell(const std::vector<double>& samples, double p);

}  // namespace srnbench
