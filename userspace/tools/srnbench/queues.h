// SPDX-License-Identifier: GPL-2.0-only
// Many connections between two ends, all of them busy.
#pragma once

#include <cstddef>
#include <deque>
#include <random>
#include <vector>

#include "pair.h"
#include "workload.h"

namespace srnbench {

// How many lists of `list` requests each of `connections` keeps posted: as many as make kDepth
// requests in all, but a list at least, and of single requests two.
int PostedLists(int connections, int list);

// A few connections out of many, at random, that have their turn.
class RandomTurns {
 public:
  // `active` of `connections`, which are more, each `times`.
  RandomTurns(size_t connections, size_t active, int times);

  bool empty() const { return waiting_.empty(); }
  // A list of this connection completed. If all of its turn are, that of another one begins.
  void Add(size_t connection);
  size_t Take();

 private:
  void Begin();

  int times_;
  std::vector<size_t> idle_;
  std::vector<int> left_;  // of each, lists of its turn that are not complete
  std::deque<size_t> waiting_;
  std::mt19937 random_;  // the same turns in each run
};

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

  // The same over `active` of them at a time, random ones: each has as much posted as one of
  // `active` has in Stream(), and when all of that is complete it is another one's turn, which has
  // nothing posted.
  double StreamRandom(size_t bytes, int list, int active, Duration time) const;

 private:
  template <typename Turns>
  double Keep(size_t bytes, int list, Duration time, Turns& turns) const;

  Pair& pair_;
  verbs::Cq cq_;  // of all at end a; nothing completes at the other one
  std::vector<Link> links_;
  std::vector<verbs::Qp> from_, to_;
};

}  // namespace srnbench
