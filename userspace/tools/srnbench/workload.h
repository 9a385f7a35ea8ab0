// SPDX-License-Identifier: GPL-2.0-only
// What is measured: each workload runs for a while on a pair and gives figures.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "inspection.h"
#include "pair.h"
#include "row.h"

namespace srnbench {

using Duration = std::chrono::duration<double>;

// What was completed, and in what time.
struct Done {
  long requests;
  Duration took;

  double PerSecond() const { return requests / took.count(); }
  double Each() const { return took.count() / requests; }
};

struct Workload {
  std::string name;
  // Of its figures; where there is one, the row has the workload's name.
  std::vector<Row> rows;
  // Measures for about `time`, if the figures are of time; one for each row. Throws
  // std::runtime_error when a completion fails or does not come, Unable if these devices cannot do
  // it.
  std::function<std::vector<Figure>(Pair& pair, Duration time)> run;
  // Whether it runs for a quarter of the time before it counts. What begins anew each time, and
  // takes long for it, does not.
  bool warm_up = true;
  Movement moves = {};
};

// In each of these lists no name is the beginning of another one, so that each can be chosen.

// Bandwidth of large messages, rate of small ones, latency of tiny ones.
const std::vector<Workload>& Workloads();

// Bandwidth over the size of a message, from 2 bytes to 8 MiB: WRITEs, SENDs and READs.
const std::vector<Workload>& Curves();

// What comes before the first message: connections, registrations, memory.
const std::vector<Workload>& Setups();

// What a message of each of Workloads() takes beside time: system calls, doorbells, processors.
const std::vector<Workload>& Costs();

// How late single messages are: percentiles.
const std::vector<Workload>& Latencies();

// Message rate over one, some and many connections, all of them busy.
const std::vector<Workload>& ManyQueues();

// The rows of all.
std::vector<Row> RowsOf(const std::vector<Workload>& loads);

}  // namespace srnbench
