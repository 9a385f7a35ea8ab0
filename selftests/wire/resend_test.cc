// SPDX-License-Identifier: GPL-2.0-only
// Requester: what is missing goes again, beside what goes on; and silence is asked about.
#include <thread>

#include "counters.h"
#include "recovery.h"

namespace wire {
namespace {

class RcResend : public HoldTest {
 protected:
  // SENDs of one packet each, all of which arrive here.
  void PostSends(int num) {
    last_psn_ = DevPsn(num - 1);
    for (int i = 0; i < num; ++i) ep().PostSend(static_cast<uint64_t>(i), 0, 16);
    for (int i = 0; i < num; ++i)
      EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn(i)));
  }
  void SendNakOf(int psn) { peer().Send(Nak(DevPsn(psn), 0, roce::kNakSequence)); }
  // Exactly these come again, and the last one asks for an ACK.
  void ExpectAgain(int first, int num) {
    for (int i = first; i < first + num; ++i) {
      Packet packet = peer().Expect();
      // Where the host is slow, a probe may come between.
      if (packet.bth.psn == last_psn_ || packet.bth.psn == before_)
        if (packet.bth.psn != DevPsn(i)) packet = peer().Expect();
      before_ = DevPsn(i);
      EXPECT_THAT(packet, IsRequest(Operation::kSendOnly, DevPsn(i)));
      if (i == first + num - 1) EXPECT_TRUE(packet.bth.ack_req);
    }
  }
  uint32_t last_psn_ = 0, before_ = 0;

  void ExpectAllSent(int num) {
    for (int i = 0; i < num; ++i) ExpectSent(static_cast<uint64_t>(i), IBV_WC_SEND);
  }
};
SRN_ANY_IP_VERSION(RcResend);

TEST_P(RcResend, OnlyWhatIsMissingGoesAgain) {
  Start(Patient(0xfffffe));
  PostSends(6);
  SendNakOf(1);
  ExpectAgain(1, 1);
  // A probe may come, of the same packet.
  peer().ExpectOnly(IsRequest(Operation::kSendOnly, DevPsn(1)), std::chrono::milliseconds(20));
  peer().Send(Ack(DevPsn(5), 6));
  ExpectAllSent(6);
}

TEST_P(RcResend, NextGapGoesWhenItIsNamed) {
  Start(Patient());
  PostSends(8);
  for (int gap : {0, 3, 6}) {
    SendNakOf(gap);
    ExpectAgain(gap, 1);
  }
  peer().Send(Ack(DevPsn(7), 8));
  ExpectAllSent(8);
}

// A peer that goes by the standard alone drops what follows a gap.
TEST_P(RcResend, PeerThatDropsGetsMoreAndMore) {
  Start(Patient());
  PostSends(16);
  int psn = 0;
  for (int run : {1, 2, 4, 8}) {
    SendNakOf(psn);
    ExpectAgain(psn, run);
    psn += run;
  }
  SendNakOf(psn);
  EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn(15)));
  peer().Send(Ack(DevPsn(15), 16));
  ExpectAllSent(16);
}

// What was sent for the gap is lost as well. That costs no retry, however often.
TEST_P(RcResend, SameGapAgainIsFilledAgain) {
  Start({.timeout = 20, .retry_cnt = 0});
  PostSends(4);
  for (int turn = 0; turn < 5; ++turn) {
    SendNakOf(0);
    ExpectAgain(0, 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  peer().Send(Ack(DevPsn(3), 4));
  ExpectAllSent(4);
}

// It took that one, dropped what had followed, and has nothing more to name a gap for.
TEST_P(RcResend, AckOfTheRunAloneMeansMore) {
  Start(Patient());
  PostSends(8);
  SendNakOf(0);
  ExpectAgain(0, 1);
  peer().Send(Ack(DevPsn(0), 1));
  ExpectAgain(1, 2);
  peer().Send(Ack(DevPsn(2), 3));
  ExpectAgain(3, 4);
  peer().Send(Ack(DevPsn(7), 8));
  ExpectAllSent(8);
}

// Nobody waits for its ACK, so that it need not ask; what became of it is found out all the same.
TEST_P(RcResend, LoneUnsignalledRequestIsAskedAboutInSilence) {
  Start({.timeout = 20, .signal_all = false});
  ep().Post(SendWr::Send(1, ep().Data(0, 8)));
  EXPECT_TRUE(peer().Expect().bth.ack_req);
  peer().Send(Ack(DevPsn(0), 1));
  ExpectSent(1, IBV_WC_SEND);
  ep().PostSend(2, 0, 8);
  Packet packet = peer().Expect();
  EXPECT_THAT(packet, IsRequest(Operation::kSendOnly, DevPsn(1)));
  EXPECT_FALSE(packet.bth.ack_req);
  packet = peer().Expect();
  EXPECT_THAT(packet, IsRequest(Operation::kSendOnly, DevPsn(1)));
  EXPECT_TRUE(packet.bth.ack_req);
  peer().Send(Ack(DevPsn(1), 2));
  ep().ExpectNoCompletion();
  // Since that was dearer than to ask, the next one does. Where the host is slow, it had asked
  // twice.
  ep().PostSend(3, 0, 8);
  do packet = peer().Expect();
  while (packet.bth.psn == DevPsn(1) && packet.bth.ack_req);
  EXPECT_THAT(packet, IsRequest(Operation::kSendOnly, DevPsn(2)));
  EXPECT_TRUE(packet.bth.ack_req);
  peer().Send(Ack(DevPsn(2), 3));
  EXPECT_EQ(ep().State(), IBV_QPS_RTS);
}

// Nobody gives up, and nobody waits for ever.
TEST_P(RcResend, WithoutATimeoutThereAreProbes) {
  Start({.timeout = 0, .retry_cnt = 0});
  PostSends(2);
  for (int psn : {1, 1, 0})
    EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn(psn)));
  peer().Send(Ack(DevPsn(1), 2));
  ExpectAllSent(2);
}

