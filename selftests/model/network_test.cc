// SPDX-License-Identifier: GPL-2.0-only
// What the module's windows and scoreboard make of a bottleneck of 200 Mb/s with a queue of 200000
// bytes, and of packets that are lost beside it.
#include "network.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include <gtest/gtest.h>

#include "reading.h"
#include "worst.h"

namespace model {
namespace {

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
  const Report report =
      Worst({.link = {.propagation = propagation, .loss = loss}, .program = {.depth = 64}});
  EXPECT_GE(report.goodput, path.least * (1 - loss));
}

INSTANTIATE_TEST_SUITE_P(Of, Lossy,
                         testing::Values(Path{1, 200, 0.97}, Path{1, 1000, 0.97},
                                         Path{1, 2000, 0.97}, Path{1, 10000, 0.97},
                                         Path{5, 200, 0.90}, Path{5, 1000, 0.90},
                                         Path{5, 2000, 0.90}, Path{5, 10000, 0.90}),
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
                               .program = {.depth = 8},
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
  bool spread = false;
};

class Wide : public testing::TestWithParam<Pipe> {};

// 2.5 MB fit on the way at 100 ms. Without loss the goal is 0.95, from four seconds on, with one
// packet in a hundred lost 0.97 of what is not, with five 0.90; where less is named it is not
// reached: bounds against becoming worse. From 50 ms on what leaves may be spread (spread.h).
TEST_P(Wide, IsFilled) {
  const Pipe& path = GetParam();
  const Report report = Worst({.spread = path.spread,
                               .link = {.propagation = path.rtt * uint64_t{1'000'000} / 2,
                                        .queue = static_cast<uint64_t>(path.queue) * 1000,
                                        .loss = path.loss / 1000.0},
                               .program = {.depth = 256},
                               .warm_up = 4,
                               .seconds = 30});
  EXPECT_GE(report.goodput, path.least);
  // A SACK of such a path is long: if it went as often as others, they would take a fifth of it
  // back.
  EXPECT_LE(report.told, 0.1);
  if (path.loss == 0) {
    EXPECT_EQ(report.dropped, 0);
  }
}
INSTANTIATE_TEST_SUITE_P(
    Path, Wide,
    testing::Values(Pipe{20, 200, 0, 0.95}, Pipe{50, 200, 0, 0.95}, Pipe{100, 200, 0, 0.95},
                    Pipe{100, 400, 0, 0.95}, Pipe{100, 2000, 0, 0.95}, Pipe{20, 200, 10, 0.96},
                    Pipe{50, 200, 10, 0.93}, Pipe{100, 200, 1, 0.88}, Pipe{100, 200, 10, 0.79},
                    Pipe{100, 200, 50, 0.08}, Pipe{50, 200, 0, 0.95, true},
                    Pipe{100, 200, 0, 0.95, true}, Pipe{100, 400, 0, 0.95, true},
                    Pipe{100, 2000, 0, 0.95, true}, Pipe{50, 200, 10, 0.93, true},
                    Pipe{100, 200, 1, 0.91, true}, Pipe{100, 200, 10, 0.95, true},
                    Pipe{100, 200, 50, 0.64, true}),
    [](const auto& info) {
      return std::to_string(info.param.rtt) + "msQueue" + std::to_string(info.param.queue) +
             "Loss" + std::to_string(info.param.loss) + (info.param.spread ? "Spread" : "");
    });

struct Asked {
  int rtt;   // us
  int loss;  // of 1000
  double least;
};

class Read : public testing::TestWithParam<Asked> {};

// A request that is lost keeps what is behind it waiting, and all of that is answered at once: the
// goal, 0.97 of what is not lost, is not reached where that is more than the queue takes. Bounds
// against becoming worse.
TEST_P(Read, KeepsItsRate) {
  const Asked& path = GetParam();
  double worst = 2;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Report report = SimulateReads(
        {.link = {.propagation = path.rtt * uint64_t{1000} / 2, .loss = path.loss / 1000.0},
         .warm_up = 1,
         .seconds = 4,
         .seed = seed});
    EXPECT_EQ(report.unrepaired, 0u) << "seed " << seed;
    worst = std::min(worst, report.goodput);
  }
  std::printf("# goodput %.3f of the wire\n", worst);
  EXPECT_GE(worst, path.least);
}
INSTANTIATE_TEST_SUITE_P(
    Of, Read,
    testing::Values(Asked{200, 0, 0.97}, Asked{200, 10, 0.9}, Asked{1000, 10, 0.9},
                    Asked{10000, 0, 0.97}, Asked{10000, 1, 0.93}, Asked{10000, 10, 0.6},
                    Asked{10000, 50, 0.15}, Asked{100000, 0, 0.25}, Asked{100000, 10, 0.08}),
    [](const auto& info) {
      return std::to_string(info.param.rtt) + "usLoss" + std::to_string(info.param.loss);
    });

