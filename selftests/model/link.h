// SPDX-License-Identifier: GPL-2.0-only
// The bottleneck: a queue of so many bytes, a wire behind it, and on that wire packets that are
// lost one by one, whatever else is lost. Or a policer: nothing waits, and what is more than the
// rate is dropped. For a while nothing may pass at all.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <random>

#include "events.h"

namespace model {

struct LinkOptions {
  double rate = 200e6;             // bit/s
  uint64_t propagation = 100'000;  // ns, one way
  uint64_t queue = 200'000;        // bytes
  double loss = 0;                 // of what has passed the queue
  double late = 0;                 // of the rest; each by a time of its own, of
  int late_packets = 32;           // at most, that overtake it
  bool polices = false;            // as many bytes as the queue has pass at once, none waits
  uint64_t dark_from = 0;          // ns; what would pass is lost, until
  uint64_t dark_until = 0;
};

struct LinkCounts {
  uint64_t packets = 0;  // that came to the queue,
  uint64_t dropped = 0;  // of them, since it was full
  uint64_t lost = 0;     // behind it
  uint64_t found = 0;    // bytes that they found in it, in all
};

class Link {
 public:
  Link(Events& events, std::mt19937_64& random, const LinkOptions& options);

  void Send(uint32_t bytes, std::function<void()> arrives);
  bool IsDark() const;
  // Whether what is on the wire now, in either direction, is one of those that are lost.
  bool IsLost() { return Happens(options_.loss); }

  const LinkCounts& counts() const { return counts_; }

 private:
  struct Departure {
    uint64_t at;
    uint32_t bytes;
  };
  bool Happens(double part);
  uint64_t Delay(uint32_t bytes);
  void Drain();
  bool Queue(uint32_t bytes);
  bool Police(uint32_t bytes);

  Events& events_;
  std::mt19937_64& random_;
  const LinkOptions options_;
  std::deque<Departure> queue_;
  uint64_t queued_ = 0;  // bytes
  uint64_t free_at_ = 0;
  double unused_;            // bytes that a policer lets pass,
  uint64_t policed_at_ = 0;  // as of then
  LinkCounts counts_;
};

}  // namespace model
