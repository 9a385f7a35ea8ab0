// SPDX-License-Identifier: GPL-2.0-only
// Deals the rounds of a thread.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "plan.h"

namespace srnverify {

class Planner {
 public:
  // `plan` must live as long.
  Planner(const Plan& plan, int thread);

  const std::vector<int>& lanes() const { return own_; }
  Round Next();

 private:
  // Whether a window is bound for a round, and who invalidates it.
  enum class Bound { kNot, kTillOwner, kTillPeer };
  // One direction of a lane: what it has not had yet comes first.
  struct Direction {
    int lane;
    int from;
    Deck<Op> ops;
    Deck<uint32_t> sizes;
    Deck<Bound> windows;
  };
  // Room that is left in a round.
  struct Budget {
    uint32_t bytes;
    uint32_t packets;
  };

  Direction MakeDirection(int lane, int from) const;
  void PlanDirection(Direction& direction, Round& round, Budget& budget, std::vector<Step>& steps);
  Step MakeStep(Direction& direction, Budget& budget);
  uint32_t DrawSize(Direction& direction, Op op, Budget& budget);
  void AddWindow(const Direction& direction, bool remote_inv, Round& round,
                 std::vector<Step>& steps);
  void AddEcho(std::vector<Step>& steps);
  void Shape(Step& step);
  void Finish(const Direction& direction, std::vector<Step>& steps);
  void Merge(std::vector<std::vector<Step>> all, Round& round);
  void AddWords(Round& round);
  void AddReceives(Round& round);
  Receive MakeReceive(const Round& round, const Step& step, uint32_t shared_capacity);
  void AddSpares(Round& round, int lane, int side);
  std::vector<uint32_t> Pieces(uint32_t size, uint32_t most, bool empty_too);
  const Lane& LaneOf(const Step& step) const { return plan_.lanes[step.lane]; }

  const Plan& plan_;
  std::vector<int> own_;
  Random random_;
  uint32_t number_ = 0;
  std::vector<Direction> directions_;
};

}  // namespace srnverify
