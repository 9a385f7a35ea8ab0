// SPDX-License-Identifier: GPL-2.0-only
// Another one on the same path, which is no srn: one packet more in each round trip, and half of
// them once something was lost (RFC 5681), of which the receiver tells packet by packet. It always
// has something to send.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>

#include "events.h"

namespace model {

class Aimd {
 public:
  // `sends` takes the number of a packet, the first of which is 0.
  Aimd(Events& events, std::function<void(uint64_t)> sends);

  void Start() { Run(); }
  void Finish() { finished_ = true; }
  void Answered(uint64_t serial);

  uint64_t acked() const { return acked_; }

 private:
  void Run();
  void Grow();
  void GiveUp(uint64_t serial);
  void Silent();

  struct Out {
    uint64_t serial;
    bool here;
  };
  const std::function<void(uint64_t)> sends_;
  Alarm silence_;
  std::deque<Out> out_;  // by serial, the oldest not answered first
  double window_ = 10;   // packets, RFC 6928
  double threshold_ = 1e9;
  uint64_t next_ = 0;
  uint64_t flying_ = 0;
  uint64_t cut_end_ = 0;  // what was sent before the last cut ends here
  uint64_t acked_ = 0;
  bool finished_ = false;
};

}  // namespace model