// New requests do not wait for the gap.
TEST_P(RcResend, NewRequestsGoOn) {
  Start(Patient());
  PostSends(2);
  SendNakOf(0);
  ExpectAgain(0, 1);
  ep().PostSend(2, 0, 16);
  EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn(2)));
  peer().Send(Ack(DevPsn(2), 3));
  ExpectAllSent(3);
}

TEST_P(RcResend, ReadThatWasLostGoesAgainWhole) {
  Start(Patient());
  const uint32_t length = 2 * mtu();
  PostRead(0, length, 0);
  EXPECT_THAT(peer().Expect(), IsRequest(Operation::kReadRequest, DevPsn(0)));
  ep().PostSend(1, 0, 16);
  EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn(2)));
  SendNakOf(0);
  const Packet again = peer().Expect();
  EXPECT_THAT(again, IsRequest(Operation::kReadRequest, DevPsn(0)));
  ASSERT_TRUE(again.reth);
  EXPECT_EQ(again.reth->length, length);
  Send(ReadResponses(DevPsn(0), Pattern(length), mtu(), 1));
  peer().Send(Ack(DevPsn(2), 2));
  ExpectSent(0, IBV_WC_RDMA_READ);
  ExpectSent(1, IBV_WC_SEND);
}

// A lost tail: long before the local ACK timeout (4.3 s), and with no retry to spend on it.
TEST_P(RcResend, TailIsAskedAbout) {
  Start({.timeout = 20, .retry_cnt = 0});
  const Counters counters;
  PostSends(3);
  const Packet probe = peer().Expect();
  EXPECT_THAT(probe, IsRequest(Operation::kSendOnly, DevPsn(2)));
  EXPECT_TRUE(probe.bth.ack_req);
  peer().Send(Ack(DevPsn(2), 3));
  ExpectAllSent(3);
  EXPECT_TRUE(counters.Grew("sent_probes"));
  EXPECT_EQ(counters.Growth("local_ack_timeout_err"), 0u);
}

// Of a READ that is last all of the answer would come again, and if the peer misses what is in
// front of it it would name nothing else.
TEST_P(RcResend, TailInFrontOfReadsIsAskedAbout) {
  Start({.timeout = 20, .retry_cnt = 0});
  for (uint64_t id = 0; id < 3; ++id) ep().PostSend(id, 0, 16);
  PostRead(3, 16);
  PostRead(4, 16);
  for (int i = 0; i < 3; ++i)
    EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn(i)));
  for (int i = 3; i < 5; ++i) ExpectReadRequest(DevPsn(i), 16);
  const Packet probe = peer().Expect();
  EXPECT_THAT(probe, IsRequest(Operation::kSendOnly, DevPsn(2)));
  EXPECT_TRUE(probe.bth.ack_req);
  Send(ReadResponses(DevPsn(3), Bytes(16, 1), mtu(), 4));
  Send(ReadResponses(DevPsn(4), Bytes(16, 1), mtu(), 5));
  ExpectAllSent(3);
  for (uint64_t id = 3; id < 5; ++id) ExpectSent(id, IBV_WC_RDMA_READ);
}

// Where there is nothing else, about the oldest.
TEST_P(RcResend, OldestReadIsAskedAbout) {
  Start({.timeout = 20, .retry_cnt = 0});
  for (uint64_t id = 0; id < 2; ++id) PostRead(id, 16);
  for (int psn : {0, 1, 0}) ExpectReadRequest(DevPsn(psn), 16);
  for (int i = 0; i < 2; ++i)
    Send(ReadResponses(DevPsn(i), Bytes(16, 1), mtu(), static_cast<uint32_t>(i + 1)));
  for (uint64_t id = 0; id < 2; ++id) ExpectSent(id, IBV_WC_RDMA_READ);
}

// The last one, both, the oldest, the last one twice and so on, each after twice the time but the
// second, until the timeout: bounded.
TEST_P(RcResend, ProbesBecomeRare) {
  Start({.timeout = 17, .retry_cnt = 0});
  const Counters counters;
  PostSends(3);
  ExpectSendFails(0, IBV_WC_RETRY_EXC_ERR);
  const std::vector<Packet> probes = peer().Drain();
  constexpr int kWhich[] = {2, 2, 0, 0, 2, 2, 0};
  ASSERT_GE(probes.size(), 4u);
  ASSERT_LE(probes.size(), std::size(kWhich));
  for (size_t i = 0; i < probes.size(); ++i)
    EXPECT_THAT(probes[i], IsRequest(Operation::kSendOnly, DevPsn(kWhich[i])));
  EXPECT_EQ(counters.Growth("local_ack_timeout_err"), 1u);
}

// The peer asked for time: nobody asks it anything before.
TEST_P(RcResend, PeerThatIsNotReadyIsNotProbed) {
  constexpr uint8_t kTold = 28;  // 164 ms
  Clock::time_point told;
  // A machine that stands still before it hears that has asked already: then once more.
  for (int tries = 0; tries < 5; ++tries) {
    Restart({.timeout = 20});
    const Counters counters;
    PostSends(1);
    told = Clock::now();
    peer().Send(Nak(DevPsn(0), 0, roce::RnrNak(kTold)));
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    if (counters.Growth("sent_probes") == 0) break;
  }
  EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn(0)));
  EXPECT_GE(peer().last_arrival() - told, roce::RnrDelay(kTold));
  peer().Send(Ack(DevPsn(0), 1));
  ExpectAllSent(1);
}

}  // namespace
}  // namespace wire
