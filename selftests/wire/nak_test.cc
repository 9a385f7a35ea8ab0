// SPDX-License-Identifier: GPL-2.0-only
// Requests that are refused, and what a NAK does to the requester.
// IBTA vol. 1, 9.7.5.2.8, 9.9.2 and 9.9.3.
#include "fixture.h"

namespace wire {
namespace {

class RcNak : public WireTest {
 protected:
  // The request at PeerPsn(psn) is refused with `syndrome`, nothing was
  // placed, and the QP is in error.
  void ExpectRefused(uint8_t syndrome, int psn = 0) {
    EXPECT_THAT(peer().Expect(), IsNak(PeerPsn(psn), syndrome));
    EXPECT_TRUE(ep().ReachesState(IBV_QPS_ERR));
  }
};
SRN_ANY_IP_VERSION(RcNak);

TEST_P(RcNak, UnknownKeyIsARemoteAccessError) {
  for (const Operation operation : {Operation::kWriteOnly, Operation::kReadRequest}) {
    Restart();
    ep().Fill(0xee);
    const roce::Reth reth = {ep().Va(kPlace), ep().rkey() ^ 0x5a5a5a00, 16};
    const bool is_write = operation == Operation::kWriteOnly;
    peer().Send(Write(operation, PeerPsn(), is_write ? Bytes(16, 1) : Bytes{}, reth));
    ExpectRefused(roce::kNakRemoteAccess);
    EXPECT_EQ(ep().Copy(kPlace, 16), Bytes(16, 0xee));
  }
}

TEST_P(RcNak, RangeOutsideTheRegionIsARemoteAccessError) {
  struct Range {
    int64_t offset;
    uint32_t length;
  };
  const int64_t end = kBufferSize;
  for (const Range range : {Range{-1, 16}, Range{end - 15, 16}, Range{end, 1},
                            Range{0, static_cast<uint32_t>(end) + 1}, Range{16, 0x80000000u}}) {
    Restart();
    ep().Fill(0xee);
    const uint64_t va = ep().Va() + static_cast<uint64_t>(range.offset);
    peer().Send(ReadRequest(PeerPsn(), {va, ep().rkey(), range.length}));
    ExpectRefused(roce::kNakRemoteAccess);
    Restart();
    const Operation first = range.length > mtu() ? Operation::kWriteFirst : Operation::kWriteOnly;
    peer().Send(
        Write(first, PeerPsn(), Bytes(std::min(range.length, mtu()), 1),
              {ep().Va() + static_cast<uint64_t>(range.offset), ep().rkey(), range.length}));
    ExpectRefused(roce::kNakRemoteAccess);
  }
}

TEST_P(RcNak, AddressThatWrapsIsARemoteAccessError) {
  Start();
  peer().Send(ReadRequest(PeerPsn(), {~uint64_t{0} - 7, ep().rkey(), 64}));
  ExpectRefused(roce::kNakRemoteAccess);
}

TEST_P(RcNak, RegionWithoutTheRightIsARemoteAccessError) {
  const int local = IBV_ACCESS_LOCAL_WRITE;
  Restart({.mr_access = local | IBV_ACCESS_REMOTE_READ});
  peer().Send(Write(Operation::kWriteOnly, PeerPsn(), Bytes(8, 1), Reth(kPlace, 8)));
  ExpectRefused(roce::kNakRemoteAccess);
  Restart({.mr_access = local | IBV_ACCESS_REMOTE_WRITE});
  peer().Send(ReadRequest(PeerPsn(), Reth(kPlace, 8)));
  ExpectRefused(roce::kNakRemoteAccess);
  Restart({.mr_access = local | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ});
  peer().Send(FetchAdd(PeerPsn(), ep().Va(kPlace), ep().rkey(), 1));
  ExpectRefused(roce::kNakRemoteAccess);
}

TEST_P(RcNak, OperationThatTheQpDoesNotAllowIsAnInvalidRequest) {
  Restart({.qp_access = IBV_ACCESS_REMOTE_READ});
  peer().Send(Write(Operation::kWriteOnly, PeerPsn(), Bytes(8, 1), Reth(kPlace, 8)));
  ExpectRefused(roce::kNakInvalidRequest);
  Restart({.qp_access = IBV_ACCESS_REMOTE_WRITE});
  peer().Send(ReadRequest(PeerPsn(), Reth(kPlace, 8)));
  ExpectRefused(roce::kNakInvalidRequest);
  Restart({.qp_access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ});
  peer().Send(CompareSwap(PeerPsn(), ep().Va(kPlace), ep().rkey(), 0, 1));
  ExpectRefused(roce::kNakInvalidRequest);
}

TEST_P(RcNak, ReadWithoutResourcesIsAnInvalidRequest) {
  Start({.max_dest_rd_atomic = 0});
  peer().Send(ReadRequest(PeerPsn(), Reth(kPlace, 8)));
  ExpectRefused(roce::kNakInvalidRequest);
}

TEST_P(RcNak, ReservedOpcodeIsAnInvalidRequest) {
  for (const int opcode : {0x15, 0x1e}) {
    Restart();
    Packet p = Request(Operation::kSendOnly, PeerPsn(), Bytes(16, 1));
    p.bth.opcode = static_cast<uint8_t>(opcode);
    peer().Send(p);
    const auto answer = peer().Receive(kAWhile);
    // Silence is lawful too: such a packet may be taken for a malformed one.
    if (answer) {
      EXPECT_THAT(*answer, IsNak(PeerPsn(), roce::kNakInvalidRequest));
    } else {
      EXPECT_EQ(ep().State(), IBV_QPS_RTS);
    }
  }
}

TEST_P(RcNak, BrokenOpcodeSequenceIsAnInvalidRequest) {
  using enum Operation;
  struct Sequence {
    const char* name;
    std::vector<Operation> operations;
  };
  const std::vector<Sequence> sequences = {
      {"MIDDLE without FIRST", {kSendMiddle}},
      {"LAST without FIRST", {kSendLast}},
      {"WRITE MIDDLE without FIRST", {kWriteMiddle}},
      {"WRITE LAST without FIRST", {kWriteLast}},
      {"FIRST after FIRST", {kSendFirst, kSendFirst}},
      {"ONLY after FIRST", {kSendFirst, kSendOnly}},
      {"READ after FIRST", {kSendFirst, kReadRequest}},
      {"WRITE LAST after SEND FIRST", {kSendFirst, kWriteLast}},
      {"SEND LAST after WRITE FIRST", {kWriteFirst, kSendLast}},
      {"ONLY after WRITE MIDDLE", {kWriteFirst, kWriteMiddle, kWriteOnly}},
  };
  for (const Sequence& sequence : sequences) {
    SCOPED_TRACE(sequence.name);
    Restart();
    ep().PostRecv(1, kPlace, 8192);
    int psn = 0;
    for (const Operation operation : sequence.operations) {
      const size_t length = operation == kReadRequest ? 0 : mtu();
      Packet p = Request(operation, PeerPsn(psn++), Bytes(length, 1));
      if (p.info().headers & roce::kHasReth) p.reth = Reth(kPlace, 8 * mtu());
      p.bth.ack_req = psn == static_cast<int>(sequence.operations.size());
      peer().Send(p);
    }
    ExpectRefused(roce::kNakInvalidRequest, psn - 1);
  }
}

TEST_P(RcNak, PayloadThatDoesNotFitTheOpcodeIsAnInvalidRequest) {
  using enum Operation;
  Restart();
  ep().PostRecv(1, kPlace, 8192);
  peer().Send(Request(kSendFirst, PeerPsn(), Bytes(mtu() - 4, 1)));
  ExpectRefused(roce::kNakInvalidRequest);
  Restart();
  ep().PostRecv(1, kPlace, 8192);
  peer().Send(Request(kSendOnly, PeerPsn(), Bytes(mtu() + 4, 1)));
  ExpectRefused(roce::kNakInvalidRequest);
  Restart();
  ep().PostRecv(1, kPlace, 8192);
  peer().Send(WithoutAckReq(Request(kSendFirst, PeerPsn(0), Bytes(mtu(), 1))));
  peer().Send(Request(kSendLast, PeerPsn(1), {}));
  ExpectRefused(roce::kNakInvalidRequest, 1);
}

TEST_P(RcNak, WriteThatIsNotAsLongAsItsRethSaysIsAnInvalidRequest) {
  using enum Operation;
  Restart();
  peer().Send(Write(kWriteOnly, PeerPsn(), Bytes(16, 1), Reth(kPlace, 17)));
  ExpectRefused(roce::kNakInvalidRequest);
  Restart();
  peer().Send(Write(kWriteOnly, PeerPsn(), Bytes(16, 1), Reth(kPlace, 15)));
  ExpectRefused(roce::kNakInvalidRequest);
  Restart();
  peer().Send(
      WithoutAckReq(Write(kWriteFirst, PeerPsn(0), Bytes(mtu(), 1), Reth(kPlace, mtu() + 8))));
  peer().Send(Request(kWriteLast, PeerPsn(1), Bytes(12, 1)));
  ExpectRefused(roce::kNakInvalidRequest, 1);
}

TEST_P(RcNak, WriteNeverPassesTheLengthOfItsReth) {
  Start();
  ep().Fill(0xee);
  const uint32_t length = mtu() + 8;
  peer().Send(WithoutAckReq(
      Write(Operation::kWriteFirst, PeerPsn(0), Bytes(mtu(), 1), Reth(kPlace, length))));
  for (int i = 1; i < 4; ++i)
    peer().Send(WithoutAckReq(Request(Operation::kWriteMiddle, PeerPsn(i), Bytes(mtu(), 2))));
  ExpectRefused(roce::kNakInvalidRequest, 1);
  EXPECT_EQ(ep().Copy(kPlace + length, mtu()), Bytes(mtu(), 0xee));
}

TEST_P(RcNak, SendLongerThanTheReceiveBufferFailsBothSides) {
  Start();
  ep().Fill(0xee);
  ep().PostRecv(6, kPlace, 100);
  peer().Send(Request(Operation::kSendOnly, PeerPsn(), Bytes(101, 1)));
  ExpectRefused(roce::kNakInvalidRequest);
  const ibv_wc wc = ep().WaitRecv();
  EXPECT_EQ(wc.status, IBV_WC_LOC_LEN_ERR) << ibv_wc_status_str(wc.status);
  EXPECT_EQ(wc.wr_id, 6u);
  EXPECT_EQ(ep().Copy(kPlace + 100, 64), Bytes(64, 0xee));
}

TEST_P(RcNak, BadReceiveSgeIsARemoteOperationalError) {
  Start();
  ibv_sge sge = ep().mr().Slice(kPlace, 100);
  sge.lkey ^= 0x5a5a5a00;
  ep().Post(RecvWr(6, {sge}));
  peer().Send(Request(Operation::kSendOnly, PeerPsn(), Bytes(50, 1)));
  ExpectRefused(roce::kNakRemoteOperational);
  const ibv_wc wc = ep().WaitRecv();
  EXPECT_EQ(wc.status, IBV_WC_LOC_PROT_ERR) << ibv_wc_status_str(wc.status);
  EXPECT_EQ(wc.wr_id, 6u);
}

TEST_P(RcNak, QpInErrorFlushesAndAnswersNothing) {
  Start();
  ep().PostRecv(1, kPlace, 100);
  ep().PostRecv(2, kPlace, 100);
  peer().Send(ReadRequest(PeerPsn(), {0x10, ep().rkey(), 8}));
  ExpectRefused(roce::kNakRemoteAccess);
  for (uint64_t id = 1; id <= 2; ++id) {
    const ibv_wc wc = ep().WaitRecv();
    EXPECT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR) << ibv_wc_status_str(wc.status);
    EXPECT_EQ(wc.wr_id, id);
  }
  peer().Send(Write(Operation::kWriteOnly, PeerPsn(1), Bytes(8, 1), Reth(kPlace, 8)));
  peer().Send(Write(Operation::kWriteOnly, PeerPsn(), Bytes(8, 1), Reth(kPlace, 8)));
  peer().ExpectNothing();
}

TEST_P(RcNak, EachNakCodeHasItsCompletionStatus) {
  struct Row {
    uint8_t syndrome;
    ibv_wc_status status;
  };
  for (const Row row : {Row{roce::kNakInvalidRequest, IBV_WC_REM_INV_REQ_ERR},
                        Row{roce::kNakRemoteAccess, IBV_WC_REM_ACCESS_ERR},
                        Row{roce::kNakRemoteOperational, IBV_WC_REM_OP_ERR}}) {
    SCOPED_TRACE(roce::SyndromeName(row.syndrome));
    Restart();
    for (uint64_t id = 1; id <= 3; ++id) ep().PostSend(id, 0, 8);
    for (int i = 0; i < 3; ++i) (void)peer().Expect();
    peer().Send(Nak(DevPsn(1), 1, row.syndrome));
    ExpectSent(1, IBV_WC_SEND);  // the NAK acknowledges what came before
    ExpectSendFails(2, row.status);
    const ibv_wc wc = ep().WaitSend();
    EXPECT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
    EXPECT_EQ(wc.wr_id, 3u);
    peer().ExpectNothing();
  }
}

TEST_P(RcNak, SequenceNakMakesTheRequesterGoBack) {
  Start();
  for (uint64_t id = 1; id <= 4; ++id) ep().PostSend(id, 0, 8);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(peer().Expect().bth.psn, DevPsn(i));
  peer().Send(Nak(DevPsn(1), 1, roce::kNakSequence));
  ExpectSent(1, IBV_WC_SEND);
  for (int i = 1; i < 4; ++i)
    EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn(i)));
  peer().Send(Ack(DevPsn(3), 4));
  for (uint64_t id = 2; id <= 4; ++id) ExpectSent(id, IBV_WC_SEND);
}

