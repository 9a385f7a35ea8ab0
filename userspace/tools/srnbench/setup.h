// SPDX-License-Identifier: GPL-2.0-only
// What comes before the first byte: connections, registrations, and the memory that a connection
// takes while nothing happens on it.
#pragma once

#include "pair.h"
#include "workload.h"

namespace srnbench {

// QPs of 16 + 16 requests with an element each created at both ends, connected and destroyed, for
// `time`; pairs per second.
double Connections(Pair& pair, Duration time);

// A page of kHugePage bytes registered and deregistered for `time`; bytes per second.
double Registrations(Pair& pair, Duration time);

enum class Pages { kSmall, kHuge };

// Memory of kLargeRegion bytes, in pages of that kind, registered and deregistered for `time`;
// seconds that each byte takes. Throws Unable if the kernel gives no such pages.
inline constexpr size_t kLargeRegion = 256 << 20;
double RegistrationOfAByte(Pair& pair, Pages pages, Duration time);

// Bytes of the machine's memory that each of `count` connected QPs of 16 + 16 requests takes, half
// of them at each end; CQs apart.
double IdleQp(Pair& pair, int count);

}  // namespace srnbench
