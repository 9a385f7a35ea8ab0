// SPDX-License-Identifier: GPL-2.0-only
// The first exchange of two that understand SACKs: what a stranger sees of it, and who is believed.
#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include <roce/sack.h>

#include "congestion.h"
#include "counters.h"
#include "recovery.h"

namespace wire {
namespace {

using roce::Sack;
using roce::SackKind;

// Nothing is repeated by the local ACK timeout: 4.3 s.
QpOptions Patient(uint32_t sq_psn = 0x00a000) { return {.sq_psn = sq_psn, .timeout = 20}; }

std::optional<Sack> HelloIn(const Packet& packet) {
  const std::optional<Sack> sack = roce::DecodeSack(packet);
  return sack && sack->kind == SackKind::kHello ? sack : std::nullopt;
}

class RcHello : public HoldTest {
 protected:
  void SetUp() override {
    ASSERT_TRUE(SetRecovery("sack"));
    HearHellos();
  }

  // One SEND, of which the next packet is.
  void PostSend(int psn) {
    ep().PostSend(static_cast<uint64_t>(psn), 0, 16);
    EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn(psn)));
  }
  void Acknowledge(int psn) {
    peer().Send(Ack(DevPsn(psn), static_cast<uint32_t>(psn + 1)));
    ExpectSent(static_cast<uint64_t>(psn), IBV_WC_SEND);
  }
  void PostReadAndExpect(int psn) {
    PostRead(static_cast<uint64_t>(psn), 16);
    ExpectReadRequest(DevPsn(psn), 16);
  }
  void AnswerRead(int psn) {
    Send(ReadResponses(DevPsn(psn), Bytes(16, 0x5a), mtu(), static_cast<uint32_t>(psn + 1)));
    ExpectSent(static_cast<uint64_t>(psn), IBV_WC_RDMA_READ);
  }
  void SendAndAcknowledge(int psn) {
    PostSend(psn);
    Acknowledge(psn);
  }
  // What is waited for the first answer where nothing is known is longer (250 ms).
  static constexpr std::chrono::milliseconds kLong{100};
  // A connection whose first requests, which `post` posts, are answered late: then the path looks
  // so long that no probe goes before a test is over. Nothing comes with them. Where the machine
  // was too busy, and a probe went, that tells nothing: once more.
  void StartOnLongPath(const std::function<void()>& post, uint32_t sq_psn = 0x00a000) {
    for (int turn = 0; turn < 10; ++turn) {
      Restart(Patient(sq_psn));
      post();
      std::this_thread::sleep_for(kLong);
      if (!peer().Receive(std::chrono::microseconds(0))) return;
    }
    ADD_FAILURE() << "never without another packet";
  }
  // A SEND that was acknowledged: a hello may go.
  void StartAcknowledged() {
    StartOnLongPath([this] { PostSend(0); });
    Acknowledge(0);
  }
  void ExpectHello(int psn) {
    const Packet packet = peer().Expect();
    EXPECT_TRUE(HelloIn(packet)) << packet.ToString();
    EXPECT_EQ(packet.bth.psn, DevPsn(psn));
  }
  void SendHello(int psn, Sack sack = {}, bool ack_req = false) {
    sack.kind = SackKind::kHello;
    Packet packet = roce::EncodeSack(PeerPsn(psn), sack);
    packet.bth.ack_req = ack_req;
    peer().Send(packet);
  }
  std::optional<Sack> ExpectAnswer(int psn) {
    const Packet packet = peer().Expect();
    EXPECT_EQ(packet.bth.opcode, roce::kOpcodeSack) << packet.ToString();
    EXPECT_EQ(packet.bth.psn, PeerPsn(psn));
    EXPECT_FALSE(packet.bth.ack_req);
    const std::optional<Sack> sack = roce::DecodeSack(packet);
    if (!sack) return std::nullopt;
    EXPECT_EQ(sack->kind, SackKind::kAnswer);
    EXPECT_EQ(packet.aeth->syndrome, roce::kAnswerSyndrome);
    return sack;
  }
  // Whoever is known to understand SACKs is told of a gap by one.
  void ExpectGapIsTold(int psn, bool by_sack) {
    Send(WriteTo(psn + 1, 1));
    const Packet packet = peer().Expect();
    if (by_sack)
      EXPECT_EQ(packet.bth.opcode, roce::kOpcodeSack) << packet.ToString();
    else
      EXPECT_THAT(packet, IsNak(PeerPsn(psn), roce::kNakSequence));
  }
};
SRN_ANY_IP_VERSION(RcHello);

