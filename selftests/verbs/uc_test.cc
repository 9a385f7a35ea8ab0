// SPDX-License-Identifier: GPL-2.0-only
// UC: data without acknowledgement. What cannot be delivered is dropped in
// silence, whole, and the next message is as good as any.
#include "env.h"

namespace verbs_test {
namespace {

constexpr uint8_t kUntouched = 0x5a;

class Uc : public WireTest {
 protected:
  Uc() : WireTest(2 << 20) {}

  Pair UcPair() { return Connected({.type = IBV_QPT_UC}); }
  std::vector<size_t> Sizes() const {
    const size_t m = mtu();
    return {0, 1, 3, m - 1, m, m + 1, 3 * m + 5, 100003};
  }
  static SendWr::Sges SgesOf(const Host& host, size_t size) {
    if (size == 0) return {};
    return {host.mr.Slice(65, size)};
  }
  void Prepare(size_t size) {
    FillPattern(a_.bytes(65, size), size);
    Fill(b_.bytes(0, size + 129), kUntouched);
  }
  void ExpectArrived(size_t size) {
    ExpectPattern(b_.bytes(65, size), size);
    ExpectAll(b_.bytes(0, 65), kUntouched);
    ExpectAll(b_.bytes(65 + size, 64), kUntouched);
  }
};

TEST_P(Uc, SendCarriesEverySize) {
  Pair p = UcPair();

  for (size_t size : Sizes()) {
    SCOPED_TRACE(size);
    Prepare(size);
    Must(p.b.qp.Post(RecvWr(1, SgesOf(b_, size))));
    Must(p.a.qp.Post(SendWr::Send(2, SgesOf(a_, size))));
    ExpectWc(Await(p.b.recv_cq),
             {.wr_id = 1, .opcode = IBV_WC_RECV, .qp_num = p.b.qp.num(), .byte_len = size});
    ExpectWc(Await(p.a.send_cq), {.wr_id = 2, .opcode = IBV_WC_SEND, .qp_num = p.a.qp.num()});
    ExpectArrived(size);
  }
}

TEST_P(Uc, SendWithImmediateCarriesEverySize) {
  Pair p = UcPair();

  for (size_t size : Sizes()) {
    SCOPED_TRACE(size);
    Prepare(size);
    Must(p.b.qp.Post(RecvWr(1, SgesOf(b_, size))));
    Must(p.a.qp.Post(SendWr::Send(2, SgesOf(a_, size)).Imm(~size)));
    ExpectWc(Await(p.b.recv_cq), {.wr_id = 1,
                                  .opcode = IBV_WC_RECV,
                                  .qp_num = p.b.qp.num(),
                                  .byte_len = size,
                                  .flags = IBV_WC_WITH_IMM,
                                  .imm = ~size});
    EXPECT_EQ(Await(p.a.send_cq).status, IBV_WC_SUCCESS);
    ExpectArrived(size);
  }
}

TEST_P(Uc, WriteWithImmediateCarriesEverySize) {
  Pair p = UcPair();

  for (size_t size : Sizes()) {
    SCOPED_TRACE(size);
    Prepare(size);
    Must(p.b.qp.Post(RecvWr(1, {})));
    Must(p.a.qp.Post(SendWr::Write(2, SgesOf(a_, size), b_.mr.At(65)).Imm(size)));
    ExpectWc(Await(p.b.recv_cq), {.wr_id = 1,
                                  .opcode = IBV_WC_RECV_RDMA_WITH_IMM,
                                  .qp_num = p.b.qp.num(),
                                  .byte_len = size,
                                  .flags = IBV_WC_WITH_IMM,
                                  .imm = size});
    ExpectWc(Await(p.a.send_cq), {.wr_id = 2, .opcode = IBV_WC_RDMA_WRITE, .qp_num = p.a.qp.num()});
    ExpectArrived(size);
  }
}

TEST_P(Uc, WriteLandsBeforeALaterSend) {
  Pair p = UcPair();

  for (size_t size : Sizes()) {
    SCOPED_TRACE(size);
    Prepare(size);
    Must(p.b.qp.Post(RecvWr(1, {})));
    Must(p.a.qp.Post(SendWr::Write(2, SgesOf(a_, size), b_.mr.At(65))));
    Must(p.a.qp.Post(SendWr::Send(3, SendWr::Sges{})));
    ExpectWc(Await(p.b.recv_cq),
             {.wr_id = 1, .opcode = IBV_WC_RECV, .qp_num = p.b.qp.num(), .byte_len = 0});
    ExpectArrived(size);
    EXPECT_EQ(Await(p.a.send_cq).wr_id, 2u);
    EXPECT_EQ(Await(p.a.send_cq).wr_id, 3u);
  }
}

TEST_P(Uc, SendWithoutReceiverCompletesAndIsDroppedWhole) {
  Pair p = UcPair();
  const size_t size = 3 * mtu();

  Prepare(size);
  Must(p.a.qp.Post(SendWr::Send(1, SgesOf(a_, size))));
  EXPECT_EQ(Await(p.a.send_cq).status, IBV_WC_SUCCESS);
  ExpectQuiet(p.b.recv_cq);

  // The message after the lost one arrives, from its first byte on.
  Must(p.b.qp.Post(RecvWr(2, SgesOf(b_, size))));
  Must(p.a.qp.Post(SendWr::Send(3, SgesOf(a_, size))));
  EXPECT_EQ(Await(p.b.recv_cq).wr_id, 2u);
  ExpectArrived(size);
  EXPECT_EQ(Await(p.a.send_cq).wr_id, 3u);
}

TEST_P(Uc, PeerThatDoesNotExistIsNotNoticed) {
  End end = End::Create(a_, {.type = IBV_QPT_UC});
  Must(ConnectTo(end.qp, a_.port, b_.port.gid, 0xfffffd, 0, 0, {}));

  Must(end.qp.Post(SendWr::Send(1, a_.mr.Slice(0, 10000))));
  EXPECT_EQ(Await(end.send_cq).status, IBV_WC_SUCCESS);
  EXPECT_EQ(end.qp.State(), IBV_QPS_RTS);
}

TEST_P(Uc, ForbiddenWriteIsDroppedAndHarmsNobody) {
  Pair p = UcPair();
  Mr read_only = Must(Mr::Register(b_.pd, b_.bytes(0, 4096), IBV_ACCESS_REMOTE_READ));
  const Remote past_the_end = b_.mr.At(b_.buffer.size() - 100);
  const Remote wrong_key = {b_.mr.At(0).addr, b_.mr->rkey ^ 0x5500};

  Fill(b_.buffer.bytes(), kUntouched);
  FillPattern(a_.bytes(0, 4096), 1);
  for (const Remote& target : {read_only.At(0), past_the_end, wrong_key}) {
    Must(p.b.qp.Post(RecvWr(1, {})));
    Must(p.a.qp.Post(SendWr::Write(2, a_.mr.Slice(0, 4096), target).Imm(3)));
    EXPECT_EQ(Await(p.a.send_cq).status, IBV_WC_SUCCESS);
    ExpectQuiet(p.b.recv_cq);
    ExpectAll(b_.buffer.bytes(), kUntouched);
    // The receive request is still there for a message that may pass.
    Must(p.a.qp.Post(SendWr::Send(4, SendWr::Sges{})));
    EXPECT_EQ(Await(p.b.recv_cq).wr_id, 1u);
    EXPECT_EQ(Await(p.a.send_cq).wr_id, 4u);
  }
  EXPECT_EQ(p.b.qp.State(), IBV_QPS_RTS);
}

TEST_P(Uc, MessageLongerThanTheReceiveBufferDoesNotOverrunIt) {
  Pair p = UcPair();

  for (size_t size : {size_t{101}, size_t(mtu()) + 1, size_t(4) * mtu()}) {
    p = UcPair();
    Fill(b_.bytes(0, 65536), kUntouched);
    FillPattern(a_.bytes(0, size), 9);
    Must(p.b.qp.Post(RecvWr(1, {b_.mr.Slice(0, 100)})));
    Must(p.a.qp.Post(SendWr::Send(2, a_.mr.Slice(0, size))));
    EXPECT_EQ(Await(p.a.send_cq).status, IBV_WC_SUCCESS);
    Result<ibv_wc> wc = p.b.recv_cq.Wait(Silence());
    if (wc.ok()) {
      ExpectFailed(*wc, 1, IBV_WC_LOC_LEN_ERR, p.b.qp.num());
    }
    ExpectAll(b_.bytes(100, 65436), kUntouched);
  }
}

TEST_P(Uc, FailedSendStopsTheSendQueueOnly) {
  Pair p = UcPair();
  Must(p.a.qp.Post(RecvWr(5, {a_.mr.Slice(4096, 64)})));
  Must(p.a.qp.Post(SendWr::Send(1, {a_.mr.At(0).addr, 64, a_.NobodysKey()})));
  ExpectFailed(Await(p.a.send_cq), 1, IBV_WC_LOC_PROT_ERR, p.a.qp.num());
  ExpectReaches(p.a.qp, IBV_QPS_SQE);

  Must(p.a.qp.Post(SendWr::Send(2, a_.mr.Slice(0, 64))));
  ExpectFailed(Await(p.a.send_cq), 2, IBV_WC_WR_FLUSH_ERR, p.a.qp.num());
  // Receiving goes on.
  Must(p.b.qp.Post(SendWr::Send(3, b_.mr.Slice(0, 64))));
  EXPECT_EQ(Await(p.a.recv_cq).wr_id, 5u);
  EXPECT_EQ(Await(p.b.send_cq).wr_id, 3u);

  Must(p.a.qp.ModifyState(IBV_QPS_RTS));
  ExpectWorks(a_, p.a, b_, p.b);
}

SRN_OVER_BOTH_IP(Uc);

}  // namespace
}  // namespace verbs_test
