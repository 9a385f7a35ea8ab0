// SPDX-License-Identifier: GPL-2.0-only
// RC RDMA WRITE, both directions. IBTA vol. 1, 9.4.4.
#include <arpa/inet.h>

#include "fixture.h"

namespace wire {
namespace {

constexpr uint32_t kImm = 0xdeadbeef;

class RcWrite : public WireTest {
 protected:
  // Posts a WRITE of `length` bytes at kPlace; expects its packets and acknowledges them.
  void PostAndAcknowledge(uint32_t length, verbs::Remote remote, uint32_t psn, uint32_t msn,
                          std::optional<uint32_t> imm = {});
};
SRN_BOTH_IP_VERSIONS(RcWrite);

TEST_P(RcWrite, ResponderPlacesEveryLengthAndAcknowledgesIt) {
  Start();
  uint32_t psn = PeerPsn(), msn = 0;
  for (const uint32_t length : LengthsAround(mtu())) {
    SCOPED_TRACE("length " + std::to_string(length));
    ep().Fill(0xee);
    const Bytes data = Pattern(length);
    const auto packets = WriteMessage(psn, data, mtu(), ep().Va(kPlace + 1), ep().rkey());
    Send(packets);
    ExpectAckedUpTo(packets.back().bth.psn, ++msn);
    ExpectPlaced(kPlace + 1, data, 0xee);
    psn = roce::PsnAdd(packets.back().bth.psn, 1);
  }
  ep().ExpectNoCompletion();
}

TEST_P(RcWrite, ResponderDoesNotConsumeAReceive) {
  Start();
  ep().PostRecv(1, 0, 64);
  Send(WriteMessage(PeerPsn(0), Pattern(8), mtu(), ep().Va(kPlace), ep().rkey()));
  ExpectAckedUpTo(PeerPsn(0), 1);
  ep().ExpectNoCompletion();
  Send(SendMessage(PeerPsn(1), Pattern(5), mtu()));
  ExpectAckedUpTo(PeerPsn(1), 2);
  ExpectReceived(1, 5);
}

TEST_P(RcWrite, ResponderConsumesAReceiveForTheImmediateOfOnly) {
  Start();
  ep().PostRecv(4, 0, 0);
  const Bytes data = Pattern(77);
  peer().Send(WithImm(Write(Operation::kWriteOnlyImm, PeerPsn(), data, Reth(kPlace, 77)), kImm));
  ExpectAckedUpTo(PeerPsn(), 1);
  const ibv_wc wc = ExpectReceived(4, 77, IBV_WC_RECV_RDMA_WITH_IMM);
  EXPECT_EQ(wc.wc_flags & IBV_WC_WITH_IMM, unsigned{IBV_WC_WITH_IMM});
  EXPECT_EQ(wc.imm_data, htonl(kImm));
  EXPECT_EQ(ep().Copy(kPlace, 77), data);
}

TEST_P(RcWrite, ResponderConsumesAReceiveForTheImmediateOfLast) {
  Start();
  ep().PostRecv(4, 0, 0);
  const Bytes data = Pattern(2 * mtu() + 1);
  auto packets = WriteMessage(PeerPsn(), data, mtu(), ep().Va(kPlace), ep().rkey());
  packets[2].bth.opcode = static_cast<uint8_t>(Operation::kWriteLastImm);
  packets[2].imm = kImm;
  Send(packets);
  ExpectAckedUpTo(PeerPsn(2), 1);
  const ibv_wc wc = ExpectReceived(4, 2 * mtu() + 1, IBV_WC_RECV_RDMA_WITH_IMM);
  EXPECT_EQ(wc.imm_data, htonl(kImm));
  EXPECT_EQ(ep().Copy(kPlace, data.size()), data);
}

// With length 0 neither address nor key are looked at: IBTA vol. 1, C9-88.
TEST_P(RcWrite, ZeroLengthNeedsNoKey) {
  Start();
  peer().Send(Write(Operation::kWriteOnly, PeerPsn(), {}, {0xdead0000, 0xbad0bad, 0}));
  ExpectAckedUpTo(PeerPsn(), 1);
  EXPECT_EQ(ep().State(), IBV_QPS_RTS);
}

void RcWrite::PostAndAcknowledge(uint32_t length, verbs::Remote remote, uint32_t psn, uint32_t msn,
                                 std::optional<uint32_t> imm) {
  ep().FillPattern(kPlace, length);
  SendWr wr = SendWr::Write(length, ep().Data(kPlace, length), remote);
  auto expected = WriteMessage(psn, ep().Copy(kPlace, length), mtu(), remote.addr, remote.rkey);
  if (imm) {
    wr.Imm(*imm);
    Packet& last = expected.back();
    last.bth.opcode = static_cast<uint8_t>(expected.size() == 1 ? Operation::kWriteOnlyImm
                                                                : Operation::kWriteLastImm);
    last.imm = imm;
  }
  ep().Post(std::move(wr));
  ExpectMessage(expected);
  peer().Send(Ack(expected.back().bth.psn, msn));
  ExpectSent(length, IBV_WC_RDMA_WRITE);
}

TEST_P(RcWrite, RequesterSegmentsEveryLength) {
  Start();
  uint32_t psn = DevPsn(), msn = 0;
  for (const uint32_t length : LengthsAround(mtu())) {
    SCOPED_TRACE("length " + std::to_string(length));
    PostAndAcknowledge(length, {0x123456789abcdef1, 0x600df00d}, psn, ++msn);
    psn = roce::PsnAdd(psn, roce::PsnCount(length, mtu()));
  }
}

TEST_P(RcWrite, RequesterCarriesImmediateInTheLastPacket) {
  Start();
  uint32_t psn = DevPsn(), msn = 0;
  for (const uint32_t length : {0u, 16u, 2 * mtu() + 16}) {
    SCOPED_TRACE("length " + std::to_string(length));
    PostAndAcknowledge(length, {0x1000, 0x11}, psn, ++msn, kImm);
    psn = roce::PsnAdd(psn, roce::PsnCount(length, mtu()));
  }
}

// The data that a gather list names is one stream, cut only by the path MTU.
TEST_P(RcWrite, RequesterGathersOverPacketBorders) {
  Start();
  ep().FillPattern(0, 8192);
  ep().Post(SendWr::Write(9, {ep().mr().Slice(3, mtu() - 1), ep().mr().Slice(5001, 1030)},
                          {0x2000, 0x22}));
  Bytes stream = ep().Copy(3, mtu() - 1);
  const Bytes tail = ep().Copy(5001, 1030);
  stream.insert(stream.end(), tail.begin(), tail.end());
  ExpectMessage(WriteMessage(DevPsn(), stream, mtu(), 0x2000, 0x22));
  peer().Send(Ack(DevPsn(2), 1));
  ExpectSent(9, IBV_WC_RDMA_WRITE);
}

}  // namespace
}  // namespace wire
