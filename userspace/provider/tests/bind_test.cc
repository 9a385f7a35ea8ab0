// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// ibv_bind_mw, and windows that are bound by ibv_post_send.
#include "poster.h"

namespace srn::test {
namespace {

TEST_F(PostTest, Type1WindowsAreBoundByIbvBindMwAlone) {
  ibv_qp* qp = MakeQp(IBV_QPT_RC);
  ibv_mw* mw = ibv_alloc_mw(pd_, IBV_MW_TYPE_1);
  ASSERT_NE(mw, nullptr);
  ibv_mr mr = {};
  mr.pd = pd_;
  mr.lkey = 31;
  const uint32_t old_key = mw->rkey;

  ibv_send_wr wr = SendWr(IBV_WR_BIND_MW);
  wr.bind_mw.mw = mw;
  ExpectInvalid(qp, wr);

  ibv_mw_bind bind = {};
  bind.wr_id = 5;
  bind.send_flags = IBV_SEND_SIGNALED;
  bind.bind_info = {&mr, 0x5000, 0x100, IBV_ACCESS_REMOTE_WRITE};
  ASSERT_EQ(ibv_bind_mw(qp, mw, &bind), 0);
  const srn_send_wqe& wqe = kernel_.Of(qp).send(0);
  EXPECT_EQ(wqe.opcode, static_cast<uint32_t>(IBV_WR_BIND_MW));
  EXPECT_EQ(wqe.wr_id, 5u);
  EXPECT_EQ(wqe.flags, static_cast<uint32_t>(IBV_SEND_SIGNALED));
  EXPECT_EQ(wqe.num_sge, 0u);
  EXPECT_EQ(wqe.bind.addr, 0x5000u);
  EXPECT_EQ(wqe.bind.length, 0x100u);
  EXPECT_EQ(wqe.bind.mr_lkey, 31u);
  EXPECT_EQ(wqe.bind.mw_rkey, old_key);
  EXPECT_EQ(wqe.bind.new_rkey, ibv_inc_rkey(old_key));
  EXPECT_EQ(wqe.bind.access, static_cast<uint32_t>(IBV_ACCESS_REMOTE_WRITE));
  EXPECT_EQ(mw->rkey, ibv_inc_rkey(old_key));

  SetState(qp, IBV_QPS_INIT);
  EXPECT_EQ(ibv_bind_mw(qp, mw, &bind), EINVAL);
  EXPECT_EQ(mw->rkey, ibv_inc_rkey(old_key));
  EXPECT_EQ(ibv_dealloc_mw(mw), 0);
}

// What can't be bound is told at the call, and no QP fails for it.
TEST_F(PostTest, Type1BindThatCannotSucceedIsNotPosted) {
  ibv_qp* qp = MakeQp(IBV_QPT_RC);
  ibv_mw* mw = ibv_alloc_mw(pd_, IBV_MW_TYPE_1);
  ASSERT_NE(mw, nullptr);
  ibv_pd other_pd = {};
  ibv_mr mr = {}, other_mr = {};
  mr.pd = pd_;
  other_mr.pd = &other_pd;
  const uint32_t old_key = mw->rkey;
  struct Case {
    ibv_mw_bind_info info;
    int error;
  };
  for (const Case& c : {Case{{&mr, 0x5000, 0x100, IBV_ACCESS_ZERO_BASED}, EINVAL},
                        Case{{nullptr, 0, 0, IBV_ACCESS_ZERO_BASED}, EINVAL},
                        Case{{nullptr, 0x5000, 0x100, IBV_ACCESS_REMOTE_READ}, EINVAL},
                        Case{{nullptr, 0, 0x100, IBV_ACCESS_REMOTE_READ}, EINVAL},
                        Case{{nullptr, 0x5000, 0, IBV_ACCESS_REMOTE_READ}, EINVAL},
                        Case{{&other_mr, 0x5000, 0x100, IBV_ACCESS_REMOTE_READ}, EPERM}}) {
    SCOPED_TRACE(testing::Message() << c.info.mr << " " << c.info.addr << "+" << c.info.length);
    ibv_mw_bind bind = {};
    bind.bind_info = c.info;
    EXPECT_EQ(ibv_bind_mw(qp, mw, &bind), c.error);
    EXPECT_EQ(kernel_.Of(qp).page->sq_tail, 0u);
    EXPECT_EQ(mw->rkey, old_key);
  }
  // No bytes of no region: the window is unbound.
  ibv_mw_bind unbind = {};
  EXPECT_EQ(ibv_bind_mw(qp, mw, &unbind), 0);
  EXPECT_EQ(kernel_.Of(qp).page->sq_tail, 1u);
  EXPECT_EQ(ibv_dealloc_mw(mw), 0);
}

TEST_F(PostTest, Type2WindowsAreBoundByRequests) {
  ibv_mw* mw = ibv_alloc_mw(pd_, IBV_MW_TYPE_2);
  ASSERT_NE(mw, nullptr);
  ibv_send_wr wr = SendWr(IBV_WR_BIND_MW);
  wr.bind_mw.mw = mw;
  wr.bind_mw.rkey = 0x3401;
  const uint32_t old_key = mw->rkey;
  const srn_send_wqe& wqe = Post(MakeQp(IBV_QPT_RC), wr);
  EXPECT_EQ(wqe.bind.mw_rkey, old_key);
  EXPECT_EQ(wqe.bind.new_rkey, 0x3401u);
  EXPECT_EQ(wqe.bind.mr_lkey, 0u);
  // The low byte is the program's, the rest the kernel's.
  EXPECT_EQ(mw->rkey, (old_key & ~0xffu) | 0x01u);
  EXPECT_EQ(ibv_dealloc_mw(mw), 0);
}

}  // namespace
}  // namespace srn::test
