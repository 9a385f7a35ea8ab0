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

}  // namespace
}  // namespace srnbench
