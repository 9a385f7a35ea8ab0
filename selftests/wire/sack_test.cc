// SPDX-License-Identifier: GPL-2.0-only
// SACK packets: who is sent them, what they say, and what follows from them.
#include <chrono>
#include <numeric>
#include <optional>
#include <thread>

#include <roce/sack.h>

#include "counters.h"
#include "recovery.h"

namespace wire {
namespace {

using roce::Sack;
using roce::SackKind;

bool IsSackPacket(const Packet& packet) { return packet.bth.opcode == roce::kOpcodeSack; }

class RcSack : public LongPathTest {
 protected:
  // A long path, to a peer that was met, on which `sq_psn` is DevPsn(0).
  void StartAt(uint32_t sq_psn = 0x00a000, uint8_t retry_cnt = 7) {
    StartMet({.sq_psn = roce::PsnAdd(sq_psn, -1), .retry_cnt = retry_cnt});
  }
  // There, what a busy machine may be too slow for: to see the end of it before all is lost again.
  // Then once more. To read the counters takes a part of that time, so it is done before.
  template <typename Body>
  void Briefly(uint32_t sq_psn, Body body) {
    for (int turn = 0; turn < 10; ++turn) {
      StartAt(sq_psn);
      before_.emplace();
      const Clock::time_point start = Clock::now();
      body();
      if (Clock::now() - start < kLost) return;
    }
    ADD_FAILURE() << "never within " << kLost.count() << " ms";
  }
  void SendSack(uint32_t psn, const Sack& sack) { peer().Send(roce::EncodeSack(psn, sack)); }
  std::optional<Sack> ExpectSack(uint32_t psn) {
    const Packet packet = peer().Expect();
    EXPECT_TRUE(IsSackPacket(packet)) << packet.ToString();
    EXPECT_EQ(packet.bth.psn, psn);
    EXPECT_FALSE(packet.bth.ack_req);
    return roce::DecodeSack(packet);
  }
  void ExpectHeld(int psn, const std::set<uint32_t>& held) {
    const std::optional<Sack> sack = ExpectSack(PeerPsn(psn));
    ASSERT_TRUE(sack);
    EXPECT_EQ(sack->kind, SackKind::kHeld);
    EXPECT_EQ(sack->held, held);
  }
  // SENDs of one packet each, all of which arrive here.
  void PostSends(int first, int num) {
    for (int i = first; i < first + num; ++i) {
      ep().PostSend(static_cast<uint64_t>(i), 0, 16);
      EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn(i)));
    }
  }
  // Of `psn` and what follows it the peer has only what is `held`.
  void SendHeld(int psn, const std::set<uint32_t>& held, uint32_t twice = 0) {
    SendSack(DevPsn(psn), {SackKind::kHeld, 3584, twice, held});
  }
  void ExpectAgain(const std::vector<int>& psns) {
    for (int psn : psns) EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn(psn)));
  }
  // So many as a test counts with, and what is too many.
  std::vector<uint32_t> DrainPsns(size_t num) {
    std::vector<uint32_t> psns;
    while (psns.size() < num) psns.push_back((peer().Expect().bth.psn - DevPsn()) & roce::kPsnMask);
    for (const Packet& packet : peer().Drain(Quiet()))
      psns.push_back((packet.bth.psn - DevPsn()) & roce::kPsnMask);
    return psns;
  }
  // A SEND that finds no receive. The peer has waited as long as it was told after kWaited.
  static constexpr uint8_t kTold = 28;  // 164 ms
  static constexpr std::chrono::milliseconds kWaited{180};
  void ExpectRefused(int psn) {
    Send(SendMessage(PeerPsn(psn), Bytes(16, 0), mtu()));
    EXPECT_THAT(peer().Expect(), IsNak(PeerPsn(psn), roce::RnrNak(kTold)));
  }
  void ExpectAllSent(int num) {
    peer().Send(Ack(DevPsn(num - 1), static_cast<uint32_t>(num)));
    for (int i = 0; i < num; ++i) ExpectSent(static_cast<uint64_t>(i), IBV_WC_SEND);
  }

  std::optional<Counters> before_;
};
SRN_ANY_IP_VERSION(RcSack);

