// SPDX-License-Identifier: GPL-2.0-only
// What rdma_cm told of the peer (ECE) is known before the first packet: nobody is asked.
#include "counters.h"
#include "hello.h"

namespace wire {
namespace {

class RcHelloEce : public HelloTest {
 protected:
  void StartTold(uint32_t options) {
    QpOptions told = Patient();
    told.ece = options;
    Restart(told);
  }
};
SRN_ANY_IP_VERSION(RcHelloEce);

constexpr int kEct0 = 2;
constexpr uint32_t kAll = kEceSack | kEceTells | kEceParts;

TEST_P(RcHelloEce, GapIsToldByASackAtOnce) {
  StartTold(kAll);
  ExpectGapIsTold(0, true);
}

TEST_P(RcHelloEce, NobodyIsAsked) {
  StartTold(kAll);
  for (int i = 0; i < 40; ++i) SendAndAcknowledge(i);
  ExpectGapIsTold(0, true);
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
