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

// Three digits, where there are not more before the point.
std::string Digits(double figure) { return fmt::format("{:.{}f}", figure, figure < 10 ? 3 : 1); }

// Of the first column.
size_t NameWidth(const std::vector<Row>& rows) {
  size_t width = 28;
  for (const Row& row : rows) width = std::max(width, row.name.size() + 2);
  return width;
}

std::string WhyNot(const std::string& reason) { return reason.empty() ? "never tried" : reason; }

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

std::optional<double> Report::Ratio(const std::string& first, const std::string& other,
                                    const Row& row) const {
  if (row.fold == Fold::kMedian) {
    const std::vector<double> ratios = Ratios(first, other, row);
    if (ratios.empty()) return std::nullopt;
    return FoldOf(ratios, row.fold);
  }
  // The largest of ratios would be that of the round in which the other one did best.
  const double b = Folded(other, row);
  if (At(first, row).samples.empty() || b <= 0) return std::nullopt;
  return Folded(first, row) / b;
}

std::string Report::RatioColumn(const std::string& first, const std::string& other,
                                const Row& row) const {
  const std::optional<double> ratio = Ratio(first, other, row);
  if (!ratio) return "-";
  const std::vector<double> ratios = Ratios(first, other, row);
  if (row.fold != Fold::kMedian || ratios.size() < 2) return fmt::format("{:.2f}", *ratio);
  const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
  return fmt::format("{:.2f} ({:.2f}-{:.2f})", *ratio, *least, *most);
}

std::string Report::Line(const std::vector<std::string>& pairs, const Row& row,
                         size_t width) const {
  std::string line = fmt::format("{:<{}}{:>8}", row.name, width, row.unit);
  for (const std::string& pair : pairs)
    line += fmt::format("{:>12}", At(pair, row).samples.empty() ? "-" : Digits(Folded(pair, row)));
  for (size_t i = 1; i < pairs.size(); ++i) {
    line += fmt::format("{:>24}", RatioColumn(pairs[0], pairs[i], row));
  }
  return line + '\n';
}

std::string Report::Notes(const std::vector<std::string>& pairs,
                          const std::vector<Row>& rows) const {
  struct Note {
    std::string pair, why;
    std::vector<std::string> rows;
  };
  std::vector<Note> notes;
  std::string text;

  for (const Row& row : rows)
    for (const std::string& pair : pairs) {
      const Cell& cell = At(pair, row);
      if (!cell.samples.empty()) continue;
      const std::string why = WhyNot(cell.why_not);
      const auto alike = std::find_if(notes.begin(), notes.end(), [&](const Note& note) {
        return note.pair == pair && note.why == why;
      });
      if (alike == notes.end()) {
        notes.push_back({pair, why, {row.name}});
      } else {
        alike->rows.push_back(row.name);
      }
    }
  for (const Note& note : notes)
    text += fmt::format(
        "not measured: {}, {}: {}\n", note.pair,
        note.rows.size() == 1 ? note.rows[0] : fmt::format("{} rows", note.rows.size()), note.why);
  return text;
}

std::string Report::Table(const std::vector<std::string>& pairs,
                          const std::vector<Row>& rows) const {
  const size_t width = NameWidth(rows);
  std::string table = fmt::format("{:<{}}{:>8}", "", width, "unit");
  for (const std::string& pair : pairs) table += fmt::format("{:>12}", pair);
  for (size_t i = 1; i < pairs.size(); ++i)
    table += fmt::format("{:>24}", Between(pairs[0], pairs[i]));
  table += '\n';
  for (const Row& row : rows) {
    table += Line(pairs, row, width);
  }
  return table + Notes(pairs, rows);
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
        json["not_measured"][pair] = WhyNot(cell.why_not);
        continue;
      }
      json[KeyOf(row.fold)][pair] = Folded(pair, row);
      json["samples"][pair] = cell.samples;
    }
    for (size_t i = 1; i < pairs.size(); ++i) {
      const std::optional<double> ratio = Ratio(pairs[0], pairs[i], row);
      if (ratio) json["ratio"][Between(pairs[0], pairs[i])] = *ratio;
    }
  }
  return out;
}

}  // namespace srnbench
