// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// ibv_wr_*: requests are built in place, and posted together or not at all.

#include <arpa/inet.h>

#include <array>
#include <cstring>
#include <string>

#include "fake_kernel.h"

namespace srn::test {
namespace {

constexpr uint64_t kAllRc =
    IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_SEND |
    IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
    IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW |
    IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_ATOMIC_WRITE;

class WrTest : public ProviderTest {
 protected:
  void SetUp() override {
    ProviderTest::SetUp();
    qp_ = MakeQpEx(IBV_QPT_RC, kAllRc);
    ASSERT_NE(qp_, nullptr);
    queue_ = &kernel_.Of(&qp_->qp_base);
    qp_->wr_id = 11;
    qp_->wr_flags = IBV_SEND_SIGNALED;
  }

  // A window of type 2 with this key.
  ibv_mw* MakeWindow(uint32_t rkey) {
    ibv_mw* mw = ibv_alloc_mw(pd_, IBV_MW_TYPE_2);
    if (mw != nullptr) mw->rkey = rkey;
    return mw;
  }

  ibv_qp_ex* qp_ = nullptr;
  KernelQp* queue_ = nullptr;
};

TEST_F(WrTest, RequestsAppearTogether) {
  ibv_wr_start(qp_);
  ibv_wr_send(qp_);
  ibv_wr_set_sge(qp_, 7, 0x1000, 10);
  qp_->wr_id = 12;
  ibv_wr_rdma_write_imm(qp_, 55, 0xabc0, htonl(3));
  EXPECT_EQ(queue_->page->sq_tail, 0u);
  ASSERT_EQ(ibv_wr_complete(qp_), 0);
  EXPECT_EQ(queue_->page->sq_tail, 2u);

  const srn_send_wqe& send = queue_->send(0);
  EXPECT_EQ(send.wr_id, 11u);
  EXPECT_EQ(send.opcode, static_cast<uint32_t>(IBV_WR_SEND));
  EXPECT_EQ(send.flags, static_cast<uint32_t>(IBV_SEND_SIGNALED));
  ASSERT_EQ(send.num_sge, 1u);
  const auto* sge = reinterpret_cast<const srn_sge*>(&send + 1);
  EXPECT_EQ(sge->addr, 0x1000u);
  EXPECT_EQ(sge->length, 10u);
  EXPECT_EQ(sge->lkey, 7u);

  const srn_send_wqe& write = queue_->send(1);
  EXPECT_EQ(write.wr_id, 12u);
  EXPECT_EQ(write.num_sge, 0u);  // not what the slot's last user left
  EXPECT_EQ(write.rdma.remote_addr, 0xabc0u);
  EXPECT_EQ(write.rdma.rkey, 55u);
  EXPECT_EQ(write.imm, htonl(3));
}

TEST_F(WrTest, EachOperationFillsWhatIsItsOwn) {
  ibv_wr_start(qp_);
  ibv_wr_send_imm(qp_, htonl(9));
  ibv_wr_send_inv(qp_, 8);
  ibv_wr_local_inv(qp_, 7);
  ibv_wr_rdma_read(qp_, 6, 0x60);
  ibv_wr_rdma_write(qp_, 5, 0x50);
  ASSERT_EQ(ibv_wr_complete(qp_), 0);
  EXPECT_EQ(queue_->send(0).opcode, static_cast<uint32_t>(IBV_WR_SEND_WITH_IMM));
  EXPECT_EQ(queue_->send(0).imm, htonl(9));
  EXPECT_EQ(queue_->send(1).opcode, static_cast<uint32_t>(IBV_WR_SEND_WITH_INV));
  EXPECT_EQ(queue_->send(1).inv_rkey, 8u);
  EXPECT_EQ(queue_->send(1).imm, 0u);
  EXPECT_EQ(queue_->send(2).opcode, static_cast<uint32_t>(IBV_WR_LOCAL_INV));
  EXPECT_EQ(queue_->send(2).inv_rkey, 7u);
  EXPECT_EQ(queue_->send(3).opcode, static_cast<uint32_t>(IBV_WR_RDMA_READ));
  EXPECT_EQ(queue_->send(3).rdma.rkey, 6u);
  EXPECT_EQ(queue_->send(3).rdma.remote_addr, 0x60u);
  EXPECT_EQ(queue_->send(4).opcode, static_cast<uint32_t>(IBV_WR_RDMA_WRITE));
  EXPECT_EQ(queue_->send(4).rdma.rkey, 5u);
}

TEST_F(WrTest, AtomicsCarryTheirOperands) {
  const uint64_t value = 0x8877665544332211;
  ibv_wr_start(qp_);
  ibv_wr_atomic_cmp_swp(qp_, 4, 0x40, 1, 2);
  ibv_wr_atomic_fetch_add(qp_, 3, 0x30, 5);
  ibv_wr_atomic_write(qp_, 2, 0x20, &value);
  ASSERT_EQ(ibv_wr_complete(qp_), 0);
  EXPECT_EQ(queue_->send(0).rdma.compare_add, 1u);
  EXPECT_EQ(queue_->send(0).rdma.swap, 2u);
  EXPECT_EQ(queue_->send(1).rdma.compare_add, 5u);
  EXPECT_EQ(queue_->send(2).opcode, static_cast<uint32_t>(IBV_WR_ATOMIC_WRITE));
  EXPECT_EQ(queue_->send(2).rdma.compare_add, value);
  EXPECT_EQ(queue_->send(2).rdma.remote_addr, 0x20u);
}

TEST_F(WrTest, BindTakesTheNewKey) {
  ibv_mr mr = {};
  mr.lkey = 31;
  ibv_mw* mw = ibv_alloc_mw(pd_, IBV_MW_TYPE_2);
  ASSERT_NE(mw, nullptr);
  const ibv_mw_bind_info info = {&mr, 0x5000, 0x100, IBV_ACCESS_REMOTE_READ};
  const uint32_t old_key = mw->rkey;
  ibv_wr_start(qp_);
  ibv_wr_bind_mw(qp_, mw, 0x3401, &info);
  ASSERT_EQ(ibv_wr_complete(qp_), 0);
  EXPECT_EQ(queue_->send(0).bind.mw_rkey, old_key);
  EXPECT_EQ(queue_->send(0).bind.new_rkey, 0x3401u);
  EXPECT_EQ(mw->rkey, (old_key & ~0xffu) | 0x01u);
  EXPECT_EQ(queue_->send(0).bind.mr_lkey, 31u);
  EXPECT_EQ(queue_->send(0).bind.length, 0x100u);
  EXPECT_EQ(queue_->send(0).bind.addr, 0x5000u);
  EXPECT_EQ(queue_->send(0).bind.access, static_cast<uint32_t>(IBV_ACCESS_REMOTE_READ));

  mw->type = IBV_MW_TYPE_1;
  ibv_wr_start(qp_);
  ibv_wr_bind_mw(qp_, mw, 0x1201, &info);
  EXPECT_EQ(ibv_wr_complete(qp_), EINVAL);
  EXPECT_EQ(ibv_dealloc_mw(mw), 0);
}

// A key that no bind gave it would be refused, wherever the program hands it to.
TEST_F(WrTest, BindThatIsNotPostedLeavesTheKey) {
  ibv_mw* mw = MakeWindow(0x700);
  ibv_mw* other = MakeWindow(0x800);
  ASSERT_NE(mw, nullptr);
  ASSERT_NE(other, nullptr);
  const ibv_mw_bind_info info = {};

  ibv_wr_start(qp_);
  ibv_wr_bind_mw(qp_, mw, 1, &info);
  ibv_wr_bind_mw(qp_, other, 2, &info);
  ibv_wr_bind_mw(qp_, mw, 3, &info);
  EXPECT_EQ(mw->rkey, 0x703u);
  // It is in the hands of who builds these.
  EXPECT_EQ(ibv_dealloc_mw(mw), EBUSY);
  ibv_wr_abort(qp_);
  EXPECT_EQ(mw->rkey, 0x700u);
  EXPECT_EQ(other->rkey, 0x800u);

  ibv_wr_start(qp_);
  ibv_wr_bind_mw(qp_, mw, 4, &info);
  other->type = IBV_MW_TYPE_1;
  ibv_wr_bind_mw(qp_, other, 4, &info);
  EXPECT_EQ(ibv_wr_complete(qp_), EINVAL);
  EXPECT_EQ(mw->rkey, 0x700u);

  ibv_wr_start(qp_);
  ibv_wr_bind_mw(qp_, mw, 5, &info);
  EXPECT_EQ(ibv_wr_complete(qp_), 0);
  ibv_wr_start(qp_);
  ibv_wr_bind_mw(qp_, mw, 6, &info);
  ibv_wr_abort(qp_);
  EXPECT_EQ(mw->rkey, 0x705u);
  EXPECT_EQ(ibv_dealloc_mw(mw), 0);
  EXPECT_EQ(ibv_dealloc_mw(other), 0);
}

// Nobody could say which key it has when one of the two is not posted.
TEST_F(WrTest, WindowIsBoundByOneQpAtATime) {
  ibv_mw* mw = MakeWindow(0x700);
  ibv_qp_ex* other = MakeQpEx(IBV_QPT_RC, kAllRc);
  ASSERT_NE(mw, nullptr);
  ASSERT_NE(other, nullptr);
  const ibv_mw_bind_info info = {};

  ibv_wr_start(qp_);
  ibv_wr_bind_mw(qp_, mw, 1, &info);
  ibv_wr_start(other);
  ibv_wr_bind_mw(other, mw, 2, &info);
  EXPECT_EQ(ibv_wr_complete(other), EBUSY);
  ibv_send_wr wr = {};
  ibv_send_wr* bad = nullptr;
  wr.opcode = IBV_WR_BIND_MW;
  wr.bind_mw = {.mw = mw, .rkey = 3, .bind_info = info};
  EXPECT_EQ(ibv_post_send(&other->qp_base, &wr, &bad), EBUSY);
  EXPECT_EQ(bad, &wr);
  EXPECT_EQ(mw->rkey, 0x701u);

  // With the QP goes what was not posted.
  EXPECT_EQ(ibv_destroy_qp(&qp_->qp_base), 0);
  EXPECT_EQ(mw->rkey, 0x700u);
  EXPECT_EQ(ibv_post_send(&other->qp_base, &wr, &bad), 0);
  EXPECT_EQ(mw->rkey, 0x703u);
  EXPECT_EQ(ibv_destroy_qp(&other->qp_base), 0);
  EXPECT_EQ(ibv_dealloc_mw(mw), 0);
  qp_ = MakeQpEx(IBV_QPT_RC, kAllRc);
}

TEST_F(WrTest, GoneDeviceTakesNothing) {
  queue_->page->gone = 1;
  ibv_wr_start(qp_);
  ibv_wr_send(qp_);
  EXPECT_EQ(ibv_wr_complete(qp_), EIO);
  EXPECT_EQ(queue_->page->sq_tail, 0u);
}

TEST_F(WrTest, InlineDataIsCopied) {
  std::string text = "inline";
  std::string more = " data";
  ibv_wr_start(qp_);
  ibv_wr_send(qp_);
  ibv_wr_set_inline_data(qp_, text.data(), text.size());
  ibv_wr_rdma_write(qp_, 1, 0x10);
  const std::array<ibv_data_buf, 3> bufs = {
      {{text.data(), text.size()}, {nullptr, 0}, {more.data(), more.size()}}};
  ibv_wr_set_inline_data_list(qp_, bufs.size(), bufs.data());
  ASSERT_EQ(ibv_wr_complete(qp_), 0);
  const srn_send_wqe& send = queue_->send(0);
  EXPECT_TRUE(send.flags & IBV_SEND_INLINE);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(&send + 1), send.inline_len), "inline");
  const srn_send_wqe& write = queue_->send(1);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(&write + 1), write.inline_len),
            "inline data");
}