TEST_P(RcNak, SequenceNakInsideAMessageResendsItsRest) {
  Start();
  ep().FillPattern(kPlace, 4 * mtu());
  ep().Post(SendWr::Write(1, ep().Data(kPlace, 4 * mtu()), {0x5000, 5}));
  const auto all = WriteMessage(DevPsn(), ep().Copy(kPlace, 4 * mtu()), mtu(), 0x5000, 5);
  ExpectMessage(all);
  peer().Send(Nak(DevPsn(2), 0, roce::kNakSequence));
  ExpectMessage({all[2], all[3]});
  peer().Send(Ack(DevPsn(3), 1));
  ExpectSent(1, IBV_WC_RDMA_WRITE);
}

TEST_P(RcNak, AckOfAPsnNeverSentIsIgnored) {
  Start();
  ep().PostSend(1, 0, 8);
  (void)peer().Expect();
  peer().Send(Ack(DevPsn(1), 1));
  peer().Send(Ack(DevPsn(1000), 1));
  peer().Send(Ack(DevPsn(-1), 0));
  peer().Send(Nak(DevPsn(7), 1, roce::kNakSequence));
  peer().Send(Nak(DevPsn(7), 1, roce::kNakRemoteAccess));
  ep().ExpectNoCompletion();
  EXPECT_EQ(ep().State(), IBV_QPS_RTS);
  peer().Drain();
  peer().Send(Ack(DevPsn(0), 1));
  ExpectSent(1, IBV_WC_SEND);
}

