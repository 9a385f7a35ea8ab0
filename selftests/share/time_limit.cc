// SPDX-License-Identifier: GPL-2.0-only
#include "time_limit.h"

#include <cstdlib>

namespace share {

void TimeLimit::OnTestStart(const testing::TestInfo&) {
  if (std::chrono::steady_clock::now() >= end_) GTEST_SKIP() << "the time is over";
}

void LimitTime(testing::TestEventListeners& listeners) {
  const char* const seconds = std::getenv("SRN_SECONDS");
  // GoogleTest deletes it.
  if (seconds != nullptr) listeners.Append(new TimeLimit(std::chrono::seconds(std::atol(seconds))));
}

}  // namespace share
