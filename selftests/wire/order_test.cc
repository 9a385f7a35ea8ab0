// SPDX-License-Identifier: GPL-2.0-only
// PSN order: duplicates, gaps, wrap-around. IBTA vol. 1, 9.7.1 to 9.7.3, 9.7.5.1.
#include "fixture.h"

namespace wire {
namespace {

class RcOrder : public WireTest {};
SRN_BOTH_IP_VERSIONS(RcOrder);

TEST_P(RcOrder, DuplicateWriteIsAcknowledgedNotExecuted) {
  Start();
  Send(WriteTo(0, 1));
  ExpectAckedUpTo(PeerPsn(0), 1);
  ep().Fill(0xee);
  Send(WriteTo(0, 1));
  EXPECT_THAT(peer().Expect(), IsAckWithMsn(PeerPsn(0), 1));
  EXPECT_EQ(ep().Copy(kPlace, 16), Bytes(16, 0xee));
}

TEST_P(RcOrder, DuplicateSendIsAcknowledgedAndConsumesNoReceive) {
  Start();
  ep().PostRecv(1, kPlace, 64);
  ep().PostRecv(2, kPlace, 64);
  const auto send = SendMessage(PeerPsn(0), Bytes(16, 1), mtu());
  Send(send);
  ExpectAckedUpTo(PeerPsn(0), 1);
  ExpectReceived(1, 16);
  Send(send);
  EXPECT_THAT(peer().Expect(), IsAckWithMsn(PeerPsn(0), 1));
  ep().ExpectNoCompletion();
  Send(SendMessage(PeerPsn(1), Bytes(17, 1), mtu()));
  ExpectAckedUpTo(PeerPsn(1), 2);
  ExpectReceived(2, 17);
}

TEST_P(RcOrder, OldDuplicateIsAnsweredWithTheLatestPsn) {
  Start();
  for (int i = 0; i < 3; ++i) Send(WriteTo(i, 1));
  ExpectAckedUpTo(PeerPsn(2), 3);
  Send(WriteTo(0, 9));
  const Packet ack = peer().Expect();
  EXPECT_THAT(ack, testing::AnyOf(IsAck(PeerPsn(2)), IsAck(PeerPsn(0))));
  EXPECT_EQ(ack.aeth->msn, 3u);
  EXPECT_EQ(ep().Copy(kPlace, 16), Bytes(16, 1));
}

TEST_P(RcOrder, DuplicateReadIsReplayedWhole) {
  Start();
  ep().FillPattern(kPlace, 4096);
  const Packet read = ReadRequest(PeerPsn(0), Reth(kPlace, 2 * mtu() + 1));
  for (int round = 0; round < 2; ++round) {
    peer().Send(read);
    for (const Packet& want :
         ReadResponses(PeerPsn(0), ep().Copy(kPlace, 2 * mtu() + 1), mtu(), 1)) {
      const Packet got = peer().Expect();
      EXPECT_THAT(got, IsRequest(static_cast<Operation>(want.bth.opcode), want.bth.psn));
      EXPECT_EQ(got.payload, want.payload);
    }
  }
  ExpectResponderWorks(PeerPsn(3), 1);
}

TEST_P(RcOrder, DuplicateReadIsReplayedFromTheMiddle) {
  Start();
  ep().FillPattern(kPlace, 4 * mtu());
  peer().Send(ReadRequest(PeerPsn(0), Reth(kPlace, 4 * mtu())));
  for (int i = 0; i < 4; ++i) (void)peer().Expect();
  peer().Send(ReadRequest(PeerPsn(2), Reth(kPlace + 2 * mtu(), 2 * mtu())));
  for (const Packet& want :
       ReadResponses(PeerPsn(2), ep().Copy(kPlace + 2 * mtu(), 2 * mtu()), mtu(), 1)) {
    const Packet got = peer().Expect();
    EXPECT_THAT(got, IsRequest(static_cast<Operation>(want.bth.opcode), want.bth.psn));
    EXPECT_EQ(got.payload, want.payload);
  }
  ExpectResponderWorks(PeerPsn(4), 1);
}

TEST_P(RcOrder, DuplicateReadBeyondTheOriginalRangeIsNotAnswered) {
  Start();
  ep().FillPattern(kPlace, 4096);
  peer().Send(ReadRequest(PeerPsn(0), Reth(kPlace, 64)));
  (void)peer().Expect();
  peer().Send(ReadRequest(PeerPsn(0), Reth(kPlace + 1024, 64)));
  peer().ExpectNothing();
  EXPECT_EQ(ep().State(), IBV_QPS_RTS);
  ExpectResponderWorks(PeerPsn(1), 1);
}

TEST_P(RcOrder, GapIsAnsweredWithExactlyOneNak) {
  Start();
  Send(WriteTo(0, 1));
  ExpectAckedUpTo(PeerPsn(0), 1);
  for (int i = 2; i < 5; ++i) Send(WriteTo(i, 9, kPlace + 64u * static_cast<size_t>(i)));
  const Packet nak = peer().Expect();
  EXPECT_THAT(nak, IsNak(PeerPsn(1), roce::kNakSequence));
  EXPECT_EQ(nak.aeth->msn, 1u);
  peer().ExpectNothing();
  EXPECT_EQ(ep().State(), IBV_QPS_RTS);
}

TEST_P(RcOrder, GapThatIsFilledIsForgotten) {
  Start();
  for (int i = 1; i < 4; ++i) Send(WriteTo(i, 9, kPlace + 64u * static_cast<size_t>(i)));
  EXPECT_THAT(peer().Expect(), IsNak(PeerPsn(0), roce::kNakSequence));
  for (int i = 0; i < 4; ++i) Send(WriteTo(i, 2, kPlace + 64u * static_cast<size_t>(i)));
  ExpectAckedUpTo(PeerPsn(3), 4);
  peer().Drain();
  // A new gap gets a NAK of its own.
  Send(WriteTo(5, 9));
  EXPECT_THAT(peer().Expect(), IsNak(PeerPsn(4), roce::kNakSequence));
}

TEST_P(RcOrder, NothingBehindAGapIsVisible) {
  Start();
  ep().Fill(0xee);
  ep().PostRecv(1, 0, 64);
  Send(WriteTo(1, 9));
  Send(SendMessage(PeerPsn(2), Bytes(8, 1), mtu()));
  EXPECT_THAT(peer().Expect(), IsNak(PeerPsn(0), roce::kNakSequence));
  ep().ExpectNoCompletion();
  EXPECT_EQ(ep().Copy(kPlace, 16), Bytes(16, 0xee));
}

TEST_P(RcOrder, ReadBehindAGapIsNotAnswered) {
  Start();
  peer().Send(ReadRequest(PeerPsn(3), Reth(kPlace, 16)));
  EXPECT_THAT(peer().Expect(), IsNak(PeerPsn(0), roce::kNakSequence));
  peer().ExpectNothing();
}

TEST_P(RcOrder, LossInsideAMessageIsRepairedFromThere) {
  Start();
  ep().PostRecv(1, kPlace, 8192);
  const Bytes data = Pattern(4 * mtu());
  const auto packets = SendMessage(PeerPsn(0), data, mtu());
  peer().Send(packets[0]);
  peer().Send(packets[2]);
  peer().Send(packets[3]);
  EXPECT_THAT(peer().Expect(), IsNak(PeerPsn(1), roce::kNakSequence));
  Send({packets[1], packets[2], packets[3]});
  ExpectAckedUpTo(PeerPsn(3), 1);
  ExpectReceived(1, 4 * mtu());
  EXPECT_EQ(ep().Copy(kPlace, data.size()), data);
  peer().Drain();
  ep().ExpectNoCompletion();
}

TEST_P(RcOrder, ResponderPsnWraps) {
  Start({.rq_psn = 0xfffffe});
  ep().PostRecv(1, kPlace, 8192);
  const Bytes data = Pattern(4 * mtu());
  Send(SendMessage(0xfffffe, data, mtu()));
  ExpectAckedUpTo(1, 1);
  ExpectReceived(1, 4 * mtu());
  EXPECT_EQ(ep().Copy(kPlace, data.size()), data);
  Send(SendMessage(0xfffffe, data, mtu()));  // duplicates across the border
  EXPECT_EQ(roce::KindOf(peer().Expect().aeth.value_or(roce::Aeth{0xff}).syndrome),
            roce::AethKind::kAck);
  peer().Drain();
  peer().Send(ReadRequest(2, Reth(kPlace, 8)));
  EXPECT_THAT(peer().Expect(), IsRequest(Operation::kReadResponseOnly, 2u));
}

TEST_P(RcOrder, ReadResponsePsnWraps) {
  Start({.rq_psn = 0xfffffe});
  ep().FillPattern(kPlace, 4 * mtu());
  for (int round = 0; round < 2; ++round) {
    peer().Send(ReadRequest(0xfffffe, Reth(kPlace, 4 * mtu())));
    for (const uint32_t psn : {0xfffffeu, 0xffffffu, 0u, 1u})
      EXPECT_EQ(peer().Expect().bth.psn, psn);
  }
}

TEST_P(RcOrder, RequesterPsnWraps) {
  Start({.sq_psn = 0xffffff});
  ep().FillPattern(kPlace, 3 * mtu());
  ep().PostSend(1, kPlace, 3 * mtu());
  ep().Post(SendWr::Read(2, ep().Data(0, 8), {0x1000, 1}));
  ExpectMessage(SendMessage(0xffffff, ep().Copy(kPlace, 3 * mtu()), mtu()));
  EXPECT_THAT(peer().Expect(), IsRequest(Operation::kReadRequest, 2u));
  peer().Send(Ack(0xffffff, 0));
  ep().ExpectNoCompletion();
  Send(ReadResponses(2, Bytes(8, 5), mtu(), 2));
  ExpectSent(1, IBV_WC_SEND);
  ExpectSent(2, IBV_WC_RDMA_READ);
}

TEST_P(RcOrder, RequesterResendsFromTheNakAcrossTheWrap) {
  Start({.sq_psn = 0xfffffe});
  for (uint64_t id = 0; id < 4; ++id) ep().PostSend(id, 0, 8);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(peer().Expect().bth.psn, DevPsn(i));
  peer().Send(Nak(0, 2, roce::kNakSequence));
  ExpectSent(0, IBV_WC_SEND);
  ExpectSent(1, IBV_WC_SEND);
  EXPECT_EQ(peer().Expect().bth.psn, 0u);
  EXPECT_EQ(peer().Expect().bth.psn, 1u);
  peer().Send(Ack(1, 4));
  ExpectSent(2, IBV_WC_SEND);
  ExpectSent(3, IBV_WC_SEND);
}

}  // namespace
}  // namespace wire
