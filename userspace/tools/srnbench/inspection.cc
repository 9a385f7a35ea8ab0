// SPDX-License-Identifier: GPL-2.0-only
#include "inspection.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace srnbench {
namespace {

std::vector<std::byte> Copy(verbs::ConstBytes bytes) { return {bytes.begin(), bytes.end()}; }

void Compare(verbs::ConstBytes is, verbs::ConstBytes wanted, const char* end) {
  const auto [found, other] = std::mismatch(is.begin(), is.end(), wanted.begin());
  if (found == is.end()) return;
  throw std::runtime_error(fmt::format("end {}: byte {} is {:#04x}, not {:#04x}", end,
                                       found - is.begin(), static_cast<unsigned>(*found),
                                       static_cast<unsigned>(*other)));
}

}  // namespace

Inspection::Inspection(verbs::Bytes a, verbs::Bytes b, uint32_t seed) : a_(a), b_(b) {
  verbs::FillPattern(a, seed);
  std::transform(a.begin(), a.end(), b.begin(), [](std::byte value) { return ~value; });
  was_a_ = Copy(a);
  was_b_ = Copy(b);
}

void Inspection::Check(const Movement& movement) const {
  Image a = was_a_, b = was_b_;

  if (movement.to == Movement::To::kA) std::copy_n(was_b_.begin(), movement.bytes, a.begin());
  if (movement.to == Movement::To::kB) std::copy_n(was_a_.begin(), movement.bytes, b.begin());
  Compare(a_, a, "a");
  Compare(b_, b, "b");
}

}  // namespace srnbench
