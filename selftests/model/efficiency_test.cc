// SPDX-License-Identifier: GPL-2.0-only
// What repair costs: packets that are sent again beside those that were lost, and timeouts, of a
// million packets and more.
#include <cstdio>

#include <gtest/gtest.h>

#include "network.h"

namespace model {
namespace {

constexpr uint64_t kMillion = 1'000'000;

// One connection that always has something to send, on a path of 200 Mb/s: `seconds` of it, and
// what is out then.
Report Stream(const LinkOptions& link, double seconds) {
  const Report report =
      Simulate({.link = link, .program = {.depth = 64}, .warm_up = 0.5, .seconds = seconds - 0.5});
  EXPECT_EQ(report.faults, 0u);
  EXPECT_EQ(report.unrepaired, 0u);
  return report;
}

struct Loss {
  int permille;
  int rtt;            // us
  double most;        // packets sent again for one that was lost
  uint64_t timeouts;  // at most, in a million packets
};

class Efficiency : public testing::TestWithParam<Loss> {};

TEST_P(Efficiency, LittleButWhatWasLostGoesAgain) {
  const Loss& path = GetParam();
  const Report report = Stream({.propagation = path.rtt * uint64_t{1000} / 2,
                                .queue = 400'000,
                                .loss = path.permille / 1000.0},
                               48);
  const double ratio = static_cast<double>(report.again) / static_cast<double>(report.lost);
  std::printf("# %llu packets, %llu lost, %llu again: %.3f for each; %llu timeouts\n",
              static_cast<unsigned long long>(report.delivered),
              static_cast<unsigned long long>(report.lost),
              static_cast<unsigned long long>(report.again), ratio,
              static_cast<unsigned long long>(report.timeouts));
  EXPECT_GE(report.delivered, kMillion);
  EXPECT_LE(ratio, path.most);
  EXPECT_LE(report.timeouts, path.timeouts);
}
INSTANTIATE_TEST_SUITE_P(Of, Efficiency,
                         testing::Values(Loss{1, 200, 1.05, 0}, Loss{1, 2000, 1.05, 0},
                                         Loss{10, 200, 1.05, 0}, Loss{10, 2000, 1.05, 0},
                                         Loss{10, 10000, 1.05, 0}, Loss{50, 200, 1.25, 10},
                                         Loss{50, 2000, 1.25, 10}, Loss{50, 10000, 1.25, 10}),
                         [](const auto& info) {
                           return std::to_string(info.param.permille) + "Of1000At" +
                                  std::to_string(info.param.rtt) + "us";
                         });

struct Order {
  int permille;  // that are late
  int rtt;       // us
};

class Reordering : public testing::TestWithParam<Order> {};

// Up to 32 packets overtake one. From the second second on it is known that they do.
TEST_P(Reordering, IsNotTakenForLoss) {
  const Order& path = GetParam();
  const LinkOptions link = {.propagation = path.rtt * uint64_t{1000} / 2,
                            .queue = 400'000,
                            .late = path.permille / 1000.0};
  const Report first = Stream(link, 1), all = Stream(link, 11);
  const double again = static_cast<double>(all.again) - static_cast<double>(first.again);
  const double packets = static_cast<double>(all.delivered - first.delivered);
  std::printf("# %.0f of %.0f packets again: %.3f %% (first second: %llu)\n", again, packets,
              again / packets * 100, static_cast<unsigned long long>(first.again));
  EXPECT_EQ(all.lost, 0u);
  EXPECT_EQ(all.timeouts, 0u);
  EXPECT_LE(again / packets, 0.002);
}
INSTANTIATE_TEST_SUITE_P(Of, Reordering,
                         testing::Values(Order{10, 200}, Order{500, 200}, Order{1, 2000},
                                         Order{10, 2000}, Order{100, 2000}, Order{500, 2000},
                                         Order{10, 10000}, Order{100, 10000}, Order{500, 10000}),
                         [](const auto& info) {
                           return std::to_string(info.param.permille) + "Of1000At" +
                                  std::to_string(info.param.rtt) + "us";
                         });

}  // namespace
}  // namespace model
