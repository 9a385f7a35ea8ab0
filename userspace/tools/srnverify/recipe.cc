// SPDX-License-Identifier: GPL-2.0-only
#include "recipe.h"

namespace srnverify {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Recipe, seed, threads, qps, rounds, seconds, mtu, max_size,
                                   lossy, most_lost, without)

nlohmann::json Recipe::Json() const { return *this; }
Recipe Recipe::FromJson(const nlohmann::json& json) { return json.get<Recipe>(); }

}  // namespace srnverify
