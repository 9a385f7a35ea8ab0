// SPDX-License-Identifier: GPL-2.0-only
// Whether what was moved arrived, and nothing else changed.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <verbs/buffer.h>

namespace srnbench {

// What a workload does to the buffers of both ends, however often it does it.
struct Movement {
  enum class To { kNobody, kA, kB };

  To to = To::kNobody;
  // From the beginning of one buffer to that of the other.
  size_t bytes = 0;
};

class Inspection {
 public:
  // Fills both buffers, of one size: no byte of `b` is what it is in `a`. What another `seed` made
  // differs.
  Inspection(verbs::Bytes a, verbs::Bytes b, uint32_t seed);

  // Compares every byte of both with what they are after `movement`. Throws std::runtime_error that
  // names the first one that is not.
  void Check(const Movement& movement) const;

 private:
  using Image = std::vector<std::byte>;

  verbs::Bytes a_, b_;
  Image was_a_, was_b_;
};

}  // namespace srnbench
