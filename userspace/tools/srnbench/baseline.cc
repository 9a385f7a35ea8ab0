// SPDX-License-Identifier: GPL-2.0-only
#include "baseline.h"

#include <stdexcept>

#include <fmt/format.h>

namespace srnbench {
namespace {

double MedianOf(const nlohmann::json& report, const std::string& workload,
                const std::string& pair) {
  const nlohmann::json::json_pointer path =
      nlohmann::json::json_pointer() / workload / "median" / pair;
  const double median = report.value(path, 0.0);
  if (median <= 0)
    throw std::runtime_error(fmt::format("no figure for '{}' of {}", workload, pair));
  return median;
}

}  // namespace

std::vector<Change> Compare(const nlohmann::json& before, const nlohmann::json& now,
                            const std::string& pair) {
  std::vector<Change> changes;

  for (const auto& [workload, row] : now.items()) {
    const double was = MedianOf(before, workload, pair), is = MedianOf(now, workload, pair);
    // Of a rate, the time that each request takes is the inverse.
    const double times = row.at("more_is_better").get<bool>() ? was / is : is / was;
    changes.push_back({workload, was, is, row.at("unit"), times - 1});
  }
  return changes;
}

}  // namespace srnbench
