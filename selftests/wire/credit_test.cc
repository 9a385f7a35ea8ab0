// SPDX-License-Identifier: GPL-2.0-only
// End-to-end credits. IBTA vol. 1, 9.7.7.2 and table 44.
#include <share/parameter.h>

#include "counters.h"
#include "fixture.h"

namespace wire {
namespace {

MATCHER_P2(TellsOf, receives, msn,
           "tells of " + std::to_string(receives) + " receives, msn " + std::to_string(msn)) {
  return arg.aeth && arg.aeth->msn == static_cast<uint32_t>(msn) &&
         arg.aeth->syndrome == roce::CreditCode(static_cast<uint32_t>(receives));
}

// What the device says as a responder. Others need not say it.
class CreditsGiven : public WireTest {
 protected:
  void SetUp() override {
    SRN_SKIP_LAX() << "credits are an offer";
    Start();
  }
  void PostRecvs(uint64_t num) {
    for (uint64_t id = 1; id <= num; ++id) ep().PostRecv(id, kPlace, 8192);
  }
};
SRN_ANY_IP_VERSION(CreditsGiven);

TEST_P(CreditsGiven, AckTellsOfPostedReceives) {
  int psn = 0;
  for (const int more : {0, 1, 1, 1, 1, 1, 1, 1, 1, 40}) {
    static constexpr int kLast = 8;
    const int posted = more == 40 ? kLast + 40 : psn;
    PostRecvs(static_cast<uint64_t>(more));
    Send(WriteTo(psn, 1));
    EXPECT_THAT(peer().Expect(), TellsOf(posted, psn + 1));
    ++psn;
  }
}

TEST_P(CreditsGiven, EachSendTakesOne) {
  PostRecvs(4);
  for (int i = 0; i < 4; ++i) {
    Send(SendMessage(PeerPsn(i), Pattern(8), mtu()));
    EXPECT_THAT(peer().Expect(), TellsOf(3 - i, i + 1));
  }
}

// The receive that a message has begun to fill is still its own: it is behind the MSN.
TEST_P(CreditsGiven, ReceiveInUseCountsForItsMessage) {
  PostRecvs(3);
  auto send = SendMessage(PeerPsn(), Pattern(3 * mtu()), mtu());
  for (Packet& packet : send) packet.bth.ack_req = true;
  for (int i = 0; i < 2; ++i) {
    peer().Send(send[static_cast<size_t>(i)]);
    EXPECT_THAT(peer().Expect(), TellsOf(3, 0));
  }
  peer().Send(send[2]);
  EXPECT_THAT(peer().Expect(), TellsOf(2, 1));
}

TEST_P(CreditsGiven, AnswersTellToo) {
  PostRecvs(2);
  peer().Send(ReadRequest(PeerPsn(0), Reth(kPlace, 3 * mtu())));
  EXPECT_THAT(peer().Expect(), TellsOf(2, 1));
  peer().Expect();
  EXPECT_THAT(peer().Expect(), TellsOf(2, 1));
  peer().Send(FetchAdd(PeerPsn(3), ep().Va(kPlace), ep().rkey(), 1));
  EXPECT_THAT(peer().Expect(), TellsOf(2, 2));
}

// Requesters that keep to credits: the module's parameter. Credits know no IP version.
class CreditsKept : public WireTest {
 protected:
  void SetUp() override {
    SRN_SKIP_LAX() << "another device has no such parameter";
    ASSERT_TRUE(Keep("Y"));
    Start();
  }
  void TearDown() override { EXPECT_TRUE(Keep("N")); }

