// SPDX-License-Identifier: GPL-2.0-only
// What the module's windows and scoreboard make of a bottleneck of 200 Mb/s with a queue of 200000
// bytes, and of packets that are lost beside it.
#include "network.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include <gtest/gtest.h>

namespace model {
namespace {

constexpr uint64_t kSeeds = 5;

// And what holds on every path: all that was posted came, once and in order, and no sender takes
// for acknowledged what has not come. Return: of some seeds the worst.
Report Worst(Options options) {
  Report worst{.goodput = 2, .jain = 1};
  for (options.seed = 1; options.seed <= kSeeds; ++options.seed) {
    const Report report = Simulate(options);
    EXPECT_EQ(report.faults, 0u) << "seed " << options.seed;
    EXPECT_EQ(report.unrepaired, 0u) << "seed " << options.seed;
    worst.goodput = std::min(worst.goodput, report.goodput);
    worst.dropped = std::max(worst.dropped, report.dropped);
    worst.jain = std::min(worst.jain, report.jain);
  }
  std::printf("# goodput %.3f of the wire, dropped %.2f %%, Jain %.3f\n", worst.goodput,
              worst.dropped * 100, worst.jain);
  return worst;
}

TEST(OneConnection, FillsTheWireAndLosesLittle) {
  const Report report = Worst({});
  EXPECT_GE(report.goodput, 0.97);
  EXPECT_LT(report.dropped, 0.01);
}

TEST(OneConnection, LosesNothingWhereItsWindowFitsIntoTheQueue) {
  const Report report = Worst({.link = {.queue = 400'000}});
  EXPECT_GE(report.goodput, 0.97);
  EXPECT_EQ(report.dropped, 0);
}

struct Path {
  int loss;      // per cent
  int rtt;       // us
  double least;  // of what is not lost
};

class Lossy : public testing::TestWithParam<Path> {};

TEST_P(Lossy, KeepsItsRate) {
  const Path& path = GetParam();
  const double loss = path.loss / 100.0;
  const uint64_t propagation = path.rtt * uint64_t{1000} / 2;
  const Report report = Worst({.link = {.propagation = propagation, .loss = loss}, .depth = 8});
  EXPECT_GE(report.goodput, path.least * (1 - loss));
}

// With 10 ms the goal is 0.97 and 0.90, too, and is not reached: a burst of its own looks like a
// queue. Bounds against becoming worse.
INSTANTIATE_TEST_SUITE_P(Of, Lossy,
                         testing::Values(Path{1, 200, 0.97}, Path{1, 1000, 0.97},
                                         Path{1, 10000, 0.5}, Path{5, 200, 0.90},
                                         Path{5, 1000, 0.90}, Path{5, 10000, 0.3}),
                         [](const auto& info) {
                           return std::to_string(info.param.loss) + "PercentAt" +
                                  std::to_string(info.param.rtt) + "us";
                         });

struct Far {
  int rtt;  // ms
  double least;
};

class Long : public testing::TestWithParam<Far> {};

// The local ACK timeout is 67 ms, and a requester may wait for up to four of them: where that is
// too little all is given up before it is answered, each time, and no answer is timed. What is left
// is what a window of 256 packets fills, or from 8 messages of 64.
TEST_P(Long, IsUsedWhateverTheTimeout) {
  const Far& path = GetParam();
  const Report report = Worst({.link = {.propagation = path.rtt * uint64_t{1'000'000} / 2},
                               .depth = 8,
                               .warm_up = 1,
                               .seconds = 10});
  EXPECT_GE(report.goodput, path.least);
}
INSTANTIATE_TEST_SUITE_P(Path, Long,
                         testing::Values(Far{60, 0.30}, Far{70, 0.25}, Far{100, 0.18},
                                         Far{150, 0.10}, Far{250, 0.045}, Far{300, 0.03},
                                         Far{600, 0.01}),
                         [](const auto& info) { return std::to_string(info.param.rtt) + "ms"; });

struct Pipe {
  int rtt;    // ms
  int queue;  // KB
  int loss;   // of 1000
  double least;
};

class Wide : public testing::TestWithParam<Pipe> {};

// 2.5 MB fit on the way at 100 ms. Without loss the goal is 0.95, from four seconds on; others are
// bounds against becoming worse.
TEST_P(Wide, IsFilled) {
  const Pipe& path = GetParam();
  const Report report = Worst({.link = {.propagation = path.rtt * uint64_t{1'000'000} / 2,
                                        .queue = static_cast<uint64_t>(path.queue) * 1000,
                                        .loss = path.loss / 1000.0},
                               .depth = 64,
                               .warm_up = 4,
                               .seconds = 30});
  EXPECT_GE(report.goodput, path.least);
  if (path.loss == 0) {
    EXPECT_EQ(report.dropped, 0);
  }
}
INSTANTIATE_TEST_SUITE_P(Path, Wide,
                         testing::Values(Pipe{20, 200, 0, 0.95}, Pipe{50, 200, 0, 0.95},
                                         Pipe{100, 200, 0, 0.95}, Pipe{100, 400, 0, 0.80},
                                         Pipe{100, 2000, 0, 0.95}, Pipe{20, 200, 10, 0.8},
                                         Pipe{50, 200, 10, 0.7}, Pipe{100, 200, 1, 0.3},
                                         Pipe{100, 200, 10, 0.25}),
                         [](const auto& info) {
                           return std::to_string(info.param.rtt) + "msQueue" +
                                  std::to_string(info.param.queue) + "Loss" +
                                  std::to_string(info.param.loss);
                         });

struct Crowd {
  int connections;
  int domains;     // that know of each other's connections
  double dropped;  // at most
  double jain;     // at least
};

class Shared : public testing::TestWithParam<Crowd> {};

// The goal is 1 % lost at 0.9 of one connection's rate. It is not reached by 64 that have a domain
// each, nor where there are more of them than packets that fit: bounds against becoming worse, as
// those of fairness are.
TEST_P(Shared, LosesLittle) {
  const Crowd& crowd = GetParam();
  const Report report = Worst({.connections = crowd.connections, .domains = crowd.domains});
  EXPECT_GE(report.goodput, 0.97);
  EXPECT_LE(report.dropped, crowd.dropped);
  EXPECT_GE(report.jain, crowd.jain);
}
INSTANTIATE_TEST_SUITE_P(By, Shared,
                         testing::Values(Crowd{2, 1, 0.001, 0.9}, Crowd{4, 1, 0.001, 0.9},
                                         Crowd{16, 1, 0.001, 0.8}, Crowd{64, 1, 0.005, 0.8},
                                         Crowd{128, 1, 0.02, 0.8}, Crowd{200, 1, 0.12, 0.9},
                                         Crowd{16, 4, 0.005, 0.4}, Crowd{64, 4, 0.01, 0.1},
                                         Crowd{16, 16, 0.005, 0.12}, Crowd{64, 64, 0.5, 0.4}),
                         [](const auto& info) {
                           return std::to_string(info.param.connections) + "Of" +
                                  std::to_string(info.param.domains);
                         });

bool Same(const Report& a, const Report& b) {
  return a.goodput == b.goodput && a.dropped == b.dropped && a.queue == b.queue &&
         a.delivered == b.delivered;
}

TEST(Seed, DecidesTheRun) {
  Options options{.connections = 4, .link = {.loss = 0.01}, .seconds = 0.5};
  const Report first = Simulate(options), again = Simulate(options);
  options.seed = 2;
  const Report other = Simulate(options);
  EXPECT_TRUE(Same(first, again));
  EXPECT_FALSE(Same(first, other));
}

}  // namespace
}  // namespace model
