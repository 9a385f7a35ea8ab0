// SPDX-License-Identifier: GPL-2.0-only
// RC SEND, both directions. IBTA vol. 1, 9.7.4, 9.7.5 and 9.4.3.
#include <arpa/inet.h>

#include "fixture.h"

namespace wire {
namespace {

constexpr uint32_t kImm = 0xcafe0123;

class RcSend : public WireTest {};
SRN_BOTH_IP_VERSIONS(RcSend);

TEST_P(RcSend, ResponderPlacesEveryLengthAndAcknowledgesIt) {
  Start();
  uint32_t psn = PeerPsn(), msn = 0;
  for (const uint32_t length : LengthsAround(mtu())) {
    SCOPED_TRACE("length " + std::to_string(length));
    ep().Fill(0xee);
    ep().PostRecv(100 + msn, kPlace, 8192);
    const Bytes data = Pattern(length);
    const auto packets = SendMessage(psn, data, mtu());
    Send(packets);
    ExpectAckedUpTo(packets.back().bth.psn, msn + 1);
    const ibv_wc wc = ExpectReceived(100 + msn, length);
    EXPECT_EQ(wc.wc_flags & IBV_WC_WITH_IMM, 0u);
    ExpectPlaced(kPlace, data, 0xee);
    psn = roce::PsnAdd(packets.back().bth.psn, 1);
    ++msn;
  }
  peer().ExpectNothing();
}

TEST_P(RcSend, ResponderReportsImmediateOfOnly) {
  Start();
  ep().PostRecv(7, kPlace, 64);
  peer().Send(WithImm(Request(Operation::kSendOnlyImm, PeerPsn(), Pattern(10)), kImm));
  EXPECT_THAT(peer().Expect(), IsAckWithMsn(PeerPsn(), 1));
  const ibv_wc wc = ExpectReceived(7, 10);
  EXPECT_EQ(wc.wc_flags & IBV_WC_WITH_IMM, unsigned{IBV_WC_WITH_IMM});
  EXPECT_EQ(wc.imm_data, htonl(kImm));
}

TEST_P(RcSend, ResponderReportsImmediateOfLast) {
  Start();
  ep().PostRecv(7, kPlace, 4096);
  const Bytes data = Pattern(mtu() + 3);
  auto packets = SendMessage(PeerPsn(), data, mtu());
  packets[1].bth.opcode = static_cast<uint8_t>(Operation::kSendLastImm);
  packets[1].imm = kImm;
  Send(packets);
  ExpectAckedUpTo(PeerPsn(1), 1);
  const ibv_wc wc = ExpectReceived(7, mtu() + 3);
  EXPECT_EQ(wc.wc_flags & IBV_WC_WITH_IMM, unsigned{IBV_WC_WITH_IMM});
  EXPECT_EQ(wc.imm_data, htonl(kImm));
  EXPECT_EQ(ep().Copy(kPlace, data.size()), data);
}

TEST_P(RcSend, ResponderExecutesWithoutAckReqToo) {
  Start();
  ep().PostRecv(1, kPlace, 64);
  ep().PostRecv(2, kPlace + 64, 64);
  peer().Send(WithoutAckReq(Request(Operation::kSendOnly, PeerPsn(0), Pattern(8))));
  ExpectReceived(1, 8);
  peer().Send(Request(Operation::kSendOnly, PeerPsn(1), Pattern(9)));
  ExpectAckedUpTo(PeerPsn(1), 2);
  ExpectReceived(2, 9);
}

TEST_P(RcSend, ResponderScattersOverTheSgesOfTheReceive) {
  Start();
  ep().Fill(0xee);
  ep().Post(RecvWr(5, {ep().mr().Slice(100, 5), ep().mr().Slice(200, 2000)}));
  const Bytes data = Pattern(mtu() + 7);
  Send(SendMessage(PeerPsn(), data, mtu()));
  ExpectAckedUpTo(PeerPsn(1), 1);
  ExpectReceived(5, mtu() + 7);
  ExpectPlaced(100, Bytes(data.begin(), data.begin() + 5), 0xee);
  ExpectPlaced(200, Bytes(data.begin() + 5, data.end()), 0xee);
}

TEST_P(RcSend, ResponderAcceptsMigReqZeroAndEcnBits) {
  Start();
  ep().PostRecv(1, kPlace, 64);
  Packet p = Request(Operation::kSendOnly, PeerPsn(), Pattern(8));
  p.bth.mig_req = false;
  p.bth.fecn = true;
  p.bth.reserved6 = 0x3f;
  p.bth.reserved7 = 0x7f;
  net::Datagram d = peer().Seal(p);
  d.tos = 0x29;  // ECT(1): outside the ICRC, and no mark
  peer().SendDatagram(d);
  ExpectAckedUpTo(PeerPsn(), 1);
  ExpectReceived(1, 8);
}

TEST_P(RcSend, ResponderAcceptsAnyUdpSourcePortAndChecksum) {
  Start();
  uint32_t msn = 0;
  for (const int sport : {1, 4791, 0xc000, 0xffff}) {
    ep().PostRecv(1, kPlace, 64);
    Packet p = Request(Operation::kSendOnly, PeerPsn(static_cast<int>(msn)), Pattern(8));
    p.bth.dqpn = ep().qpn();
    net::Datagram d = peer().Envelope();
    d.sport = static_cast<uint16_t>(sport);
    roce::Encode(p, d);
    if (msn % 2 == 1) d.udp_checksum = net::UdpChecksum::kRight;
    peer().SendDatagram(d);
    ExpectAckedUpTo(p.bth.psn, msn + 1);
    ExpectReceived(1, 8);
    ++msn;
  }
}

TEST_P(RcSend, RequesterSegmentsEveryLength) {
  Start();
  uint32_t psn = DevPsn(), msn = 0;
  for (const uint32_t length : LengthsAround(mtu())) {
    SCOPED_TRACE("length " + std::to_string(length));
    ep().FillPattern(kPlace, length);
    ep().PostSend(length, kPlace, length);
    const auto expected = SendMessage(psn, ep().Copy(kPlace, length), mtu());
    ExpectMessage(expected);
    psn = expected.back().bth.psn;
    peer().Send(Ack(psn, ++msn));
    ExpectSent(length, IBV_WC_SEND);
    psn = roce::PsnAdd(psn, 1);
  }
}

TEST_P(RcSend, RequesterCarriesImmediateInTheLastPacket) {
  Start();
  for (const uint32_t length : {16u, mtu() + 16}) {
    ep().Post(SendWr::Send(1, ep().Data(0, length)).Imm(kImm));
  }
  const Packet only = peer().Expect();
  EXPECT_THAT(only, IsRequest(Operation::kSendOnlyImm, DevPsn(0)));
  EXPECT_EQ(only.imm, kImm);
  EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendFirst, DevPsn(1)));
  const Packet last = peer().Expect();
  EXPECT_THAT(last, IsRequest(Operation::kSendLastImm, DevPsn(2)));
  EXPECT_EQ(last.imm, kImm);
  peer().Send(Ack(DevPsn(2), 2));
  ExpectSent(1, IBV_WC_SEND);
  ExpectSent(1, IBV_WC_SEND);
}

