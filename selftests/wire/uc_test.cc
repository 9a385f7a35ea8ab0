// SPDX-License-Identifier: GPL-2.0-only
// Unreliable connection: loss drops the message and only that one.
// IBTA vol. 1, 9.8.2.
#include <arpa/inet.h>

#include "counters.h"
#include "fixture.h"

namespace wire {
namespace {

constexpr Service kUc = Service::kUc;

class Uc : public WireTest {
 protected:
  void StartUc(QpOptions options = {}) {
    options.type = IBV_QPT_UC;
    Start(options);
  }
  void SendUc(uint32_t psn, const Bytes& data) { Send(SendMessage(psn, data, mtu(), kUc)); }
};
SRN_BOTH_IP_VERSIONS(Uc);

TEST_P(Uc, ResponderPlacesSendsAndSaysNothing) {
  StartUc();
  uint32_t psn = PeerPsn();
  for (const uint32_t length : LengthsAround(mtu())) {
    SCOPED_TRACE("length " + std::to_string(length));
    ep().Fill(0xee);
    ep().PostRecv(length, kPlace, 8192);
    const Bytes data = Pattern(length);
    SendUc(psn, data);
    ExpectReceived(length, length);
    ExpectPlaced(kPlace, data, 0xee);
    psn = roce::PsnAdd(psn, roce::PsnCount(length, mtu()));
  }
  peer().ExpectNothing();
}

TEST_P(Uc, ResponderPlacesWrites) {
  StartUc();
  ep().Fill(0xee);
  const Bytes data = Pattern(2 * mtu() + 7);
  Send(WriteMessage(PeerPsn(0), data, mtu(), ep().Va(kPlace), ep().rkey(), kUc));
  ep().PostRecv(1, 0, 0);
  peer().Send(
      WithImm(Write(Operation::kWriteOnlyImm, PeerPsn(3), Pattern(4), Reth(8, 4), kUc), 0x77));
  EXPECT_EQ(ExpectReceived(1, 4, IBV_WC_RECV_RDMA_WITH_IMM).imm_data, htonl(0x77));
  ExpectPlaced(kPlace, data, 0xee);
  peer().ExpectNothing();
}

TEST_P(Uc, LossOfAMiddleDropsThatMessageOnly) {
  StartUc();
  ep().PostRecv(1, kPlace, 8192);
  const auto broken = SendMessage(PeerPsn(0), Pattern(3 * mtu()), mtu(), kUc);
  peer().Send(broken[0]);
  peer().Send(broken[2]);
  ep().ExpectNoCompletion();
  SendUc(PeerPsn(3), Pattern(20));
  ExpectReceived(1, 20);
  EXPECT_EQ(ep().Copy(kPlace, 20), Pattern(20));
  peer().ExpectNothing();
}

TEST_P(Uc, LossOfTheLastIsNoticedByTheNextFirst) {
  StartUc();
  ep().PostRecv(1, kPlace, 8192);
  const auto broken = SendMessage(PeerPsn(0), Pattern(2 * mtu()), mtu(), kUc);
  peer().Send(broken[0]);
  SendUc(PeerPsn(2), Pattern(2 * mtu() + 1));
  ExpectReceived(1, 2 * mtu() + 1);
  EXPECT_EQ(ep().Copy(kPlace, 2 * mtu() + 1), Pattern(2 * mtu() + 1));
}

TEST_P(Uc, LossBetweenMessagesIsNotNoticed) {
  StartUc();
  ep().PostRecv(1, kPlace, 64);
  SendUc(PeerPsn(50), Pattern(20));
  ExpectReceived(1, 20);
}

TEST_P(Uc, MiddleAndLastWithoutFirstAreDropped) {
  StartUc();
  ep().PostRecv(1, kPlace, 8192);
  const auto broken = SendMessage(PeerPsn(0), Pattern(3 * mtu()), mtu(), kUc);
  peer().Send(broken[1]);
  peer().Send(broken[2]);
  ep().ExpectNoCompletion();
  SendUc(PeerPsn(3), Pattern(5));
  ExpectReceived(1, 5);
}

TEST_P(Uc, LossInsideAWriteStopsPlacing) {
  StartUc();
  ep().Fill(0xee);
  const auto broken =
      WriteMessage(PeerPsn(0), Bytes(4 * mtu(), 1), mtu(), ep().Va(kPlace), ep().rkey(), kUc);
  peer().Send(broken[0]);
  peer().Send(broken[2]);
  peer().Send(broken[3]);
  ep().PostRecv(1, 0, 64);
  SendUc(PeerPsn(4), Pattern(5));
  ExpectReceived(1, 5);
  EXPECT_EQ(ep().Copy(kPlace + mtu(), 3 * mtu()), Bytes(3 * mtu(), 0xee));
}

TEST_P(Uc, MessageWithoutAReceiveIsDropped) {
  StartUc();
  const Counters counters;
  SendUc(PeerPsn(0), Pattern(5));
  ep().ExpectNoCompletion();
  ep().PostRecv(1, kPlace, 64);
  SendUc(PeerPsn(1), Pattern(6));
  ExpectReceived(1, 6);
  EXPECT_TRUE(counters.Counted("rcvd_no_recv_wqe"));
}

TEST_P(Uc, WriteWithABadKeyIsDroppedSilently) {
  StartUc();
  ep().Fill(0xee);
  Send(WriteMessage(PeerPsn(0), Bytes(8, 1), mtu(), ep().Va(kPlace), ep().rkey() ^ 0x5a5a00, kUc));
  ep().PostRecv(1, 0, 64);
  SendUc(PeerPsn(1), Pattern(6));
  ExpectReceived(1, 6);
  peer().ExpectNothing();
  EXPECT_EQ(ep().Copy(kPlace, 8), Bytes(8, 0xee));
}

TEST_P(Uc, RequesterSegmentsAndCompletesAtOnce) {
  StartUc();
  uint32_t psn = DevPsn();
  for (const uint32_t length : LengthsAround(mtu())) {
    SCOPED_TRACE("length " + std::to_string(length));
    ep().FillPattern(kPlace, length);
    ep().PostSend(length, kPlace, length);
    for (const Packet& want : SendMessage(psn, ep().Copy(kPlace, length), mtu(), kUc)) {
      const Packet got = peer().Expect();
      EXPECT_EQ(roce::OpcodeName(got.bth.opcode), roce::OpcodeName(want.bth.opcode));
      EXPECT_EQ(got.bth.psn, want.bth.psn);
      EXPECT_EQ(got.payload, want.payload);
      EXPECT_FALSE(got.bth.ack_req);
    }
    ExpectSent(length, IBV_WC_SEND);
    psn = roce::PsnAdd(psn, roce::PsnCount(length, mtu()));
  }
}

TEST_P(Uc, RequesterWrites) {
  StartUc();
  ep().FillPattern(kPlace, 2 * mtu());
  ep().Post(SendWr::Write(3, ep().Data(kPlace, 2 * mtu()), {0x4000, 4}).Imm(0x99));
  const Packet first = peer().Expect();
  EXPECT_EQ(first.bth.opcode, roce::MakeOpcode(kUc, Operation::kWriteFirst));
  ASSERT_TRUE(first.reth);
  EXPECT_EQ(first.reth->length, 2 * mtu());
  const Packet last = peer().Expect();
  EXPECT_EQ(last.bth.opcode, roce::MakeOpcode(kUc, Operation::kWriteLastImm));
  EXPECT_EQ(last.imm, 0x99u);
  ExpectSent(3, IBV_WC_RDMA_WRITE);
}

}  // namespace
}  // namespace wire
