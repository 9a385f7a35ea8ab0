// SPDX-License-Identifier: GPL-2.0-only
#include "report.h"

#include <algorithm>

#include <fmt/format.h>

namespace srnbench {
namespace {

double FoldOf(std::vector<double> v, Fold fold) {
  if (v.empty()) return 0;
  if (fold == Fold::kLargest) return *std::max_element(v.begin(), v.end());
  const auto middle = v.begin() + v.size() / 2;
  std::nth_element(v.begin(), middle, v.end());
  return *middle;
}

const char* KeyOf(Fold fold) { return fold == Fold::kLargest ? "largest" : "median"; }

std::string Column(bool is_there, double figure, int digits) {
  return is_there ? fmt::format("{:.{}f}", figure, digits) : "-";
}

// Of the first column.
size_t NameWidth(const std::vector<Row>& rows) {
  size_t width = 28;
  for (const Row& row : rows) width = std::max(width, row.name.size() + 2);
  return width;
}

std::string Between(const std::string& first, const std::string& other) {
  return fmt::format("{}/{}", first, other);
}

}  // namespace

void Report::Add(const std::string& pair, const Row& row, const Figure& figure) {
  Cell& cell = cells_[{pair, row.name}];
  if (figure.why_not.empty()) {
    cell.samples.push_back(figure.value);
  } else {
    cell.why_not = figure.why_not;
  }
}

const Report::Cell& Report::At(const std::string& pair, const Row& row) const {
  static const Cell kNone;
  const auto it = cells_.find({pair, row.name});
  return it == cells_.end() ? kNone : it->second;
}

double Report::Folded(const std::string& pair, const Row& row) const {
  return FoldOf(At(pair, row).samples, row.fold);
}

std::vector<double> Report::Ratios(const std::string& first, const std::string& other,
                                   const Row& row) const {
  const std::vector<double>&a = At(first, row).samples, &b = At(other, row).samples;
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    if (b[i] > 0) ratios.push_back(a[i] / b[i]);
  return ratios;
}

double Report::Ratio(const std::string& first, const std::string& other, const Row& row) const {
  // The largest of ratios would be that of the round in which the other one did best.
  if (row.fold == Fold::kLargest) {
    const double b = Folded(other, row);
    return b > 0 ? Folded(first, row) / b : 0;
  }
  return FoldOf(Ratios(first, other, row), row.fold);
}

std::string Report::Line(const std::vector<std::string>& pairs, const Row& row,
                         size_t width) const {
  std::string line = fmt::format("{:<{}}{:>8}", row.name, width, row.unit);
  for (const std::string& pair : pairs)
    line += fmt::format("{:>12}", Column(!At(pair, row).samples.empty(), Folded(pair, row), 1));
  for (size_t i = 1; i < pairs.size(); ++i) {
    const double ratio = Ratio(pairs[0], pairs[i], row);
    line += fmt::format("{:>16}", Column(ratio > 0, ratio, 2));
  }
  return line + '\n';
}

std::string Report::Table(const std::vector<std::string>& pairs,
                          const std::vector<Row>& rows) const {
  const size_t width = NameWidth(rows);
  std::string table = fmt::format("{:<{}}{:>8}", "", width, "unit"), notes;
  for (const std::string& pair : pairs) table += fmt::format("{:>12}", pair);
  for (size_t i = 1; i < pairs.size(); ++i)
    table += fmt::format("{:>16}", Between(pairs[0], pairs[i]));
  table += '\n';
  for (const Row& row : rows) {
    table += Line(pairs, row, width);
    for (const std::string& pair : pairs) {
      const Cell& cell = At(pair, row);
      if (cell.samples.empty())
        notes += fmt::format("not measured: {}, {}: {}\n", pair, row.name, cell.why_not);
    }
  }
  return table + notes;
}

nlohmann::json Report::Json(const std::vector<std::string>& pairs,
                            const std::vector<Row>& rows) const {
  nlohmann::json out;
  for (const Row& row : rows) {
    nlohmann::json& json = out[row.name];
    json["unit"] = row.unit;
    json["more_is_better"] = row.more_is_better;
    for (const std::string& pair : pairs) {
      const Cell& cell = At(pair, row);
      if (cell.samples.empty()) {
        json["not_measured"][pair] = cell.why_not;
        continue;
      }
      json[KeyOf(row.fold)][pair] = Folded(pair, row);
      json["samples"][pair] = cell.samples;
    }
    for (size_t i = 1; i < pairs.size(); ++i) {
      const double ratio = Ratio(pairs[0], pairs[i], row);
      if (ratio > 0) json["ratio"][Between(pairs[0], pairs[i])] = ratio;
    }
  }
  return out;
}

}  // namespace srnbench
