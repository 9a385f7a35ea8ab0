// SPDX-License-Identifier: GPL-2.0-only
// Hellos of the device's own: what a stranger sees of them, and whose answer is believed.
#include "hello.h"

#include <set>

#include "counters.h"

namespace wire {
namespace {

using roce::SackKind;

class RcHello : public HelloTest {};
SRN_ANY_IP_VERSION(RcHello);

// All that a stranger sees: a WRITE of no bytes that it knows to be one that comes a second time,
// and that asks for no ACK.
TEST_P(RcHello, GoesInFrontOfDataThatFollowAnAck) {
  StartAnsweredLate([this] { PostSend(0); }, Patient(0xffffff));
  Acknowledge(0);
  peer().ExpectNothing();
  // A request of the peer's that comes a second time: that is not what a hello tells.
  Send(WriteTo(0, 1));
  ExpectAckedUpTo(PeerPsn(0), 1);
  Send(WriteTo(0, 1));
  EXPECT_THAT(peer().Expect(), IsAck(PeerPsn(0)));
  ep().PostSend(1, 0, 16);
  const Packet packet = peer().Expect();
  const auto qpn = [&](int shift) { return static_cast<uint8_t>(peer().qpn() >> shift); };
  EXPECT_EQ(roce::EncodeTransport(packet), (Bytes{0x0a, 0x40,    0xff,   0xff,     // WRITE ONLY
                                                  0x00, qpn(16), qpn(8), qpn(0),   //
                                                  0x00, 0xff,    0xff,   0xff,     // no AckReq
                                                  0xc0, 0x00,    0x1e,   0x00,     // both; 7680
                                                  0x00, 0x00,    0x00,   0x00,     // nothing
                                                  0x53, 0x52,    0x01,   0x01,     // hello
                                                  0x00, 0x00,    0x00,   0x00}));  // no bytes
  EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn(1)));
  Acknowledge(1);
  SendAndAcknowledge(2);
}

// In front of the message that is new.
TEST_P(RcHello, IsNoPartOfAMessage) {
  StartAcknowledged();
  ep().Post(SendWr::Write(1, ep().Data(0, 3 * mtu()), {kRemoteVa, kRemoteKey}));
  ExpectHello(0);
  EXPECT_THAT(peer().Expect(), IsRequest(Operation::kWriteFirst, DevPsn(1)));
  EXPECT_THAT(peer().Expect(), IsRequest(Operation::kWriteMiddle, DevPsn(2)));
  EXPECT_THAT(peer().Expect(), IsRequest(Operation::kWriteLast, DevPsn(3)));
}

// Or in one, of which the last packet that was acknowledged is a MIDDLE.
TEST_P(RcHello, MayComeInTheMiddleOfAMessage) {
  Start(Patient());
  const int num = 200;  // more than may be in flight at first
  ep().Post(SendWr::Write(1, ep().Data(0, num * mtu()), {kRemoteVa, kRemoteKey}));
  std::set<uint32_t> acknowledged;
  int hellos = 0;
  for (int psn = 0; psn < num; ++psn) {
    Packet packet = peer().Expect();
    // Where the host is slow, a probe may come between: a packet once more.
    for (; HelloIn(packet) || roce::PsnDiff(packet.bth.psn, DevPsn(psn)) < 0;
         packet = peer().Expect()) {
      if (!HelloIn(packet)) continue;
      EXPECT_TRUE(acknowledged.count(packet.bth.psn)) << packet.ToString();
      ++hellos;
    }
    EXPECT_EQ(packet.bth.psn, DevPsn(psn));
    EXPECT_EQ(packet.info().operation, psn == 0         ? Operation::kWriteFirst
                                       : psn + 1 == num ? Operation::kWriteLast
                                                        : Operation::kWriteMiddle);
    if (!packet.bth.ack_req) continue;
    acknowledged.insert(DevPsn(psn));
    peer().Send(Ack(DevPsn(psn), psn + 1 == num));
  }
  EXPECT_GE(hellos, 1);
  ExpectSent(1, IBV_WC_RDMA_WRITE);
}

