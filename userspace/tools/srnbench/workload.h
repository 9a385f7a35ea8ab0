// SPDX-License-Identifier: GPL-2.0-only
// What is measured: each workload runs for a while on a pair and gives a figure.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "pair.h"

namespace srnbench {

using Duration = std::chrono::duration<double>;

struct Workload {
  std::string name;
  // Unit of the figure.
  std::string unit;
  // Whether a larger figure is the better one (else a smaller one).
  bool more_is_better;
  // Measures for about `time`. Throws std::runtime_error when a completion
  // fails or does not come.
  double (*run)(Pair& pair, Duration time);
};

// 64 KiB WRITE and READ bandwidth, 8 B WRITE rate, 2 B SEND latency.
const std::vector<Workload>& Workloads();

}  // namespace srnbench
