// SPDX-License-Identifier: GPL-2.0-only
// Answers to READs between peers of which each answers every part that is asked for again, in order.
#include <algorithm>
#include <optional>

#include <roce/sack.h>

#include "counters.h"
#include "recovery.h"

namespace wire {
namespace {

using roce::Sack;
using roce::SackKind;

class RcParts : public HoldTest {
 protected:
  void SetUp() override { ASSERT_TRUE(SetRecovery("sack")); }

  // The peer says hello, and that it answers each part, or not.
  void StartParts(const QpOptions& options = {}, bool parts = true) {
    Restart(options);
    peer().Send(roce::EncodeSack(PeerPsn(), {SackKind::kHello, 3584, 0, {}, false, parts}));
    const std::optional<Sack> answer = roce::DecodeSack(peer().Expect());
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->kind, SackKind::kAnswer);
    EXPECT_TRUE(answer->parts);
  }

  // As a responder: a READ of the peer of so many packets, answered once.
  void Answered(int packets) {
    ep().FillPattern(0, kBufferSize);
    length_ = static_cast<uint32_t>(packets) * mtu() - 5;
    peer().Send(ReadRequest(PeerPsn(0), Reth(kPlace, length_)));
    ExpectAnswer(0, packets);
  }
  void AskFor(int first, int packets) {
    peer().Send(ReadRequest(PeerPsn(first), PartOf(first, packets)));
  }
  void ExpectAnswer(int first, int packets) {
    const roce::Reth part = PartOf(first, packets);
    const Bytes data = ep().Copy(part.va - ep().Va(), part.length);
    for (const Packet& want : ReadResponses(PeerPsn(first), data, mtu(), 1)) {
      const Packet got = peer().Expect();
      EXPECT_EQ(roce::OpcodeName(got.bth.opcode), roce::OpcodeName(want.bth.opcode));
      EXPECT_EQ(got.bth.psn, want.bth.psn);
      EXPECT_EQ(got.payload, want.payload);
    }
  }
  roce::Reth PartOf(int first, int packets) {
    const uint32_t skip = static_cast<uint32_t>(first) * mtu();
    return Reth(kPlace + skip, std::min(static_cast<uint32_t>(packets) * mtu(), length_ - skip));
  }

  uint32_t length_ = 0;
};
SRN_ANY_IP_VERSION(RcParts);

// None takes the place of another, whatever they have in common.
TEST_P(RcParts, EachPartIsAnsweredInOrder) {
  StartParts({.rq_psn = 0xfffffc});
  Answered(8);
  const Counters counters;
  AskFor(5, 1);
  AskFor(1, 3);
  AskFor(1, 3);
  AskFor(6, 2);
  AskFor(0, 8);
  ExpectAnswer(5, 1);
  ExpectAnswer(1, 3);
  ExpectAnswer(1, 3);
  ExpectAnswer(6, 2);
  ExpectAnswer(0, 8);
  peer().ExpectNothing();
  EXPECT_EQ(counters.Growth("duplicate_request"), 5u);
  EXPECT_EQ(counters.Growth("duplicate_read_full"), 0u);
  ExpectResponderWorks(PeerPsn(8), 1);
}

// Nor an atomic, which is done once.
TEST_P(RcParts, AtomicsAreAnsweredAmongThem) {
  StartParts();
  Answered(4);
  ep().Store64(0, 40);
  peer().Send(FetchAdd(PeerPsn(4), ep().Va(0), ep().rkey(), 2));
  const Packet first = peer().Expect();
  EXPECT_THAT(first, IsRequest(Operation::kAtomicAcknowledge, PeerPsn(4)));
  AskFor(1, 1);
  peer().Send(FetchAdd(PeerPsn(4), ep().Va(0), ep().rkey(), 2));
  AskFor(2, 1);
  ExpectAnswer(1, 1);
  const Packet again = peer().Expect();
  EXPECT_THAT(again, IsRequest(Operation::kAtomicAcknowledge, PeerPsn(4)));
  ASSERT_TRUE(again.atomic_ack);
  EXPECT_EQ(*again.atomic_ack, 40u);
  ExpectAnswer(2, 1);
  EXPECT_EQ(ep().Load64(0), 42u);
}

// What is no part of a READ that is known, or of one whose place another has taken.
TEST_P(RcParts, WhatWasNeverReadIsNotAnswered) {
  StartParts({.max_dest_rd_atomic = 1});
  Answered(4);
  peer().Send(ReadRequest(PeerPsn(1), Reth(kPlace, mtu())));
  peer().Send(ReadRequest(PeerPsn(3), Reth(kPlace + 3 * mtu(), mtu())));
  peer().Send(ReadRequest(PeerPsn(-1), Reth(kPlace, mtu())));
  peer().ExpectNothing();
  peer().Send(ReadRequest(PeerPsn(4), Reth(kPlace, 8)));
  EXPECT_THAT(peer().Expect(), IsRequest(Operation::kReadResponseOnly, PeerPsn(4)));
  AskFor(1, 1);
  peer().ExpectNothing();
  ExpectResponderWorks(PeerPsn(5), 2);
}

// Those of a standard peer, which has given up what it asked for before.
TEST_P(RcParts, OthersAreAnsweredWhatTheyAskedForLast) {
  Start();
  Answered(4);
  AskFor(3, 1);
  ExpectAnswer(3, 1);
  AskFor(1, 3);
  ExpectAnswer(1, 3);
}

}  // namespace
}  // namespace wire
