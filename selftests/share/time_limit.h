// SPDX-License-Identifier: GPL-2.0-only
// A program that ends in time, and in order.
#pragma once

#include <chrono>

#include <gtest/gtest.h>

namespace share {

// The program ends, with what the tests made of its status, instead of a test that would begin
// later than so long after it. One that runs then ends by itself, and takes back what it has set
// for others: a signal in its middle would leave that.
class TimeLimit : public testing::EmptyTestEventListener {
 public:
  explicit TimeLimit(std::chrono::seconds limit) : end_(std::chrono::steady_clock::now() + limit) {}
  void OnTestStart(const testing::TestInfo& test) override;

 private:
  std::chrono::steady_clock::time_point end_;
};

// Of SRN_SECONDS, if that is set.
void LimitTime(testing::TestEventListeners& listeners);

}  // namespace share
