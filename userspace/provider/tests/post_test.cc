// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// ibv_post_send, ibv_post_recv, ibv_post_srq_recv and ibv_bind_mw: what reaches the rings, when the
// doorbell rings, what is refused.

#include <arpa/inet.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string>

#include "fake_kernel.h"

namespace srn::test {
namespace {

const srn_sge* SgesOf(const srn_send_wqe& wqe) {
  return reinterpret_cast<const srn_sge*>(&wqe + 1);
}

std::string InlineOf(const srn_send_wqe& wqe) {
  return std::string(reinterpret_cast<const char*>(&wqe + 1), wqe.inline_len);
}

class PostTest : public ProviderTest {
 protected:
  ibv_send_wr SendWr(ibv_wr_opcode opcode) {
    ibv_send_wr wr = {};
    wr.wr_id = 0x1234;
    wr.opcode = opcode;
    wr.sg_list = sges_.data();
    wr.num_sge = 2;
    wr.send_flags = IBV_SEND_SIGNALED;
    return wr;
  }

  // Expects the request refused with EINVAL, and nothing posted.
  void ExpectInvalid(ibv_qp* qp, ibv_send_wr wr) {
    ibv_send_wr* bad = nullptr;
    const uint32_t tail = kernel_.Of(qp).page->sq_tail;
    EXPECT_EQ(ibv_post_send(qp, &wr, &bad), EINVAL);
    EXPECT_EQ(bad, &wr);
    EXPECT_EQ(kernel_.Of(qp).page->sq_tail, tail);
  }

  const srn_send_wqe& Post(ibv_qp* qp, ibv_send_wr wr) {
    const uint32_t tail = kernel_.Of(qp).page->sq_tail;
    ibv_send_wr* bad = nullptr;
    EXPECT_EQ(ibv_post_send(qp, &wr, &bad), 0);
    EXPECT_EQ(kernel_.Of(qp).page->sq_tail, tail + 1);
    return kernel_.Of(qp).send(tail);
  }

