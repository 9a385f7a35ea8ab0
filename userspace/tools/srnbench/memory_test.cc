// SPDX-License-Identifier: GPL-2.0-only
// What counts as memory in use.
#include "memory.h"

#include <sys/sysinfo.h>

#include <sstream>
#include <stdexcept>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace srnbench {
namespace {

constexpr char kMeminfo[] =
    "MemTotal:        1000 kB\n"
    "MemFree:          400 kB\n"
    "MemAvailable:     900 kB\n"
    "Buffers:           10 kB\n"
    "Cached:            90 kB\n"
    "SwapCached:        50 kB\n"
    "SReclaimable:     300 kB\n"
    "HugePages_Total:       0\n";

constexpr char kZoneinfo[] =
    "Node 0, zone      DMA\n"
    "  per-node stats\n"
    "      nr_inactive_anon 33\n"
    "  pages free     3840\n"
    "        protection: (0, 964, 964)\n"
    "  pagesets\n"
    "    cpu: 0\n"
    "              count:    3\n"
    "              high:     14\n"
    "  vm stats threshold: 4\n"
    "    cpu: 1\n"
    "              count:    4\n"
    "Node 0, zone    DMA32\n"
    "    cpu: 0\n"
    "              count:    5\n";

double InUse(const std::string& meminfo, const std::string& zoneinfo) {
  std::istringstream a(meminfo), b(zoneinfo);
  return MemoryInUse(a, b, 4096);
}

TEST(Memory, WhatIsFreeOrAFilesIsNotInUse) { EXPECT_EQ(InUse(kMeminfo, "count: 0\n"), 500 * 1024); }

TEST(Memory, PagesThatACpuKeepsAreFreeInAllZones) {
  EXPECT_EQ(InUse(kMeminfo, kZoneinfo), 500 * 1024 - 12 * 4096);
}

TEST(Memory, WhatSaysNothingIsAnError) {
  EXPECT_THROW(InUse("MemTotal: 5 kB\n", kZoneinfo), std::runtime_error);
  EXPECT_THROW(InUse(kMeminfo, "Node 0, zone DMA\n"), std::runtime_error);
  EXPECT_THROW(InUse("", ""), std::runtime_error);
}

TEST(Memory, OfAProgramSomeLiesInHugePages) {
  std::istringstream rollup(
      "55d0c0000000-7ffd00000000 ---p 00000000 00:00 0    [rollup]\n"
      "Rss:                8192 kB\n"
      "AnonHugePages:      4096 kB\n"
      "ShmemPmdMapped:     2048 kB\n");
  EXPECT_EQ(HugeBytes(rollup), 4096 * 1024);
  std::istringstream other("Rss: 8192 kB\n");
  EXPECT_THROW(HugeBytes(other), std::runtime_error);
  EXPECT_GE(HugeBytes(), 0);
}

// At least what this program has written, and less than there is, by another source than its own.
TEST(Memory, ThisMachinesIsSomeOfIt) {
  const std::vector<char> written(32 << 20, 1);
  asm volatile("" : : "r"(written.data()) : "memory");  // or the compiler may leave it out
  struct sysinfo all = {};
  ASSERT_EQ(sysinfo(&all), 0);
  const double in_use = MemoryInUse();
  EXPECT_GT(in_use, static_cast<double>(written.size()));
  EXPECT_LT(in_use, static_cast<double>(all.totalram) * all.mem_unit);
}

}  // namespace
}  // namespace srnbench
