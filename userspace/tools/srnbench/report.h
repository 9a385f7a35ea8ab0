// SPDX-License-Identifier: GPL-2.0-only
// Samples to medians, ratios, a table and JSON.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "workload.h"

namespace srnbench {

class Report {
 public:
  void Add(const std::string& pair, const std::string& workload, double sample);

  // Median of all rounds; 0 if there is no sample.
  double Median(const std::string& pair, const std::string& workload) const;

  // Median over rounds of (first pair / other pair in the same round): noise
  // that lasts longer than a round hits both and cancels.
  double Ratio(const std::string& first, const std::string& other,
               const std::string& workload) const;

  // One line a workload; the ratio of the first pair to each other one.
  void Print(const std::vector<std::string>& pairs, const std::vector<Workload>& loads) const;

  nlohmann::json Json(const std::vector<std::string>& pairs,
                      const std::vector<Workload>& loads) const;

 private:
  const std::vector<double>& Samples(const std::string& pair, const std::string& workload) const;

  std::map<std::pair<std::string, std::string>, std::vector<double>> samples_;
};

}  // namespace srnbench
