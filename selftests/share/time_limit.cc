// SPDX-License-Identifier: GPL-2.0-only
#include "time_limit.h"

#include <cstdlib>
#include <iostream>

namespace share {

// Not by GTEST_SKIP(), with which the fixture of each test that is left would still be made: half a
// minute of them on a busy host.
void TimeLimit::OnTestStart(const testing::TestInfo& test) {
  if (std::chrono::steady_clock::now() < end_) return;
  std::cout << "the time is over, before " << test.test_suite_name() << "." << test.name()
            << std::endl;
  std::exit(testing::UnitTest::GetInstance()->Failed() ? 1 : 0);
}

void LimitTime(testing::TestEventListeners& listeners) {
  const char* const seconds = std::getenv("SRN_SECONDS");
  // GoogleTest deletes it.
  if (seconds != nullptr) listeners.Append(new TimeLimit(std::chrono::seconds(std::atol(seconds))));
}

}  // namespace share
