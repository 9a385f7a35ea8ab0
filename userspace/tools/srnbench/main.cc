// SPDX-License-Identifier: GPL-2.0-only
// srnbench: the same verbs on several pairs of devices, interleaved, as ratios.
//
// Both ends of a pair live in this process, so that one clock and one scheduler
// serve all; the pairs take turns in each round, so that what disturbs the
// machine disturbs them alike.
#include <sys/utsname.h>

#include <cmath>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "baseline.h"
#include "measure.h"
#include "pair.h"
#include "plot.h"
#include "report.h"
#include "samples.h"
#include "workload.h"

namespace {

using srnbench::Pair;
using srnbench::Workload;

// How many times --tolerance is tolerated on a kernel that is not the baseline's.
constexpr double kOtherKernel = 5;

struct Options {
  std::vector<std::string> specs;
  const std::vector<Workload>* set = &srnbench::Workloads();
  std::vector<std::string> only;
  bool list = false;
  int rounds = 5;
  double seconds = 1;
  bool check = false;
  std::optional<size_t> flip;
  std::string json;
  std::string plot;
  std::string fold;
  std::string baseline;
  double tolerance = 0.02;
};

// Those whose name begins with one of `prefixes`, of which each is to have some.
std::vector<Workload> Choose(const std::vector<Workload>& all,
                             const std::vector<std::string>& prefixes) {
  std::vector<Workload> chosen;
  for (const std::string& prefix : prefixes) {
    const size_t before = chosen.size();
    for (const Workload& load : all)
      if (load.name.rfind(prefix, 0) == 0) chosen.push_back(load);
    if (chosen.size() == before)
      throw std::runtime_error("no workload begins with '" + prefix + "'");
  }
  return prefixes.empty() ? all : chosen;
}

std::string Kernel() {
  utsname name;
  return uname(&name) == 0 ? name.release : "unknown";
}

nlohmann::json Read(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot read");
  try {
    return nlohmann::json::parse(file);
  } catch (const nlohmann::json::exception& error) {
    throw std::runtime_error(path + ": " + error.what());
  }
}

void Write(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  if (!file.flush()) throw std::runtime_error(path + ": cannot write");
}

// A line for each workload, "dearer", "cheaper" or "fine" first; false if one is not fine. What
// became cheaper would hide what becomes dearer later.
bool Judge(const nlohmann::json& before, const nlohmann::json& now, const std::string& pair,
           double tolerance) {
  bool fine = true;

  // The stack under the driver is a good part of what is counted.
  if (before.at("kernel") != now.at("kernel")) tolerance *= kOtherKernel;
  for (const auto& change : srnbench::Compare(before.at("rows"), now.at("rows"), pair)) {
    const bool differs = std::abs(change.dearer) > tolerance;
    fmt::print(
        "{} | {}: {:.1f} {}, before {:.1f}; a request costs {:+.1f} %, allowed are {:.0f} %\n",
        !differs            ? "fine"
        : change.dearer > 0 ? "dearer"
                            : "cheaper",
        change.workload, change.now, change.unit, change.before, change.dearer * 100,
        tolerance * 100);
    fine = fine && !differs;
  }
  return fine;
}

// Other workloads than the usual ones: one option for each, of which one at most is given.
void AddSets(CLI::App& app, const std::vector<Workload>*& set) {
  constexpr struct {
    const char* option;
    const std::vector<Workload>& (*workloads)();
    const char* what;
  } kSets[] = {
      {"--curves", srnbench::Curves, "bandwidth over the size of a message"},
      {"--setup", srnbench::Setups, "connections, registrations, memory of a QP"},
      {"--queues", srnbench::ManyQueues, "message rate over 1, 64 and 10,000 QPs, all busy"},
      {"--cost", srnbench::Costs,
       "system calls, doorbells and time of processors that a message takes"},
      {"--latency", srnbench::Latencies, "percentiles of single messages, polled and with events"},
  };
  CLI::Option_group* group = app.add_option_group("Instead of the usual workloads");

  for (const auto& other : kSets)
    group->add_flag_callback(
        other.option, [&set, other] { set = &other.workloads(); }, other.what);
  group->require_option(0, 1);
}

// What is measured, and how.
void AddMeasuring(CLI::App& app, Options& options) {
  app.add_option("--pair", options.specs,
                 "NAME=DEVICE,DEVICE: two ends that reach each other; the first pair is compared "
                 "with the others. Devices of iWARP are DEVICE@ADDRESS, with that of their netdev");
  app.add_flag("--list", options.list, "the names of the workloads, and nothing is measured");
  app.add_option("--only", options.only,
                 "the workloads whose name begins so: write, 'send 2 B'; may be given again");
  app.add_option("--rounds", options.rounds, "samples of each workload and pair")
      ->check(CLI::Range(1, 1000));
  app.add_option("--seconds", options.seconds, "length of a sample")
      ->check(CLI::Range(0.01, 600.0));
  CLI::Option* check =
      app.add_flag("--check", options.check,
                   "compare every byte of both ends' buffers after each round: status 1 if one is "
                   "not as it has to be");
  app.add_option(
         "--flip", options.flip,
         "with --check: change this byte at the second end first, to see that it is noticed")
      ->needs(check);
}

// What becomes of the figures.
void AddJudging(CLI::App& app, Options& options) {
  app.add_option("--json", options.json, "also write medians, samples and ratios to this file");
  app.add_option(
      "--baseline", options.baseline,
      "what --json wrote before: status 2 if a request of the first pair costs more now, or less");
  app.add_option("--tolerance", options.tolerance, "by how much (0.02: 2 %)")
      ->check(CLI::Range(0.0, 10.0));
}

// srnbench plot: from a file to standard output.
void AddPlot(CLI::App& app, Options& options) {
  CLI::App* plot = app.add_subcommand(
      "plot",
      "draw what --json wrote, as SVG on standard output: --curves as bandwidth over size, others "
      "as ratios");
  plot->add_option("FILE", options.plot)->required();
}

// srnbench fold: what others measured.
void AddFold(CLI::App& app, Options& options) {
  CLI::App* fold = app.add_subcommand(
      "fold", "the same table of lines PAIR|ROW|UNIT|more or less|FIGURE, of which one is better");
  fold->add_option("FILE", options.fold)->required();
  fold->add_option("--json", options.json, "also write medians, samples and ratios to this file");
}

// A table, and its figures as --json wants them.
nlohmann::json Tell(const srnbench::Report& report, const std::vector<std::string>& pairs,
                    const std::vector<srnbench::Row>& rows, const Options& options) {
  const nlohmann::json json = {{"kernel", Kernel()}, {"rows", report.Json(pairs, rows)}};

  fmt::print("{}", report.Table(pairs, rows));
  if (!options.json.empty()) Write(options.json, json.dump(2) + '\n');
  return json;
}

int Fold(const Options& options) {
  std::ifstream file(options.fold);
  if (!file) throw std::runtime_error(options.fold + ": cannot read");
  const srnbench::Samples samples = srnbench::ReadSamples(file);
  Tell(samples.report, samples.pairs, samples.rows, options);
  return 0;
}

// The status of the program.
int Run(const Options& options) {
  if (!options.plot.empty()) {
    fmt::print("{}", srnbench::Plot(Read(options.plot)));
    return 0;
  }
  if (!options.fold.empty()) return Fold(options);
  const std::vector<Workload> loads = Choose(*options.set, options.only);
  if (options.list) {
    for (const Workload& load : loads) fmt::print("{}\n", load.name);
    return 0;
  }
  if (options.specs.empty()) throw std::runtime_error("--pair is required");
  const nlohmann::json before =
      options.baseline.empty() ? nlohmann::json() : Read(options.baseline);
  std::vector<std::unique_ptr<Pair>> pairs;
  std::vector<std::string> names;
  for (const std::string& spec : options.specs) {
    pairs.push_back(std::make_unique<Pair>(srnbench::PairSpec::Parse(spec)));
    names.push_back(pairs.back()->name());
  }
  srnbench::Report report;
  srnbench::Measure(loads, pairs,
                    {.count = options.rounds,
                     .length = srnbench::Duration(options.seconds),
                     .check = options.check,
                     .flip = options.flip},
                    report);
  const nlohmann::json now = Tell(report, names, srnbench::RowsOf(loads), options);
  return options.baseline.empty() || Judge(before, now, names[0], options.tolerance) ? 0 : 2;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Measures RDMA devices beside each other: ratios, not records."};
  Options options;

  AddMeasuring(app, options);
  AddSets(app, options.set);
  AddJudging(app, options);
  AddPlot(app, options);
  AddFold(app, options);
  CLI11_PARSE(app, argc, argv);
  try {
    return Run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "srnbench: {}\n", error.what());
    return 1;
  }
}
