// SPDX-License-Identifier: GPL-2.0-only
#include "report.h"

#include <algorithm>

#include <fmt/format.h>

namespace srnbench {
namespace {

double MedianOf(std::vector<double> v) {
  if (v.empty()) return 0;
  const auto middle = v.begin() + v.size() / 2;
  std::nth_element(v.begin(), middle, v.end());
  return *middle;
}

}  // namespace

void Report::Add(const std::string& pair, const std::string& workload, double sample) {
  samples_[{pair, workload}].push_back(sample);
}

const std::vector<double>& Report::Samples(const std::string& pair,
                                           const std::string& workload) const {
  static const std::vector<double> kNone;
  const auto it = samples_.find({pair, workload});
  return it == samples_.end() ? kNone : it->second;
}

double Report::Median(const std::string& pair, const std::string& workload) const {
  return MedianOf(Samples(pair, workload));
}

double Report::Ratio(const std::string& first, const std::string& other,
                     const std::string& workload) const {
  const std::vector<double>& a = Samples(first, workload);
  const std::vector<double>& b = Samples(other, workload);
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    if (b[i] > 0) ratios.push_back(a[i] / b[i]);
  return MedianOf(ratios);
}

void Report::Print(const std::vector<std::string>& pairs,
                   const std::vector<Workload>& loads) const {
  fmt::print("{:<28}{:>8}", "", "unit");
  for (const std::string& pair : pairs) fmt::print("{:>12}", pair);
  for (size_t i = 1; i < pairs.size(); ++i)
    fmt::print("{:>16}", fmt::format("{}/{}", pairs[0], pairs[i]));
  fmt::print("\n");
  for (const Workload& load : loads) {
    fmt::print("{:<28}{:>8}", load.name, load.unit);
    for (const std::string& pair : pairs) fmt::print("{:>12.1f}", Median(pair, load.name));
    for (size_t i = 1; i < pairs.size(); ++i)
      fmt::print("{:>16.2f}", Ratio(pairs[0], pairs[i], load.name));
    fmt::print("\n");
  }
}

nlohmann::json Report::Json(const std::vector<std::string>& pairs,
                            const std::vector<Workload>& loads) const {
  nlohmann::json out;
  for (const Workload& load : loads) {
    nlohmann::json& row = out[load.name];
    row["unit"] = load.unit;
    row["more_is_better"] = load.more_is_better;
    for (const std::string& pair : pairs) {
      row["median"][pair] = Median(pair, load.name);
      row["samples"][pair] = Samples(pair, load.name);
    }
    for (size_t i = 1; i < pairs.size(); ++i)
      row["ratio"][fmt::format("{}/{}", pairs[0], pairs[i])] = Ratio(pairs[0], pairs[i], load.name);
  }
  return out;
}

}  // namespace srnbench
