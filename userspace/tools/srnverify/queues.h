// SPDX-License-Identifier: GPL-2.0-only
// The completion queues of a thread: one that is polled, and two that are looked at only after a
// notification came; where a device can, the same once more for ibv_start_poll().
#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include <verbs/channel.h>
#include <verbs/cq.h>

#include "device.h"
#include "plan.h"

namespace srnverify {

class Queues {
 public:
  // `entries` of each. Throws Fault, as all here do.
  Queues(const Device& device, const Features& features, int entries);

  const verbs::Cq& send(const Lane& lane) const {
    return lane.events ? SetOf(lane).events : SetOf(lane).polled;
  }
  const verbs::Cq& receive(const Lane& lane) const {
    return lane.solicited ? SetOf(lane).solicited : send(lane);
  }

  // Asks for notifications.
  void Arm() const;
  // Hands on what there is; waits for a notification no longer than `timeout` if there is nothing.
  // Whether there was anything.
  bool Poll(const std::function<void(const ibv_wc&)>& take,
            std::chrono::milliseconds timeout) const;
  // Completions that are there unannounced, by queue: for the message about a stuck run.
  std::string Unannounced() const;

 private:
  struct Set {
    verbs::Cq polled, events, solicited;
  };

  const Set& SetOf(const Lane& lane) const { return sets_.at(lane.cq_ex); }
  void AddSet(const Device& device, int entries, bool by_calls);
  bool DrainAnnounced(const ibv_cq* cq, const std::function<void(const ibv_wc&)>& take) const;
  static bool Drain(const verbs::Cq& cq, const std::function<void(const ibv_wc&)>& take);

  verbs::CompChannel channel_;
  std::vector<Set> sets_;
};

}  // namespace srnverify
