// SPDX-License-Identifier: GPL-2.0-only
// A run in words, and in JSON.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "session.h"

namespace srnverify {

// What is going to be run, when the ends have agreed: who is killed has told it. The options that
// make it again, what is not in the plan.
void PrintPlan(const Plan& plan);
// What has arrived, and that it passed if it has.
void PrintOutcome(const Outcome& outcome);
// The fault, and all that repeats the run: the options of the plan, or of `recipe` where there is
// none, and this end's command.
std::string Failure(const Outcome& outcome, const std::optional<Recipe>& recipe,
                    const std::string& command);

nlohmann::json Json(const Outcome& outcome, uint64_t seed);

}  // namespace srnverify
