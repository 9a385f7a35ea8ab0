// SPDX-License-Identifier: GPL-2.0-only
// One connection that READs over the bottleneck. Requests go the other way, undelayed by others; of
// them as many are lost as of what has passed the queue.
#pragma once

#include "network.h"
#include "reader.h"

namespace model {

struct ReadOptions {
  LinkOptions link = {};
  Reads reads = {};
  double warm_up = 0.5;  // seconds that are not looked at
  double seconds = 2;
  uint64_t seed = 1;
};

Report SimulateReads(const ReadOptions& options);

}  // namespace model
