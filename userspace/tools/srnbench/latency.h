// SPDX-License-Identifier: GPL-2.0-only
// Messages that wait for each other.
#pragma once

#include <cstddef>
#include <vector>

#include "pair.h"
#include "workload.h"

namespace srnbench {

// How the receiver learns of a message.
enum class Wake { kPoll, kEvent };

// SENDs of `bytes` back and forth for `time`, one at a time. The time is that of all: each has its
// receive posted, and armed where events are waited for, and is posted at one end and completed at
// the other.
Done OneWay(Pair& pair, size_t bytes, Wake wake, Duration time);

// The same, each message by itself, a million of them at most: seconds from before a post at one
// end to the completion of the receive at the other, with one reading of the clock in them. The
// receive was posted, and the CQ armed, before.
std::vector<double> EachWay(Pair& pair, size_t bytes, Wake wake, Duration time);

}  // namespace srnbench
