// SPDX-License-Identifier: GPL-2.0-only
// Messages that wait for each other.
#pragma once

#include <cstddef>

#include "pair.h"
#include "workload.h"

namespace srnbench {

// How the receiver learns of a message.
enum class Wake { kPoll, kEvent };

// SENDs of `bytes` back and forth for `time`; seconds from a post at one end to the completion of
// the receive at the other.
double OneWay(Pair& pair, size_t bytes, Wake wake, Duration time);

}  // namespace srnbench
