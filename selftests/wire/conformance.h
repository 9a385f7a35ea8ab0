// SPDX-License-Identifier: GPL-2.0-only
// Rules that every packet on the wire obeys, whatever the test is about.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <net/datagram.h>
#include <roce/packet.h>

namespace wire {

// Watches the packets that one QP sends. One per connection.
class Conformance {
 public:
  Conformance(bool lax, uint32_t mtu) : lax_(lax), mtu_(mtu) {}

  // The next request must have this PSN or an earlier one.
  void SetNextPsn(uint32_t psn) { next_psn_ = psn; }

  // What is wrong with the packet; empty if nothing is.
  std::vector<std::string> Check(const net::ParsedDatagram& parsed, const roce::Decoded& decoded);

 private:
  void CheckIp(const net::ParsedDatagram& parsed);
  void CheckBth(const roce::Packet& packet);
  void CheckEcn(uint8_t tos, const roce::OpcodeInfo& info);
  void CheckPsn(const roce::Packet& packet);
  void Require(bool holds, const std::string& rule) {
    if (!holds) broken_.push_back(rule);
  }

  bool lax_;
  uint32_t mtu_;
  std::optional<uint32_t> next_psn_;
  std::optional<uint16_t> sport_;
  int ip_id_ = 0;
  std::vector<std::string> broken_;
};

}  // namespace wire
