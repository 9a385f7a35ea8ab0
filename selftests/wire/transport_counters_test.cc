// SPDX-License-Identifier: GPL-2.0-only
// hw_counters of the transport, to the number: who looks for a fault looks there first. Counters
// know no IP version; so IPv4 alone.
#include <net/command.h>
#include <net/link.h>
#include <share/parameter.h>

#include "counters.h"
#include "fixture.h"
#include "wire.h"

namespace wire {
namespace {

constexpr uint64_t kBth = 12, kAeth = 4, kReth = 16, kIcrc = 4;

class TransportCounters : public WireTest {
 protected:
  using Steps = std::map<std::string, uint64_t>;

  // The counters have moved by these steps since the snapshot, and not by more.
  void ExpectSteps(const Counters& since, const Steps& steps) {
    for (const auto& [name, step] : steps) {
      if (step != 0) EXPECT_TRUE(since.Grew(name, step)) << name;
      EXPECT_EQ(since.Growth(name), step) << name;
    }
  }
  // A WRITE of 13 packets: it is no SEND, and its first packet has the RETH. The sending stack
  // cuts, or the peer, which reads packets, would get them as one.
  void ExpectPacketsCounted() {
    const std::string& dev = Wire::Get().config().netdev;
    ASSERT_TRUE(net::Run(
        {"ethtool", "-K", dev, "gso", "on", "tx-gso-list", "off", "tx-udp-segmentation", "off"}));
    Start();
    const Counters before;
    const uint32_t length = 12 * mtu() + 5;
    ep().Post(SendWr::Write(1, ep().Data(kPlace, length), {0x5000, 5}));
    for (int i = 0; i < 13; ++i) EXPECT_EQ(peer().Expect().bth.psn, DevPsn(i));
    peer().Send(Ack(DevPsn(12), 1));
    ExpectSent(1, IBV_WC_RDMA_WRITE);
    EXPECT_TRUE(before.Grew("sent_trains"));
    ExpectSteps(before, {{"sent_pkts", 13},
                         {"sent_bytes", 13 * (kBth + kIcrc) + kReth + 12 * uint64_t{mtu()} + 8},
                         {"rdma_sends", 0}});
    EXPECT_TRUE(net::Run({"ethtool", "-K", dev, "gso", "off"}));
  }
  Packet GoodWrite(int psn) {
    return Write(Operation::kWriteOnly, PeerPsn(psn), Bytes(8, 1), Reth(kPlace, 8));
  }
};
INSTANTIATE_TEST_SUITE_P(Ip, TransportCounters, testing::Values(net::IpVersion::kV4), VersionName);

// What came just before it is in it, though the core may show what it has shown a moment ago: or
// not, so more than one try.
TEST_P(TransportCounters, SnapshotIsOfNow) {
  Start();
  for (int psn = 0; psn < 20; ++psn) {
    Counters::Now("rcvd_pkts");
    peer().Send(GoodWrite(psn));
    ExpectAckedUpTo(PeerPsn(psn), psn + 1);
    const Counters before;
    ExpectSteps(before, {{"rcvd_pkts", 0}, {"rcvd_bytes", 0}, {"sent_ack", 0}});
  }
}

TEST_P(TransportCounters, RequestAndItsAck) {
  Start();
  const Counters before;
  ep().PostSend(1, 0, 9);
  EXPECT_EQ(peer().Expect().bth.psn, DevPsn());
  peer().Send(Ack(DevPsn(), 1));
  ExpectSent(1, IBV_WC_SEND);
  ExpectSteps(before, {{"sent_pkts", 1},
                       {"sent_bytes", kBth + 12 + kIcrc},
                       {"rcvd_pkts", 1},
                       {"rcvd_bytes", kBth + kAeth + kIcrc},
                       {"rdma_sends", 1},
                       {"rdma_recvs", 0},
                       {"retransmitted_pkts", 0}});
}

TEST_P(TransportCounters, MessageAndItsAck) {
  Start();
  ep().PostRecv(1, kPlace, 64);
  const Counters before;
  Send(SendMessage(PeerPsn(), Pattern(9), mtu()));
  ExpectAckedUpTo(PeerPsn(), 1);
  ExpectReceived(1, 9);
  ExpectSteps(before, {{"rcvd_pkts", 1},
                       {"rcvd_bytes", kBth + 12 + kIcrc},
                       {"sent_pkts", 1},
                       {"sent_bytes", kBth + kAeth + kIcrc},
                       {"sent_ack", 1},
                       {"rdma_recvs", 1},
                       {"rdma_sends", 0}});
}

TEST_P(TransportCounters, TrainIsAsManyPacketsAsItCarries) {
  const share::ScopedParameter runs("runs");
  ASSERT_TRUE(runs.Set("N"));
  const Counters before;
  ExpectPacketsCounted();
  EXPECT_EQ(before.Growth("sent_runs"), 0u);
}

TEST_P(TransportCounters, DuplicatesAndGaps) {
  Start();
  const Counters before;
  peer().Send(GoodWrite(0));
  ExpectAckedUpTo(PeerPsn(0), 1);
  peer().Send(GoodWrite(0));
  ExpectAckedUpTo(PeerPsn(0), 1);
  for (int i = 5; i < 8; ++i) peer().Send(GoodWrite(i));
  EXPECT_THAT(peer().Expect(), IsNak(PeerPsn(1), roce::kNakSequence));
  ExpectSteps(before, {{"duplicate_request", 1},
                       {"out_of_sequence", 3},
                       {"sent_ack", 2},
                       {"sent_nak", 1},
                       {"send_rnr_err", 0}});
}

TEST_P(TransportCounters, RefusalForWantOfAReceive) {
  Start();
  const Counters before;
  Send(SendMessage(PeerPsn(), Pattern(8), mtu()));
  EXPECT_THAT(peer().Expect(), IsNak(PeerPsn(), roce::RnrNak(12)));
  ExpectSteps(before, {{"send_rnr_err", 1}, {"sent_nak", 0}, {"sent_ack", 0}, {"rdma_recvs", 0}});
}

TEST_P(TransportCounters, RefusedForGood) {
  Start();
  const Counters before;
  peer().Send(ReadRequest(PeerPsn(), {ep().Va(), ep().rkey() ^ 0x5a5a00, 8}));
  EXPECT_THAT(peer().Expect(), IsNak(PeerPsn(), roce::kNakRemoteAccess));
  ExpectSteps(before, {{"sent_nak", 1}, {"send_rnr_err", 0}});
}

TEST_P(TransportCounters, ToldToWait) {
  Start({.rnr_retry = 1});
  const Counters before;
  ep().PostSend(1, 0, 8);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(peer().Expect().bth.psn, DevPsn());
    peer().Send(Nak(DevPsn(), 0, roce::RnrNak(1)));
  }
  ExpectSendFails(1, IBV_WC_RNR_RETRY_EXC_ERR);
  ExpectSteps(before, {{"rnr_nak_retry_err", 2},
                       {"retry_rnr_exceeded_err", 1},
                       {"retry_exceeded_err", 0},
                       {"retransmitted_pkts", 1},
                       {"rcvd_nak", 0}});
}

TEST_P(TransportCounters, ToldOfAGap) {
  Start();
  const Counters before;
  for (uint64_t id = 0; id < 3; ++id) ep().PostSend(id, 0, 8);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(peer().Expect().bth.psn, DevPsn(i));
  peer().Send(Nak(DevPsn(1), 1, roce::kNakSequence));
  for (int i = 1; i < 3; ++i) EXPECT_EQ(peer().Expect().bth.psn, DevPsn(i));
  peer().Send(Ack(DevPsn(2), 3));
  for (uint64_t id = 0; id < 3; ++id) ExpectSent(id, IBV_WC_SEND);
  ExpectSteps(before, {{"packet_seq_err", 1},
                       {"retransmitted_pkts", 2},
                       {"rdma_sends", 3},
                       {"rcvd_nak", 0},
                       {"local_ack_timeout_err", 0}});
}

TEST_P(TransportCounters, RefusedByThePeer) {
  Start();
  const Counters before;
  ep().PostSend(1, 0, 8);
  EXPECT_EQ(peer().Expect().bth.psn, DevPsn());
  peer().Send(Nak(DevPsn(), 0, roce::kNakInvalidRequest));
  ExpectSendFails(1, IBV_WC_REM_INV_REQ_ERR);
  ExpectSteps(before, {{"rcvd_nak", 1}, {"packet_seq_err", 0}, {"rcvd_bad_response", 0}});
}

TEST_P(TransportCounters, AnswerOfAReadMissing) {
  Start();
  const Counters before;
  ep().Post(SendWr::Read(1, ep().Data(0, 8), {0x1000, 1}));
  ep().PostSend(2, 0, 8);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(peer().Expect().bth.psn, DevPsn(i));
  peer().Send(Ack(DevPsn(1), 2));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(peer().Expect().bth.psn, DevPsn(i));
  ExpectSteps(before, {{"implied_nak_seq_err", 1}, {"retransmitted_pkts", 2}});
}

TEST_P(TransportCounters, Silence) {
  Start({.timeout = 14, .retry_cnt = 1});
  const Counters before;
  ep().PostSend(1, 0, 8);
  ExpectSendFails(1, IBV_WC_RETRY_EXC_ERR);
  ExpectSteps(before, {{"local_ack_timeout_err", 2},
                       {"retransmitted_pkts", 1},
                       {"retry_exceeded_err", 1},
                       {"retry_rnr_exceeded_err", 0}});
}

// To what was never sent, and what no answer says; but a late copy of an answer is lawful.
TEST_P(TransportCounters, AnswersToNothing) {
  Start();
  // A completion may be seen before what its packet adds to the counters.
  const Counters before;
  for (uint64_t id = 0; id < 2; ++id) ep().PostSend(id, 0, 8);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(peer().Expect().bth.psn, DevPsn(i));
  peer().Send(Ack(DevPsn(0), 1));
  ExpectSent(0, IBV_WC_SEND);
  peer().Send(Ack(DevPsn(0), 1));
  ExpectSteps(before, {{"rcvd_pkts", 2}, {"rcvd_bad_response", 0}});
  peer().Send(Ack(DevPsn(2), 3));
  ExpectSteps(before, {{"rcvd_bad_response", 1}});
  peer().Send(Nak(DevPsn(1), 1, 0x40));
  ExpectSteps(before, {{"rcvd_bad_response", 2}});
  peer().Send(Nak(DevPsn(1), 1, 0x7f));
  ExpectSteps(before, {{"rcvd_bad_response", 3}, {"rcvd_nak", 0}});
  peer().Send(Ack(DevPsn(1), 2));
  ExpectSent(1, IBV_WC_SEND);
}

// The path has become narrower than the connection believes. The host must not remember that for
// its routes: of an MTU below 552 it would for ten minutes.
TEST_P(TransportCounters, PathThatIsTooNarrowForAWhile) {
  const std::string& dev = Wire::Get().config().netdev;
  Start({.mtu = 4096, .timeout = 14});
  const Counters before;
  ASSERT_TRUE(net::Run({"ip", "link", "set", dev, "mtu", "500"}));
  ep().PostSend(1, 0, 4000);
  EXPECT_TRUE(before.Grew("send_err"));
  ASSERT_TRUE(net::Run({"ip", "link", "set", dev, "mtu", "4500"}));
  // That MTU took IPv6 away.
  const Wire& wire = Wire::Get();
  (void)net::AddAddress(dev, wire.local(net::IpVersion::kV6), 64);
  (void)net::AddNeighbour(dev, wire.peer(net::IpVersion::kV6), wire.peer_mac());
  EXPECT_EQ(peer().Expect().payload.size(), 4000u);
  peer().Send(Ack(DevPsn(), 1));
  ExpectSent(1, IBV_WC_SEND);
}

// IP, UDP, BTH, payload, ICRC.
TEST_P(TransportCounters, PacketThatJustFits) {
  const std::string& dev = Wire::Get().config().netdev;
  const int length = 20 + 8 + 12 + 4096 + 4;
  Start({.mtu = 4096, .timeout = 14});
  const Counters before;
  ASSERT_TRUE(net::Run({"ip", "link", "set", dev, "mtu", std::to_string(length)}));
  ep().PostSend(1, 0, 4096);
  EXPECT_EQ(peer().Expect().payload.size(), 4096u);
  ASSERT_TRUE(net::Run({"ip", "link", "set", dev, "mtu", "4500"}));
  peer().Send(Ack(DevPsn(), 1));
  ExpectSent(1, IBV_WC_SEND);
  EXPECT_EQ(before.Growth("send_err"), 0u);
}

// The stack refuses a packet, too, where a queue of the netdev is full.
TEST_P(TransportCounters, RefusedByTheStack) {
  const std::string& dev = Wire::Get().config().netdev;
  Start({.timeout = 14});
  const Counters before;
  ASSERT_TRUE(net::Run({"tc", "qdisc", "replace", "dev", dev, "root", "pfifo", "limit", "0"}));
  ep().PostSend(1, 0, 8);
  EXPECT_TRUE(before.Grew("send_err"));
  ASSERT_TRUE(net::Run({"tc", "qdisc", "delete", "dev", dev, "root"}));
  EXPECT_EQ(peer().Expect().bth.psn, DevPsn());
  peer().Send(Ack(DevPsn(), 1));
  ExpectSent(1, IBV_WC_SEND);
}

// Answers that take much longer than the fastest did: less is sent at a time.
TEST_P(TransportCounters, LateAnswersNarrowTheWindow) {
  constexpr int kBurst = 40;
  Start({.timeout = 17});
  const Counters before;
  const auto burst = [this](int from, std::chrono::milliseconds late) {
    std::vector<SendWr> list;
    for (int i = 0; i < kBurst; ++i)
      list.push_back(SendWr::Write(static_cast<uint64_t>(i), ep().Data(0, 8), {0x7000, 7}));
    ASSERT_TRUE(ep().qp().Post(list, nullptr));
    for (int i = 0; i < kBurst; ++i) ASSERT_EQ(peer().Expect().bth.psn, DevPsn(from + i));
    std::this_thread::sleep_for(late);
    peer().Send(Ack(DevPsn(from + kBurst - 1), static_cast<uint32_t>(from + kBurst)));
    for (int i = 0; i < kBurst; ++i) ExpectSent(static_cast<uint64_t>(i), IBV_WC_RDMA_WRITE);
  };
  Open();
  burst(kOpened, std::chrono::milliseconds(0));
  EXPECT_EQ(before.Growth("late_answers"), 0u);
  const auto timeout = std::chrono::nanoseconds(int64_t{4096} << ep().options().timeout);
  burst(kOpened + kBurst, std::chrono::duration_cast<std::chrono::milliseconds>(timeout / 2));
  ExpectSteps(before, {{"late_answers", 1}, {"local_ack_timeout_err", 0}});
  // 62 were allowed at first, and 40 more after the first burst; now it is half of that.
  std::vector<SendWr> list;
  for (int i = 0; i < 100; ++i)
    list.push_back(SendWr::Write(static_cast<uint64_t>(i), ep().Data(0, 8), {0x7000, 7}));
  ASSERT_TRUE(ep().qp().Post(list, nullptr));
  const size_t sent = peer().Drain().size();
  EXPECT_LT(sent, 80u);
  EXPECT_GT(sent, 16u);
}

}  // namespace
}  // namespace wire
