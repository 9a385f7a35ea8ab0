// SPDX-License-Identifier: GPL-2.0-only
// Completion channels.
#pragma once

#include "context.h"
#include "handle.h"

namespace verbs {

class CompChannel : public Handle<ibv_comp_channel> {
 public:
  using Handle::Handle;

  // What a notification tells.
  struct Event {
    ibv_cq* cq;
    void* cq_context;
  };

  static Result<CompChannel> Create(const Context& context);

  // The next notification, already acknowledged. ETIMEDOUT if none came.
  Result<Event> Wait(Timeout timeout) const;
};

}  // namespace verbs
