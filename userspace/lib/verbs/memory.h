// SPDX-License-Identifier: GPL-2.0-only
// Memory regions and memory windows.
#pragma once

#include <cstdint>

#include "buffer.h"
#include "context.h"
#include "handle.h"

namespace verbs {

// Every right that a plain memory region can have.
inline constexpr int kAllAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                  IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
                                  IBV_ACCESS_MW_BIND;

// What a peer needs to reach memory.
struct Remote {
  uint64_t addr;
  uint32_t rkey;

  Remote operator+(uint64_t offset) const { return {addr + offset, rkey}; }
};

class Mr : public Handle<ibv_mr> {
 public:
  using Handle::Handle;

  static Result<Mr> Register(const Pd& pd, Bytes bytes, int access = kAllAccess);
  // The region is addressed from `iova` on, locally and remotely.
  static Result<Mr> RegisterAt(const Pd& pd, Bytes bytes, uint64_t iova, int access = kAllAccess);

  // The errno or the IBV_REREG_MR_ERR_* code (negated there) of the call.
  int Reregister(int flags, ibv_pd* pd, Bytes bytes, int access);

  // Part of the region as a scatter/gather element.
  ibv_sge Slice(size_t offset, size_t length) const;
  // An address in the region for a peer.
  Remote At(size_t offset) const;

 private:
  // Where the region starts in the address space of its keys.
  uint64_t iova_ = 0;
};

class Mw : public Handle<ibv_mw> {
 public:
  using Handle::Handle;

  static Result<Mw> Create(const Pd& pd, ibv_mw_type type);
};

}  // namespace verbs
