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

class SharedTest : public RecvTest {
 protected:
  void SetUp() override {
    RecvTest::SetUp();
    ibv_srq_init_attr attr = {};
    attr.attr.max_wr = 4;
    attr.attr.max_sge = 2;
    srq_ = ibv_create_srq(pd_, &attr);
    ASSERT_NE(srq_, nullptr);
  }
  void TearDown() override {
    EXPECT_EQ(ibv_destroy_srq(srq_), 0);
    RecvTest::TearDown();
  }
  int Post(uint64_t id) {
    ibv_recv_wr wr = RecvWr();
    ibv_recv_wr* bad = nullptr;
    wr.wr_id = id;
    return ibv_post_srq_recv(srq_, &wr, &bad);
  }
  int Modify(uint32_t max_wr, int mask = IBV_SRQ_MAX_WR) {
    ibv_srq_attr attr = {.max_wr = max_wr, .max_sge = 0, .srq_limit = 1};
    return ibv_modify_srq(srq_, &attr, mask);
  }
  KernelSrq& queue() { return kernel_.Of(srq_); }
  // Those from `first` to before `end` are posted, at their indices.
  void ExpectPosted(uint32_t first, uint32_t end) {
    EXPECT_EQ(queue().page->head, first);
    EXPECT_EQ(queue().page->tail, end);
    for (uint32_t id = first; id < end; ++id) EXPECT_EQ(queue().recv(id).wr_id, id);
  }

  ibv_srq* srq_ = nullptr;
};

TEST_F(SharedTest, ResizeGoesOnInTheNewRing) {
  for (uint64_t id = 0; id < 4; ++id) ASSERT_EQ(Post(id), 0);
  queue().page->head = 1;
  const srn_srq_page* old = ToSrq(srq_).page;
  ASSERT_EQ(Modify(7), 0);
  EXPECT_NE(ToSrq(srq_).page, old);
  ExpectPosted(1, 4);
  for (uint64_t id = 4; id < 9; ++id) ASSERT_EQ(Post(id), 0);
  EXPECT_EQ(Post(9), ENOMEM);
  ExpectPosted(1, 9);
  queue().page->head = 7;
  ASSERT_EQ(Modify(2), 0);
  EXPECT_EQ(Post(9), ENOMEM);
  queue().page->head = 8;
  EXPECT_EQ(Post(9), 0);
  ExpectPosted(8, 10);
  EXPECT_EQ(kernel_.srq_steps, (std::vector<uint32_t>{SRN_MODIFY_SRQ_RING, SRN_MODIFY_SRQ_MOVE,
                                                      SRN_MODIFY_SRQ_RING, SRN_MODIFY_SRQ_MOVE}));
}

TEST_F(SharedTest, ResizeThatFailsLeavesTheRing) {
  for (uint64_t id = 0; id < 3; ++id) ASSERT_EQ(Post(id), 0);
  const srn_srq_page* old = ToSrq(srq_).page;
  kernel_.FailNext(ENOMEM);
  EXPECT_EQ(Modify(8), ENOMEM);
  kernel_.BreakNextOffset();
  EXPECT_EQ(Modify(8), EINVAL);
  kernel_.srq_move_error = EAGAIN;
  EXPECT_EQ(Modify(8), EAGAIN);
  EXPECT_EQ(ToSrq(srq_).page, old);
  ASSERT_EQ(Post(3), 0);
  EXPECT_EQ(Post(4), ENOMEM);
  ExpectPosted(0, 4);
  kernel_.srq_move_error = 0;
  ASSERT_EQ(Modify(8), 0);
  ASSERT_EQ(Post(4), 0);
  ExpectPosted(0, 5);
}

TEST_F(SharedTest, LimitIsChangedInTheRingThatIsThere) {
  EXPECT_EQ(Modify(0, IBV_SRQ_LIMIT), 0);
  EXPECT_EQ(kernel_.srq_steps, std::vector<uint32_t>{0});
}

}  // namespace
}  // namespace srn::test
