// SPDX-License-Identifier: GPL-2.0-only
// The same with lanes that may lose and repeat messages: no more than that is forgiven.
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grh.h"
#include "memory_wire.h"

namespace srnverify {
namespace {

const Wanted kSend = [](const Plan& plan, const Step& s) {
  return IsType(plan, s, IBV_QPT_RC) && IsSend(s.op) && s.size > 2000;
};

TEST(LossyChecker, LetsUcAndUdLoseAndRepeat) {
  int lost = 0, twice = 0;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const Plan plan = PlanOf(seed, /*lossy=*/true);
    Planner planner(plan, 0);
    for (int i = 0; i < 6; ++i) {
      const Round round = planner.Next();
      Wire wire(plan, round);
      std::set<std::pair<int, int>> repeated;
      for (size_t s = 0; s < round.steps.size(); ++s) {
        const Step& step = round.steps[s];
        if (!plan.Lossy(plan.lanes[step.lane])) continue;
        if (s % 3 == 0) wire.lost.insert(s), ++lost;
        if (s % 3 == 1 && IsSend(step.op) && repeated.emplace(step.lane, step.from).second)
          wire.twice.insert(s), ++twice;
      }
      EXPECT_EQ(wire.Fault(), "") << "seed " << seed << " round " << i;
    }
  }
  EXPECT_GT(lost, 20);
  EXPECT_GT(twice, 5);
}

TEST(LossyChecker, ReportsAWrongByte) {
  for (ibv_qp_type type : {IBV_QPT_UC, IBV_QPT_UD})
    ExpectReported(
        [type](const Plan& plan, const Step& s) {
          return IsType(plan, s, type) && IsSend(s.op) && s.size > 100;
        },
        AtReceiver([type](Wire& wire, Event& e) {
          *wire.InReceive(*e.receive, 99 + (type == IBV_QPT_UD ? kGrhSize : 0)) ^= std::byte{1};
          return true;
        }),
        "that no message has", /*lossy=*/true);
}

TEST(LossyChecker, ReportsAMessageThatIsCut) {
  ExpectReported(
      [](const Plan& plan, const Step& s) {
        return IsType(plan, s, IBV_QPT_UC) && Consumes(s.op) && s.size > 3000;
      },
      ReceivedWith([](ibv_wc& wc) { wc.byte_len -= 256; }), "that no message has",
      /*lossy=*/true);
}

// A lost WRITE leaves whole packets from its beginning on, and nothing else.
TEST(LossyChecker, ReportsAWriteWithAHole) {
  const Wanted wanted = [](const Plan& plan, const Step& s) {
    return IsType(plan, s, IBV_QPT_UC) && s.op == Op::kWrite && s.size > 3 * plan.lanes[s.lane].mtu;
  };
  const auto cut = [](size_t from_packets, bool hole) {
    return [=](Wire& wire, size_t step) {
      wire.memory = [=](Wire& w) {
        const Step& s = w.round().steps[step];
        const uint32_t mtu = w.plan().lanes[s.lane].mtu;
        const size_t offset = from_packets * mtu;
        const ConstBytes before = w.before(1 - s.from);
        const uint64_t at = w.layout().remote(step).offset;
        const size_t length = hole ? mtu : s.size - offset;
        std::copy_n(before.begin() + at + offset, length, w.Remote(step) + offset);
      };
    };
  };
  ExpectReported(wanted, cut(1, /*hole=*/true), "of remote memory of ", /*lossy=*/true);
  WithRounds(
      [&](const Plan& plan, const Round& round) {
        const auto step = FindStep(round, [&](const Step& s) { return wanted(plan, s); });
        if (!step) return false;
        Wire wire(plan, round);
        cut(2, /*hole=*/false)(wire, *step);
        EXPECT_EQ(wire.Fault(), "");
        return true;
      },
      /*lossy=*/true);
}

// What two sides have seen of a round of which `lost` says what does not arrive.
Tally TallyOf(const Plan& plan, const Round& round, const Wanted& lost) {
  Wire wire(plan, round);
  for (size_t i = 0; i < round.steps.size(); ++i)
    if (lost(plan, round.steps[i])) wire.lost.insert(i);
  EXPECT_EQ(wire.Fault(), "");
  Tally all;
  for (int side = 0; side < kSides; ++side) all.Add(wire.checker(side).tally());
  return all;
}

TEST(LossyChecker, SaysOfWhichTypeTooMuchWasLost) {
  Plan plan = PlanOf(3, /*lossy=*/true);
  const Round round = Planner(plan, 0).Next();
  const auto lost_of = [&](ibv_qp_type type, size_t every, size_t of) {
    size_t seen = 0;
    return TallyOf(plan, round, [&, type](const Plan& p, const Step& s) {
      return IsType(p, s, type) && seen++ % of < every;
    });
  };
  EXPECT_THAT(LostTooMany(plan, lost_of(IBV_QPT_UC, 0, 1)), testing::IsEmpty());
  for (const auto& [type, name] : {std::pair{IBV_QPT_UC, "UC ("}, {IBV_QPT_UD, "UD ("}}) {
    EXPECT_THAT(LostTooMany(plan, lost_of(type, 1, 3)), testing::IsEmpty());
    EXPECT_THAT(LostTooMany(plan, lost_of(type, 2, 3)),
                testing::ElementsAre(testing::StartsWith(name)));
    EXPECT_THAT(LostTooMany(plan, lost_of(type, 1, 1)),
                testing::ElementsAre(testing::StartsWith(name)));
  }
  plan.recipe.most_lost = 10;
  EXPECT_THAT(LostTooMany(plan, lost_of(IBV_QPT_UD, 1, 3)),
              testing::ElementsAre(testing::StartsWith("UD (")));
  plan.recipe.most_lost = 0;
  EXPECT_THAT(LostTooMany(plan, lost_of(IBV_QPT_UD, 0, 1)), testing::IsEmpty());
  EXPECT_THAT(LostTooMany(plan, lost_of(IBV_QPT_UD, 1, 100)),
              testing::ElementsAre(testing::StartsWith("UD (1 of ")));
}

// Of 200 messages a half is 100.
TEST(LossyChecker, ForgivesExactlyWhatTheRecipeSays) {
  Plan plan = PlanOf(1, /*lossy=*/true);
  Tally tally;
  tally.counts["UC SEND"] = {.messages = 60, .lost = 40};
  tally.counts["UC WRITE"] = {.messages = 40, .lost = 60};
  EXPECT_THAT(LostTooMany(plan, tally), testing::IsEmpty());
  ++tally.counts["UC WRITE"].lost;
  EXPECT_THAT(LostTooMany(plan, tally), testing::ElementsAre("UC (101 of 201)"));
}

TEST(LossyChecker, NothingIsForgivenToRc) {
  ExpectReported(
      kSend, [](Wire& wire, size_t step) { wire.lost.insert(step); }, "RC", /*lossy=*/true);
}

}  // namespace
}  // namespace srnverify
