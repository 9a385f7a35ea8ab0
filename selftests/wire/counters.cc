// SPDX-License-Identifier: GPL-2.0-only
#include "counters.h"

#include <filesystem>
#include <fstream>
#include <thread>

#include "wire.h"

namespace wire {
namespace {

// The core answers from its cache for 10 ms, in ticks, which may be as long.
constexpr std::chrono::milliseconds kCacheLife{25};
constexpr int kTries = 40;

}  // namespace

std::map<std::string, uint64_t> Counters::Read() {
  std::map<std::string, uint64_t> values;
  const std::string dir =
      "/sys/class/infiniband/" + Wire::Get().config().device + "/ports/1/hw_counters";
  for (const auto& entry : std::filesystem::directory_iterator(dir)) {
    std::ifstream file(entry.path());
    uint64_t value = 0;
    if (file >> value) values[entry.path().filename()] = value;
  }
  return values;
}

uint64_t Counters::Growth(const std::string& name) const {
  std::this_thread::sleep_for(kCacheLife);
  const auto now = Read();
  const auto found = now.find(name);
  return found == now.end() || !Has(name) ? 0 : found->second - before_.at(name);
}

bool Counters::Grew(const std::string& name, uint64_t least) const {
  for (int tries = 0; tries < kTries; ++tries)
    if (Growth(name) >= least) return true;
  return false;
}

bool Counters::Counted(const std::string& name, uint64_t least) const {
  if (!Has(name) && Wire::Get().config().lax) return true;
  return Grew(name, least);
}

}  // namespace wire