// All that a stranger sees: a WRITE of no bytes that it knows to be one that comes a second time,
// and that asks for no ACK.
TEST_P(RcHello, GoesInFrontOfDataThatFollowAnAck) {
  StartOnLongPath([this] { PostSend(0); }, 0xffffff);
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
                                                  0xc0, 0x00,    0x0e,   0x00,     // both; 3584
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
  StartOnLongPath([this] { PostReadAndExpect(0); });
  AnswerRead(0);
  SendAndAcknowledge(1);
  PostRead(2, 16);
  ExpectHello(1);
  ExpectReadRequest(DevPsn(2), 16);
}

TEST_P(RcHello, NeverHasThePsnOfAnAtomic) {
  StartOnLongPath([this] {
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
  StartOnLongPath([this] { PostReadAndExpect(0); }, 0x000000);
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
  StartOnLongPath([this] { PostReadAndExpect(0); });
  AnswerRead(0);
  PostRead(1, 16);
  ExpectHello(-1);
  ExpectReadRequest(DevPsn(1), 16);
  ep().PostSend(2, 0, 16);
  ep().PostSend(3, 0, 16);
  peer().ExpectNothingYet(kLong);
  for (const int psn : {0, 2, 3, 100}) peer().Send(Ack(DevPsn(psn), 1));
  peer().ExpectNothingYet(kLong);
  EXPECT_FALSE(ep().PollSend());
  // As if its answer were lost.
  peer().Send(Ack(DevPsn(1), 1));
  ExpectReadRequest(DevPsn(1), 16);
  peer().ExpectNothingYet(kLong);
  EXPECT_FALSE(ep().PollSend());
  AnswerRead(1);
  for (int i = 2; i < 4; ++i)
    EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn(i)));
  peer().ExpectNothingYet(kLong);
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
  StartOnLongPath([this] {
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

TEST_P(RcHello, IsAnsweredAndThenThereIsNoneOfOurOwn) {
  std::optional<Sack> answer;
  StartOnLongPath([&] {
    SendHello(-1);
    answer = ExpectAnswer(-1);
    PostSend(0);
  });
  ASSERT_TRUE(answer);
  EXPECT_GE(answer->ahead, 512u);
  Acknowledge(0);
  for (int i = 1; i < 40; ++i) SendAndAcknowledge(i);
  ExpectGapIsTold(0, true);
}

// From then on a gap is told by a SACK.
TEST_P(RcHello, AnswerIsEnough) {
  StartAcknowledged();
  ep().PostSend(1, 0, 16);
  ExpectHello(0);
  EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn(1)));
  peer().Send(roce::EncodeSack(DevPsn(0), {SackKind::kAnswer}));
  Acknowledge(1);
  for (int i = 2; i < 40; ++i) SendAndAcknowledge(i);
  ExpectGapIsTold(0, true);
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

// Nothing of it is executed, acknowledged or counted.
TEST_P(RcHello, IsNoRequest) {
  Start(Patient());
  Send(WriteTo(0, 1));
  ExpectAckedUpTo(PeerPsn(0), 1);
  const Counters counters;
  SendHello(0);
  const std::optional<Sack> answer = ExpectAnswer(0);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->twice, 0u);
  peer().ExpectNothing();
  EXPECT_EQ(counters.Growth("duplicate_request"), 0u);
  ExpectResponderWorks(PeerPsn(1), 1);
}

// A peer that says that it tells of routers' marks is sent packets that may be marked, and hears
// the same of this one.
TEST_P(RcHello, SaysWhetherMarksAreTold) {
  for (const bool tells : {false, true}) {
    Restart();
    SendHello(-1, {.tells = tells});
    const std::optional<Sack> answer = ExpectAnswer(-1);
    ASSERT_TRUE(answer);
    EXPECT_TRUE(answer->tells);
    ep().PostSend(1, 0, 8);
    EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn()));
    EXPECT_EQ(peer().last().datagram.tos & 3, tells ? 2 : 0);
  }
}

// And one that reacts to no CNPs says that it sends none.
TEST_P(RcHello, WithoutCongestionControlTellsOfNoMarks) {
  ASSERT_TRUE(SetCongestionControl("off"));
  Start();
  const bool back = SetCongestionControl("dcqcn");
  ASSERT_TRUE(back);
  SendHello(-1, {.tells = true});
  const std::optional<Sack> answer = ExpectAnswer(-1);
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->tells);
}

