// SPDX-License-Identifier: GPL-2.0-only
// Hellos of the peer's: what is one, how it is answered, and what follows from it.
#include <optional>
#include <vector>

#include "congestion.h"
#include "counters.h"
#include "hello.h"

namespace wire {
namespace {

using roce::Sack;
using roce::SackKind;

class RcHelloHeard : public HelloTest {};
SRN_ANY_IP_VERSION(RcHelloHeard);

// Who has said hello may not have heard the answer. On a long path, where more may be out to who
// has, it is asked as any is; on others there is no hello of our own.
TEST_P(RcHelloHeard, IsAnsweredAndOnALongPathAskedInTurn) {
  std::optional<Sack> answer;
  StartAnsweredLate([&] {
    SayHello(-1);
    answer = HearAnswer(-1);
    PostSend(0);
  });
  ASSERT_TRUE(answer);
  EXPECT_GE(answer->ahead, 512u);
  Acknowledge(0);
  ExpectAnswerIsEnough();
}

// Nothing of it is executed, acknowledged or counted.
TEST_P(RcHelloHeard, IsNoRequest) {
  Start(Patient());
  Send(WriteTo(0, 1));
  ExpectAckedUpTo(PeerPsn(0), 1);
  const Counters counters;
  SayHello(0);
  const std::optional<Sack> answer = HearAnswer(0);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->twice, 0u);
  peer().ExpectNothing();
  EXPECT_EQ(counters.Growth("duplicate_request"), 0u);
  ExpectResponderWorks(PeerPsn(1), 1);
}

// A peer that says that it tells of routers' marks is sent packets that may be marked, and hears
// the same of this one.
TEST_P(RcHelloHeard, SaysWhetherMarksAreTold) {
  for (const bool tells : {false, true}) {
    Restart();
    SayHello(-1, {.tells = tells});
    const std::optional<Sack> answer = HearAnswer(-1);
    ASSERT_TRUE(answer);
    EXPECT_TRUE(answer->tells);
    ep().PostSend(1, 0, 8);
    EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn()));
    EXPECT_EQ(peer().last().datagram.tos & 3, tells ? 2 : 0);
  }
}

// And one that reacts to no CNPs says that it sends none.
TEST_P(RcHelloHeard, WithoutCongestionControlTellsOfNoMarks) {
  ASSERT_TRUE(SetCongestionControl("off"));
  Start();
  const bool back = SetCongestionControl("dcqcn");
  ASSERT_TRUE(back);
  SayHello(-1, {.tells = true});
  const std::optional<Sack> answer = HearAnswer(-1);
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->tells);
}

// Whatever a peer says that it holds, as much may be out as without it.
TEST_P(RcHelloHeard, OfNoRoomHoldsNobodyUp) {
  StartAnsweredLate([this] {
    SayHello(-1, {.ahead = 0});
    EXPECT_TRUE(HearAnswer(-1));
    PostSend(0);
  });
  Acknowledge(0);
  ep().PostSend(1, 0, 16);
  ExpectHello(0);
  EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn(1)));
  for (int i = 2; i < 4; ++i) PostSend(i);
  for (int i = 1; i < 4; ++i) Acknowledge(i);
}

TEST_P(RcHelloHeard, IsAnsweredInReadyToReceive) {
  Start({.last_state = IBV_QPS_RTR});
  SayHello(-1);
  EXPECT_TRUE(HearAnswer(-1));
}

// Who only guesses the QPN can't make a peer one that understands.
TEST_P(RcHelloHeard, FarFromTheExpectedPsnIsAWrite) {
  Start(Patient());
  const Counters counters;
  SayHello(-1024);
  peer().Send(roce::EncodeSack(DevPsn(-5000), {SackKind::kAnswer}));
  peer().ExpectNothing();
  EXPECT_TRUE(counters.Grew("duplicate_request"));
  ExpectGapIsTold(0, false);
}

// A WRITE that is next in turn, or early, is what it looks like.
TEST_P(RcHelloHeard, InItsTurnIsAWrite) {
  Start(Patient());
  SayHello(0, {}, true);
  EXPECT_THAT(peer().Expect(), IsAckWithMsn(PeerPsn(0), 1));
  SayHello(2);
  EXPECT_THAT(peer().Expect(), IsNak(PeerPsn(1), roce::kNakSequence));
}

// What is not all of this version, has bytes, or waits for an ACK, is a WRITE that came twice.
TEST_P(RcHelloHeard, OthersAreWritesThatCameTwice) {
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
  SayHello(-1, {}, true);
  EXPECT_THAT(peer().Expect(), IsAck(PeerPsn(-1)));
  EXPECT_TRUE(counters.Grew("duplicate_request", others.size() + 1));
  ExpectGapIsTold(0, false);
}

// In the other modes nobody asks, and who asks has sent a WRITE twice.
TEST_P(RcHelloHeard, OtherModesKnowNothingOfIt) {
  for (const char* mode : {"gbn", "hold"}) {
    SCOPED_TRACE(mode);
    ASSERT_TRUE(SetRecovery(mode));
    StartAcknowledged();
    const Counters counters;
    SayHello(-1);
    peer().ExpectNothing();
    SayHello(-1, {}, true);
    EXPECT_THAT(peer().Expect(), IsAck(PeerPsn(-1)));
    EXPECT_TRUE(counters.Grew("duplicate_request", 2));
    for (int i = 1; i < 40; ++i) SendAndAcknowledge(i);
    ExpectGapIsTold(0, false);
  }
}

TEST_P(RcHelloHeard, UnreliableConnectionsKnowNothingOfIt) {
  Start({.type = IBV_QPT_UC});
  const Counters counters;
  SayHello(-1);
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

}  // namespace
}  // namespace wire
