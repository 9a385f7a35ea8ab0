// SPDX-License-Identifier: GPL-2.0-only
// Responder: requests that come early are held, and executed in their turn, as if they came then.
#include <thread>

#include "counters.h"
#include "recovery.h"

namespace wire {
namespace {

class RcHold : public HoldTest {
 protected:
  std::vector<Packet> SendOf(int psn, uint8_t value, uint32_t length = 16) {
    return SendMessage(PeerPsn(psn), Bytes(length, value), mtu());
  }
  void PostRecvs(uint64_t num) {
    for (uint64_t id = 0; id < num; ++id) ep().PostRecv(id, kPlace + 64 * id, 64);
  }
  void ExpectNakOf(int psn) {
    EXPECT_THAT(peer().Expect(), IsNak(PeerPsn(psn), roce::kNakSequence));
  }
};
SRN_ANY_IP_VERSION(RcHold);

TEST_P(RcHold, WhatCameEarlyIsExecutedInOrder) {
  Start({.rq_psn = 0xfffffe});
  const Counters counters;
  PostRecvs(4);
  for (int i = 3; i > 0; --i)
    Send(SendOf(i, static_cast<uint8_t>(i), 16 + static_cast<uint32_t>(i)));
  ExpectNakOf(0);
  peer().ExpectNothing();
  ep().ExpectNoCompletion();
  Send(SendOf(0, 0, 16));
  ExpectAckedUpTo(PeerPsn(3), 4);
  for (uint32_t i = 0; i < 4; ++i) {
    ExpectReceived(i, 16 + i);
    EXPECT_EQ(ep().Copy(kPlace + 64 * i, 16), Bytes(16, static_cast<uint8_t>(i)));
  }
  EXPECT_EQ(counters.Growth("rcvd_held"), 3u);
  EXPECT_EQ(counters.Growth("rcvd_hold_full"), 0u);
  ExpectResponderWorks(PeerPsn(4), 4);
}

// A program may poll memory: what is written is written in order.
TEST_P(RcHold, NothingIsDoneBeforeItsTurn) {
  Start();
  ep().Fill(0xee);
  Send(WriteTo(1, 9));
  peer().Send(FetchAdd(PeerPsn(2), ep().Va(0), ep().rkey(), 1));
  ExpectNakOf(0);
  peer().ExpectNothing();
  EXPECT_EQ(ep().Copy(kPlace, 16), Bytes(16, 0xee));
  EXPECT_EQ(ep().Copy(0, 8), Bytes(8, 0xee));
}

// Some peers take a retry for each NAK, and give them back for an ACK: there is one before the
// third.
TEST_P(RcHold, NextGapIsNamedAtOnce) {
  Start();
  for (int i : {1, 3, 4, 6}) Send(WriteTo(i, static_cast<uint8_t>(i)));
  ExpectNakOf(0);
  Send(WriteTo(0, 0));
  ExpectNakOf(2);
  peer().ExpectNothing();
  Send(WriteTo(2, 2));
  EXPECT_THAT(peer().Expect(), IsAckWithMsn(PeerPsn(4), 5));
  ExpectNakOf(5);
  Send(WriteTo(5, 5));
  ExpectAckedUpTo(PeerPsn(6), 7);
  EXPECT_EQ(ep().Copy(kPlace, 16), Bytes(16, 6));
}

// It does not wait for a packet that asks: the peer may have nothing more to send.
TEST_P(RcHold, FilledGapIsAcknowledgedUnasked) {
  Start();
  for (Packet& packet : WriteTo(1, 1)) peer().Send(WithoutAckReq(packet));
  ExpectNakOf(0);
  for (Packet& packet : WriteTo(0, 0)) peer().Send(WithoutAckReq(packet));
  ExpectAckedUpTo(PeerPsn(1), 2);
}

// Two messages in pieces, the end first.
TEST_P(RcHold, PiecesOfMessagesFindTheirPlace) {
  Start();
  const Bytes first = Pattern(3 * mtu() + 5, 1), second = Pattern(2 * mtu(), 2);
  ep().PostRecv(0, 0, 8 * mtu());
  ep().PostRecv(1, 16 * mtu(), 8 * mtu());
  std::vector<Packet> packets = SendMessage(PeerPsn(0), first, mtu());
  for (Packet& packet : SendMessage(PeerPsn(4), second, mtu())) packets.push_back(packet);
  for (int i : {5, 2, 4, 1, 3, 0}) peer().Send(packets[static_cast<size_t>(i)]);
  ExpectReceived(0, 3 * mtu() + 5);
  ExpectReceived(1, 2 * mtu());
  EXPECT_EQ(ep().Copy(0, first.size()), first);
  EXPECT_EQ(ep().Copy(16 * mtu(), second.size()), second);
}

// A peer that goes back, and loses the packet again, is told again: once for each try.
TEST_P(RcHold, GapIsNamedAgainForEachTry) {
  Start();
  for (int i : {1, 2, 3}) Send(WriteTo(i, 1));
  ExpectNakOf(0);
  peer().ExpectNothing();
  for (int turn = 0; turn < 3; ++turn) {
    for (int i : {1, 2, 3}) Send(WriteTo(i, 1));
    ExpectNakOf(0);
    peer().ExpectNothing();
  }
}

TEST_P(RcHold, FirstCopyCounts) {
  Start();
  Send(WriteTo(1, 1));
  Send(WriteTo(1, 2));
  Send(WriteTo(0, 0, kPlace + 64));
  for (Packet ack = peer().Expect(); !testing::Matches(IsAck(PeerPsn(1)))(ack);
       ack = peer().Expect())
    if (HasFailure()) return;
  EXPECT_EQ(ep().Copy(kPlace, 16), Bytes(16, 1));
}

TEST_P(RcHold, AtomicIsDoneOnceInItsTurn) {
  Start();
  ep().Store64(0, 40);
  for (int copy = 0; copy < 2; ++copy)
    peer().Send(FetchAdd(PeerPsn(1), ep().Va(0), ep().rkey(), 2));
  (void)peer().Drain();
  EXPECT_EQ(ep().Load64(0), 40u);
  Send(WriteTo(0, 1));
  Packet answer = peer().Expect();
  if (testing::Matches(IsAck(PeerPsn(0)))(answer)) answer = peer().Expect();
  EXPECT_THAT(answer, IsRequest(Operation::kAtomicAcknowledge, PeerPsn(1)));
  EXPECT_EQ(ep().Load64(0), 42u);
  ExpectResponderWorks(PeerPsn(2), 2);
}

TEST_P(RcHold, ReadIsAnsweredInItsTurn) {
  Start();
  ep().FillPattern(kPlace, 4 * mtu());
  peer().Send(ReadRequest(PeerPsn(1), Reth(kPlace, 2 * mtu())));
  Send(WriteTo(3, 9, 0));
  ExpectNakOf(0);
  peer().ExpectNothing();
  Send(WriteTo(0, 5, 0));
  Packet got = peer().Expect();
  if (testing::Matches(IsAck(PeerPsn(0)))(got)) got = peer().Expect();
  for (const Packet& want : ReadResponses(PeerPsn(1), ep().Copy(kPlace, 2 * mtu()), mtu(), 2)) {
    EXPECT_THAT(got, IsRequest(static_cast<Operation>(want.bth.opcode), want.bth.psn));
    EXPECT_EQ(got.payload, want.payload);
    got = peer().Expect();
  }
  EXPECT_THAT(got, IsAckWithMsn(PeerPsn(3), 3));
  EXPECT_EQ(ep().Copy(0, 16), Bytes(16, 9));
}

// Only when its turn comes, behind what was right.
TEST_P(RcHold, BadRequestIsRefusedInItsTurn) {
  Start();
  PostRecvs(1);
  Packet bad = WriteTo(1, 9)[0];
  bad.reth->rkey ^= 0x1000;
  peer().Send(bad);
  Send(WriteTo(2, 9));
  ExpectNakOf(0);
  EXPECT_EQ(ep().State(), IBV_QPS_RTS);
  Send(SendOf(0, 1));
  ExpectReceived(0, 16);
  for (Packet nak = peer().Expect();
       !testing::Matches(IsNak(PeerPsn(1), roce::kNakRemoteAccess))(nak); nak = peer().Expect())
    if (HasFailure()) return;
  EXPECT_TRUE(ep().ReachesState(IBV_QPS_ERR));
  EXPECT_NE(ep().Copy(kPlace, 16), Bytes(16, 9));
}

// The receive that is missing is missed when the message's turn comes. What was behind it stays.
TEST_P(RcHold, ReceiverThatIsNotReadyKeepsWhatIsBehind) {
  Start();
  PostRecvs(1);
  Send(SendOf(1, 1));
  Send(WriteTo(2, 2, 0));
  ExpectNakOf(0);
  Send(SendOf(0, 0));
  ExpectReceived(0, 16);
  Packet nak = peer().Expect();
  if (testing::Matches(IsAck(PeerPsn(0)))(nak)) nak = peer().Expect();
  ASSERT_TRUE(nak.aeth);
  EXPECT_EQ(roce::KindOf(nak.aeth->syndrome), roce::AethKind::kRnrNak);
  EXPECT_EQ(nak.bth.psn, PeerPsn(1));
  peer().ExpectNothing();
  ep().PostRecv(7, kPlace, 64);
  Send(SendOf(1, 1));
  ExpectReceived(7, 16);
  ExpectAckedUpTo(PeerPsn(2), 3);
  EXPECT_EQ(ep().Copy(0, 16), Bytes(16, 2));
}

// The refused request comes again and is lost, and what follows it is new: the peer goes on.
TEST_P(RcHold, RefusedRequestThatIsLostIsNamed) {
  Start();
  Send(SendOf(0, 0));
  const Packet nak = peer().Expect();
  ASSERT_TRUE(nak.aeth);
  EXPECT_EQ(roce::KindOf(nak.aeth->syndrome), roce::AethKind::kRnrNak);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  Send(WriteTo(1, 1));
  ExpectNakOf(0);
  PostRecvs(1);
  Send(SendOf(0, 0));
  ExpectReceived(0, 16);
  ExpectAckedUpTo(PeerPsn(1), 2);
}

// More than a round takes: nothing is said of how far it is before it is done.
TEST_P(RcHold, ManyAreAcknowledgedTogether) {
  constexpr int kMany = 200;
  Start();
  for (int i = 1; i <= kMany; ++i) Send(WriteTo(i, 1));
  ExpectNakOf(0);
  Send(WriteTo(0, 1));
  EXPECT_THAT(peer().Expect(), IsAckWithMsn(PeerPsn(kMany), kMany + 1));
}

// Another life of the queue pair, with the same PSNs.
TEST_P(RcHold, ResetForgetsWhatWasHeld) {
  Start();
  Send(WriteTo(1, 9));
  ExpectNakOf(0);
  ep().Reconnect(peer());
  ep().Fill(0xee);
  Send(WriteTo(0, 1, 0));
  EXPECT_THAT(peer().Expect(), IsAckWithMsn(PeerPsn(0), 1));
  EXPECT_EQ(ep().Copy(kPlace, 16), Bytes(16, 0xee));
  Send(WriteTo(1, 3));
  EXPECT_THAT(peer().Expect(), IsAckWithMsn(PeerPsn(1), 2));
  EXPECT_EQ(ep().Copy(kPlace, 16), Bytes(16, 3));
}

TEST_P(RcHold, TooFarAheadIsDropped) {
  Start();
  const Counters counters;
  Send(WriteTo(513, 1));
  ExpectNakOf(0);
  EXPECT_EQ(counters.Growth("rcvd_held"), 0u);
  ExpectResponderWorks(PeerPsn(0), 0);
}

// A peer may send as much as it likes: what is held is bounded, and the rest comes again.
TEST_P(RcHold, HoldsNoMoreThanItsShare) {
  constexpr int kMany = 600;
  Start({.mtu = 4096});
  const Counters counters;
  for (int i = 1; i <= kMany; ++i) Send(WriteTo(i, 1, 0, mtu()));
  ExpectNakOf(0);
  EXPECT_TRUE(counters.Grew("rcvd_hold_full"));
  const auto held = static_cast<int>(counters.Growth("rcvd_held"));
  EXPECT_GT(held, 100);
  EXPECT_LT(held, kMany);
  Send(WriteTo(0, 1, 0, mtu()));
  for (Packet nak = peer().Expect();
       !testing::Matches(IsNak(PeerPsn(held + 1), roce::kNakSequence))(nak); nak = peer().Expect())
    if (HasFailure()) return;
  for (int i = held + 1; i <= kMany; ++i) Send(WriteTo(i, 1, 0, mtu()));
  for (Packet ack = peer().Expect(); !testing::Matches(IsAck(PeerPsn(kMany)))(ack);
       ack = peer().Expect())
    if (HasFailure()) return;
}

TEST_P(RcHold, ConnectionOfTheOtherModeHoldsNothing) {
  ASSERT_TRUE(SetRecovery("gbn"));
  Start();
  ASSERT_TRUE(SetRecovery("hold"));
  const Counters counters;
  Send(WriteTo(1, 1));
  ExpectNakOf(0);
  Send(WriteTo(0, 0));
  ExpectAckedUpTo(PeerPsn(0), 1);
  EXPECT_EQ(counters.Growth("rcvd_held"), 0u);
  EXPECT_FALSE(SetRecovery("nothing"));
}

}  // namespace
}  // namespace wire
