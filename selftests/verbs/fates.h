// SPDX-License-Identifier: GPL-2.0-only
// What becomes of which packets: the rules of the module's channel for tests (its fate.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <result/result.h>

namespace verbs_test {

// One rule: an action, and the packets that it is meant for.
struct Fate {
  std::string action;                // "drop", "dup", "hold=3", "corrupt=-1", "mark"
  std::string kind = "any";          // "request", "response", "ack", "nak", "rnr", "cnp"
  std::optional<uint32_t> qpn = {};  // to this QP
  std::optional<uint32_t> psn = {};
  uint32_t skip = 0;
  uint32_t times = 1;  // 0: without end
  uint32_t permille = 1000;
  uint32_t seed = 0;

  // As the module reads it.
  std::string ToString() const;
};

// How often a rule's packets came, and how often it acted.
struct FateCount {
  unsigned seen = 0;
  unsigned met = 0;
};

// Takes the place of all rules; what the old ones held back is lost.
result::Status SetFates(const std::vector<Fate>& fates);
// One for each rule, in their order.
result::Result<std::vector<FateCount>> CountFates();

}  // namespace verbs_test
