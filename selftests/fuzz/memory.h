// SPDX-License-Identifier: GPL-2.0-only
// Memory regions with rights of every kind, and guard areas around each: what no packet may change,
// and what no packet may carry away.
#pragma once

#include <vector>

#include <verbs/memory.h>
#include <verbs/wr.h>

namespace fuzz {

class GuardedMemory {
 public:
  static constexpr size_t kOpenSize = 64 << 10;
  static constexpr size_t kClosedSize = 8 << 10;

  // Regions of `pd`; one belongs to `foreign`.
  GuardedMemory(const verbs::Pd& pd, const verbs::Pd& foreign);

  // The region that everybody may use.
  const verbs::Mr& open() const { return open_; }
  // Addresses and keys that a peer may name, allowed or not.
  const std::vector<verbs::Remote>& remotes() const { return remotes_; }
  // Elements that a work request may name.
  const std::vector<ibv_sge>& sges() const { return sges_; }

  // The region whose bytes a peer may read and nobody may write: they are always the same.
  const verbs::Mr& still() const { return closed_[1]; }

  // Throws Broken if anything but the open region changed, or that holds what was never to be read.
  void CheckUntouched() const;

 private:
  verbs::Bytes Area(size_t index) const;

  verbs::Buffer buffer_;
  verbs::Mr open_;
  std::vector<verbs::Mr> closed_;
  std::vector<verbs::Remote> remotes_;
  std::vector<ibv_sge> sges_;
};

}  // namespace fuzz
