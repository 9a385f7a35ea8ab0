// SPDX-License-Identifier: GPL-2.0-only
// What messages take beside time, from files and by counting.
#include "cost.h"

#include <unistd.h>

#include <chrono>
#include <sstream>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace srnbench {
namespace {

double Idle(const std::string& stat) {
  std::istringstream file(stat);
  return IdleSeconds(file);
}

TEST(Cost, WhatWaitsForADiskIsIdle) {
  const double ticks = sysconf(_SC_CLK_TCK);
  EXPECT_DOUBLE_EQ(Idle("cpu  100 0 50 2500 500 0 0 0 0 0\ncpu0 1 1 1 1 1\n"), 3000 / ticks);
}

TEST(Cost, WhatHasNoLineOfAllProcessorsIsAnError) {
  EXPECT_THROW(Idle("cpu0 1 2 3 4 5\n"), std::runtime_error);
  EXPECT_THROW(Idle("cpu 1 2 3\n"), std::runtime_error);
  EXPECT_THROW(Idle(""), std::runtime_error);
}

TEST(Cost, IsWhatGrewByMessage) {
  const Figure each = Each(100.0, 150.0, 200);
  EXPECT_EQ(each.why_not, "");
  EXPECT_DOUBLE_EQ(each.value, 0.25);
}

TEST(Cost, WhatWasNotReadAtOneEndIsNone) {
  EXPECT_EQ(Each(Figure::None("before"), 5.0, 1).why_not, "before");
  EXPECT_EQ(Each(5.0, Figure::None("after"), 1).why_not, "after");
  EXPECT_NE(Each(5.0, 6.0, 0).why_not, "");
}

TEST(Cost, ACounterThatIsNotThereSaysWhose) {
  EXPECT_EQ(HwCounter("nosuch0", "doorbells").why_not, "nosuch0 has no counter 'doorbells'");
}

TEST(Cost, SystemCallsAreCountedOneByOneOrSayWhyNot) {
  SystemCalls calls;
  const Figure before = calls.Count();
  for (int i = 0; i < 100; ++i) getppid();
  const Figure after = calls.Count();
  if (before.why_not.empty()) {
    EXPECT_EQ(after.value - before.value, 100);
  } else {
    EXPECT_EQ(after.why_not, before.why_not);
  }
}

TEST(Cost, WhoSpinsIsBusy) {
  const BusyTime busy;
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
  while (std::chrono::steady_clock::now() < until) {
  }
  // Its own time, but for what a tick of each processor may hide.
  EXPECT_GT(busy.Since(), 0.1);
}

}  // namespace
}  // namespace srnbench
