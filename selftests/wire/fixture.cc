// SPDX-License-Identifier: GPL-2.0-only
#include "fixture.h"

#include <algorithm>
#include <stdexcept>

namespace wire {

constexpr size_t kGuard = 64;

void WireTest::Start(const QpOptions& options) {
  peer_ = Peer::Create(GetParam());
  if (!peer_) throw std::runtime_error("no peer");
  if (hears_hellos_) peer_->HearHellos();
  if (options.address) peer_->SetDeviceAddress(*options.address);
  endpoint_ = std::make_unique<Endpoint>(*peer_, options);
}

void WireTest::PostRead(uint64_t id, uint32_t length, size_t place) {
  ep().Post(SendWr::Read(id, ep().Data(place, length), {kRemoteVa, kRemoteKey}));
}

void WireTest::ExpectReadRequest(uint32_t psn, uint32_t length, uint32_t skip) {
  const Packet request = peer().Expect();
  EXPECT_THAT(request, IsRequest(Operation::kReadRequest, psn));
  if (!request.reth) return;
  EXPECT_EQ(request.reth->va, kRemoteVa + skip);
  EXPECT_EQ(request.reth->rkey, kRemoteKey);
  EXPECT_EQ(request.reth->length, length - skip);
}

void WireTest::Open() {
  int psn = 0;
  uint32_t msn = 0;
  for (const uint32_t window : {16u, 30u}) {
    ep().Post(SendWr::Write(1, ep().Data(0, window * mtu()), {kRemoteVa, kRemoteKey}));
    for (uint32_t i = 0; i < window; ++i) EXPECT_EQ(peer().Expect().bth.psn, DevPsn(psn++));
    peer().Send(Ack(DevPsn(psn - 1), ++msn));
    ExpectSent(1, IBV_WC_RDMA_WRITE);
  }
  EXPECT_EQ(psn, kOpened);
}

void WireTest::ExpectAckedUpTo(uint32_t psn, uint32_t msn) {
  for (;;) {
    const Packet ack = peer().Expect();
    if (!ack.info().valid) return;  // Expect() has complained
    ASSERT_EQ(ack.info().operation, Operation::kAcknowledge) << ack.ToString();
    ASSERT_EQ(roce::KindOf(ack.aeth->syndrome), roce::AethKind::kAck) << ack.ToString();
    ASSERT_LE(roce::PsnDiff(ack.bth.psn, psn), 0) << ack.ToString();
    if (ack.bth.psn != psn) continue;
    EXPECT_EQ(ack.aeth->msn, msn);
    return;
  }
}

ibv_wc WireTest::ExpectReceived(uint64_t id, uint32_t length, ibv_wc_opcode opcode) {
  const ibv_wc wc = ep().WaitRecv();
  EXPECT_EQ(wc.status, IBV_WC_SUCCESS) << ibv_wc_status_str(wc.status);
  EXPECT_EQ(wc.wr_id, id);
  EXPECT_EQ(wc.byte_len, length);
  EXPECT_EQ(wc.opcode, opcode);
  EXPECT_EQ(wc.qp_num, ep().qpn());
  return wc;
}

void WireTest::ExpectSent(uint64_t id, ibv_wc_opcode opcode) {
  const ibv_wc wc = ep().WaitSend();
  EXPECT_EQ(wc.status, IBV_WC_SUCCESS) << ibv_wc_status_str(wc.status);
  EXPECT_EQ(wc.wr_id, id);
  EXPECT_EQ(wc.opcode, opcode);
  EXPECT_EQ(wc.qp_num, ep().qpn());
}

void WireTest::ExpectSendFails(uint64_t id, ibv_wc_status status) {
  const ibv_wc wc = ep().WaitSend();
  EXPECT_EQ(wc.status, status) << ibv_wc_status_str(wc.status);
  EXPECT_EQ(wc.wr_id, id);
  EXPECT_TRUE(ep().ReachesState(IBV_QPS_ERR)) << "state " << ep().State();
}

void WireTest::ExpectPlaced(size_t offset, const Bytes& data, uint8_t around) {
  EXPECT_EQ(ep().Copy(offset, data.size()), data);
  const size_t before = std::min(offset, kGuard);
  EXPECT_EQ(ep().Copy(offset - before, before), Bytes(before, around)) << "before the data";
  EXPECT_EQ(ep().Copy(offset + data.size(), kGuard), Bytes(kGuard, around)) << "behind the data";
}

std::vector<Packet> WireTest::ExpectMessage(const std::vector<Packet>& expected) {
  std::vector<Packet> got;
  for (size_t i = 0; i < expected.size(); ++i) {
    SCOPED_TRACE("packet " + std::to_string(i));
    got.push_back(peer().Expect());
    if (!got.back().info().valid) break;
    EXPECT_EQ(roce::OpcodeName(got[i].bth.opcode), roce::OpcodeName(expected[i].bth.opcode));
    EXPECT_EQ(got[i].bth.psn, expected[i].bth.psn);
    EXPECT_EQ(got[i].payload, expected[i].payload);
    EXPECT_TRUE(got[i].bth.ack_req || i + 1 < expected.size()) << "the last one asks for an ACK";
    if (got[i].reth && expected[i].reth) {
      EXPECT_EQ(got[i].reth->va, expected[i].reth->va);
      EXPECT_EQ(got[i].reth->rkey, expected[i].reth->rkey);
      EXPECT_EQ(got[i].reth->length, expected[i].reth->length);
    }
    EXPECT_EQ(got[i].imm, expected[i].imm);
  }
  return got;
}

void WireTest::ExpectResponderWorks(uint32_t psn, uint32_t msn) {
  constexpr size_t kFree = 128 << 10;
  constexpr uint32_t kLength = 40;
  const Bytes data = Pattern(kLength, 0x77);
  peer().Send(Write(Operation::kWriteOnly, psn, data, Reth(kFree, kLength)));
  ExpectAckedUpTo(psn, msn + 1);
  EXPECT_EQ(ep().Copy(kFree, kLength), data);
  peer().Send(ReadRequest(roce::PsnAdd(psn, 1), Reth(kFree, kLength)));
  const Packet response = peer().Expect();
  EXPECT_THAT(response, IsRequest(Operation::kReadResponseOnly, roce::PsnAdd(psn, 1)));
  EXPECT_EQ(response.payload, data);
}

std::vector<net::IpVersion> VersionsOfThisRun() {
  if (IsLongRun()) return {net::IpVersion::kV4, net::IpVersion::kV6};
  return {net::IpVersion::kV4};
}

std::string VersionName(const testing::TestParamInfo<net::IpVersion>& info) {
  return info.param == net::IpVersion::kV4 ? "V4" : "V6";
}

}  // namespace wire