// Each batch of early packets is answered with all that is held.
TEST_P(RcSack, WhatIsHeldIsTold) {
  Start({.rq_psn = 0xfffffe});
  Greet();
  const Counters counters;
  Send(WriteTo(2, 2));
  ExpectHeld(0, {2});
  Send(WriteTo(5, 5));
  ExpectHeld(0, {2, 5});
  Send(WriteTo(40, 4));
  ExpectHeld(0, {2, 5, 40});
  Send(WriteTo(0, 0));
  ExpectHeld(1, {1, 4, 39});
  Send(WriteTo(1, 1));
  ExpectHeld(3, {2, 37});
  EXPECT_EQ(counters.Growth("sent_sack"), 5u);
  EXPECT_EQ(counters.Growth("sent_nak"), 0u);
  for (int i : {3, 4}) Send(WriteTo(i, 1));
  for (const Packet& packet : peer().Drain()) EXPECT_TRUE(IsSackPacket(packet) || packet.aeth);
  for (int i = 6; i < 40; ++i) Send(WriteTo(i, 1));
  peer().Drain();
  ExpectResponderWorks(PeerPsn(41), 41);
}

// Of a READ all PSNs that its answer will have.
TEST_P(RcSack, ReadIsToldWithThePsnsOfItsAnswer) {
  Start();
  Greet();
  peer().Send(ReadRequest(PeerPsn(1), Reth(kPlace, 3 * mtu())));
  ExpectHeld(0, {1, 2, 3});
}

TEST_P(RcSack, PacketsThatComeTwiceAreCounted) {
  Start();
  Greet();
  Send(WriteTo(0, 0));
  ExpectAckedUpTo(PeerPsn(0), 1);
  Send(WriteTo(2, 2));
  ExpectHeld(1, {1});
  Send(WriteTo(2, 2));
  std::optional<Sack> sack = ExpectSack(PeerPsn(1));
  ASSERT_TRUE(sack);
  EXPECT_EQ(sack->twice, 1u);
  // Later than another SACK may be, or the ACK that it asks for is the first of the two.
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  Send(WriteTo(0, 0));
  sack = ExpectSack(PeerPsn(1));
  ASSERT_TRUE(sack);
  EXPECT_EQ(sack->twice, 2u);
}

// All that is missing, each once, however many holes there are.
TEST_P(RcSack, HolesGoAgainAtOnce) {
  const std::set<uint32_t> held = {1, 2, 3, 6, 10, 11, 12, 13};
  std::vector<uint32_t> again, more;
  Briefly(0xfffff8, [&] {
    PostSends(0, 16);
    SendHeld(2, held);
    again = DrainPsns(6);
    SendHeld(2, held);
    more = DrainPsns(0);
    ExpectAllSent(16);
  });
  EXPECT_EQ(again, (std::vector<uint32_t>{2, 6, 7, 9, 10, 11}));
  EXPECT_EQ(more, std::vector<uint32_t>());
  EXPECT_EQ(before_->Growth("sack_retrans"), 6u);
  EXPECT_EQ(before_->Growth("retransmitted_pkts"), 6u);
  EXPECT_EQ(before_->Growth("local_ack_timeout_err"), 0u);
}

TEST_P(RcSack, NewRequestsGoOnBesideHoles) {
  StartAt();
  PostSends(0, 4);
  SendHeld(0, {1, 3});
  ExpectAgain({0, 2});
  PostSends(4, 4);
  ExpectAllSent(8);
}

// What left later has come: the second try is lost, too.
TEST_P(RcSack, WhatIsLostAgainGoesAgain) {
  StartAt();
  PostSends(0, 4);
  SendHeld(0, {2, 3});
  ExpectAgain({0, 1});
  PostSends(4, 1);
  SendHeld(1, {1, 2, 3});
  ExpectAgain({1});
  ExpectAllSent(5);
}

// A peer may drop what it had, and say so: by what it names, not only by silence.
TEST_P(RcSack, RenegedPacketsThatAreNamedComeAtOnce) {
  StartAt();
  PostSends(0, 6);
  SendHeld(0, {1, 2, 3, 4, 5});
  ExpectAgain({0});
  SendHeld(1, {1, 4});
  ExpectAgain({1, 3, 4});
  ExpectNoneAgain();
  ExpectAllSent(6);
}

// All of it, and who holds nothing any more has but a NAK to say so: it comes, more each time, and
// no retry is needed.
TEST_P(RcSack, RenegedPacketsThatANakNamesCome) {
  StartAt(0x00a000, 0);
  const Counters counters;
  PostSends(0, 6);
  SendHeld(0, {1, 2, 3, 4, 5});
  ExpectAgain({0});
  peer().Send(Nak(DevPsn(1), 1, roce::kNakSequence));
  ExpectAgain({1});
  peer().Send(Ack(DevPsn(1), 2));
  ExpectAgain({2, 3});
  peer().Send(Ack(DevPsn(3), 4));
  ExpectAgain({4, 5});
  ExpectAllSent(6);
  EXPECT_EQ(counters.Growth("local_ack_timeout_err"), 0u);
}

