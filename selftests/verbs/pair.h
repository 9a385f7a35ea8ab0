// SPDX-License-Identifier: GPL-2.0-only
// For tests of what a peer may not do: one connection, and bytes at B that must stay what they are.
#pragma once

#include "env.h"

namespace verbs_test {

class PairTest : public WireTest {
 protected:
  static constexpr uint8_t kUntouched = 0x77;

  void SetUp() override {
    WireTest::SetUp();
    Renew();
  }
  // Another connection, and the first 64 KiB at B as if nobody had written them.
  void Renew() {
    pair_ = Connected();
    Fill(b_.bytes(0, 64 << 10), kUntouched);
  }

  Pair pair_;
};

}  // namespace verbs_test
