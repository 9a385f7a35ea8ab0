// SPDX-License-Identifier: GPL-2.0-only
// What becomes of samples, and of what has none.
#include "report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace srnbench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const Row kRate{"write", "MB/s", true};
const Row kWorst{"late, max", "us", false, Fold::kLargest};

TEST(Report, AFigureIsTheMedianOfTheRounds) {
  Report report;
  for (const double sample : {7.0, 1.0, 100.0}) report.Add("srn", kRate, sample);
  EXPECT_EQ(report.Folded("srn", kRate), 7);
  EXPECT_EQ(report.Json({"srn"}, {kRate})["write"]["median"]["srn"], 7);
}

TEST(Report, AWorstCaseIsThatOfAllRounds) {
  Report report;
  for (const double sample : {7.0, 100.0, 1.0}) report.Add("srn", kWorst, sample);
  EXPECT_EQ(report.Folded("srn", kWorst), 100);
  const nlohmann::json row = report.Json({"srn"}, {kWorst})["late, max"];
  EXPECT_EQ(row["largest"]["srn"], 100);
  EXPECT_FALSE(row.contains("median"));
}

TEST(Report, ARatioIsOfTheSameRound) {
  Report report;
  for (const double sample : {10.0, 20.0, 90.0}) report.Add("srn", kRate, sample);
  for (const double sample : {5.0, 10.0, 1.0}) report.Add("rxe", kRate, sample);
  EXPECT_EQ(report.Ratio("srn", "rxe", kRate), 2);
}

TEST(Report, ARatioOfMoreRoundsHasItsSpread) {
  Report report;
  for (const double sample : {10.0, 20.0, 90.0}) report.Add("srn", kRate, sample);
  for (const double sample : {5.0, 5.0, 5.0}) report.Add("rxe", kRate, sample);
  EXPECT_THAT(report.Table({"srn", "rxe"}, {kRate}), HasSubstr(" 4.00 (2.00-18.00)\n"));
}

TEST(Report, ARatioOfOneRoundHasNone) {
  Report report;
  report.Add("srn", kRate, 10.0);
  report.Add("rxe", kRate, 5.0);
  EXPECT_THAT(report.Table({"srn", "rxe"}, {kRate}), HasSubstr(" 2.00\n"));
}

TEST(Report, TheRatioOfWorstCasesIsNotThatOfTheWorstRound) {
  Report report;
  for (const double sample : {10.0, 30.0}) report.Add("srn", kWorst, sample);
  for (const double sample : {60.0, 1.0}) report.Add("rxe", kWorst, sample);
  EXPECT_EQ(report.Ratio("srn", "rxe", kWorst), 0.5);
}

TEST(Report, WhatWasNotMeasuredSaysWhy) {
  Report report;
  report.Add("srn", kRate, 5.0);
  report.Add("siw", kRate, Figure::None("it cannot"));
  const std::string table = report.Table({"srn", "siw"}, {kRate});
  EXPECT_THAT(table, HasSubstr("not measured: siw, write: it cannot\n"));
  EXPECT_THAT(table, Not(HasSubstr("0.00")));
  const nlohmann::json row = report.Json({"srn", "siw"}, {kRate})["write"];
  EXPECT_EQ(row["not_measured"]["siw"], "it cannot");
  EXPECT_FALSE(row["median"].contains("siw"));
  EXPECT_FALSE(row.contains("ratio"));
}

TEST(Report, OneReasonIsSaidOnceForAPair) {
  Report report;
  report.Add("siw", kWorst, Figure::None("it will not"));
  for (const char* pair : {"rxe", "siw"})
    for (const char* row : {"a", "b"})
      report.Add(pair, {row, "1", false}, Figure::None("it cannot"));
  EXPECT_THAT(report.Table({"rxe", "siw"}, {{"a", "1", false}, kWorst, {"b", "1", false}}),
              AllOf(HasSubstr("not measured: rxe, 2 rows: it cannot\n"),
                    HasSubstr("not measured: siw, 2 rows: it cannot\n"),
                    HasSubstr("not measured: siw, late, max: it will not\n")));
}

TEST(Report, WhatWasNeverTriedSaysSo) {
  EXPECT_THAT(Report().Table({"srn"}, {kRate}),
              HasSubstr("not measured: srn, write: never tried\n"));
}

TEST(Report, NothingIsAFigureToo) {
  Report report;
  report.Add("srn", kRate, 0.0);
  report.Add("rxe", kRate, 4.0);
  EXPECT_EQ(report.Ratio("srn", "rxe", kRate), 0);
  EXPECT_EQ(report.Ratio("rxe", "srn", kRate), std::nullopt);
  EXPECT_THAT(report.Table({"srn", "rxe"}, {kRate}), HasSubstr(" 0.000 "));
}

TEST(Report, WhatWasMeasuredHasNoNote) {
  Report report;
  report.Add("srn", kRate, 5.0);
  EXPECT_THAT(report.Table({"srn"}, {kRate}), Not(HasSubstr("not measured")));
}

}  // namespace
}  // namespace srnbench
