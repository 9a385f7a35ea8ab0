// SPDX-License-Identifier: GPL-2.0-only
#include "memory.h"

#include <unistd.h>

#include <fstream>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>

namespace srnbench {
namespace {

// The figures behind each key, summed up: those of /proc/zoneinfo are of a zone, or of a CPU.
std::map<std::string, double> Sums(std::istream& file) {
  std::map<std::string, double> sums;

  for (std::string line_key; file >> line_key;
       file.ignore(std::numeric_limits<std::streamsize>::max(), '\n')) {
    double value;
    if (file.peek() == '\n') continue;
    if (file >> value) {
      sums[line_key] += value;
    } else {
      file.clear();
    }
  }
  return sums;
}

double Figure(const std::map<std::string, double>& sums, const char* key) {
  const auto it = sums.find(key);
  if (it == sums.end()) throw std::runtime_error(std::string("/proc: no ") + key);
  return it->second;
}

// Has the kernel sum up what each CPU counts for itself, if it is for us to ask.
void SumUp() { std::ifstream("/proc/sys/vm/stat_refresh").get(); }

}  // namespace

double MemoryInUse(std::istream& meminfo, std::istream& zoneinfo, size_t page_bytes) {
  const std::map<std::string, double> kib = Sums(meminfo), pages = Sums(zoneinfo);

  return (Figure(kib, "MemTotal:") - Figure(kib, "MemFree:") - Figure(kib, "Buffers:") -
          Figure(kib, "Cached:")) *
             1024 -
         Figure(pages, "count:") * page_bytes;
}

double MemoryInUse() {
  SumUp();
  std::ifstream meminfo("/proc/meminfo"), zoneinfo("/proc/zoneinfo");
  return MemoryInUse(meminfo, zoneinfo, sysconf(_SC_PAGESIZE));
}

double HugeBytes(std::istream& smaps_rollup) {
  return Figure(Sums(smaps_rollup), "AnonHugePages:") * 1024;
}

double HugeBytes() {
  std::ifstream rollup("/proc/self/smaps_rollup");
  return HugeBytes(rollup);
}

}  // namespace srnbench
