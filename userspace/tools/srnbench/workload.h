// SPDX-License-Identifier: GPL-2.0-only
// What is measured: each workload runs for a while on a pair and gives a figure.
#pragma once

#include <chrono>
#include <functional>
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
  // Measures for about `time`, if the figure is one of time. Throws std::runtime_error when a
  // completion fails or does not come.
  std::function<double(Pair& pair, Duration time)> run;
};

// Bandwidth of large messages, rate of small ones, latency of tiny ones. No name is the beginning
// of another one, so that each can be chosen.
const std::vector<Workload>& Workloads();

// Bandwidth over the size of a message, from 2 bytes to 1 MiB: WRITEs, SENDs and READs.
const std::vector<Workload>& Curves();

// What comes before the first message: connections, registrations, memory.
const std::vector<Workload>& Setups();

}  // namespace srnbench