TEST_F(WrTest, AnErrorPostsNothing) {
  queue_->page->status = SRN_QP_NEED_DB;
  std::string big(kMaxInline + 1, 'b');
  ibv_wr_start(qp_);
  ibv_wr_send(qp_);
  ibv_wr_send(qp_);
  ibv_wr_set_inline_data(qp_, big.data(), big.size());
  ibv_wr_send(qp_);
  EXPECT_EQ(ibv_wr_complete(qp_), EINVAL);
  EXPECT_EQ(queue_->page->sq_tail, 0u);
  EXPECT_TRUE(kernel_.doorbells.empty());

  // And the queue goes on.
  ibv_wr_start(qp_);
  ibv_wr_send(qp_);
  EXPECT_EQ(ibv_wr_complete(qp_), 0);
  EXPECT_EQ(queue_->page->sq_tail, 1u);
  EXPECT_EQ(kernel_.doorbells.size(), 1u);
}

// The first of several errors is the one that wr_complete tells.
TEST_F(WrTest, FirstErrorIsTold) {
  ibv_wr_start(qp_);
  for (uint32_t i = 0; i <= kMaxSendWr; ++i) ibv_wr_send(qp_);
  qp_->wr_flags = IBV_SEND_IP_CSUM;
  ibv_wr_send(qp_);
  EXPECT_EQ(ibv_wr_complete(qp_), ENOMEM);
  EXPECT_EQ(queue_->page->sq_tail, 0u);
}

