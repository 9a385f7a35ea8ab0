// SPDX-License-Identifier: GPL-2.0-only
// What of the module an input has reached that none before it had.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <string>

namespace fuzz {

class Coverage {
 public:
  virtual ~Coverage() = default;

  virtual const char* unit() const = 0;
  // How many inputs go between two looks.
  virtual int batch() const = 0;
  // An input begins; it has ended: true if it reached something new.
  virtual void Begin() = 0;
  virtual bool End() = 0;
  // What was reached since the last look is no input's doing.
  virtual void Discard() = 0;
  // All that was ever reached.
  virtual size_t total() const = 0;
};

// How often something was run through, in steps of powers of two: each of them counts as something
// else. A loop that goes round more often than ever is news.
inline uint32_t CountBucket(uint64_t count) {
  constexpr uint64_t kMost = 12;
  return 1u << std::min(std::bit_width(count), kMost);
}

// Pairs of places that this thread ran through one after the other, of the code that is built
// with KCOV_INSTRUMENT. nullptr where the kernel has no KCOV.
std::unique_ptr<Coverage> OpenKcov();
// Arcs between the basic blocks of a module built with GCOV_PROFILE, in whatever context. Slower:
// all counters are read. nullptr if there are none.
std::unique_ptr<Coverage> OpenGcov();
// Nothing is ever new.
std::unique_ptr<Coverage> NoCoverage();

}  // namespace fuzz
