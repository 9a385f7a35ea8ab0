// SPDX-License-Identifier: GPL-2.0-only
#include "worker.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include <fmt/format.h>

#include "fault.h"

namespace srnverify {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr uint32_t kRequestsPerLane = 64;
constexpr size_t kMostAtOnce = 4;
// How long a lossy wire may keep a packet back.
constexpr milliseconds kQuiet(80);
// Receives that are late come so much after the other end has begun.
constexpr milliseconds kLate(2);
constexpr std::byte kScribble{0xa5};

int Entries(const Plan& plan) {
  return static_cast<int>(plan.recipe.qps * kRequestsPerLane * 2 + 64);
}

}  // namespace

Worker::Worker(const Device& device, const Plan& plan, int thread, int side, const Ends& ends,
               Exchange& exchange, milliseconds patience)
    : device_(device),
      plan_(plan),
      thread_(thread),
      side_(side),
      ends_(ends),
      exchange_(exchange),
      patience_(patience),
      start_(Clock::now()),
      planner_(plan, thread),
      arena_(Need(verbs::Buffer::Map(ArenaSize(plan.recipe)), "memory")),
      queues_(device, plan.features, Entries(plan)),
      lanes_(plan.lanes.size()) {
  int access = verbs::kAllAccess;
  if (!plan.features.Has("window")) access &= ~IBV_ACCESS_MW_BIND;
  if (!plan.features.Has("atomic")) access &= ~IBV_ACCESS_REMOTE_ATOMIC;
  mr_ = Need(verbs::Mr::Register(device.pd, arena_.bytes(), access), "memory region");
  if (plan.features.Has("srq"))
    srq_ = Need(verbs::Srq::Create(device.pd, plan.recipe.qps * kRequestsPerLane,
                                   plan.features.Has("sge") ? plan.features.max_sge : 1),
                "shared receive queue");
  for (int lane : planner_.lanes())
    lanes_[lane] = std::make_unique<LaneEnd>(device, plan, lane, side, queues_, &srq_);
}

void Worker::Connect() {
  for (std::vector<uint32_t>& qpns : ends_.qpn) qpns.resize(plan_.lanes.size());
  for (int index : planner_.lanes()) ends_.qpn[side_][index] = lane(index).qp().num();
  const nlohmann::json theirs = exchange_.Swap(
      "queue pairs",
      {{"qpn", ends_.qpn[side_]}, {"addr", mr_.At(0).addr}, {"rkey", mr_.At(0).rkey}});
  theirs.at("qpn").get_to(ends_.qpn[1 - side_]);
  theirs.at("addr").get_to(peer_arena_.addr);
  theirs.at("rkey").get_to(peer_arena_.rkey);
  for (int index : planner_.lanes())
    lane(index).Connect(ends_.gid[1 - side_], ends_.qpn[1 - side_].at(index));
}

void Worker::Run() {
  Connect();
  while (RunRound(planner_.Next())) continue;
}

// Whether there is another one.
bool Worker::RunRound(const Round& round) {
  const Layout layout(round);
  if (layout.size(side_) > arena_.size()) throw Fault("a round needs more memory than there is");
  const std::vector<uint32_t> keys = BindWindows(round, layout);
  Checker checker(plan_, round, layout, side_, ends_, keys);
  const ConstBytes before = checker.image().bytes();
  std::copy(before.begin(), before.end(), arena_.data());
  PostReceives(round, layout, /*late=*/false);
  queues_.Arm();

  const nlohmann::json theirs = exchange_.Swap(
      "ready", {{"round", round.number}, {"digest", round.Digest()}, {"keys", keys}});
  if (theirs.at("digest") != round.Digest()) throw Fault("the two ends do not plan alike");
  Current now{round, layout, checker, theirs.at("keys")};
  PostSends(now);
  if (round.late) {
    std::this_thread::sleep_for(kLate);
    PostReceives(round, layout, /*late=*/true);
  }
  Complete(now);
  const bool more = More();
  const nlohmann::json done = exchange_.Swap("done", {{"round", round.number}, {"more", more}});
  AwaitStragglers(now);
  InvalidateWindows(round);
  checker.Finish(arena_.bytes());
  tally_.Add(checker.tally());
  ++rounds_;
  RenewLossy();
  // The client has the word.
  return side_ == 1 ? more : done.at("more").get<bool>();
}

bool Worker::More() const {
  const std::chrono::duration<double> run = Clock::now() - start_;
  if (plan_.recipe.seconds > 0) return run.count() < plan_.recipe.seconds;
  return static_cast<int>(rounds_) + 1 < plan_.recipe.rounds;
}

std::vector<uint32_t> Worker::BindWindows(const Round& round, const Layout& layout) {
  std::vector<uint32_t> keys;
  for (size_t i = 0; i < round.windows.size(); ++i) {
    const Window& window = round.windows[i];
    const Extent range = layout.window(i);
    keys.push_back(window.side != side_
                       ? 0
                       : lane(window.lane).Bind(mr_, range.offset, range.length, round.fill + i));
  }
  return keys;
}

void Worker::InvalidateWindows(const Round& round) {
  for (const Window& window : round.windows)
    if (window.side == side_ && !window.remote_inv) lane(window.lane).Invalidate(round.fill);
}

void Worker::PostReceives(const Round& round, const Layout& layout, bool late) {
  for (size_t i = 0; i < round.receives.size(); ++i) {
    const Receive& receive = round.receives[i];
    if (receive.side != side_) continue;
    const bool is_late = round.late && (receive.lane < 0 || plan_.lanes[receive.lane].reliable());
    if (is_late == late) PostReceive(receive, layout.receive(i));
  }
}