// Whatever a peer says that it holds, as much may be out as without it.
TEST_P(RcHello, OfNoRoomHoldsNobodyUp) {
  StartOnLongPath([this] {
    SendHello(-1, {.ahead = 0});
    EXPECT_TRUE(ExpectAnswer(-1));
    PostSend(0);
  });
  Acknowledge(0);
  for (int i = 1; i < 4; ++i) PostSend(i);
  for (int i = 1; i < 4; ++i) Acknowledge(i);
}

TEST_P(RcHello, IsAnsweredInReadyToReceive) {
  Start({.last_state = IBV_QPS_RTR});
  SendHello(-1);
  EXPECT_TRUE(ExpectAnswer(-1));
}

// Who only guesses the QPN can't make a peer one that understands.
TEST_P(RcHello, FarFromTheExpectedPsnIsAWrite) {
  Start(Patient());
  const Counters counters;
  SendHello(-1024);
  peer().Send(roce::EncodeSack(DevPsn(-5000), {SackKind::kAnswer}));
  peer().ExpectNothing();
  EXPECT_TRUE(counters.Grew("duplicate_request"));
  ExpectGapIsTold(0, false);
}

// A WRITE that is next in turn, or early, is what it looks like.
TEST_P(RcHello, InItsTurnIsAWrite) {
  Start(Patient());
  SendHello(0, {}, true);
  EXPECT_THAT(peer().Expect(), IsAckWithMsn(PeerPsn(0), 1));
  SendHello(2);
  EXPECT_THAT(peer().Expect(), IsNak(PeerPsn(1), roce::kNakSequence));
}

// What is not all of this version, has bytes, or waits for an ACK, is a WRITE that came twice.
TEST_P(RcHello, OthersAreWritesThatCameTwice) {
  Start(Patient());
  const Counters counters;
  std::vector<Packet> others;
  for (const uint32_t key : {0x53520201u, 0x53520102u, 0x53520103u, 0x53530101u, 0u}) {
    others.push_back(roce::EncodeSack(PeerPsn(-1), {SackKind::kHello}));
    others.back().reth->rkey = key;
  }
  others.push_back(roce::EncodeSack(PeerPsn(-1), {SackKind::kHello}));
  others.back().reth->length = 4;
  others.push_back(roce::EncodeSack(PeerPsn(-1), {SackKind::kHello}));
  others.back().payload = Bytes(4, 0);
  Packet imm = roce::EncodeSack(PeerPsn(-1), {SackKind::kHello});
  imm.bth.opcode = static_cast<uint8_t>(Operation::kWriteOnlyImm);
  others.push_back(WithImm(imm, 7));
  for (const Packet& packet : others) peer().Send(packet);
  peer().ExpectNothing();
  SendHello(-1, {}, true);
  EXPECT_THAT(peer().Expect(), IsAck(PeerPsn(-1)));
  EXPECT_TRUE(counters.Grew("duplicate_request", others.size() + 1));
  ExpectGapIsTold(0, false);
}

// In the other modes nobody asks, and who asks has sent a WRITE twice.
TEST_P(RcHello, OtherModesKnowNothingOfIt) {
  for (const char* mode : {"gbn", "hold"}) {
    SCOPED_TRACE(mode);
    ASSERT_TRUE(SetRecovery(mode));
    StartAcknowledged();
    const Counters counters;
    SendHello(-1);
    peer().ExpectNothing();
    SendHello(-1, {}, true);
    EXPECT_THAT(peer().Expect(), IsAck(PeerPsn(-1)));
    EXPECT_TRUE(counters.Grew("duplicate_request", 2));
    for (int i = 1; i < 40; ++i) SendAndAcknowledge(i);
    ExpectGapIsTold(0, false);
  }
}

TEST_P(RcHello, UnreliableConnectionsKnowNothingOfIt) {
  Start({.type = IBV_QPT_UC});
  const Counters counters;
  SendHello(-1);
  peer().ExpectNothing();
  EXPECT_TRUE(counters.Grew("rcvd_no_qp"));
  for (int i = 0; i < 40; ++i) {
    ep().PostSend(static_cast<uint64_t>(i), 0, 16);
    const Packet packet = peer().Expect();
    EXPECT_EQ(packet.info().service, Service::kUc);
    EXPECT_EQ(packet.info().operation, Operation::kSendOnly);
    ExpectSent(static_cast<uint64_t>(i), IBV_WC_SEND);
  }
  peer().ExpectNothing();
}

// Other tests than these are as who goes by the standard, and see none of it.
class RcHelloUnheard : public RcHello {
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
