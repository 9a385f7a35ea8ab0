// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// ibv_post_recv and ibv_post_srq_recv.
#include <array>

#include "poster.h"

namespace srn::test {
namespace {

class RecvTest : public PostTest {
 protected:
  ibv_recv_wr RecvWr() {
    ibv_recv_wr wr = {};
    wr.wr_id = 0x4321;
    wr.sg_list = sges_.data();
    wr.num_sge = 2;
    return wr;
  }
};

TEST_F(RecvTest, RecvCarriesItsSges) {
  ibv_qp* qp = MakeQp(IBV_QPT_RC);
  ibv_recv_wr wr = RecvWr();
  ibv_recv_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_recv(qp, &wr, &bad), 0);
  EXPECT_EQ(kernel_.Of(qp).page->rq_tail, 1u);
  const srn_recv_wqe& wqe = kernel_.Of(qp).recv(0);
  EXPECT_EQ(wqe.wr_id, 0x4321u);
  ASSERT_EQ(wqe.num_sge, 2u);
  const auto* sges = reinterpret_cast<const srn_sge*>(&wqe + 1);
  EXPECT_EQ(sges[0].addr, 0x1000u);
  EXPECT_EQ(sges[1].lkey, 8u);
  EXPECT_TRUE(kernel_.doorbells.empty());
}

TEST_F(RecvTest, FullAtWhatWasPromised) {
  ibv_qp* qp = MakeQp(IBV_QPT_UD);
  std::array<ibv_recv_wr, kMaxRecvWr + 1> wrs;
  wrs.fill(RecvWr());
  for (size_t i = 0; i + 1 < wrs.size(); ++i) wrs[i].next = &wrs[i + 1];
  ibv_recv_wr* bad = nullptr;
  EXPECT_EQ(ibv_post_recv(qp, wrs.data(), &bad), ENOMEM);
  EXPECT_EQ(bad, &wrs[kMaxRecvWr]);
  EXPECT_EQ(kernel_.Of(qp).page->rq_tail, kMaxRecvWr);
}

TEST_F(RecvTest, SgesBeyondTheLimitAreRefused) {
  ibv_qp* qp = MakeQp(IBV_QPT_RC);
  ibv_recv_wr wr = RecvWr();
  wr.num_sge = kMaxSge + 1;
  ibv_recv_wr* bad = nullptr;
  EXPECT_EQ(ibv_post_recv(qp, &wr, &bad), EINVAL);
  EXPECT_EQ(bad, &wr);
  EXPECT_EQ(kernel_.Of(qp).page->rq_tail, 0u);
}

TEST_F(RecvTest, ResetRefusesInitTakes) {
  ibv_qp* qp = MakeQp(IBV_QPT_RC);
  ibv_recv_wr wr = RecvWr();
  ibv_recv_wr* bad = nullptr;
  SetState(qp, IBV_QPS_RESET);
  EXPECT_EQ(ibv_post_recv(qp, &wr, &bad), EINVAL);
  EXPECT_EQ(bad, &wr);
  SetState(qp, IBV_QPS_INIT);
  EXPECT_EQ(ibv_post_recv(qp, &wr, &bad), 0);
}

TEST_F(RecvTest, DoorbellRingsInErrorSoThatTheKernelFlushes) {
  ibv_qp* qp = MakeQp(IBV_QPT_RC);
  ibv_recv_wr wr = RecvWr();
  ibv_recv_wr* bad = nullptr;
  SetState(qp, IBV_QPS_ERR);
  EXPECT_EQ(ibv_post_recv(qp, &wr, &bad), 0);
  EXPECT_EQ(kernel_.doorbells.size(), 1u);
}

TEST_F(RecvTest, ResetEmptiesTheQueues) {
  ibv_qp* qp = MakeQp(IBV_QPT_RC);
  ibv_recv_wr recv = RecvWr();
  ibv_recv_wr* bad = nullptr;
  for (uint32_t i = 0; i < kMaxSendWr; ++i) Post(qp, SendWr(IBV_WR_SEND));
  for (uint32_t i = 0; i < kMaxRecvWr; ++i) ASSERT_EQ(ibv_post_recv(qp, &recv, &bad), 0);
  ibv_qp_attr attr = {};
  attr.qp_state = IBV_QPS_RESET;
  ASSERT_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
  attr.qp_state = IBV_QPS_RTS;
  ASSERT_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
  for (uint32_t i = 0; i < kMaxSendWr; ++i) Post(qp, SendWr(IBV_WR_SEND));
  for (uint32_t i = 0; i < kMaxRecvWr; ++i) ASSERT_EQ(ibv_post_recv(qp, &recv, &bad), 0);
  EXPECT_EQ(ibv_post_recv(qp, &recv, &bad), ENOMEM);
}

// Whatever stands in the attributes that the mask leaves out; here it is RESET.
TEST_F(RecvTest, OtherChangesLeaveTheQueues) {
  ibv_qp* qp = MakeQp(IBV_QPT_RC);
  ibv_send_wr send = SendWr(IBV_WR_SEND);
  ibv_recv_wr recv = RecvWr();
  ibv_send_wr* bad_send = nullptr;
  ibv_recv_wr* bad = nullptr;
  for (uint32_t i = 0; i < kMaxSendWr; ++i) Post(qp, send);
  for (uint32_t i = 0; i < kMaxRecvWr; ++i) ASSERT_EQ(ibv_post_recv(qp, &recv, &bad), 0);
  ibv_qp_attr attr = {};
  ASSERT_EQ(attr.qp_state, IBV_QPS_RESET);
  ASSERT_EQ(ibv_modify_qp(qp, &attr, IBV_QP_ACCESS_FLAGS), 0);
  EXPECT_EQ(kernel_.Of(qp).page->sq_tail, kMaxSendWr);
  EXPECT_EQ(kernel_.Of(qp).page->rq_tail, kMaxRecvWr);
  EXPECT_EQ(ibv_post_send(qp, &send, &bad_send), ENOMEM);
  EXPECT_EQ(ibv_post_recv(qp, &recv, &bad), ENOMEM);
}

TEST_F(RecvTest, GoneDeviceTakesNothing) {
  ibv_qp* qp = MakeQp(IBV_QPT_RC);
  kernel_.Of(qp).page->gone = 1;
  ibv_recv_wr wr = RecvWr();
  ibv_recv_wr* bad = nullptr;
  EXPECT_EQ(ibv_post_recv(qp, &wr, &bad), EIO);
  EXPECT_EQ(bad, &wr);

  ibv_srq_init_attr attr = {};
  attr.attr.max_wr = 3;
  attr.attr.max_sge = 2;
  ibv_srq* srq = ibv_create_srq(pd_, &attr);
  ASSERT_NE(srq, nullptr);
  kernel_.Of(srq).page->gone = 1;
  EXPECT_EQ(ibv_post_srq_recv(srq, &wr, &bad), EIO);
  EXPECT_EQ(kernel_.Of(srq).page->tail, 0u);
  EXPECT_EQ(ibv_destroy_srq(srq), 0);
}

TEST_F(RecvTest, SharedQueueIsPostedToInsteadOfTheQp) {
  ibv_srq_init_attr attr = {};
  attr.attr.max_wr = 3;
  attr.attr.max_sge = 2;
  ibv_srq* srq = ibv_create_srq(pd_, &attr);
  ASSERT_NE(srq, nullptr);
  ibv_qp* qp = MakeQp(IBV_QPT_RC, srq);
  ibv_recv_wr wr = RecvWr();
  ibv_recv_wr* bad = nullptr;
  EXPECT_EQ(ibv_post_recv(qp, &wr, &bad), EINVAL);

  for (int i = 0; i < 3; ++i) EXPECT_EQ(ibv_post_srq_recv(srq, &wr, &bad), 0);
  EXPECT_EQ(ibv_post_srq_recv(srq, &wr, &bad), ENOMEM);
  KernelSrq& shared = kernel_.Of(srq);
  EXPECT_EQ(shared.page->tail, 3u);
  EXPECT_EQ(shared.recv(2).wr_id, 0x4321u);
  EXPECT_EQ(shared.recv(2).num_sge, 2u);
  shared.page->head = 1;
  EXPECT_EQ(ibv_post_srq_recv(srq, &wr, &bad), 0);
  wr.num_sge = 3;
  shared.page->head = 2;
  EXPECT_EQ(ibv_post_srq_recv(srq, &wr, &bad), EINVAL);

  uint32_t number = 0;
  EXPECT_EQ(ibv_get_srq_num(srq, &number), 0);
  EXPECT_EQ(number, 77u);
  ASSERT_EQ(ibv_destroy_qp(qp), 0);
  EXPECT_EQ(ibv_destroy_srq(srq), 0);
}

}  // namespace
}  // namespace srn::test