void Worker::PostReceive(const Receive& receive, const std::vector<Extent>& extents) {
  const verbs::RecvWr wr(receive.id, Sges(extents));
  const verbs::Status posted = receive.lane < 0 ? srq_.Post(wr) : lane(receive.lane).qp().Post(wr);
  Need(posted, "post a receive");
}

verbs::SendWr::Sges Worker::Sges(const std::vector<Extent>& extents) const {
  verbs::SendWr::Sges sges;
  for (const Extent& extent : extents) sges.push_back(mr_.Slice(extent.offset, extent.length));
  return sges;
}

// Those of one lane that stand together are posted together, if it is in the same way.
void Worker::PostSends(Current& now) {
  const std::vector<Step>& steps = now.round.steps;
  for (size_t i = 0; i < steps.size();) {
    size_t count = 1;
    while (i + count < steps.size() && count < kMostAtOnce &&
           steps[i + count].lane == steps[i].lane && steps[i + count].from == steps[i].from &&
           steps[i + count].wr == steps[i].wr)
      ++count;
    if (steps[i].from == side_) PostRun(now, i, count);
    i += count;
  }
}

void Worker::PostRun(Current& now, size_t first, size_t count) {
  std::vector<verbs::SendWr> list;
  for (size_t i = first; i < first + count; ++i) list.push_back(MakeWr(now, i));
  const verbs::Qp& qp = lane(now.round.steps[first].lane).qp();
  size_t posted = 0;
  const verbs::Status status =
      now.round.steps[first].wr ? qp.PostByCalls(list) : qp.Post(list, &posted);
  Need(status, now.checker.Describe(first + std::min(posted, count - 1)));
  for (size_t i = first; i < first + count; ++i)
    if (now.round.steps[i].taken()) Scribble(now, i);
}

verbs::Remote Worker::RemoteOf(const Current& now, size_t index) const {
  const Step& step = now.round.steps[index];
  verbs::Remote remote = peer_arena_ + now.layout.remote(index).offset;
  const std::vector<Window>& windows = now.round.windows;
  for (size_t w = 0; w < windows.size(); ++w)
    if ((step.window || step.op == Op::kSendInv) && windows[w].lane == step.lane &&
        windows[w].side != side_)
      remote.rkey = now.peer_keys.at(w);
  return remote;
}

verbs::SendWr Worker::MakeWr(const Current& now, size_t index) const {
  const Step& step = now.round.steps[index];
  const verbs::Remote remote = RemoteOf(now, index);
  verbs::SendWr::Sges sges = Sges(now.layout.local(index));
  auto wr = [&] {
    switch (step.op) {
      case Op::kWrite:
      case Op::kWriteImm:
        return verbs::SendWr::Write(step.id, sges, remote);
      case Op::kRead:
        return verbs::SendWr::Read(step.id, sges, remote);
      case Op::kAtomicWrite:
        return verbs::SendWr::AtomicWrite(step.id, sges.at(0), remote);
      case Op::kCompareSwap:
        return verbs::SendWr::CompareSwap(step.id, sges.at(0), remote, step.compare, step.operand);
      case Op::kFetchAdd:
        return verbs::SendWr::FetchAdd(step.id, sges.at(0), remote, step.operand);
      default:
        return verbs::SendWr::Send(step.id, sges);
    }
  }();
  if (HasImm(step.op)) wr.Imm(step.imm);
  if (step.op == Op::kSendInv) wr.Invalidate(remote.rkey);
  if (!step.signaled) wr.Unsignaled();
  if (step.fenced) wr.Fence();
  if (step.solicited) wr.Solicited();
  if (step.inlined) wr.Inline();
  const LaneEnd& end = lane(step.lane);
  if (end.lane().type == IBV_QPT_UD)
    wr.To(end.ah(), ends_.qpn[1 - side_][step.lane], end.lane().qkey);
  return wr;
}

// What was taken with the request may be overwritten at once.
void Worker::Scribble(Current& now, size_t index) {
  for (const Extent& extent : now.layout.local(index)) {
    const Bytes bytes = arena_.Slice(extent.offset, extent.length);
    std::fill(bytes.begin(), bytes.end(), kScribble);
  }
  now.checker.Scribbled(index, std::vector<std::byte>(now.round.steps[index].size, kScribble));
}

void Worker::Complete(Current& now) {
  const auto take = [&](const ibv_wc& wc) { now.checker.Completed(wc, arena_.bytes()); };
  auto last = Clock::now();
  while (!now.checker.Done()) {
    if (queues_.Poll(take, milliseconds(1))) {
      last = Clock::now();
      continue;
    }
    exchange_.Notice();
    if (Clock::now() - last > patience_)
      throw Fault(fmt::format("nothing has completed for {} s. ", patience_.count() / 1000) +
                  now.checker.Outstanding() + queues_.Unannounced());
  }
}

// What comes after all has come that must: nothing, but on lossy lanes.
void Worker::AwaitStragglers(Current& now) {
  const auto take = [&](const ibv_wc& wc) { now.checker.Completed(wc, arena_.bytes()); };
  if (!HasLossy()) {
    queues_.Poll(take, milliseconds(0));
    return;
  }
  for (auto last = Clock::now(); Clock::now() - last < kQuiet;)
    if (queues_.Poll(take, milliseconds(5))) last = Clock::now();
}

bool Worker::HasLossy() const {
  return std::any_of(planner_.lanes().begin(), planner_.lanes().end(),
                     [this](int lane) { return plan_.Lossy(plan_.lanes[lane]); });
}

// Receives that nothing has come for would be in the way of the next round's.
void Worker::RenewLossy() {
  for (int index : planner_.lanes())
    if (plan_.Lossy(plan_.lanes[index])) lane(index).Renew();
}

}  // namespace srnverify