struct Brook {
  int rtt;    // ms
  int queue;  // KB
  double goodput, dropped;
  double policed_goodput, policed_dropped;
  bool spread = false;
};

class Shallow : public testing::TestWithParam<Brook> {
 protected:
  Report Run(bool polices) {
    const Brook& path = GetParam();
    return Worst({.spread = path.spread,
                  .link = {.propagation = path.rtt * uint64_t{1'000'000} / 2,
                           .queue = static_cast<uint64_t>(path.queue) * 1000,
                           .polices = polices},
                  .program = {.depth = 64},
                  .warm_up = 4,
                  .seconds = 30});
  }
};

// A queue in which no packet waits for long enough to be seen, or none at all: what is too much is
// seen by what is lost. Of that much goes again, time after time, where the window grows in spite
// of it. Bounds against becoming worse: with 256 packets or fewer each 32 leave at once, which is
// too much for these where what is out is not spread (spread.h).
TEST_P(Shallow, QueueIsNotKeptFull) {
  const Report report = Run(false);
  EXPECT_GE(report.goodput, GetParam().goodput);
  EXPECT_LE(report.dropped, GetParam().dropped);
}

TEST_P(Shallow, PolicerIsObeyed) {
  const Report report = Run(true);
  EXPECT_GE(report.goodput, GetParam().policed_goodput);
  EXPECT_LE(report.dropped, GetParam().policed_dropped);
}
INSTANTIATE_TEST_SUITE_P(Path, Shallow,
                         testing::Values(Brook{20, 20, 0.6, 0.03, 0.35, 0.13},
                                         Brook{100, 20, 0.12, 0.03, 0.075, 0.10},
                                         Brook{100, 50, 0.3, 0.03, 0.08, 0.08},
                                         Brook{100, 20, 0.5, 0.03, 0.45, 0.02, true},
                                         Brook{100, 50, 0.7, 0.02, 0.7, 0.02, true}),
                         [](const auto& info) {
                           return std::to_string(info.param.rtt) + "msQueue" +
                                  std::to_string(info.param.queue) +
                                  (info.param.spread ? "Spread" : "");
                         });

struct Crammed {
  int connections;
  int rtt;    // ms
  int queue;  // KB
  double goodput, dropped, jain;
  double policed_goodput, policed_dropped, policed_jain;
  bool spread = false;
};

class Several : public testing::TestWithParam<Crammed> {
 protected:
  Report Run(bool polices) {
    const Crammed& path = GetParam();
    return Worst({.connections = path.connections,
                  .domains = 1,
                  .spread = path.spread,
                  .link = {.propagation = path.rtt * uint64_t{1'000'000} / 2,
                           .queue = static_cast<uint64_t>(path.queue) * 1000,
                           .polices = polices},
                  .program = {.depth = 64},
                  .warm_up = 4,
                  .seconds = 10});
  }
};

// What one takes off leaves a queue that others fill as full as it was: whoever takes that for
// chance, of which a window takes no notice, or is the only one that spreads what it sends, drops
// more, or leaves the others less. Bounds against becoming worse.
TEST_P(Several, FillNoShortQueueForEver) {
  const Report report = Run(false);
  EXPECT_GE(report.goodput, GetParam().goodput);
  EXPECT_LE(report.dropped, GetParam().dropped);
  EXPECT_GE(report.jain, GetParam().jain);
}

