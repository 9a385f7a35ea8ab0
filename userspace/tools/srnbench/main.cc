// SPDX-License-Identifier: GPL-2.0-only
// srnbench: the same verbs on several pairs of devices, interleaved, as ratios.
//
// Both ends of a pair live in this process, so that one clock and one scheduler
// serve all; the pairs take turns in each round, so that what disturbs the
// machine disturbs them alike.
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "pair.h"
#include "report.h"
#include "workload.h"

namespace {

using srnbench::Pair;
using srnbench::Workload;

// Those whose name begins with `prefix`.
std::vector<Workload> Choose(const std::string& prefix) {
  std::vector<Workload> chosen;
  for (const Workload& load : srnbench::Workloads())
    if (load.name.rfind(prefix, 0) == 0) chosen.push_back(load);
  if (chosen.empty()) throw std::runtime_error("no workload begins with '" + prefix + "'");
  return chosen;
}

void Measure(const std::vector<Workload>& loads, std::vector<std::unique_ptr<Pair>>& pairs,
             int rounds, double seconds, srnbench::Report& report) {
  for (const Workload& load : loads) {
    for (auto& pair : pairs) load.run(*pair, srnbench::Duration(seconds / 4));  // warm up
    for (int round = 0; round < rounds; ++round)
      for (auto& pair : pairs)
        report.Add(pair->name(), load.name, load.run(*pair, srnbench::Duration(seconds)));
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Measures RDMA devices beside each other: ratios, not records."};
  std::vector<std::string> specs;
  int rounds = 5;
  double seconds = 1;
  std::string only;
  std::string json;
  app.add_option("--pair", specs,
                 "NAME=DEVICE,DEVICE: two ends that reach each other; the first "
                 "pair is compared with the others")
      ->required();
  app.add_option("--rounds", rounds, "samples of each workload and pair")
      ->check(CLI::Range(1, 1000));
  app.add_option("--seconds", seconds, "length of a sample")->check(CLI::Range(0.01, 600.0));
  app.add_option("--only", only, "the workloads whose name begins so: write, 'send 2 B'");
  app.add_option("--json", json, "also write medians, samples and ratios to this file");
  CLI11_PARSE(app, argc, argv);

  try {
    const std::vector<Workload> loads = Choose(only);
    std::vector<std::unique_ptr<Pair>> pairs;
    std::vector<std::string> names;
    for (const std::string& spec : specs) {
      pairs.push_back(std::make_unique<Pair>(srnbench::PairSpec::Parse(spec)));
      names.push_back(pairs.back()->name());
    }
    srnbench::Report report;
    Measure(loads, pairs, rounds, seconds, report);
    report.Print(names, loads);
    if (!json.empty()) {
      std::ofstream file(json);
      file << report.Json(names, loads).dump(2) << '\n';
      if (!file.flush()) throw std::runtime_error(json + ": cannot write");
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "srnbench: {}\n", error.what());
    return 1;
  }
  return 0;
}