TEST_F(WrTest, InlineDataMayFillItsRoom) {
  std::string data(kMaxInline, 'd');
  const ibv_data_buf bufs[] = {{data.data(), kMaxInline - 1}, {data.data(), 1}, {data.data(), 0}};
  ibv_wr_start(qp_);
  ibv_wr_send(qp_);
  ibv_wr_set_inline_data_list(qp_, 3, bufs);
  ASSERT_EQ(ibv_wr_complete(qp_), 0);
  EXPECT_EQ(queue_->send(0).inline_len, kMaxInline);
}

// The flag without data in the request: what it has is elements.
TEST_F(WrTest, InlineIsWhatHasInlineData) {
  qp_->wr_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
  ibv_wr_start(qp_);
  ibv_wr_send(qp_);
  ibv_wr_set_sge(qp_, 7, 0x1000, 10);
  ASSERT_EQ(ibv_wr_complete(qp_), 0);
  EXPECT_EQ(queue_->send(0).flags, static_cast<uint32_t>(IBV_SEND_SIGNALED));
  EXPECT_EQ(queue_->send(0).num_sge, 1u);
}

// What had inline data the last time round has none now.
TEST_F(WrTest, SlotsAreAsNewEachTime) {
  const uint64_t value = 5;
  char data[8] = {};
  const uint32_t entries = queue_->layout.sq_entries;
  for (uint32_t i = 0; i < 2 * entries; ++i) {
    ibv_wr_start(qp_);
    if (i < entries) {
      ibv_wr_send_inv(qp_, 8);
      ibv_wr_set_inline_data(qp_, data, sizeof(data));
    } else if (i % 2) {
      ibv_wr_atomic_write(qp_, 1, 0x10, &value);
    } else {
      ibv_wr_send_imm(qp_, htonl(9));
    }
    ASSERT_EQ(ibv_wr_complete(qp_), 0);
    const srn_send_wqe& wqe = queue_->send(i);
    EXPECT_EQ(wqe.inline_len, i < entries ? sizeof(data) : 0u) << i;
    EXPECT_EQ(!!(wqe.flags & IBV_SEND_INLINE), i < entries) << i;
    EXPECT_EQ(wqe.inv_rkey, i < entries ? 8u : 0u) << i;
    EXPECT_EQ(wqe.num_sge, 0u) << i;
    queue_->page->sq_head = i + 1;
  }
}

