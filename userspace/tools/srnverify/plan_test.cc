// SPDX-License-Identifier: GPL-2.0-only
// What is planned, and what the plan must fit.
#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fault.h"
#include "memory_wire.h"

namespace srnverify {
namespace {

TEST(Plan, IsTheSameFromTheSameSeedAndAnotherFromAnother) {
  const Plan a = PlanOf(7), b = PlanOf(7), c = PlanOf(8);
  Planner one(a, 0), two(b, 0), other(c, 0);
  for (int i = 0; i < 10; ++i) {
    const uint64_t digest = one.Next().Digest();
    EXPECT_EQ(digest, two.Next().Digest());
    EXPECT_NE(digest, other.Next().Digest());
  }
}

TEST(Plan, ReachesEveryOperationManyShapesAndEachMtu) {
  std::set<std::string> ops;
  std::set<uint32_t> mtus, sizes;
  size_t most_pieces = 0, empty_pieces = 0, inlined = 0, unsignaled = 0, echoes = 0, windows = 0;
  const Plan plan = PlanOf(3);
  Planner planner(plan, 0);
  for (int i = 0; i < 30; ++i) {
    const Round round = planner.Next();
    windows += round.windows.size();
    for (const Step& step : round.steps) {
      ops.insert(fmt::format("{} {}", Name(plan.lanes[step.lane].type), Name(step.op)));
      sizes.insert(step.size);
      mtus.insert(plan.lanes[step.lane].mtu);
      most_pieces = std::max(most_pieces, step.pieces.size());
      empty_pieces += std::count(step.pieces.begin(), step.pieces.end(), 0u);
      inlined += step.inlined;
      unsignaled += !step.signaled;
      echoes += step.echo >= 0;
    }
  }
  EXPECT_EQ(ops.size(), 9u + 4u + 2u);
  EXPECT_EQ(mtus.size(), 5u);
  EXPECT_EQ(most_pieces, plan.features.max_sge);
  for (uint32_t size : {0u, 1u, 2u, 3u, 4u, 4095u, 4096u, 4097u, 65535u, 65536u, 65537u})
    EXPECT_TRUE(sizes.count(size)) << size;
  for (uint32_t more : {0u, 1u}) EXPECT_TRUE(sizes.count(plan.features.max_inline + more));
  EXPECT_GE(*sizes.rbegin(), 1u << 20);
  for (size_t count : {empty_pieces, inlined, unsignaled, echoes, windows}) EXPECT_GT(count, 10u);
}

TEST(Plan, LeavesOutWhatADeviceCannot) {
  Features features = All();
  for (const char* name : {"uc", "atomic", "window", "srq", "inline", "imm", "sge", "mtu-4096"})
    features.names.erase(name);
  features.mtu = 2048;
  const Plan plan = MakePlan(Recipe(), features);
  Planner planner(plan, 0);
  for (int i = 0; i < 20; ++i) {
    const Round round = planner.Next();
    EXPECT_TRUE(round.windows.empty() && round.words.empty());
    for (const Step& step : round.steps) {
      EXPECT_TRUE(!IsAtomic(step.op) && !HasImm(step.op) && step.op != Op::kSendInv);
      EXPECT_TRUE(!step.inlined && step.pieces.size() <= 1);
      EXPECT_NE(plan.lanes[step.lane].type, IBV_QPT_UC);
      EXPECT_LE(plan.lanes[step.lane].mtu, 2048u);
    }
    for (const Receive& receive : round.receives) EXPECT_GE(receive.lane, 0);
  }
  EXPECT_THAT(Absent(plan), testing::ElementsAre("uc", "imm", "atomic", "window", "srq", "inline",
                                                 "sge", "mtu-4096"));
}

// Beside what was asked for, UC has SENDs, which tell of WRITEs that arrived.
TEST(Plan, LooksAtOneOperationAlone) {
  const std::map<std::string, std::set<std::string>> wanted = {
      {"write,read,atomic,atomic-write,window",
       {"RC SEND", "RC SEND_WITH_IMM", "UC SEND", "UC SEND_WITH_IMM", "UD SEND",
        "UD SEND_WITH_IMM"}},
      {"send,read,atomic,atomic-write,window",
       {"RC WRITE", "RC WRITE_WITH_IMM", "UC SEND", "UC WRITE", "UC WRITE_WITH_IMM"}},
      {"send,write,atomic,atomic-write,window", {"RC READ"}},
      {"send,write,read,window", {"RC CMP_SWAP", "RC FETCH_ADD", "RC ATOMIC_WRITE"}},
  };
  for (const auto& [without, ops] : wanted) {
    Recipe recipe;
    std::istringstream names(without);
    for (std::string name; std::getline(names, name, ',');) recipe.without.push_back(name);
    const Plan plan = MakePlan(recipe, All());
    Planner planner(plan, 0);
    std::set<std::string> found;
    for (int i = 0; i < 20; ++i)
      for (const Step& step : planner.Next().steps)
        found.insert(fmt::format("{} {}", Name(plan.lanes[step.lane].type), Name(step.op)));
    EXPECT_EQ(found, ops) << "without " << without;
  }
  EXPECT_THROW(MakePlan({.without = {"send", "write", "read", "atomic", "atomic-write"}}, All()),
               Fault);
}

TEST(Plan, NamesWhatLossTakesFromAType) {
  const Plan lossy = PlanOf(1, /*lossy=*/true);
  for (const Lane& lane : lossy.lanes)
    EXPECT_TRUE(lane.reliable() || (!lane.srq && !lane.solicited)) << Name(lane.type);
  EXPECT_THAT(Absent(lossy), testing::ElementsAre("srq of UD (lossy)", "solicited of UC (lossy)",
                                                  "solicited of UD (lossy)"));
  EXPECT_THAT(Absent(PlanOf(1)), testing::IsEmpty());
}

TEST(Plan, PostsEveryOperationInBothWays) {
  const Plan plan = PlanOf(3);
  Planner planner(plan, 0);
  std::set<std::string> ways;
  for (int i = 0; i < 10; ++i)
    for (const Step& step : planner.Next().steps)
      ways.insert(fmt::format("{} {} {}", Name(plan.lanes[step.lane].type), Name(step.op),
                              step.wr ? "by ibv_wr" : "by ibv_post_send"));
  // ATOMIC WRITE has but one.
  EXPECT_EQ(ways.size(), 2 * (8u + 4u + 2u) + 1u);
  EXPECT_FALSE(ways.count("RC ATOMIC_WRITE by ibv_post_send"));
}

TEST(Plan, HasNoAtomicWriteWithoutTheCallsForIt) {
  Features features = All();
  features.names.erase("wr");
  const Plan plan = MakePlan(Recipe(), features);
  Planner planner(plan, 0);
  for (int i = 0; i < 5; ++i)
    for (const Step& step : planner.Next().steps)
      EXPECT_TRUE(!step.wr && step.op != Op::kAtomicWrite);
  EXPECT_THAT(Absent(plan), testing::ElementsAre("atomic-write", "wr"));
}

TEST(Plan, AlignsWhatAnAtomicWriteReaches) {
  const Plan plan = PlanOf(3);
  Planner planner(plan, 0);
  int plain = 0, by_window = 0;
  for (int i = 0; i < 20; ++i) {
    const Round round = planner.Next();
    const Layout layout(round);
    for (size_t s = 0; s < round.steps.size(); ++s) {
      if (round.steps[s].op != Op::kAtomicWrite) continue;
      EXPECT_EQ(layout.remote(s).offset % 8, 0u);
      ++(round.steps[s].window ? by_window : plain);
    }
  }
  EXPECT_GT(plain, 10);
  EXPECT_GT(by_window, 10);
}

// Who waits for no notification cannot wait for a solicited one.
TEST(Plan, HasNothingSolicitedWithoutEvents) {
  Features features = All();
  features.names.erase("events");
  const Plan plan = MakePlan(Recipe(), features);
  for (const Lane& lane : plan.lanes) EXPECT_TRUE(!lane.events && !lane.solicited);
  EXPECT_THAT(Absent(plan), testing::ElementsAre("events", "solicited"));
}

// A direction's third round is the last that may be its first with each.
TEST(Plan, BindsAWindowForBothEndsToInvalidateInThreeRounds) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const Plan plan = PlanOf(seed);
    Planner planner(plan, 0);
    std::map<std::pair<int, int>, std::set<bool>> invalidated;
    for (int i = 0; i < 3; ++i)
      for (const Window& window : planner.Next().windows)
        invalidated[{window.lane, window.side}].insert(window.remote_inv);
    for (const auto& [direction, by] : invalidated) EXPECT_EQ(by.size(), 2u) << seed;
    EXPECT_EQ(invalidated.size(), 12u) << seed;
  }
}

