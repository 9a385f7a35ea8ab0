// SPDX-License-Identifier: GPL-2.0-only
#include "planner.h"

#include <algorithm>
#include <numeric>

namespace srnverify {
namespace {

// Of all messages of a round. One that is larger still gets its turn.
constexpr uint32_t kRoundBytes = 1 << 20;
// On unreliable lanes, of all threads: what queues on the way hold.
constexpr uint32_t kRoundPackets = 400;
constexpr uint32_t kMostSteps = 8;
// Requests posted at once.
constexpr uint32_t kMostAtOnce = 4;
constexpr uint32_t kGrh = 40;
// Receives that a lossy lane has beside those for each message: duplicates take them.
constexpr int kSpares = 6;
constexpr uint32_t kBig = 128 << 10;

// Around each boundary: words, inline data, packets, pages, a train of 64 KiB, a MiB.
std::vector<uint32_t> SizesOf(const Lane& lane, const Features& features, Random& random) {
  const uint32_t m = lane.mtu, k = random.Within(3, 16);
  std::vector<uint32_t> sizes = {0,
                                 1,
                                 2,
                                 3,
                                 4,
                                 5,
                                 8,
                                 63,
                                 64,
                                 65,
                                 m - 1,
                                 m,
                                 m + 1,
                                 2 * m - 1,
                                 2 * m,
                                 2 * m + 1,
                                 3 * m + 2,
                                 k * m - 1,
                                 k * m,
                                 k * m + 1,
                                 4095,
                                 4096,
                                 4097,
                                 65535,
                                 65536,
                                 65537,
                                 (1 << 20) - 1,
                                 1 << 20,
                                 (1 << 20) + 1};
  for (uint32_t most : {100u, 3000u, 20000u, 70000u, 70000u, 300000u})
    sizes.push_back(random.Below(most));
  if (features.Has("inline"))
    sizes.insert(sizes.end(), {features.max_inline, features.max_inline + 1});
  std::erase_if(sizes, [&](uint32_t size) { return size > lane.max_size; });
  if (lane.type == IBV_QPT_UD) sizes.insert(sizes.end(), {lane.max_size, lane.max_size - 1});
  return sizes;
}

uint32_t Packets(const Lane& lane, uint32_t size) {
  return std::max(1u, (size + lane.mtu - 1) / lane.mtu);
}

bool Rests(const Round& round, const Lane& lane) {
  return round.late && lane.srq && !lane.reliable();
}

int Peer(int side) { return 1 - side; }

}  // namespace

Planner::Planner(const Plan& plan, int thread)
    : plan_(plan),
      own_(plan.LanesOf(thread)),
      random_(plan.recipe.seed * 1000003 + static_cast<uint64_t>(thread) + 1) {
  for (int lane : own_)
    for (int from = 0; from < kSides; ++from) directions_.push_back(MakeDirection(lane, from));
}

Planner::Direction Planner::MakeDirection(int lane, int from) const {
  Random random(random_);
  for (int i = 0; i < 2 * lane + from; ++i) random.Next();
  std::vector<Bound> windows = {Bound::kNot};
  if (HasWindow(plan_.lanes[lane], plan_.features))
    windows = {Bound::kNot, Bound::kTillOwner,
               InvalidatesWindows(plan_.features) ? Bound::kTillPeer : Bound::kTillOwner};
  return {lane, from, Deck(OpsOf(plan_.lanes[lane].type, plan_.features)),
          Deck(SizesOf(plan_.lanes[lane], plan_.features, random)), Deck(std::move(windows))};
}

Round Planner::Next() {
  Round round;
  round.number = number_++;
  round.fill = random_.Next32();
  // Datagrams may rest then: not in the first round, which may be the only one, nor twice in a row.
  round.late = random_.Chance(30) && round.number % 2 == 1 && plan_.features.Has("rnr");
  Budget budget{kRoundBytes, kRoundPackets / static_cast<uint32_t>(plan_.recipe.threads)};
  std::vector<std::vector<Step>> all(directions_.size());
  // Whoever is first has the whole budget: not always the same one.
  std::vector<size_t> order(directions_.size());
  std::iota(order.begin(), order.end(), 0);
  Deck<size_t> turns(order);
  for (size_t i = 0; i < order.size(); ++i) {
    const size_t turn = turns.Draw(random_);
    if (!Rests(round, plan_.lanes[directions_[turn].lane]))
      PlanDirection(directions_[turn], round, budget, all[turn]);
  }
  Merge(std::move(all), round);
  AddWords(round);
  AddReceives(round);
  return round;
}

void Planner::PlanDirection(Direction& direction, Round& round, Budget& budget,
                            std::vector<Step>& steps) {
  const uint32_t count = random_.Within(1, kMostSteps);
  for (uint32_t i = 0; i < count; ++i) {
    steps.push_back(MakeStep(direction, budget));
    if (steps.back().op == Op::kRead && random_.Chance(40) && plan_.features.Has("fence"))
      AddEcho(steps);
  }
  const Bound bound = direction.windows.Draw(random_);
  if (bound != Bound::kNot) AddWindow(direction, bound == Bound::kTillPeer, round, steps);
  Finish(direction, steps);
}

Step Planner::MakeStep(Direction& direction, Budget& budget) {
  Step step;
  step.id = random_.Next();
  step.lane = direction.lane;
  step.from = direction.from;
  step.op = direction.ops.Draw(random_);
  step.size = DrawSize(direction, step.op, budget);
  step.pattern = random_.Next32();
  step.imm = random_.Next32();
  step.signaled = random_.Chance(60);
  step.fenced = LaneOf(step).reliable() && random_.Chance(10) && plan_.features.Has("fence");
  step.solicited = Consumes(step.op) && random_.Chance(30);
  step.shared = step.op == Op::kFetchAdd && random_.Chance(50);
  step.operand = step.shared ? 1 : random_.Next();
  Shape(step);
  return step;
}

uint32_t Planner::DrawSize(Direction& direction, Op op, Budget& budget) {
  if (IsAtomic(op) || op == Op::kAtomicWrite) return 8;
  const Lane& lane = plan_.lanes[direction.lane];
  const uint32_t size = direction.sizes.Draw(random_);
  // Few of the large ones, so that a round does not take long.
  if (size > budget.bytes || (size > kBig && budget.bytes < kRoundBytes))
    if (size != lane.max_size || budget.bytes < kRoundBytes / 2)
      return random_.Below(std::min(2 * lane.mtu, lane.max_size) + 1);
  budget.bytes -= std::min(size, budget.bytes);
  if (lane.reliable()) return size;
  const uint32_t packets = Packets(lane, size);
  if (packets > budget.packets) return random_.Below(64);
  budget.packets -= packets;
  return size;
}

// The READ before is sent on, which only a fence makes right.
void Planner::AddEcho(std::vector<Step>& steps) {
  const bool send = plan_.features.Has("send"), write = plan_.features.Has("write");
  if (!send && !write) return;
  const Step& read = steps.back();
  Step echo = read;
  echo.id = random_.Next();
  echo.op = send && (!write || random_.Chance(50)) ? Op::kSend : Op::kWrite;
  echo.echo = static_cast<int>(steps.size()) - 1;
  echo.fenced = true;
  echo.signaled = random_.Chance(60);
  echo.solicited = echo.op == Op::kSend && random_.Chance(30);
  steps.push_back(echo);
}

// Some of the requests go through a window, and in half of such rounds the last one invalidates it.
// That one is fenced: a READ that is asked for again would not find the window any more.
void Planner::AddWindow(const Direction& direction, bool remote_inv, Round& round,
                        std::vector<Step>& steps) {
  Window window{.side = Peer(direction.from), .lane = direction.lane, .remote_inv = remote_inv};
  for (Step& step : steps)
    if (IsRdma(step.op) && !IsAtomic(step.op) && step.size > 0) step.window = random_.Chance(60);
  if (window.remote_inv) {
    Budget none{0, 0};
    Direction any{direction.lane,
                  direction.from,
                  Deck<Op>({Op::kSendInv}),
                  Deck<uint32_t>({0, 1, 100, 1000}),
                  {}};
    none.bytes = 2000;
    Step step = MakeStep(any, none);
    step.fenced = true;
    steps.push_back(step);
  }
  round.windows.push_back(window);
}

// The last request of a direction is signaled, so that all of them complete. On UC nothing tells
// of a WRITE's arrival but a message behind it; where only solicited messages notify, the last one
// is one.
void Planner::Finish(const Direction& direction, std::vector<Step>& steps) {
  const Lane& lane = plan_.lanes[direction.lane];
  if ((lane.type == IBV_QPT_UC || lane.solicited) && !Consumes(steps.back().op)) {
    Direction any{
        direction.lane, direction.from, Deck<Op>({Op::kSend}), Deck<uint32_t>({0, 1, 200}), {}};
    Budget small{2000, 2};
    steps.push_back(MakeStep(any, small));
  }
  steps.back().signaled = true;
  if (lane.solicited) steps.back().solicited = true;
}

// A random number of elements, odd splits, some of them empty.
std::vector<uint32_t> Planner::Pieces(uint32_t size, uint32_t most, bool empty_too) {
  if (size == 0 && (!empty_too || random_.Chance(50))) return {};
  const uint32_t count = random_.Chance(30)   ? 1
                         : random_.Chance(15) ? most
                                              : random_.Within(1, std::min(most, 6u));
  std::vector<uint32_t> cuts = {0, size};
  for (uint32_t i = 1; i < count; ++i) {
    const uint32_t at = random_.Below(size + 1);
    cuts.push_back(empty_too && random_.Chance(15) ? cuts.back() : at);
  }
  std::sort(cuts.begin(), cuts.end());
  std::vector<uint32_t> pieces;
  for (size_t i = 1; i < cuts.size(); ++i)
    if (cuts[i] != cuts[i - 1] || empty_too) pieces.push_back(cuts[i] - cuts[i - 1]);
  return pieces;
}

void Planner::Shape(Step& step) {
  const Features& features = plan_.features;
  if (IsAtomic(step.op) || step.op == Op::kAtomicWrite) {
    step.pieces = {8};
    return;
  }
  const bool read = step.op == Op::kRead;
  const uint32_t most = !features.Has("sge") ? 1 : read ? features.max_sge_rd : features.max_sge;
  step.pieces = Pieces(step.size, most, features.Has("sge"));
  step.inlined =
      !read && features.Has("inline") && step.size <= features.max_inline && random_.Chance(60);
}

// Interleaves the directions, some requests of one at a time: those are posted at once, in one of
// two ways.
void Planner::Merge(std::vector<std::vector<Step>> all, Round& round) {
  std::vector<size_t> next(all.size(), 0), place;
  size_t left = 0;
  for (const auto& steps : all) left += steps.size();
  std::vector<std::vector<int>> index(all.size());
  while (left > 0) {
    const size_t turn = random_.Below(static_cast<uint32_t>(all.size()));
    const bool wr = random_.Chance(50) && plan_.features.Has("wr");
    for (uint32_t n = random_.Within(1, kMostAtOnce); n > 0 && next[turn] < all[turn].size(); --n) {
      Step step = std::move(all[turn][next[turn]++]);
      step.wr = wr || step.op == Op::kAtomicWrite;
      if (step.echo >= 0) step.echo = index[turn][step.echo];
      index[turn].push_back(static_cast<int>(round.steps.size()));
      round.steps.push_back(std::move(step));
      --left;
    }
  }
}

// The words, and what each atomic finds: on a lane they are executed in the order of posting.
void Planner::AddWords(Round& round) {
  for (int side = 0; side < kSides; ++side) {
    for (int lane : own_)
      if (plan_.lanes[lane].reliable() && plan_.features.Has("atomic"))
        round.words.push_back({side, lane, random_.Next(), 0});
    if (plan_.features.Has("atomic")) round.words.push_back({side, -1, random_.Next(), 0});
  }
  for (Word& word : round.words) word.after = word.before;
  for (Step& step : round.steps) {
    if (!IsAtomic(step.op)) continue;
    const int lane = step.shared ? -1 : step.lane;
    Word& word = *std::find_if(round.words.begin(), round.words.end(), [&](const Word& w) {
      return w.side == Peer(step.from) && w.lane == lane;
    });
    step.old = word.after;
    if (step.op == Op::kFetchAdd) {
      word.after += step.operand;
    } else {
      step.compare = random_.Chance(60) ? word.after : random_.Next();
      if (step.compare == word.after) word.after = step.operand;
    }
  }
}

Receive Planner::MakeReceive(const Round& round, const Step& step, uint32_t shared_capacity) {
  const Lane& lane = LaneOf(step);
  Receive receive;
  receive.id = random_.Next();
  receive.side = Peer(step.from);
  receive.lane = lane.srq ? -1 : step.lane;
  if (lane.srq) {
    receive.capacity = shared_capacity;
    // Any lane may take it.
    receive.grh = true;
  } else {
    receive.grh = lane.type == IBV_QPT_UD;
    receive.capacity = IsSend(step.op) ? step.size : random_.Below(100);
    // On a lossy lane another message may take it.
    if (plan_.Lossy(lane))
      for (const Step& other : round.steps)
        if (other.lane == step.lane && IsSend(other.op))
          receive.capacity = std::max(receive.capacity, other.size);
    if (random_.Chance(30)) receive.capacity += random_.Below(300);
  }
  receive.pieces =
      Pieces(receive.capacity + (receive.grh ? kGrh : 0),
             plan_.features.Has("sge") ? plan_.features.max_sge : 1, plan_.features.Has("sge"));
  return receive;
}

// One for each message that needs one, in the order of the messages.
void Planner::AddReceives(Round& round) {
  uint32_t shared[kSides] = {};
  for (const Step& step : round.steps)
    if (LaneOf(step).srq && IsSend(step.op))
      shared[Peer(step.from)] = std::max(shared[Peer(step.from)], step.size);
  for (const Step& step : round.steps) {
    if (!Consumes(step.op)) continue;
    round.receives.push_back(MakeReceive(round, step, shared[Peer(step.from)]));
    if (plan_.Lossy(LaneOf(step))) continue;
  }
  for (int lane : own_)
    if (plan_.Lossy(plan_.lanes[lane]))
      for (int side = 0; side < kSides; ++side) AddSpares(round, lane, side);
}

void Planner::AddSpares(Round& round, int lane, int side) {
  Step any;
  any.lane = lane;
  any.from = Peer(side);
  for (int i = 0; i < kSpares; ++i) round.receives.push_back(MakeReceive(round, any, 0));
}

}  // namespace srnverify
