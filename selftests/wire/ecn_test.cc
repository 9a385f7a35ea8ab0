// SPDX-License-Identifier: GPL-2.0-only
// What routers may mark: the data of a connection that slows down for it, to a peer that tells of
// marks. That the rest of what is sent is not ECT, every test sees (conformance.h).
#include <net/command.h>
#include <share/parameter.h>

#include "congestion.h"
#include "counters.h"
#include "fixture.h"

namespace wire {
namespace {

constexpr int kNotEct = 0, kEct0 = 2;

class Ecn : public WireTest {
 protected:
  void SetUp() override {
    SRN_SKIP_LAX() << "others leave it to the program";
    ASSERT_TRUE(SetCongestionControl("always"));
  }
  void TearDown() override { EXPECT_TRUE(SetCongestionControl("dcqcn")); }
  static const std::string& Netdev() { return Wire::Get().config().netdev; }
  static void Offload(const char* gso, const char* list) {
    ASSERT_TRUE(net::Run({"ethtool", "-K", Netdev(), "gso", gso, "tx-gso-list", list,
                          "tx-udp_tnl-segmentation", list}));
  }
  // All packets of a long WRITE.
  void ExpectCapable(int first_psn) {
    ep().Post(WriteOf(12 * mtu()));
    for (int i = 0; i < 12; ++i) {
      EXPECT_EQ(peer().Expect().bth.psn, DevPsn(first_psn + i));
      EXPECT_EQ(peer().last().datagram.tos & 3, kEct0) << i;
    }
    peer().Send(Ack(DevPsn(first_psn + 11), 1));
    ExpectSent(1, IBV_WC_RDMA_WRITE);
  }
  // The next packet is this, and says so of itself.
  void ExpectEcn(Operation operation, int ecn, Service service = Service::kRc) {
    const Packet packet = peer().Expect();
    EXPECT_EQ(packet.bth.opcode, roce::MakeOpcode(service, operation));
    EXPECT_EQ(peer().last().datagram.tos & 3, ecn) << packet.ToString();
  }
  SendWr WriteOf(uint32_t length) {
    return SendWr::Write(1, ep().Data(kPlace, length), {kRemoteVa, kRemoteKey});
  }
};
SRN_BOTH_IP_VERSIONS(Ecn);

TEST_P(Ecn, EachPacketOfAMessageIsCapable) {
  Start();
  ep().PostSend(1, 0, 8);
  ep().Post(WriteOf(2 * mtu() + 1));
  ExpectEcn(Operation::kSendOnly, kEct0);
  ExpectEcn(Operation::kWriteFirst, kEct0);
  ExpectEcn(Operation::kWriteMiddle, kEct0);
  ExpectEcn(Operation::kWriteLast, kEct0);
}

TEST_P(Ecn, WhatIsSentAgainIsCapable) {
  Start();
  ep().PostSend(1, 0, 8);
  ExpectEcn(Operation::kSendOnly, kEct0);
  peer().Send(Nak(DevPsn(), 0, roce::kNakSequence));
  ExpectEcn(Operation::kSendOnly, kEct0);
}

TEST_P(Ecn, ReadResponsesAreCapable) {
  Start();
  peer().Send(ReadRequest(PeerPsn(), Reth(kPlace, 2 * mtu())));
  ExpectEcn(Operation::kReadResponseFirst, kEct0);
  ExpectEcn(Operation::kReadResponseLast, kEct0);
}

TEST_P(Ecn, AcksAndNaksAreNot) {
  Start();
  Send(WriteTo(0, 1));
  ExpectEcn(Operation::kAcknowledge, kNotEct);
  peer().Send(FetchAdd(PeerPsn(1), ep().Va(kPlace), ep().rkey(), 1));
  ExpectEcn(Operation::kAtomicAcknowledge, kNotEct);
  Send(WriteTo(3, 1));
  ExpectEcn(Operation::kAcknowledge, kNotEct);
}

TEST_P(Ecn, RequestsWithoutDataAreNot) {
  Start();
  PostRead(1, 16);
  ExpectEcn(Operation::kReadRequest, kNotEct);
}

// Nothing slows these down.
TEST_P(Ecn, UcIsNot) {
  Start({.type = IBV_QPT_UC});
  ep().PostSend(1, 0, 8);
  ExpectEcn(Operation::kSendOnly, kNotEct, Service::kUc);
}

TEST_P(Ecn, UdIsNot) {
  Start({.type = IBV_QPT_UD, .mtu = 4096});
  ep().Post(SendWr::Send(1, ep().Data(0, 8)).To(ep().CreateAh(peer()), peer().qpn(), 1));
  ExpectEcn(Operation::kSendOnly, kNotEct, Service::kUd);
}

// A program's own two bits are not sent; its DSCP is.
TEST_P(Ecn, ProgramsTrafficClassHasNoPartInIt) {
  Start();
  ibv_qp_attr attr = ep().qp().Query().value().attr;
  ASSERT_TRUE(ep().qp().ModifyState(IBV_QPS_SQD));
  attr.qp_state = IBV_QPS_SQD;
  attr.ah_attr.grh.traffic_class = 0x2b;
  ASSERT_TRUE(ep().qp().Modify(attr, IBV_QP_STATE | IBV_QP_AV));
  ASSERT_TRUE(ep().qp().ModifyState(IBV_QPS_RTS));
  ep().PostSend(1, 0, 8);
  ExpectEcn(Operation::kSendOnly, kEct0);
  EXPECT_EQ(peer().last().datagram.tos, 0x28 | kEct0);
}

// The knob is that of connections which begin then.
TEST_P(Ecn, OffIsNot) {
  ASSERT_TRUE(SetCongestionControl("off"));
  Start();
  ASSERT_TRUE(SetCongestionControl("always"));
  peer().Send(Cnp());
  ep().PostSend(1, 0, 8);
  ExpectEcn(Operation::kSendOnly, kNotEct);
  Restart();
  ep().PostSend(1, 0, 8);
  ExpectEcn(Operation::kSendOnly, kEct0);
}

// To who does not tell of marks they would be for nothing. Who has told of one does.
TEST_P(Ecn, PeerThatNotifiesIsSentCapablePackets) {
  ASSERT_TRUE(SetCongestionControl("dcqcn"));
  Start();
  const Counters counters;
  ep().PostSend(1, 0, 8);
  ExpectEcn(Operation::kSendOnly, kNotEct);
  peer().Send(Cnp());
  ASSERT_TRUE(counters.Grew("rp_cnp_handled"));
  ep().PostSend(2, 0, 8);
  ExpectEcn(Operation::kSendOnly, kEct0);
  peer().Send(ReadRequest(PeerPsn(), Reth(kPlace, 16)));
  ExpectEcn(Operation::kReadResponseOnly, kEct0);
}

// And of the next one nothing is known.
TEST_P(Ecn, NextPeerIsAStranger) {
  ASSERT_TRUE(SetCongestionControl("dcqcn"));
  Start();
  const Counters counters;
  peer().Send(Cnp());
  ASSERT_TRUE(counters.Grew("rp_cnp_handled"));
  ep().Reconnect(peer());
  ep().PostSend(1, 0, 8);
  ExpectEcn(Operation::kSendOnly, kNotEct);
}

// However they cross the stack: uncut, and cut by a queue on the way; as a train.
TEST_P(Ecn, RunsAndTrainsAreCapable) {
  Start();
  Offload("on", "on");
  ASSERT_TRUE(net::Run({"tc", "qdisc", "replace", "dev", Netdev(), "root", "tbf", "rate", "10gbit",
                        "burst", "5000", "limit", "1000000"}));
  const Counters counters;
  ExpectCapable(0);
  EXPECT_EQ(counters.Growth("sent_runs"), 1u);
  EXPECT_TRUE(net::Run({"tc", "qdisc", "del", "dev", Netdev(), "root"}));
  Offload("on", "off");
  const share::ScopedParameter runs("runs");
  ASSERT_TRUE(runs.Set("N"));
  const Counters before;
  ExpectCapable(12);
  EXPECT_EQ(before.Growth("sent_runs"), 0u);
  EXPECT_GE(before.Growth("sent_trains"), 1u);
  Offload("off", "off");
}

}  // namespace
}  // namespace wire