TEST_F(WrTest, TooManySgesAreRefused) {
  std::array<ibv_sge, kMaxSge + 1> sges = {};
  ibv_wr_start(qp_);
  ibv_wr_send(qp_);
  ibv_wr_set_sge_list(qp_, kMaxSge, sges.data());
  EXPECT_EQ(ibv_wr_complete(qp_), 0);
  ibv_wr_start(qp_);
  ibv_wr_send(qp_);
  ibv_wr_set_sge_list(qp_, kMaxSge + 1, sges.data());
  EXPECT_EQ(ibv_wr_complete(qp_), EINVAL);
}

TEST_F(WrTest, ReadsTakeNoInlineData) {
  char byte = 0;
  ibv_wr_start(qp_);
  ibv_wr_rdma_read(qp_, 1, 0x10);
  ibv_wr_set_inline_data(qp_, &byte, 1);
  EXPECT_EQ(ibv_wr_complete(qp_), EINVAL);
}

TEST_F(WrTest, UnknownFlagsAreRefused) {
  qp_->wr_flags = IBV_SEND_IP_CSUM;
  ibv_wr_start(qp_);
  ibv_wr_send(qp_);
  EXPECT_EQ(ibv_wr_complete(qp_), EINVAL);
}

TEST_F(WrTest, FullQueueRefusesTheWholeBatch) {
  ibv_wr_start(qp_);
  for (uint32_t i = 0; i < kMaxSendWr; ++i) ibv_wr_send(qp_);
  ASSERT_EQ(ibv_wr_complete(qp_), 0);
  queue_->page->sq_head = 1;
  ibv_wr_start(qp_);
  ibv_wr_send(qp_);
  ibv_wr_send(qp_);
  ibv_wr_set_sge(qp_, 1, 2, 3);
  EXPECT_EQ(ibv_wr_complete(qp_), ENOMEM);
  EXPECT_EQ(queue_->page->sq_tail, kMaxSendWr);
}

