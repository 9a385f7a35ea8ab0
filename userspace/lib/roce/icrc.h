// SPDX-License-Identifier: GPL-2.0-only
// The invariant CRC of RoCEv2, written to be plainly right, not fast.
#pragma once

#include <cstdint>
#include <span>

namespace roce {

inline constexpr size_t kIcrcSize = 4;

// CRC-32 of Ethernet (reflected, polynomial 0x04c11db7), one bit at a time,
// without the final complement. Start with ~0.
uint32_t Crc32(uint32_t crc, std::span<const uint8_t> data);

// The ICRC over `ip_udp`, the IPv4 or IPv6 header and the UDP header behind it, and `transport`,
// BTH to the last pad byte. Its least significant byte is first on the wire.
//
// What routers may change counts as all ones: eight bytes for the LRH that
// RoCEv2 lacks; IPv4 TOS, TTL and header checksum; IPv6 traffic class, flow
// label and hop limit; the UDP checksum; BTH byte 4 (FECN, BECN, reserved).
uint32_t Icrc(std::span<const uint8_t> ip_udp, std::span<const uint8_t> transport);

}  // namespace roce
