// SPDX-License-Identifier: GPL-2.0-only
// The syndrome byte of the AETH: acknowledgement with credits, RNR NAK with a
// timer, NAK with a code. IBTA volume 1, tables 43 to 46.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace roce {

enum class AethKind { kAck, kRnrNak, kNak, kReserved };

inline constexpr uint8_t kNakSequence = 0x60;
inline constexpr uint8_t kNakInvalidRequest = 0x61;
inline constexpr uint8_t kNakRemoteAccess = 0x62;
inline constexpr uint8_t kNakRemoteOperational = 0x63;

// An ACK that says nothing about credits.
inline constexpr uint8_t kAckNoCredits = 0x1f;

constexpr AethKind KindOf(uint8_t syndrome) {
  switch (syndrome >> 5) {
    case 0:
      return AethKind::kAck;
    case 1:
      return AethKind::kRnrNak;
    case 3:
      return AethKind::kNak;
    default:
      return AethKind::kReserved;
  }
}

constexpr uint8_t RnrNak(uint8_t timer) { return static_cast<uint8_t>(0x20 | (timer & 0x1f)); }

// How long an RNR NAK with this 5-bit code asks the requester to wait, at least.
std::chrono::microseconds RnrDelay(uint8_t timer);

// Receive credits that a 5-bit code grants; nullopt for "no credit information".
std::optional<uint32_t> Credits(uint8_t code);

// The largest code that does not promise more than `credits`.
uint8_t CreditCode(uint32_t credits);

std::string SyndromeName(uint8_t syndrome);

}  // namespace roce