TEST_F(WrTest, AbortForgets) {
  ibv_wr_start(qp_);
  ibv_wr_send(qp_);
  ibv_wr_abort(qp_);
  EXPECT_EQ(queue_->page->sq_tail, 0u);
  ibv_wr_start(qp_);
  EXPECT_EQ(ibv_wr_complete(qp_), 0);
  EXPECT_EQ(queue_->page->sq_tail, 0u);
}

TEST_F(WrTest, SendNeedsRtsOrLater) {
  SetState(&qp_->qp_base, IBV_QPS_RTR);
  ibv_wr_start(qp_);
  ibv_wr_send(qp_);
  EXPECT_EQ(ibv_wr_complete(qp_), EINVAL);
}

TEST_F(WrTest, UdTakesItsDestination) {
  ibv_qp_ex* ud = MakeQpEx(IBV_QPT_UD, IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM);
  ASSERT_NE(ud, nullptr);
  ibv_ah_attr attr = {};
  ibv_ah* ah = ibv_create_ah(pd_, &attr);
  ASSERT_NE(ah, nullptr);
  ibv_wr_start(ud);
  ibv_wr_send(ud);
  ibv_wr_set_ud_addr(ud, ah, 17, 0x11111111);
  ASSERT_EQ(ibv_wr_complete(ud), 0);
  const srn_send_wqe& wqe = kernel_.Of(&ud->qp_base).send(0);
  EXPECT_EQ(wqe.ud.ah, 4711u);
  EXPECT_EQ(wqe.ud.remote_qpn, 17u);
  EXPECT_EQ(wqe.ud.remote_qkey, 0x11111111u);
  EXPECT_EQ(ibv_destroy_ah(ah), 0);
}

TEST_F(WrTest, OnlyWhatWasAskedForIsThere) {
  ibv_qp_ex* qp = MakeQpEx(IBV_QPT_RC, IBV_QP_EX_WITH_SEND);
  ASSERT_NE(qp, nullptr);
  EXPECT_NE(qp->wr_send, nullptr);
  EXPECT_EQ(qp->wr_rdma_write, nullptr);
  EXPECT_EQ(qp->wr_set_ud_addr, nullptr);
}

