// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// What a QP says of itself while it connects, and what the kernel is told of its peer.
#include <gmock/gmock.h>

#include "fake_kernel.h"

namespace srn::test {
namespace {

constexpr uint32_t kAll = SRN_ECE_SACK | SRN_ECE_TELLS | SRN_ECE_PARTS;

class EceTest : public ProviderTest {
 protected:
  // A QP in INIT whose kernel offers `options`.
  ibv_qp* MakeOffering(uint32_t options) {
    kernel_.ece_offered = options;
    ibv_qp* qp = MakeQp(IBV_QPT_RC);
    EXPECT_EQ(To(qp, IBV_QPS_RESET), 0);
    EXPECT_EQ(To(qp, IBV_QPS_INIT), 0);
    return qp;
  }
  int To(ibv_qp* qp, ibv_qp_state state) {
    ibv_qp_attr attr = {};
    attr.qp_state = state;
    kernel_.modify = {};
    return ibv_modify_qp(qp, &attr, IBV_QP_STATE | (state == IBV_QPS_RTR ? int{IBV_QP_RQ_PSN} : 0));
  }
  static uint32_t Options(ibv_qp* qp) {
    ibv_ece ece = {};
    EXPECT_EQ(ibv_query_ece(qp, &ece), 0);
    EXPECT_EQ(ece.vendor_id, uint32_t{SRN_ECE_VENDOR});
    EXPECT_EQ(ece.comp_mask, 0u);
    EXPECT_EQ(ece.options >> SRN_ECE_QPN_SHIFT, qp->qp_num);
    return ece.options & SRN_ECE_FLAGS;
  }
  static int Set(ibv_qp* qp, uint32_t options, uint32_t vendor = SRN_ECE_VENDOR,
                 uint32_t mask = 0) {
    ibv_ece ece = {.vendor_id = vendor, .options = options, .comp_mask = mask};
    return ibv_set_ece(qp, &ece);
  }
};

TEST_F(EceTest, WhatThePeerHasReachesTheKernel) {
  constexpr uint32_t kPeer = SRN_ECE_SACK | 1u << 7 | 0x123456 << SRN_ECE_QPN_SHIFT;
  ibv_qp* qp = MakeOffering(kAll);
  EXPECT_EQ(Options(qp), kAll);
  ASSERT_EQ(Set(qp, kPeer), 0);
  EXPECT_EQ(Options(qp), uint32_t{SRN_ECE_SACK});
  ASSERT_EQ(To(qp, IBV_QPS_RTR), 0);
  EXPECT_EQ(kernel_.modify.comp_mask, uint32_t{SRN_MODIFY_QP_ECE});
  EXPECT_EQ(kernel_.modify.ece, kPeer);
  ASSERT_EQ(To(qp, IBV_QPS_RTS), 0);
  EXPECT_EQ(kernel_.modify.comp_mask, 0u);
}

// As ibv_set_ece(3) says, so that a program can pass that on.
TEST_F(EceTest, WhatIsAcceptedIsReturned) {
  ibv_qp* qp = MakeOffering(kAll);
  ibv_ece ece = {.vendor_id = SRN_ECE_VENDOR, .options = SRN_ECE_PARTS, .comp_mask = 0};
  ASSERT_EQ(ibv_set_ece(qp, &ece), 0);
  EXPECT_EQ(ece.options, SRN_ECE_PARTS | qp->qp_num << SRN_ECE_QPN_SHIFT);
}

TEST_F(EceTest, WhoHeardNothingSaysNothing) {
  ibv_qp* qp = MakeOffering(kAll);
  ASSERT_EQ(To(qp, IBV_QPS_RTR), 0);
  EXPECT_EQ(kernel_.modify.comp_mask, 0u);
}

TEST_F(EceTest, ResetForgetsThePeer) {
  ibv_qp* qp = MakeOffering(kAll);
  ASSERT_EQ(Set(qp, 0), 0);
  EXPECT_EQ(Options(qp), 0u);
  ASSERT_EQ(To(qp, IBV_QPS_RESET), 0);
  EXPECT_EQ(Options(qp), kAll);
}

TEST_F(EceTest, OthersAreRefused) {
  ibv_qp* qp = MakeOffering(kAll);
  EXPECT_EQ(Set(qp, kAll, 0x15b3), EOPNOTSUPP);
  EXPECT_EQ(Set(qp, kAll, SRN_ECE_VENDOR, 1), EINVAL);
  EXPECT_EQ(Options(qp), kAll);
}

TEST_F(EceTest, ItIsTooLateOnceConnected) {
  ibv_qp* qp = MakeOffering(kAll);
  ASSERT_EQ(To(qp, IBV_QPS_RTR), 0);
  EXPECT_EQ(Set(qp, kAll), EINVAL);
}

TEST_F(EceTest, WhoOffersNothingHasNone) {
  ibv_qp* qp = MakeOffering(0);
  ibv_ece ece = {};
  EXPECT_EQ(ibv_query_ece(qp, &ece), EOPNOTSUPP);
  EXPECT_EQ(errno, EOPNOTSUPP);
  EXPECT_EQ(Set(qp, kAll), EOPNOTSUPP);
}

}  // namespace
}  // namespace srn::test
