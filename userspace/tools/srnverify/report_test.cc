// SPDX-License-Identifier: GPL-2.0-only
// A run that has failed can be run again: by what it says.
#include "report.h"

#include <optional>

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory_wire.h"
#include "options.h"

namespace srnverify {
namespace {

using testing::HasSubstr;
using testing::Not;

// Another value for each field: what is added to a recipe is to be added here.
const nlohmann::json kOther = {{"seed", 18446744073709551615u},
                               {"threads", 3},
                               {"qps", 12},
                               {"rounds", 5},
                               {"seconds", 2.5},
                               {"mtu", 512},
                               {"max_size", 70000},
                               {"lossy", true},
                               {"most_lost", 10},
                               {"without", {"uc", "mtu-256"}}};

Recipe Parsed(const std::string& options) {
  CLI::App app;
  Recipe recipe;
  std::optional<uint64_t> seed;
  AddRecipe(app, recipe, seed);
  app.parse(options);
  recipe.seed = seed.value();
  return recipe;
}

TEST(Report, OptionsOfARecipeMakeTheSameRecipe) {
  const nlohmann::json usual = Recipe().Json();
  ASSERT_EQ(kOther.size(), usual.size());
  for (const auto& [field, value] : kOther.items()) {
    nlohmann::json changed = usual;
    changed.at(field) = value;
    ASSERT_NE(changed, usual) << field;
    EXPECT_EQ(Parsed(Options(Recipe::FromJson(changed))).Json(), changed);
  }
  EXPECT_EQ(Parsed(Options(Recipe::FromJson(kOther))).Json(), kOther);
}

TEST(Report, AFailureTellsWhatMakesThePlanAgain) {
  Outcome outcome;
  outcome.fault = "byte 7 is wrong";
  outcome.plan = MakePlan(Recipe::FromJson(kOther), All());
  const std::string text = Failure(outcome, std::nullopt, "srnverify -d srn0");
  EXPECT_THAT(text, HasSubstr("byte 7 is wrong"));
  EXPECT_THAT(text, HasSubstr("FAILED, seed 18446744073709551615"));
  EXPECT_THAT(text, HasSubstr(Options(outcome.plan->recipe)));
  EXPECT_THAT(text, HasSubstr("srnverify -d srn0"));
}

// The client knows it, a server to which nobody came does not.
TEST(Report, AFailureBeforeThereIsAPlanTellsTheRecipeIfItIsKnown) {
  Outcome outcome;
  outcome.fault = "no such device";
  const Recipe recipe = Recipe::FromJson(kOther);
  EXPECT_THAT(Failure(outcome, recipe, "srnverify"), HasSubstr(Options(recipe)));
  EXPECT_THAT(Failure(outcome, std::nullopt, "srnverify"), Not(HasSubstr("seed")));
}

}  // namespace
}  // namespace srnverify
