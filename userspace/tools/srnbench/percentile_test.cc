// SPDX-License-Identifier: GPL-2.0-only
// Percentiles by nearest rank.
#include "percentile.h"

#include <numeric>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace srnbench {
namespace {

// 1 to n, the largest first.
std::vector<double> Down(size_t n) {
  std::vector<double> samples(n);
  std::iota(samples.rbegin(), samples.rend(), 1);
  return samples;
}

double Of(std::vector<double> samples, double p) { return Percentile(samples, p); }

TEST(Percentile, IsTheSmallestThatSoManyDoNotExceed) {
  EXPECT_EQ(Of(Down(1000), 0.5), 500);
  EXPECT_EQ(Of(Down(1000), 0.99), 990);
  EXPECT_EQ(Of(Down(1000), 0.999), 999);
  EXPECT_EQ(Of(Down(1000), 1), 1000);
  EXPECT_EQ(Of(Down(10'000'000), 0.999), 9'990'000);
  // Which binary fractions make 55.00000000000001.
  EXPECT_EQ(Of(Down(100), 0.55), 55);
}

TEST(Percentile, IsOneOfThemWhereNoneIsExact) {
  EXPECT_EQ(Of(Down(3), 0.5), 2);
  EXPECT_EQ(Of(Down(4), 0.5), 2);
  EXPECT_EQ(Of(Down(999), 0.999), 999);
}

TEST(Percentile, OfOneIsThatOne) {
  EXPECT_EQ(Of({7}, 0.001), 7);
  EXPECT_EQ(Of({7}, 1), 7);
}

TEST(Percentile, CannotBeToldIfNoneIsAboveIt) {
  EXPECT_TRUE(CanTell(Down(1000), 0.999));
  EXPECT_FALSE(CanTell(Down(999), 0.999));
  EXPECT_TRUE(CanTell(Down(2), 0.5));
  EXPECT_FALSE(CanTell(Down(1), 0.5));
  EXPECT_TRUE(CanTell(Down(1), 1));
  EXPECT_FALSE(CanTell({}, 1));
  EXPECT_FALSE(CanTell({}, 0.5));
}

}  // namespace
}  // namespace srnbench
