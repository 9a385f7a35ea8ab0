// SPDX-License-Identifier: GPL-2.0-only
#include "link.h"

#include <algorithm>
#include <utility>

namespace model {

Link::Link(Events& events, std::mt19937_64& random, const LinkOptions& options)
    : events_(events),
      random_(random),
      options_(options),
      unused_(static_cast<double>(options.queue)) {}

// What is on the wire in full by now is not in the queue any more.
void Link::Drain() {
  for (; !queue_.empty() && queue_.front().at <= events_.now(); queue_.pop_front())
    queued_ -= queue_.front().bytes;
}

// Not by a distribution of the standard library: another library would have another run of a seed.
bool Link::Happens(double part) {
  return part > 0 && static_cast<double>(random_() >> 11) < part * static_cast<double>(1ull << 53);
}

// What one that is late is late by, where others follow it as fast as they can.
uint64_t Link::Delay(uint32_t bytes) {
  if (!Happens(options_.late)) return 0;
  const uint64_t packets = 1 + random_() % static_cast<uint64_t>(options_.late_packets);
  return packets * static_cast<uint64_t>(bytes * 8e9 / options_.rate);
}

bool Link::IsDark() const {
  return events_.now() >= options_.dark_from && events_.now() < options_.dark_until;
}

bool Link::Queue(uint32_t bytes) {
  Drain();
  counts_.found += queued_;
  if (queued_ + bytes > options_.queue) return false;
  free_at_ = std::max(events_.now(), free_at_) + static_cast<uint64_t>(bytes * 8e9 / options_.rate);
  queued_ += bytes;
  queue_.push_back({free_at_, bytes});
  return true;
}

bool Link::Police(uint32_t bytes) {
  const auto passed = static_cast<double>(events_.now() - policed_at_);
  unused_ = std::min(static_cast<double>(options_.queue), unused_ + passed * options_.rate / 8e9);
  policed_at_ = events_.now();
  free_at_ = events_.now();
  if (unused_ < bytes) return false;
  unused_ -= bytes;
  return true;
}

void Link::Send(uint32_t bytes, std::function<void()> arrives) {
  ++counts_.packets;
  if (!(options_.polices ? Police(bytes) : Queue(bytes))) {
    ++counts_.dropped;
    return;
  }
  if (IsLost() || IsDark()) {
    ++counts_.lost;
    return;
  }
  events_.After(free_at_ + options_.propagation + Delay(bytes) - events_.now(), std::move(arrives));
}

}  // namespace model
