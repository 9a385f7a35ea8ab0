// SPDX-License-Identifier: GPL-2.0-only
// Receiver not ready. IBTA vol. 1, 9.7.5.2.8 and table 46.
#include "fixture.h"

namespace wire {
namespace {

class RcRnr : public WireTest {
 protected:
  // Sends an RNR NAK for `psn` and returns how long the device then was silent.
  std::chrono::microseconds SilenceAfterRnr(uint32_t psn, uint8_t timer) {
    const Clock::time_point before = Clock::now();
    peer().Send(Nak(psn, 0, roce::RnrNak(timer)));
    EXPECT_EQ(peer().Expect(std::chrono::seconds(4)).bth.psn, psn);
    return std::chrono::duration_cast<std::chrono::microseconds>(peer().last_arrival() - before);
  }
  // The device waits as long as it is told, and little longer (the standard has no upper bound, a
  // program has). That the machine did something else then may happen once.
  void ExpectToldSilence(uint32_t psn, uint8_t timer) {
    SCOPED_TRACE("timer " + std::to_string(timer));
    const std::chrono::microseconds told = roce::RnrDelay(timer);
    const auto longest = told * 11 / 10 + Wire::Get().Patience(std::chrono::milliseconds(5));
    std::chrono::microseconds silence;
    for (int tries = 0; tries < 3; ++tries) {
      silence = SilenceAfterRnr(psn, timer);
      EXPECT_GE(silence, told);
      if (silence <= longest) return;
    }
    EXPECT_LE(silence, longest);
  }
  // Reads packets until that of @p psn comes; the device may have sent others before it.
  bool Reaches(uint32_t psn) {
    while (const auto packet = peer().Receive(Wire::Get().Patience(kSoon)))
      if (packet->bth.psn == psn) return true;
    return false;
  }
};
SRN_ANY_IP_VERSION(RcRnr);

TEST_P(RcRnr, SendWithoutAReceiveIsAnsweredWithTheConfiguredTimer) {
  for (const uint8_t timer : {uint8_t{0}, uint8_t{1}, uint8_t{14}, uint8_t{31}}) {
    Restart({.min_rnr_timer = timer});
    Send(SendMessage(PeerPsn(), Pattern(8), mtu()));
    const Packet nak = peer().Expect();
    EXPECT_THAT(nak, IsNak(PeerPsn(), roce::RnrNak(timer)));
    EXPECT_EQ(nak.aeth->msn, 0u);
    EXPECT_EQ(ep().State(), IBV_QPS_RTS);
  }
}

TEST_P(RcRnr, RetryAfterRnrExecutesOnce) {
  Start();
  const auto send = SendMessage(PeerPsn(), Pattern(8), mtu());
  Send(send);
  EXPECT_THAT(peer().Expect(), IsNak(PeerPsn(), roce::RnrNak(12)));
  ep().PostRecv(1, kPlace, 64);
  ep().PostRecv(2, kPlace, 64);
  ep().ExpectNoCompletion(std::chrono::milliseconds(5));
  Send(send);
  ExpectAckedUpTo(PeerPsn(), 1);
  ExpectReceived(1, 8);
  ep().ExpectNoCompletion();
}

TEST_P(RcRnr, MultiPacketSendIsRefusedAtItsFirstPacket) {
  Start();
  const Bytes data = Pattern(3 * mtu());
  const auto send = SendMessage(PeerPsn(), data, mtu());
  Send(send);
  EXPECT_THAT(peer().Expect(), IsNak(PeerPsn(), roce::RnrNak(12)));
  peer().Drain();
  ep().PostRecv(1, kPlace, 8192);
  Send(send);
  ExpectAckedUpTo(PeerPsn(2), 1);
  ExpectReceived(1, 3 * mtu());
  EXPECT_EQ(ep().Copy(kPlace, data.size()), data);
}

TEST_P(RcRnr, WriteWithImmediateNeedsAReceiveToo) {
  Start();
  const Packet write =
      WithImm(Write(Operation::kWriteOnlyImm, PeerPsn(), Pattern(8), Reth(kPlace, 8)), 5);
  peer().Send(write);
  EXPECT_THAT(peer().Expect(), IsNak(PeerPsn(), roce::RnrNak(12)));
  ep().PostRecv(1, 0, 0);
  peer().Send(write);
  ExpectAckedUpTo(PeerPsn(), 1);
  ExpectReceived(1, 8, IBV_WC_RECV_RDMA_WITH_IMM);
  EXPECT_EQ(ep().Copy(kPlace, 8), Pattern(8));
}

TEST_P(RcRnr, NothingBehindTheRefusedPacketIsExecuted) {
  Start();
  ep().Fill(0xee);
  Send(SendMessage(PeerPsn(0), Pattern(8), mtu()));
  Send(WriteMessage(PeerPsn(1), Pattern(8), mtu(), ep().Va(kPlace), ep().rkey()));
  EXPECT_THAT(peer().Expect(), IsNak(PeerPsn(0), roce::RnrNak(12)));
  peer().ExpectOnly(IsNak(PeerPsn(0), roce::kNakSequence));
  EXPECT_EQ(ep().Copy(kPlace, 8), Bytes(8, 0xee));
}

TEST_P(RcRnr, RequesterWaitsAsLongAsItIsTold) {
  Start({.rnr_retry = 7});
  ep().PostSend(1, 0, 8);
  EXPECT_EQ(peer().Expect().bth.psn, DevPsn());
  for (const uint8_t timer :
       {uint8_t{1}, uint8_t{10}, uint8_t{14}, uint8_t{19}, uint8_t{24}, uint8_t{30}})
    ExpectToldSilence(DevPsn(), timer);
  peer().Send(Ack(DevPsn(), 1));
  ExpectSent(1, IBV_WC_SEND);
}

TEST_P(RcRnr, TimerZeroIsTheLongestWait) {
  Start();
  ep().PostSend(1, 0, 8);
  EXPECT_EQ(peer().Expect().bth.psn, DevPsn());
  ASSERT_EQ(roce::RnrDelay(0), std::chrono::microseconds(655360));
  ExpectToldSilence(DevPsn(), 0);
  peer().Send(Ack(DevPsn(), 1));
  ExpectSent(1, IBV_WC_SEND);
}

TEST_P(RcRnr, PostingDoesNotCutTheWaitShort) {
  Start();
  ep().PostSend(1, 0, 8);
  EXPECT_EQ(peer().Expect().bth.psn, DevPsn());
  const Clock::time_point before = Clock::now();
  peer().Send(Nak(DevPsn(), 0, roce::RnrNak(24)));  // 40.96 ms
  ep().PostSend(2, 0, 8);
  EXPECT_EQ(peer().Expect().bth.psn, DevPsn(0));
  EXPECT_GE(peer().last_arrival() - before, roce::RnrDelay(24));
  EXPECT_EQ(peer().Expect().bth.psn, DevPsn(1));
  peer().Send(Ack(DevPsn(1), 2));
  ExpectSent(1, IBV_WC_SEND);
  ExpectSent(2, IBV_WC_SEND);
}

TEST_P(RcRnr, RnrNakAcknowledgesWhatCameBefore) {
  Start();
  for (uint64_t id = 1; id <= 3; ++id) ep().PostSend(id, 0, 8);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(peer().Expect().bth.psn, DevPsn(i));
  peer().Send(Nak(DevPsn(1), 1, roce::RnrNak(1)));
  ExpectSent(1, IBV_WC_SEND);
  EXPECT_EQ(peer().Expect().bth.psn, DevPsn(1));
  EXPECT_EQ(peer().Expect().bth.psn, DevPsn(2));
  peer().Send(Ack(DevPsn(2), 3));
  ExpectSent(2, IBV_WC_SEND);
  ExpectSent(3, IBV_WC_SEND);
}

TEST_P(RcRnr, RetriesAreCounted) {
  for (const uint8_t retries : {uint8_t{0}, uint8_t{1}, uint8_t{3}}) {
    SCOPED_TRACE("rnr_retry " + std::to_string(retries));
    Restart({.rnr_retry = retries});
    ep().PostSend(1, 0, 8);
    ep().PostSend(2, 0, 8);
    for (int round = 0; round <= retries; ++round) {
      EXPECT_TRUE(Reaches(DevPsn(0)));
      peer().Drain();  // the second one may come with it
      peer().Send(Nak(DevPsn(0), 0, roce::RnrNak(1)));
    }
    ExpectSendFails(1, IBV_WC_RNR_RETRY_EXC_ERR);
    EXPECT_EQ(ep().WaitSend().status, IBV_WC_WR_FLUSH_ERR);
    peer().ExpectNothing();
  }
}

// A peer that refuses a packet may complain of the one behind it as well (rxe does): that is
// no loss, and costs no retry.
TEST_P(RcRnr, SequenceNaksDuringTheWaitCostNothing) {
  Start({.retry_cnt = 2, .rnr_retry = 7});
  for (uint64_t id = 1; id <= 2; ++id) ep().PostSend(id, 0, 8);
  for (int round = 0; round < 12; ++round) {
    ASSERT_TRUE(Reaches(DevPsn(0))) << "round " << round;
    peer().Send(Nak(DevPsn(0), 0, roce::RnrNak(21)));
    peer().Send(Nak(DevPsn(0), 0, roce::kNakSequence));
  }
  ASSERT_TRUE(Reaches(DevPsn(0)));
  peer().Send(Ack(DevPsn(0), 1));
  ASSERT_TRUE(Reaches(DevPsn(1)));
  peer().Send(Ack(DevPsn(1), 2));
  for (uint64_t id = 1; id <= 2; ++id) ExpectSent(id, IBV_WC_SEND);
}

TEST_P(RcRnr, RefusalThatComesTwiceIsOne) {
  Start({.rnr_retry = 1});
  ep().PostSend(1, 0, 8);
  EXPECT_EQ(peer().Expect().bth.psn, DevPsn());
  const Clock::time_point before = Clock::now();
  for (int i = 0; i < 3; ++i) peer().Send(Nak(DevPsn(), 0, roce::RnrNak(21)));
  EXPECT_EQ(peer().Expect().bth.psn, DevPsn());
  EXPECT_GE(peer().last_arrival() - before, roce::RnrDelay(21));
  peer().Send(Ack(DevPsn(), 1));
  ExpectSent(1, IBV_WC_SEND);
}

// A receiver that is slow gets a window once; then one packet asks whether it is ready.
TEST_P(RcRnr, FromTheSecondRefusalOnOnePacketAsks) {
  Start();
  for (uint64_t id = 1; id <= 3; ++id) ep().PostSend(id, 0, 8);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 3; ++i) EXPECT_EQ(peer().Expect().bth.psn, DevPsn(i));
    peer().Send(Nak(DevPsn(0), 0, roce::RnrNak(1)));
  }
  for (int round = 0; round < 3; ++round) {
    const Packet packet = peer().Expect();
    EXPECT_EQ(packet.bth.psn, DevPsn(0));
    EXPECT_TRUE(packet.bth.ack_req);
    peer().ExpectNothing();
    peer().Send(Nak(DevPsn(0), 0, roce::RnrNak(1)));
  }
  EXPECT_EQ(peer().Expect().bth.psn, DevPsn(0));
  peer().Send(Ack(DevPsn(0), 1));
  for (int i = 1; i < 3; ++i) EXPECT_EQ(peer().Expect().bth.psn, DevPsn(i));
  peer().Send(Ack(DevPsn(2), 3));
  for (uint64_t id = 1; id <= 3; ++id) ExpectSent(id, IBV_WC_SEND);
}

TEST_P(RcRnr, SevenMeansForever) {
  Start({.rnr_retry = 7});
  ep().PostSend(1, 0, 8);
  for (int round = 0; round < 20; ++round) {
    EXPECT_EQ(peer().Expect().bth.psn, DevPsn());
    peer().Send(Nak(DevPsn(), 0, roce::RnrNak(1)));
  }
  EXPECT_EQ(peer().Expect().bth.psn, DevPsn());
  peer().Send(Ack(DevPsn(), 1));
  ExpectSent(1, IBV_WC_SEND);
}

}  // namespace
}  // namespace wire
