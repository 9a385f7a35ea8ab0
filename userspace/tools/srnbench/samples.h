// SPDX-License-Identifier: GPL-2.0-only
// What other programs measured, as lines of text.
#pragma once

#include <istream>
#include <string>
#include <vector>

#include "report.h"

namespace srnbench {

struct Samples {
  // In the order in which they came first.
  std::vector<std::string> pairs;
  std::vector<Row> rows;
  Report report;
};

// Lines of PAIR|ROW|UNIT|more or less|FIGURE, of which more or less is better; in the place of a
// figure may be why there is none. Throws std::runtime_error for a line of another form.
Samples ReadSamples(std::istream& lines);

}  // namespace srnbench
