// SPDX-License-Identifier: GPL-2.0-only
// The UDP source port that both ends of a connection derive alike.
#pragma once

#include <cstdint>

namespace roce {

inline constexpr uint16_t kFirstSourcePort = 0xc000;

// The 20-bit flow label that stands for a pair of QPs when none was given.
// It is the same seen from either end.
constexpr uint32_t FlowLabelOf(uint32_t qpn_a, uint32_t qpn_b) {
  uint64_t mixed = uint64_t{qpn_a} * qpn_b;
  mixed ^= mixed >> 20;
  mixed ^= mixed >> 40;
  return static_cast<uint32_t>(mixed & 0xfffff);
}

// Folds a flow label into the port range 0xc000 to 0xffff.
constexpr uint16_t SourcePort(uint32_t flow_label) {
  const uint32_t low = flow_label & 0x03fff;
  const uint32_t high = flow_label & 0xfc000;
  return static_cast<uint16_t>((low ^ high >> 14) | kFirstSourcePort);
}

}  // namespace roce
