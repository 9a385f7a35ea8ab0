// SPDX-License-Identifier: GPL-2.0-only
#include "kernel_log.h"

#include <fstream>

namespace share {

void KernelLog::OnTestStart(const testing::TestInfo& test) {
  std::ofstream("/dev/kmsg") << "srn-test: " << test.test_suite_name() << "." << test.name();
}

}  // namespace share
