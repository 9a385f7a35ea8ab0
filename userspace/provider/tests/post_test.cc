// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// ibv_post_send: what reaches the ring, what is refused.
#include <arpa/inet.h>

#include <array>
#include <string>

#include "poster.h"

namespace srn::test {
namespace {

const srn_sge* SgesOf(const srn_send_wqe& wqe) {
  return reinterpret_cast<const srn_sge*>(&wqe + 1);
}

std::string InlineOf(const srn_send_wqe& wqe) {
  return std::string(reinterpret_cast<const char*>(&wqe + 1), wqe.inline_len);
}

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

}  // namespace
}  // namespace srn::test
