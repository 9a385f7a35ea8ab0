// SPDX-License-Identifier: GPL-2.0-only
// A thread of one end: runs the rounds of its lanes in step with the thread that is its like on
// the other end.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include <verbs/buffer.h>
#include <verbs/memory.h>
#include <verbs/srq.h>

#include "checker.h"
#include "device.h"
#include "exchange.h"
#include "lane_end.h"
#include "planner.h"
#include "queues.h"

namespace srnverify {

class Worker {
 public:
  // All must live as long. `patience`: how long nothing may happen.
  Worker(const Device& device, const Plan& plan, int thread, int side, const Ends& ends,
         Exchange& exchange, std::chrono::milliseconds patience);

  // Throws Fault.
  void Run();

  const Tally& tally() const { return tally_; }
  uint32_t rounds() const { return rounds_; }

 private:
  // A round while it runs.
  struct Current {
    const Round& round;
    const Layout& layout;
    Checker& checker;
    // The other end's windows, by index.
    std::vector<uint32_t> peer_keys;
  };

  void Connect();
  bool RunRound(const Round& round);
  std::vector<uint32_t> BindWindows(const Round& round, const Layout& layout);
  void InvalidateWindows(const Round& round);
  void RenewLossy();
  void PostReceives(const Round& round, const Layout& layout, bool late);
  void PostReceive(const Receive& receive, const std::vector<Extent>& extents);
  void PostSends(Current& now);
  void PostRun(Current& now, size_t first, size_t count);
  verbs::SendWr MakeWr(const Current& now, size_t step) const;
  verbs::Remote RemoteOf(const Current& now, size_t step) const;
  verbs::SendWr::Sges Sges(const std::vector<Extent>& extents) const;
  void Scribble(Current& now, size_t step);
  void Complete(Current& now);
  void AwaitStragglers(Current& now);
  bool More() const;
  bool HasLossy() const;
  LaneEnd& lane(int index) { return *lanes_[index]; }
  const LaneEnd& lane(int index) const { return *lanes_[index]; }

  const Device& device_;
  const Plan& plan_;
  const int thread_, side_;
  Ends ends_;
  Exchange& exchange_;
  const std::chrono::milliseconds patience_;
  const std::chrono::steady_clock::time_point start_;
  Planner planner_;
  verbs::Buffer arena_;
  verbs::Mr mr_;
  Queues queues_;
  verbs::Srq srq_;
  // By the lane's index; those of other threads are not there.
  std::vector<std::unique_ptr<LaneEnd>> lanes_;
  verbs::Remote peer_arena_ = {};
  Tally tally_;
  uint32_t rounds_ = 0;
};

}  // namespace srnverify
