// SPDX-License-Identifier: GPL-2.0-only
// What was measured before, in the form of Report::Json(), beside what is measured now.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace srnbench {

// One workload of the pair that is compared.
struct Change {
  std::string workload;
  double before;
  double now;
  std::string unit;
  // How much dearer a request became: 0.02 is 2 %; negative if it became cheaper.
  double dearer;
};

// The changes of `pair` from one report to another, workload by workload of `now`. Throws
// std::runtime_error if `before` lacks one of them.
std::vector<Change> Compare(const nlohmann::json& before, const nlohmann::json& now,
                            const std::string& pair);

}  // namespace srnbench
