// SPDX-License-Identifier: GPL-2.0-only
// What goes over the modelled path.
#pragma once

#include <cstdint>
#include <vector>

namespace model {

constexpr uint32_t kMtu = 1024;
// A full packet with its headers, from Ethernet's on.
constexpr uint32_t kPacketBytes = 14 + 20 + 8 + 12 + kMtu + 4;

struct Request {
  uint32_t psn;
  uint64_t serial;  // which packet of the connection it is, without wrapping: what it carries
  bool asked;       // for an answer
};

// An ACK; with `held`, a SACK.
struct Answer {
  uint32_t expected = 0;  // all before it has come
  uint32_t twice = 0;     // packets that came a second time
  uint32_t num = 0;       // bits of `held`, of which the first is the PSN behind `expected`
  std::vector<unsigned long> held = {};
};

}  // namespace model
