// SPDX-License-Identifier: GPL-2.0-only
#include "options.h"

#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace srnverify {

void AddRecipe(CLI::App& app, Recipe& recipe, std::optional<uint64_t>& seed) {
  app.add_option("--seed", seed, "what the plan is made from (random)");
  app.add_option("--threads", recipe.threads, "of each end (2)")->check(CLI::Range(1, 64));
  app.add_option("--qps", recipe.qps, "of each thread (9)")->check(CLI::Range(1, 256));
  app.add_option("--rounds", recipe.rounds, "of each thread (16)")->check(CLI::Range(1, 1000000));
  app.add_option("--seconds", recipe.seconds, "rounds go on for so long")
      ->check(CLI::Range(0.0, 1e6));
  app.add_option("-m,--mtu", recipe.mtu, "path MTU of all QPs (each another)")
      ->check(CLI::IsMember({256, 512, 1024, 2048, 4096}));
  app.add_option("--max-size", recipe.max_size, "of a message (1048577)")
      ->check(CLI::Range(1u, 8u << 20));
  app.add_flag("--lossy", recipe.lossy, "UC and UD may lose and repeat messages");
  app.add_option("--most-lost", recipe.most_lost, "percent of a type that may be lost then (50)")
      ->check(CLI::Range(0, 100));
  app.add_option("--without", recipe.without, "features that are left out")
      ->delimiter(',')
      ->allow_extra_args(false);
}

std::string Options(const Recipe& recipe) {
  const Recipe usual;
  std::string text = fmt::format("--seed {}", recipe.seed);
  const auto add = [&text](const char* name, const auto& value, const auto& otherwise) {
    if (value != otherwise) text += fmt::format(" {} {}", name, value);
  };
  add("--threads", recipe.threads, usual.threads);
  add("--qps", recipe.qps, usual.qps);
  add("--rounds", recipe.rounds, usual.rounds);
  add("--seconds", recipe.seconds, usual.seconds);
  add("--mtu", recipe.mtu, usual.mtu);
  add("--max-size", recipe.max_size, usual.max_size);
  if (recipe.lossy) text += " --lossy";
  add("--most-lost", recipe.most_lost, usual.most_lost);
  if (!recipe.without.empty()) text += fmt::format(" --without {}", fmt::join(recipe.without, ","));
  return text;
}

}  // namespace srnverify
