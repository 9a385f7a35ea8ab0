// SPDX-License-Identifier: GPL-2.0-only
// What a QP does with packets in each of its states, and what it sends in SQD.
// IBTA vol. 1, 10.3.1.
#include <result/must.h>

#include "counters.h"
#include "fixture.h"

namespace wire {
namespace {

class RcState : public WireTest {
 protected:
  Packet GoodWrite(int psn) {
    return Write(Operation::kWriteOnly, PeerPsn(psn), Bytes(8, 1), Reth(kPlace, 8));
  }
  void Modify(ibv_qp_state state) { ASSERT_TRUE(ep().qp().ModifyState(state)); }
};
SRN_ANY_IP_VERSION(RcState);

TEST_P(RcState, RequestsAreDroppedInResetInitAndError) {
  for (const ibv_qp_state state : {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_ERR}) {
    SCOPED_TRACE("state " + std::to_string(state));
    if (state == IBV_QPS_INIT) {
      Restart({.last_state = IBV_QPS_INIT});
    } else {
      Restart();
      Modify(state);
    }
    ep().Fill(0xee);
    const Counters counters;
    peer().Send(GoodWrite(0));
    peer().ExpectNothing();
    EXPECT_EQ(ep().Copy(kPlace, 8), Bytes(8, 0xee));
    EXPECT_TRUE(counters.Counted("rcvd_bad_qp_state"));
  }
}

TEST_P(RcState, ReadyToReceiveIsEnoughToRespond) {
  Start({.last_state = IBV_QPS_RTR});
  ExpectResponderWorks(PeerPsn(), 0);
  ep().PostRecv(1, kPlace, 64);
  Send(SendMessage(PeerPsn(2), Pattern(8), mtu()));
  ExpectAckedUpTo(PeerPsn(2), 3);
  ExpectReceived(1, 8);
}

TEST_P(RcState, CongestionNotificationCountsAsOneInReadyToReceive) {
  Start({.last_state = IBV_QPS_RTR});
  const Counters counters;
  Packet p = Request(Operation::kSendOnly, 0, Bytes(16, 0));
  p.bth.opcode = roce::kOpcodeCnp;
  p.bth.becn = true;
  p.bth.ack_req = false;
  peer().Send(p);
  peer().ExpectNothing();
  EXPECT_TRUE(counters.Counted("rp_cnp_handled"));
  EXPECT_EQ(counters.Growth("rcvd_bad_qp_state"), 0u);
}

TEST_P(RcState, DrainedSendQueueSendsNothingButResponds) {
  Start();
  ep().PostSend(1, 0, 8);
  EXPECT_EQ(peer().Expect().bth.psn, DevPsn(0));
  Modify(IBV_QPS_SQD);
  ep().PostSend(2, 0, 8);
  peer().ExpectNothing();
  peer().Send(Ack(DevPsn(0), 1));
  ExpectSent(1, IBV_WC_SEND);
  peer().ExpectNothing();
  ExpectResponderWorks(PeerPsn(), 0);
  Modify(IBV_QPS_RTS);
  EXPECT_EQ(peer().Expect().bth.psn, DevPsn(1));
  peer().Send(Ack(DevPsn(1), 2));
  ExpectSent(2, IBV_WC_SEND);
}

TEST_P(RcState, LeavingSqdEndsTheDraining) {
  Start({.timeout = 0});
  const auto draining = [this] { return result::Must(ep().qp().Query()).attr.sq_draining != 0; };
  ep().PostSend(1, 0, 8);
  EXPECT_EQ(peer().Expect().bth.psn, DevPsn(0));
  Modify(IBV_QPS_SQD);
  EXPECT_TRUE(draining());
  Modify(IBV_QPS_RTS);
  EXPECT_FALSE(draining());
  peer().Send(Ack(DevPsn(0), 1));
  ExpectSent(1, IBV_WC_SEND);
}

// Its peer may have asked for no answer for a while, and finds nobody later: in error, in RESET,
// and where the QP is destroyed. What was told is not told again.
TEST_P(RcState, WhoLeavesSaysWhatNobodyAskedAbout) {
  for (const ibv_qp_state state : {IBV_QPS_ERR, IBV_QPS_RESET, IBV_QPS_UNKNOWN}) {
    for (const bool asks : {false, true}) {
      SCOPED_TRACE("state " + std::to_string(state) + (asks ? ", asked" : ""));
      Restart();
      peer().Send(WithoutAckReq(GoodWrite(0)));
      peer().ExpectNothing();
      if (asks) {
        peer().Send(GoodWrite(1));
        ExpectAckedUpTo(PeerPsn(1), 2);
      }
      if (state == IBV_QPS_UNKNOWN)
        ep().DestroyQp();
      else
        Modify(state);
      if (!asks) ExpectAckedUpTo(PeerPsn(0), 1);
      peer().ExpectNothing();
    }
  }
}

// So does who fails by itself, as a requester.
TEST_P(RcState, WhoFailsSaysWhatNobodyAskedAbout) {
  Start();
  ibv_sge bad = ep().mr().Slice(0, 8);
  bad.lkey ^= 0x5a5a5a00;
  peer().Send(WithoutAckReq(GoodWrite(0)));
  peer().ExpectNothing();
  ep().Post(SendWr::Send(1, bad));
  ExpectSendFails(1, IBV_WC_LOC_PROT_ERR);
  ExpectAckedUpTo(PeerPsn(0), 1);
  peer().ExpectNothing();
}

// A responder may answer only packets that ask for it; so the requester must
// ask often enough to fill no window for ever.
TEST_P(RcState, LongMessageAsksForAcksOnItsWay) {
  Start({.mtu = 256});
  ep().FillPattern(0, kBufferSize);
  const uint32_t length = kBufferSize;
  ep().Post(SendWr::Write(1, ep().Data(0, length), {0x9000, 9}));
  const auto expected = WriteMessage(DevPsn(), ep().Copy(0, length), mtu(), 0x9000, 9);
  int asked_on_its_way = 0;
  for (const Packet& want : expected) {
    const Packet got = peer().Expect();
    ASSERT_THAT(got, IsRequest(static_cast<Operation>(want.bth.opcode), want.bth.psn));
    ASSERT_EQ(got.payload, want.payload);
    asked_on_its_way += got.bth.ack_req && got.bth.psn != expected.back().bth.psn;
    if (got.bth.ack_req) peer().Send(Ack(got.bth.psn, got.bth.psn == expected.back().bth.psn));
  }
  EXPECT_GT(asked_on_its_way, 0);
  ExpectSent(1, IBV_WC_RDMA_WRITE);
}

}  // namespace
}  // namespace wire
