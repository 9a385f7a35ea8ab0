// SPDX-License-Identifier: GPL-2.0-only
// Memory of a program that lends itself to answers that can't be written. What the kernel writes
// too far falls on pages of nobody's, not on the fuzzer itself.
//
//	page 0      page 1      page 2      page 3                  page 4
//	read/write  nobody      read only   read/write, or nobody   nobody
//	                                    while the meddler is
//	                                    at it
//
//	page 5      page 6      pages 7 to 38               page 39
//	commands    nobody      the arena: to register      nobody
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>

#include "source.h"

namespace fuzz {

class Pages {
 public:
  static constexpr size_t kPage = 4096;

  static constexpr size_t kPages = 40;

  Pages()
      : start_(static_cast<char*>(mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    if (start_ == MAP_FAILED) throw std::bad_alloc();
    for (const int nobodys : {1, 4, 6, 39}) mprotect(page(nobodys), kPage, PROT_NONE);
    mprotect(page(2), kPage, PROT_READ);
  }
  ~Pages() { munmap(start_, kPages * kPage); }
  Pages(const Pages&) = delete;

  char* page(int index) const { return start_ + index * kPage; }
  uint64_t arena() const { return reinterpret_cast<uint64_t>(page(7)); }
  // A copy of `bytes` that commands may name; the page has room for two.
  uint64_t Keep(std::span<const uint8_t> bytes, int half = 0) const {
    char* place = page(5) + half * kPage / 2;
    std::memcpy(place, bytes.data(), std::min(bytes.size(), kPage / 2));
    return reinterpret_cast<uint64_t>(place);
  }
  bool Holds(uint64_t address, size_t size) const {
    const auto start = reinterpret_cast<uint64_t>(start_);
    return address >= start && address + size <= start + kPage;
  }

  // Where an answer shall go, of which the core writes `core` bytes. Mostly where it can.
  uint64_t Place(Source& source, size_t core) const {
    const auto at = [this](int index) { return reinterpret_cast<uint64_t>(page(index)); };
    switch (source.Below(24)) {
      case 0:
        return 0;
      case 1:
        return at(1) - core;  // the driver's part can't be written
      case 2:
        return at(1) - core / 2;
      case 3:
        return at(1);
      case 4:
        return at(2);
      case 5:
        return at(2) - 4;
      case 6:
        return 0xffff800000000000 + source.Word();
      case 7:
        return at(0) + 1;
      case 8:
      case 9:
        return at(3);
      default:
        return at(0);
    }
  }

 private:
  char* start_;
};

}  // namespace fuzz
