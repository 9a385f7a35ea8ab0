// SPDX-License-Identifier: GPL-2.0-only
// What arrived, by its kinds, and which kinds should have.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "plan.h"

namespace srnverify {

// What rounds came to.
struct Tally {
  struct Count {
    uint64_t messages = 0;
    uint64_t bytes = 0;
    // Lossy lanes only.
    uint64_t lost = 0;
    uint64_t twice = 0;
  };
  // By "RC SEND" and the like.
  std::map<std::string, Count> counts;
  // Messages once more, by what else is special about them: "RC, MTU 256", "RC, by a window",
  // "UD, SRQ", "UC, inline", "UC, notified", "UD, solicited", "RC, by ibv_wr_*",
  // "RC, by ibv_cq_ex".
  std::map<std::string, uint64_t> manners;

  void Arrived(const Lane& lane, const Step& step, bool twice);
  void Lost(const Lane& lane, const Step& step);
  void Add(const Tally& other);
};

// Features that the plan has not, and what of others its recipe takes from a type of queue pair.
std::vector<std::string> Absent(const Plan& plan);

// What of `need` ("all": every feature) the plan has not, or not in each type of queue pair that it
// could have it in.
std::vector<std::string> NotPlanned(const Plan& plan, const std::vector<std::string>& need);

// Keys of a Tally that the plan's lanes should have had and `tally` has not.
std::vector<std::string> NotReached(const Plan& plan, const Tally& tally);

// Types of which more messages were lost than the recipe lets pass: "UC (30 of 40)".
std::vector<std::string> LostTooMany(const Plan& plan, const Tally& tally);

// Types of queue pair in the plan of which no message arrived at all.
std::vector<std::string> Silent(const Plan& plan, const Tally& tally);

}  // namespace srnverify
