// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Locks without libstdc++.
#pragma once

#include <pthread.h>

namespace srn {

// A spinlock that objects of a single thread do without.
class Lock {
 public:
  Lock() { pthread_spin_init(&lock_, PTHREAD_PROCESS_PRIVATE); }
  ~Lock() { pthread_spin_destroy(&lock_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  // The program promises that one thread at a time uses the object. Before first use.
  void Disable() { enabled_ = false; }

  void lock() {
    if (enabled_) pthread_spin_lock(&lock_);
  }
  void unlock() {
    if (enabled_) pthread_spin_unlock(&lock_);
  }

 private:
  pthread_spinlock_t lock_;
  bool enabled_ = true;
};

class LockGuard {
 public:
  explicit LockGuard(Lock& lock) : lock_(lock) { lock_.lock(); }
  ~LockGuard() { lock_.unlock(); }
  LockGuard(const LockGuard&) = delete;
  LockGuard& operator=(const LockGuard&) = delete;

 private:
  Lock& lock_;
};

}  // namespace srn
