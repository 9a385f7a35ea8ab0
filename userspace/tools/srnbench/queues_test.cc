// SPDX-License-Identifier: GPL-2.0-only
// How much each of many connections has posted.
#include "queues.h"

#include <algorithm>
#include <deque>
#include <vector>

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

// Each that has its turn has it whole, nobody has two, and sooner or later all have one.
TEST(Queues, RandomOnesHaveTheirTurns) {
  constexpr size_t kConnections = 100, kActive = 8;
  constexpr int kTimes = 2;
  RandomTurns turns(kConnections, kActive, kTimes);
  std::vector<int> posted(kConnections), had(kConnections);
  std::deque<size_t> out;

  for (int i = 0; i < 20000; ++i) {
    while (!turns.empty()) {
      const size_t connection = turns.Take();
      out.push_back(connection);
      ++had[connection];
      ASSERT_LE(++posted[connection], kTimes);
    }
    ASSERT_LE(out.size(), kActive * kTimes);
    ASSERT_LE(std::ranges::count_if(posted, [](int n) { return n > 0; }), std::ptrdiff_t{kActive});
    const size_t done = i % out.size();
    --posted[out[done]];
    turns.Add(out[done]);
    out.erase(out.begin() + static_cast<std::ptrdiff_t>(done));
  }
  EXPECT_THAT(had, testing::Each(testing::Ge(2 * kTimes)));
}

}  // namespace
}  // namespace srnbench