TEST(Plan, GivesEachTypeAllMtusAndSharedQueues) {
  Recipe recipe;
  for (recipe.seed = 1; recipe.seed <= 20; ++recipe.seed) {
    const Plan plan = MakePlan(recipe, All());
    EXPECT_THAT(NotPlanned(plan, {"all"}), testing::IsEmpty());
    for (const Lane& lane : plan.lanes)
      EXPECT_TRUE(lane.connected() || lane.mtu == plan.features.mtu) << lane.mtu;
  }
}

TEST(Plan, SaysWhatOfTheNeedItHasNot) {
  Features features = All();
  for (const char* name : {"uc", "window", "mtu-4096"}) features.names.erase(name);
  Recipe recipe;
  recipe.threads = 1;
  recipe.qps = 2;
  recipe.mtu = 512;
  const Plan plan = MakePlan(recipe, features);
  EXPECT_THAT(NotPlanned(plan, {"rc", "imm", "mtu-512"}), testing::IsEmpty());
  EXPECT_THAT(NotPlanned(plan, {"rc", "window", "mtu-256", "mtu-4096"}),
              testing::ElementsAre("window", "mtu-256 of RC", "mtu-4096"));
  EXPECT_THAT(
      NotPlanned(plan, {"all"}),
      testing::AllOf(testing::Contains("uc"), testing::Contains("window"),
                     testing::Contains("mtu-256 of RC"), testing::Contains("mtu-1024 of RC"),
                     testing::Contains("mtu-2048 of RC"), testing::Contains("mtu-4096"),
                     testing::Not(testing::Contains("mtu-512 of RC"))));
}

