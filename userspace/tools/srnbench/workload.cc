// SPDX-License-Identifier: GPL-2.0-only
#include "workload.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "latency.h"
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

Workload Bandwidth(const std::string& name, const Requests& requests) {
  return {name, "MB/s", true, [requests](Pair& pair, Duration time) {
            return Stream(pair, requests, time) * requests.bytes / 1e6;
          }};
}

Workload Rate(const char* name, const Requests& requests) {
  return {name, "kop/s", true,
          [requests](Pair& pair, Duration time) { return Stream(pair, requests, time) / 1e3; }};
}

Workload Latency(const char* name, Wake wake) {
  return {name, "us", false,
          [wake](Pair& pair, Duration time) { return OneWay(pair, kTiny, wake, time) * 1e6; }};
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
      {"connect two QPs", "1/s", true, Connections},
      {"register 2 MiB", "GB/s", true,
       [](Pair& pair, Duration time) { return Registrations(pair, time) / 1e9; }},
      {"idle QP of 16 + 16", "KiB", false,
       [](Pair& pair, Duration) { return IdleQp(pair, kIdleQps) / 1024; }},
  };
  return kSetups;
}

}  // namespace srnbench
