// SPDX-License-Identifier: GPL-2.0-only
// Shared receive queues.
#pragma once

#include "context.h"
#include "handle.h"
#include "wr.h"

namespace verbs {

class Srq : public Handle<ibv_srq> {
 public:
  using Handle::Handle;

  static Result<Srq> Create(const Pd& pd, uint32_t max_wr, uint32_t max_sge = 1);

  Status Post(RecvWr wr) const;
  // Posts a list; `posted` gets the number of requests before the bad one.
  Status Post(std::span<RecvWr> list, size_t* posted) const;
  // Asks for one event when fewer than `limit` requests are left.
  Status SetLimit(uint32_t limit) const;
  Status Resize(uint32_t max_wr) const;
  // Both at once, or nothing.
  Status Resize(uint32_t max_wr, uint32_t limit) const;
  Result<ibv_srq_attr> Query() const;
};

}  // namespace verbs
