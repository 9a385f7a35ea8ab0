// SPDX-License-Identifier: GPL-2.0-only
#include <gtest/gtest.h>

#include "kernel_log.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  // GoogleTest deletes it.
  testing::UnitTest::GetInstance()->listeners().Append(new share::KernelLog);
  return RUN_ALL_TESTS();
}
