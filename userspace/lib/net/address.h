// SPDX-License-Identifier: GPL-2.0-only
// MAC and IP addresses as bytes in wire order.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace net {

enum class IpVersion { kV4, kV6 };

struct MacAddress {
  std::array<uint8_t, 6> bytes{};

  static std::optional<MacAddress> Parse(std::string_view text);
  std::string ToString() const;
  bool operator==(const MacAddress&) const = default;
};

// An IPv4 or IPv6 address. IPv4 is kept mapped (::ffff:a.b.c.d), which is
// also how RoCEv2 writes it into a GID.
class IpAddress {
 public:
  IpAddress() = default;
  static std::optional<IpAddress> Parse(std::string_view text);
  static IpAddress FromV4(const uint8_t* four_bytes);
  static IpAddress FromV6(const uint8_t* sixteen_bytes);

  IpVersion version() const;
  // The 16 bytes of the GID that stands for this address.
  const std::array<uint8_t, 16>& gid() const { return bytes_; }
  // The 4 or 16 bytes that an IP header carries.
  const uint8_t* wire() const;
  std::string ToString() const;
  bool operator==(const IpAddress&) const = default;

 private:
  std::array<uint8_t, 16> bytes_{};
};

}  // namespace net
