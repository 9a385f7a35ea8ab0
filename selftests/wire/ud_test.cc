// SPDX-License-Identifier: GPL-2.0-only
// Unreliable datagram: Q_Key, GRH in the receive buffer, address vectors.
// IBTA vol. 1, 9.8.3 and annex A17.4.
#include <arpa/inet.h>

#include <roce/udp_port.h>

#include "counters.h"
#include "fixture.h"

namespace wire {
namespace {

constexpr uint32_t kGrh = 40;
constexpr uint32_t kPortMtu = 4096;

class Ud : public WireTest {
 protected:
  void StartUd() { Start({.type = IBV_QPT_UD, .mtu = kPortMtu}); }
  Packet Datagram(Bytes payload, std::optional<uint32_t> qkey = {}) {
    Packet p = Request(Operation::kSendOnly, psn_++, std::move(payload), Service::kUd);
    p.deth = roce::Deth{qkey.value_or(ep().options().qkey), peer().qpn()};
    return p;
  }
  void ExpectDelivered(uint64_t id, const Bytes& data) {
    const ibv_wc wc = ExpectReceived(id, kGrh + static_cast<uint32_t>(data.size()));
    EXPECT_EQ(wc.src_qp, peer().qpn());
    EXPECT_EQ(wc.wc_flags & IBV_WC_GRH, unsigned{IBV_WC_GRH});
    // Where UCX looks for the IP version.
    EXPECT_EQ(wc.sl, GetParam() == net::IpVersion::kV4 ? 8 | 2 : 8 | 1);
    EXPECT_EQ(ep().Copy(kPlace + kGrh, data.size()), data);
  }
  // A lawful datagram still arrives.
  void ExpectStillWorks(uint64_t id) {
    ep().PostRecv(id, kPlace, 8192);
    peer().Send(Datagram(Pattern(33)));
    ExpectDelivered(id, Pattern(33));
  }
  uint32_t psn_ = 0x123;
};
SRN_BOTH_IP_VERSIONS(Ud);

TEST_P(Ud, DeliversEveryLengthBehindTheGrh) {
  StartUd();
  for (const uint32_t length : {0u, 1u, 2u, 3u, 4u, 255u, 1024u, 4093u, 4096u}) {
    SCOPED_TRACE("length " + std::to_string(length));
    ep().Fill(0xee);
    ep().PostRecv(length, kPlace, 8192);
    peer().Send(Datagram(Pattern(length)));
    ExpectDelivered(length, Pattern(length));
    EXPECT_EQ(ep().Copy(kPlace + kGrh + length, 64), Bytes(64, 0xee));
  }
  peer().ExpectNothing();
}

// IPv6: the header is the GRH. IPv4: the header stands in the last 20 bytes.
TEST_P(Ud, GrhAreaHoldsTheIpHeader) {
  StartUd();
  ep().PostRecv(1, kPlace, 8192);
  net::Datagram d = peer().Seal(Datagram(Pattern(16)));
  d.tos = 0x28;
  d.ttl = 77;
  if (GetParam() == net::IpVersion::kV6) d.flow_label = 0x54321;
  peer().SendDatagram(d);
  ExpectDelivered(1, Pattern(16));
  Bytes header = net::BuildIpUdp(d);
  header.resize(d.ip_header_size());
  EXPECT_EQ(ep().Copy(kPlace + kGrh - header.size(), header.size()), header);
}

TEST_P(Ud, ReportsImmediateAndSolicited) {
  StartUd();
  ep().PostRecv(1, kPlace, 8192);
  Packet p = WithImm(Datagram(Pattern(8)), 0xabcd);
  p.bth.opcode = roce::MakeOpcode(Service::kUd, Operation::kSendOnlyImm);
  p.bth.solicited = true;
  peer().Send(p);
  const ibv_wc wc = ExpectReceived(1, kGrh + 8);
  EXPECT_EQ(wc.wc_flags & IBV_WC_WITH_IMM, unsigned{IBV_WC_WITH_IMM});
  EXPECT_EQ(wc.imm_data, htonl(0xabcd));
}

TEST_P(Ud, WrongQkeyIsDroppedAndCounted) {
  StartUd();
  ep().PostRecv(1, kPlace, 8192);
  const Counters counters;
  peer().Send(Datagram(Pattern(8), ep().options().qkey ^ 1));
  peer().Send(Datagram(Pattern(8), 0));
  ep().ExpectNoCompletion();
  EXPECT_TRUE(counters.Counted("rcvd_bad_qkey", 2));
  peer().Send(Datagram(Pattern(9)));
  ExpectDelivered(1, Pattern(9));
}

TEST_P(Ud, DatagramWithoutAReceiveIsDropped) {
  StartUd();
  const Counters counters;
  peer().Send(Datagram(Pattern(8)));
  ep().ExpectNoCompletion();
  ExpectStillWorks(1);
  EXPECT_TRUE(counters.Counted("rcvd_no_recv_wqe"));
}

TEST_P(Ud, DatagramBeyondTheMtuIsDropped) {
  StartUd();
  ep().Fill(0xee);
  ep().PostRecv(1, kPlace, 8192);
  peer().Send(Datagram(Bytes(kPortMtu + 4, 1)));
  ep().ExpectNoCompletion();
  peer().Send(Datagram(Pattern(9)));
  ExpectDelivered(1, Pattern(9));
}

TEST_P(Ud, PsnsAreNotLookedAt) {
  StartUd();
  for (const uint32_t psn : {5u, 0xffffffu, 5u, 4u}) {
    ep().PostRecv(psn, kPlace, 8192);
    psn_ = psn;
    peer().Send(Datagram(Pattern(9)));
    ExpectDelivered(psn, Pattern(9));
  }
}

TEST_P(Ud, MultiPacketOpcodesDoNotExist) {
  StartUd();
  ep().PostRecv(1, kPlace, 8192);
  for (const Operation operation : {Operation::kSendFirst, Operation::kSendLast,
                                    Operation::kWriteOnly, Operation::kAcknowledge}) {
    Packet p = Datagram(Pattern(64));
    p.bth.opcode = roce::MakeOpcode(Service::kUd, operation);
    peer().Send(p);
  }
  ep().ExpectNoCompletion();
  peer().Send(Datagram(Pattern(9)));
  ExpectDelivered(1, Pattern(9));
}

TEST_P(Ud, RequesterFillsTheDeth) {
  StartUd();
  ibv_ah* ah = ep().CreateAh(peer());
  for (const uint32_t length : {0u, 1u, 100u, kPortMtu}) {
    ep().FillPattern(0, length);
    ep().Post(SendWr::Send(length, ep().Data(0, length)).To(ah, peer().qpn(), 0x00445566));
    const Packet p = peer().Expect();
    EXPECT_EQ(p.bth.opcode, roce::MakeOpcode(Service::kUd, Operation::kSendOnly));
    EXPECT_FALSE(p.bth.ack_req);
    ASSERT_TRUE(p.deth);
    EXPECT_EQ(p.deth->qkey, 0x00445566u);
    EXPECT_EQ(p.deth->sqpn, ep().qpn());
    EXPECT_EQ(p.payload, ep().Copy(0, length));
    ExpectSent(length, IBV_WC_SEND);
  }
}

// A program cannot speak with a privileged Q_Key: the QP's own goes out instead.
TEST_P(Ud, PrivilegedQkeyOfAWorkRequestIsReplacedByTheQps) {
  StartUd();
  ibv_ah* ah = ep().CreateAh(peer());
  ep().Post(SendWr::Send(1, ep().Data(0, 8)).To(ah, peer().qpn(), roce::kGsiQkey));
  const Packet p = peer().Expect();
  ASSERT_TRUE(p.deth);
  EXPECT_EQ(p.deth->qkey, ep().options().qkey);
}

TEST_P(Ud, RequesterCarriesImmediate) {
  StartUd();
  ibv_ah* ah = ep().CreateAh(peer());
  ep().Post(SendWr::Send(1, ep().Data(0, 8)).Imm(0x1234).To(ah, peer().qpn(), 1));
  const Packet p = peer().Expect();
  EXPECT_EQ(p.bth.opcode, roce::MakeOpcode(Service::kUd, Operation::kSendOnlyImm));
  EXPECT_EQ(p.imm, 0x1234u);
}

TEST_P(Ud, AddressVectorStandsInTheIpHeader) {
  StartUd();
  // The core puts the route's hop limit in the place of this one.
  ibv_ah* ah =
      ep().CreateAh(peer(), {.traffic_class = 0x68, .hop_limit = 64, .flow_label = 0x23456});
  ep().Post(SendWr::Send(1, ep().Data(0, 8)).To(ah, peer().qpn(), 1));
  (void)peer().Expect();
  const net::Datagram& d = peer().last().datagram;
  EXPECT_EQ(d.ttl, 64);
  EXPECT_EQ(d.tos, 0x68);
  EXPECT_EQ(d.sport, roce::SourcePort(0x23456));
  EXPECT_EQ(d.src, Wire::Get().local(GetParam()));
  EXPECT_EQ(d.dst, Wire::Get().peer(GetParam()));
  EXPECT_EQ(d.mac_dst, Wire::Get().peer_mac());
  const bool v6 = GetParam() == net::IpVersion::kV6;
  EXPECT_EQ(d.flow_label, v6 ? 0x23456u : 0u);
}

}  // namespace
}  // namespace wire
