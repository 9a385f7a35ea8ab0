// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Polling in both interfaces, arming, resizing.

#include <arpa/inet.h>

#include <array>

#include "fake_kernel.h"

namespace srn::test {
namespace {

srn_cqe Cqe(uint64_t wr_id) {
  srn_cqe cqe = {};
  cqe.wr_id = wr_id;
  cqe.timestamp = 1000 + wr_id;
  cqe.status = IBV_WC_REM_ACCESS_ERR;
  cqe.opcode = IBV_WC_RECV_RDMA_WITH_IMM;
  cqe.byte_len = 77;
  cqe.imm = htonl(0xcafe);
  cqe.qp_num = 0x123456;
  cqe.src_qp = 0x654321;
  cqe.wc_flags = IBV_WC_WITH_IMM;
  cqe.vendor_err = 5;
  cqe.pkey_index = 6;
  cqe.sl = 7;
  return cqe;
}

srn_cqe Datagram(uint8_t network_hdr_type) {
  srn_cqe cqe = Cqe(1);
  cqe.wc_flags |= IBV_WC_GRH;
  cqe.network_hdr_type = network_hdr_type;
  return cqe;
}

class CqTest : public ProviderTest {
 protected:
  KernelCq& queue() { return kernel_.Of(cq_); }
};

TEST_F(CqTest, EveryFieldArrives) {
  queue().Post(Cqe(1));
  ibv_wc wc;
  ASSERT_EQ(ibv_poll_cq(cq_, 1, &wc), 1);
  EXPECT_EQ(wc.wr_id, 1u);
  EXPECT_EQ(wc.status, IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
  EXPECT_EQ(wc.byte_len, 77u);
  EXPECT_EQ(wc.imm_data, htonl(0xcafe));
  EXPECT_EQ(wc.qp_num, 0x123456u);
  EXPECT_EQ(wc.src_qp, 0x654321u);
  EXPECT_EQ(wc.wc_flags, static_cast<unsigned>(IBV_WC_WITH_IMM));
  EXPECT_EQ(wc.vendor_err, 5u);
  EXPECT_EQ(wc.pkey_index, 6u);
  EXPECT_EQ(wc.sl, 7u);
  EXPECT_EQ(wc.slid, 0u);
  EXPECT_EQ(wc.dlid_path_bits, 0u);
}

TEST_F(CqTest, DatagramTellsItsIpVersionAsMellanoxAdaptersDo) {
  queue().Post(Datagram(SRN_CQE_IPV4));
  queue().Post(Datagram(SRN_CQE_IPV6));
  std::array<ibv_wc, 2> wc;
  ASSERT_EQ(ibv_poll_cq(cq_, 2, wc.data()), 2);
  EXPECT_EQ(wc[0].sl, 8 | 2);
  EXPECT_EQ(wc[1].sl, 8 | 1);
}

TEST_F(CqTest, NoMoreThanAskedForAndInOrder) {
  for (uint64_t id = 0; id < 5; ++id) queue().Post(Cqe(id));
  std::array<ibv_wc, 8> wc;
  ASSERT_EQ(ibv_poll_cq(cq_, 3, wc.data()), 3);
  EXPECT_EQ(wc[2].wr_id, 2u);
  EXPECT_EQ(queue().page->cons, 3u);
  ASSERT_EQ(ibv_poll_cq(cq_, 8, wc.data()), 2);
  EXPECT_EQ(wc[0].wr_id, 3u);
  EXPECT_EQ(ibv_poll_cq(cq_, 8, wc.data()), 0);
  EXPECT_EQ(ibv_poll_cq(cq_, 0, wc.data()), 0);
}

TEST_F(CqTest, DeadQueueIsToldAfterWhatThereIs) {
  for (const uint32_t why : {SRN_CQ_OVERRUN, SRN_CQ_GONE}) {
    queue().Post(Cqe(1));
    queue().page->dead = why;
    ibv_wc wc;
    EXPECT_EQ(ibv_poll_cq(cq_, 1, &wc), 1);
    EXPECT_LT(ibv_poll_cq(cq_, 1, &wc), 0);
    EXPECT_EQ(ibv_poll_cq(cq_, 0, &wc), 0);
  }
}

TEST_F(CqTest, ArmingIsAStore) {
  ASSERT_EQ(ibv_req_notify_cq(cq_, 1), 0);
  EXPECT_EQ(queue().page->arm, static_cast<uint32_t>(SRN_CQ_ARM_SOLICITED));
  ASSERT_EQ(ibv_req_notify_cq(cq_, 0), 0);
  EXPECT_EQ(queue().page->arm, static_cast<uint32_t>(SRN_CQ_ARM_NEXT));
}

TEST_F(CqTest, ArmingForLessKeepsWhatIsPending) {
  ASSERT_EQ(ibv_req_notify_cq(cq_, 0), 0);
  ASSERT_EQ(ibv_req_notify_cq(cq_, 1), 0);
  EXPECT_EQ(queue().page->arm, static_cast<uint32_t>(SRN_CQ_ARM_NEXT));
}

TEST_F(CqTest, ModerationReachesTheKernel) {
  ibv_modify_cq_attr attr = {};
  attr.attr_mask = IBV_CQ_ATTR_MODERATE;
  attr.moderate.cq_count = 16;
  attr.moderate.cq_period = 100;
  ASSERT_EQ(ibv_modify_cq(cq_, &attr), 0);
  EXPECT_EQ(kernel_.moderate.cq_count, 16);
  EXPECT_EQ(kernel_.moderate.cq_period, 100);
  kernel_.FailNext(EINVAL);
  EXPECT_EQ(ibv_modify_cq(cq_, &attr), EINVAL);
}

TEST_F(CqTest, ResizeGoesOnInTheNewQueue) {
  for (uint64_t id = 0; id < 6; ++id) queue().Post(Cqe(id));
  std::array<ibv_wc, 32> wc;
  ASSERT_EQ(ibv_poll_cq(cq_, 2, wc.data()), 2);
  ASSERT_EQ(ibv_resize_cq(cq_, 32), 0);
  EXPECT_EQ(cq_->cqe, 32);
  for (uint64_t id = 6; id < 30; ++id) queue().Post(Cqe(id));
  ASSERT_EQ(ibv_poll_cq(cq_, 32, wc.data()), 28);
  for (uint64_t id = 2; id < 30; ++id) EXPECT_EQ(wc[id - 2].wr_id, id);
  EXPECT_EQ(queue().page->cons, 30u);
  ASSERT_EQ(ibv_req_notify_cq(cq_, 0), 0);
  EXPECT_EQ(queue().page->arm, static_cast<uint32_t>(SRN_CQ_ARM_NEXT));
}

TEST_F(CqTest, FailedResizeLeavesTheQueue) {
  kernel_.FailNext(EINVAL);
  EXPECT_EQ(ibv_resize_cq(cq_, 1), EINVAL);
  queue().Post(Cqe(1));
  ibv_wc wc;
  EXPECT_EQ(ibv_poll_cq(cq_, 1, &wc), 1);
}

// The kernel has left the old queue then. Who polls that must not wait for ever.
TEST_F(CqTest, ResizedQueueThatCannotBeMappedTellsOfItself) {
  queue().Post(Cqe(1));
  kernel_.BreakNextOffset();
  EXPECT_NE(ibv_resize_cq(cq_, 32), 0);
  ibv_wc wc;
  ASSERT_EQ(ibv_poll_cq(cq_, 1, &wc), 1);
  EXPECT_EQ(wc.wr_id, 1u);
  EXPECT_LT(ibv_poll_cq(cq_, 1, &wc), 0);
  EXPECT_EQ(ibv_resize_cq(cq_, 32), EIO);
}

class CqExTest : public ProviderTest {
 protected:
  ibv_cq_ex* Make(uint64_t wc_flags, uint32_t comp_mask = 0, uint32_t flags = 0,
                  ibv_pd* domain = nullptr) {
    ibv_cq_init_attr_ex attr = {};
    attr.cqe = 4;
    attr.wc_flags = wc_flags;
    attr.comp_mask = comp_mask;
    attr.flags = flags;
    attr.parent_domain = domain;
    return ibv_create_cq_ex(context_, &attr);
  }
};

TEST_F(CqExTest, IteratesAndFreesWhatItLeaves) {
  ibv_cq_ex* cq = Make(IBV_WC_STANDARD_FLAGS);
  ASSERT_NE(cq, nullptr);
  KernelCq& queue = kernel_.Of(ibv_cq_ex_to_cq(cq));
  ibv_poll_cq_attr attr = {};
  EXPECT_EQ(ibv_start_poll(cq, &attr), ENOENT);
  // Twice round the ring, so that freed slots are needed.
  for (int round = 0; round < 4; ++round) {
    queue.Post(Cqe(1));
    queue.Post(Cqe(2));
    ASSERT_EQ(ibv_start_poll(cq, &attr), 0);
    EXPECT_EQ(cq->wr_id, 1u);
    EXPECT_EQ(cq->status, IBV_WC_REM_ACCESS_ERR);
    ASSERT_EQ(ibv_next_poll(cq), 0);
    EXPECT_EQ(cq->wr_id, 2u);
    if (round % 2 == 0) {
      EXPECT_EQ(ibv_next_poll(cq), ENOENT);
    }
    ibv_end_poll(cq);
    EXPECT_EQ(queue.page->cons, queue.page->prod);
  }
  EXPECT_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
}

TEST_F(CqExTest, EveryFieldArrives) {
  ibv_cq_ex* cq =
      Make(uint64_t{IBV_WC_STANDARD_FLAGS} | uint64_t{IBV_WC_EX_WITH_COMPLETION_TIMESTAMP});
  ASSERT_NE(cq, nullptr);
  kernel_.Of(ibv_cq_ex_to_cq(cq)).Post(Cqe(1));
  ibv_poll_cq_attr attr = {};
  ASSERT_EQ(ibv_start_poll(cq, &attr), 0);
  EXPECT_EQ(ibv_wc_read_opcode(cq), IBV_WC_RECV_RDMA_WITH_IMM);
  EXPECT_EQ(ibv_wc_read_vendor_err(cq), 5u);
  EXPECT_EQ(ibv_wc_read_byte_len(cq), 77u);
  EXPECT_EQ(ibv_wc_read_imm_data(cq), htonl(0xcafe));
  EXPECT_EQ(ibv_wc_read_qp_num(cq), 0x123456u);
  EXPECT_EQ(ibv_wc_read_src_qp(cq), 0x654321u);
  EXPECT_EQ(ibv_wc_read_wc_flags(cq), static_cast<unsigned>(IBV_WC_WITH_IMM));
  EXPECT_EQ(ibv_wc_read_sl(cq), 7u);
  EXPECT_EQ(ibv_wc_read_slid(cq), 0u);
  EXPECT_EQ(ibv_wc_read_dlid_path_bits(cq), 0u);
  EXPECT_EQ(ibv_wc_read_completion_ts(cq), 1001u);
  ibv_end_poll(cq);
  EXPECT_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
}

TEST_F(CqExTest, DeadQueueIsToldAfterWhatThereIs) {
  ibv_cq_ex* cq = Make(IBV_WC_STANDARD_FLAGS);
  ASSERT_NE(cq, nullptr);
  KernelCq& queue = kernel_.Of(ibv_cq_ex_to_cq(cq));
  queue.Post(Cqe(1));
  queue.page->dead = SRN_CQ_GONE;
  ibv_poll_cq_attr attr = {};
  ASSERT_EQ(ibv_start_poll(cq, &attr), 0);
  EXPECT_EQ(ibv_next_poll(cq), ENOENT);
  ibv_end_poll(cq);
  // Twice: the first one must not keep the lock.
  EXPECT_EQ(ibv_start_poll(cq, &attr), EIO);
  EXPECT_EQ(ibv_start_poll(cq, &attr), EIO);
  EXPECT_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
}

TEST_F(CqExTest, DatagramTellsItsIpVersionAsMellanoxAdaptersDo) {
  ibv_cq_ex* cq = Make(IBV_WC_STANDARD_FLAGS);
  ASSERT_NE(cq, nullptr);
  kernel_.Of(ibv_cq_ex_to_cq(cq)).Post(Datagram(SRN_CQE_IPV4));
  ibv_poll_cq_attr attr = {};
  ASSERT_EQ(ibv_start_poll(cq, &attr), 0);
  EXPECT_EQ(ibv_wc_read_sl(cq), 8 | 2);
  ibv_end_poll(cq);
  EXPECT_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
}

TEST_F(CqExTest, ArmingWhilePollingDoesNotLockUp) {
  ibv_cq_ex* cq = Make(0);
  ASSERT_NE(cq, nullptr);
  kernel_.Of(ibv_cq_ex_to_cq(cq)).Post(Cqe(1));
  ibv_poll_cq_attr attr = {};
  ASSERT_EQ(ibv_start_poll(cq, &attr), 0);
  EXPECT_EQ(ibv_req_notify_cq(ibv_cq_ex_to_cq(cq), 0), 0);
  ibv_end_poll(cq);
  EXPECT_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
}

TEST_F(CqExTest, OnlyWhatWasAskedForIsThere) {
  ibv_cq_ex* cq = Make(IBV_WC_EX_WITH_BYTE_LEN);
  ASSERT_NE(cq, nullptr);
  EXPECT_NE(cq->read_byte_len, nullptr);
  EXPECT_EQ(cq->read_src_qp, nullptr);
  EXPECT_EQ(cq->read_completion_ts, nullptr);
  EXPECT_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
}

TEST_F(CqExTest, EachFieldIsThereIfItWasAskedFor) {
  struct Case {
    uint64_t flag;
    bool (*there)(const ibv_cq_ex& cq);
  };
  const Case cases[] = {
      {IBV_WC_EX_WITH_BYTE_LEN, [](const ibv_cq_ex& cq) { return cq.read_byte_len != nullptr; }},
      {IBV_WC_EX_WITH_IMM, [](const ibv_cq_ex& cq) { return cq.read_imm_data != nullptr; }},
      {IBV_WC_EX_WITH_QP_NUM, [](const ibv_cq_ex& cq) { return cq.read_qp_num != nullptr; }},
      {IBV_WC_EX_WITH_SRC_QP, [](const ibv_cq_ex& cq) { return cq.read_src_qp != nullptr; }},
      {IBV_WC_EX_WITH_SLID, [](const ibv_cq_ex& cq) { return cq.read_slid != nullptr; }},
      {IBV_WC_EX_WITH_SL, [](const ibv_cq_ex& cq) { return cq.read_sl != nullptr; }},
      {IBV_WC_EX_WITH_DLID_PATH_BITS,
       [](const ibv_cq_ex& cq) { return cq.read_dlid_path_bits != nullptr; }},
      {IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
       [](const ibv_cq_ex& cq) { return cq.read_completion_ts != nullptr; }}};
  for (const Case& asked : cases) {
    ibv_cq_ex* cq = Make(asked.flag);
    ASSERT_NE(cq, nullptr);
    for (const Case& c : cases) EXPECT_EQ(c.there(*cq), c.flag == asked.flag) << c.flag;
    EXPECT_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
  }
}

// The kernel judges those that it hears of, which are those that the mask names.
TEST_F(CqExTest, FlagsReachTheKernelIfTheMaskNamesThem) {
  for (const bool named : {false, true}) {
    ibv_cq_ex* cq =
        Make(0, named ? IBV_CQ_INIT_ATTR_MASK_FLAGS : 0, IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN);
    ASSERT_NE(cq, nullptr);
    EXPECT_EQ(kernel_.cq_flags, named ? uint32_t{IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN} : 0u);
    EXPECT_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
  }
}

TEST_F(CqExTest, KernelHearsOfTimestampsNotOfThreads) {
  ibv_cq_ex* cq = Make(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP, IBV_CQ_INIT_ATTR_MASK_FLAGS,
                       IBV_CREATE_CQ_ATTR_SINGLE_THREADED);
  ASSERT_NE(cq, nullptr);
  EXPECT_EQ(kernel_.cq_wc_flags, uint64_t{IBV_WC_EX_WITH_COMPLETION_TIMESTAMP});
  EXPECT_EQ(kernel_.cq_flags, 0u);
  EXPECT_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
}

TEST_F(CqExTest, UnsupportedIsRefused) {
  EXPECT_EQ(Make(IBV_WC_EX_WITH_CVLAN), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
  EXPECT_EQ(Make(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
  EXPECT_EQ(Make(0, /*comp_mask=*/1 << 30), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
  EXPECT_EQ(Make(0, IBV_CQ_INIT_ATTR_MASK_PD, 0, pd_), nullptr);  // no parent domain
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(CqExTest, StartRefusesUnknownAttributes) {
  ibv_cq_ex* cq = Make(0);
  ASSERT_NE(cq, nullptr);
  ibv_poll_cq_attr attr = {.comp_mask = 1};
  EXPECT_EQ(ibv_start_poll(cq, &attr), EINVAL);
  EXPECT_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
}

}  // namespace
}  // namespace srn::test
