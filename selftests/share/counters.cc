// SPDX-License-Identifier: GPL-2.0-only
#include "counters.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace share {
namespace {

std::set<std::string> ReadKind(const std::string& wanted) {
  std::set<std::string> names;
  std::ifstream file(SRN_COUNTER_KINDS);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    if (!(words >> name) || name.starts_with('#')) continue;
    for (std::string kind; words >> kind;)
      if (kind == wanted) names.insert(name);
  }
  return names;
}

}  // namespace

CounterValues ReadCounters(const std::string& device) {
  CounterValues values;
  std::error_code none;
  const std::string dir = "/sys/class/infiniband/" + device + "/ports/1/hw_counters";
  for (const auto& entry : std::filesystem::directory_iterator(dir, none)) {
    if (entry.path().filename() == "lifespan") continue;
    std::ifstream file(entry.path());
    uint64_t value = 0;
    if (file >> value) values[entry.path().filename()] = value;
  }
  return values;
}

uint64_t FreshCounter(const std::string& device, const std::string& name) {
  std::this_thread::sleep_for(kCacheLife);
  return ReadCounters(device).at(name);
}

const std::set<std::string>& TrafficCounters() {
  static const std::set<std::string> names = ReadKind("traffic");
  return names;
}

const std::set<std::string>& SpeedCounters() {
  static const std::set<std::string> names = ReadKind("speed");
  return names;
}

const std::set<std::string>& OrderCounters() {
  static const std::set<std::string> names = ReadKind("order");
  return names;
}

}  // namespace share