// Who goes by the standard alone may acknowledge it, and some do: with its PSN, or with the newest
// that they executed. Nor is there anything to be refused, as it comes a second time; who does so
// is not heard.
TEST_P(RcHello, AckOfItChangesNothing) {
  StartAcknowledged();
  const Counters counters;
  ep().PostSend(1, 0, 16);
  ep().PostSend(2, 0, 16);
  ExpectHello(0);
  EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn(1)));
  EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn(2)));
  for (int i = 0; i < 3; ++i) peer().Send(Ack(DevPsn(0), 1));
  for (const uint8_t syndrome : {roce::kNakSequence, roce::kNakInvalidRequest, roce::RnrNak(1)})
    peer().Send(Nak(DevPsn(0), 1, syndrome));
  peer().ExpectNothingYet(kLong);
  EXPECT_FALSE(ep().PollSend());
  peer().Send(Ack(DevPsn(2), 3));
  ExpectSent(1, IBV_WC_SEND);
  ExpectSent(2, IBV_WC_SEND);
  EXPECT_EQ(counters.Growth("retransmitted_pkts"), 0u);
  EXPECT_EQ(counters.Growth("rcvd_bad_response"), 0u);
  EXPECT_EQ(counters.Growth("packet_seq_err"), 0u);
  EXPECT_EQ(counters.Growth("rnr_nak_retry_err"), 0u);
  ExpectGapIsTold(0, false);
}

// A peer that goes by the standard alone sees a few, and never anything else that is new.
TEST_P(RcHello, WhoDoesNotAnswerIsLeftInPeace) {
  StartAcknowledged();
  int hellos = 0;
  for (int i = 1; i < 200; ++i) {
    ep().PostSend(static_cast<uint64_t>(i), 0, 16);
    Packet packet = peer().Expect();
    for (; HelloIn(packet); packet = peer().Expect()) {
      EXPECT_EQ(packet.bth.psn, DevPsn(i - 1));
      ++hellos;
    }
    EXPECT_THAT(packet, IsRequest(Operation::kSendOnly, DevPsn(i)));
    Acknowledge(i);
  }
  peer().ExpectNothing();
  EXPECT_GE(hellos, 2);
  EXPECT_LE(hellos, 4);
  ExpectGapIsTold(0, false);
}

// A responder keeps something of READs and atomics, so none of theirs is the PSN of a hello; and
// rxe names, for a WRITE that comes again, the last SEND, WRITE or atomic that it had, or nonsense
// if there was none.
TEST_P(RcHello, NeverHasThePsnOfARead) {
  StartAnsweredLate([this] { PostReadAndExpect(0); });
  AnswerRead(0);
  SendAndAcknowledge(1);
  PostRead(2, 16);
  ExpectHello(1);
  ExpectReadRequest(DevPsn(2), 16);
}

TEST_P(RcHello, NeverHasThePsnOfAnAtomic) {
  StartAnsweredLate([this] {
    ep().Post(SendWr::FetchAdd(0, ep().mr().Slice(0, 8), {kRemoteVa + 5, kRemoteKey}, 1));
    EXPECT_THAT(peer().Expect(), IsRequest(Operation::kFetchAdd, DevPsn(0)));
  });
  peer().Send(AtomicAck(DevPsn(0), 7, 1));
  ExpectSent(0, IBV_WC_FETCH_ADD);
  SendAndAcknowledge(1);
  ep().PostSend(2, 0, 16);
  ExpectHello(1);
}

// Who has only been asked to READ hears one with a PSN that nothing had, in front of the first.
TEST_P(RcHello, OfWhoOnlyReadsHasThePsnBeforeTheFirst) {
  StartAnsweredLate([this] { PostReadAndExpect(0); }, Patient(0));
  AnswerRead(0);
  PostRead(1, 16);
  ExpectHello(-1);
  ExpectReadRequest(DevPsn(1), 16);
  peer().Send(roce::EncodeSack(DevPsn(-1), {SackKind::kAnswer}));
  AnswerRead(1);
  for (int i = 2; i < 40; ++i) {
    PostReadAndExpect(i);
    AnswerRead(i);
  }
  ExpectGapIsTold(0, true);
}

