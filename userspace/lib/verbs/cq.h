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
    // Create for polling by ibv_start_poll() and the calls after it, of all that ibv_wc has but
    // pkey_index.
    bool by_calls = false;
  };

  static Result<Cq> Create(const Context& context, int entries, Options options);
  static Result<Cq> Create(const Context& context, int entries);

  // A completion if there is one now. A negative return of ibv_poll_cq reads
  // as none: see PollRaw().
  std::optional<ibv_wc> Poll() const;
  // What ibv_poll_cq returns, and in the same way what the calls for it do.
  int PollRaw(ibv_wc* wc, int count) const;

  // Polls until a completion comes. ETIMEDOUT if none did, EIO if the CQ is
  // broken.
  Result<ibv_wc> Wait(Timeout timeout) const;
  // `count` completions in the order of the queue.
  Result<std::vector<ibv_wc>> WaitFor(size_t count, Timeout timeout) const;

  Status Arm(bool solicited_only = false) const;
  Status Resize(int entries) const;
  // One event for so many completions, or after so long, whichever is sooner.
  Status Moderate(uint16_t count, uint16_t period_us) const;

 private:
  static Result<Cq> CreateForCalls(const Context& context, int entries, const Options& options);
  int PollByCalls(ibv_wc* wc, int count) const;

  // The same queue, if it is polled by calls.
  ibv_cq_ex* calls_ = nullptr;
};

}  // namespace verbs
