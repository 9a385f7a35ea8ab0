// SPDX-License-Identifier: GPL-2.0-only
// The kernel's log says which test was running.
#pragma once

#include <gtest/gtest.h>

namespace share {

// Writes each test's name to the kernel's log before it begins: what the kernel reports behind
// that line, it reports of that test (run_gtest in selftests/lib).
class KernelLog : public testing::EmptyTestEventListener {
 public:
  void OnTestStart(const testing::TestInfo& test) override;
};

}  // namespace share
