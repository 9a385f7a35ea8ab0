// SPDX-License-Identifier: GPL-2.0-only
// Retries: a receiver that is not ready yet, or never, and a peer that does
// not exist.
#include <thread>

#include <share/counters.h>
#include <share/parameter.h>

#include "env.h"

namespace verbs_test {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

class Rnr : public WireTest {
 protected:
  // What the machine may do meanwhile.
  static int64_t SlackUs() { return std::chrono::microseconds(Patience(500)).count(); }
  static int64_t UsSince(Clock::time_point start) {
    return std::chrono::duration_cast<microseconds>(Clock::now() - start).count();
  }
};

TEST_P(Rnr, SendWaitsForAReceiveRequest) {
  // Large enough that the receiver is not ready in the middle of packets.
  const size_t size = 5 * mtu() + 3;
  Pair p = Connected({}, {.rnr_retry = 7, .min_rnr_timer = 12});

  FillPattern(a_.bytes(0, size), 1);
  Must(p.a.qp.Post(SendWr::Send(1, a_.mr.Slice(0, size))));
  ExpectQuiet(p.a.send_cq);
  Must(p.b.qp.Post(RecvWr(2, {b_.mr.Slice(0, size)})));
  ExpectWc(Await(p.b.recv_cq),
           {.wr_id = 2, .opcode = IBV_WC_RECV, .qp_num = p.b.qp.num(), .byte_len = size});
  EXPECT_EQ(Await(p.a.send_cq).status, IBV_WC_SUCCESS);
  ExpectPattern(b_.bytes(0, size), 1);
}

TEST_P(Rnr, WriteWithImmediateWaitsForAReceiveRequest) {
  const size_t size = 3 * mtu();
  Pair p = Connected();

  FillPattern(a_.bytes(0, size), 1);
  Must(p.a.qp.Post(SendWr::Write(1, a_.mr.Slice(0, size), b_.mr.At(0)).Imm(5)));
  ExpectQuiet(p.a.send_cq);
  Must(p.b.qp.Post(RecvWr(2, {})));
  ExpectWc(Await(p.b.recv_cq), {.wr_id = 2,
                                .opcode = IBV_WC_RECV_RDMA_WITH_IMM,
                                .qp_num = p.b.qp.num(),
                                .byte_len = size,
                                .flags = IBV_WC_WITH_IMM,
                                .imm = 5});
  EXPECT_EQ(Await(p.a.send_cq).status, IBV_WC_SUCCESS);
  ExpectPattern(b_.bytes(0, size), 1);
}

// Of either queue, of which others may take from the one.
TEST_P(Rnr, WhatComesUncutAndIsRefusedIsHeldBehindItsFirstPacket) {
  constexpr size_t kPackets = 5;
  const size_t size = kPackets * mtu();
  if (Foreign() || share::Parameter("recovery") == "gbn") GTEST_SKIP() << "nothing is held";
  const Srq srq = Must(Srq::Create(b_.pd, 16, 1));
  for (const bool shared : {false, true}) {
    SCOPED_TRACE(shared ? "shared queue" : "own queue");
    Pair p = {End::Create(a_), shared ? End::Create(b_, {.srq = &srq}) : End::Create(b_)};
    Must(Connect(p.a.qp, a_.port, p.b.qp, b_.port, {.min_rnr_timer = 24}));
    const uint64_t runs = share::FreshCounter(DeviceA(), "sent_runs"),
                   held = share::FreshCounter(DeviceB(), "rcvd_held");
    FillPattern(a_.bytes(0, size), 1);
    Must(p.a.qp.Post(SendWr::Send(1, a_.mr.Slice(0, size))));
    ExpectQuiet(p.a.send_cq);
    const RecvWr recv(2, {b_.mr.Slice(0, size)});
    Must(shared ? srq.Post(recv) : p.b.qp.Post(recv));
    EXPECT_EQ(Await(p.b.recv_cq).wr_id, 2u);
    EXPECT_EQ(Await(p.a.send_cq).status, IBV_WC_SUCCESS);
    ExpectPattern(b_.bytes(0, size), 1);
    EXPECT_GT(share::FreshCounter(DeviceA(), "sent_runs"), runs);
    EXPECT_GE(share::FreshCounter(DeviceB(), "rcvd_held") - held, kPackets - 1);
  }
}

TEST_P(Rnr, RequestsBehindTheWaitingOneKeepTheirOrder) {
  Pair p = Connected();

  for (uint32_t id = 0; id < 20; id++) {
    FillPattern(a_.bytes(id * 512, 512), id);
    Must(p.a.qp.Post(SendWr::Send(id, a_.mr.Slice(id * 512, 512))));
  }
  for (uint32_t id = 0; id < 20; id++) {
    Must(p.b.qp.Post(RecvWr(id, {b_.mr.Slice(id * 512, 512)})));
    EXPECT_EQ(Await(p.b.recv_cq).wr_id, id);
    ExpectPattern(b_.bytes(id * 512, 512), id);
    EXPECT_EQ(Await(p.a.send_cq).wr_id, id);
  }
}

TEST_P(Rnr, ExhaustionFailsTheSenderAfterTheTimeItWasTold) {
  struct Case {
    uint8_t retries, timer;
    int64_t at_least_us;
  };
  // Timer codes 0, 14, 20 and 25 mean 655.36, 1.28, 10.24 and 61.44 ms.
  for (const Case& c : {Case{1, 0, 655360}, Case{6, 14, 6 * 1280}, Case{2, 20, 2 * 10240},
                        Case{3, 25, 3 * 61440}, Case{0, 25, 0}}) {
    SCOPED_TRACE(testing::Message() << int{c.retries} << " retries, timer " << int{c.timer});
    Pair p = Connected({}, {.rnr_retry = c.retries, .min_rnr_timer = c.timer});
    const auto start = Clock::now();
    Must(p.a.qp.Post(SendWr::Send(1, a_.mr.Slice(0, 64))));
    Must(p.a.qp.Post(SendWr::Send(2, a_.mr.Slice(0, 64))));
    ExpectFailed(Await(p.a.send_cq), 1, IBV_WC_RNR_RETRY_EXC_ERR, p.a.qp.num());
    const int64_t took_us = UsSince(start);
    EXPECT_GE(took_us, c.at_least_us);
    EXPECT_LE(took_us, c.at_least_us * 2 + SlackUs());
    ExpectFailed(Await(p.a.send_cq), 2, IBV_WC_WR_FLUSH_ERR, p.a.qp.num());
    ExpectReaches(p.a.qp, IBV_QPS_ERR);
    EXPECT_EQ(p.b.qp.State(), IBV_QPS_RTS);
  }
}

TEST_P(Rnr, EachMessageHasItsOwnRetries) {
  // Every message meets one RNR NAK at least; together they meet more than
  // one message may.
  Pair p = Connected({}, {.rnr_retry = 6, .min_rnr_timer = 20});

  for (uint64_t id = 0; id < 10; id++) {
    Must(p.a.qp.Post(SendWr::Send(id, a_.mr.Slice(0, 64))));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    Must(p.b.qp.Post(RecvWr(id, {b_.mr.Slice(0, 64)})));
    EXPECT_EQ(Await(p.b.recv_cq).wr_id, id);
    EXPECT_EQ(Await(p.a.send_cq).status, IBV_WC_SUCCESS);
  }
}

class Retry : public Rnr {};

TEST_P(Retry, PeerThatDoesNotExistEndsInRetryExceeded) {
  // 4.096 us * 2^13 = 33.5 ms. A count of 7 is not infinity.
  for (uint8_t count : {0, 1, 3, 7}) {
    SCOPED_TRACE(int{count});
    End end = End::Create(a_);
    Must(ConnectTo(end.qp, a_.port, b_.port.gid, 0xfffffb, 0, 0,
                   {.timeout = 13, .retry_cnt = count}));
    Must(end.qp.Post(RecvWr(10, {a_.mr.Slice(4096, 64)})));
    const auto start = Clock::now();
    Must(end.qp.Post(SendWr::Write(1, a_.mr.Slice(0, 64), b_.mr.At(0))));
    Must(end.qp.Post(SendWr::Send(2, a_.mr.Slice(0, 64))));
    ExpectFailed(Await(end.send_cq), 1, IBV_WC_RETRY_EXC_ERR, end.qp.num());
    // A timer may run for four times its timeout (IBTA 9.7.6.1.3).
    const int64_t took_us = UsSince(start);
    EXPECT_GE(took_us, (count + 1) * 33554);
    EXPECT_LE(took_us, (count + 1) * 4 * 33554 + SlackUs());
    ExpectFailed(Await(end.send_cq), 2, IBV_WC_WR_FLUSH_ERR, end.qp.num());
    ExpectFailed(Await(end.recv_cq), 10, IBV_WC_WR_FLUSH_ERR, end.qp.num());
    ExpectReaches(end.qp, IBV_QPS_ERR);
  }
}

TEST_P(Retry, PeerThatLeftEndsInRetryExceeded) {
  Pair p = Connected({}, {.timeout = 12, .retry_cnt = 2});
  ExpectWorks(a_, p.a, b_, p.b);
  Must(p.b.qp.Close());

  Must(p.a.qp.Post(SendWr::Read(1, a_.mr.Slice(0, 64), b_.mr.At(0))));
  ExpectFailed(Await(p.a.send_cq), 1, IBV_WC_RETRY_EXC_ERR, p.a.qp.num());
}

TEST_P(Retry, PeerThatIsNotReadyYetIsReachedByRetransmission) {
  End a = End::Create(a_), b = End::Create(b_);
  const WireOptions wire = {.timeout = 13};
  Must(ConnectTo(a.qp, a_.port, b_.port.gid, b.qp.num(), 7, 9, wire));

  FillPattern(a_.bytes(0, 10000), 5);
  Must(a.qp.Post(SendWr::Write(1, a_.mr.Slice(0, 10000), b_.mr.At(0))));
  ExpectQuiet(a.send_cq);
  Must(ConnectTo(b.qp, b_.port, a_.port.gid, a.qp.num(), 9, 7, wire));
  EXPECT_EQ(Await(a.send_cq).status, IBV_WC_SUCCESS);
  ExpectPattern(b_.bytes(0, 10000), 5);
}

SRN_OVER_BOTH_IP(Rnr);
SRN_OVER_BOTH_IP(Retry);

}  // namespace
}  // namespace verbs_test
