// SPDX-License-Identifier: GPL-2.0-only
// A recipe as options of the command line: read, and written so that they make the same again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "recipe.h"

namespace CLI {
class App;
}

namespace srnverify {

// `app` will fill both; without --seed there is none.
void AddRecipe(CLI::App& app, Recipe& recipe, std::optional<uint64_t>& seed);

// "--seed 4711 --rounds 5 --lossy": the seed, and what is not as it is without an option.
std::string Options(const Recipe& recipe);

}  // namespace srnverify