TEST_P(Several, ObeyPolicer) {
  const Report report = Run(true);
  EXPECT_GE(report.goodput, GetParam().policed_goodput);
  EXPECT_LE(report.dropped, GetParam().policed_dropped);
  EXPECT_GE(report.jain, GetParam().policed_jain);
}
INSTANTIATE_TEST_SUITE_P(
    Share, Several,
    testing::Values(Crammed{4, 20, 20, 0.98, 0.145, 0.9, 0.8, 0.135, 0.85},
                    Crammed{4, 20, 50, 0.98, 0.02, 0.97, 0.85, 0.135, 0.85},
                    Crammed{12, 20, 20, 0.98, 0.175, 0.75, 0.95, 0.175, 0.8},
                    Crammed{4, 100, 20, 0.38, 0.055, 0.85, 0.2, 0.12, 0.8},
                    Crammed{4, 100, 50, 0.65, 0.032, 0.6, 0.25, 0.105, 0.8},
                    Crammed{12, 100, 20, 0.84, 0.115, 0.84, 0.4, 0.15, 0.7},
                    Crammed{4, 100, 20, 0.8, 0.03, 0.85, 0.8, 0.03, 0.85, true},
                    Crammed{4, 100, 50, 0.65, 0.032, 0.6, 0.8, 0.03, 0.8, true},
                    Crammed{12, 100, 20, 0.95, 0.13, 0.9, 0.9, 0.15, 0.8, true}),
    [](const auto& info) {
      return std::to_string(info.param.connections) + "At" + std::to_string(info.param.rtt) +
             "msQueue" + std::to_string(info.param.queue) + (info.param.spread ? "Spread" : "");
    });

struct Beside {
  int rivals;
  int rtt;       // ms
  int queue;     // KB
  double rival;  // at least: what they have together
  int from = 0;  // seconds until they begin, in which it learns what is lost
};

class Rivals : public testing::TestWithParam<Beside> {};

// Who halves its window for each loss has next to nothing beside one that does not where the queue
// is too short to be seen: 0.01 of the wire, of which no bound would tell anything, so it is only
// printed. Where it is seen they have most of it. Bounds against becoming worse, also where that
// one was alone for long before they came.
TEST_P(Rivals, AreLeftTheirPart) {
  const Beside& path = GetParam();
  const Report report = Worst({.rivals = path.rivals,
                               .rivals_from = static_cast<double>(path.from),
                               .link = {.propagation = path.rtt * uint64_t{1'000'000} / 2,
                                        .queue = static_cast<uint64_t>(path.queue) * 1000},
                               .program = {.depth = 64},
                               .warm_up = path.from + 4.0,
                               .seconds = 20});
  std::printf("# %.3f of the others\n", report.rival);
  EXPECT_GE(report.rival, path.rival);
}
INSTANTIATE_TEST_SUITE_P(With, Rivals,
                         testing::Values(Beside{1, 20, 20, 0}, Beside{3, 20, 20, 0.025},
                                         Beside{3, 20, 200, 0.8}, Beside{3, 100, 20, 0},
                                         Beside{3, 100, 200, 0.25}, Beside{3, 20, 20, 0.025, 20},
                                         Beside{3, 100, 20, 0, 20}),
                         [](const auto& info) {
                           return std::to_string(info.param.rivals) + "At" +
                                  std::to_string(info.param.rtt) + "msQueue" +
                                  std::to_string(info.param.queue) +
                                  (info.param.from ? "Later" : "");
                         });

// A thousand packets a second need a hundred in flight. What the program has then, all at once,
// does not find a window that was never used, and a queue that overflows.
class Limit : public testing::TestWithParam<bool> {};

