// SPDX-License-Identifier: GPL-2.0-only
#include "workload.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

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
constexpr int kIdleQps = 2000;
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

Workload Bandwidth(const std::string& name, const Requests& requests) {
  return One(
      {name, "MB/s", true},
      [requests](Pair& pair, Duration time) {
        return Stream(pair, requests, time) * requests.bytes / 1e6;
      },
      Moves(requests));
}

Workload Rate(const char* name, const Requests& requests) {
  return One(
      {name, "kop/s", true},
      [requests](Pair& pair, Duration time) { return Stream(pair, requests, time) / 1e3; },
      Moves(requests));
}

Workload Latency(const char* name, Wake wake) {
  return One({name, "us", false},
             [wake](Pair& pair, Duration time) { return OneWay(pair, kTiny, wake, time) * 1e6; },
             {To::kB, kTiny});
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

Workload Over(int connections) {
  const std::string name = fmt::format("{} QP{}", connections, connections == 1 ? "" : "s");
  const int lists = Queues::kMostInList;

  return {.name = name,
          .rows = {{name + ", writes of 8 B", "kop/s", true},
                   {fmt::format("{}, lists of {}", name, lists), "kop/s", true}},
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

}  // namespace

const std::vector<Workload>& Workloads() {
  static const std::vector<Workload> kWorkloads = {
      Bandwidth("write 64 KiB", {Verb::kWrite, kBulk}),
      Bandwidth("write 1 MiB", {.verb = Verb::kWrite, .bytes = kLarge, .depth = 16}),
      Bandwidth("send 64 KiB", {Verb::kSend, kBulk}),
      Bandwidth("read 64 KiB", {Verb::kRead, kBulk}),
      Rate("write 8 B", {Verb::kWrite, kSmall}),
      Rate("lists of 32 writes of 8 B", {.verb = Verb::kWrite, .bytes = kSmall, .list = 32}),
      Latency("send 2 B, one way", Wake::kPoll),
      Latency("events, send 2 B, one way", Wake::kEvent),
  };
  return kWorkloads;
}

const std::vector<Workload>& Curves() {
  static const std::vector<Workload> kCurves = [] {
    constexpr std::pair<const char*, Verb> kVerbs[] = {
        {"write", Verb::kWrite}, {"send", Verb::kSend}, {"read", Verb::kRead}};
    std::vector<Workload> curves;

    for (const auto& [name, verb] : kVerbs)
      for (const size_t bytes : CurveSizes(kLarge)) {
        // As many bytes posted as the large rows have, at most.
        const int depth = std::min<int>(kDepth, 16 * kLarge / bytes);
        curves.push_back(Bandwidth(fmt::format("{} {}", name, SizeName(bytes)),
                                   {.verb = verb, .bytes = bytes, .depth = depth}));
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
  static const std::vector<Workload> kManyQueues = {Over(1), Over(kSome), Over(kMany)};
  return kManyQueues;
}

std::vector<Row> RowsOf(const std::vector<Workload>& loads) {
  std::vector<Row> rows;
  for (const Workload& load : loads) rows.insert(rows.end(), load.rows.begin(), load.rows.end());
  return rows;
}

}  // namespace srnbench
