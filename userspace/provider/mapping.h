// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// What the kernel shares with the program.
#pragma once

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace srn {

// A queue that the kernel offers to mmap.
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

  // 0 or an errno.
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

}  // namespace srn
