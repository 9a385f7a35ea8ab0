// SPDX-License-Identifier: GPL-2.0-only
// Congestion notification: a packet that a router has marked (CE) is told to who sent it.
#include <thread>

#include <share/parameter.h>

#include "congestion.h"
#include "counters.h"
#include "fixture.h"

namespace wire {
namespace {

constexpr uint8_t kCe = 3;
constexpr uint8_t kDscp = 0x28;  // of the data

class Notify : public WireTest {
 protected:
  void SetUp() override { SRN_SKIP_LAX() << "how often, and with which DSCP, is srn's own"; }
  void SendMarked(const Packet& packet, uint8_t ecn = kCe) {
    net::Datagram d = peer().Seal(packet);
    d.tos = kDscp | ecn;
    peer().SendDatagram(d);
  }
  Packet WriteAt(int psn, uint32_t length = 16) {
    return WithoutAckReq(
        Write(Operation::kWriteOnly, PeerPsn(psn), Pattern(length), Reth(kPlace, length)));
  }
  void ExpectCnp() {
    const Packet cnp = peer().Expect();
    EXPECT_EQ(cnp.bth.opcode, roce::kOpcodeCnp);
    EXPECT_EQ(cnp.bth.dqpn, peer().qpn());
    EXPECT_TRUE(cnp.bth.becn);
    EXPECT_FALSE(cnp.bth.solicited);
    EXPECT_FALSE(cnp.bth.mig_req);
    EXPECT_FALSE(cnp.bth.ack_req);
    EXPECT_EQ(cnp.bth.psn, 0u);
    EXPECT_EQ(cnp.bth.pad.value_or(0), 0);
    EXPECT_EQ(cnp.payload, Bytes(16, 0));
    const net::Datagram& d = peer().last().datagram;
    EXPECT_EQ(d.dst, Wire::Get().peer(GetParam()));
    EXPECT_EQ(d.src, Wire::Get().local(GetParam()));
    EXPECT_EQ(d.tos, 48 << 2) << "DSCP 48, not ECT";
  }
};
SRN_BOTH_IP_VERSIONS(Notify);

TEST_P(Notify, MarkedDataDrawsACnp) {
  Start();
  const Counters counters;
  SendMarked(WriteAt(0));
  ExpectCnp();
  peer().ExpectNothing();
  EXPECT_TRUE(counters.Grew("np_cnp_sent"));
  EXPECT_EQ(counters.Growth("np_ecn_marked_roce_packets"), 1u);
  ExpectResponderWorks(PeerPsn(1), 1);
}

// The other three values say nothing of congestion.
TEST_P(Notify, WhatIsNotMarkedDrawsNone) {
  Start();
  const Counters counters;
  for (uint8_t ecn = 0; ecn < kCe; ++ecn) SendMarked(WriteAt(ecn), ecn);
  peer().ExpectNothing();
  EXPECT_EQ(counters.Growth("np_ecn_marked_roce_packets"), 0u);
  EXPECT_EQ(counters.Growth("np_cnp_sent"), 0u);
}

// READ responses are data as well, of which this side is the requester.
TEST_P(Notify, MarkedReadResponseDrawsACnp) {
  Start();
  PostRead(1, 16);
  ExpectReadRequest(DevPsn(), 16);
  SendMarked(ReadResponses(DevPsn(), Pattern(16), mtu(), 1).at(0));
  ExpectCnp();
  ExpectSent(1, IBV_WC_RDMA_READ);
}

// Less data is the answer to a mark: what brings none, and a CNP first of all, draws none.
TEST_P(Notify, MarkedAckAndCnpDrawNone) {
  Start();
  ep().PostSend(1, 0, 8);
  EXPECT_EQ(peer().Expect().bth.psn, DevPsn());
  const Counters counters;
  SendMarked(Ack(DevPsn(), 1));
  ExpectSent(1, IBV_WC_SEND);
  Packet cnp = Request(Operation::kSendOnly, 0, Bytes(16, 0));
  cnp.bth.opcode = roce::kOpcodeCnp;
  cnp.bth.becn = true;
  cnp.bth.ack_req = false;
  SendMarked(cnp);
  peer().ExpectNothing();
  EXPECT_TRUE(counters.Grew("np_ecn_marked_roce_packets", 2));
  EXPECT_EQ(counters.Growth("np_cnp_sent"), 0u);
}

// A peer is told once in 50 us; a slow machine takes longer than that for a packet.
TEST_P(Notify, OfABurstOnePacketIn50UsIsToldOf) {
  constexpr int kPackets = 400;
  constexpr auto kPause = std::chrono::microseconds(50);
  Start();
  const Counters counters;
  const Clock::time_point begin = Clock::now();
  for (int i = 0; i < kPackets; ++i) SendMarked(WriteAt(i));
  ASSERT_TRUE(counters.Grew("np_ecn_marked_roce_packets", kPackets));
  const auto took = Clock::now() - begin;
  const uint64_t cnps = counters.Growth("np_cnp_sent");
  EXPECT_GE(cnps, 1u);
  EXPECT_LE(cnps, static_cast<uint64_t>(took / kPause) + 1);
  for (uint64_t i = 0; i < cnps; ++i) ExpectCnp();
  peer().ExpectNothing();
}

// When the time is over the next mark is told of.
TEST_P(Notify, EachMarkLaterDrawsOne) {
  Start();
  for (int i = 0; i < 3; ++i) {
    SendMarked(WriteAt(i, mtu()));
    ExpectCnp();
    peer().ExpectNothing(std::chrono::milliseconds(1));
  }
}

// Of short packets, by lot, one in as many as make a whole one with its headers: of 90 bytes with
// IPv4 one in 12, of 110 with IPv6 one in ten. Else who sends short ones would be told more often
// for the same bytes. Of 1000 these are 82 and 99, with a deviation of 9: up to five of them.
TEST_P(Notify, ShortPacketsAreToldOfByTheirBytes) {
  constexpr int kPackets = 1000;
  Start();
  const Counters counters;
  for (int i = 0; i < kPackets; ++i) {
    SendMarked(WriteAt(i));
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  ASSERT_TRUE(counters.Grew("np_ecn_marked_roce_packets", kPackets));
  const uint64_t cnps = counters.Growth("np_cnp_sent");
  EXPECT_GE(cnps, 82u - 45);
  EXPECT_LE(cnps, 99u + 45);
  for (uint64_t i = 0; i < cnps; ++i) ExpectCnp();
  peer().ExpectNothing();
}

// A mark that waits in the queue of what comes too early is told of at once, and once.
TEST_P(Notify, MarkedAndEarlyIsToldOfOnce) {
  Start();
  const Counters counters;
  SendMarked(WriteAt(1));
  ExpectCnp();
  EXPECT_THAT(peer().Expect(), IsNak(PeerPsn(0), roce::kNakSequence));
  Send({WriteAt(0), WriteAt(1)});
  peer().ExpectNothing();
  EXPECT_EQ(counters.Growth("np_ecn_marked_roce_packets"), 1u);
}

TEST_P(Notify, UcPeerIsTold) {
  Start({.type = IBV_QPT_UC});
  SendMarked(Write(Operation::kWriteOnly, PeerPsn(), Pattern(16), Reth(kPlace, 16), Service::kUc));
  ExpectCnp();
}

// A datagram's sender has no connection that could be slowed down.
TEST_P(Notify, UdPeerIsNotTold) {
  Start({.type = IBV_QPT_UD, .mtu = 4096});
  ep().PostRecv(1, kPlace, 1024);
  const Counters counters;
  Packet p = Request(Operation::kSendOnly, 1, Pattern(8), Service::kUd);
  p.deth = roce::Deth{ep().options().qkey, peer().qpn()};
  SendMarked(p);
  ExpectReceived(1, 48);
  peer().ExpectNothing();
  EXPECT_TRUE(counters.Grew("np_ecn_marked_roce_packets"));
  EXPECT_EQ(counters.Growth("np_cnp_sent"), 0u);
}

// Who is no peer makes nobody send anything.
TEST_P(Notify, StrangersMarkDrawsNone) {
  Start();
  const Counters counters;
  net::Datagram d = peer().Envelope();
  d.src = *net::IpAddress::Parse(GetParam() == net::IpVersion::kV4 ? "10.79.0.3" : "fd79::3");
  d.tos = kCe;
  Packet p = WriteAt(0);
  p.bth.dqpn = ep().qpn();
  roce::Encode(p, d);
  peer().SendDatagram(d);
  peer().ExpectNothing();
  EXPECT_TRUE(counters.Grew("rcvd_bad_address"));
  EXPECT_EQ(counters.Growth("np_ecn_marked_roce_packets"), 0u);
}

// The knob is that of connections which begin then.
TEST_P(Notify, OffTellsNobody) {
  ASSERT_TRUE(SetCongestionControl("off"));
  Start();
  const bool back = SetCongestionControl("dcqcn");
  ASSERT_TRUE(back);
  const Counters counters;
  SendMarked(WriteAt(0));
  peer().ExpectNothing();
  EXPECT_TRUE(counters.Grew("np_ecn_marked_roce_packets"));
  EXPECT_EQ(counters.Growth("np_cnp_sent"), 0u);
  Restart();
  SendMarked(WriteAt(0));
  ExpectCnp();
}

TEST_P(Notify, UnknownModeIsRefused) {
  EXPECT_FALSE(SetCongestionControl("dctcp"));
  EXPECT_EQ(share::Parameter("cc"), "dcqcn");
}

}  // namespace
}  // namespace wire
