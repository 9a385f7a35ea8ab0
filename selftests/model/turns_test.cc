// SPDX-License-Identifier: GPL-2.0-only
// Many connections that take turns (rota): on short queues, slow wires, far paths, and beside loss.
#include <string>

#include <gtest/gtest.h>

#include "network.h"
#include "reading.h"
#include "worst.h"

namespace model {
namespace {

class Turns : public testing::TestWithParam<int> {
 protected:
  // From the first packet on.
  Options Begin() {
    return {.connections = GetParam(), .domains = 1, .rota = true, .warm_up = 0, .seconds = 4};
  }
};

TEST_P(Turns, LoseLittle) {
  const Report report = Worst({.connections = GetParam(), .domains = 1, .rota = true});
  EXPECT_GE(report.goodput, 0.97);
  EXPECT_LT(report.dropped, 0.001);
  EXPECT_GE(report.jain, 0.97);
}

// All begin at once: who has not sent anything waits for its place as others do.
TEST_P(Turns, LoseLittleFromTheFirstPacket) {
  const Report report = Worst(Begin());
  EXPECT_GE(report.goodput, 0.97);
  EXPECT_LT(report.dropped, 0.005);
}

// A program that waits for each message, so that places are given up all the time.
TEST_P(Turns, AreTakenByWhoSendsOneMessageAtATime) {
  Options options = Begin();
  options.program.depth = 1;
  const Report report = Worst(options);
  EXPECT_GE(report.goodput, 0.97);
  EXPECT_LT(report.dropped, 0.005);
}

// Where places are given, loss is repaired as it is elsewhere, and nobody keeps one for ever.
TEST_P(Turns, GoOnWherePacketsAreLost) {
  Options options = Begin();
  options.link.loss = 0.01;
  EXPECT_GE(Worst(options).goodput, 0.96);
}

// Who is silent gives up its place, and who comes back takes one.
TEST_P(Turns, GoOnAfterAnOutage) {
  Options options = Begin();
  options.link.dark_from = 500'000'000;
  options.link.dark_until = 900'000'000;
  options.warm_up = 2;
  EXPECT_GE(Worst(options).goodput, 0.9);
}

// Where a round trip is long for one that waits for its last packet, but not yet so long that they
// take no turns: their shifts are longer.
TEST_P(Turns, LeaveAPathNotEmpty) {
  Options options = Begin();
  options.link.propagation = 5'000'000;
  options.warm_up = 1;
  EXPECT_GE(Worst(options).goodput, 0.975);
}

// A queue that one packet of each would fill, and a wire that empties one at once.
TEST_P(Turns, FitOtherQueues) {
  Options options = Begin();
  options.link.queue = 100'000;
  EXPECT_LT(Worst(options).dropped, 0.01);
  options.link = {.rate = 10e9, .queue = 2'000'000};
  options.seconds = 0.5;
  EXPECT_GE(Worst(options).goodput, 0.9);
}

// A queue that is never empty is that of a short path all the same, when nobody remembers one that
// was.
TEST_P(Turns, GoOnWhereAQueueIsNeverEmpty) {
  Options options = Begin();
  options.link.rate = 5e6;
  options.timeout = 17;
  options.seconds = 75;
  const Report report = Worst(options);
  EXPECT_GE(report.goodput, 0.97);
  EXPECT_LT(report.dropped, 0.01);
}
INSTANTIATE_TEST_SUITE_P(Of, Turns, testing::Values(17, 64, 256),
                         [](const auto& info) { return std::to_string(info.param); });

struct Slow {
  double rate;  // Mb/s
  int rtt;      // ms
  double warm_up, seconds;
  double dropped;  // at most
};

class SlowTurns : public testing::TestWithParam<Slow> {};

// Where a full queue takes longer than one waits before one asks, and than a delay says why
// something was lost.
TEST_P(SlowTurns, LoseLittle) {
  const Slow& path = GetParam();
  const Report report =
      Worst({.connections = 64,
             .domains = 1,
             .rota = true,
             .link = {.rate = path.rate * 1e6, .propagation = path.rtt * uint64_t{1'000'000} / 2},
             .warm_up = path.warm_up,
             .seconds = path.seconds});
  EXPECT_GE(report.goodput, 0.97);
  EXPECT_LT(report.dropped, path.dropped);
}
INSTANTIATE_TEST_SUITE_P(At, SlowTurns,
                         testing::Values(Slow{9, 1, 16, 24, 0.01}, Slow{20, 0, 0, 2, 0.02}),
                         [](const auto& info) {
                           return std::to_string(static_cast<int>(info.param.rate)) + "Mbps";
                         });

class SomeTurns : public testing::TestWithParam<int> {};

// Fewer than there are places for, which begin with few packets, so that these fit. What each of
// them knows of a queue it does not leave to others, as nobody waits for its place.
TEST_P(SomeTurns, LoseLittleFromTheFirstPacket) {
  Options options{
      .connections = GetParam(), .domains = 1, .rota = true, .warm_up = 0, .seconds = 4};
  Report report = Worst(options);
  EXPECT_GE(report.goodput, 0.97);
  EXPECT_LT(report.dropped, 0.005);
  options.link.rate = 8e6;
  options.timeout = 17;
  options.seconds = 13;
  report = Worst(options);
  EXPECT_GE(report.goodput, 0.97);
  EXPECT_LT(report.dropped, 0.01);
}
INSTANTIATE_TEST_SUITE_P(Of, SomeTurns, testing::Values(9, 16),
                         [](const auto& info) { return std::to_string(info.param); });

struct Distant {
  int connections;
  int rtt;  // ms
};

class FarTurns : public testing::TestWithParam<Distant> {};

// Once a path is known to be far nobody takes turns: it is used as well as without, though the
// timeout is shorter than it, or packets are lost.
TEST_P(FarTurns, AreNone) {
  const Distant& path = GetParam();
  for (const double loss : {0.0, 0.01}) {
    Options options{.connections = path.connections,
                    .domains = 1,
                    .link = {.propagation = path.rtt * uint64_t{1'000'000} / 2, .loss = loss},
                    .warm_up = 2,
                    .seconds = 4};
    const double without = Worst(options).goodput;
    options.rota = true;
    EXPECT_GE(Worst(options).goodput, without - 0.03);
  }
}
INSTANTIATE_TEST_SUITE_P(Of, FarTurns,
                         testing::Values(Distant{17, 14}, Distant{64, 14}, Distant{256, 14},
                                         Distant{17, 40}, Distant{64, 40}, Distant{256, 40},
                                         Distant{17, 100}, Distant{64, 100}, Distant{256, 100}),
                         [](const auto& info) {
                           return std::to_string(info.param.connections) + "At" +
                                  std::to_string(info.param.rtt) + "ms";
                         });

class LongQueue : public testing::TestWithParam<Distant> {};

// But where a queue takes longer than that path they do, from the first packet on: as long as it
// stands it covers the round trip between two shifts.
TEST_P(LongQueue, IsTakenInTurns) {
  const Distant& path = GetParam();
  const Report report =
      Worst({.connections = path.connections,
             .domains = 1,
             .rota = true,
             .link = {.rate = 8e6, .propagation = path.rtt * uint64_t{1'000'000} / 2},
             .timeout = 17,
             .warm_up = 0,
             .seconds = 40});
  EXPECT_GE(report.goodput, 0.95);
  EXPECT_LT(report.dropped, 0.01);
}
INSTANTIATE_TEST_SUITE_P(Of, LongQueue,
                         testing::Values(Distant{64, 14}, Distant{256, 14}, Distant{64, 50},
                                         Distant{256, 50}),
                         [](const auto& info) {
                           return std::to_string(info.param.connections) + "At" +
                                  std::to_string(info.param.rtt) + "ms";
                         });

class LossyTurns : public testing::TestWithParam<int> {
 protected:
  static Options Begin() {
    return {.connections = GetParam(),
            .domains = 1,
            .rota = true,
            .lossy = true,
            .warm_up = 0,
            .seconds = 4};
  }
};

// Taken only where a queue loses something: it does so once, when all of them begin.
TEST_P(LossyTurns, LoseLittle) {
  const Report report = Worst(Begin());
  EXPECT_GE(report.goodput, 0.99);
  EXPECT_LT(report.dropped, 0.01);
}

// Where a full queue is 200 ms long it takes some seconds until all have heard of it.
TEST_P(LossyTurns, LoseLittleOnASlowWire) {
  Options options = Begin();
  options.link.rate = 8e6;
  options.timeout = 17;
  options.warm_up = options.seconds = 20;
  const Report report = Worst(options);
  EXPECT_GE(report.goodput, 0.98);
  EXPECT_LT(report.dropped, 0.01);
}

// What was lost is long ago, and all go on at once.
TEST_P(LossyTurns, LoseLittleWhenTheyEnd) {
  Options options = Begin();
  options.warm_up = 2;
  options.calm = 2;
  const Report report = Worst(options);
  EXPECT_EQ(report.calmed, 1u) << "no turns were taken before";
  EXPECT_GE(report.goodput, 0.99);
  EXPECT_LT(report.dropped, 0.01);
}
INSTANTIATE_TEST_SUITE_P(Of, LossyTurns, testing::Values(17, 64, 256),
                         [](const auto& info) { return std::to_string(info.param); });

// Where nothing is lost nobody waits: with turns some of so many would have had more of them than
// others.
TEST(NoTurns, AreTakenWhereNothingIsLost) {
  Options options{.connections = 256,
                  .domains = 1,
                  .link = {.rate = 1e9, .propagation = 5'000'000, .queue = 20'000'000},
                  .warm_up = 2};
  const double without = Worst(options).goodput;
  options.rota = options.lossy = true;
  const Report report = Worst(options);
  EXPECT_GE(report.goodput, without - 0.005);
  EXPECT_EQ(report.dropped, 0);
  EXPECT_GT(report.jain, 0.99);
}

// Without a rota there are more of them than packets that fit.
TEST(NoTurns, AreWhatMakesTheDifference) {
  Options options{.connections = 256, .domains = 1};
  EXPECT_GT(Worst(options).dropped, 0.05);
}

}  // namespace
}  // namespace model
