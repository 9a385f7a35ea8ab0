// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Protection domains, thread domains, and the parent domains that join both: what they are, and
// what keeps one from going.
#pragma once

#include <atomic>

#include "verbs_private.h"

namespace srn {

// A thread domain: what is created in it is used by one thread at a time.
struct Td {
  ibv_td td;
  std::atomic<int> users;  // parent domains
};

// A protection domain, or a parent domain that stands for one.
struct Pd {
  ibv_pd pd;
  Pd* protection;  // parent domains: the domain they stand for; else null
  Td* td;          // parent domains with a thread domain
  // Parent domains that stand for this one; of a parent domain the queues in it. Of what was
  // made in a protection domain the kernel knows.
  std::atomic<int> users;
};

inline Td& ToTd(ibv_td* td) { return *reinterpret_cast<Td*>(td); }
inline Pd& ToPd(ibv_pd* pd) { return *reinterpret_cast<Pd*>(pd); }

// Whether objects of this domain need no locks.
inline bool IsSingleThreaded(ibv_pd* pd) { return pd != nullptr && ToPd(pd).td != nullptr; }

// The parent domain that a queue was made in stays while the queue does, and with it the thread
// domain on whose word the queue has no locks.
class InDomain {
 public:
  InDomain() = default;
  InDomain(const InDomain&) = delete;
  InDomain& operator=(const InDomain&) = delete;
  ~InDomain() {
    if (parent_ != nullptr) parent_->users.fetch_sub(1);
  }
  void Enter(ibv_pd* pd) {
    if (pd == nullptr || ToPd(pd).protection == nullptr) return;
    parent_ = &ToPd(pd);
    parent_->users.fetch_add(1);
  }

 private:
  Pd* parent_ = nullptr;
};

}  // namespace srn