TEST(Plan, SaysOfWhichTypeAMannerIsMissing) {
  for (const auto& [name, is] : std::map<std::string, bool Lane::*>{{"srq", &Lane::srq},
                                                                    {"events", &Lane::events},
                                                                    {"solicited", &Lane::solicited},
                                                                    {"cq-ex", &Lane::cq_ex}}) {
    Plan plan = PlanOf(1);
    for (Lane& lane : plan.lanes)
      if (lane.type == IBV_QPT_RC) lane.*is = false;
    EXPECT_THAT(NotPlanned(plan, {name}), testing::ElementsAre(name + " of RC"));
    EXPECT_THAT(NotPlanned(plan, {"all"}), testing::Contains(name + " of RC"));
  }
}

// What arrives of some rounds on a wire that has no fault.
Tally TallyOf(const Plan& plan) {
  Planner planner(plan, 0);
  Tally all;
  for (int i = 0; i < 8; ++i) {
    const Round round = planner.Next();
    Wire wire(plan, round);
    wire.Run();
    for (int side = 0; side < kSides; ++side) all.Add(wire.checker(side).tally());
  }
  return all;
}

// Of the keys that are to be there, each is told of when it alone is missing.
TEST(Plan, SaysWhatWasNotReached) {
  const Plan plan = PlanOf(1);
  const Tally all = TallyOf(plan);
  EXPECT_THAT(NotReached(plan, all), testing::IsEmpty());
  EXPECT_THAT(NotReached(plan, Tally()),
              testing::IsSupersetOf(
                  {"RC SEND_WITH_INV", "RC, by a window", "RC, SRQ",         "UD, SRQ",
                   "RC, inline",       "UC, inline",      "UD, inline",      "RC, MTU 256",
                   "RC, MTU 4096",     "UC, MTU 1024",    "UD SEND",         "RC, notified",
                   "UC, notified",     "UD, notified",    "RC, solicited",   "UC, solicited",
                   "UD, solicited",    "RC, by ibv_wr_*", "UD, by ibv_wr_*", "RC, by ibv_cq_ex",
                   "UC, by ibv_cq_ex", "RC ATOMIC_WRITE"}));
  EXPECT_EQ(NotReached(plan, Tally()).size(), all.counts.size() + all.manners.size());
  for (const auto& [key, count] : all.counts) {
    Tally less = all;
    less.counts.erase(key);
    EXPECT_THAT(NotReached(plan, less), testing::ElementsAre(key));
  }
  for (const auto& [key, count] : all.manners) {
    Tally less = all;
    less.manners.erase(key);
    EXPECT_THAT(NotReached(plan, less), testing::ElementsAre(key));
  }
}