  std::array<ibv_sge, 2> sges_ = {
      {{.addr = 0x1000, .length = 10, .lkey = 7}, {.addr = 0x2000, .length = 20, .lkey = 8}}};
};

TEST_F(PostTest, SendCarriesItsSges) {
  ibv_qp* qp = MakeQp(IBV_QPT_RC);
  ibv_send_wr wr = SendWr(IBV_WR_SEND_WITH_IMM);
  wr.imm_data = htonl(0xdeadbeef);
  wr.send_flags = IBV_SEND_FENCE | IBV_SEND_SOLICITED;
  const srn_send_wqe& wqe = Post(qp, wr);
  EXPECT_EQ(wqe.wr_id, 0x1234u);
  EXPECT_EQ(wqe.opcode, static_cast<uint32_t>(IBV_WR_SEND_WITH_IMM));
  EXPECT_EQ(wqe.flags, static_cast<uint32_t>(IBV_SEND_FENCE | IBV_SEND_SOLICITED));
  EXPECT_EQ(wqe.imm, htonl(0xdeadbeef));
  EXPECT_EQ(wqe.inv_rkey, 0u);
  EXPECT_EQ(wqe.inline_len, 0u);
  ASSERT_EQ(wqe.num_sge, 2u);
  EXPECT_EQ(SgesOf(wqe)[0].addr, 0x1000u);
  EXPECT_EQ(SgesOf(wqe)[1].addr, 0x2000u);
  EXPECT_EQ(SgesOf(wqe)[1].length, 20u);
  EXPECT_EQ(SgesOf(wqe)[1].lkey, 8u);
}

TEST_F(PostTest, GoneDeviceTakesNothing) {
  ibv_qp* qp = MakeQp(IBV_QPT_RC);
  kernel_.Of(qp).page->gone = 1;
  ibv_send_wr wr = SendWr(IBV_WR_SEND);
  ibv_send_wr* bad = nullptr;
  EXPECT_EQ(ibv_post_send(qp, &wr, &bad), EIO);
  EXPECT_EQ(bad, &wr);
  EXPECT_EQ(kernel_.Of(qp).page->sq_tail, 0u);
  EXPECT_TRUE(kernel_.doorbells.empty());
}

TEST_F(PostTest, SendWithInvalidateCarriesTheKey) {
  ibv_send_wr wr = SendWr(IBV_WR_SEND_WITH_INV);
  wr.invalidate_rkey = 99;
  const srn_send_wqe& wqe = Post(MakeQp(IBV_QPT_RC), wr);
  EXPECT_EQ(wqe.inv_rkey, 99u);
  EXPECT_EQ(wqe.imm, 0u);
}

TEST_F(PostTest, RdmaCarriesAddressAndKey) {
  ibv_qp* qp = MakeQp(IBV_QPT_RC);
  for (ibv_wr_opcode opcode : {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ}) {
    ibv_send_wr wr = SendWr(opcode);
    wr.wr.rdma.remote_addr = 0xabc0;
    wr.wr.rdma.rkey = 55;
    const srn_send_wqe& wqe = Post(qp, wr);
    EXPECT_EQ(wqe.opcode, static_cast<uint32_t>(opcode));
    EXPECT_EQ(wqe.rdma.remote_addr, 0xabc0u);
    EXPECT_EQ(wqe.rdma.rkey, 55u);
  }
}

TEST_F(PostTest, AtomicsCarryTheirOperands) {
  ibv_qp* qp = MakeQp(IBV_QPT_RC);
  for (ibv_wr_opcode opcode : {IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD}) {
    ibv_send_wr wr = SendWr(opcode);
    wr.wr.atomic.remote_addr = 0xabc8;
    wr.wr.atomic.rkey = 56;
    wr.wr.atomic.compare_add = 3;
    wr.wr.atomic.swap = 4;
    const srn_send_wqe& wqe = Post(qp, wr);
    EXPECT_EQ(wqe.rdma.remote_addr, 0xabc8u);
    EXPECT_EQ(wqe.rdma.rkey, 56u);
    EXPECT_EQ(wqe.rdma.compare_add, 3u);
    EXPECT_EQ(wqe.rdma.swap, 4u);
  }
}

TEST_F(PostTest, AtomicWriteTakesItsEightBytesInline) {
  ibv_qp* qp = MakeQp(IBV_QPT_RC);
  uint64_t value = 0x1122334455667788;
  ibv_sge sge = {.addr = reinterpret_cast<uintptr_t>(&value), .length = 8, .lkey = 0};
  ibv_send_wr wr = SendWr(IBV_WR_ATOMIC_WRITE);
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.wr.rdma.remote_addr = 0x10;
  wr.wr.rdma.rkey = 57;
  ExpectInvalid(qp, wr);  // not inline
  wr.send_flags |= IBV_SEND_INLINE;
  const srn_send_wqe& wqe = Post(qp, wr);
  EXPECT_EQ(wqe.rdma.compare_add, value);
  EXPECT_EQ(wqe.rdma.rkey, 57u);
  EXPECT_EQ(wqe.num_sge + wqe.inline_len, 0u);
  for (const uint32_t length : {0u, 7u, 9u}) {
    sge.length = length;
    ExpectInvalid(qp, wr);
  }
}

TEST_F(PostTest, LocalInvalidateHasNoPayload) {
  ibv_send_wr wr = SendWr(IBV_WR_LOCAL_INV);
  wr.invalidate_rkey = 98;
  const srn_send_wqe& wqe = Post(MakeQp(IBV_QPT_RC), wr);
  EXPECT_EQ(wqe.inv_rkey, 98u);
  EXPECT_EQ(wqe.num_sge, 0u);
}

TEST_F(PostTest, UdCarriesItsDestination) {
  ibv_qp* qp = MakeQp(IBV_QPT_UD);
  ibv_ah_attr attr = {};
  ibv_ah* ah = ibv_create_ah(pd_, &attr);
  ASSERT_NE(ah, nullptr);
  ibv_send_wr wr = SendWr(IBV_WR_SEND);
  wr.wr.ud.remote_qpn = 17;
  wr.wr.ud.remote_qkey = 0x11111111;
  ExpectInvalid(qp, wr);  // no AH
  wr.wr.ud.ah = ah;
  const srn_send_wqe& wqe = Post(qp, wr);
  EXPECT_EQ(wqe.ud.ah, 4711u);
  EXPECT_EQ(wqe.ud.remote_qpn, 17u);
  EXPECT_EQ(wqe.ud.remote_qkey, 0x11111111u);
  EXPECT_EQ(ibv_destroy_ah(ah), 0);
}

TEST_F(PostTest, InlineDataIsGatheredAtOnce) {
  std::string first = "first ", second = "second";
  std::array<ibv_sge, 3> sges = {
      {{.addr = reinterpret_cast<uintptr_t>(first.data()), .length = 6, .lkey = 0},
       {.addr = 0, .length = 0, .lkey = 0},
       {.addr = reinterpret_cast<uintptr_t>(second.data()), .length = 6, .lkey = 0}}};
  ibv_send_wr wr = SendWr(IBV_WR_SEND);
  wr.sg_list = sges.data();
  wr.num_sge = 3;
  wr.send_flags |= IBV_SEND_INLINE;
  const srn_send_wqe& wqe = Post(MakeQp(IBV_QPT_RC), wr);
  first = "xxxxx ";
  EXPECT_EQ(InlineOf(wqe), "first second");
  EXPECT_EQ(wqe.num_sge, 0u);
  EXPECT_TRUE(wqe.flags & IBV_SEND_INLINE);
}

TEST_F(PostTest, InlineDataHasALimit) {
  ibv_qp* qp = MakeQp(IBV_QPT_RC);
  std::string bytes(kMaxInline + 1, 'i');
  ibv_sge sge = {
      .addr = reinterpret_cast<uintptr_t>(bytes.data()), .length = kMaxInline, .lkey = 0};
  ibv_send_wr wr = SendWr(IBV_WR_RDMA_WRITE);
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.send_flags |= IBV_SEND_INLINE;
  EXPECT_EQ(InlineOf(Post(qp, wr)), bytes.substr(0, kMaxInline));
  sge.length = kMaxInline + 1;
  ExpectInvalid(qp, wr);
}

TEST_F(PostTest, InlineLengthsDoNotOverflow) {
  std::array<ibv_sge, 2> sges = {
      {{.addr = 1, .length = 0xffffffff, .lkey = 0}, {.addr = 1, .length = 2, .lkey = 0}}};
  ibv_send_wr wr = SendWr(IBV_WR_SEND);
  wr.sg_list = sges.data();
  wr.send_flags |= IBV_SEND_INLINE;
  ExpectInvalid(MakeQp(IBV_QPT_RC), wr);
}

TEST_F(PostTest, WhatIsSentOrWrittenMayBeInline) {
  ibv_qp* qp = MakeQp(IBV_QPT_RC);
  char byte = 'b';
  ibv_sge sge = {.addr = reinterpret_cast<uintptr_t>(&byte), .length = 1, .lkey = 0};
  for (ibv_wr_opcode opcode : {IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_SEND_WITH_INV,
                               IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM}) {
    ibv_send_wr wr = SendWr(opcode);
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.send_flags |= IBV_SEND_INLINE;
    EXPECT_EQ(InlineOf(Post(qp, wr)), "b") << opcode;
  }
}

TEST_F(PostTest, ReadsAndAtomicsAreNeverInline) {
  ibv_qp* qp = MakeQp(IBV_QPT_RC);
  for (ibv_wr_opcode opcode :
       {IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD}) {
    ibv_send_wr wr = SendWr(opcode);
    wr.send_flags |= IBV_SEND_INLINE;
    ExpectInvalid(qp, wr);
  }
}

TEST_F(PostTest, SgesBeyondTheLimitAreRefused) {
  ibv_qp* qp = MakeQp(IBV_QPT_RC);
  std::array<ibv_sge, kMaxSge + 1> sges = {};
  ibv_send_wr wr = SendWr(IBV_WR_SEND);
  wr.sg_list = sges.data();
  wr.num_sge = kMaxSge;
  Post(qp, wr);
  wr.num_sge = kMaxSge + 1;
  ExpectInvalid(qp, wr);
  wr.num_sge = -1;
  ExpectInvalid(qp, wr);
  wr.send_flags |= IBV_SEND_INLINE;  // where they are counted by their bytes
  ExpectInvalid(qp, wr);
}

TEST_F(PostTest, RequestWithoutSgesNeedsNoList) {
  ibv_send_wr wr = SendWr(IBV_WR_SEND);
  wr.sg_list = nullptr;
  wr.num_sge = 0;
  EXPECT_EQ(Post(MakeQp(IBV_QPT_RC), wr).num_sge, 0u);
}

TEST_F(PostTest, UnreliableConnectionInvalidatesAndBinds) {
  ibv_qp* qp = MakeQp(IBV_QPT_UC);
  ibv_mw* mw = ibv_alloc_mw(pd_, IBV_MW_TYPE_2);
  ASSERT_NE(mw, nullptr);
  ibv_send_wr wr = SendWr(IBV_WR_BIND_MW);
  wr.bind_mw.mw = mw;
  Post(qp, wr);
  wr = SendWr(IBV_WR_LOCAL_INV);
  wr.invalidate_rkey = 98;
  EXPECT_EQ(Post(qp, wr).inv_rkey, 98u);
  EXPECT_EQ(ibv_dealloc_mw(mw), 0);
}

TEST_F(PostTest, EachTypeRefusesWhatItDoesNotHave) {
  ibv_qp* uc = MakeQp(IBV_QPT_UC);
  for (ibv_wr_opcode opcode :
       {IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD,
        IBV_WR_SEND_WITH_INV, IBV_WR_ATOMIC_WRITE, IBV_WR_TSO}) {
    ExpectInvalid(uc, SendWr(opcode));
  }
  ibv_qp* ud = MakeQp(IBV_QPT_UD);
  ibv_ah ah = {};
  for (ibv_wr_opcode opcode : {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_LOCAL_INV}) {
    ibv_send_wr wr = SendWr(opcode);
    wr.wr.ud.ah = &ah;
    ExpectInvalid(ud, wr);
  }
  ibv_qp* rc = MakeQp(IBV_QPT_RC);
  ExpectInvalid(rc, SendWr(IBV_WR_TSO));
  ExpectInvalid(rc, SendWr(static_cast<ibv_wr_opcode>(31)));
  ExpectInvalid(rc, SendWr(static_cast<ibv_wr_opcode>(32 + IBV_WR_SEND)));
}

TEST_F(PostTest, UnknownFlagsAreRefused) {
  ibv_send_wr wr = SendWr(IBV_WR_SEND);
  wr.send_flags |= IBV_SEND_IP_CSUM;
  ExpectInvalid(MakeQp(IBV_QPT_RC), wr);
}

TEST_F(PostTest, SendNeedsRtsOrLater) {
  ibv_qp* qp = MakeQp(IBV_QPT_RC);
  for (ibv_qp_state state : {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR}) {
    SetState(qp, state);
    ExpectInvalid(qp, SendWr(IBV_WR_SEND));
  }
  for (ibv_qp_state state : {IBV_QPS_RTS, IBV_QPS_SQD, IBV_QPS_SQE, IBV_QPS_ERR}) {
    SetState(qp, state);
    Post(qp, SendWr(IBV_WR_SEND));
  }
}

TEST_F(PostTest, WhatStandsBeforeABadRequestIsPosted) {
  ibv_qp* qp = MakeQp(IBV_QPT_RC);
  std::array<ibv_send_wr, 3> wrs = {SendWr(IBV_WR_SEND), SendWr(IBV_WR_TSO), SendWr(IBV_WR_SEND)};
  wrs[0].next = &wrs[1];
  wrs[1].next = &wrs[2];
  ibv_send_wr* bad = nullptr;
  EXPECT_EQ(ibv_post_send(qp, wrs.data(), &bad), EINVAL);
  EXPECT_EQ(bad, &wrs[1]);
  EXPECT_EQ(kernel_.Of(qp).page->sq_tail, 1u);
}

TEST_F(PostTest, FullAtWhatWasPromised) {
  ibv_qp* qp = MakeQp(IBV_QPT_RC);
  for (uint32_t i = 0; i < kMaxSendWr; ++i) Post(qp, SendWr(IBV_WR_SEND));
  ibv_send_wr wr = SendWr(IBV_WR_SEND);
  ibv_send_wr* bad = nullptr;
  EXPECT_EQ(ibv_post_send(qp, &wr, &bad), ENOMEM);
  EXPECT_EQ(bad, &wr);
  kernel_.Of(qp).page->sq_head = 1;
  Post(qp, wr);
  EXPECT_EQ(ibv_post_send(qp, &wr, &bad), ENOMEM);
}

TEST_F(PostTest, DoorbellRingsOncePerCallIfTheKernelIsIdle) {
  ibv_qp* qp = MakeQp(IBV_QPT_RC);
  std::array<ibv_send_wr, 2> wrs = {SendWr(IBV_WR_SEND), SendWr(IBV_WR_SEND)};
  wrs[0].next = &wrs[1];
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_send(qp, wrs.data(), &bad), 0);
  EXPECT_TRUE(kernel_.doorbells.empty());
  kernel_.Of(qp).page->status = SRN_QP_NEED_DB;
  ASSERT_EQ(ibv_post_send(qp, wrs.data(), &bad), 0);
  // Index 37: the second word of the bitmap, bit 5.
  EXPECT_EQ(kernel_.doorbells, std::vector<uint64_t>{(uint64_t{1} << 32) | (1u << 5)});
}

// A context of its own, opened as the environment says.
class PollerTest : public PostTest {
 protected:
  void SetUp() override {}
  void TearDown() override {
    PostTest::TearDown();
    unsetenv("SRN_POLLER");
  }
  void Open(const char* wish) {
    setenv("SRN_POLLER", wish, /*overwrite=*/1);
    PostTest::SetUp();
  }
};

// Its thread looks for what is posted, unless it says that it sleeps.
TEST_F(PollerTest, PostsRingOnlyWhileItSleeps) {
  Open("1");
  ASSERT_NE(kernel_.poller, nullptr);
  ibv_qp* qp = MakeQp(IBV_QPT_RC);
  kernel_.Of(qp).page->status = SRN_QP_NEED_DB;
  Post(qp, SendWr(IBV_WR_SEND));
  EXPECT_TRUE(kernel_.doorbells.empty());
  kernel_.poller->asleep = 1;
  Post(qp, SendWr(IBV_WR_SEND));
  EXPECT_EQ(kernel_.doorbells.size(), 1u);
  kernel_.Of(qp).page->status = 0;
  Post(qp, SendWr(IBV_WR_SEND));
  EXPECT_EQ(kernel_.doorbells.size(), 1u);
}

// An older module knows no pollers, and a kernel may have none.
TEST_F(PollerTest, WhoCannotHaveOneRings) {
  kernel_.poller_error = EOPNOTSUPP;
  Open("1");
  EXPECT_EQ(kernel_.poller, nullptr);
  ibv_qp* qp = MakeQp(IBV_QPT_RC);
  kernel_.Of(qp).page->status = SRN_QP_NEED_DB;
  Post(qp, SendWr(IBV_WR_SEND));
  EXPECT_EQ(kernel_.doorbells.size(), 1u);
}

// Whatever else it says.
class PollerWishTest : public PollerTest, public testing::WithParamInterface<const char*> {};

TEST_P(PollerWishTest, NobodyHasOneWhoDoesNotWantIt) {
  Open(GetParam());
  EXPECT_EQ(kernel_.poller, nullptr);
}

INSTANTIATE_TEST_SUITE_P(Wishes, PollerWishTest,
                         testing::Values("", "0", "N", "no", "n", "off", "10", "01", "1 ", "Y"));

TEST_F(PollerTest, NobodyHasOneWhoSaysNothing) {
  unsetenv("SRN_POLLER");
  PostTest::SetUp();
  EXPECT_EQ(kernel_.poller, nullptr);
}

// Posts that the kernel gathers are rung for by who finds nothing to poll, for all QPs in one call.
TEST_F(PostTest, WhatIsGatheredIsRungForWhenNothingIsThereToPoll) {
  ibv_qp* qp = MakeQp(IBV_QPT_RC);
  ibv_wc wc;
  kernel_.Of(qp).page->status = SRN_QP_GATHERS;
  Post(qp, SendWr(IBV_WR_SEND));
  Post(qp, SendWr(IBV_WR_SEND));
  EXPECT_TRUE(kernel_.doorbells.empty());
  kernel_.Of(cq_).Post({});
  EXPECT_EQ(ibv_poll_cq(cq_, 1, &wc), 1);
  EXPECT_EQ(ibv_poll_cq(cq_, 0, &wc), 0);
  EXPECT_TRUE(kernel_.doorbells.empty());
  EXPECT_EQ(ibv_poll_cq(cq_, 1, &wc), 0);
  EXPECT_EQ(kernel_.doorbells, std::vector<uint64_t>{(uint64_t{1} << 32) | (1u << 5)});
  EXPECT_EQ(ibv_poll_cq(cq_, 1, &wc), 0);
  EXPECT_EQ(kernel_.doorbells.size(), 1u);
}

// The doorbell that was put off is one of them.
TEST_F(PostTest, DoorbellThatIsPutOffIsRungForWhenNothingIsThereToPoll) {
  ibv_qp* qp = MakeQp(IBV_QPT_RC);
  ibv_wc wc;
  kernel_.Of(qp).page->status = SRN_QP_NEED_DB;
  int rung = 0;
  kernel_.on_doorbell = [&] {
    ++rung;
    kernel_.Of(qp).page->status = SRN_QP_GATHERS;
  };
  Post(qp, SendWr(IBV_WR_SEND));
  EXPECT_EQ(rung, 1);
  EXPECT_EQ(ibv_req_notify_cq(cq_, 0), 0);
  EXPECT_EQ(rung, 2);
  Post(qp, SendWr(IBV_WR_SEND));
  EXPECT_EQ(rung, 2);
  kernel_.Of(cq_).Post({});
  ibv_wc two[2];
  EXPECT_EQ(ibv_poll_cq(cq_, 2, two), 1);
  EXPECT_EQ(rung, 3);
  EXPECT_EQ(ibv_poll_cq(cq_, 1, &wc), 0);
  EXPECT_EQ(rung, 3);
}

// Who can post no more gets room by that, also if he does not poll.
TEST_F(PostTest, WhatIsGatheredIsRungForWhenTheQueueIsFull) {
  ibv_qp* qp = MakeQp(IBV_QPT_RC);
  kernel_.Of(qp).page->status = SRN_QP_GATHERS;
  for (uint32_t i = 0; i < kMaxSendWr; ++i) Post(qp, SendWr(IBV_WR_SEND));
  EXPECT_TRUE(kernel_.doorbells.empty());
  ibv_send_wr wr = SendWr(IBV_WR_SEND);
  ibv_send_wr* bad = nullptr;
  EXPECT_EQ(ibv_post_send(qp, &wr, &bad), ENOMEM);
  EXPECT_EQ(kernel_.doorbells, std::vector<uint64_t>{(uint64_t{1} << 32) | (1u << 5)});
  EXPECT_EQ(ibv_post_send(qp, &wr, &bad), ENOMEM);
  EXPECT_EQ(kernel_.doorbells.size(), 1u);
}

TEST(GatheredTest, KeepsOneWordOfTheBitmap) {
  FakeKernel kernel;
  Gathered gathered{};
  EXPECT_TRUE(gathered.Keep(SRN_DB_ARG(33)));
  EXPECT_TRUE(gathered.Keep(SRN_DB_ARG(35)));
  EXPECT_TRUE(gathered.Keep(SRN_DB_ARG(33)));
  EXPECT_FALSE(gathered.Keep(SRN_DB_ARG(1)));
  EXPECT_FALSE(gathered.Keep(SRN_DB_ARG(65)));
  gathered.Ring(kernel.doorbell_fd());
  EXPECT_EQ(kernel.doorbells, std::vector<uint64_t>{(uint64_t{1} << 32) | 0b1010});
  EXPECT_TRUE(gathered.Keep(SRN_DB_ARG(1)));
}

TEST_F(PostTest, NothingPostedRingsNothing) {
  ibv_qp* qp = MakeQp(IBV_QPT_RC);
  kernel_.Of(qp).page->status = SRN_QP_NEED_DB;
  ExpectInvalid(qp, SendWr(IBV_WR_TSO));
  EXPECT_TRUE(kernel_.doorbells.empty());
}

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
