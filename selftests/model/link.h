// SPDX-License-Identifier: GPL-2.0-only
// The bottleneck: a queue of so many bytes, a wire behind it, and on that wire packets that are
// lost one by one, whatever else is lost.
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
};

struct LinkCounts {
  uint64_t packets = 0;  // that came to the queue,
  uint64_t dropped = 0;  // of them, since it was full
  uint64_t found = 0;    // bytes that they found in it, in all
};

class Link {
 public:
  Link(Events& events, std::mt19937_64& random, const LinkOptions& options);

  void Send(uint32_t bytes, std::function<void()> arrives);

  const LinkCounts& counts() const { return counts_; }

 private:
  struct Departure {
    uint64_t at;
    uint32_t bytes;
  };
  void Drain();
  bool IsLost();

  Events& events_;
  std::mt19937_64& random_;
  const LinkOptions options_;
  std::deque<Departure> queue_;
  uint64_t queued_ = 0;  // bytes
  uint64_t free_at_ = 0;
  LinkCounts counts_;
};

}  // namespace model