TEST_P(Limit, OpensNoWindow) {
  Options options{.spread = GetParam(),
                  .link = {.propagation = 50'000'000, .queue = 400'000},
                  .program = {.every = 1'000'000},
                  .warm_up = 10,
                  .seconds = 2};
  EXPECT_LE(Worst(options).cwnd, GetParam() ? 320 : 300);
  options.program.more_at = 11'000'000'000;
  options.program.more = 2500;
  EXPECT_EQ(Worst(options).dropped, 0);
}
INSTANTIATE_TEST_SUITE_P(Program, Limit, testing::Bool(),
                         [](const auto& info) { return info.param ? "Spread" : "Plain"; });

struct Dark {
  int rtt;   // ms
  int dark;  // ms
  double least;
};

class Outage : public testing::TestWithParam<Dark> {};

// From a second after the path is back: what it took in between is not how long it is, and not all
// that was out before it was lost or spared. Long ones have not filled it again by then: bounds
// against becoming worse.
TEST_P(Outage, IsOver) {
  const Dark& path = GetParam();
  const double begins = 3, ends = begins + path.dark / 1000.0;
  const Report report = Worst({.link = {.propagation = path.rtt * uint64_t{1'000'000} / 2,
                                        .dark_from = static_cast<uint64_t>(begins * 1e9),
                                        .dark_until = static_cast<uint64_t>(ends * 1e9)},
                               .program = {.depth = 64},
                               .warm_up = ends + 1,
                               .seconds = 3});
  EXPECT_GE(report.goodput, path.least);
}
INSTANTIATE_TEST_SUITE_P(Path, Outage,
                         testing::Values(Dark{1, 50, 0.9}, Dark{1, 200, 0.9}, Dark{1, 3000, 0.9},
                                         Dark{20, 200, 0.45}, Dark{100, 200, 0.15},
                                         Dark{100, 3000, 0.15}),
                         [](const auto& info) {
                           return std::to_string(info.param.dark) + "msOf" +
                                  std::to_string(info.param.rtt) + "ms";
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

struct Slow {
  double rate;  // Mb/s
  int rtt;      // us
  double dropped;
  bool spread = false;
};

class Domains : public testing::TestWithParam<Slow> {};

// 64 with a domain each fill 200 KB of a slow wire, which take 200 ms and 320: to whose first
// answer comes from behind that each path is very long. What was lost until then was lost by the
// queue, so they mind it, whether they spread what they send over such paths or not. Bounds against
// becoming worse.
TEST_P(Domains, TakeNoQueueForAPath) {
  const Slow& path = GetParam();
  const Report report =
      Worst({.connections = 64,
             .domains = 64,
             .spread = path.spread,
             .link = {.rate = path.rate * 1e6, .propagation = path.rtt * uint64_t{1000} / 2},
             .program = {.depth = 64},
             .seconds = 10});
  EXPECT_LE(report.dropped, path.dropped);
}
INSTANTIATE_TEST_SUITE_P(Of64, Domains,
                         testing::Values(Slow{5, 200, 0.47}, Slow{8, 200, 0.72},
                                         Slow{5, 50000, 0.41}, Slow{8, 50000, 0.62},
                                         Slow{5, 200, 0.47, true}, Slow{8, 200, 0.72, true},
                                         Slow{5, 50000, 0.41, true}, Slow{8, 50000, 0.635, true}),
                         [](const auto& info) {
                           return std::to_string(static_cast<int>(info.param.rate)) + "MbsAt" +
                                  std::to_string(info.param.rtt) + "us" +
                                  (info.param.spread ? "Spread" : "");
                         });

struct Forgetful {
  int rtt;  // ms
  bool reads;
  double least;
};

class Shedding : public testing::TestWithParam<Forgetful> {};

// One packet in a hundred is lost, and four times a second the receiver gives up what it holds, and
// says nothing: that is seen by a probe or two, also where what was sent last is a READ, and not
// packet by packet.
TEST_P(Shedding, IsSeenSoon) {
  const Forgetful& path = GetParam();
  const Report report =
      Worst({.link = {.propagation = path.rtt * uint64_t{1'000'000} / 2, .loss = 0.01},
             .program = {.depth = 1, .reads = path.reads},
             .sheds = 0.25,
             .seconds = 30});
  EXPECT_GE(report.goodput, path.least);
}
INSTANTIATE_TEST_SUITE_P(At, Shedding,
                         testing::Values(Forgetful{1, false, 0.5}, Forgetful{1, true, 0.5},
                                         Forgetful{20, false, 0.03}, Forgetful{20, true, 0.03},
                                         Forgetful{100, false, 0.003}, Forgetful{100, true, 0.003}),
                         [](const auto& info) {
                           return std::to_string(info.param.rtt) + "ms" +
                                  (info.param.reads ? "Reads" : "");
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
