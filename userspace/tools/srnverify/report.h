// SPDX-License-Identifier: GPL-2.0-only
// A run in words, and in JSON.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "session.h"

namespace srnverify {

// What is going to be run, as far as the ends have agreed: the seed, what is not in the plan.
void PrintPlan(const Plan& plan);
// What has arrived, and the last word.
void PrintOutcome(const Outcome& outcome, uint64_t seed);

nlohmann::json Json(const Outcome& outcome, uint64_t seed);

}  // namespace srnverify
