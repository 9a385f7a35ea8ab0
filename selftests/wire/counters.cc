// SPDX-License-Identifier: GPL-2.0-only
#include "counters.h"

#include <thread>

#include <gtest/gtest.h>

#include "wire.h"

namespace wire {
namespace {

constexpr std::chrono::milliseconds kPatience{1000};
constexpr std::chrono::milliseconds kPause{4};

}  // namespace

Counters::Clock::time_point Counters::last_read_{};

share::CounterValues Counters::Read() {
  share::CounterValues values = share::ReadCounters(Wire::Get().config().device);
  last_read_ = Clock::now();
  return values;
}

// What was read a moment ago may be shown once more, without what has been counted since.
share::CounterValues Counters::ReadFresh() {
  std::this_thread::sleep_until(last_read_ + share::kCacheLife);
  return Read();
}

uint64_t Counters::Growth(const std::string& name) const {
  EXPECT_TRUE(Has(name) || Wire::Get().config().lax) << name;
  std::this_thread::sleep_for(share::kCacheLife);
  return GrowthSoFar(name);
}

uint64_t Counters::GrowthSoFar(const std::string& name) const {
  const auto now = Read();
  const auto found = now.find(name);
  return found == now.end() || !Has(name) ? 0 : found->second - before_.at(name);
}

uint64_t Counters::Now(const std::string& name) {
  const auto now = ReadFresh();
  const auto found = now.find(name);
  return found == now.end() ? 0 : found->second;
}

bool Counters::Grew(const std::string& name, uint64_t least) const {
  const auto deadline = std::chrono::steady_clock::now() + Wire::Get().Patience(kPatience);
  while (GrowthSoFar(name) < least) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(kPause);
  }
  return true;
}

bool Counters::Counted(const std::string& name, uint64_t least) const {
  if (!Has(name) && Wire::Get().config().lax) return true;
  return Grew(name, least);
}

}  // namespace wire
