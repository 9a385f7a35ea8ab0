// SPDX-License-Identifier: GPL-2.0-only
#include "stray.h"

#include <linux/if_ether.h>
#include <netinet/in.h>

#include <net/datagram.h>

namespace wire {
namespace {

constexpr size_t kTypeAt = net::kEthernetHeader - 2;
constexpr size_t kIpv4ProtocolAt = net::kEthernetHeader + 9;
constexpr size_t kIpv6NextAt = net::kEthernetHeader + 6;

// Errors and echoes are of ICMPv6 as well, and not among these: MLD and discovery.
bool IsHousekeepingIcmpv6(uint8_t type) { return (type >= 130 && type <= 137) || type == 143; }

}  // namespace

bool IsHousekeeping(std::span<const uint8_t> frame) {
  if (frame.size() < net::kEthernetHeader + net::kIpv4Header) return false;
  const int type = frame[kTypeAt] << 8 | frame[kTypeAt + 1];
  if (type == ETH_P_IP) return frame[kIpv4ProtocolAt] == IPPROTO_IGMP;
  if (type != ETH_P_IPV6) return type == ETH_P_ARP;
  // MLD has a router alert in a hop-by-hop header of 8 bytes before it.
  size_t at = net::kEthernetHeader + net::kIpv6Header;
  if (frame.size() <= at) return false;
  uint8_t next = frame[kIpv6NextAt];
  if (next == IPPROTO_HOPOPTS && frame.size() > at + 8) {
    next = frame[at];
    at += 8;
  }
  return next == IPPROTO_ICMPV6 && IsHousekeepingIcmpv6(frame[at]);
}

}  // namespace wire
