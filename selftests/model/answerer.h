// SPDX-License-Identifier: GPL-2.0-only
// The other side of a connection that READs, as responder.c and answer.c have it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "events.h"
#include "packets.h"
#include "rooms.h"

namespace model {

// A READ request: for so many packets from the one with `psn` on.
struct Ask {
  uint32_t psn;
  uint32_t num;
};

// Who answers, in order. What is asked for behind a request that is missing waits for that.
class Answerer {
 public:
  Answerer(Events& events, uint32_t psn, std::function<void(uint32_t psn)> sends,
           std::function<void(const Answer&)> tells);

  void Arrived(const Ask& ask);

 private:
  void Tell();
  void Send(const Ask& ask);

  Events& events_;
  const std::function<void(uint32_t psn)> sends_;
  const std::function<void(const Answer&)> tells_;
  Alarm tell_;
  uint64_t tells_at_ = 0;  // not before
  uint32_t expected_;
  std::map<uint64_t, Ask> held_;  // by the place behind the first PSN
  uint64_t place_ = 0;            // of the expected one
};

}  // namespace model
