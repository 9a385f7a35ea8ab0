// SPDX-License-Identifier: GPL-2.0-only
// Each byte that is wrong is noticed, at both ends.
#include "inspection.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace srnbench {
namespace {

using testing::HasSubstr;
using testing::Throws;
using testing::ThrowsMessage;
using To = Movement::To;

constexpr size_t kSize = 64, kMoved = 8;

struct InspectionTest : testing::Test {
  std::array<std::byte, kSize> a, b;
  Inspection inspection{a, b, 7};

  void Move(To to) {
    if (to == To::kA) std::copy_n(b.begin(), kMoved, a.begin());
    if (to == To::kB) std::copy_n(a.begin(), kMoved, b.begin());
  }

  // Flips each bit of each byte of `bytes`, which must not go unnoticed.
  void FlipAll(verbs::Bytes bytes, const Movement& movement) {
    for (std::byte& byte : bytes)
      for (int bit = 0; bit < 8; ++bit) {
        byte ^= std::byte{1} << bit;
        EXPECT_THAT([&] { inspection.Check(movement); }, Throws<std::runtime_error>());
        byte ^= std::byte{1} << bit;
      }
  }
};

TEST_F(InspectionTest, WhatWasMovedIsAsItWas) {
  for (const To to : {To::kNobody, To::kA, To::kB}) {
    const Inspection again(a, b, 8);
    Move(to);
    again.Check({to, kMoved});
  }
}

TEST_F(InspectionTest, EachByteOfBothEndsCounts) {
  for (const To to : {To::kA, To::kB}) {
    inspection = Inspection(a, b, 9);
    Move(to);
    FlipAll(a, {to, kMoved});
    FlipAll(b, {to, kMoved});
  }
}

TEST_F(InspectionTest, WhatDidNotArriveIsNoticedFromTheFirstByteOn) {
  EXPECT_THAT(
      [&] {
        inspection.Check({To::kB, kMoved});
      },
      ThrowsMessage<std::runtime_error>(HasSubstr("end b: byte 0 is")));
  EXPECT_THAT(
      [&] {
        inspection.Check({To::kA, kMoved});
      },
      ThrowsMessage<std::runtime_error>(HasSubstr("end a: byte 0 is")));
  Move(To::kB);
  EXPECT_THAT(
      [&] {
        inspection.Check({To::kB, kMoved + 1});
      },
      ThrowsMessage<std::runtime_error>(HasSubstr("end b: byte 8 is")));
}

TEST_F(InspectionTest, WhatWentTooFarIsNoticed) {
  std::copy_n(a.begin(), kMoved + 1, b.begin());
  EXPECT_THAT(
      [&] {
        inspection.Check({To::kB, kMoved});
      },
      ThrowsMessage<std::runtime_error>(HasSubstr("end b: byte 8 is")));
}

TEST_F(InspectionTest, WhatAnEarlierRoundLeftIsNotTaken) {
  Move(To::kB);
  const std::array<std::byte, kSize> earlier = b;
  const Inspection next(a, b, 8);
  b = earlier;
  EXPECT_THAT([&] { next.Check({To::kB, kMoved}); }, Throws<std::runtime_error>());
}

}  // namespace
}  // namespace srnbench
