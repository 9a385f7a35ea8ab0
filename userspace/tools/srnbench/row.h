// SPDX-License-Identifier: GPL-2.0-only
// Lines of a table, and what stands in them.
#pragma once

#include <string>
#include <utility>

namespace srnbench {

// How the samples of all rounds become one figure.
enum class Fold { kMedian, kLargest };

struct Row {
  std::string name;
  // Of the figure.
  std::string unit;
  // Whether a larger figure is the better one (else a smaller one).
  bool more_is_better;
  Fold fold = Fold::kMedian;
};

// What was measured, or why it could not be.
struct Figure {
  double value = 0;
  // Empty if it was.
  std::string why_not;

  Figure(double measured) : value(measured) {}
  static Figure None(std::string why) {
    Figure none(0);
    none.why_not = std::move(why);
    return none;
  }
};

}  // namespace srnbench
