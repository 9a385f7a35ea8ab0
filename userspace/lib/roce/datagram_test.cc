// SPDX-License-Identifier: GPL-2.0-only
// Ethernet, IP and UDP of lib/net, tested here because the ICRC stands on them.
#include <gtest/gtest.h>

#include <net/address.h>
#include <net/datagram.h>

namespace net {
namespace {

Datagram Sample(bool v4) {
  Datagram d;
  d.mac_src = *MacAddress::Parse("02:00:00:00:00:01");
  d.mac_dst = *MacAddress::Parse("02:00:00:00:00:02");
  d.src = *IpAddress::Parse(v4 ? "10.1.2.3" : "fd00::1:2");
  d.dst = *IpAddress::Parse(v4 ? "10.1.2.4" : "fd00::1:3");
  d.tos = 0x6b;
  d.ttl = 33;
  d.sport = 0xc001;
  d.dport = 4791;
  d.payload = {1, 2, 3, 4, 5};
  if (!v4) d.flow_label = 0xabcde;
  return d;
}

TEST(Address, ParsesAndPrints) {
  EXPECT_EQ(IpAddress::Parse("10.1.2.3")->version(), IpVersion::kV4);
  EXPECT_EQ(IpAddress::Parse("fe80::1")->version(), IpVersion::kV6);
  EXPECT_EQ(IpAddress::Parse("10.1.2.3")->gid()[10], 0xff);
  EXPECT_EQ(IpAddress::Parse("fe80::1")->ToString(), "fe80::1");
  EXPECT_FALSE(IpAddress::Parse("10.1.2"));
  EXPECT_EQ(MacAddress::Parse("02:0a:00:00:00:ff")->ToString(), "02:0a:00:00:00:ff");
  EXPECT_FALSE(MacAddress::Parse("02:0a:00:00:00"));
  EXPECT_FALSE(MacAddress::Parse("02:0a:00:00:00:ff:00"));
}

TEST(Datagram, SurvivesBuildAndParse) {
  for (const bool v4 : {true, false}) {
    for (const UdpChecksum sum : {UdpChecksum::kZero, UdpChecksum::kRight}) {
      Datagram d = Sample(v4);
      d.udp_checksum = sum;
      const auto parsed = ParseFrame(BuildFrame(d));
      ASSERT_TRUE(parsed);
      EXPECT_TRUE(parsed->ip_checksum_ok);
      EXPECT_TRUE(parsed->udp_checksum_ok);
      EXPECT_EQ(parsed->udp_checksum_field == 0, sum == UdpChecksum::kZero);
      EXPECT_EQ(BuildFrame(parsed->datagram), BuildFrame(d));
      EXPECT_EQ(parsed->trailing, 0u);
    }
  }
}

// A header whose checksum is worked out in many textbooks: 0xb861.
TEST(Datagram, Ipv4HeaderChecksum) {
  const Bytes header = {0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11,
                        0x00, 0x00, 0xc0, 0xa8, 0x00, 0x01, 0xc0, 0xa8, 0x00, 0xc7};
  EXPECT_EQ(~ChecksumAdd(0, header) & 0xffff, 0xb861u);
}

TEST(Datagram, WrongChecksumsAreSeen) {
  Datagram d = Sample(true);
  d.udp_checksum = UdpChecksum::kWrong;
  Bytes frame = BuildFrame(d);
  EXPECT_FALSE(ParseFrame(frame)->udp_checksum_ok);
  frame[kEthernetHeader + 8] ^= 1;
  EXPECT_FALSE(ParseFrame(frame)->ip_checksum_ok);
}

TEST(Datagram, PaddingOfShortFramesIsNotPayload) {
  Datagram d = Sample(true);
  Bytes frame = BuildFrame(d);
  frame.resize(60);
  const auto parsed = ParseFrame(frame);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->datagram.payload, d.payload);
  EXPECT_EQ(parsed->trailing, 60u - 14 - 20 - 8 - 5);
}

TEST(Datagram, RefusesWhatIsNotWhole) {
  for (const bool v4 : {true, false}) {
    const Bytes frame = BuildFrame(Sample(v4));
    for (size_t size = 0; size < frame.size(); ++size)
      EXPECT_FALSE(ParseFrame(std::span(frame).first(size))) << size;
  }
}

}  // namespace
}  // namespace net
