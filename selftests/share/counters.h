// SPDX-License-Identifier: GPL-2.0-only
// The hw_counters of an RDMA device, as sysfs shows them.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace share {

using CounterValues = std::map<std::string, uint64_t>;

// The core answers from its cache for 10 ms, in ticks, which may be as long.
inline constexpr std::chrono::milliseconds kCacheLife{25};

// All counters of the device's first port; empty where it has none.
CounterValues ReadCounters(const std::string& device);
// One of them, which has to be there, after what is in that cache.
uint64_t FreshCounter(const std::string& device, const std::string& name);

// The counters of srn that grow with what is sent and received: selftests/share/counters.
const std::set<std::string>& TrafficCounters();
// Those that a slow machine may move, and those that move where packets overtake each other.
const std::set<std::string>& SpeedCounters();
const std::set<std::string>& OrderCounters();

}  // namespace share
