// SPDX-License-Identifier: GPL-2.0-only
// A UDP datagram in IPv4 or IPv6 in Ethernet: build it, parse it. Fields that
// are normally computed can be overridden, to build what should be refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "address.h"

namespace net {

using Bytes = std::vector<uint8_t>;

inline constexpr size_t kEthernetHeader = 14;
inline constexpr size_t kIpv4Header = 20;
inline constexpr size_t kIpv6Header = 40;
inline constexpr size_t kUdpHeader = 8;

enum class UdpChecksum {
  kZero,   // field is 0: "no checksum"
  kRight,  // computed (IPv6 needs it unless both ends agree on 0)
  kWrong,  // computed, then damaged
};

struct Datagram {
  MacAddress mac_src, mac_dst;
  IpAddress src, dst;
  uint8_t tos = 0;            // IPv4 TOS or IPv6 traffic class
  uint8_t ttl = 64;           // IPv4 TTL or IPv6 hop limit
  uint16_t ip_id = 0;         // IPv4
  bool dont_fragment = true;  // IPv4
  uint32_t flow_label = 0;    // IPv6
  uint16_t sport = 0, dport = 0;
  UdpChecksum udp_checksum = UdpChecksum::kZero;
  std::optional<uint16_t> ip_length;   // overrides total length (IPv4) or payload length (IPv6)
  std::optional<uint16_t> udp_length;  // overrides the UDP length
  Bytes payload;

  IpVersion version() const { return dst.version(); }
  size_t ip_header_size() const { return version() == IpVersion::kV4 ? kIpv4Header : kIpv6Header; }
};

// IP and UDP header as they stand on the wire (the UDP checksum included).
Bytes BuildIpUdp(const Datagram& datagram);

// The whole Ethernet frame.
Bytes BuildFrame(const Datagram& datagram);

// What ParseFrame() found out.
struct ParsedDatagram {
  Datagram datagram;  // payload is cut to the UDP length
  bool ip_checksum_ok = true;
  bool udp_checksum_ok = true;  // true for a field of 0
  uint16_t udp_checksum_field = 0;
  size_t trailing = 0;  // bytes of the frame behind the IP packet
};

// Parses Ethernet + IP + UDP. nullopt if it is not a whole UDP datagram
// (fragments, IP options, extension headers and bad lengths included).
std::optional<ParsedDatagram> ParseFrame(std::span<const uint8_t> frame);

// One's complement sum over `data`, folded, added to `sum` (not complemented).
uint32_t ChecksumAdd(uint32_t sum, std::span<const uint8_t> data);

}  // namespace net
