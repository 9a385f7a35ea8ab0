// SPDX-License-Identifier: GPL-2.0-only
// Sizes of a curve and their names.
#include "size.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace srnbench {
namespace {

using testing::ElementsAre;

TEST(Size, IsCalledByTheLargestUnitThatFits) {
  EXPECT_EQ(SizeName(0), "0 B");
  EXPECT_EQ(SizeName(2), "2 B");
  EXPECT_EQ(SizeName(1023), "1023 B");
  EXPECT_EQ(SizeName(1024), "1 KiB");
  EXPECT_EQ(SizeName(64 << 10), "64 KiB");
  EXPECT_EQ(SizeName(2 << 20), "2 MiB");
}

TEST(Size, IsInBytesWhereNoUnitFits) {
  EXPECT_EQ(SizeName(1025), "1025 B");
  EXPECT_EQ(SizeName((1 << 20) + 1024), "1025 KiB");
}

TEST(Size, IsKnownByItsName) {
  for (const size_t bytes : {0u, 2u, 1023u, 1024u, 1025u, 64u << 10, 1u << 20, 8u << 20})
    EXPECT_EQ(SizeOf(SizeName(bytes)), bytes);
  for (const char* other : {"", "B", "2", "2 GiB", "2 B, one way", "1024 B", "two B", "-2 B"})
    EXPECT_EQ(SizeOf(other), std::nullopt) << other;
}

TEST(Size, ACurveEndsWithTheLargestOnce) {
  EXPECT_THAT(CurveSizes(2), ElementsAre(2u));
  EXPECT_THAT(CurveSizes(16), ElementsAre(2u, 16u));
  EXPECT_THAT(CurveSizes(100), ElementsAre(2u, 16u, 100u));
  EXPECT_THAT(CurveSizes(1 << 20),
              ElementsAre(2u, 16u, 128u, 1024u, 8192u, 65536u, 524288u, 1048576u));
}

}  // namespace
}  // namespace srnbench
