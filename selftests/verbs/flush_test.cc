// SPDX-License-Identifier: GPL-2.0-only
// What a QP that leaves its working states does with posted requests.
#include <atomic>
#include <thread>

#include "env.h"

namespace verbs_test {
namespace {

class Flush : public WireTest {
 protected:
  // Connected to nobody: what is posted stays.
  End Stuck(const Qp::Options& options = {}) {
    End end = End::Create(a_, options);
    Must(ConnectTo(end.qp, a_.port, b_.port.gid, 0xfffffa, 0, 0, {.timeout = 25}));
    return end;
  }
  void ExpectFlushed(const Cq& cq, const Qp& qp, uint64_t first, uint64_t count) {
    for (uint64_t id = first; id < first + count; id++)
      ExpectFailed(Await(cq), id, IBV_WC_WR_FLUSH_ERR, qp.num());
  }
};

TEST_P(Flush, EveryRequestComesBackInOrderSignalledOrNot) {
  End end = Stuck();
  for (uint64_t id = 0; id < 30; id++) {
    SendWr wr = id % 3 == 0 ? SendWr::Read(id, a_.mr.Slice(0, 64), b_.mr.At(0))
                            : SendWr::Send(id, a_.mr.Slice(0, 64));
    if (id % 2) wr.Unsignaled();
    Must(end.qp.Post(std::move(wr)));
    Must(end.qp.Post(RecvWr(100 + id, {a_.mr.Slice(0, 64)})));
  }
  EXPECT_FALSE(end.send_cq.Poll());
  Must(end.qp.ModifyState(IBV_QPS_ERR));
  ExpectFlushed(end.send_cq, end.qp, 0, 30);
  ExpectFlushed(end.recv_cq, end.qp, 100, 30);
  ExpectQuiet(end.send_cq);
  ExpectQuiet(end.recv_cq);
}

TEST_P(Flush, RequestsPostedInErrorComeBackAtOnce) {
  End end = Stuck();
  Must(end.qp.ModifyState(IBV_QPS_ERR));

  // Many times around both queues.
  for (uint64_t id = 0; id < 300; id++) {
    Must(end.qp.Post(SendWr::Send(id, a_.mr.Slice(0, 64))));
    ExpectFailed(Await(end.send_cq), id, IBV_WC_WR_FLUSH_ERR, end.qp.num());
    Must(end.qp.Post(RecvWr(id, {a_.mr.Slice(0, 64)})));
    ExpectFailed(Await(end.recv_cq), id, IBV_WC_WR_FLUSH_ERR, end.qp.num());
  }
  std::vector<SendWr> list;
  for (uint64_t id = 0; id < 20; id++)
    list.push_back(SendWr::Send(id, a_.mr.Slice(0, 64)).Unsignaled());
  Must(end.qp.Post(list, nullptr));
  ExpectFlushed(end.send_cq, end.qp, 0, 20);
}

// The kernel flushes while the program goes on posting; it tells the program to ring
// for the rest, or sees it.
TEST_P(Flush, RequestsPostedDuringTheChangeComeBack) {
  constexpr uint64_t kPosts = 200;
  for (int round = 0; round < 40; round++) {
    Pair p = Connected({.max_send_wr = kPosts});
    std::atomic<uint64_t> posted = 0;
    std::jthread poster([&] {
      for (uint64_t id = 0; id < kPosts; id++, posted++)
        EXPECT_TRUE(p.a.qp.Post(SendWr::Write(id, a_.mr.Slice(0, 8), b_.mr.At(0))).ok());
    });
    while (posted < kPosts / 4) std::this_thread::yield();
    Must(p.a.qp.ModifyState(IBV_QPS_ERR));
    poster.join();
    for (uint64_t id = 0; id < kPosts; id++) ASSERT_EQ(Await(p.a.send_cq).wr_id, id);
    ExpectQuiet(p.a.send_cq);
  }
}

TEST_P(Flush, ReceiveRequestsOfAnUnconnectedQpComeBack) {
  End end = End::Create(a_);
  Transition t = ToInit(IBV_QPT_RC, a_.port);
  Must(end.qp.Modify(t.attr, t.mask));
  for (uint64_t id = 0; id < 5; id++) Must(end.qp.Post(RecvWr(id, {a_.mr.Slice(0, 64)})));
  Must(end.qp.ModifyState(IBV_QPS_ERR));
  ExpectFlushed(end.recv_cq, end.qp, 0, 5);
}

TEST_P(Flush, SharedCompletionQueueGetsBothKinds) {
  Cq cq = Must(Cq::Create(a_.ctx, 64));
  Qp qp = Must(Qp::Create(a_.pd, cq, cq, {}));
  Must(ConnectTo(qp, a_.port, b_.port.gid, 0xfffffa, 0, 0, {.timeout = 25}));
  for (uint64_t id = 0; id < 10; id++) {
    Must(qp.Post(SendWr::Send(id, a_.mr.Slice(0, 64))));
    Must(qp.Post(RecvWr(100 + id, {a_.mr.Slice(0, 64)})));
  }
  Must(qp.ModifyState(IBV_QPS_ERR));

  uint64_t next_send = 0, next_recv = 100;
  for (const ibv_wc& wc : Must(cq.WaitFor(20, Patience()))) {
    uint64_t& next = wc.wr_id < 100 ? next_send : next_recv;
    ExpectFailed(wc, next, IBV_WC_WR_FLUSH_ERR, qp.num());
    next++;
  }
  EXPECT_EQ(next_send, 10u);
  EXPECT_EQ(next_recv, 110u);
}

TEST_P(Flush, CompletionsFromBeforeTheErrorStay) {
  Pair p = Connected();
  for (uint64_t id = 0; id < 5; id++)
    Must(p.a.qp.Post(SendWr::Write(id, a_.mr.Slice(0, 64), b_.mr.At(0))));
  // Arrives after the WRITEs have been executed, thus acknowledged.
  Must(p.b.qp.Post(RecvWr(1, {})));
  Must(p.a.qp.Post(SendWr::Send(5, SendWr::Sges{})));
  EXPECT_EQ(Await(p.b.recv_cq).wr_id, 1u);
  ibv_wc first = Await(p.a.send_cq);
  EXPECT_EQ(first.status, IBV_WC_SUCCESS);
  ExpectQuiet(p.b.recv_cq);
  Must(p.a.qp.ModifyState(IBV_QPS_ERR));
  for (uint64_t id = 1; id <= 5; id++) {
    ibv_wc wc = Await(p.a.send_cq);
    EXPECT_EQ(wc.wr_id, id);
    EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
  }
}

TEST_P(Flush, DestroyedQpLeavesNoCompletionsBehind) {
  Cq cq = Must(Cq::Create(a_.ctx, 64));
  {
    Qp qp = Must(Qp::Create(a_.pd, cq, cq, {}));
    Must(ConnectTo(qp, a_.port, b_.port.gid, 0xfffffa, 0, 0, {.timeout = 25}));
    for (uint64_t id = 0; id < 10; id++) Must(qp.Post(SendWr::Send(id, a_.mr.Slice(0, 64))));
    Must(qp.Close());
  }
  ExpectQuiet(cq);
}

TEST_P(Flush, ResetForgetsWhatWasPosted) {
  End end = Stuck();
  for (uint64_t id = 0; id < 10; id++) {
    Must(end.qp.Post(SendWr::Send(id, a_.mr.Slice(0, 64))));
    Must(end.qp.Post(RecvWr(id, {a_.mr.Slice(0, 64)})));
  }
  Must(end.qp.ModifyState(IBV_QPS_RESET));
  ExpectQuiet(end.send_cq);
  ExpectQuiet(end.recv_cq);

  // The queues are empty again: all of their room can be used.
  Must(ConnectTo(end.qp, a_.port, b_.port.gid, 0xfffffa, 0, 0, {.timeout = 25}));
  const uint64_t depth = end.qp.cap().max_send_wr;
  for (uint64_t id = 0; id < depth; id++)
    Must(end.qp.Post(SendWr::Send(1000 + id, a_.mr.Slice(0, 64))));
  Must(end.qp.ModifyState(IBV_QPS_ERR));
  ExpectFlushed(end.send_cq, end.qp, 1000, depth);
  ExpectQuiet(end.recv_cq);
}

TEST_P(Flush, ErrorWhileDataMovesLosesNoRequest) {
  constexpr size_t kSize = 100 << 10;
  for (int round = 0; round < 20; round++) {
    Pair p = Connected();
    for (uint64_t id = 0; id < 20; id++)
      Must(p.a.qp.Post(SendWr::Write(id, a_.mr.Slice(0, kSize), b_.mr.At(0))));
    // Lets a part of them complete, a different one in each round.
    uint64_t next = 0;
    for (int i = 0; i < round; i++) {
      if (!p.a.send_cq.Poll()) continue;
      next++;
    }
    Must(p.a.qp.ModifyState(IBV_QPS_ERR));

    bool flushing = false;
    for (; next < 20; next++) {
      ibv_wc wc = Await(p.a.send_cq);
      EXPECT_EQ(wc.wr_id, next);
      if (wc.status == IBV_WC_WR_FLUSH_ERR) flushing = true;
      EXPECT_EQ(wc.status, flushing ? IBV_WC_WR_FLUSH_ERR : IBV_WC_SUCCESS);
    }
    ExpectQuiet(p.a.send_cq);
  }
}

SRN_OVER_BOTH_IP(Flush);

}  // namespace
}  // namespace verbs_test
