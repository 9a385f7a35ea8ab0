// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/**
 * @file
 * Objects on the heap without operator new (that would be libstdc++), mappings, and locks.
 */
#ifndef SRN_PROVIDER_MEMORY_HPP_
#define SRN_PROVIDER_MEMORY_HPP_

#include <pthread.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace srn {

struct Dropper {
  template <typename T>
  void operator()(T* object) const {
    object->~T();
    std::free(object);
  }
};

/** Owns an object until it is handed to the program with release(). */
template <typename T>
using Owned = std::unique_ptr<T, Dropper>;

/** A zeroed object, or null with errno ENOMEM. */
template <typename T>
Owned<T> Make() {
  void* memory = std::calloc(1, sizeof(T));
  return Owned<T>(memory == nullptr ? nullptr : new (memory) T());
}

/** Destroys what Make() made and release() gave away. */
template <typename T>
void Drop(T* object) {
  Dropper()(object);
}

/** A queue that the kernel offers to mmap. */
class Mapping {
 public:
  Mapping() = default;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  Mapping(Mapping&& other) noexcept { Swap(other); }
  Mapping& operator=(Mapping&& other) noexcept {
    Mapping dead(static_cast<Mapping&&>(other));
    Swap(dead);
    return *this;
  }
  ~Mapping() {
    if (base_ != nullptr) munmap(base_, length_);
  }

  /** 0 or an errno. */
  int Map(int fd, uint64_t offset, uint64_t length) {
    void* base =
        mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(offset));
    if (base == MAP_FAILED) return errno;
    base_ = base;
    length_ = length;
    return 0;
  }

  template <typename T>
  T* at(size_t offset) const {
    return reinterpret_cast<T*>(static_cast<unsigned char*>(base_) + offset);
  }

 private:
  void Swap(Mapping& other) {
    std::swap(base_, other.base_);
    std::swap(length_, other.length_);
  }

  void* base_ = nullptr;
  size_t length_ = 0;
};

/** A spinlock that objects of a single thread do without. */
class Lock {
 public:
  Lock() { pthread_spin_init(&lock_, PTHREAD_PROCESS_PRIVATE); }
  ~Lock() { pthread_spin_destroy(&lock_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  /** The program promises that one thread at a time uses the object. Before first use. */
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

#endif  // SRN_PROVIDER_MEMORY_HPP_
