// SPDX-License-Identifier: GPL-2.0-only
#include "report.h"

#include <set>

#include <fmt/format.h>

#include "options.h"

namespace srnverify {
namespace {

std::string Or(const std::vector<std::string>& names, const char* none) {
  return names.empty() ? none : fmt::format("{}", fmt::join(names, ", "));
}

nlohmann::json Lanes(const Plan& plan) {
  nlohmann::json lanes = nlohmann::json::array();
  for (const Lane& lane : plan.lanes)
    lanes.push_back({{"type", Name(lane.type)},
                     {"mtu", lane.mtu},
                     {"srq", lane.srq},
                     {"events", lane.events},
                     {"solicited", lane.solicited},
                     {"cq_ex", lane.cq_ex}});
  return lanes;
}

}  // namespace

void PrintPlan(const Plan& plan) {
  fmt::print("the plan: {}\n", Options(plan.recipe));
  std::set<uint32_t> mtus;
  for (const Lane& lane : plan.lanes) mtus.insert(lane.mtu);
  fmt::print("{} QPs in {} threads, path MTUs {}\n", plan.lanes.size(), plan.recipe.threads,
             fmt::join(mtus, " "));
  fmt::print("not in the plan: {}\n", Or(Absent(plan), "nothing"));
  if (plan.features.inv_by_kernel_flag)
    fmt::print("let pass: rxe's flag in completions of SEND_WITH_INV\n");
  std::fflush(stdout);
}

void PrintOutcome(const Outcome& outcome) {
  uint64_t messages = 0, bytes = 0;
  for (const auto& [name, count] : outcome.tally.counts) {
    fmt::print("  {:<20}{:>8} messages {:>12} bytes", name, count.messages, count.bytes);
    if (count.lost + count.twice > 0)
      fmt::print(", {} lost, {} came twice", count.lost, count.twice);
    fmt::print("\n");
    messages += count.messages;
    bytes += count.bytes;
  }
  for (const auto& [name, count] : outcome.tally.manners)
    fmt::print("  {:<20}{:>8} messages\n", name, count);
  if (outcome.plan && !outcome.fault) {
    fmt::print("not reached: {}\n", Or(NotReached(*outcome.plan, outcome.tally), "nothing"));
    fmt::print("passed: {} messages, {} bytes in {} rounds, seed {}\n", messages, bytes,
               outcome.rounds, outcome.plan->recipe.seed);
  }
  std::fflush(stdout);
}

std::string Failure(const Outcome& outcome, const std::optional<Recipe>& recipe,
                    const std::string& command) {
  std::string text = fmt::format("srnverify: {}\nsrnverify: this end: {}\n",
                                 outcome.fault.value_or("no fault"), command);
  if (!outcome.plan && !recipe) return text + "srnverify: FAILED before there was a plan\n";
  const Recipe& run = outcome.plan ? outcome.plan->recipe : *recipe;
  return text + fmt::format("srnverify: the plan: {}\nsrnverify: FAILED, seed {}\n", Options(run),
                            run.seed);
}

nlohmann::json Json(const Outcome& outcome, uint64_t seed) {
  nlohmann::json out = {{"seed", seed}, {"passed", !outcome.fault}, {"rounds", outcome.rounds}};
  if (outcome.fault) out["fault"] = *outcome.fault;
  if (outcome.plan) {
    out["not_in_plan"] = Absent(*outcome.plan);
    out["not_reached"] = NotReached(*outcome.plan, outcome.tally);
    out["lanes"] = Lanes(*outcome.plan);
  }
  for (const auto& [name, count] : outcome.tally.counts)
    out["arrived"][name] = {{"messages", count.messages},
                            {"bytes", count.bytes},
                            {"lost", count.lost},
                            {"twice", count.twice}};
  out["manners"] = outcome.tally.manners;
  return out;
}

}  // namespace srnverify