TEST_P(RcNak, UnsolicitedResponsesAreIgnored) {
  Start();
  ep().Fill(0xee);
  peer().Send(Ack(DevPsn(-1), 0));
  peer().Send(Ack(DevPsn(0), 1));
  Send(ReadResponses(DevPsn(0), Bytes(16, 1), mtu(), 1));
  Send(ReadResponses(DevPsn(-1), Bytes(16, 1), mtu(), 1));
  peer().Send(AtomicAck(DevPsn(0), 1, 1));
  for (const uint8_t code : {roce::kNakSequence, roce::kNakInvalidRequest, roce::RnrNak(1)})
    peer().Send(Nak(DevPsn(0), 1, code));
  ep().ExpectNoCompletion();
  EXPECT_EQ(ep().Copy(0, 8192), Bytes(8192, 0xee));
  EXPECT_EQ(ep().State(), IBV_QPS_RTS);
  ep().PostSend(1, 0, 8);
  EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn(0)));
  peer().Send(Ack(DevPsn(0), 1));
  ExpectSent(1, IBV_WC_SEND);
}

TEST_P(RcNak, ReservedSyndromesAreIgnored) {
  Start({.timeout = 0});
  ep().PostSend(1, 0, 8);
  (void)peer().Expect();
  for (const int syndrome : {0x40, 0x5f, 0x64, 0x65, 0x7f, 0x80, 0xff})
    peer().Send(Ack(DevPsn(), 1, static_cast<uint8_t>(syndrome)));
  ep().ExpectNoCompletion();
  EXPECT_EQ(ep().State(), IBV_QPS_RTS);
  peer().Send(Ack(DevPsn(0), 1));
  ExpectSent(1, IBV_WC_SEND);
}

}  // namespace
}  // namespace wire
