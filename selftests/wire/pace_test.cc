// SPDX-License-Identifier: GPL-2.0-only
// The rate limit of a QP: requests, answers to READs and what is sent again share it.
#include <functional>

#include "counters.h"
#include "fixture.h"
#include "recovery.h"

namespace wire {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr uint32_t kKbps = 5000;
constexpr int64_t kBytesPerSecond = kKbps * 125;
constexpr uint32_t kPackets = 60;  // of 1024 bytes: a tenth of a second

// What came, and how long it took.
struct Flow {
  uint32_t packets = 0;
  int64_t bytes = 0;
  Clock::time_point first, last;
};

class Pace : public WireTest {
 protected:
  // Without probes, which a machine that is late would cause.
  void SetUp() override { ASSERT_TRUE(SetRecovery("gbn")); }
  void TearDown() override { EXPECT_TRUE(SetRecovery(Wire::Get().config().recovery)); }
  int Limit(uint32_t kbps) {
    ibv_qp_rate_limit_attr attr = {};
    attr.rate_limit = kbps;
    return ibv_modify_qp_rate_limit(ep().qp().get(), &attr);
  }

  // Of an Ethernet frame, as a netdev counts it.
  int64_t FrameBytes(const Packet& packet) {
    const int64_t ip = peer().version() == net::IpVersion::kV4 ? 20 : 40;
    return 14 + ip + 8 + static_cast<int64_t>(roce::EncodeTransport(packet).size()) + 4;
  }

  // Takes packets, and acknowledges where one asks for that.
  Flow Take(uint32_t num, const std::function<void(const Packet&)>& look = {}) {
    Flow flow;
    while (flow.packets < num) {
      const Packet packet = peer().Expect();
      if (!packet.info().valid) break;
      if (packet.bth.ack_req) peer().Send(Ack(packet.bth.psn, 1));
      if (look) look(packet);
      if (flow.packets++ == 0) flow.first = peer().last_arrival();
      flow.last = peer().last_arrival();
      flow.bytes += FrameBytes(packet);
    }
    EXPECT_EQ(flow.packets, num);
    return flow;
  }

