// SPDX-License-Identifier: GPL-2.0-only
// The completion queues of a thread: one that is polled, and two that are looked at only after a
// notification came.
#pragma once

#include <chrono>
#include <functional>

#include <verbs/channel.h>
#include <verbs/cq.h>

#include "device.h"
#include "plan.h"

namespace srnverify {

class Queues {
 public:
  // `entries` of each. Throws Fault, as all here do.
  Queues(const Device& device, int entries);

  const verbs::Cq& send(const Lane& lane) const { return lane.events ? events_ : polled_; }
  const verbs::Cq& receive(const Lane& lane) const {
    return lane.solicited ? solicited_ : send(lane);
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
  static bool Drain(const verbs::Cq& cq, const std::function<void(const ibv_wc&)>& take);

  verbs::CompChannel channel_;
  verbs::Cq polled_, events_, solicited_;
};

}  // namespace srnverify
