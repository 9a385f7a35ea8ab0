// SPDX-License-Identifier: GPL-2.0-only
// One end keeps requests posted to the other: bandwidth and message rate.
#pragma once

#include <cstddef>

#include "pair.h"
#include "workload.h"

namespace srnbench {

enum class Verb { kWrite, kRead, kSend };

// What a stream is made of.
struct Requests {
  Verb verb;
  size_t bytes;
  int list = 1;        // posted in one call
  int depth = kDepth;  // posted and not completed, at most
};

// Keeps them posted for `time`, every one signalled.
Done Stream(Pair& pair, const Requests& requests, Duration time);

}  // namespace srnbench
