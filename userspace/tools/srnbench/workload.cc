// SPDX-License-Identifier: GPL-2.0-only
#include "workload.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "cost.h"
#include "latency.h"
#include "percentile.h"
#include "queues.h"
#include "setup.h"
#include "size.h"
#include "stream.h"

namespace srnbench {
namespace {

constexpr size_t kBulk = 64 << 10;
constexpr size_t kLarge = 1 << 20;
constexpr size_t kSmall = 8;
constexpr size_t kTiny = 2;
constexpr char kDoorbells[] = "doorbells";
constexpr int kIdleQps = 3000;
constexpr int kSome = 64;
constexpr int kMany = 10'000;

using To = Movement::To;

// A workload of one figure.
Workload One(Row row, std::function<double(Pair&, Duration)> run, Movement moves = {}) {
  return {.name = row.name,
          .rows = {row},
          .run = [run](Pair& pair, Duration time) { return std::vector<Figure>{run(pair, time)}; },
          .moves = moves};
}

Movement Moves(const Requests& requests) {
  return {requests.verb == Verb::kRead ? To::kA : To::kB, requests.bytes};
}

// Messages of one kind, and what they are measured in.
struct Traffic {
  Row row;
  std::function<Done(Pair&, Duration)> run;
  std::function<double(const Done&)> figure;
  Movement moves;
};

Traffic Bandwidth(const std::string& name, const Requests& requests) {
  return {{name, "MB/s", true},
          [requests](Pair& pair, Duration time) { return Stream(pair, requests, time); },
          [requests](const Done& done) { return done.PerSecond() * requests.bytes / 1e6; },
          Moves(requests)};
}

Traffic Rate(const char* name, const Requests& requests) {
  return {{name, "kop/s", true},
          [requests](Pair& pair, Duration time) { return Stream(pair, requests, time); },
          [](const Done& done) { return done.PerSecond() / 1e3; },
          Moves(requests)};
}

Traffic Latency(const char* name, Wake wake) {
  return {{name, "us", false},
          [wake](Pair& pair, Duration time) { return OneWay(pair, kTiny, wake, time); },
          [](const Done& done) { return done.Each() * 1e6; },
          {To::kB, kTiny}};
}

const std::vector<Traffic>& Usual() {
  static const std::vector<Traffic> kUsual = {
      Bandwidth("write 64 KiB", {Verb::kWrite, kBulk}),
      Bandwidth("write 1 MiB", {.verb = Verb::kWrite, .bytes = kLarge, .depth = 16}),
      Bandwidth("send 64 KiB", {Verb::kSend, kBulk}),
      Bandwidth("send 1 MiB", {.verb = Verb::kSend, .bytes = kLarge, .depth = 16}),
      Bandwidth("read 64 KiB", {Verb::kRead, kBulk}),
      Rate("write 8 B", {Verb::kWrite, kSmall}),
      Rate("lists of 32 writes of 8 B", {.verb = Verb::kWrite, .bytes = kSmall, .list = 32}),
      Latency("send 2 B, one way", Wake::kPoll),
      Latency("events, send 2 B, one way", Wake::kEvent),
  };
  return kUsual;
}

Workload Speed(const Traffic& traffic) {
  return One(
      traffic.row,
      [traffic](Pair& pair, Duration time) { return traffic.figure(traffic.run(pair, time)); },
      traffic.moves);
}

Figure Doorbells(Pair& pair) {
  const Figure a = HwCounter(pair.a().device(), kDoorbells),
               b = HwCounter(pair.b().device(), kDoorbells);

  if (!a.why_not.empty()) return a;
  return b.why_not.empty() ? Figure(a.value + b.value) : b;
}

// What the kernel has of its counters is as old as that.
void LetCountersAge() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }

// Each in a run of its own, of half the time: counting calls makes them dearer.
std::vector<Figure> Spend(const Traffic& traffic, Pair& pair, Duration time) {
  const Figure rung = Doorbells(pair);
  const BusyTime busy;
  const long messages = traffic.run(pair, time / 2).requests;
  const double spent = busy.Since();
  LetCountersAge();
  const Figure doorbells = Each(rung, Doorbells(pair), messages);

  SystemCalls calls;
  const Figure before = calls.Count();
  const long counted = traffic.run(pair, time / 2).requests;
  return {Each(before, calls.Count(), counted), doorbells, spent * 1e6 / messages};
}

Workload Cost(const Traffic& traffic) {
  const std::string& name = traffic.row.name;

  return {.name = name,
          .rows = {{name + ": system calls", "1", false},
                   {name + ": doorbells", "1", false},
                   {name + ": processors", "us", false}},
          .run = [traffic](Pair& pair, Duration time) { return Spend(traffic, pair, time); },
          .moves = traffic.moves};
}

Workload PerGib(const char* name, Pages pages) {
  return One({name, "ms/GiB", false}, [pages](Pair& pair, Duration time) {
    return RegistrationOfAByte(pair, pages, time) * 1e3 * (1 << 30);
  });
}

template <typename F>
std::vector<Workload> Map(const std::vector<Traffic>& traffics, F workload) {
  std::vector<Workload> loads;
  for (const Traffic& traffic : traffics) loads.push_back(workload(traffic));
  return loads;
}

struct Part {
  const char* name;
  double p;
};
constexpr Part kParts[] = {{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}, {"max", 1}};

// In microseconds.
Figure PercentileOf(std::vector<double>& seconds, const Part& part) {
  if (!CanTell(seconds, part.p))
    return Figure::None(fmt::format("{} messages are too few", seconds.size()));
  return Percentile(seconds, part.p) * 1e6;
}

Workload Percentiles(const std::string& name, Wake wake) {
  Workload load{.name = name,
                .rows = {},
                .run =
                    [wake](Pair& pair, Duration time) {
                      std::vector<double> each = EachWay(pair, kTiny, wake, time);
                      std::vector<Figure> figures;
                      for (const Part& part : kParts) figures.push_back(PercentileOf(each, part));
                      return figures;
                    },
                .moves = {To::kB, kTiny}};
  for (const Part& part : kParts)
    load.rows.push_back({fmt::format("{}, {}", name, part.name), "us", false,
                         part.p < 1 ? Fold::kMedian : Fold::kLargest});
  return load;
}

std::vector<Row> RowsOver(const std::string& name) {
  return {{name + ", writes of 8 B", "kop/s", true},
          {fmt::format("{}, lists of {}", name, Queues::kMostInList), "kop/s", true}};
}

Workload Over(int connections) {
  const std::string name = fmt::format("{} QP{}", connections, connections == 1 ? "" : "s");
  const int lists = Queues::kMostInList;

  return {.name = name,
          .rows = RowsOver(name),
          .run =
              [connections, lists](Pair& pair, Duration time) {
                const Queues queues(pair, connections);
                // The first messages of a connection are dearer.
                queues.Stream(kSmall, 1, Duration(0));
                return std::vector<Figure>{queues.Stream(kSmall, 1, time) / 1e3,
                                           queues.Stream(kSmall, lists, time) / 1e3};
              },
          .warm_up = false,
          .moves = {To::kB, kSmall}};
}

// All of them busy, and then some at a time.
Workload OverMany() {
  Workload load = Over(kMany);
  const std::vector<Row> rows = RowsOver(fmt::format("{} of {} QPs", kSome, kMany));

  load.rows.insert(load.rows.end(), rows.begin(), rows.end());
  load.run = [](Pair& pair, Duration time) {
    const Queues queues(pair, kMany);
    std::vector<Figure> figures;
    // The first messages of a connection are dearer.
    queues.Stream(kSmall, 1, Duration(0));
    for (const int list : {1, Queues::kMostInList})
      figures.emplace_back(queues.Stream(kSmall, list, time) / 1e3);
    for (const int list : {1, Queues::kMostInList})
      figures.emplace_back(queues.StreamRandom(kSmall, list, kSome, time) / 1e3);
    return figures;
  };
  return load;
}

}  // namespace