// A peer may drop what it had, and say nothing: a probe finds out.
TEST_P(RcSack, RenegedPacketsComeAgain) {
  Start({.timeout = 14});
  Greet();
  PostSends(0, 5);
  SendHeld(0, {2, 3, 4});
  ExpectAgain({0, 1});
  int next = 0;
  for (int i = 0; i < 100 && next < 5 && !HasFailure(); ++i) {
    if (peer().Expect().bth.psn != DevPsn(next)) continue;
    peer().Send(Ack(DevPsn(next), static_cast<uint32_t>(next + 1)));
    ++next;
  }
  EXPECT_EQ(next, 5);
  for (uint64_t id = 0; id < 5; ++id) ExpectSent(id, IBV_WC_SEND);
}

// It may be all of a window that ends with a READ. Here the peer says nothing of what it dropped;
// of what it has it tells, as ever. Without more a packet would come for each probe.
TEST_P(RcSack, RenegedPacketsInFrontOfAReadComeAgainSoon) {
  constexpr int kSends = 10;
  Start({.timeout = 20, .retry_cnt = 0});
  Greet();
  const Counters counters;
  for (uint64_t id = 0; id < kSends; ++id) ep().PostSend(id, 0, 16);
  PostRead(kSends, 16);
  // All that is here. Where the machine is slow, something came twice.
  std::set<uint32_t> held;
  while (held.size() <= kSends && !HasFailure())
    held.insert((peer().Expect().bth.psn - DevPsn()) & roce::kPsnMask);
  held.erase(0);
  SendHeld(0, held);
  held.clear();
  int next = 0;
  while (next <= kSends && !HasFailure()) {
    const int psn = static_cast<int>((peer().Expect().bth.psn - DevPsn()) & roce::kPsnMask);
    if (psn > next) {
      held.insert(static_cast<uint32_t>(psn));
      std::set<uint32_t> ahead;
      for (const uint32_t early : held) ahead.insert(early - static_cast<uint32_t>(next));
      SendHeld(next, ahead);
      continue;
    }
    if (psn == next) {
      do ++next;
      while (held.erase(static_cast<uint32_t>(next)));
    }
    if (next > kSends)
      Send(ReadResponses(DevPsn(kSends), Bytes(16, 1), mtu(), kSends + 1));
    else
      peer().Send(Ack(DevPsn(next - 1), static_cast<uint32_t>(next)));
  }
  for (uint64_t id = 0; id < kSends; ++id) ExpectSent(id, IBV_WC_SEND);
  ExpectSent(kSends, IBV_WC_RDMA_READ);
  // Two, and what a machine takes that is busy.
  EXPECT_LE(counters.Growth("sent_probes"), uint64_t{kSends / 2});
  EXPECT_EQ(counters.Growth("local_ack_timeout_err"), 0u);
}

// On a path that reorders, a hole has time to close.
TEST_P(RcSack, SpuriousResendsTeachPatience) {
  StartAt();
  const Counters counters;
  PostSends(0, 4);
  SendHeld(0, {2});
  ExpectAgain({0, 1});
  peer().Send(Ack(DevPsn(3), 4));
  PostSends(4, 4);
  SendHeld(4, {2}, 2);
  ExpectAgain({4, 5});
  EXPECT_EQ(counters.Growth("sack_retrans_spurious"), 2u);
  ExpectAllSent(8);
}

// What can't be, or is not of this kind, changes nothing.
TEST_P(RcSack, NonsenseIsIgnored) {
  StartAt();
  PostSends(0, 4);
  Packet packet = roce::EncodeSack(DevPsn(0), {SackKind::kHeld, 3584, 0, {1, 2}});
  packet.payload[0] ^= 1;
  peer().Send(packet);
  packet = roce::EncodeSack(DevPsn(0), {SackKind::kHeld, 3584, 0, {1, 2}});
  packet.payload.resize(8);
  peer().Send(packet);
  packet.payload.clear();
  peer().Send(packet);
  SendSack(DevPsn(0), {static_cast<SackKind>(77), 0, 0, {1, 2}});
  SendSack(DevPsn(100), {SackKind::kHeld, 3584, 0, {1, 2}});
  SendSack(DevPsn(-1), {SackKind::kHeld, 3584, 0, {1, 2}});
  ExpectNoneAgain();
  // More than is out, and as much as fits.
  std::set<uint32_t> all;
  for (uint32_t i = 1; i < 4000; ++i) all.insert(i);
  SendSack(DevPsn(3), {SackKind::kHeld, 0, 0xffffffff, all});
  // What it is the NAK of is in flight.
  ExpectAgain({3});
  ExpectNoneAgain();
  ExpectAllSent(4);
  ExpectResponderWorks(PeerPsn(), 0);
}

