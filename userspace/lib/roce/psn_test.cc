// SPDX-License-Identifier: GPL-2.0-only
#include "psn.h"

#include <gtest/gtest.h>

#include "udp_port.h"

namespace roce {
namespace {

TEST(Psn, AddWrapsAt24Bits) {
  EXPECT_EQ(PsnAdd(0xffffff, 1), 0u);
  EXPECT_EQ(PsnAdd(0, -1), 0xffffffu);
  EXPECT_EQ(PsnAdd(0xfffffe, 5), 3u);
}

TEST(Psn, DiffTakesTheShorterWay) {
  EXPECT_EQ(PsnDiff(0, 0xffffff), 1);
  EXPECT_EQ(PsnDiff(0xffffff, 0), -1);
  EXPECT_EQ(PsnDiff(5, 5), 0);
  EXPECT_EQ(PsnDiff(0x7fffff, 0), 0x7fffff);
  EXPECT_EQ(PsnDiff(0x800000, 0), -0x800000);
  EXPECT_TRUE(PsnBefore(0xfffff0, 0x10));
  EXPECT_FALSE(PsnBefore(0x10, 0xfffff0));
}

TEST(Psn, CountIsAtLeastOne) {
  EXPECT_EQ(PsnCount(0, 1024), 1u);
  EXPECT_EQ(PsnCount(1, 1024), 1u);
  EXPECT_EQ(PsnCount(1024, 1024), 1u);
  EXPECT_EQ(PsnCount(1025, 1024), 2u);
  EXPECT_EQ(PsnCount(uint64_t{1} << 31, 256), 1u << 23);
}

TEST(SourcePort, StaysInItsRange) {
  EXPECT_EQ(SourcePort(0), 0xc000);
  EXPECT_EQ(SourcePort(0xfffff), 0xc000 | (0x3fff ^ 0x3f));
  EXPECT_EQ(SourcePort(0x12345), (0x2345 ^ 0x4) | 0xc000);
}

TEST(SourcePort, IsTheSameFromBothEnds) {
  EXPECT_EQ(FlowLabelOf(0x11, 0x123456), FlowLabelOf(0x123456, 0x11));
  EXPECT_EQ(FlowLabelOf(0x11, 0x12), uint32_t{0x11 * 0x12});
}

}  // namespace
}  // namespace roce
