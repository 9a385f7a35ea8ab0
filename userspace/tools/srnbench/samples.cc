// SPDX-License-Identifier: GPL-2.0-only
#include "samples.h"

#include <algorithm>
#include <charconv>
#include <regex>
#include <stdexcept>

#include <fmt/format.h>

namespace srnbench {
namespace {

Figure Parse(const std::string& text) {
  double value;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end) return Figure::None(text);
  return value;
}

bool IsOf(const std::vector<Row>& rows, const std::string& name) {
  return std::any_of(rows.begin(), rows.end(), [&](const Row& row) { return row.name == name; });
}

}  // namespace

Samples ReadSamples(std::istream& lines) {
  static const std::regex kForm("([^|]+)\\|([^|]+)\\|([^|]+)\\|(more|less)\\|([^|]+)");
  Samples samples;

  for (std::string line; std::getline(lines, line);) {
    std::smatch part;
    if (!std::regex_match(line, part, kForm))
      throw std::runtime_error(fmt::format("'{}' is not PAIR|ROW|UNIT|more or less|FIGURE", line));
    const std::string pair = part[1];
    const Row row{part[2], part[3], part[4] == "more"};
    if (std::find(samples.pairs.begin(), samples.pairs.end(), pair) == samples.pairs.end())
      samples.pairs.push_back(pair);
    if (!IsOf(samples.rows, row.name)) samples.rows.push_back(row);
    samples.report.Add(pair, row, Parse(part[5]));
  }
  return samples;
}

}  // namespace srnbench
