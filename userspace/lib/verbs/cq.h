// SPDX-License-Identifier: GPL-2.0-only
// Completion queues, and waiting for completions.
#pragma once

#include <optional>
#include <vector>

#include "channel.h"
#include "context.h"
#include "handle.h"

namespace verbs {

class Cq : public Handle<ibv_cq> {
 public:
  using Handle::Handle;

  struct Options {
    const CompChannel* channel = nullptr;
    void* context = nullptr;
    int vector = 0;
  };

  static Result<Cq> Create(const Context& context, int entries, Options options);
  static Result<Cq> Create(const Context& context, int entries);

  // A completion if there is one now. A negative return of ibv_poll_cq reads
  // as none: see PollRaw().
  std::optional<ibv_wc> Poll() const;
  // What ibv_poll_cq returns.
  int PollRaw(ibv_wc* wc, int count) const;

  // Polls until a completion comes. ETIMEDOUT if none did, EIO if the CQ is
  // broken.
  Result<ibv_wc> Wait(Timeout timeout) const;
  // `count` completions in the order of the queue.
  Result<std::vector<ibv_wc>> WaitFor(size_t count, Timeout timeout) const;

  Status Arm(bool solicited_only = false) const;
  Status Resize(int entries) const;
};

}  // namespace verbs
