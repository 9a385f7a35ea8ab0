// SPDX-License-Identifier: GPL-2.0-only
// How pairs are written.
#include "pair.h"

#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace srnbench {
namespace {

TEST(PairSpec, IsANameAndTwoDevices) {
  const PairSpec spec = PairSpec::Parse("srn=srn0,srn1");
  EXPECT_EQ(spec.name, "srn");
  EXPECT_EQ(spec.device[0], "srn0");
  EXPECT_EQ(spec.device[1], "srn1");
  EXPECT_EQ(spec.address[0], "");
  EXPECT_EQ(spec.address[1], "");
}

TEST(PairSpec, OfIwarpHasAddresses) {
  const PairSpec spec = PairSpec::Parse("siw=siw0@10.3.0.1,siw1@10.3.0.2");
  EXPECT_EQ(spec.device[0], "siw0");
  EXPECT_EQ(spec.address[0], "10.3.0.1");
  EXPECT_EQ(spec.device[1], "siw1");
  EXPECT_EQ(spec.address[1], "10.3.0.2");
}

TEST(PairSpec, IsNothingElse) {
  for (const char* text : {"", "srn", "srn=", "srn=srn0", "=srn0,srn1", "srn=,srn1", "srn=srn0,",
                           "srn=srn0@,srn1", "srn=a,b,c", "srn=a@1@2,b"})
    EXPECT_THROW(PairSpec::Parse(text), std::invalid_argument) << text;
}

constexpr uint64_t kAddrs[] = {0, 4096, kHugePage - 4096, kHugePage, 5 * kHugePage + 8192};

TEST(PairPlaces, BeginWithAHugePageOrBehindIt) {
  for (const uint64_t addr : kAddrs) {
    EXPECT_EQ((addr + SkipTo(Place::kFirst, addr)) % kHugePage, 0) << addr;
    EXPECT_EQ((addr + SkipTo(Place::kSecond, addr)) % kHugePage, kApart) << addr;
    EXPECT_LE(SkipTo(Place::kSecond, addr), kHugePage + kApart) << addr;
  }
}

// The least TLB of QEMU has 64 entries, and a page has that of its number's last bits.
TEST(PairPlaces, ShareNoEntryOfATlb) {
  constexpr uint64_t kPage = 4096;

  for (const uint64_t addr : kAddrs)
    for (uint64_t entries = 64; entries <= kHugePage / kPage; entries *= 2) {
      const uint64_t first = (addr + SkipTo(Place::kFirst, addr)) / kPage;
      const uint64_t second = (addr + SkipTo(Place::kSecond, addr)) / kPage;
      EXPECT_NE(first % entries, second % entries) << addr << ", " << entries;
    }
}

// So that a message of 1 MiB is no more pieces at one end than at the other.
TEST(PairPlaces, LeaveALargeMessageInOneHugePage) { EXPECT_LE(kApart + (1 << 20), kHugePage); }

}  // namespace
}  // namespace srnbench
