// SPDX-License-Identifier: GPL-2.0-only
// Lines that others wrote.
#include "samples.h"

#include <sstream>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace srnbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Samples Of(const std::string& text) {
  std::istringstream lines(text);
  return ReadSamples(lines);
}

TEST(Samples, AreFoldedByPairAndRow) {
  const Samples samples =
      Of("srn|write|MB/s|more|10.5\n"
         "rxe|write|MB/s|more|1\n"
         "srn|send|us|less|2\n"
         "srn|write|MB/s|more|30.5\n"
         "srn|write|MB/s|more|20.5\n");
  EXPECT_THAT(samples.pairs, ElementsAre("srn", "rxe"));
  ASSERT_EQ(samples.rows.size(), 2u);
  EXPECT_EQ(samples.rows[0].name, "write");
  EXPECT_EQ(samples.rows[0].unit, "MB/s");
  EXPECT_TRUE(samples.rows[0].more_is_better);
  EXPECT_FALSE(samples.rows[1].more_is_better);
  EXPECT_EQ(samples.report.Folded("srn", samples.rows[0]), 20.5);
  EXPECT_EQ(samples.report.Folded("rxe", samples.rows[0]), 1);
}

TEST(Samples, MayBeWhyThereIsNone) {
  const Samples samples = Of("srn|write|MB/s|more|status 1\nrxe|write|MB/s|more|5 or so\n");
  const std::string table = samples.report.Table(samples.pairs, samples.rows);
  EXPECT_THAT(table, HasSubstr("not measured: srn, write: status 1\n"));
  EXPECT_THAT(table, HasSubstr("not measured: rxe, write: 5 or so\n"));
}

TEST(Samples, OfAnotherFormAreAnError) {
  for (const char* line : {"srn", "srn|write|MB/s|5", "srn|write|MB/s|most|5", "|write|MB/s|more|5",
                           "srn|write|MB/s|more|", "srn|write|MB/s|more|5|6"})
    EXPECT_THROW(Of(line), std::runtime_error) << line;
}

}  // namespace
}  // namespace srnbench
