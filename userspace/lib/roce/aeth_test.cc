// SPDX-License-Identifier: GPL-2.0-only
#include "aeth.h"

#include <gtest/gtest.h>

namespace roce {
namespace {

using std::chrono::microseconds;

TEST(Aeth, KindsOfSyndromes) {
  EXPECT_EQ(KindOf(0x00), AethKind::kAck);
  EXPECT_EQ(KindOf(kAckNoCredits), AethKind::kAck);
  EXPECT_EQ(KindOf(RnrNak(31)), AethKind::kRnrNak);
  EXPECT_EQ(KindOf(0x40), AethKind::kReserved);
  EXPECT_EQ(KindOf(kNakSequence), AethKind::kNak);
  EXPECT_EQ(KindOf(0x80), AethKind::kReserved);
  EXPECT_EQ(KindOf(0xff), AethKind::kReserved);
}

TEST(RnrDelay, CodeZeroIsTheLongest) {
  EXPECT_EQ(RnrDelay(0), microseconds(655360));
  for (uint8_t code = 1; code < 32; ++code) EXPECT_LT(RnrDelay(code), RnrDelay(0));
}

TEST(RnrDelay, GrowsWithTheCodeFromOneOn) {
  EXPECT_EQ(RnrDelay(1), microseconds(10));
  EXPECT_EQ(RnrDelay(12), microseconds(640));
  EXPECT_EQ(RnrDelay(25), microseconds(61440));
  EXPECT_EQ(RnrDelay(31), microseconds(491520));
  for (uint8_t code = 2; code < 32; ++code) EXPECT_GT(RnrDelay(code), RnrDelay(code - 1));
}

TEST(Credits, TableEndsAndRoundsDown) {
  EXPECT_EQ(Credits(0), 0u);
  EXPECT_EQ(Credits(5), 6u);
  EXPECT_EQ(Credits(30), 32768u);
  EXPECT_EQ(Credits(31), std::nullopt);
  EXPECT_EQ(CreditCode(0), 0);
  EXPECT_EQ(CreditCode(5), 4);
  EXPECT_EQ(CreditCode(6), 5);
  EXPECT_EQ(CreditCode(1u << 30), 30);
}

}  // namespace
}  // namespace roce
