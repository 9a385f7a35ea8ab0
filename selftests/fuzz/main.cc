// SPDX-License-Identifier: GPL-2.0-only
// srn_fuzz: hostile input for one target, guided by what it reaches in the module.
#include <sys/resource.h>

#include <random>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "engine.h"
#include "stage.h"

namespace {

using fuzz::TargetInfo;

std::unique_ptr<fuzz::Coverage> OpenCoverage(const std::string& kind, const TargetInfo& info) {
  if (kind == "none") return fuzz::NoCoverage();
  const bool in_task = kind == "kcov" || (kind == "auto" && info.in_task);
  auto coverage = in_task ? fuzz::OpenKcov() : fuzz::OpenGcov();
  if (!coverage && kind == "auto") return fuzz::NoCoverage();
  return coverage;
}

int Fuzz(const TargetInfo& info, const std::string& kind, const fuzz::Options& options) {
  const auto coverage = OpenCoverage(kind, info);
  if (!coverage) {
    fmt::print(stderr, "this kernel, or this build of the module, has no {}\n", kind);
    return 2;
  }
  const auto target = info.create();
  fmt::print("{}: seed {}, {} s\n", info.name, options.seed, options.seconds);
  return fuzz::Engine(*target, *coverage, options).Run() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  GTEST_FLAG_SET(throw_on_failure, true);
  CLI::App app("Fuzzers: hostile input, guided by what it reaches in the module");
  fuzz::Options options;
  std::string name, kind = "auto";
  std::vector<std::string> names;
  for (const TargetInfo& info : fuzz::Targets()) names.emplace_back(info.name);
  app.add_option("target", name)->required()->check(CLI::IsMember(names));
  app.add_option("--seconds", options.seconds, "how long")->capture_default_str();
  app.add_option("--seed", options.seed, "a run's choices again; 0: any")->capture_default_str();
  app.add_option("--corpus", options.corpus, "directory of inputs to begin with");
  app.add_option("--keep", options.keep, "directory for inputs that reach something new");
  app.add_option("--evidence", options.evidence,
                 "directory where the last inputs stay if it breaks");
  app.add_option("--bad-words", options.log_words.bad, "what the kernel's log must not have");
  app.add_option("--allowed-words", options.log_words.allowed, "unless it is in such a line");
  app.add_option("--deadline", options.deadline, "seconds for one input")->capture_default_str();
  app.add_flag("--minimise", options.minimise, "run the corpus once; --keep what it needs of it");
  app.add_option("--coverage", kind, "kcov: this thread; gcov: all; none; auto")
      ->check(CLI::IsMember({"kcov", "gcov", "none", "auto"}));
  app.add_flag_callback(
      "--list",
      [&names] {
        fmt::print("{}\n", fmt::join(names, "\n"));
        throw CLI::Success();
      },
      "the targets' names");
  CLI11_PARSE(app, argc, argv);
  if (options.seed == 0) options.seed = std::random_device()();
  const auto info = std::ranges::find(fuzz::Targets(), name, &TargetInfo::name);
  try {
    const fuzz::Stage stage;
    return Fuzz(*info, kind, options);
  } catch (const std::exception& failure) {
    fmt::print(stderr, "{}\n", failure.what());
    return 2;
  }
}
