// SPDX-License-Identifier: GPL-2.0-only
// Interfaces: veth pairs, addresses, routes, neighbours. All by iproute2.
#pragma once

#include <string>

#include <result/result.h>

#include "address.h"

namespace net {

// Owns a veth pair: deletes it when it goes (either end takes the other along).
class VethPair {
 public:
  // Creates the pair in the current namespace, both ends up, with `mtu`.
  static result::Result<VethPair> Create(const std::string& a, const std::string& b, int mtu);
  VethPair(VethPair&& other) noexcept
      : a_(std::exchange(other.a_, {})), b_(std::exchange(other.b_, {})) {}
  VethPair& operator=(VethPair&& other) noexcept {
    std::swap(a_, other.a_);
    std::swap(b_, other.b_);
    return *this;
  }
  ~VethPair();

  const std::string& a() const { return a_; }
  const std::string& b() const { return b_; }

 private:
  VethPair(std::string a, std::string b) : a_(std::move(a)), b_(std::move(b)) {}
  std::string a_, b_;
};

result::Status SetUp(const std::string& dev, bool up);
// Adds address/prefix; IPv6 without duplicate address detection.
result::Status AddAddress(const std::string& dev, const IpAddress& address, int prefix);
// A permanent neighbour entry: nobody needs to answer ARP or ND.
result::Status AddNeighbour(const std::string& dev, const IpAddress& address,
                            const MacAddress& mac);
// Writes /proc/sys/net/<family>/conf/<dev>/<key>.
result::Status SetConf(IpVersion family, const std::string& dev, const std::string& key,
                       const std::string& value);
result::Result<MacAddress> GetMac(const std::string& dev);
result::Result<int> GetIndex(const std::string& dev);

}  // namespace net
