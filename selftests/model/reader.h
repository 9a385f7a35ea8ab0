// SPDX-License-Identifier: GPL-2.0-only
// The requester's side of a connection that READs: around the module's rooms what requester.c,
// completer.c and again.c do with them.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <deque>
#include <functional>

#include "answerer.h"
#include "events.h"
#include "gaps.h"
#include "lost.h"
#include "packets.h"
#include "retry.h"
#include "rooms.h"

namespace model {

struct Reads {
  int depth = 16;           // READs that are posted at a time
  uint32_t message = 1024;  // packets of each
  uint32_t most = 16;       // requests that may be in flight
};

class Reader {
 public:
  Reader(Events& events, srn_lately& known, uint32_t psn, const Reads& reads,
         std::function<void(const Ask&)> asks);

  void Start() { Run(); }
  void Finish() { finished_ = true; }
  void Arrived(uint32_t psn);         // a packet of an answer
  void Answered(const Answer& sack);  // a request is missing

  const srn_window& window() const { return window_; }
  uint64_t done() const { return done_; }
  uint64_t undone() const { return posted_ - done_; }

 private:
  struct Message {
    uint32_t first;
    uint32_t chunk;
  };

  void Run();
  void SendMissing();
  void SendNew();
  uint32_t LeftOf(uint32_t psn) const;  // of its request, from there on
  void Progress(uint32_t una);
  void Probe(uint32_t nth);
  void Seek(uint32_t psn);

  Events& events_;
  const Reads reads_;
  const std::function<void(const Ask&)> asks_;
  srn_window window_ = {};
  srn_rtt rtt_ = {};
  srn_reorder reorder_ = {};
  Lost lost_;
  Gaps gaps_;
  Retry retry_;
  Alarm gap_;
  std::deque<Message> messages_;  // that have begun and are not done
  std::bitset<SRN_PSNS> early_;
  std::array<uint32_t, 128> rd_last_ = {};
  bool finished_ = false;
  uint64_t done_ = 0, posted_ = 0;
};

}  // namespace model
