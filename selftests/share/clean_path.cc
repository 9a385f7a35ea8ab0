// SPDX-License-Identifier: GPL-2.0-only
#include "clean_path.h"

#include <fnmatch.h>

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <thread>

namespace share {
namespace {

// Of a few hundred tests of a program.
constexpr int kMostAsked = 5;

std::string NameOf(const testing::TestInfo& test) {
  return std::string(test.test_suite_name()) + "." + test.name();
}

bool Allowed(const std::vector<Allowance>& allowances, const std::string& test,
             const std::string& counter) {
  return std::ranges::any_of(allowances, [&](const Allowance& allowance) {
    if (!Matches(allowance.tests, test)) return false;
    std::istringstream words(allowance.counters);
    for (std::string word; words >> word;)
      if (Matches(word, counter)) return true;
    return false;
  });
}

std::string Sentence(const std::string& device, const std::string& counter, uint64_t grown) {
  return device + " counted " + counter + " +" + std::to_string(grown) +
         " in a test that means no damage";
}

}  // namespace

bool Matches(const std::string& pattern, const std::string& name) {
  return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

CounterValues Damage(const CounterValues& before, const CounterValues& after,
                     const std::vector<Allowance>& allowances, const std::string& test) {
  CounterValues damage;
  for (const auto& [name, value] : after) {
    const auto found = before.find(name);
    const uint64_t old = found == before.end() ? 0 : found->second;
    if (value == old || TrafficCounters().contains(name)) continue;
    if (!Allowed(allowances, test, name)) damage[name] = value - old;
  }
  return damage;
}

std::vector<CounterValues> TakeProbes(std::vector<CounterValues>& damage) {
  constexpr uint64_t kMost = 2;
  CounterValues all;
  for (const CounterValues& device : damage)
    for (const auto& [name, grown] : device) all[name] += grown;
  const uint64_t probes = all["sent_probes"];
  const CounterValues expected = {
      {"duplicate_request", probes}, {"retransmitted_pkts", probes}, {"sent_probes", probes}};
  std::vector<CounterValues> taken(damage.size());
  if (probes > 0 && probes <= kMost && all == expected) taken.swap(damage);
  return taken;
}

bool Excused(const std::string& counter, unsigned cpus) {
  return cpus > 1 && (SpeedCounters().contains(counter) || OrderCounters().contains(counter));
}

// A device without counters would pass every look at them.
void CleanPath::OnTestProgramStart(const testing::UnitTest&) {
  const std::set<std::string>* const kinds[] = {&TrafficCounters(), &SpeedCounters(),
                                                &OrderCounters()};
  for (const std::set<std::string>* kind : kinds) EXPECT_FALSE(kind->empty()) << SRN_COUNTER_KINDS;
  for (const std::string& device : devices_) {
    const CounterValues values = ReadCounters(device);
    for (const std::set<std::string>* kind : kinds)
      for (const std::string& name : *kind)
        EXPECT_TRUE(values.contains(name)) << device << " has no counter " << name;
    EXPECT_GT(values.size(), TrafficCounters().size()) << device << " counts no damage";
  }
}

void CleanPath::OnTestStart(const testing::TestInfo&) {
  before_.clear();
  for (const std::string& device : devices_) before_.push_back(ReadCounters(device));
}

void CleanPath::OnTestEnd(const testing::TestInfo& test) {
  if (test.result()->Skipped()) return;
  std::this_thread::sleep_for(kCacheLife);
  std::vector<CounterValues> damage;
  for (size_t i = 0; i < devices_.size(); ++i)
    damage.push_back(Damage(before_[i], ReadCounters(devices_[i]), allowances_, NameOf(test)));
  std::vector<CounterValues> probes(damage.size());
  if (asked_ < kMostAsked) probes = TakeProbes(damage);
  asked_ += std::ranges::any_of(probes, [](const CounterValues& taken) { return !taken.empty(); });
  // What is excused is said.
  for (size_t i = 0; i < devices_.size(); ++i) {
    for (const auto& [name, grown] : probes[i])
      std::printf("# %s\n", Sentence(devices_[i], name, grown).c_str());
    for (const auto& [name, grown] : damage[i])
      if (Excused(name, std::thread::hardware_concurrency()))
        std::printf("# %s\n", Sentence(devices_[i], name, grown).c_str());
      else
        ADD_FAILURE() << Sentence(devices_[i], name, grown);
  }
}

}  // namespace share
