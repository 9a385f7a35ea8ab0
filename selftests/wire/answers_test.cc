// SPDX-License-Identifier: GPL-2.0-only
// Answers at the edges: which check decides, where a refusal may stand, and what of an answer is
// believed. IBTA vol. 1, 9.7.4 and 9.7.5.
#include <algorithm>

#include "counters.h"
#include "fixture.h"

namespace wire {
namespace {

constexpr uint32_t kLargest = 1u << 31;

class Answers : public WireTest {
 protected:
  uint32_t NoKey() const { return ep_rkey() ^ 0x5a5a5a00; }
  void ExpectRefused(const Packet& request, uint8_t syndrome) {
    peer().Send(request);
    EXPECT_THAT(peer().Expect(), IsNak(request.bth.psn, syndrome));
    EXPECT_TRUE(ep().ReachesState(IBV_QPS_ERR));
  }
  // A READ of three packets is on the wire.
  void StartRead() {
    Start({.timeout = 0});
    ep().Post(SendWr::Read(1, ep().Data(0, 3 * mtu()), {0x1000, 1}));
    EXPECT_THAT(peer().Expect(), IsRequest(Operation::kReadRequest, DevPsn()));
  }

 private:
  uint32_t ep_rkey() const { return const_cast<Answers*>(this)->ep().rkey(); }
};
SRN_BOTH_IP_VERSIONS(Answers);

TEST_P(Answers, MessageOfMoreThan2GiBIsAnInvalidRequest) {
  Start();
  ExpectRefused(ReadRequest(PeerPsn(), Reth(kPlace, kLargest + 1)), roce::kNakInvalidRequest);
  Restart();
  ExpectRefused(
      Write(Operation::kWriteFirst, PeerPsn(), Pattern(mtu()), Reth(kPlace, kLargest + 1)),
      roce::kNakInvalidRequest);
}

// As long as a message may be, but the region is shorter.
TEST_P(Answers, MessageOf2GiBIsMeasuredByItsRegion) {
  Start();
  ExpectRefused(ReadRequest(PeerPsn(), Reth(kPlace, kLargest)), roce::kNakRemoteAccess);
  Restart();
  ExpectRefused(Write(Operation::kWriteFirst, PeerPsn(), Pattern(mtu()), Reth(kPlace, kLargest)),
                roce::kNakRemoteAccess);
}

TEST_P(Answers, AlignmentIsLookedAtBeforeTheKey) {
  Start();
  ExpectRefused(FetchAdd(PeerPsn(), ep().Va(kPlace + 4), NoKey(), 1), roce::kNakInvalidRequest);
}

// Of two faults each may be told.
TEST_P(Answers, ReadWithoutResourcesIsRefused) {
  Start({.max_dest_rd_atomic = 0});
  peer().Send(ReadRequest(PeerPsn(), {ep().Va(kPlace), NoKey(), 8}));
  EXPECT_THAT(peer().Expect(), testing::AnyOf(IsNak(PeerPsn(), roce::kNakRemoteAccess),
                                              IsNak(PeerPsn(), roce::kNakInvalidRequest)));
  EXPECT_TRUE(ep().ReachesState(IBV_QPS_ERR));
  Restart({.max_dest_rd_atomic = 0});
  ExpectRefused(ReadRequest(PeerPsn(), Reth(kPlace, 8)), roce::kNakInvalidRequest);
}

TEST_P(Answers, SendThatIsOneByteTooLong) {
  Start();
  ep().Fill(0xee);
  ep().PostRecv(1, kPlace, 63);
  Send(SendMessage(PeerPsn(), Pattern(64), mtu()));
  EXPECT_THAT(peer().Expect(), IsNak(PeerPsn(), roce::kNakInvalidRequest));
  EXPECT_EQ(ep().WaitRecv().status, IBV_WC_LOC_LEN_ERR);
  EXPECT_EQ(ep().Copy(kPlace, 64), Bytes(64, 0xee));
}

// Each packet's own bytes are proven: the region may have become shorter since the first.
TEST_P(Answers, RegionThatShrinksUnderAMessageEndsIt) {
  Start();
  ep().Fill(0xee);
  const auto write = WriteMessage(PeerPsn(), Pattern(3 * mtu()), mtu(), ep().Va(0), ep().rkey());
  peer().Send(write[0]);
  ASSERT_EQ(ibv_rereg_mr(ep().mr().get(), IBV_REREG_MR_CHANGE_TRANSLATION, nullptr,
                         ep().Memory(0, 1).data(), mtu(), 0),
            0);
  peer().Send(write[1]);
  EXPECT_THAT(peer().Expect(), IsNak(PeerPsn(1), roce::kNakRemoteAccess));
  EXPECT_EQ(ep().Copy(mtu(), 2 * mtu()), Bytes(2 * mtu(), 0xee));
}

// The MSN of an ACK inside of a message is that of the one before.
TEST_P(Answers, MessageIsCountedWhenItIsWhole) {
  Start();
  auto write = WriteMessage(PeerPsn(), Pattern(2 * mtu()), mtu(), ep().Va(kPlace), ep().rkey());
  write[0].bth.ack_req = true;
  peer().Send(write[0]);
  ExpectAckedUpTo(PeerPsn(0), 0);
  peer().Send(write[1]);
  ExpectAckedUpTo(PeerPsn(1), 1);
}

// C9-105 has each duplicate acknowledged, as rxe does it; srn is silent where nobody asks. Either
// way it is not done again, nor refused.
TEST_P(Answers, DuplicateThatAsksForNoAckMayGetOne) {
  Start();
  const auto write = WriteMessage(PeerPsn(), Pattern(8), mtu(), ep().Va(kPlace), ep().rkey());
  Send(write);
  ExpectAckedUpTo(PeerPsn(), 1);
  ep().Fill(0xee);
  peer().Send(WithoutAckReq(write[0]));
  ExpectResponderWorks(PeerPsn(1), 1);
  EXPECT_EQ(ep().Copy(kPlace, 8), Bytes(8, 0xee));
}

// The QPN of a datagram's sender has 24 bits; what stands above them is reserved.
TEST_P(Answers, ReservedBitsAboveTheSendersQpnAreNotLookedAt) {
  Start({.type = IBV_QPT_UD, .mtu = 4096});
  ep().PostRecv(1, kPlace, 1024);
  Packet p = Request(Operation::kSendOnly, 1, Pattern(8), Service::kUd);
  p.deth = roce::Deth{ep().options().qkey, peer().qpn()};
  net::Datagram d = peer().Seal(p);
  d.payload[16] = 0xab;
  roce::SealIcrc(d);
  peer().SendDatagram(d);
  EXPECT_EQ(ExpectReceived(1, 48).src_qp, peer().qpn());
}

TEST_P(Answers, RefusalAtTheLastPacketOfAReadEndsIt) {
  StartRead();
  peer().Send(Nak(DevPsn(2), 0, roce::kNakRemoteAccess));
  ExpectSendFails(1, IBV_WC_REM_ACCESS_ERR);
  peer().ExpectNothing();
}

// What is on its way says the same again: to ask once is enough. So it is with ACKs that left
// before the READ came again; what asks when its answer is lost once more, and when, is free.
TEST_P(Answers, SecondAckBehindAReadAsksNotAgain) {
  Start({.timeout = 0});
  const Counters counters;
  ep().Post(SendWr::Read(1, ep().Data(0, 8), {0x1000, 1}));
  for (uint64_t id = 2; id <= 3; ++id) ep().PostSend(id, 0, 8);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(peer().Expect().bth.psn, DevPsn(i));
  for (int i = 1; i < 3; ++i) peer().Send(Ack(DevPsn(i), static_cast<uint32_t>(i + 1)));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(peer().Expect().bth.psn, DevPsn(i));
  peer().ExpectNothing();
  EXPECT_EQ(counters.Growth("implied_nak_seq_err"), 1u);
  Send(ReadResponses(DevPsn(0), Pattern(8), mtu(), 1));
  ExpectSent(1, IBV_WC_RDMA_READ);
  peer().Send(Ack(DevPsn(2), 3));
  for (uint64_t id = 2; id <= 3; ++id) ExpectSent(id, IBV_WC_SEND);
}

TEST_P(Answers, ReadThatMayNeverGoFails) {
  Start({.max_rd_atomic = 0});
  ep().Post(SendWr::Read(1, ep().Data(0, 8), {0x1000, 1}));
  ExpectSendFails(1, IBV_WC_LOC_QP_OP_ERR);
  peer().ExpectNothing();
}

// Long before the window is full: the answer is to open it.
TEST_P(Answers, AskedForEvery32Packets) {
  SRN_SKIP_LAX() << "how often to ask is free";
  Start({.mtu = 256, .timeout = 0});
  ep().Post(SendWr::Write(1, ep().Data(0, 200 * 256), {0x1000, 1}));
  // It begins with 16, and each answer doubles that.
  int window = 16, last = -1, asked = 0, end = 15;
  for (int i = 0; i < 112; ++i) {
    const Packet packet = peer().Expect();
    ASSERT_EQ(packet.bth.psn, DevPsn(i));
    asked += packet.bth.ack_req;
    if (packet.bth.ack_req) last = i;
    EXPECT_LT(i - last, std::max(window / 2, 16)) << i;
    if (i != end) continue;
    EXPECT_TRUE(packet.bth.ack_req);
    if (window < 64) peer().Send(Ack(DevPsn(i), 0));
    window *= 2;
    end += window;
  }
  EXPECT_LE(asked, 8);
  peer().ExpectNothing();
}

TEST_P(Answers, ReadThatBeginsInTheMiddleIsABadResponse) {
  StartRead();
  peer().Send(ReadResponse(Operation::kReadResponseMiddle, DevPsn(0), Pattern(mtu()), 1));
  ExpectSendFails(1, IBV_WC_BAD_RESP_ERR);
}

TEST_P(Answers, ReadThatEndsEarlyIsABadResponse) {
  StartRead();
  peer().Send(ReadResponse(Operation::kReadResponseFirst, DevPsn(0), Pattern(mtu()), 1));
  peer().Send(ReadResponse(Operation::kReadResponseLast, DevPsn(1), Pattern(mtu()), 1));
  ExpectSendFails(1, IBV_WC_BAD_RESP_ERR);
}

TEST_P(Answers, ReadThatDoesNotEndIsABadResponse) {
  StartRead();
  const auto answers = ReadResponses(DevPsn(0), Pattern(3 * mtu()), mtu(), 1);
  Send({answers[0], answers[1]});
  peer().Send(ReadResponse(Operation::kReadResponseMiddle, DevPsn(2), Pattern(mtu()), 1));
  ExpectSendFails(1, IBV_WC_BAD_RESP_ERR);
}

TEST_P(Answers, ReadAnsweredByAnAtomicIsABadResponse) {
  Start();
  ep().Fill(0xee);
  ep().Post(SendWr::Read(1, ep().Data(0, 8), {0x1000, 1}));
  EXPECT_THAT(peer().Expect(), IsRequest(Operation::kReadRequest, DevPsn()));
  peer().Send(AtomicAck(DevPsn(0), 5, 1));
  ExpectSendFails(1, IBV_WC_BAD_RESP_ERR);
  EXPECT_EQ(ep().Copy(0, 8), Bytes(8, 0xee));
}

TEST_P(Answers, AtomicAnsweredByDataIsABadResponse) {
  Start();
  ep().Fill(0xee);
  ep().Post(SendWr::FetchAdd(1, ep().mr().Slice(0, 8), {0x1000, 1}, 5));
  EXPECT_THAT(peer().Expect(), IsRequest(Operation::kFetchAdd, DevPsn()));
  peer().Send(ReadResponse(Operation::kReadResponseOnly, DevPsn(0), Pattern(8), 1));
  ExpectSendFails(1, IBV_WC_BAD_RESP_ERR);
  EXPECT_EQ(ep().Copy(0, 8), Bytes(8, 0xee));
}

// Annex A19: the answer to an atomic write is that to a READ of nothing.
TEST_P(Answers, AtomicWriteIsAnsweredByNothing) {
  for (const size_t length : {size_t{0}, size_t{8}}) {
    Restart();
    SendWr wr = SendWr::Write(1, ep().Data(0, 8), {0x1000, 1}).Inline();
    wr.raw()->opcode = IBV_WR_ATOMIC_WRITE;
    ep().Post(std::move(wr));
    EXPECT_THAT(peer().Expect(), IsRequest(Operation::kAtomicWrite, DevPsn()));
    peer().Send(ReadResponse(Operation::kReadResponseOnly, DevPsn(0), Pattern(length), 1));
    if (length == 0)
      EXPECT_EQ(ep().WaitSend().status, IBV_WC_SUCCESS);
    else
      ExpectSendFails(1, IBV_WC_BAD_RESP_ERR);
  }
}

}  // namespace
}  // namespace wire
