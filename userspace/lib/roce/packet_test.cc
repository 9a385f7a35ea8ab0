// SPDX-License-Identifier: GPL-2.0-only
#include "packet.h"

#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aeth.h"
#include "pcap.h"

namespace roce {
namespace {

using testing::ElementsAre;

net::Datagram Envelope() {
  net::Datagram d;
  d.src = *net::IpAddress::Parse("10.0.0.1");
  d.dst = *net::IpAddress::Parse("10.0.0.2");
  d.sport = 0xc000;
  d.dport = kUdpPort;
  return d;
}

// A packet with every header that its opcode names, each field different.
Packet Filled(uint8_t opcode) {
  Packet p;
  p.bth = {.opcode = opcode,
           .solicited = true,
           .mig_req = false,
           .pkey = 0x8001,
           .fecn = true,
           .dqpn = 0x123456,
           .ack_req = true,
           .psn = 0xabcdef};
  const uint16_t headers = p.info().headers;
  if (headers & kHasRdeth) p.rdeth = Rdeth{0x111213};
  if (headers & kHasXrceth) p.xrceth = Xrceth{0x212223};
  if (headers & kHasDeth) p.deth = Deth{0x31323334, 0x353637};
  if (headers & kHasFeth) p.feth = Feth{1, 2};
  if (headers & kHasReth) p.reth = Reth{0x4142434445464748, 0x494a4b4c, 0x4d4e4f50};
  if (headers & kHasAtomicEth)
    p.atomic = AtomicEth{0x5152535455565758, 0x595a5b5c, 0x6162636465666768, 0x7172737475767778};
  if (headers & kHasAeth) p.aeth = Aeth{kNakSequence, 0x818283};
  if (headers & kHasAtomicAck) p.atomic_ack = 0x9192939495969798;
  if (headers & kHasImm) p.imm = 0xa1a2a3a4;
  if (headers & kHasIeth) p.invalidate_rkey = 0xb1b2b3b4;
  return p;
}

TEST(Packet, EveryOpcodeSurvivesEncodeAndDecode) {
  for (int opcode = 0; opcode < 256; ++opcode) {
    Packet p = Filled(static_cast<uint8_t>(opcode));
    if (!p.info().valid) continue;
    SCOPED_TRACE(OpcodeName(p.bth.opcode));
    for (size_t length : {0, 1, 2, 3, 4, 255}) {
      p.payload.resize(length);
      std::iota(p.payload.begin(), p.payload.end(), uint8_t{1});
      net::Datagram d = Envelope();
      Encode(p, d);
      EXPECT_EQ(d.payload.size(), HeadersSize(p.info().headers) + (length + 3) / 4 * 4 + 4);
      const Decoded decoded = Decode(d);
      ASSERT_EQ(decoded.fault, Fault::kNone) << FaultName(decoded.fault);
      EXPECT_TRUE(decoded.pad_is_zero);
      Packet again = decoded.packet;
      EXPECT_EQ(again.payload, p.payload);
      EXPECT_EQ(again.bth.pad, (4 - length % 4) % 4);
      EXPECT_EQ(EncodeTransport(again), EncodeTransport(p));
    }
  }
}

TEST(Packet, ReadRequestOnTheWire) {
  Packet p;
  p.bth = {.opcode = 0x0c, .dqpn = 0x000011, .ack_req = true, .psn = 0x000102};
  p.reth = Reth{0x1122334455667788, 0x99aabbcc, 0x1000};
  EXPECT_THAT(EncodeTransport(p),
              ElementsAre(0x0c, 0x40, 0xff, 0xff, 0x00, 0x00, 0x00, 0x11, 0x80, 0x00, 0x01, 0x02,
                          0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc,
                          0x00, 0x00, 0x10, 0x00));
}

TEST(Packet, PadAndImmediateOnTheWire) {
  Packet p;
  p.bth = {.opcode = 0x05, .solicited = true, .dqpn = 1, .psn = 2};
  p.imm = 0x01020304;
  p.payload = {0xaa};
  EXPECT_THAT(EncodeTransport(p), ElementsAre(0x05, 0xf0, 0xff, 0xff, 0, 0, 0, 1, 0, 0, 0, 2, 1, 2,
                                              3, 4, 0xaa, 0, 0, 0));
}

TEST(Packet, AtomicHasSwapBeforeCompare) {
  const Bytes bytes = EncodeTransport(Filled(0x13));
  EXPECT_EQ(bytes[12 + 12], 0x61);
  EXPECT_EQ(bytes[12 + 20], 0x71);
}

TEST(Decode, NamesWhatIsWrong) {
  net::Datagram d = Envelope();
  Encode(Filled(0x0c), d);
  auto fault = [](net::Datagram copy, size_t size) {
    copy.payload.resize(size);
    SealIcrc(copy);
    return Decode(copy).fault;
  };
  EXPECT_EQ(fault(d, 0), Fault::kShort);
  EXPECT_EQ(fault(d, 15), Fault::kShort);
  EXPECT_EQ(fault(d, 16), Fault::kShortHeaders);
  EXPECT_EQ(fault(d, 31), Fault::kShortHeaders);
  EXPECT_EQ(fault(d, 32), Fault::kNone);
  d.payload[0] = 0x1f;
  EXPECT_EQ(fault(d, 32), Fault::kOpcode);
}

TEST(Decode, RefusesPadThatIsNotThere) {
  net::Datagram d = Envelope();
  Packet p;
  p.bth = {.opcode = 0x04, .pad = 3, .dqpn = 1};
  p.payload = {1};
  Encode(p, d);
  EXPECT_EQ(Decode(d).fault, Fault::kNone);
  d.payload.erase(d.payload.begin() + 12, d.payload.begin() + 16);
  SealIcrc(d);
  EXPECT_EQ(Decode(d).fault, Fault::kPad);
  p.bth.pad = 0;
  Encode(p, d);
  EXPECT_EQ(Decode(d).fault, Fault::kPad);
}

TEST(Pcap, HasAHeaderAndARecordPerFrame) {
  const std::string path = testing::TempDir() + "srn_roce_test.pcap";
  {
    auto writer = PcapWriter::Create(path);
    ASSERT_TRUE(writer);
    writer->Write(Bytes{1, 2, 3}, std::chrono::nanoseconds(1'000'000'007));
  }
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  ASSERT_EQ(bytes.size(), 24u + 16 + 3);
  uint32_t record[4];
  bytes.copy(reinterpret_cast<char*>(record), sizeof(record), 24);
  EXPECT_THAT(record, ElementsAre(1, 7, 3, 3));
}

}  // namespace
}  // namespace roce
