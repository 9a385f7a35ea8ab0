// SPDX-License-Identifier: GPL-2.0-only
// Requester: answers to READs are taken as they come, and only what is missing is asked for again.
#include <thread>

#include "counters.h"
#include "recovery.h"

namespace wire {
namespace {

// Of "hold"; on a long path where a probe would ask for what is on its way.
class RcEarly : public LongPathTest {
 protected:
  void SetUp() override { HoldTest::SetUp(); }
  // The packet of an answer that was asked for again from there on.
  Packet Again(Packet packet) {
    if (packet.bth.opcode == static_cast<uint8_t>(Operation::kReadResponseMiddle)) {
      packet.bth.opcode = static_cast<uint8_t>(Operation::kReadResponseFirst);
      packet.aeth = roce::Aeth{roce::kAckNoCredits, 1};
    }
    return packet;
  }
};
SRN_BOTH_IP_VERSIONS(RcEarly);

TEST_P(RcEarly, OnlyTheHoleIsNeeded) {
  Start({.sq_psn = 0xfffffe, .timeout = 20});
  const Counters counters;
  const uint32_t length = 5 * mtu() + 3;
  const Bytes data = Pattern(length);
  PostRead(1, length);
  ExpectReadRequest(DevPsn(0), length);
  const auto answer = ReadResponses(DevPsn(0), data, mtu(), 1);
  for (size_t i : {0, 2, 3, 4, 5}) peer().Send(answer[i]);
  ExpectReadRequest(DevPsn(1), length, mtu());
  ep().ExpectNoCompletion();
  peer().Send(Again(answer[1]));
  ExpectSent(1, IBV_WC_RDMA_READ);
  ExpectPlaced(kPlace, data, 0);
  EXPECT_EQ(counters.Growth("rcvd_early_responses"), 4u);
}

// What finds no memory of ours was not taken, early or not.
TEST_P(RcEarly, WhatCantBePlacedIsNotTaken) {
  Start({.timeout = 20});
  const uint32_t length = 3 * mtu();
  ibv_sge bad = ep().mr().Slice(kPlace + mtu(), 2 * mtu());
  bad.lkey ^= 0x5a5a5a00;
  ep().Post(SendWr::Read(1, {ep().mr().Slice(kPlace, mtu()), bad}, {kRemoteVa, kRemoteKey}));
  ExpectReadRequest(DevPsn(0), length);
  const auto answer = ReadResponses(DevPsn(0), Pattern(length), mtu(), 1);
  peer().Send(answer[1]);
  peer().Send(answer[2]);
  ExpectReadRequest(DevPsn(0), length);
  peer().Send(answer[0]);
  ep().ExpectNoCompletion();
  peer().Send(answer[1]);
  ExpectSendFails(1, IBV_WC_LOC_PROT_ERR);
}

// What was asked for again brings all that follows: the next hole is in it.
TEST_P(RcEarly, SecondHoleIsNotAskedForTwice) {
  MakeLongPath([&] { Start({.timeout = 20}); });
  const uint32_t length = 6 * mtu();
  const Bytes data = Pattern(length);
  PostRead(1, length);
  ExpectReadRequest(DevPsn(0), length);
  const auto answer = ReadResponses(DevPsn(0), data, mtu(), 2);
  for (size_t i : {0, 2, 4, 5}) peer().Send(answer[i]);
  ExpectReadRequest(DevPsn(1), length, mtu());
  peer().Send(Again(answer[1]));
  peer().Send(answer[2]);
  peer().Send(answer[3]);
  ExpectSent(1, IBV_WC_RDMA_READ);
  ExpectNoneAgain();
  ExpectPlaced(kPlace, data, 0);
}

// Of what was asked for again the first packet is lost too: those behind it say so.
TEST_P(RcEarly, HoleThatIsLostAgainIsAskedForAgain) {
  Start({.timeout = 20, .retry_cnt = 0});
  const uint32_t length = 4 * mtu();
  PostRead(1, length);
  ExpectReadRequest(DevPsn(0), length);
  const auto answer = ReadResponses(DevPsn(0), Pattern(length), mtu(), 1);
  for (size_t i : {0, 2, 3}) peer().Send(answer[i]);
  ExpectReadRequest(DevPsn(1), length, mtu());
  for (int turn = 0; turn < 3; ++turn) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    peer().Send(answer[2]);
    ExpectReadRequest(DevPsn(1), length, mtu());
  }
  peer().Send(Again(answer[1]));
  ExpectSent(1, IBV_WC_RDMA_READ);
}

// The second READ is answered before the first: it completes behind it, and is not asked for again.
TEST_P(RcEarly, AnswersToLaterReadsAreKept) {
  MakeLongPath([&] { Start({.timeout = 20}); });
  const uint32_t length = 3 * mtu();
  const Bytes one = Pattern(length, 1), two = Pattern(length, 2);
  PostRead(1, length, kPlace);
  PostRead(2, length, 4 * kPlace);
  ExpectReadRequest(DevPsn(0), length);
  ExpectReadRequest(DevPsn(3), length);
  const auto first = ReadResponses(DevPsn(0), one, mtu(), 2);
  for (size_t i : {0, 1}) peer().Send(first[i]);
  Send(ReadResponses(DevPsn(3), two, mtu(), 3));
  ExpectReadRequest(DevPsn(2), length, 2 * mtu());
  peer().Send(ReadResponse(Operation::kReadResponseOnly, DevPsn(2), Bytes(first[2].payload), 2));
  ExpectSent(1, IBV_WC_RDMA_READ);
  ExpectSent(2, IBV_WC_RDMA_READ);
  EXPECT_EQ(ep().Copy(kPlace, length), one);
  EXPECT_EQ(ep().Copy(4 * kPlace, length), two);
  ExpectNoneAgain();
}

// An ACK of what is behind the hole is said once, and kept.
TEST_P(RcEarly, AcknowledgmentBehindTheHoleIsKept) {
  Start({.timeout = 20});
  PostRead(1, mtu());
  ep().PostSend(2, 0, 16);
  ExpectReadRequest(DevPsn(0), mtu());
  EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn(1)));
  peer().Send(Ack(DevPsn(1), 2));
  ExpectReadRequest(DevPsn(0), mtu());
  ep().ExpectNoCompletion();
  Send(ReadResponses(DevPsn(0), Pattern(mtu()), mtu(), 1));
  ExpectSent(1, IBV_WC_RDMA_READ);
  ExpectSent(2, IBV_WC_SEND);
}