// A device of before: it holds 3584 PSNs, and writes and reads 128 words. It is told more than it
// knows, too.
TEST_P(RcSack, WhoKnowsLessOfItIsServed) {
  constexpr uint32_t kAhead = 3584, kBits = 128 * 32;
  StartMet({.sq_psn = 0x009fff, .retry_cnt = 7}, {.ahead = kAhead});
  PostSends(0, 8);
  std::set<uint32_t> all;
  for (uint32_t i = 1; i <= kBits; ++i)
    if (i != 3) all.insert(i);
  SendSack(DevPsn(), {SackKind::kHeld, kAhead, 0, all});
  ExpectAgain({0, 3});
  ExpectNoneAgain();
  ExpectAllSent(8);
  Send(WriteTo(7680, 1));
  const std::optional<Sack> sack = ExpectSack(PeerPsn());
  ASSERT_TRUE(sack);
  EXPECT_EQ(sack->ahead, 7680u);
  EXPECT_EQ(sack->held, (std::set<uint32_t>{7680}));
}

// Who was asked answers with a SACK as well: its answer may be lost, and NAKs it sends none.
TEST_P(RcSack, SackIsAnAnswerToo) {
  Start(Patient());
  const Counters counters;
  ep().PostSend(0, 0, 16);
  ep().PostSend(1, 0, 16);
  peer().Drain();
  SendHeld(0, {1});
  ExpectAgain({0});
  ExpectAllSent(2);
  EXPECT_GE(counters.Growth("sack_retrans"), 1u);
  EXPECT_EQ(counters.Growth("rcvd_bad_response"), 0u);
  peer().Drain();  // it may have gone once more before the ACK came
  // It is told by SACKs from here on.
  Send(WriteTo(1, 1));
  ExpectHeld(0, {1});
}

// It brings no data, so a router's mark on it (ECN: CE) is told to nobody.
TEST_P(RcSack, MarkedDrawsNoCnp) {
  Start(Patient());
  Greet();
  const Counters counters;
  net::Datagram marked = peer().Seal(roce::EncodeSack(DevPsn(), {SackKind::kHeld, 3584, 0, {1}}));
  marked.tos = 3;
  peer().SendDatagram(marked);
  peer().ExpectNothing();
  EXPECT_TRUE(counters.Grew("np_ecn_marked_roce_packets"));
  EXPECT_EQ(counters.Growth("np_cnp_sent"), 0u);
}

// Who sends nothing again for many SACKs, and for longer than any path takes, may not have heard
// that there are any.
TEST_P(RcSack, WhoDoesNotListenIsToldPlainlyOnce) {
  Start();
  Greet();
  for (int i = 1; i <= 20; ++i) {
    if (i == 9) std::this_thread::sleep_for(std::chrono::milliseconds(250));
    Send(WriteTo(i, 1));
    EXPECT_TRUE(ExpectSack(PeerPsn()));
    if (i == 9) EXPECT_THAT(peer().Expect(), IsNak(PeerPsn(), roce::kNakSequence));
  }
  Send(WriteTo(0, 1));
  ExpectAckedUpTo(PeerPsn(20), 21);
}

// What is held when the peer is met it is told as well.
TEST_P(RcSack, WhatWasHeldBeforeIsTold) {
  Start();
  Send(WriteTo(2, 2));
  EXPECT_THAT(peer().Expect(), IsNak(PeerPsn(), roce::kNakSequence));
  Greet();
  Send(WriteTo(4, 4));
  ExpectHeld(0, {2, 4});
}

// However fast packets come, SACKs are 50 us apart; the last one says all.
TEST_P(RcSack, SacksAreLimitedInTime) {
  Start();
  Greet();
  std::set<uint32_t> all;
  std::vector<Packet> packets;
  for (uint32_t i = 1; i <= 300; ++i) {
    const std::vector<Packet> message = WriteTo(static_cast<int>(i), 1);
    packets.insert(packets.end(), message.begin(), message.end());
    all.insert(i);
  }
  const Counters counters;
  const Clock::time_point start = Clock::now();
  Send(packets);
  std::optional<Sack> last;
  for (const Packet& packet : peer().Drain(Wire::Get().Patience(kAWhile)))
    if (IsSackPacket(packet)) last = roce::DecodeSack(packet);
  ASSERT_TRUE(last);
  EXPECT_EQ(last->held, all);
  // From the first packet to the last SACK, however long the device took for all of them.
  const auto took =
      std::chrono::duration_cast<std::chrono::microseconds>(peer().last_arrival() - start);
  EXPECT_LE(counters.Growth("sent_sack"), static_cast<uint64_t>(took.count() / 50 + 2));
  EXPECT_LE(counters.Growth("sent_nak"), 1u);
}