TEST_P(RcSend, RequesterCarriesTheKeyToInvalidate) {
  Start();
  for (const uint32_t length : {16u, mtu() + 16}) {
    ep().Post(SendWr::Send(1, ep().Data(0, length)).Invalidate(0x12345678));
  }
  const Packet only = peer().Expect();
  EXPECT_THAT(only, IsRequest(Operation::kSendOnlyInvalidate, DevPsn(0)));
  EXPECT_EQ(only.invalidate_rkey, 0x12345678u);
  EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendFirst, DevPsn(1)));
  const Packet last = peer().Expect();
  EXPECT_THAT(last, IsRequest(Operation::kSendLastInvalidate, DevPsn(2)));
  EXPECT_EQ(last.invalidate_rkey, 0x12345678u);
  peer().Send(Ack(DevPsn(2), 2));
  ExpectSent(1, IBV_WC_SEND);
  ExpectSent(1, IBV_WC_SEND);
}

TEST_P(RcSend, RequesterSetsSolicitedOnTheLastPacketAlone) {
  Start();
  ep().Post(SendWr::Send(1, ep().Data(0, 2 * mtu())).Solicited());
  EXPECT_FALSE(peer().Expect().bth.solicited);
  EXPECT_TRUE(peer().Expect().bth.solicited);
  ep().PostSend(1, 0, 1);
  EXPECT_FALSE(peer().Expect().bth.solicited);
  peer().Send(Ack(DevPsn(2), 2));
  ExpectSent(1, IBV_WC_SEND);
  ExpectSent(1, IBV_WC_SEND);
}

TEST_P(RcSend, RequesterSendsInlineDataAsItWas) {
  Start();
  ep().FillPattern(0, 32);
  const Bytes before = ep().Copy(0, 32);
  ep().Post(SendWr::Send(1, ep().Data(0, 32)).Inline());
  ep().Fill(0);
  const Packet p = peer().Expect();
  EXPECT_EQ(p.payload, before);
  peer().Send(Ack(DevPsn(), 1));
  ExpectSent(1, IBV_WC_SEND);
}

TEST_P(RcSend, RequesterCompletesOnlyWhenAcknowledged) {
  Start();
  ep().PostSend(11, 0, 8);
  EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn()));
  ep().ExpectNoCompletion();
  peer().Send(Ack(DevPsn(), 1));
  ExpectSent(11, IBV_WC_SEND);
}

TEST_P(RcSend, OneAckCompletesAllRequestsBeforeIt) {
  Start();
  for (uint64_t id = 0; id < 5; ++id) ep().PostSend(id, 0, 8);
  for (int i = 0; i < 5; ++i)
    EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn(i)));
  peer().Send(Ack(DevPsn(2), 3));
  for (uint64_t id = 0; id < 3; ++id) ExpectSent(id, IBV_WC_SEND);
  ep().ExpectNoCompletion();
  peer().Send(Ack(DevPsn(4), 5));
  for (uint64_t id = 3; id < 5; ++id) ExpectSent(id, IBV_WC_SEND);
}

TEST_P(RcSend, AckInsideAMessageDoesNotCompleteIt) {
  Start();
  ep().PostSend(3, 0, 3 * mtu());
  for (int i = 0; i < 3; ++i) (void)peer().Expect();
  peer().Send(Ack(DevPsn(1), 0));
  ep().ExpectNoCompletion();
  peer().Send(Ack(DevPsn(2), 1));
  ExpectSent(3, IBV_WC_SEND);
}

TEST_P(RcSend, UnsignalledRequestsLeaveNoCompletion) {
  Start({.signal_all = false});
  ep().PostSend(1, 0, 8);
  ep().Post(SendWr::Send(2, ep().Data(0, 8)));  // signalled
  (void)peer().Expect();
  (void)peer().Expect();
  peer().Send(Ack(DevPsn(1), 2));
  ExpectSent(2, IBV_WC_SEND);
  ep().ExpectNoCompletion();
}

}  // namespace
}  // namespace wire