// rxe would answer that, with the PSN of an older connection if the QP had one: which says nothing
// of READs, and what it would complete does not leave before it has come. Only then, and once.
TEST_P(RcHello, AckOfNonsenseCompletesNothing) {
  StartAnsweredLate([this] { PostReadAndExpect(0); });
  AnswerRead(0);
  PostRead(1, 16);
  ExpectHello(-1);
  ExpectReadRequest(DevPsn(1), 16);
  ep().PostSend(2, 0, 16);
  ep().PostSend(3, 0, 16);
  peer().ExpectNothingYet(kShort);
  const Counters counters;
  for (const int psn : {0, 2, 3, 100}) peer().Send(Ack(DevPsn(psn), 1));
  peer().ExpectNothingYet(kShort);
  EXPECT_EQ(counters.Growth("rcvd_bad_response"), 0u);
  EXPECT_FALSE(ep().PollSend());
  // As if its answer were lost.
  peer().Send(Ack(DevPsn(1), 1));
  ExpectReadRequest(DevPsn(1), 16);
  peer().ExpectNothingYet(kShort);
  EXPECT_FALSE(ep().PollSend());
  AnswerRead(1);
  for (int i = 2; i < 4; ++i)
    EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn(i)));
  peer().ExpectNothingYet(kShort);
  EXPECT_FALSE(ep().PollSend());
  Acknowledge(2);
  Acknowledge(3);
  // Nor does anything wait any more.
  PostRead(4, 16);
  ep().PostSend(5, 0, 16);
  Packet packet = peer().Expect();
  if (HelloIn(packet)) packet = peer().Expect();
  EXPECT_THAT(packet, IsRequest(Operation::kReadRequest, DevPsn(4)));
  EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn(5)));
}

// What is sent again is no new data: who gets it may have no use for anything else.
TEST_P(RcHello, GoesWithNothingThatIsSentAgain) {
  StartAnsweredLate([this] {
    for (int i = 0; i < 3; ++i) PostSend(i);
  });
  Acknowledge(0);
  peer().Send(Nak(DevPsn(1), 1, roce::kNakSequence));
  EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn(1)));
  peer().ExpectNothingYet(kLong);
  // After a RNR NAK the cursor goes back.
  peer().Send(Nak(DevPsn(1), 1, roce::RnrNak(1)));
  EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn(1)));
  EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn(2)));
  ep().PostSend(3, 0, 16);
  ExpectHello(0);
}

// From then on a gap is told by a SACK.
TEST_P(RcHello, AnswerIsEnough) {
  StartAcknowledged();
  ExpectAnswerIsEnough();
}

// It may be lost, and a SACK says all that it did: that marks are told, too.
TEST_P(RcHello, SackIsEnough) {
  for (const bool tells : {false, true}) {
    StartAcknowledged();
    ep().PostSend(1, 0, 16);
    ExpectHello(0);
    EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn(1)));
    peer().Send(roce::EncodeSack(DevPsn(1), {SackKind::kHeld, 3584, 0, {}, tells}));
    EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn(1)));
    Acknowledge(1);
    PostSend(2);
    EXPECT_EQ(peer().last().datagram.tos & 3, tells ? 2 : 0);
    Acknowledge(2);
    ExpectGapIsTold(0, true);
  }
}

// Nobody has asked, so it is of another connection, or of nobody.
TEST_P(RcHello, AnswerToNothingIsNotHeard) {
  for (const ibv_qp_state state : {IBV_QPS_RTR, IBV_QPS_RTS}) {
    QpOptions options = Patient();
    options.last_state = state;
    Restart(options);
    peer().Send(roce::EncodeSack(DevPsn(-1), {SackKind::kAnswer}));
    ExpectGapIsTold(0, false);
  }
}

// An answer to what is in flight, or was never sent, is no answer to a hello.
TEST_P(RcHello, AnswerAheadIsNotHeard) {
  StartAcknowledged();
  ep().PostSend(1, 0, 16);
  ExpectHello(0);
  EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn(1)));
  for (const int psn : {1, 2, 100}) {
    peer().Send(roce::EncodeSack(DevPsn(psn), {SackKind::kAnswer}));
  }
  ExpectGapIsTold(0, false);
}

// Other tests than these are as who goes by the standard, and see none of it.
class RcHelloUnheard : public HelloTest {
 protected:
  void SetUp() override { ASSERT_TRUE(SetRecovery("sack")); }
};
SRN_ANY_IP_VERSION(RcHelloUnheard);

TEST_P(RcHelloUnheard, AllElseIsHeard) {
  StartAcknowledged();
  EXPECT_EQ(peer().num_unheard(), 0);
  PostSend(1);
  EXPECT_EQ(peer().num_unheard(), 1);
  Acknowledge(1);
  PostSend(2);
}

}  // namespace
}  // namespace wire
