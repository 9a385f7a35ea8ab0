// SPDX-License-Identifier: GPL-2.0-only
// How much each of many connections has posted.
#include "queues.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace srnbench {
namespace {

TEST(Queues, AFewHavePostedAsMuchAsOneStream) {
  EXPECT_EQ(PostedLists(1, 1), kDepth);
  EXPECT_EQ(PostedLists(1, 32) * 32, kDepth);
  EXPECT_EQ(PostedLists(64, 1) * 64, kDepth);
}

TEST(Queues, OfManyEachIsBusy) {
  EXPECT_EQ(PostedLists(10000, 1), 2);
  EXPECT_EQ(PostedLists(10000, 32), 1);
  EXPECT_EQ(PostedLists(64, 32), 1);
}

}  // namespace
}  // namespace srnbench
