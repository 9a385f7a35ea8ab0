// SPDX-License-Identifier: GPL-2.0-only
// Samples to medians, ratios, a table and JSON.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "row.h"

namespace srnbench {

class Report {
 public:
  void Add(const std::string& pair, const Row& row, const Figure& figure);

  // All rounds' samples as one, by the row's Fold; 0 if there is none.
  double Folded(const std::string& pair, const Row& row) const;

  // Fold over rounds of (first pair / other pair in the same round): noise that lasts longer than a
  // round hits both and cancels. None if one of them has no sample, or the other one's are 0.
  std::optional<double> Ratio(const std::string& first, const std::string& other,
                              const Row& row) const;

  // A line for each row, the ratio of the first pair to each other one, where there are more rounds
  // with the least and the greatest of them; below it why what is missing could not be measured,
  // one line for all rows of a pair that have one reason.
  std::string Table(const std::vector<std::string>& pairs, const std::vector<Row>& rows) const;

  nlohmann::json Json(const std::vector<std::string>& pairs, const std::vector<Row>& rows) const;

 private:
  // Of a pair in a row.
  struct Cell {
    std::vector<double> samples;
    std::string why_not;  // the last reason, if there is no sample
  };

  const Cell& At(const std::string& pair, const Row& row) const;
  std::vector<double> Ratios(const std::string& first, const std::string& other,
                             const Row& row) const;
  std::string RatioColumn(const std::string& first, const std::string& other, const Row& row) const;
  std::string Line(const std::vector<std::string>& pairs, const Row& row, size_t width) const;
  std::string Notes(const std::vector<std::string>& pairs, const std::vector<Row>& rows) const;

  std::map<std::pair<std::string, std::string>, Cell> cells_;
};

}  // namespace srnbench