  static bool Keep(const char* how) {
    return Wire::Get().config().lax || share::SetParameter("credits", how);
  }
  // The next packets have these PSNs, and then there are none. Returns the last one.
  Packet ExpectPsns(int first, int last) {
    Packet packet;
    for (int i = first; i <= last; ++i) {
      packet = peer().Expect();
      EXPECT_EQ(packet.bth.psn, DevPsn(i));
    }
    peer().ExpectNothing();
    return packet;
  }
  void SendAck(int psn, uint32_t msn, uint32_t receives) {
    peer().Send(Ack(DevPsn(psn), msn, roce::CreditCode(receives)));
  }
  void PostSends(uint64_t first, uint64_t last, size_t length = 8) {
    for (uint64_t id = first; id <= last; ++id) ep().PostSend(id, 0, length);
  }
  void ExpectAllSent(uint64_t first, uint64_t last) {
    for (uint64_t id = first; id <= last; ++id) ExpectSent(id, IBV_WC_SEND);
  }
};
INSTANTIATE_TEST_SUITE_P(Ip, CreditsKept, testing::Values(net::IpVersion::kV4), VersionName);

// Nothing is known at first. The answer, whatever it says of credits, says of this request that it
// has found a receive.
TEST_P(CreditsKept, WithoutCreditOnePacketGoesFirst) {
  const Counters counters;
  PostSends(1, 2, 3 * mtu());
  EXPECT_TRUE(ExpectPsns(0, 0).bth.ack_req);
  SendAck(0, 0, 0);
  ExpectPsns(1, 2);
  SendAck(2, 1, 0);
  ExpectSent(1, IBV_WC_SEND);
  EXPECT_TRUE(ExpectPsns(3, 3).bth.ack_req);
  SendAck(3, 1, 0);
  ExpectPsns(4, 5);
  SendAck(5, 2, 0);
  ExpectSent(2, IBV_WC_SEND);
  EXPECT_TRUE(counters.Grew("sent_without_credit", 2));
}

TEST_P(CreditsKept, AsManyGoAsThePeerReceives) {
  PostSends(1, 6);
  ExpectPsns(0, 0);
  SendAck(0, 1, 3);
  // Three, and one to ask with.
  EXPECT_TRUE(ExpectPsns(1, 4).bth.ack_req);
  SendAck(4, 5, 1);
  ExpectPsns(5, 5);
  SendAck(5, 6, 0);
  ExpectAllSent(1, 6);
}

TEST_P(CreditsKept, CreditsOfAnOldAckSayNothing) {
  PostSends(1, 1);
  ExpectPsns(0, 0);
  SendAck(0, 1, 4);
  ExpectSent(1, IBV_WC_SEND);
  PostSends(2, 3);
  ExpectPsns(1, 2);
  SendAck(1, 1, 0);
  PostSends(4, 5);
  ExpectPsns(3, 4);
  SendAck(4, 5, 0);
  ExpectAllSent(2, 5);
}

// WRITEs and READs find all they need; those with immediate data need a receive.
TEST_P(CreditsKept, OnlyWhatTakesAReceiveWaits) {
  ep().Post(SendWr::Write(1, ep().Data(0, 8), {kRemoteVa, kRemoteKey}));
  ep().Post(SendWr::Write(2, ep().Data(0, 3 * mtu()), {kRemoteVa, kRemoteKey}));
  PostRead(3, 8);
  PostSends(4, 5);
  // The SEND is the first one without, and may ask.
  ExpectPsns(0, 5);
  SendAck(3, 2, 0);
  peer().Send(ReadResponse(Operation::kReadResponseOnly, DevPsn(4), Pattern(8), 3));
  SendAck(5, 4, 1);
  ExpectPsns(6, 6);
  SendAck(6, 5, 0);
  ExpectSent(1, IBV_WC_RDMA_WRITE);
  ExpectSent(2, IBV_WC_RDMA_WRITE);
  ExpectSent(3, IBV_WC_RDMA_READ);
  ExpectAllSent(4, 5);
}

// A long READ is several requests, and the peer counts each of them.
TEST_P(CreditsKept, EachRequestOfALongReadIsCounted) {
  static constexpr int kNum = 3, kPart = 64;
  PostSends(1, 1);
  ExpectPsns(0, 0);
  SendAck(0, 1, 2);
  ExpectSent(1, IBV_WC_SEND);
  PostRead(2, kNum * kPart * mtu());
  for (int i = 0; i < kNum; ++i) {
    const uint32_t psn = DevPsn(1 + i * kPart);
    const Packet request = peer().Expect();
    ASSERT_THAT(request, IsRequest(Operation::kReadRequest, psn));
    ASSERT_EQ(request.reth->length, kPart * mtu());
    Send(ReadResponses(psn, Pattern(kPart * mtu()), mtu(), static_cast<uint32_t>(2 + i)));
  }
  ExpectSent(2, IBV_WC_RDMA_READ);
  const int next = 1 + kNum * kPart;
  PostSends(3, 6);
  ExpectPsns(next, next + 2);  // two, and one to ask with
  SendAck(next + 1, 6, 0);
  peer().ExpectNothing();
  SendAck(next + 2, 7, 0);
  ExpectPsns(next + 3, next + 3);
  SendAck(next + 3, 8, 0);
  ExpectAllSent(3, 6);
}

// It posts receives after it had none, and tells of them unasked. What is older says nothing.
TEST_P(CreditsKept, AckOfWhatWasAcknowledgedBringsCredits) {
  PostSends(1, 2);
  ExpectPsns(0, 0);
  SendAck(0, 1, 0);
  ExpectPsns(1, 1);
  SendAck(1, 2, 0);
  ExpectAllSent(1, 2);
  PostSends(3, 5, 2 * mtu());
  ExpectPsns(2, 2);
  SendAck(0, 2, 3);
  peer().ExpectNothing();
  SendAck(1, 2, 3);
  ExpectPsns(3, 7);
  SendAck(7, 5, 0);
  ExpectAllSent(3, 5);
}

TEST_P(CreditsKept, PeerThatGivesNoneIsNotWaitedFor) {
  PostSends(1, 4);
  ExpectPsns(0, 0);
  peer().Send(Ack(DevPsn(0), 1));
  ExpectPsns(1, 3);
  SendAck(3, 4, 0);
  PostSends(5, 8);
  ExpectPsns(4, 7);
  SendAck(7, 8, 0);
  ExpectAllSent(1, 8);
}

TEST_P(CreditsKept, RefusedForWantOfAReceiveItAsksAgain) {
  PostSends(1, 2);
  ExpectPsns(0, 0);
  peer().Send(Nak(DevPsn(0), 0, roce::RnrNak(1)));
  EXPECT_TRUE(ExpectPsns(0, 0).bth.ack_req);
  SendAck(0, 1, 1);
  ExpectPsns(1, 1);
  SendAck(1, 2, 0);
  ExpectAllSent(1, 2);
}

// What goes again had its credits: no packet of it asks, but the one that had none.
TEST_P(CreditsKept, WhatGoesAgainDoesNotAskOneByOne) {
  PostSends(1, 1);
  ExpectPsns(0, 0);
  SendAck(0, 1, 3);
  ExpectSent(1, IBV_WC_SEND);
  PostSends(2, 5);
  ExpectPsns(1, 4);
  peer().Send(Nak(DevPsn(1), 1, roce::RnrNak(1)));
  for (int i = 1; i <= 4; ++i) {
    const Packet packet = peer().Expect();
    EXPECT_EQ(packet.bth.psn, DevPsn(i));
    EXPECT_EQ(packet.bth.ack_req, i == 4) << i;
  }
  SendAck(4, 5, 0);
  ExpectAllSent(2, 5);
}

TEST_P(CreditsKept, LostWithoutCreditItIsSentAgain) {
  Restart({.timeout = 15});
  PostSends(1, 2);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(peer().Expect().bth.psn, DevPsn(0));
  SendAck(0, 1, 1);
  EXPECT_EQ(peer().Expect().bth.psn, DevPsn(1));
  SendAck(1, 2, 0);
  ExpectAllSent(1, 2);
}

// As the module does by itself.
TEST_P(CreditsKept, WhoDoesNotKeepToThemSendsAll) {
  ASSERT_TRUE(Keep("N"));
  Restart();
  PostSends(1, 4);
  ExpectPsns(0, 3);
  SendAck(0, 1, 0);
  PostSends(5, 6);
  ExpectPsns(4, 5);
  SendAck(5, 6, 0);
  ExpectAllSent(1, 6);
}

}  // namespace
}  // namespace wire
