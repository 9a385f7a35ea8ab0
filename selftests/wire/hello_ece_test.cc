// SPDX-License-Identifier: GPL-2.0-only
// What rdma_cm told of the peer (ECE) is known before the first packet: nobody is asked, but on a
// long path.
#include <chrono>

#include "counters.h"
#include "hello.h"

namespace wire {
namespace {

class RcHelloEce : public HelloTest {
 protected:
  static constexpr uint32_t kAll = kEceSack | kEceTells | kEceParts;
  // On a path of 12.5 ms or more who was told of is asked, too.
  static constexpr std::chrono::milliseconds kNear{12};

  static QpOptions Told(uint32_t options) {
    QpOptions told = Patient();
    told.ece = options;
    return told;
  }
  void StartTold(uint32_t options) { Restart(Told(options)); }
  // A connection of which the first SEND was answered so soon that the path is short, whatever
  // follows. Where this machine was too busy for that, once more.
  void StartToldNear() {
    for (int turn = 0; turn < 20; ++turn) {
      StartTold(kAll);
      const auto begin = std::chrono::steady_clock::now();
      SendAndAcknowledge(0);
      if (std::chrono::steady_clock::now() - begin < kNear) return;
    }
    ADD_FAILURE() << "the test itself is never in time";
  }
  // The next packet but for SENDs in front of `psn` that come again: where this machine was late to
  // answer they were asked about.
  Packet ExpectNew(int psn) {
    Packet packet = peer().Expect();
    while (packet.info().operation == Operation::kSendOnly &&
           roce::PsnDiff(packet.bth.psn, DevPsn(psn)) < 0)
      packet = peer().Expect();
    return packet;
  }
};
SRN_ANY_IP_VERSION(RcHelloEce);

constexpr int kEct0 = 2;

TEST_P(RcHelloEce, GapIsToldByASackAtOnce) {
  StartTold(kAll);
  ExpectGapIsTold(0, true);
}

// Where it does not matter whether it has heard it of this side, too.
TEST_P(RcHelloEce, NobodyIsAsked) {
  constexpr int kSends = 40;
  StartToldNear();
  for (int i = 1; i < kSends; ++i) {
    ep().PostSend(static_cast<uint64_t>(i), 0, 16);
    EXPECT_THAT(ExpectNew(i), IsRequest(Operation::kSendOnly, DevPsn(i)));
    Acknowledge(i);
  }
  Send(WriteTo(1, 1));
  const Packet packet = ExpectNew(kSends);
  EXPECT_EQ(packet.bth.opcode, roce::kOpcodeSack) << packet.ToString();
}

TEST_P(RcHelloEce, OnALongPathIsAskedInTurn) {
  StartAnsweredLate([this] { PostSend(0); }, Told(kAll));
  Acknowledge(0);
  ExpectAnswerIsEnough();
}

// A SACK of the peer's that has not said hello, and was sent none, is heard.
TEST_P(RcHelloEce, SackIsHeard) {
  StartTold(kAll);
  const Counters counters;
  for (uint64_t i = 0; i < 3; ++i) ep().PostSend(i, 0, 16);
  for (int i = 0; i < 3; ++i)
    EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn(i)));
  peer().Send(roce::EncodeSack(DevPsn(0), {roce::SackKind::kHeld, 3584, 0, {0x3}}));
  EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn(0)));
  peer().Send(Ack(DevPsn(2), 3));
  for (uint64_t i = 0; i < 3; ++i) ExpectSent(i, IBV_WC_SEND);
  EXPECT_EQ(counters.Growth("retransmitted_pkts"), 1u);
}

// Data may be marked to who tells of marks, and to nobody else.
TEST_P(RcHelloEce, WhoTellsOfMarksMayBeMarked) {
  for (const bool tells : {true, false}) {
    StartTold(kEceSack | (tells ? kEceTells : 0));
    ep().PostSend(0, 0, 16);
    EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn(0)));
    EXPECT_EQ(peer().last().datagram.tos & 3, tells ? kEct0 : 0);
  }
}

// UCX 1.22 tells a QP its own options, of whomever it connects to.
TEST_P(RcHelloEce, OnesOwnSayNothing) {
  QpOptions own = Patient();
  own.ece = kAll;
  own.ece_own = true;
  Start(own);
  ExpectGapIsTold(0, false);
}

// Another vendor's device is there: a stranger, who may be asked.
TEST_P(RcHelloEce, WhoHasNoneIsAStranger) {
  StartTold(0);
  ExpectGapIsTold(0, false);
  StartTold(kEceTells | kEceParts | 1u << 31);
  ExpectGapIsTold(0, false);
}

}  // namespace
}  // namespace wire
