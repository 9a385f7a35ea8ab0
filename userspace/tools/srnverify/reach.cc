// SPDX-License-Identifier: GPL-2.0-only
#include "reach.h"

#include <algorithm>
#include <functional>
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
std::string WindowKey(ibv_qp_type type) { return fmt::format("{}, by a window", Name(type)); }
std::string InlineKey(ibv_qp_type type) { return fmt::format("{}, inline", Name(type)); }

// All keys that messages of this lane have, sooner or later.
std::set<std::string> KeysOf(const Lane& lane, const Features& features) {
  std::set<std::string> keys;
  for (Op op : OpsOf(lane, features)) keys.insert(KeyOf(lane, op));
  if (lane.connected()) keys.insert(MtuKey(lane.type, lane.mtu));
  if (lane.srq) keys.insert(SharedKey(lane.type));
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

// Types that have lanes in the plan, but none of this kind.
void AddTypesWithout(const Plan& plan, const std::string& what,
                     const std::function<bool(ibv_qp_type)>& can,
                     const std::function<bool(const Lane&)>& is,
                     std::vector<std::string>& missing) {
  for (ibv_qp_type type : kTypes) {
    if (!can(type)) continue;
    bool any = false, found = false;
    for (const Lane& lane : plan.lanes) {
      if (lane.type != type) continue;
      any = true;
      found = found || is(lane);
    }
    if (any && !found) missing.push_back(fmt::format("{} of {}", what, Name(type)));
  }
}

}  // namespace

void Tally::Arrived(const Lane& lane, const Step& step, bool twice) {
  Count& count = counts[KeyOf(lane, step.op)];
  ++count.messages;
  count.bytes += step.size;
  if (twice) ++count.twice;
  if (lane.connected()) ++manners[MtuKey(lane.type, lane.mtu)];
  if (lane.srq && Consumes(step.op)) ++manners[SharedKey(lane.type)];
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

std::vector<std::string> NotPlanned(const Plan& plan, const std::vector<std::string>& need) {
  const bool all = need == std::vector<std::string>{"all"};
  std::vector<std::string> missing;
  for (const std::string& name : FeatureNames()) {
    if (!all && std::find(need.begin(), need.end(), name) == need.end()) continue;
    if (!plan.features.Has(name)) {
      missing.push_back(name);
    } else if (name.starts_with("mtu-")) {
      const auto mtu = static_cast<uint32_t>(std::stoul(name.substr(4)));
      AddTypesWithout(
          plan, name, [](ibv_qp_type type) { return type != IBV_QPT_UD; },
          [mtu](const Lane& lane) { return lane.mtu == mtu; }, missing);
    } else if (name == "srq") {
      AddTypesWithout(
          plan, name, [&](ibv_qp_type type) { return CanShareQueue(type, plan.recipe); },
          [](const Lane& lane) { return lane.srq; }, missing);
    }
  }
  return missing;
}

std::vector<std::string> NotReached(const Plan& plan, const Tally& tally) {
  std::set<std::string> keys;
  for (const Lane& lane : plan.lanes) keys.merge(KeysOf(lane, plan.features));
  std::erase_if(keys, [&](const std::string& key) { return HasKey(tally, key); });
  return {keys.begin(), keys.end()};
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
