// SPDX-License-Identifier: GPL-2.0-only
// Rounds of workloads: the pairs take turns.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "pair.h"
#include "report.h"
#include "workload.h"

namespace srnbench {

struct Rounds {
  int count;
  Duration length;
  // Compare every byte of both ends' buffers after each.
  bool check = false;
  // A byte of end b's buffer that is changed before it is compared, to see that this is noticed.
  std::optional<size_t> flip = {};
};

// Measures each of `loads` on all `pairs`, one after the other in each round. What a pair's devices
// cannot do leaves its reason in the report. Throws std::runtime_error for what fails.
void Measure(const std::vector<Workload>& loads, const std::vector<std::unique_ptr<Pair>>& pairs,
             const Rounds& rounds, Report& report);

}  // namespace srnbench
