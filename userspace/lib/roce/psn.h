// SPDX-License-Identifier: GPL-2.0-only
// Packet sequence numbers: 24 bits, compared modulo 2^24 within half the circle.
#pragma once

#include <cstdint>

namespace roce {

inline constexpr uint32_t kPsnMask = 0xffffff;

constexpr uint32_t PsnAdd(uint32_t psn, int64_t count) {
  return static_cast<uint32_t>(psn + count) & kPsnMask;
}

// How far `a` is ahead of `b`: -2^23 .. 2^23-1.
constexpr int32_t PsnDiff(uint32_t a, uint32_t b) {
  const uint32_t distance = (a - b) & kPsnMask;
  return distance < 0x800000 ? static_cast<int32_t>(distance)
                             : static_cast<int32_t>(distance) - 0x1000000;
}

constexpr bool PsnBefore(uint32_t a, uint32_t b) { return PsnDiff(a, b) < 0; }

// PSNs that a message of `length` bytes takes: one per path MTU, at least one.
constexpr uint32_t PsnCount(uint64_t length, uint32_t mtu) {
  return length == 0 ? 1 : static_cast<uint32_t>((length + mtu - 1) / mtu);
}

}  // namespace roce
