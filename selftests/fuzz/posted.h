// SPDX-License-Identifier: GPL-2.0-only
// Work requests by their numbers, each another: none completes twice, or with more than was asked.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <map>

namespace fuzz {

class Posted {
 public:
  // A number that none had before.
  uint64_t Next() { return ++last_; }
  // `room`: bytes of a receive request. One that is posted to a shared queue outlives its QP.
  void Add(uint64_t wr_id, uint64_t room, bool shared = false) { all_[wr_id] = {room, shared}; }
  // Throws Broken if the completion is of none that is still under way, or says too much.
  void Complete(const ibv_wc& wc);
  // The QP is gone, and with it what was posted to it.
  void ForgetOwn();
  void ForgetAll() { all_.clear(); }

 private:
  struct Request {
    uint64_t room;
    bool shared;
  };

  uint64_t last_ = 0;
  std::map<uint64_t, Request> all_;
};

}  // namespace fuzz
