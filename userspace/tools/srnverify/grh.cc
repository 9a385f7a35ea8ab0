// SPDX-License-Identifier: GPL-2.0-only
#include "grh.h"

#include <arpa/inet.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace srnverify {
namespace {

constexpr uint32_t kUdpHeader = 8, kBth = 12, kDeth = 8, kImm = 4, kIcrc = 4;
constexpr size_t kV4At = 20;

bool IsV4(const ibv_gid& gid) {
  static constexpr uint8_t kPrefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::equal(std::begin(kPrefix), std::end(kPrefix), gid.raw);
}

std::string Other(const char* what, uint32_t want, uint32_t got) {
  return fmt::format("{} of its IP header is {}, expected {}", what, got, want);
}

std::string WrongInV4(const std::byte* at, const ibv_gid& from, const ibv_gid& to, uint32_t udp) {
  iphdr ip;
  std::memcpy(&ip, at, sizeof(ip));
  if (ip.version != 4 || ip.ihl != 5)
    return Other("version and length", 0x45, ip.version << 4 | ip.ihl);
  if (ntohs(ip.tot_len) != sizeof(ip) + udp)
    return Other("total length", sizeof(ip) + udp, ntohs(ip.tot_len));
  if (ip.protocol != IPPROTO_UDP) return Other("protocol", IPPROTO_UDP, ip.protocol);
  if (ip.ttl == 0) return "TTL of its IP header is 0";
  if (std::memcmp(&ip.saddr, from.raw + 12, 4) != 0) return "source of its IP header is another";
  if (std::memcmp(&ip.daddr, to.raw + 12, 4) != 0) return "destination of its IP header is another";
  return {};
}

std::string WrongInV6(const std::byte* at, const ibv_gid& from, const ibv_gid& to, uint32_t udp) {
  ip6_hdr ip;
  std::memcpy(&ip, at, sizeof(ip));
  if (ip.ip6_vfc >> 4 != 6) return Other("version", 6, ip.ip6_vfc >> 4);
  if (ntohs(ip.ip6_plen) != udp) return Other("payload length", udp, ntohs(ip.ip6_plen));
  if (ip.ip6_nxt != IPPROTO_UDP) return Other("next header", IPPROTO_UDP, ip.ip6_nxt);
  if (ip.ip6_hlim == 0) return "hop limit of its IP header is 0";
  if (std::memcmp(&ip.ip6_src, from.raw, 16) != 0) return "source of its IP header is another";
  if (std::memcmp(&ip.ip6_dst, to.raw, 16) != 0) return "destination of its IP header is another";
  return {};
}

}  // namespace

std::string WrongInGrh(verbs::ConstBytes grh, const ibv_gid& from, const ibv_gid& to, uint32_t size,
                       bool imm) {
  const uint32_t padded = (size + 3) / 4 * 4;
  const uint32_t udp = kUdpHeader + kBth + kDeth + (imm ? kImm : 0) + padded + kIcrc;
  return IsV4(to) ? WrongInV4(grh.data() + kV4At, from, to, udp)
                  : WrongInV6(grh.data(), from, to, udp);
}

int ServiceLevel(const ibv_gid& to) { return 8 | (IsV4(to) ? 2 : 1); }

}  // namespace srnverify
