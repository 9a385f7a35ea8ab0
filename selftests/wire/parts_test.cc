// SPDX-License-Identifier: GPL-2.0-only
// Answers to READs between peers of which each answers every part that is asked for again: all that
// is missing is asked for at once and nothing else, and all that is asked for is answered, in
// order.
#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include <roce/sack.h>

#include "counters.h"
#include "recovery.h"

namespace wire {
namespace {

using roce::SackKind;

class RcParts : public LongPathTest {
 protected:
  // The peer says hello, and that it answers each part, or not.
  void StartParts(const QpOptions& options = {}, bool parts = true) {
    Restart(options);
    Greet({.parts = parts});
  }
  // The same on a long path.
  void StartLongParts(const QpOptions& options = {}, bool parts = true) {
    StartMet(options, {.parts = parts});
  }
  // Posts a READ of so many packets, the last of them short, of which all come but `lost`.
  void ReadBut(const std::set<int>& lost, int packets) {
    const uint32_t length = static_cast<uint32_t>(packets) * mtu() - 5;
    data_ = Pattern(length);
    PostRead(1, length);
    ExpectReadRequest(DevPsn(0), length);
    answer_ = ReadResponses(DevPsn(0), data_, mtu(), 1);
    for (int i = 0; i < packets; ++i)
      if (!lost.contains(i)) peer().Send(answer_[static_cast<size_t>(i)]);
  }
  // The READ is asked for again, so many packets of it from the `first` on.
  void ExpectPart(int first, int packets) {
    const Packet request = peer().Expect();
    EXPECT_THAT(request, IsRequest(Operation::kReadRequest, DevPsn(first)));
    if (!request.reth) return;
    const uint32_t skip = static_cast<uint32_t>(first) * mtu();
    EXPECT_EQ(request.reth->va, kRemoteVa + skip);
    EXPECT_EQ(request.reth->length, std::min(static_cast<uint32_t>(packets) * mtu(),
                                             static_cast<uint32_t>(data_.size()) - skip));
  }
  // And answered.
  void SendPart(int first, int packets) {
    const size_t skip = static_cast<size_t>(first) * mtu();
    const size_t end = std::min(skip + static_cast<size_t>(packets) * mtu(), data_.size());
    Send(ReadResponses(DevPsn(first), Bytes(data_.begin() + skip, data_.begin() + end), mtu(), 1));
  }
  void ExpectRead() {
    ExpectSent(1, IBV_WC_RDMA_READ);
    ExpectPlaced(kPlace, data_, 0);
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

  Bytes data_;
  std::vector<Packet> answer_;
  uint32_t length_ = 0;
};
SRN_ANY_IP_VERSION(RcParts);

// Each once, and nothing that is here.
TEST_P(RcParts, AllGapsAreAskedForAtOnce) {
  StartLongParts({.sq_psn = 0xfffffd});
  const Counters counters;
  ReadBut({0, 2, 3, 5}, 8);
  ExpectPart(0, 1);
  ExpectPart(2, 2);
  ExpectPart(5, 1);
  ExpectNoneAgain();
  ep().ExpectNoCompletion();
  SendPart(0, 1);
  SendPart(2, 2);
  SendPart(5, 1);
  ExpectRead();
  peer().ExpectNothing();
  EXPECT_EQ(counters.Growth("retransmitted_pkts"), 3u);
  EXPECT_EQ(counters.Growth("rcvd_early_responses"), 4u);
  EXPECT_EQ(counters.Growth("local_ack_timeout_err"), 0u);
}

// What was asked for later is here: what was asked for before is lost once more.
TEST_P(RcParts, WhatIsLostAgainIsAskedForAgain) {
  StartLongParts({.retry_cnt = 0});
  ReadBut({1, 3, 5}, 8);
  for (int gap : {1, 3, 5}) ExpectPart(gap, 1);
  SendPart(5, 1);
  for (int gap : {1, 3}) ExpectPart(gap, 1);
  SendPart(3, 1);
  ExpectPart(1, 1);
  SendPart(1, 1);
  ExpectRead();
}

// And so it is when a READ that was posted later is answered.
TEST_P(RcParts, LaterReadTellsOfWhatIsLostAgain) {
  StartLongParts({.retry_cnt = 0});
  ReadBut({1}, 4);
  ExpectPart(1, 1);
  PostRead(2, 8, 4 * kPlace);
  ExpectReadRequest(DevPsn(4), 8);
  Send(ReadResponses(DevPsn(4), Bytes(8, 9), mtu(), 2));
  ExpectPart(1, 1);
  ExpectNoneAgain();
  SendPart(1, 1);
  ExpectRead();
  ExpectSent(2, IBV_WC_RDMA_READ);
}

// A peer that does not say that it answers each part is asked for one gap, and all that follows.
TEST_P(RcParts, OthersAreAskedAsTheStandardHasIt) {
  StartLongParts({}, false);
  ReadBut({1, 3}, 6);
  ExpectPart(1, 5);
  ExpectNoneAgain();
  SendPart(1, 5);
  ExpectRead();
}

// A READ and an atomic whose answers are lost, with a SEND between them, which is not.
TEST_P(RcParts, AtomicIsAskedForWithTheRest) {
  StartLongParts();
  data_ = Pattern(mtu());
  PostRead(1, mtu());
  ep().PostSend(2, 0, 16);
  ep().Post(SendWr::FetchAdd(3, ep().mr().Slice(0, 8), {kRemoteVa, kRemoteKey}, 1));
  PostRead(4, 8, 4 * kPlace);
  ExpectReadRequest(DevPsn(0), mtu());
  EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn(1)));
  EXPECT_THAT(peer().Expect(), IsRequest(Operation::kFetchAdd, DevPsn(2)));
  ExpectReadRequest(DevPsn(3), 8);
  Send(ReadResponses(DevPsn(3), Bytes(8, 9), mtu(), 4));
  ExpectPart(0, 1);
  EXPECT_THAT(peer().Expect(), IsRequest(Operation::kFetchAdd, DevPsn(2)));
  ExpectNoneAgain();
  SendPart(0, 1);
  peer().Send(AtomicAck(DevPsn(2), 77, 3));
  ExpectRead();
  ExpectSent(2, IBV_WC_SEND);
  ExpectSent(3, IBV_WC_FETCH_ADD);
  ExpectSent(4, IBV_WC_RDMA_READ);
  EXPECT_EQ(ep().Load64(0), 77u);
}

// Twice, more than was asked for, and in the order that it likes: each byte is in its place.
TEST_P(RcParts, PeerMayAnswerAsItLikes) {
  StartLongParts();
  ReadBut({0, 1, 2, 4, 6}, 8);
  peer().Drain();
  for (int i = 0; i < 2; ++i) SendPart(6, 2);
  SendPart(2, 4);
  for (int i = 0; i < 2; ++i) SendPart(1, 1);
  peer().Send(roce::EncodeSack(DevPsn(7), {SackKind::kHeld, 3584, 0, {1, 2, 3}, false, true}));
  SendPart(0, 1);
  ExpectRead();
  EXPECT_EQ(ep().State(), IBV_QPS_RTS);
}

// Who answers a little now and then, and never what is oldest, has no more time for it than others.
TEST_P(RcParts, TrickleIsNoProgress) {
  // Of so long a one, as many are asked for at once.
  constexpr uint32_t kLong = 130, kPackets = 64;
  StartParts({.timeout = 14, .retry_cnt = 0});  // 67 ms
  // The path is short, and known to be: what is missing is asked for again and again.
  ep().PostSend(7, 0, 8);
  EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn(0)));
  peer().Send(Ack(DevPsn(0), 1));
  ExpectSent(7, IBV_WC_SEND);
  const Counters counters;
  PostRead(1, kLong * mtu());
  const Packet request = peer().Expect();
  ASSERT_TRUE(request.reth);
  ASSERT_EQ(request.reth->length, kPackets * mtu());
  const auto answer = ReadResponses(DevPsn(1), Pattern(kPackets * mtu()), mtu(), 1);
  for (size_t i = 2; i < 60; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    peer().Send(answer[i]);
    peer().Forget();
  }
  ExpectSendFails(1, IBV_WC_RETRY_EXC_ERR);
  EXPECT_LT(counters.Growth("rcvd_early_responses"), 30u);
}

// None takes the place of another, whatever they have in common.
TEST_P(RcParts, EachPartIsAnsweredInOrder) {
  StartParts({.rq_psn = 0xfffffc});
  Answered(8);
  const Counters counters;
  AskFor(5, 1);
  AskFor(1, 3);
  AskFor(0, 2);
  AskFor(6, 2);
  AskFor(0, 8);
  ExpectAnswer(5, 1);
  ExpectAnswer(1, 3);
  ExpectAnswer(0, 2);
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
