// SPDX-License-Identifier: GPL-2.0-only
// What srn devices say to each other beyond the standard, as Documentation/wire.rst has it.
#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "packet.h"

namespace roce {

enum class SackKind : uint8_t { kHello = 1, kAnswer = 2, kHeld = 3 };

// The syndrome of answers, of a reserved class.
inline constexpr uint8_t kAnswerSyndrome = 0x40;
inline constexpr uint32_t kSackMagic = 0x5352;
inline constexpr uint32_t kSackVersion = 1;

struct Sack {
  SackKind kind = SackKind::kHeld;
  uint32_t ahead = 3584;    // PSNs that can be held, from the expected one on
  uint32_t twice = 0;       // request packets that came a second time
  std::set<uint32_t> held;  // distances from the PSN of the BTH, 1 and more
  bool tells = false;       // the sender of it sends CNPs for marks
  bool parts = false;       // and answers each part of a READ that is asked for again, in order
};

// A whole packet, without destination. A hello is an RDMA WRITE ONLY, which has neither `held` nor
// `twice`.
Packet EncodeSack(uint32_t psn, const Sack& sack);

// nullopt where it is none, or not of this version.
std::optional<Sack> DecodeSack(const Packet& packet);

}  // namespace roce
