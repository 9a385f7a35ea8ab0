// SPDX-License-Identifier: GPL-2.0-only
#include "seed.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string_view>

#include <gtest/gtest.h>

namespace share {
namespace {

uint64_t ChooseSeed() {
  const char* text = std::getenv("SRN_SEED");
  return text != nullptr && *text != '\0' ? std::strtoull(text, nullptr, 0)
                                          : std::random_device()();
}

// FNV-1a: the same with every library, unlike std::hash.
uint64_t Mix(uint64_t seed, std::string_view text) {
  for (const char c : text) seed = (seed ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return seed;
}

}  // namespace

uint64_t Seed() {
  static const uint64_t seed = ChooseSeed();
  std::printf("# SRN_SEED=%" PRIu64 "\n", seed);
  std::fflush(stdout);
  return seed;
}

uint64_t SeedOfTest() {
  const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
  return Mix(Mix(Seed(), test->test_suite_name()), test->name());
}

}  // namespace share
