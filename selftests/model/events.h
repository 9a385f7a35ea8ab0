// SPDX-License-Identifier: GPL-2.0-only
// Time of the model, and what happens in it. What is to happen at the same time happens in the
// order in which that was asked for, so that a run repeats.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace model {

class Events {
 public:
  uint64_t now() const { return now_; }

  void After(uint64_t ns, std::function<void()> what) {
    heap_.push_back({now_ + ns, order_++, std::move(what)});
    std::push_heap(heap_.begin(), heap_.end(), IsLater);
  }

  void RunUntil(uint64_t ns) {
    while (!heap_.empty() && heap_.front().at <= ns) {
      std::pop_heap(heap_.begin(), heap_.end(), IsLater);
      const Event event = std::move(heap_.back());
      heap_.pop_back();
      now_ = event.at;
      event.what();
    }
    now_ = ns;
  }

 private:
  struct Event {
    uint64_t at, order;
    std::function<void()> what;
  };
  static bool IsLater(const Event& a, const Event& b) {
    return a.at != b.at ? a.at > b.at : a.order > b.order;
  }

  uint64_t now_ = 0, order_ = 0;
  std::vector<Event> heap_;
};

// Rings once, when it was last told to.
class Alarm {
 public:
  Alarm(Events& events, std::function<void()> rings) : events_(events), rings_(std::move(rings)) {}
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

  void Set(uint64_t in_ns) {
    is_set_ = true;
    events_.After(in_ns, [this, mine = ++settings_] { Ring(mine); });
  }
  void Clear() { is_set_ = false; }
  bool is_set() const { return is_set_; }

 private:
  void Ring(uint64_t setting) {
    if (!is_set_ || setting != settings_) return;
    is_set_ = false;
    rings_();
  }

  Events& events_;
  const std::function<void()> rings_;
  bool is_set_ = false;
  uint64_t settings_ = 0;
};

}  // namespace model
