// SPDX-License-Identifier: GPL-2.0-only
// What was measured, as a drawing.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace srnbench {

// An SVG of what --json wrote. If all rows are a verb and a size (--curves), bandwidth over size, a
// line for each pair and verb, both axes by powers; else how many times better the first pair is in
// each row than each other one, for what takes less is better the inverse. What was not measured is
// not drawn. Throws std::runtime_error if there is nothing to draw, or it is no such report.
std::string Plot(const nlohmann::json& report);

}  // namespace srnbench
