// SPDX-License-Identifier: GPL-2.0-only
// How connections of the module repair loss: its parameter "recovery".
#pragma once

#include <string>

#include "fixture.h"

namespace wire {

// "hold", "sack" or "gbn", for connections that begin from now on. False if the module has no such
// mode; true of a foreign device.
bool SetRecovery(const std::string& mode);

// Tests of "hold", whatever the others run with.
class HoldTest : public WireTest {
 protected:
  void SetUp() override { ASSERT_TRUE(SetRecovery("hold")); }
  void TearDown() override { EXPECT_TRUE(SetRecovery(Wire::Get().config().recovery)); }
};

}  // namespace wire
