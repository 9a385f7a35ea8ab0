// SPDX-License-Identifier: GPL-2.0-only
#include <memory>

#include <gtest/gtest.h>

#include <share/clean_path.h>
#include <share/kernel_log.h>
#include <share/time_limit.h>

#include "damage.h"
#include "env.h"

int main(int argc, char** argv) {
  using namespace verbs_test;

  testing::InitGoogleTest(&argc, argv);
  std::vector<std::string> devices = {DeviceA()};
  if (DeviceB() != DeviceA()) devices.push_back(DeviceB());
  // GoogleTest deletes them.
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  listeners.Append(new share::KernelLog);
  if (!Foreign()) listeners.Append(new share::CleanPath(devices, MeantDamage()));
  share::LimitTime(listeners);
  return RUN_ALL_TESTS();
}
