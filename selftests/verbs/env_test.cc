// SPDX-License-Identifier: GPL-2.0-only
// The tests' own tools: a check that cannot fail would hide every fault.
#include "env.h"

#include <gtest/gtest-spi.h>

namespace verbs_test {
namespace {

TEST(Pattern, DependsOnSeedAndPosition) {
  std::vector<std::byte> bytes(8192);
  FillPattern(bytes, 5);
  EXPECT_FALSE(FirstMismatch(bytes, 5));
  EXPECT_TRUE(FirstMismatch(bytes, 6));
  EXPECT_TRUE(FirstMismatch(Bytes(bytes).subspan(1), 5));
  EXPECT_TRUE(FirstMismatch(Bytes(bytes).subspan(4096), 5));
  bytes[4000] ^= std::byte{1};
  EXPECT_EQ(FirstMismatch(bytes, 5), 4000u);
}

TEST(Pattern, OtherByteIsFound) {
  std::vector<std::byte> bytes(100, std::byte{7});
  EXPECT_FALSE(FirstOther(bytes, std::byte{7}));
  bytes[99] = std::byte{8};
  EXPECT_EQ(FirstOther(bytes, std::byte{7}), 99u);
}

TEST(PathMtu, IsAsManyBytesAndBack) {
  EXPECT_EQ(MtuBytes(IBV_MTU_256), 256);
  for (const ibv_mtu mtu : {IBV_MTU_256, IBV_MTU_512, IBV_MTU_1024, IBV_MTU_2048, IBV_MTU_4096})
    EXPECT_EQ(MtuOf(MtuBytes(mtu)), mtu);
}

TEST(Completion, EveryFieldIsCompared) {
  const Wc want = {.wr_id = 1,
                   .opcode = IBV_WC_RECV,
                   .qp_num = 2,
                   .byte_len = 3,
                   .flags = IBV_WC_WITH_IMM,
                   .imm = 0};
  ibv_wc good = {};
  good.wr_id = 1;
  good.opcode = IBV_WC_RECV;
  good.qp_num = 2;
  good.byte_len = 3;
  good.wc_flags = IBV_WC_WITH_IMM;
  ExpectWc(good, want);

  // The macro takes a static expression only.
  static ibv_wc bad;
  static Wc expected;
  expected = want;
  bad = good;
  bad.wr_id = 9;
  EXPECT_NONFATAL_FAILURE(ExpectWc(bad, expected), "wr_id");
  bad = good;
  bad.byte_len = 9;
  EXPECT_NONFATAL_FAILURE(ExpectWc(bad, expected), "byte_len");
  bad = good;
  bad.imm_data = 9;
  EXPECT_NONFATAL_FAILURE(ExpectWc(bad, expected), "imm");
  bad = good;
  bad.status = IBV_WC_FATAL_ERR;
  EXPECT_FATAL_FAILURE(ExpectWc(bad, expected), "status");
}

TEST(Wire, BothDevicesExist) {
  EXPECT_EQ(Context::Open(DeviceA()).error(), 0) << DeviceA();
  EXPECT_EQ(Context::Open(DeviceB()).error(), 0) << DeviceB();
  EXPECT_EQ(Context::Open("no such device").error(), ENODEV);
}

}  // namespace
}  // namespace verbs_test