  // Two packets may go at once, and a millisecond be made up for. No less than a quarter of it is
  // what a machine shall do that does other things as well.
  // @begin: before the first packet left. It may be late on its way to us, and the next ones not.
  void ExpectPaced(Clock::time_point begin, const Flow& flow) {
    const int64_t quantum = 2 * (mtu() + 112);
    const nanoseconds due{(flow.bytes - quantum) * 1'000'000'000 / kBytesPerSecond};
    EXPECT_GE(flow.last - begin, (due - milliseconds(1)) * 97 / 100);
    EXPECT_LE(flow.last - begin,
              Wire::Get().Patience(std::chrono::duration_cast<std::chrono::microseconds>(4 * due)));
  }

  void PostWrite(uint64_t id, uint32_t length) {
    ep().Post(SendWr::Write(id, ep().Data(kPlace, length), {0x5000, 5}));
  }
};
SRN_BOTH_IP_VERSIONS(Pace);

TEST_P(Pace, RequestsKeepToTheLimit) {
  Start();
  ASSERT_EQ(Limit(kKbps), 0);
  const Counters counters;
  const Clock::time_point begin = Clock::now();
  PostWrite(1, kPackets * mtu());
  int next = 0;
  ExpectPaced(begin, Take(kPackets, [&](const Packet& packet) {
                EXPECT_EQ(packet.bth.psn, DevPsn(next++));
              }));
  ExpectSent(1, IBV_WC_RDMA_WRITE);
  EXPECT_TRUE(counters.Grew("paced", kPackets / 4));
  EXPECT_EQ(counters.Growth("retransmitted_pkts"), 0u);
}

TEST_P(Pace, SmallMessagesKeepToTheLimit) {
  Start();
  ASSERT_EQ(Limit(kKbps), 0);
  const Clock::time_point begin = Clock::now();
  for (uint64_t id = 0; id < 60; ++id) ep().PostSend(id, 0, 900);
  ExpectPaced(begin, Take(60));
  for (uint64_t id = 0; id < 60; ++id) ExpectSent(id, IBV_WC_SEND);
}

TEST_P(Pace, AnswersKeepToTheLimit) {
  Start();
  ASSERT_EQ(Limit(kKbps), 0);
  const Counters counters;
  const Clock::time_point begin = Clock::now();
  peer().Send(ReadRequest(PeerPsn(), Reth(0, kPackets * mtu())));
  ExpectPaced(begin, Take(kPackets));
  EXPECT_TRUE(counters.Grew("paced", kPackets / 4));
}

// What is sent again is sent.
TEST_P(Pace, RepeatsKeepToTheLimit) {
  Start();
  Open();
  constexpr int kLost = 30;
  PostWrite(2, kLost * mtu());
  for (int i = 0; i < kLost; ++i) EXPECT_EQ(peer().Expect().bth.psn, DevPsn(kOpened + i));
  ASSERT_EQ(Limit(kKbps), 0);
  const Clock::time_point begin = Clock::now();
  peer().Send(Nak(DevPsn(kOpened), 2, roce::kNakSequence));
  int next = kOpened;
  ExpectPaced(
      begin, Take(kLost, [&](const Packet& packet) { EXPECT_EQ(packet.bth.psn, DevPsn(next++)); }));
  ExpectSent(2, IBV_WC_RDMA_WRITE);
}

// The wait of what goes again is not taken for the peer's silence: at 1 Mb/s it takes 48 ms, where
// the local ACK timeout is 34 ms. (A short packet and a whole one go at once, of whole ones one.)
TEST_P(Pace, WaitOfARepeatIsNoTimeout) {
  // An answer that is later is asked for (wire.rst, Probes): then this machine was too busy.
  constexpr auto kProbe = milliseconds(8);
  constexpr int kBusyMost = 20;
  ASSERT_TRUE(SetRecovery("hold"));
  for (int busy = 0; busy < kBusyMost; ++busy) {
    Restart({.mtu = 4096, .timeout = 13});
    const Counters counters;
    ASSERT_EQ(Limit(1000), 0);
    PostWrite(1, 1800);
    PostWrite(2, mtu());
    EXPECT_EQ(peer().Expect().bth.psn, DevPsn(0));
    const Clock::time_point left = peer().last_arrival();
    EXPECT_EQ(peer().Expect().bth.psn, DevPsn(1));
    peer().Send(Nak(DevPsn(0), 0, roce::kNakSequence));
    const bool asked = Clock::now() < left + kProbe;
    EXPECT_EQ(peer().Expect().bth.psn, DevPsn(0));
    const Clock::time_point again = peer().last_arrival();
    peer().Send(Ack(DevPsn(1), 2));
    if (!asked || Clock::now() > again + kProbe) {
      peer().Drain(milliseconds(1));
      continue;
    }
    ExpectSent(1, IBV_WC_RDMA_WRITE);
    ExpectSent(2, IBV_WC_RDMA_WRITE);
    EXPECT_EQ(counters.Growth("local_ack_timeout_err"), 0u);
    EXPECT_EQ(counters.Growth("retransmitted_pkts"), 1u);
    return;
  }
  FAIL() << "the test itself is never in time";
}

// What comes behind a request that waits for answers has a smaller share of the device's memory:
// the answers may take an hour.
TEST_P(Pace, WhatWaitsBehindAnswersHasASmallerShare) {
  constexpr int kRead = 200,
                kBehind = 600;  // answers, of two seconds; requests, of 0.5 MiB and more
  Start();
  peer().IgnoreRules();
  ASSERT_EQ(Limit(1000), 0);
  const Counters counters;
  peer().Send(ReadRequest(PeerPsn(), Reth(0, kRead * mtu())));
  Packet invalidate = Request(Operation::kSendOnlyInvalidate, PeerPsn(kRead));
  invalidate.invalidate_rkey = ep().rkey();
  peer().Send(invalidate);
  for (int i = 1; i <= kBehind; ++i)
    peer().Send(Request(Operation::kSendOnly, PeerPsn(kRead + i), Bytes(mtu(), 0)));
  EXPECT_TRUE(counters.Grew("rcvd_device_full"));
}

// A peer that reads without end leaves this side its part of the rate, from where both have begun.
TEST_P(Pace, RequestsGoBesideAnswers) {
  Start();
  ASSERT_EQ(Limit(kKbps), 0);
  peer().Send(ReadRequest(PeerPsn(), Reth(0, 200 * mtu())));
  for (uint64_t id = 0; id < 40; ++id) ep().PostSend(id, 0, mtu());
  const auto is_request = [](const Packet& packet) {
    return packet.info().operation == Operation::kSendOnly;
  };
  bool begun = false;
  for (int i = 0; i < 170 && !begun; ++i) {
    Take(1, [&](const Packet& packet) { begun = is_request(packet); });
  }
  ASSERT_TRUE(begun);
  uint32_t requests = 0;
  const Clock::time_point begin = peer().last_arrival();
  ExpectPaced(begin, Take(30, [&](const Packet& packet) { requests += is_request(packet); }));
  EXPECT_GE(requests, 10u);
  EXPECT_LE(requests, 20u);
}

TEST_P(Pace, UnreliableRequestsKeepToTheLimit) {
  Start({.type = IBV_QPT_UC});
  ASSERT_EQ(Limit(kKbps), 0);
  const Clock::time_point begin = Clock::now();
  PostWrite(1, kPackets * mtu());
  ExpectPaced(begin, Take(kPackets));
  ExpectSent(1, IBV_WC_RDMA_WRITE);
}

// What waits is not kept to a limit that has gone.
TEST_P(Pace, LimitMayBeLiftedMeanwhile) {
  Start();
  ASSERT_EQ(Limit(1000), 0);
  PostWrite(1, 20 * mtu());
  peer().Send(ReadRequest(PeerPsn(), Reth(0, 20 * mtu())));
  Take(2);
  ASSERT_EQ(Limit(0), 0);
  const Flow rest = Take(38);
  EXPECT_LT(rest.last - rest.first, Wire::Get().Patience(milliseconds(500)));
}

// A new life has no limit of the former one.
TEST_P(Pace, ResetTakesItAway) {
  Start();
  ASSERT_EQ(Limit(1000), 0);
  ep().Reconnect(peer());
  const Counters counters;
  PostWrite(1, 20 * mtu());
  Take(20);
  ExpectSent(1, IBV_WC_RDMA_WRITE);
  EXPECT_EQ(counters.Growth("paced"), 0u);
}

TEST_P(Pace, WithoutALimitNothingWaits) {
  Start();
  const Counters counters;
  PostWrite(1, kPackets * mtu());
  Take(kPackets);
  ExpectSent(1, IBV_WC_RDMA_WRITE);
  EXPECT_EQ(counters.Growth("paced"), 0u);
}

}  // namespace
}  // namespace wire
