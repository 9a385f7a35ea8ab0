// SPDX-License-Identifier: GPL-2.0-only
#include "opcode.h"

#include <gtest/gtest.h>

namespace roce {
namespace {

TEST(Opcode, CountPerService) {
  int count[8] = {};
  for (int opcode = 0; opcode < 256; ++opcode)
    if (GetOpcode(static_cast<uint8_t>(opcode)).valid) ++count[opcode >> 5];
  EXPECT_EQ(count[0], 25);  // RC: 0x00 to 0x14, 0x16, 0x17, 0x1c, 0x1d
  EXPECT_EQ(count[1], 12);  // UC: sends and writes
  EXPECT_EQ(count[2], 21);  // RD: 0x40 to 0x54
  EXPECT_EQ(count[3], 2);   // UD: 0x64, 0x65
  EXPECT_EQ(count[4], 1);   // CNP
  EXPECT_EQ(count[5], 23);  // XRC: 0xa0 to 0xb7 without 0xb5
  EXPECT_EQ(count[6], 1);   // SACK: of those that are the manufacturer's
  EXPECT_EQ(count[7], 0);
}

TEST(Opcode, ReservedOnesAreInvalid) {
  for (const int opcode : {0x15, 0x18, 0x1e, 0x1f, 0x2c, 0x36, 0x60, 0x66, 0x80, 0xc0, 0xff})
    EXPECT_FALSE(GetOpcode(static_cast<uint8_t>(opcode)).valid) << opcode;
}

TEST(Opcode, HeaderSizes) {
  auto size = [](uint8_t opcode) { return HeadersSize(GetOpcode(opcode).headers); };
  EXPECT_EQ(size(0x04), 12u);           // SEND_ONLY
  EXPECT_EQ(size(0x0b), 12u + 16 + 4);  // WRITE_ONLY_IMM
  EXPECT_EQ(size(0x0c), 12u + 16);      // READ_REQUEST
  EXPECT_EQ(size(0x0e), 12u);           // READ_RESPONSE_MIDDLE has no AETH
  EXPECT_EQ(size(0x12), 12u + 4 + 8);   // ATOMIC_ACKNOWLEDGE
  EXPECT_EQ(size(0x13), 12u + 28);      // COMPARE_SWAP
  EXPECT_EQ(size(0x17), 12u + 4);       // SEND_ONLY_INVALIDATE
  EXPECT_EQ(size(0x1c), 12u + 4 + 16);  // FLUSH
  EXPECT_EQ(size(0x65), 12u + 8 + 4);   // UD SEND_ONLY_IMM
  EXPECT_EQ(size(0x44), 12u + 4 + 8);   // RD SEND_ONLY
  EXPECT_EQ(size(0xa4), 12u + 4);       // XRC SEND_ONLY
}

TEST(Opcode, PayloadRules) {
  EXPECT_TRUE(PayloadFits(GetOpcode(0x00), 1024, 1024));
  EXPECT_FALSE(PayloadFits(GetOpcode(0x00), 1023, 1024));
  EXPECT_FALSE(PayloadFits(GetOpcode(0x02), 0, 1024));
  EXPECT_TRUE(PayloadFits(GetOpcode(0x04), 0, 1024));
  EXPECT_FALSE(PayloadFits(GetOpcode(0x04), 1025, 1024));
  EXPECT_FALSE(PayloadFits(GetOpcode(0x0c), 1, 1024));
  EXPECT_TRUE(PayloadFits(GetOpcode(0x1d), 8, 256));
}

TEST(Opcode, Names) {
  EXPECT_EQ(OpcodeName(0x04), "RC SEND_ONLY");
  EXPECT_EQ(OpcodeName(0x2b), "UC WRITE_ONLY_IMM");
  EXPECT_EQ(OpcodeName(0x81), "CNP");
  EXPECT_EQ(OpcodeName(kOpcodeSack), "SACK");
  EXPECT_EQ(OpcodeName(0x1f), "opcode 0x1f");
}

}  // namespace
}  // namespace roce
