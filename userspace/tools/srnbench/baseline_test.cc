// SPDX-License-Identifier: GPL-2.0-only
// What counts as dearer, for rates and for times.
#include "baseline.h"

#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace srnbench {
namespace {

nlohmann::json Row(bool more_is_better, double median) {
  return {{"unit", "x"}, {"more_is_better", more_is_better}, {"median", {{"srn", median}}}};
}

TEST(Baseline, ALowerRateIsDearer) {
  const auto changes = Compare({{"write", Row(true, 100)}}, {{"write", Row(true, 80)}}, "srn");
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].workload, "write");
  EXPECT_DOUBLE_EQ(changes[0].dearer, 0.25);
}

TEST(Baseline, AShorterTimeIsCheaper) {
  const auto changes = Compare({{"send", Row(false, 10)}}, {{"send", Row(false, 8)}}, "srn");
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_DOUBLE_EQ(changes[0].dearer, -0.2);
}

TEST(Baseline, AWorkloadThatWasNotMeasuredBeforeIsAnError) {
  EXPECT_THROW(Compare({{"write", Row(true, 100)}}, {{"read", Row(true, 80)}}, "srn"),
               std::runtime_error);
}

TEST(Baseline, APairThatWasNotMeasuredBeforeIsAnError) {
  EXPECT_THROW(Compare({{"write", Row(true, 100)}}, {{"write", Row(true, 80)}}, "rxe"),
               std::runtime_error);
}

TEST(Baseline, AFigureOfZeroIsNone) {
  EXPECT_THROW(Compare({{"write", Row(true, 100)}}, {{"write", Row(true, 0)}}, "srn"),
               std::runtime_error);
}

TEST(Baseline, WhatIsNoReportIsAnError) {
  const nlohmann::json now = {{"write", Row(true, 80)}};
  const nlohmann::json text = {{"write", {{"median", {{"srn", "100"}}}}}};

  EXPECT_THROW(Compare(nlohmann::json::array(), now, "srn"), std::exception);
  EXPECT_THROW(Compare(nullptr, now, "srn"), std::exception);
  EXPECT_THROW(Compare({{"write", 100}}, now, "srn"), std::exception);
  EXPECT_THROW(Compare(text, now, "srn"), std::exception);
}

}  // namespace
}  // namespace srnbench