const std::vector<Workload>& Workloads() {
  static const std::vector<Workload> kWorkloads = Map(Usual(), Speed);
  return kWorkloads;
}

const std::vector<Workload>& Costs() {
  static const std::vector<Workload> kCosts = Map(Usual(), Cost);
  return kCosts;
}

const std::vector<Workload>& Curves() {
  static const std::vector<Workload> kCurves = [] {
    constexpr std::pair<const char*, Verb> kVerbs[] = {
        {"write", Verb::kWrite}, {"send", Verb::kSend}, {"read", Verb::kRead}};
    std::vector<Workload> curves;

    for (const auto& [name, verb] : kVerbs)
      for (const size_t bytes : CurveSizes(kBuffer)) {
        // As many bytes posted as the large rows have, at most.
        const int depth = std::min<int>(kDepth, 16 * kLarge / bytes);
        curves.push_back(Speed(Bandwidth(fmt::format("{} {}", name, SizeName(bytes)),
                                         {.verb = verb, .bytes = bytes, .depth = depth})));
      }
    return curves;
  }();
  return kCurves;
}

const std::vector<Workload>& Setups() {
  static const std::vector<Workload> kSetups = {
      One({"connect two QPs", "1/s", true}, Connections),
      One({"register 2 MiB", "GB/s", true},
          [](Pair& pair, Duration time) { return Registrations(pair, time) / 1e9; }),
      PerGib("register huge pages", Pages::kHuge),
      PerGib("register small pages", Pages::kSmall),
      One({"idle QP of 16 + 16", "KiB", false},
          [](Pair& pair, Duration) { return IdleQp(pair, kIdleQps) / 1024; }),
  };
  return kSetups;
}

const std::vector<Workload>& Latencies() {
  static const std::vector<Workload> kLatencies = {
      Percentiles("send 2 B", Wake::kPoll),
      Percentiles("events, send 2 B", Wake::kEvent),
  };
  return kLatencies;
}

const std::vector<Workload>& ManyQueues() {
  static const std::vector<Workload> kManyQueues = {Over(1), Over(kSome), OverMany()};
  return kManyQueues;
}

std::vector<Row> RowsOf(const std::vector<Workload>& loads) {
  std::vector<Row> rows;
  for (const Workload& load : loads) rows.insert(rows.end(), load.rows.begin(), load.rows.end());
  return rows;
}

}  // namespace srnbench
