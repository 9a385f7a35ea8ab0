// SPDX-License-Identifier: GPL-2.0-only
// What is drawn, and that it is one well-formed document.
#include "plot.h"

#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "svg.h"

namespace srnbench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

size_t Count(const std::string& text, const std::string& what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

// Every element that is opened is closed, in order, and only text is between.
bool IsWellFormed(std::string text) {
  static const std::regex kTag("<(/?)([a-z]+)((?: [a-zA-Z0-9:-]+=\"[^\"<]*\")*)(/?)>");
  std::vector<std::string> open;
  for (std::smatch tag; std::regex_search(text, tag, kTag); text = tag.suffix()) {
    if (tag.prefix().str().find_first_of("<>") != std::string::npos) return false;
    if (!tag[1].str().empty()) {
      if (open.empty() || open.back() != tag[2]) return false;
      open.pop_back();
    } else if (tag[4].str().empty()) {
      open.push_back(tag[2]);
    }
  }
  return open.empty() && text.find_first_of("<>") == std::string::npos;
}

nlohmann::json Report(nlohmann::json rows) { return {{"kernel", "6.12"}, {"rows", rows}}; }

nlohmann::json Bandwidth(double srn, double rxe) {
  return {{"unit", "MB/s"}, {"more_is_better", true}, {"median", {{"srn", srn}, {"rxe", rxe}}}};
}

nlohmann::json Ratio(bool more_is_better, double ratio) {
  return {{"unit", "us"}, {"more_is_better", more_is_better}, {"ratio", {{"srn/rxe", ratio}}}};
}

TEST(Plot, CurvesAreALineForEachPairAndVerb) {
  const std::string svg = Plot(Report({{"write 2 B", Bandwidth(1, 2)},
                                       {"write 1 MiB", Bandwidth(3000, 200)},
                                       {"read 2 B", Bandwidth(1, 2)},
                                       {"read 1 MiB", Bandwidth(2000, 100)}}));
  EXPECT_TRUE(IsWellFormed(svg)) << svg;
  EXPECT_EQ(Count(svg, "<polyline"), 4u);
  for (const char* text : {">srn, write<", ">rxe, read<", ">2 B<", ">1 MiB<", ">MB/s<", "6.12"})
    EXPECT_THAT(svg, HasSubstr(text));
}

TEST(Plot, MoreBandwidthIsFurtherUp) {
  const std::string svg =
      Plot(Report({{"write 2 B", Bandwidth(1, 1)}, {"write 1 MiB", Bandwidth(100, 1)}}));
  // From the bottom left to the top right; the other one stays at the bottom.
  EXPECT_THAT(svg, HasSubstr("points=\"70.0,380.0 600.0,40.0\""));
  EXPECT_THAT(svg, HasSubstr("points=\"70.0,380.0 600.0,380.0\""));
}

TEST(Plot, NamesOfSizesAreApart) {
  const std::string svg = Plot(Report({{"write 2 B", Bandwidth(1, 1)},
                                       {"write 512 KiB", Bandwidth(1, 1)},
                                       {"write 4 MiB", Bandwidth(1, 1)},
                                       {"write 8 MiB", Bandwidth(1, 1)}}));
  EXPECT_THAT(svg, AllOf(HasSubstr(">2 B<"), HasSubstr(">512 KiB<"), HasSubstr(">8 MiB<")));
  EXPECT_THAT(svg, Not(HasSubstr(">4 MiB<")));
}

TEST(Plot, OtherRowsAreBarsOfHowMuchBetter) {
  const std::string svg =
      Plot(Report({{"write 64 KiB", Ratio(true, 14)}, {"send 2 B, one way", Ratio(false, 0.25)}}));
  EXPECT_TRUE(IsWellFormed(svg)) << svg;
  EXPECT_THAT(svg, HasSubstr(">14.00 srn/rxe<"));
  EXPECT_THAT(svg, HasSubstr(">4.00 srn/rxe<"));
  EXPECT_THAT(svg, HasSubstr(">send 2 B, one way<"));
}

TEST(Plot, WhatWasNotMeasuredIsNotDrawn) {
  const nlohmann::json none = {{"unit", "us"}, {"more_is_better", false}};
  const std::string svg = Plot(Report({{"a", Ratio(true, 2)}, {"b", none}}));
  EXPECT_THAT(svg, Not(HasSubstr(">b<")));
  EXPECT_THROW(Plot(Report({{"b", none}})), std::runtime_error);
}

TEST(Plot, WhatIsNoReportIsAnError) {
  EXPECT_THROW(Plot({{"rows", {{"a", Ratio(true, 2)}}}}), std::exception);
  EXPECT_THROW(Plot({{"kernel", "6.12"}}), std::exception);
  EXPECT_THROW(Plot(Report(nlohmann::json::object())), std::exception);
  EXPECT_THROW(Plot(Report("text")), std::exception);
  EXPECT_THROW(Plot(nlohmann::json::array()), std::exception);
}

TEST(Plot, TextIsEscaped) {
  Svg svg(10, 10);
  svg.Text({1, 1}, "a<b> & \"c\"");
  EXPECT_THAT(svg.str(), HasSubstr(">a&lt;b&gt; &amp; &quot;c&quot;<"));
  EXPECT_TRUE(IsWellFormed(svg.str()));
}

}  // namespace
}  // namespace srnbench
