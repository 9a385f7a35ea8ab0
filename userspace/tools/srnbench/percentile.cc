// SPDX-License-Identifier: GPL-2.0-only
#include "percentile.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace srnbench {
namespace {

// How many do not exceed it. 0.999 of 1000 is 999, whatever binary fractions make of it.
size_t Rank(size_t count, double p) {
  constexpr double kHair = 1e-9;
  return static_cast<size_t>(std::ceil(p * count - kHair * count));
}

}  // namespace

double Percentile(std::vector<double>& samples, double p) {
  const auto nth =
      samples.begin() + std::clamp<size_t>(Rank(samples.size(), p), 1, samples.size()) - 1;
  std::nth_element(samples.begin(), nth, samples.end());
  return *nth;
}

bool CanTell(const std::vector<double>& samples, double p) {
  return p < 1 ? Rank(samples.size(), p) < samples.size() : !samples.empty();
}

}  // namespace srnbench
