// SPDX-License-Identifier: GPL-2.0-only
// A wire in memory for the tests of the checker: it carries rounds as they are planned, and lets
// one thing be wrong at a time.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "checker.h"
#include "planner.h"

namespace srnverify {

// A device that can do everything.
Features All();
// Of one thread.
Plan PlanOf(uint64_t seed, bool lossy = false);

Ends EndsOf(const Plan& plan);

// A completion on its way to a checker, and the step that it tells of.
struct Event {
  int side;
  size_t step;
  // Of a receive, its index.
  std::optional<size_t> receive;
  ibv_wc wc;
};

// Carries out a round without a device.
class Wire {
 public:
  // Both must live as long.
  Wire(const Plan& plan, const Round& round) : Wire(plan, round, EndsOf(plan)) {}
  Wire(const Plan& plan, const Round& round, const Ends& ends);

  // Executes the steps in order and hands over what completes. Each thing in between can be
  // changed by `event` (which may drop it, by false), and memory before the end by `memory`.
  std::function<bool(Event&)> event = [](Event&) { return true; };
  std::function<void(Wire&)> memory = [](Wire&) {};
  // Steps that are lost, and those that arrive twice.
  std::set<size_t> lost, twice;

  void Run();
  // What the checkers say.
  std::string Fault();

  std::vector<std::byte>& arena(int side) { return arena_[side]; }
  const Layout& layout() const { return layout_; }
  const Ends& ends() const { return ends_; }
  Checker& checker(int side) { return checkers_[side]; }
  void Deliver(Event e) {
    if (event(e)) checkers_[e.side].Completed(e.wc, arena_[e.side]);
  }
  const Plan& plan() const { return plan_; }
  const Round& round() const { return round_; }
  ConstBytes before(int side) const { return before_[side]; }

  std::byte* Remote(size_t step);
  // The byte at that place of a list of elements.
  std::byte* InLocal(size_t step, size_t position) {
    return In(round_.steps[step].from, layout_.local(step), position);
  }
  std::byte* InReceive(size_t receive, size_t position) {
    return In(round_.receives[receive].side, layout_.receive(receive), position);
  }
  void AddLocal(size_t step, int64_t value);

 private:
  void Receive(size_t index);
  std::byte* In(int side, const std::vector<Extent>& extents, size_t position);
  void Execute(size_t index);
  void Carry(size_t index);
  void Atomic(size_t index);
  size_t TakeReceive(size_t step);
  void PutGrh(std::vector<std::byte>& payload, size_t index) const;
  static void Copy(std::vector<std::byte>& arena, const std::vector<Extent>& extents,
                   ConstBytes what);

  const Plan& plan_;
  const Round& round_;
  const Ends ends_;
  const Layout layout_;
  std::vector<Checker> checkers_;
  std::vector<std::byte> arena_[kSides], before_[kSides];
  std::set<size_t> taken_;
};

// Calls `use` with rounds until one has what it looks for (it says true).
void WithRounds(const std::function<bool(const Plan&, const Round&)>& use, bool lossy = false);

// The first step for which `wanted` says so, if any.
template <typename Wanted>
std::optional<size_t> FindStep(const Round& round, Wanted wanted) {
  for (size_t i = 0; i < round.steps.size(); ++i)
    if (wanted(round.steps[i])) return i;
  return std::nullopt;
}

inline bool IsType(const Plan& plan, const Step& step, ibv_qp_type type) {
  return plan.lanes[step.lane].type == type;
}

using Wanted = std::function<bool(const Plan&, const Step&)>;
using Spoil = std::function<void(Wire&, size_t)>;

// Runs a round that has such a step, with something spoilt; what the checker says must have
// `words`.
void ExpectReported(const Wanted& wanted, const Spoil& spoil, const std::string& words,
                    bool lossy = false);

// Where the step is received, or else where its sender has it completed, `change` is called; false
// drops the completion.
Spoil AtReceiver(const std::function<bool(Wire&, Event&)>& change);
Spoil AtSender(const std::function<bool(Wire&, Event&)>& change);
Spoil ReceivedWith(const std::function<void(ibv_wc&)>& change);
Spoil SentWith(const std::function<void(ibv_wc&)>& change);
// Changes a byte before the arenas are compared; `at` says which, of the step's or around it.
Spoil InMemory(const std::function<std::byte*(Wire&, size_t)>& at);

}  // namespace srnverify
