// SPDX-License-Identifier: GPL-2.0-only
// The ICRC against vectors published elsewhere, so that this codec and the
// module cannot agree on a mistake.
#include "icrc.h"

#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <net/datagram.h>

#include "packet.h"

namespace roce {
namespace {

using testing::ElementsAre;

Bytes FromHex(std::string_view hex) {
  Bytes out;
  std::string digits;
  for (const char c : hex) {
    if (c == ' ') continue;
    digits += c;
    if (digits.size() < 2) continue;
    out.push_back(static_cast<uint8_t>(std::stoi(digits, nullptr, 16)));
    digits.clear();
  }
  return out;
}

net::IpAddress Ip(std::string_view text) { return *net::IpAddress::Parse(text); }

// The check value that every catalogue of CRCs gives for CRC-32.
TEST(Crc32, OfTheDigitsOneToNine) {
  constexpr std::string_view digits = "123456789";
  const Bytes data(digits.begin(), digits.end());
  EXPECT_EQ(~Crc32(~0u, data), 0xcbf43926u);
}

TEST(Crc32, SeedAfterTheMissingLrh) { EXPECT_EQ(Crc32(~0u, Bytes(8, 0xff)), 0xdebb20e3u); }

// scapy, test/contrib/roce.uts, "an example UC packet".
TEST(Icrc, OfAPublishedUcSend) {
  net::Datagram d;
  d.src = d.dst = Ip("192.168.0.7");
  d.tos = 1;
  d.ip_id = 1144;
  d.sport = 49152;
  d.dport = kUdpPort;
  Packet p;
  p.bth.opcode = MakeOpcode(Service::kUc, Operation::kSendOnly);
  p.bth.dqpn = 211;
  p.bth.psn = 13571856;
  p.payload = FromHex("4630 818b e289 35d9 0e9a 9550 5401 be88 5e50");
  Encode(p, d);
  EXPECT_THAT(Bytes(d.payload.end() - 4, d.payload.end()), ElementsAre(0x78, 0xf3, 0x53, 0xf3));
}

// scapy, test/contrib/roce.uts: captured from a ConnectX-4 Lx.
constexpr std::string_view kCapturedCnp =
    "e41d 2dab 2bc2 7cfe 9064 3b32 0800 45c2 003c 718c 4000 4011 9161 0a00 1101 0a00"
    "1201 0000 12b7 0028 0000 8100 ffff 4000 0118 0000 0000 0000 0000 0000 0000 0000"
    "0000 0000 0000 82fd 002a";

TEST(Icrc, OfACnpCapturedFromHardware) {
  const auto parsed = net::ParseFrame(FromHex(kCapturedCnp));
  ASSERT_TRUE(parsed);
  const Decoded decoded = Decode(parsed->datagram);
  EXPECT_EQ(decoded.fault, Fault::kNone) << FaultName(decoded.fault);
  EXPECT_EQ(decoded.packet.bth.opcode, kOpcodeCnp);
  EXPECT_TRUE(decoded.packet.bth.becn);
  EXPECT_FALSE(decoded.packet.bth.mig_req);
  EXPECT_EQ(decoded.packet.bth.dqpn, 0x118u);
}

class IcrcMask : public testing::TestWithParam<net::IpVersion> {
 protected:
  net::Datagram Sealed() const {
    const bool v4 = GetParam() == net::IpVersion::kV4;
    net::Datagram d;
    d.src = Ip(v4 ? "10.0.0.1" : "fd00::1");
    d.dst = Ip(v4 ? "10.0.0.2" : "fd00::2");
    d.sport = 0xc123;
    d.dport = kUdpPort;
    Packet p;
    p.bth.opcode = MakeOpcode(Service::kRc, Operation::kSendOnly);
    p.bth.dqpn = 17;
    p.payload = {1, 2, 3};
    Encode(p, d);
    return d;
  }
};

TEST_P(IcrcMask, LeavesOutWhatRoutersChange) {
  net::Datagram d = Sealed();
  d.tos = 0x03;
  d.ttl = 1;
  if (GetParam() == net::IpVersion::kV6) d.flow_label = 0xabcde;
  d.udp_checksum = net::UdpChecksum::kRight;
  d.payload[4] = 0xff;
  EXPECT_EQ(Decode(d).fault, Fault::kNone);
}

TEST_P(IcrcMask, CoversEverythingElse) {
  auto is_bad = [](const net::Datagram& d) { return Decode(d).fault == Fault::kIcrc; };
  net::Datagram d = Sealed();
  d.sport ^= 1;
  EXPECT_TRUE(is_bad(d)) << "source port";
  d = Sealed();
  d.src = d.dst;
  EXPECT_TRUE(is_bad(d)) << "source address";
  if (GetParam() == net::IpVersion::kV4) {
    d = Sealed();
    d.ip_id = 1;
    EXPECT_TRUE(is_bad(d)) << "IP id";
    d = Sealed();
    d.dont_fragment = false;
    EXPECT_TRUE(is_bad(d)) << "DF";
  }
  for (const size_t at : {2u, 5u, 7u, 8u, 11u, 12u, 14u, 15u, 16u, 19u}) {
    d = Sealed();
    d.payload[at] ^= 0x01;
    EXPECT_TRUE(is_bad(d)) << "payload byte " << at;
  }
}

INSTANTIATE_TEST_SUITE_P(Ip, IcrcMask, testing::Values(net::IpVersion::kV4, net::IpVersion::kV6),
                         [](const auto& test) {
                           return test.param == net::IpVersion::kV4 ? "V4" : "V6";
                         });

}  // namespace
}  // namespace roce
