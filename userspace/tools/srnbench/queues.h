// SPDX-License-Identifier: GPL-2.0-only
// Many connections between two ends, all of them busy.
#pragma once

#include <cstddef>
#include <vector>

#include "pair.h"
#include "workload.h"

namespace srnbench {

// How many lists of `list` requests each of `connections` keeps posted: as many as make kDepth
// requests in all, but a list at least, and of single requests two.
int PostedLists(int connections, int list);

class Queues {
 public:
  // The longest list that is posted.
  static constexpr int kMostInList = 32;

  // Creates QPs at both ends and connects them. Throws Unable if the devices do not have them.
  Queues(Pair& pair, int connections);

  // Keeps lists of WRITEs of `bytes` posted on each, one connection after the other, for `time`,
  // but for as long at least as each takes to have been posted what PostedLists() says. The last of
  // a list is signalled. Requests per second.
  double Stream(size_t bytes, int list, Duration time) const;

 private:
  Pair& pair_;
  verbs::Cq cq_;  // of all at end a; nothing completes at the other one
  std::vector<Link> links_;
  std::vector<verbs::Qp> from_, to_;
};

}  // namespace srnbench
