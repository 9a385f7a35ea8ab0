// SPDX-License-Identifier: GPL-2.0-only
// Creating, describing and destroying queue pairs.
#include <cstring>
#include <set>

#include "env.h"

namespace verbs_test {
namespace {

class QueuePair : public HostTest {
 protected:
  void SetUp() override {
    HostTest::SetUp();
    cq_ = Must(Cq::Create(a_.ctx, 64));
    limits_ = Must(a_.ctx.QueryDevice());
  }
  Result<Qp> Create(const Qp::Options& options) { return Qp::Create(a_.pd, cq_, cq_, options); }

  Cq cq_;
  ibv_device_attr limits_ = {};
};

TEST_F(QueuePair, GivesAtLeastWhatIsAsked) {
  for (ibv_qp_type type : {IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD}) {
    for (const ibv_qp_cap& want : {ibv_qp_cap{1, 1, 1, 1, 0}, ibv_qp_cap{3, 5, 7, 9, 11},
                                   ibv_qp_cap{100, 1, 32, 1, 64}, ibv_qp_cap{1, 1000, 1, 32, 0}}) {
      Qp qp = Must(Create({.type = type,
                           .max_send_wr = want.max_send_wr,
                           .max_recv_wr = want.max_recv_wr,
                           .max_send_sge = want.max_send_sge,
                           .max_recv_sge = want.max_recv_sge,
                           .max_inline = want.max_inline_data}));
      EXPECT_GE(qp.cap().max_send_wr, want.max_send_wr);
      EXPECT_GE(qp.cap().max_recv_wr, want.max_recv_wr);
      EXPECT_GE(qp.cap().max_send_sge, want.max_send_sge);
      EXPECT_GE(qp.cap().max_recv_sge, want.max_recv_sge);
      EXPECT_GE(qp.cap().max_inline_data, want.max_inline_data);
      EXPECT_EQ(qp->qp_type, type);
      EXPECT_EQ(qp.State(), IBV_QPS_RESET);
    }
  }
}

TEST_F(QueuePair, QueryTellsWhatItWasCreatedWith) {
  Cq recv_cq = Must(Cq::Create(a_.ctx, 64));
  Qp qp = Must(
      Qp::Create(a_.pd, cq_, recv_cq, {.max_inline = 32, .sq_sig_all = true, .context = this}));
  QpState state = Must(qp.Query());
  EXPECT_EQ(state.init.send_cq, cq_.get());
  EXPECT_EQ(state.init.recv_cq, recv_cq.get());
  EXPECT_EQ(state.init.srq, nullptr);
  EXPECT_EQ(state.init.qp_context, this);
  EXPECT_EQ(state.init.qp_type, IBV_QPT_RC);
  EXPECT_EQ(state.init.sq_sig_all, 1);
  for (const ibv_qp_cap& cap : {state.init.cap, state.attr.cap}) {
    EXPECT_EQ(cap.max_send_wr, qp.cap().max_send_wr);
    EXPECT_EQ(cap.max_recv_wr, qp.cap().max_recv_wr);
    EXPECT_EQ(cap.max_send_sge, qp.cap().max_send_sge);
    EXPECT_EQ(cap.max_recv_sge, qp.cap().max_recv_sge);
    EXPECT_EQ(cap.max_inline_data, qp.cap().max_inline_data);
  }
}

TEST_F(QueuePair, LimitsOfTheDeviceAreEnforced) {
  const uint32_t wr = limits_.max_qp_wr, sge = limits_.max_sge;
  EXPECT_EQ(Create({.max_send_wr = wr + 1}).error(), EINVAL);
  EXPECT_EQ(Create({.max_recv_wr = wr + 1}).error(), EINVAL);
  EXPECT_EQ(Create({.max_send_sge = sge + 1}).error(), EINVAL);
  EXPECT_EQ(Create({.max_recv_sge = sge + 1}).error(), EINVAL);
  EXPECT_EQ(Create({.max_send_wr = ~0u}).error(), EINVAL);
  EXPECT_EQ(Create({.max_recv_wr = 0x80000001}).error(), EINVAL);
  EXPECT_EQ(Create({.max_send_sge = ~0u}).error(), EINVAL);
  EXPECT_EQ(Create({.max_inline = 1 << 20}).error(), EINVAL);
}

TEST_F(QueuePair, LimitsOfTheDeviceCanBeReached) {
  const uint32_t wr = limits_.max_qp_wr, sge = limits_.max_sge;
  EXPECT_EQ(Create({.max_send_wr = wr, .max_recv_wr = 1, .max_send_sge = 1}).error(), 0);
  EXPECT_EQ(Create({.max_send_wr = 1, .max_recv_wr = wr, .max_recv_sge = 1}).error(), 0);
  EXPECT_EQ(Create({.max_send_sge = sge, .max_recv_sge = sge}).error(), 0);
}

TEST_F(QueuePair, QueueOfLengthZeroTakesWhatItSays) {
  Qp qp = Must(Create({.max_send_wr = 0, .max_recv_wr = 0}));
  Must(ConnectTo(qp, a_.port, a_.port.gid, 0xfffff0, 0, 0, {.timeout = 25}));
  for (uint64_t id = 0; id < qp.cap().max_send_wr; id++)
    Must(qp.Post(SendWr::Send(id, a_.mr.Slice(0, 8))));
  EXPECT_EQ(qp.Post(SendWr::Send(1, a_.mr.Slice(0, 8))).error(), ENOMEM);
  for (uint64_t id = 0; id < qp.cap().max_recv_wr; id++)
    Must(qp.Post(RecvWr(id, {a_.mr.Slice(0, 8)})));
  EXPECT_EQ(qp.Post(RecvWr(1, {a_.mr.Slice(0, 8)})).error(), ENOMEM);
}

TEST_F(QueuePair, OtherTypesAreRefused) {
  for (ibv_qp_type type :
       {IBV_QPT_RAW_PACKET, IBV_QPT_XRC_SEND, IBV_QPT_DRIVER, ibv_qp_type(0), ibv_qp_type(77)}) {
    const int error = Create({.type = type}).error();
    EXPECT_TRUE(error == EOPNOTSUPP || error == EINVAL) << type << ": " << error;
  }
}

TEST_F(QueuePair, NumbersAreUniqueAndHave24Bits) {
  std::vector<Qp> all;
  std::set<uint32_t> numbers;
  for (int i = 0; i < 300; i++) {
    all.push_back(Must(Create({.max_send_wr = 4, .max_recv_wr = 4})));
    EXPECT_GT(all.back().num(), 1u);  // 0 and 1 are the management QPs
    EXPECT_LT(all.back().num(), 0xffffffu);
    EXPECT_TRUE(numbers.insert(all.back().num()).second);
  }
}

TEST_F(QueuePair, NumberIsNotReusedAtOnce) {
  // A late packet for the old QP must not reach the new one.
  uint32_t before = 0;
  for (int i = 0; i < 20; i++) {
    Qp qp = Must(Create({.max_send_wr = 4, .max_recv_wr = 4}));
    EXPECT_NE(qp.num(), before);
    before = qp.num();
  }
}

TEST_F(QueuePair, ProtectionDomainInUseIsBusy) {
  Pd pd = Must(Pd::Create(a_.ctx));
  Qp qp = Must(Qp::Create(pd, cq_, cq_, {}));
  EXPECT_EQ(pd.Close().error(), EBUSY);
  Must(qp.Close());
  EXPECT_EQ(pd.Close().error(), 0);
}

TEST_F(QueuePair, CreatedAndDestroyedAThousandTimes) {
  for (int i = 0; i < 1000; i++) {
    Qp qp = Must(Create({.max_send_wr = 16, .max_recv_wr = 16}));
    Must(qp.Close());
  }
}

class QueuePairOnWire : public WireTest {};

TEST_P(QueuePairOnWire, DestroyedUnderTrafficEndsTheTrafficOnly) {
  constexpr size_t kSize = 100 << 10;
  Pair healthy = Connected();
  for (int round = 0; round < 20; round++) {
    Pair p = Connected({}, {.timeout = 10, .retry_cnt = 1});
    for (uint64_t id = 0; id < 10; id++) {
      Must(p.a.qp.Post(SendWr::Write(id, a_.mr.Slice(0, kSize), b_.mr.At(0))));
      Must(p.b.qp.Post(SendWr::Read(id, b_.mr.Slice(kSize, kSize), a_.mr.At(kSize / 2))));
    }
    Must(round % 2 ? p.a.qp.Close() : p.b.qp.Close());
  }
  ExpectWorks(a_, healthy.a, b_, healthy.b);
}

TEST_P(QueuePairOnWire, ExtendedPostInterfaceDoesTheSame) {
  End a = {Must(Cq::Create(a_.ctx, 64)), Must(Cq::Create(a_.ctx, 64)), Qp()};
  Result<Qp> qp = Qp::Create(
      a_.pd, a.send_cq, a.recv_cq,
      {.max_inline = 64,
       .send_ops = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_WRITE |
                   IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
                   IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP});
  if (qp.error() == EOPNOTSUPP) SRN_SKIP_FOREIGN() << "no extended QPs";
  a.qp = Must(std::move(qp));
  End b = End::Create(b_);
  Must(Connect(a.qp, a_.port, b.qp, b_.port));
  ibv_qp_ex* x = ibv_qp_to_qp_ex(a.qp.get());
  ASSERT_TRUE(x);
  FillPattern(a_.bytes(0, 5000), 1);
  const ibv_sge sge = a_.mr.Slice(0, 5000);
  const Remote to = b_.mr.At(8192);

  Must(b.qp.Post(RecvWr(1, {b_.mr.Slice(0, 8192)})));
  Must(b.qp.Post(RecvWr(2, {})));
  ibv_wr_start(x);
  x->wr_flags = IBV_SEND_SIGNALED;
  x->wr_id = 10;
  ibv_wr_send_imm(x, htobe32(5));
  ibv_wr_set_sge(x, sge.lkey, sge.addr, sge.length);
  x->wr_id = 11;
  ibv_wr_rdma_write(x, to.rkey, to.addr);
  const ibv_sge parts[] = {a_.mr.Slice(0, 100), a_.mr.Slice(100, 4900)};
  ibv_wr_set_sge_list(x, 2, parts);
  x->wr_id = 12;
  ibv_wr_rdma_write_imm(x, to.rkey, to.addr + 5000, htobe32(6));
  ibv_wr_set_inline_data(x, a_.buffer.data() + 1, 60);
  x->wr_id = 13;
  ibv_wr_rdma_read(x, to.rkey, to.addr);
  ibv_wr_set_sge(x, sge.lkey, a_.mr.At(16384).addr, 5060);
  x->wr_id = 14;
  ibv_wr_atomic_fetch_add(x, to.rkey, b_.mr.At(65536).addr, 3);
  ibv_wr_set_sge(x, sge.lkey, a_.mr.At(32768).addr, 8);
  x->wr_id = 15;
  ibv_wr_atomic_cmp_swp(x, to.rkey, b_.mr.At(65536).addr, 3, 9);
  ibv_wr_set_sge(x, sge.lkey, a_.mr.At(32776).addr, 8);
  ASSERT_EQ(ibv_wr_complete(x), 0);

  const ibv_wc_opcode opcodes[] = {IBV_WC_SEND,      IBV_WC_RDMA_WRITE, IBV_WC_RDMA_WRITE,
                                   IBV_WC_RDMA_READ, IBV_WC_FETCH_ADD,  IBV_WC_COMP_SWAP};
  for (uint64_t i = 0; i < 6; i++)
    ExpectWc(Await(a.send_cq), {.wr_id = 10 + i, .opcode = opcodes[i], .qp_num = a.qp.num()});
  ExpectPattern(b_.bytes(0, 5000), 1);
  ExpectPattern(b_.bytes(8192, 5000), 1);
  EXPECT_EQ(std::memcmp(b_.buffer.data() + 13192, a_.buffer.data() + 1, 60), 0);
  EXPECT_EQ(std::memcmp(a_.buffer.data() + 16384, b_.buffer.data() + 8192, 5060), 0);
  EXPECT_EQ(*reinterpret_cast<uint64_t*>(b_.buffer.data() + 65536), 9u);
  ExpectWc(Await(b.recv_cq), {.wr_id = 1,
                              .opcode = IBV_WC_RECV,
                              .qp_num = b.qp.num(),
                              .byte_len = 5000,
                              .flags = IBV_WC_WITH_IMM,
                              .imm = 5});
  ExpectWc(Await(b.recv_cq), {.wr_id = 2,
                              .opcode = IBV_WC_RECV_RDMA_WITH_IMM,
                              .qp_num = b.qp.num(),
                              .byte_len = 60,
                              .flags = IBV_WC_WITH_IMM,
                              .imm = 6});

  // An aborted list leaves nothing behind.
  ibv_wr_start(x);
  x->wr_id = 99;
  ibv_wr_send(x);
  ibv_wr_set_sge(x, sge.lkey, sge.addr, 8);
  ibv_wr_abort(x);
  ExpectQuiet(a.send_cq);
  ExpectWorks(a_, a, b_, b);
  Must(a.qp.Close());
}

SRN_OVER_BOTH_IP(QueuePairOnWire);

}  // namespace
}  // namespace verbs_test