// With each feature left out in turn: what is then not planned is not waited for.
TEST(Plan, ReachesAllThatItHasWithoutAnyFeature) {
  for (const std::string& name : FeatureNames()) {
    if (name == "rc" || name.starts_with("mtu-")) continue;
    Features features = All();
    features.names.erase(name);
    Recipe recipe;
    recipe.seed = 1;
    recipe.threads = 1;
    recipe.qps *= 2;
    const Plan plan = MakePlan(recipe, features);
    EXPECT_THAT(NotReached(plan, TallyOf(plan)), testing::IsEmpty()) << "without " << name;
  }
}

TEST(Plan, SaysOfWhichTypeNothingArrived) {
  const Plan plan = PlanOf(1);
  Tally tally;
  EXPECT_THAT(Silent(plan, tally), testing::ElementsAre("RC", "UC", "UD"));
  tally.counts["RC WRITE"].messages = 1;
  tally.counts["UD SEND"].lost = 1;
  EXPECT_THAT(Silent(plan, tally), testing::ElementsAre("UC", "UD"));
}

// Else there would be no RNR on a shared queue.
TEST(Plan, NoDatagramGoesToAQueueThatIsLate) {
  const Plan plan = PlanOf(2);
  Planner planner(plan, 0);
  int late = 0, shared = 0;
  for (int i = 0; i < 60; ++i) {
    const Round round = planner.Next();
    late += round.late;
    if (!round.late) continue;
    for (const Step& step : round.steps) {
      const Lane& lane = plan.lanes[step.lane];
      EXPECT_TRUE(lane.reliable() || !lane.srq);
      shared += lane.srq;
    }
  }
  EXPECT_GT(late, 2);
  EXPECT_GT(shared, 5);
}

// However few rounds there are.
TEST(Plan, DatagramsGoInTheFirstRound) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const Plan plan = PlanOf(seed);
    const Round round = Planner(plan, 0).Next();
    EXPECT_TRUE(std::ranges::any_of(round.steps, [&](const Step& step) {
      return plan.lanes[step.lane].type == IBV_QPT_UD;
    })) << seed;
    EXPECT_FALSE(round.late) << seed;
  }
}

TEST(Plan, FitsTheArena) {
  for (int qps : {1, 6, 40}) {
    uint64_t most = 0;
    Recipe recipe;
    recipe.threads = 1;
    recipe.qps = qps;
    for (recipe.seed = 1; recipe.seed <= 12; ++recipe.seed) {
      const Plan plan = MakePlan(recipe, All());
      Planner planner(plan, 0);
      for (int i = 0; i < 8; ++i) {
        const Layout layout(planner.Next());
        most = std::max({most, layout.size(0), layout.size(1)});
      }
    }
    EXPECT_LT(most, ArenaSize(recipe) * 2 / 3) << qps;
  }
}

}  // namespace
}  // namespace srnverify
