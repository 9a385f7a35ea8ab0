// SPDX-License-Identifier: GPL-2.0-only
// Responder: where the host is short of memory, what came early is let go of, and comes again.
#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include <roce/sack.h>
#include <share/shrink.h>

#include "counters.h"
#include "recovery.h"

namespace wire {
namespace {

class RcShed : public HoldTest {
 protected:
  void SetUp() override {
    SRN_SKIP_LAX();
    HoldTest::SetUp();
  }
  void Hold(const std::vector<int>& psns, uint8_t value) {
    for (int psn : psns) Send(WriteTo(psn, value));
  }
  void ExpectNakOf(int psn) {
    EXPECT_THAT(peer().Expect(), IsNak(PeerPsn(psn), roce::kNakSequence));
  }
  void ExpectSackOf(int psn, const std::set<uint32_t>& held) {
    const Packet packet = peer().Expect();
    EXPECT_EQ(packet.bth.psn, PeerPsn(psn));
    const std::optional<roce::Sack> sack = roce::DecodeSack(packet);
    ASSERT_TRUE(sack) << packet.ToString();
    EXPECT_EQ(sack->held, held);
  }
  // The last of those that tell of packets which came in one go, or one by one.
  void ExpectToldOf(int psn, const std::set<uint32_t>& held) {
    for (;;) {
      const Packet packet = peer().Expect();
      if (!packet.info().valid) return;  // Expect() has complained
      EXPECT_EQ(packet.bth.psn, PeerPsn(psn));
      const std::optional<roce::Sack> sack = roce::DecodeSack(packet);
      ASSERT_TRUE(sack) << packet.ToString();
      ASSERT_TRUE(std::ranges::includes(held, sack->held)) << packet.ToString();
      if (sack->held == held) return;
    }
  }
  // All that is held here: so many packets since `counters`. What is asked for is given in the QP's
  // turn: on a busy machine not before the next look, which then asks for nothing, so once more.
  static void ExpectShed(const Counters& counters, uint64_t num) {
    constexpr int kTries = 5;
    EXPECT_TRUE(counters.Grew("rcvd_held", num));
    ASSERT_TRUE(share::Shrink());
    for (int i = 1; i < kTries && !counters.Grew("rcvd_hold_shed", num); ++i)
      ASSERT_TRUE(share::Shrink());
    EXPECT_EQ(counters.Growth("rcvd_hold_shed"), num);
    EXPECT_EQ(counters.Growth("rcvd_held"), num);
  }
};
SRN_ANY_IP_VERSION(RcShed);

// Nothing but its end gives back what is held for a peer that is silent, and then there is no more
// of it.
TEST_P(RcShed, MemoryOfADeadPeerIsGivenBack) {
  constexpr int kMany = 200;
  // What a test before this one let go of has made memory scarce for a second: less is held then.
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  Start();
  const Counters counters;
  for (int i = 1; i <= kMany; ++i) Send(WriteTo(i, 1, 0, mtu()));
  ExpectNakOf(0);
  ExpectShed(counters, kMany);
  ASSERT_TRUE(share::Shrink());
  EXPECT_EQ(counters.Growth("rcvd_hold_shed"), uint64_t{kMany});
  peer().ExpectNothing();
  EXPECT_EQ(ep().State(), IBV_QPS_RTS);
  ExpectResponderWorks(PeerPsn(0), 0);
}

// As if it had never come: it is not acknowledged, and what comes now counts. A peer that may go
// back by itself is told nothing.
TEST_P(RcShed, WhatWasLetGoOfComesAgain) {
  Start();
  const Counters counters;
  Hold({1, 2, 3}, 9);
  ExpectNakOf(0);
  ExpectShed(counters, 3);
  ep().Fill(0xee);
  Send(WriteTo(0, 0, 0));
  EXPECT_THAT(peer().Expect(), IsAckWithMsn(PeerPsn(0), 1));
  peer().ExpectNothing();
  EXPECT_EQ(ep().Copy(kPlace, 16), Bytes(16, 0xee));
  Hold({1, 2, 3}, 1);
  ExpectAckedUpTo(PeerPsn(3), 4);
  EXPECT_EQ(ep().Copy(kPlace, 16), Bytes(16, 1));
  EXPECT_EQ(counters.Growth("sent_nak"), 1u);
}

// A gap is named for who goes on behind it.
TEST_P(RcShed, WhoGoesOnIsToldOfTheGap) {
  Start();
  const Counters counters;
  Hold({1, 2, 3}, 9);
  ExpectNakOf(0);
  ExpectShed(counters, 3);
  Send(WriteTo(0, 0));
  EXPECT_THAT(peer().Expect(), IsAckWithMsn(PeerPsn(0), 1));
  Send(WriteTo(4, 4));
  ExpectNakOf(1);
  Hold({1, 2, 3}, 1);
  // A gap that is not filled yet is named, too.
  for (Packet ack = peer().Expect(); !testing::Matches(IsAck(PeerPsn(4)))(ack);
       ack = peer().Expect())
    if (HasFailure()) return;
  EXPECT_EQ(ep().Copy(kPlace, 16), Bytes(16, 4));
}

// One that was told of it sends nothing of it again by itself: it is asked for, once, when its turn
// comes.
TEST_P(RcShed, WhoWasToldIsAsked) {
  Start();
  Greet();
  const Counters counters;
  Hold({1, 2, 3}, 9);
  ExpectToldOf(0, {1, 2, 3});
  ExpectShed(counters, 3);
  peer().ExpectNothing();
  Send(WriteTo(0, 0));
  ExpectNakOf(1);
  peer().ExpectNothing();
  Send(WriteTo(1, 1));
  EXPECT_THAT(peer().Expect(), IsAckWithMsn(PeerPsn(1), 2));
  peer().ExpectNothing();
  Hold({2, 3}, 1);
  ExpectAckedUpTo(PeerPsn(3), 4);
  EXPECT_EQ(ep().Copy(kPlace, 16), Bytes(16, 1));
}

// Of what is missing in front of it the peer knows by itself, and that is on its way.
TEST_P(RcShed, GapOfMoreThanOneIsFilledFirst) {
  Start();
  Greet();
  const Counters counters;
  Hold({3, 4}, 9);
  ExpectToldOf(0, {3, 4});
  ExpectShed(counters, 2);
  for (int psn : {0, 1}) {
    Send(WriteTo(psn, 0));
    EXPECT_THAT(peer().Expect(), IsAck(PeerPsn(psn)));
  }
  Send(WriteTo(2, 2));
  ExpectNakOf(3);
  Hold({3, 4}, 1);
  ExpectAckedUpTo(PeerPsn(4), 5);
  EXPECT_EQ(ep().Copy(kPlace, 16), Bytes(16, 1));
}

// A SACK says what is here, and not what was.
TEST_P(RcShed, WhatIsGoneIsNotTold) {
  Start();
  Greet();
  const Counters counters;
  Hold({2}, 9);
  ExpectSackOf(0, {2});
  ExpectShed(counters, 1);
  Hold({4}, 1);
  ExpectSackOf(0, {4});
  Hold({2}, 1);
  ExpectSackOf(0, {2, 4});
}

// What waits for a receiver that is not ready is no different.
TEST_P(RcShed, RefusedRequestIsTakenWithoutWhatWasBehindIt) {
  Start();
  const Counters counters;
  Send(SendMessage(PeerPsn(0), Bytes(16, 1), mtu()));
  const Packet nak = peer().Expect();
  ASSERT_TRUE(nak.aeth);
  EXPECT_EQ(roce::KindOf(nak.aeth->syndrome), roce::AethKind::kRnrNak);
  Hold({1, 2}, 9);
  ExpectShed(counters, 2);
  peer().Drain();  // where they came late, a NAK
  ep().PostRecv(7, 0, 64);
  Send(SendMessage(PeerPsn(0), Bytes(16, 1), mtu()));
  ExpectReceived(7, 16);
  Hold({1, 2}, 1);
  ExpectAckedUpTo(PeerPsn(2), 3);
  EXPECT_EQ(ep().Copy(kPlace, 16), Bytes(16, 1));
}

// Else it would be taken again at once. That ends after a second, which a machine that is busy may
// have missed.
TEST_P(RcShed, LessIsHeldForAWhile) {
  constexpr int kMany = 100, kTries = 10;
  constexpr std::chrono::seconds kScarce{1};
  using Clock = std::chrono::steady_clock;
  uint64_t few = 0;
  for (int i = 0; i < kTries && !HasFailure(); ++i) {
    Restart({.mtu = 4096});
    const Counters counters;
    Hold({1}, 1);
    ExpectNakOf(0);
    const Clock::time_point began = Clock::now();
    ExpectShed(counters, 1);
    for (int psn = 1; psn <= kMany; ++psn) Send(WriteTo(psn, 1, 0, mtu()));
    EXPECT_TRUE(counters.Grew("out_of_sequence", 1 + kMany));
    few = counters.Growth("rcvd_held") - 1;
    if (Clock::now() < began + kScarce) break;
  }
  EXPECT_GT(few, 10u);
  EXPECT_LT(few, uint64_t{kMany} / 2);
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  const Counters counters;
  for (int psn = 1; psn <= kMany; ++psn) Send(WriteTo(psn, 1, 0, mtu()));
  EXPECT_TRUE(counters.Grew("rcvd_held", kMany - few));
  EXPECT_EQ(counters.Growth("rcvd_hold_full"), 0u);
}

}  // namespace
}  // namespace wire