// The answer to a READ is lost, and a SEND behind it: both are asked for, and sent, again.
TEST_P(RcSack, HoleBehindAReadIsFilled) {
  StartAt();
  const Bytes data(16, 0x5a);
  PostRead(0, 16);
  ExpectReadRequest(DevPsn(0), 16);
  PostSends(1, 3);
  SendHeld(2, {1});
  bool read = false, send = false;
  for (int i = 0; i < 2; ++i) {
    const Packet packet = peer().Expect();
    read |= packet.bth.psn == DevPsn(0);
    send |= testing::Matches(IsRequest(Operation::kSendOnly, DevPsn(2)))(packet);
  }
  EXPECT_TRUE(read);
  EXPECT_TRUE(send);
  ExpectNoneAgain();
  Send(ReadResponses(DevPsn(0), data, mtu(), 2));
  ExpectSent(0, IBV_WC_RDMA_READ);
  peer().Send(Ack(DevPsn(3), 4));
  for (uint64_t id = 1; id < 4; ++id) ExpectSent(id, IBV_WC_SEND);
}

// There is none, and a SACK that says nothing new takes none.
TEST_P(RcSack, MoreSacksOfAGapCostNoRetry) {
  StartAt(0x00a000, 0);
  const Counters counters;
  PostSends(0, 4);
  SendHeld(0, {2});
  ExpectAgain({0, 1});
  for (int i = 0; i < 3; ++i) SendHeld(0, {2});
  ExpectNoneAgain();
  SendHeld(3, {});
  ExpectAgain({3});
  ExpectAllSent(4);
  EXPECT_EQ(counters.Growth("retransmitted_pkts"), 3u);
}

// While it waits, and when it need no longer: what was in front of the refused request is none that
// the peer went on with, and what was in flight behind it comes in its order, however late.
TEST_P(RcSack, WhatIsRefusedIsNoGap) {
  QpOptions options = Patient();
  options.min_rnr_timer = kTold;
  Start(options);
  Greet();
  Send(WriteTo(0, 1));
  EXPECT_THAT(peer().Expect(), IsAckWithMsn(PeerPsn(0), 1));
  ExpectRefused(1);
  Send(WriteTo(2, 2, 0));
  std::this_thread::sleep_for(kWaited);
  Send(WriteTo(0, 1));
  EXPECT_THAT(peer().Expect(), IsAckWithMsn(PeerPsn(0), 1));
  peer().ExpectNothing();
  Send(WriteTo(3, 3, 0));
  ExpectRefused(1);
  Send(WriteTo(2, 2, 0));
  std::this_thread::sleep_for(kWaited);
  Send(WriteTo(3, 3, 0));
  peer().ExpectNothing();
  Send(WriteTo(2, 2, 0));
  ExpectHeld(1, {1, 2});
  ep().PostRecv(0, kPlace, 64);
  Send(SendMessage(PeerPsn(1), Bytes(16, 0), mtu()));
  ExpectReceived(0, 16);
  ExpectAckedUpTo(PeerPsn(3), 4);
}

// It is nothing of a service that is not reliable.
TEST_P(RcSack, UnreliableConnectionsKnowNothingOfIt) {
  Start({.type = IBV_QPT_UC});
  const Counters counters;
  SendSack(PeerPsn(), {SackKind::kAnswer});
  peer().ExpectNothing();
  EXPECT_TRUE(counters.Grew("rcvd_bad_opcode"));
}

// In the other modes nobody asks, who answers is not heard, and a SACK says nothing.
TEST_P(RcSack, OtherModesKnowNothingOfIt) {
  for (const char* mode : {"gbn", "hold"}) {
    ASSERT_TRUE(SetRecovery(mode));
    Restart(Patient());
    const Counters counters;
    SendSack(DevPsn(), {SackKind::kAnswer});
    PostSends(0, 2);
    SendHeld(0, {1});
    EXPECT_TRUE(counters.Grew("rcvd_bad_opcode", 2));
    EXPECT_EQ(counters.Growth("rcvd_sack"), 0u);
    ExpectAllSent(2);
    peer().Drain();
    Send(WriteTo(1, 1));
    EXPECT_THAT(peer().Expect(), IsNak(PeerPsn(), roce::kNakSequence));
  }
}

}  // namespace
}  // namespace wire
