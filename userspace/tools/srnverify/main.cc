// SPDX-License-Identifier: GPL-2.0-only
// srnverify: two ends send each other messages of every kind and look at every byte and at every
// field of every completion.
//
// Both derive the same plan from a seed; what is in memory, and outside of what was sent, must be
// as planned. One end waits for the other over TCP, or both are in this process.
#include <chrono>
#include <fstream>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "fault.h"
#include "options.h"
#include "report.h"
#include "session.h"

namespace {

using srnverify::Choice;
using srnverify::Device;
using srnverify::Fault;
using srnverify::Need;
using srnverify::Outcome;
using srnverify::Settings;

struct Arguments {
  std::string host;
  std::string device;
  std::vector<std::string> pair;
  std::vector<std::string> addresses;
  std::vector<int> gid_indices;
  bool ipv6 = false;
  uint16_t port = 18600;
  double patience = 60;
  std::string json;
  Settings settings;
};

constexpr char kFooter[] = R"(
Both ends on one machine:        srnverify --pair srn0,srn1
On two, the server first:        srnverify -d srn0
                                 srnverify -d srn0 192.0.2.1
The same run again:              srnverify --pair srn0,srn1 --seed 4711

What is to be run is told to the client; the server takes it from there.
--need and --without know: rc uc ud send write read imm atomic atomic-write window srq inline sge wr cq-ex events
solicited sl rnr fence mtu-256 mtu-512 mtu-1024 mtu-2048 mtu-4096.
Status 0: every byte and every completion was as planned. 1: one was not, or a needed feature is
not there, or nothing happened for too long; the first fault is told on stderr, with the seed and
all options that make the plan again.)";

void AddEnds(CLI::App& app, Arguments& args) {
  app.add_option("host", args.host, "the server's name or address; without it this is the server");
  auto* device = app.add_option("-d,--device", args.device, "the RDMA device");
  app.add_option("--pair", args.pair, "DEVICE,DEVICE: both ends in this process")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->expected(2)
      ->excludes(device);
  app.add_option("--address", args.addresses,
                 "the GID of this IP address; with --pair ADDRESS,ADDRESS")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("-x,--gid-index", args.gid_indices, "the GID of this index; with --pair two")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_flag("-6,--ipv6", args.ipv6, "an IPv6 GID, where none is chosen (IPv4)");
  app.add_option("-p,--port", args.port, "TCP port of the server (18600)");
  app.add_option("--patience", args.patience,
                 "seconds without anything after which the run has failed (60)");
  app.add_option("--json", args.json, "also write the result to this file");
}

void AddNeed(CLI::App& app, Arguments& args) {
  app.add_option("--need", args.settings.need,
                 "features that must be in the plan, each MTU in RC and UC, srq in RC and UD, "
                 "events, solicited and cq-ex in all; and messages of all kinds must arrive; all: "
                 "every one")
      ->delimiter(',')
      ->allow_extra_args(false);
}

Choice ChoiceOf(const Arguments& args, const std::string& device, size_t end) {
  Choice choice{.device = device, .gid_index = {}, .address = {}, .ip = verbs::Ip::kV4};
  if (args.ipv6) choice.ip = verbs::Ip::kV6;
  if (!args.addresses.empty()) choice.address = args.addresses.at(end);
  if (!args.gid_indices.empty()) choice.gid_index = args.gid_indices.at(end);
  return choice;
}

// The end that knows what happened speaks for both.
Outcome Merge(Outcome a, const Outcome& b) {
  if (b.fault && (!a.fault || a.follows)) {
    a.fault = b.fault;
    a.follows = b.follows;
  }
  a.tally.Add(b.tally);
  return a;
}

Outcome RunPair(const Arguments& args) {
  const Device devices[] = {Device::Open(ChoiceOf(args, args.pair[0], 0)),
                            Device::Open(ChoiceOf(args, args.pair[1], 1))};
  auto [first, second] = Need(net::Stream::Pair(), "streams");
  std::vector<net::Stream> streams[2];
  for (int i = 0; i < args.settings.recipe.threads; ++i) {
    auto [one, other] = Need(net::Stream::Pair(), "streams");
    streams[0].push_back(std::move(one));
    streams[1].push_back(std::move(other));
  }
  Outcome outcomes[2];
  const auto run = [&](int side, net::Stream stream) {
    Settings settings = args.settings;
    settings.side = side;
    if (side == 1) settings.agreed = srnverify::PrintPlan;
    auto more = [&streams, side](int) { return std::move(streams[side]); };
    outcomes[side] = RunEnd(devices[side], settings, {std::move(stream), more});
  };
  std::jthread server(run, 0, std::move(first));
  run(1, std::move(second));
  server.join();
  return Merge(std::move(outcomes[1]), outcomes[0]);
}

Outcome RunAlone(const Arguments& args, std::chrono::milliseconds patience) {
  Settings settings = args.settings;
  settings.side = args.host.empty() ? 0 : 1;
  settings.agreed = srnverify::PrintPlan;
  const Device device = Device::Open(ChoiceOf(args, args.device, 0));
  return RunEnd(device, settings,
                args.host.empty() ? srnverify::Await(args.port, patience)
                                  : srnverify::Dial(args.host, args.port, patience));
}

Outcome Run(Arguments& args) {
  const auto patience = std::chrono::milliseconds(static_cast<int64_t>(args.patience * 1000));
  args.settings.patience = patience;
  try {
    srnverify::CheckNames(args.settings.recipe.without);
    if (args.settings.need != std::vector<std::string>{"all"})
      srnverify::CheckNames(args.settings.need);
    if (args.device.empty() && args.pair.empty()) throw Fault("no --device and no --pair");
    return args.pair.empty() ? RunAlone(args, patience) : RunPair(args);
  } catch (const std::exception& error) {
    Outcome outcome;
    outcome.fault = error.what();
    return outcome;
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Checks every byte and every completion that RDMA devices deliver."};
  app.footer(kFooter);
  Arguments args;
  std::optional<uint64_t> given;
  AddEnds(app, args);
  AddRecipe(app, args.settings.recipe, given);
  AddNeed(app, args);
  CLI11_PARSE(app, argc, argv);

  args.settings.recipe.seed = given.value_or(std::random_device()());
  const Outcome outcome = Run(args);
  PrintOutcome(outcome);
  const uint64_t seed = outcome.plan ? outcome.plan->recipe.seed : args.settings.recipe.seed;
  if (outcome.fault) {
    // A server's recipe is its client's.
    const bool known = !args.pair.empty() || !args.host.empty();
    const std::vector<std::string> command(argv, argv + argc);
    fmt::print(stderr, "{}",
               Failure(outcome, known ? std::optional(args.settings.recipe) : std::nullopt,
                       fmt::format("{}", fmt::join(command, " "))));
  }
  if (!args.json.empty()) {
    std::ofstream file(args.json);
    file << Json(outcome, seed).dump(2) << '\n';
    if (!file.flush()) {
      fmt::print(stderr, "srnverify: {}: cannot write\n", args.json);
      return 1;
    }
  }
  return outcome.fault ? 1 : 0;
}