// And so is a NAK, which comes once.
TEST_P(RcEarly, NakBehindTheHoleIsKept) {
  Start({.timeout = 20});
  PostRead(1, mtu());
  for (uint64_t id : {2, 3}) ep().PostSend(id, 0, 16);
  ExpectReadRequest(DevPsn(0), mtu());
  for (int i : {1, 2}) EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn(i)));
  peer().Send(Nak(DevPsn(1), 1, roce::kNakSequence));
  ExpectReadRequest(DevPsn(0), mtu());
  Send(ReadResponses(DevPsn(0), Pattern(mtu()), mtu(), 1));
  ExpectSent(1, IBV_WC_RDMA_READ);
  EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn(1)));
  peer().Send(Ack(DevPsn(2), 3));
  for (uint64_t id : {2, 3}) ExpectSent(id, IBV_WC_SEND);
}

// The answer to an atomic is not taken early: it is asked for again, when the READ is done.
TEST_P(RcEarly, AtomicBehindTheHoleIsAskedForAgain) {
  Start({.timeout = 20});
  PostRead(1, mtu());
  ep().Post(SendWr::FetchAdd(2, ep().mr().Slice(0, 8), {kRemoteVa, kRemoteKey}, 1));
  ExpectReadRequest(DevPsn(0), mtu());
  EXPECT_THAT(peer().Expect(), IsRequest(Operation::kFetchAdd, DevPsn(1)));
  peer().Send(AtomicAck(DevPsn(1), 77, 2));
  ExpectReadRequest(DevPsn(0), mtu());
  Send(ReadResponses(DevPsn(0), Pattern(mtu()), mtu(), 1));
  ExpectSent(1, IBV_WC_RDMA_READ);
  EXPECT_THAT(peer().Expect(), IsRequest(Operation::kFetchAdd, DevPsn(1)));
  peer().Send(AtomicAck(DevPsn(1), 77, 2));
  ExpectSent(2, IBV_WC_FETCH_ADD);
  EXPECT_EQ(ep().Load64(0), 77u);
}

// And so is what a later READ's answer says of a WRITE in front of it.
TEST_P(RcEarly, WriteBetweenReadsIsAcknowledgedByTheSecond) {
  Start({.timeout = 20});
  PostRead(1, mtu());
  ep().PostSend(2, 0, 16);
  PostRead(3, mtu(), 4 * kPlace);
  ExpectReadRequest(DevPsn(0), mtu());
  EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn(1)));
  ExpectReadRequest(DevPsn(2), mtu());
  Send(ReadResponses(DevPsn(2), Pattern(mtu(), 3), mtu(), 3));
  ExpectReadRequest(DevPsn(0), mtu());
  Send(ReadResponses(DevPsn(0), Pattern(mtu(), 1), mtu(), 1));
  ExpectSent(1, IBV_WC_RDMA_READ);
  ExpectSent(2, IBV_WC_SEND);
  ExpectSent(3, IBV_WC_RDMA_READ);
}

// What does not fit a READ at its PSN is not marked: when its turn comes it is judged.
TEST_P(RcEarly, WrongAnswerIsJudgedInItsTurn) {
  Start({.timeout = 20});
  const uint32_t length = 3 * mtu();
  PostRead(1, length);
  ExpectReadRequest(DevPsn(0), length);
  const auto answer = ReadResponses(DevPsn(0), Pattern(length), mtu(), 1);
  Packet wrong = answer[2];
  wrong.payload.resize(mtu() - 4);
  peer().Send(wrong);
  ExpectReadRequest(DevPsn(0), length);
  EXPECT_EQ(ep().State(), IBV_QPS_RTS);
  peer().Send(answer[0]);
  peer().Send(answer[1]);
  peer().Send(wrong);
  ExpectSendFails(1, IBV_WC_BAD_RESP_ERR);
}

}  // namespace
}  // namespace wire
