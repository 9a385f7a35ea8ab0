// SPDX-License-Identifier: GPL-2.0-only
#include "icrc.h"

#include <algorithm>
#include <array>
#include <vector>

namespace roce {
namespace {

constexpr uint32_t kReflectedPolynomial = 0xedb88320;
constexpr size_t kBthEcnByte = 4;

void Mask(std::vector<uint8_t>& bytes, size_t at, size_t count) {
  for (size_t i = at; i < at + count && i < bytes.size(); ++i) bytes[i] = 0xff;
}

void MaskIpv4(std::vector<uint8_t>& bytes) {
  Mask(bytes, 1, 1);   // TOS
  Mask(bytes, 8, 1);   // TTL
  Mask(bytes, 10, 2);  // header checksum
}

void MaskIpv6(std::vector<uint8_t>& bytes) {
  bytes[0] |= 0x0f;   // traffic class, upper half
  Mask(bytes, 1, 3);  // traffic class, lower half, and flow label
  Mask(bytes, 7, 1);  // hop limit
}

}  // namespace

uint32_t Crc32(uint32_t crc, std::span<const uint8_t> data) {
  for (const uint8_t byte : data) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc & 1) != 0 ? crc >> 1 ^ kReflectedPolynomial : crc >> 1;
  }
  return crc;
}

uint32_t Icrc(std::span<const uint8_t> ip_udp, std::span<const uint8_t> transport) {
  static constexpr std::array<uint8_t, 8> kLrhPlaceholder = {0xff, 0xff, 0xff, 0xff,
                                                             0xff, 0xff, 0xff, 0xff};
  std::vector<uint8_t> masked(ip_udp.begin(), ip_udp.end());
  if (masked[0] >> 4 == 4)
    MaskIpv4(masked);
  else
    MaskIpv6(masked);
  Mask(masked, masked.size() - 2, 2);  // UDP checksum

  std::vector<uint8_t> body(transport.begin(), transport.end());
  Mask(body, kBthEcnByte, 1);

  uint32_t crc = Crc32(~0u, kLrhPlaceholder);
  crc = Crc32(crc, masked);
  crc = Crc32(crc, body);
  return ~crc;
}

}  // namespace roce