TEST_F(WrTest, EachOperationIsThereIfItWasAskedFor) {
  struct Case {
    uint64_t flag;
    bool (*there)(const ibv_qp_ex& qp);
  };
  const Case cases[] = {
      {IBV_QP_EX_WITH_SEND, [](const ibv_qp_ex& qp) { return qp.wr_send != nullptr; }},
      {IBV_QP_EX_WITH_SEND_WITH_IMM, [](const ibv_qp_ex& qp) { return qp.wr_send_imm != nullptr; }},
      {IBV_QP_EX_WITH_SEND_WITH_INV, [](const ibv_qp_ex& qp) { return qp.wr_send_inv != nullptr; }},
      {IBV_QP_EX_WITH_RDMA_WRITE, [](const ibv_qp_ex& qp) { return qp.wr_rdma_write != nullptr; }},
      {IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM,
       [](const ibv_qp_ex& qp) { return qp.wr_rdma_write_imm != nullptr; }},
      {IBV_QP_EX_WITH_RDMA_READ, [](const ibv_qp_ex& qp) { return qp.wr_rdma_read != nullptr; }},
      {IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP,
       [](const ibv_qp_ex& qp) { return qp.wr_atomic_cmp_swp != nullptr; }},
      {IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD,
       [](const ibv_qp_ex& qp) { return qp.wr_atomic_fetch_add != nullptr; }},
      {IBV_QP_EX_WITH_ATOMIC_WRITE,
       [](const ibv_qp_ex& qp) { return qp.wr_atomic_write != nullptr; }},
      {IBV_QP_EX_WITH_LOCAL_INV, [](const ibv_qp_ex& qp) { return qp.wr_local_inv != nullptr; }},
      {IBV_QP_EX_WITH_BIND_MW, [](const ibv_qp_ex& qp) { return qp.wr_bind_mw != nullptr; }}};
  for (const Case& asked : cases) {
    ibv_qp_ex* qp = MakeQpEx(IBV_QPT_RC, asked.flag);
    ASSERT_NE(qp, nullptr);
    for (const Case& c : cases) EXPECT_EQ(c.there(*qp), c.flag == asked.flag) << c.flag;
  }
}

TEST_F(WrTest, UnsupportedOperationsAreRefusedAtCreation) {
  errno = 0;
  EXPECT_EQ(MakeQpEx(IBV_QPT_RC, IBV_QP_EX_WITH_TSO), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
  EXPECT_EQ(MakeQpEx(IBV_QPT_UC, IBV_QP_EX_WITH_RDMA_READ), nullptr);
  EXPECT_EQ(MakeQpEx(IBV_QPT_UD, IBV_QP_EX_WITH_RDMA_WRITE), nullptr);
}

TEST_F(WrTest, UnknownAttributesAreRefusedAtCreation) {
  ibv_qp_init_attr_ex attr = {};
  attr.send_cq = cq_;
  attr.recv_cq = cq_;
  attr.qp_type = IBV_QPT_RC;
  attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_MAX_TSO_HEADER;
  attr.pd = pd_;
  errno = 0;
  EXPECT_EQ(ibv_create_qp_ex(context_, &attr), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
}

// As ibv_post_send() does it.
TEST_F(WrTest, WhatIsGatheredIsRungForWhenTheQueueIsFull) {
  ibv_qp_ex* qp = MakeQpEx(IBV_QPT_RC, IBV_QP_EX_WITH_SEND);
  kernel_.Of(&qp->qp_base).page->status = SRN_QP_GATHERS;
  for (uint32_t i = 0; i <= kMaxSendWr; ++i) {
    EXPECT_TRUE(kernel_.doorbells.empty());
    ibv_wr_start(qp);
    ibv_wr_send(qp);
    EXPECT_EQ(ibv_wr_complete(qp), i < kMaxSendWr ? 0 : ENOMEM);
  }
  EXPECT_EQ(kernel_.doorbells.size(), 1u);
}

TEST_F(WrTest, QpsWithoutItAreNotExtended) {
  EXPECT_EQ(ibv_qp_to_qp_ex(MakeQp(IBV_QPT_RC)), nullptr);
}

}  // namespace
}  // namespace srn::test
