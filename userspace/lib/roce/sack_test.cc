// SPDX-License-Identifier: GPL-2.0-only
#include "sack.h"

#include <gtest/gtest.h>

namespace roce {
namespace {

TEST(Sack, BytesAreThoseOfThePage) {
  const Packet packet = EncodeSack(7, {SackKind::kHeld, 0x0e00, 0x01020304, {1, 3, 32, 33}});
  EXPECT_EQ(packet.bth.opcode, 0xc7);
  EXPECT_EQ(packet.bth.psn, 7u);
  EXPECT_EQ(packet.payload, (Bytes{0x53, 0x52, 0x01, 0x03,  //
                                   0x00, 0x00, 0x0e, 0x00,  //
                                   0x01, 0x02, 0x03, 0x04,  //
                                   0x80, 0x00, 0x00, 0x05,  //
                                   0x00, 0x00, 0x00, 0x01}));
}

TEST(Sack, WhatIsWrittenIsRead) {
  const Sack sack{SackKind::kHeld, 512, 9, {2, 31, 32, 33, 1000}};
  const std::optional<Sack> read = DecodeSack(EncodeSack(0, sack));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->kind, sack.kind);
  EXPECT_EQ(read->ahead, sack.ahead);
  EXPECT_EQ(read->twice, sack.twice);
  EXPECT_EQ(read->held, sack.held);
  EXPECT_FALSE(read->tells);
}

TEST(Sack, TellsIsTheHighestBitOfTheSecondWord) {
  const Packet packet = EncodeSack(0, {SackKind::kAnswer, 512, 0, {}, true});
  EXPECT_EQ(packet.payload[4], 0x80);
  const std::optional<Sack> read = DecodeSack(packet);
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->tells);
  EXPECT_EQ(read->ahead, 512u);
}

TEST(Sack, PartsIsTheBitBehindIt) {
  const Packet packet = EncodeSack(0, {SackKind::kAnswer, 512, 0, {}, false, true});
  EXPECT_EQ(packet.payload[4], 0x40);
  const std::optional<Sack> read = DecodeSack(packet);
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->parts);
  EXPECT_FALSE(read->tells);
  EXPECT_EQ(read->ahead, 512u);
}

TEST(Sack, HelloIsAWriteOfNoBytes) {
  const Packet packet = EncodeSack(7, {SackKind::kHello, 0x0e00, 5, {}, true});
  // Opcode, pad and P_Key; QPN; AckReq and PSN; address, key and length.
  EXPECT_EQ(EncodeTransport(packet), (Bytes{0x0a, 0x40, 0xff, 0xff,  //
                                            0x00, 0x00, 0x00, 0x00,  //
                                            0x00, 0x00, 0x00, 0x07,  //
                                            0x80, 0x00, 0x0e, 0x00,  //
                                            0x00, 0x00, 0x00, 0x00,  //
                                            0x53, 0x52, 0x01, 0x01,  //
                                            0x00, 0x00, 0x00, 0x00}));
  const std::optional<Sack> read = DecodeSack(packet);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->kind, SackKind::kHello);
  EXPECT_EQ(read->ahead, 0x0e00u);
  EXPECT_EQ(read->twice, 0u);
  EXPECT_TRUE(read->tells);
}

TEST(Sack, HelloHasBitsThatMeanNothing) {
  Packet packet = EncodeSack(7, {SackKind::kHello, 0x0e00});
  packet.reth->va |= 0x01020304;
  const std::optional<Sack> read = DecodeSack(packet);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->ahead, 0x0e00u);
  EXPECT_EQ(read->twice, 0u);
}

TEST(Sack, OtherWritesAreNoHellos) {
  for (const uint32_t key : {0x53520201u, 0x53520102u, 0x53530101u, 0u}) {
    Packet packet = EncodeSack(0, {SackKind::kHello});
    packet.reth->rkey = key;
    EXPECT_FALSE(DecodeSack(packet));
  }
  Packet packet = EncodeSack(0, {SackKind::kHello});
  packet.reth->length = 4;
  EXPECT_FALSE(DecodeSack(packet));
}

TEST(Sack, OthersAreNone) {
  Packet packet = EncodeSack(0, {});
  packet.payload[2] = 2;
  EXPECT_FALSE(DecodeSack(packet));
  packet = EncodeSack(0, {});
  packet.payload.resize(8);
  EXPECT_FALSE(DecodeSack(packet));
}

// A hello is a WRITE, and nothing else is one.
TEST(Sack, OfKindHelloIsNone) {
  Packet packet = EncodeSack(0, {SackKind::kAnswer});
  EXPECT_TRUE(DecodeSack(packet));
  packet.payload[3] = static_cast<uint8_t>(SackKind::kHello);
  EXPECT_FALSE(DecodeSack(packet));
}

}  // namespace
}  // namespace roce
