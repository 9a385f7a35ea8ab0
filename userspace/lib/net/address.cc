// SPDX-License-Identifier: GPL-2.0-only
#include "address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstdio>

namespace net {
namespace {

constexpr std::array<uint8_t, 12> kMappedPrefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

}  // namespace

std::optional<MacAddress> MacAddress::Parse(std::string_view text) {
  MacAddress mac;
  char end = 0;
  const std::string copy(text);
  auto& b = mac.bytes;
  const int fields = std::sscanf(copy.c_str(), "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%c", &b[0],
                                 &b[1], &b[2], &b[3], &b[4], &b[5], &end);
  if (fields != 6) return std::nullopt;
  return mac;
}

std::string MacAddress::ToString() const {
  char text[18];
  std::snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", bytes[0], bytes[1], bytes[2],
                bytes[3], bytes[4], bytes[5]);
  return text;
}

std::optional<IpAddress> IpAddress::Parse(std::string_view text) {
  const std::string copy(text);
  uint8_t raw[16];
  if (inet_pton(AF_INET, copy.c_str(), raw) == 1) return FromV4(raw);
  if (inet_pton(AF_INET6, copy.c_str(), raw) == 1) return FromV6(raw);
  return std::nullopt;
}

IpAddress IpAddress::FromV4(const uint8_t* four_bytes) {
  IpAddress address;
  std::copy(kMappedPrefix.begin(), kMappedPrefix.end(), address.bytes_.begin());
  std::copy_n(four_bytes, 4, address.bytes_.begin() + 12);
  return address;
}

IpAddress IpAddress::FromV6(const uint8_t* sixteen_bytes) {
  IpAddress address;
  std::copy_n(sixteen_bytes, 16, address.bytes_.begin());
  return address;
}

IpVersion IpAddress::version() const {
  const bool mapped = std::equal(kMappedPrefix.begin(), kMappedPrefix.end(), bytes_.begin());
  return mapped ? IpVersion::kV4 : IpVersion::kV6;
}

const uint8_t* IpAddress::wire() const {
  return version() == IpVersion::kV4 ? bytes_.data() + 12 : bytes_.data();
}

std::string IpAddress::ToString() const {
  char text[INET6_ADDRSTRLEN];
  const int family = version() == IpVersion::kV4 ? AF_INET : AF_INET6;
  return inet_ntop(family, wire(), text, sizeof(text)) != nullptr ? text : "?";
}

}  // namespace net
