// SPDX-License-Identifier: GPL-2.0-only
#include "reach.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include <fmt/format.h>

namespace srnverify {
namespace {

constexpr ibv_qp_type kTypes[] = {IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD};

std::string KeyOf(const Lane& lane, Op op) {
  return fmt::format("{} {}", Name(lane.type), Name(op));
}
std::string MtuKey(ibv_qp_type type, uint32_t mtu) {
  return fmt::format("{}, MTU {}", Name(type), mtu);
}
std::string SharedKey(ibv_qp_type type) { return fmt::format("{}, SRQ", Name(type)); }
std::string NotifiedKey(ibv_qp_type type) { return fmt::format("{}, notified", Name(type)); }
std::string SolicitedKey(ibv_qp_type type) { return fmt::format("{}, solicited", Name(type)); }
std::string WrKey(ibv_qp_type type) { return fmt::format("{}, by ibv_wr_*", Name(type)); }
std::string CqExKey(ibv_qp_type type) { return fmt::format("{}, by ibv_cq_ex", Name(type)); }
std::string WindowKey(ibv_qp_type type) { return fmt::format("{}, by a window", Name(type)); }
std::string InlineKey(ibv_qp_type type) { return fmt::format("{}, inline", Name(type)); }

// All keys that messages of this lane have, sooner or later.
std::set<std::string> KeysOf(const Lane& lane, const Features& features) {
  std::set<std::string> keys;
  for (Op op : OpsOf(lane.type, features)) keys.insert(KeyOf(lane, op));
  if (lane.connected()) keys.insert(MtuKey(lane.type, lane.mtu));
  if (lane.srq) keys.insert(SharedKey(lane.type));
  if (lane.solicited)
    keys.insert(SolicitedKey(lane.type));
  else if (lane.events)
    keys.insert(NotifiedKey(lane.type));
  if (features.Has("wr")) keys.insert(WrKey(lane.type));
  if (lane.cq_ex) keys.insert(CqExKey(lane.type));
  if (features.Has("inline")) keys.insert(InlineKey(lane.type));
  if (HasWindow(lane, features)) {
    if (InvalidatesWindows(features)) keys.insert(KeyOf(lane, Op::kSendInv));
    keys.insert(WindowKey(lane.type));
  }
  return keys;
}

bool HasKey(const Tally& tally, const std::string& key) {
  const auto count = tally.counts.find(key);
  return (count != tally.counts.end() && count->second.messages > 0) || tally.manners.count(key);
}

// A feature that lanes have or have not, and the types that can have it.
struct Kind {
  std::function<bool(const Lane&)> is;
  std::function<bool(ibv_qp_type, const Recipe&)> can;
};

bool CanAlways(ibv_qp_type, const Recipe&) { return true; }

std::optional<Kind> KindOf(const std::string& feature) {
  if (feature.starts_with("mtu-")) {
    const auto mtu = static_cast<uint32_t>(std::stoul(feature.substr(4)));
    return Kind{[mtu](const Lane& lane) { return lane.mtu == mtu; },
                [](ibv_qp_type type, const Recipe&) { return type != IBV_QPT_UD; }};
  }
  if (feature == "srq") return Kind{[](const Lane& lane) { return lane.srq; }, CanShareQueue};
  if (feature == "solicited")
    return Kind{[](const Lane& lane) { return lane.solicited; }, CanBeSolicited};
  if (feature == "cq-ex") return Kind{[](const Lane& lane) { return lane.cq_ex; }, CanAlways};
  if (feature == "events")
    return Kind{[](const Lane& lane) { return lane.events && !lane.solicited; }, CanAlways};
  return std::nullopt;
}

// Types that have lanes in the plan, but none of this kind.
void AddTypesWithout(const Plan& plan, const std::string& feature, const Kind& kind,
                     std::vector<std::string>& missing) {
  for (ibv_qp_type type : kTypes) {
    const auto of_type = [type](const Lane& lane) { return lane.type == type; };
    const auto of_kind = [&](const Lane& lane) { return of_type(lane) && kind.is(lane); };
    if (kind.can(type, plan.recipe) && std::ranges::any_of(plan.lanes, of_type) &&
        std::ranges::none_of(plan.lanes, of_kind))
      missing.push_back(fmt::format("{} of {}", feature, Name(type)));
  }
}

// What a recipe of a wire without losses would have.
void AddTakenByLoss(const Plan& plan, const std::string& feature,
                    std::vector<std::string>& absent) {
  const std::optional<Kind> kind = KindOf(feature);
  Recipe clean = plan.recipe;
  clean.lossy = false;
  for (ibv_qp_type type : kTypes)
    if (kind && kind->can(type, clean) && !kind->can(type, plan.recipe) &&
        std::ranges::any_of(plan.lanes, [type](const Lane& lane) { return lane.type == type; }))
      absent.push_back(fmt::format("{} of {} (lossy)", feature, Name(type)));
}

}  // namespace

void Tally::Arrived(const Lane& lane, const Step& step, bool twice) {
  Count& count = counts[KeyOf(lane, step.op)];
  ++count.messages;
  count.bytes += step.size;
  if (twice) ++count.twice;
  if (lane.connected()) ++manners[MtuKey(lane.type, lane.mtu)];
  if (lane.srq && Consumes(step.op)) ++manners[SharedKey(lane.type)];
  if (lane.solicited && step.solicited) ++manners[SolicitedKey(lane.type)];
  if (lane.events && !lane.solicited && Consumes(step.op)) ++manners[NotifiedKey(lane.type)];
  if (step.wr) ++manners[WrKey(lane.type)];
  if (lane.cq_ex && Consumes(step.op)) ++manners[CqExKey(lane.type)];
  if (step.window) ++manners[WindowKey(lane.type)];
  if (step.inlined) ++manners[InlineKey(lane.type)];
}

void Tally::Lost(const Lane& lane, const Step& step) { ++counts[KeyOf(lane, step.op)].lost; }

void Tally::Add(const Tally& other) {
  for (const auto& [key, count] : other.counts) {
    Count& mine = counts[key];
    mine.messages += count.messages;
    mine.bytes += count.bytes;
    mine.lost += count.lost;
    mine.twice += count.twice;
  }
  for (const auto& [key, messages] : other.manners) manners[key] += messages;
}

std::vector<std::string> Absent(const Plan& plan) {
  std::vector<std::string> absent;
  for (const std::string& name : FeatureNames()) {
    if (!plan.features.Has(name))
      absent.push_back(name);
    else
      AddTakenByLoss(plan, name, absent);
  }
  return absent;
}

std::vector<std::string> NotPlanned(const Plan& plan, const std::vector<std::string>& need) {
  const bool all = need == std::vector<std::string>{"all"};
  std::vector<std::string> missing;
  for (const std::string& name : FeatureNames()) {
    if (!all && std::find(need.begin(), need.end(), name) == need.end()) continue;
    if (!plan.features.Has(name))
      missing.push_back(name);
    else if (const std::optional<Kind> kind = KindOf(name))
      AddTypesWithout(plan, name, *kind, missing);
  }
  return missing;
}

std::vector<std::string> NotReached(const Plan& plan, const Tally& tally) {
  std::set<std::string> keys;
  for (const Lane& lane : plan.lanes) keys.merge(KeysOf(lane, plan.features));
  std::erase_if(keys, [&](const std::string& key) { return HasKey(tally, key); });
  return {keys.begin(), keys.end()};
}

std::vector<std::string> LostTooMany(const Plan& plan, const Tally& tally) {
  std::vector<std::string> types;
  for (ibv_qp_type type : kTypes) {
    uint64_t lost = 0, all = 0;
    for (const auto& [key, count] : tally.counts) {
      if (!key.starts_with(fmt::format("{} ", Name(type)))) continue;
      lost += count.lost;
      all += count.lost + count.messages;
    }
    if (lost * 100 > all * plan.recipe.most_lost)
      types.push_back(fmt::format("{} ({} of {})", Name(type), lost, all));
  }
  return types;
}

std::vector<std::string> Silent(const Plan& plan, const Tally& tally) {
  std::set<std::string> types;
  for (const Lane& lane : plan.lanes) types.insert(std::string(Name(lane.type)));
  std::erase_if(types, [&](const std::string& type) {
    return std::ranges::any_of(tally.counts, [&](const auto& item) {
      return item.first.starts_with(type + " ") && item.second.messages != 0;
    });
  });
  return {types.begin(), types.end()};
}

}  // namespace srnverify
