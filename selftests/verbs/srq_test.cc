// SPDX-License-Identifier: GPL-2.0-only
// Shared receive queues.
#include <sys/resource.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <thread>

#include "env.h"
#include "load.h"

namespace verbs_test {
namespace {

class SharedQueue : public WireTest {
 protected:
  void SetUp() override {
    WireTest::SetUp();
    srq_ = Must(Srq::Create(b_.pd, 64, 4));
  }
  // A connection whose B side receives from the shared queue.
  Pair Shared() {
    Pair p = {End::Create(a_), End::Create(b_, {.srq = &srq_})};
    Must(Connect(p.a.qp, a_.port, p.b.qp, b_.port));
    return p;
  }
  RecvWr Recv(uint64_t id) { return RecvWr(id, {b_.mr.Slice(id * 1024, 1024)}); }
  SendWr Send(uint64_t id, size_t size = 1000) {
    return SendWr::Send(id, a_.mr.Slice(id * 1024, size));
  }
  void ExpectLimitEvent() {
    for (;;) {
      ibv_async_event event = Must(b_.ctx.WaitEvent(Patience()));
      if (event.event_type == IBV_EVENT_COMM_EST) continue;
      EXPECT_EQ(event.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
      EXPECT_EQ(event.element.srq, srq_.get());
      return;
    }
  }
  void ExpectNoEvent() { EXPECT_EQ(b_.ctx.WaitEvent(Silence()).error(), ETIMEDOUT); }

  Srq srq_;
};

TEST_P(SharedQueue, FeedsSeveralQps) {
  std::vector<Pair> pairs;
  for (int i = 0; i < 5; i++) pairs.push_back(Shared());

  for (uint64_t id = 0; id < 50; id++) {
    Pair& p = pairs[id % pairs.size()];
    FillPattern(a_.bytes(id * 1024, 1000), id);
    Must(srq_.Post(Recv(id)));
    Must(p.a.qp.Post(Send(id)));
    ExpectWc(Await(p.b.recv_cq),
             {.wr_id = id, .opcode = IBV_WC_RECV, .qp_num = p.b.qp.num(), .byte_len = 1000});
    EXPECT_EQ(Await(p.a.send_cq).status, IBV_WC_SUCCESS);
    ExpectPattern(b_.bytes(id * 1024, 1000), id);
  }
}

TEST_P(SharedQueue, WriteWithImmediateConsumesARequest) {
  Pair p = Shared();
  Must(srq_.Post(Recv(1)));
  Must(srq_.Post(Recv(2)));
  Must(p.a.qp.Post(SendWr::Write(3, a_.mr.Slice(0, 5000), b_.mr.At(65536)).Imm(9)));
  ExpectWc(Await(p.b.recv_cq), {.wr_id = 1,
                                .opcode = IBV_WC_RECV_RDMA_WITH_IMM,
                                .qp_num = p.b.qp.num(),
                                .byte_len = 5000,
                                .flags = IBV_WC_WITH_IMM,
                                .imm = 9});
  EXPECT_EQ(Await(p.a.send_cq).wr_id, 3u);
  Must(p.a.qp.Post(Send(4)));
  EXPECT_EQ(Await(p.b.recv_cq).wr_id, 2u);
}

TEST_P(SharedQueue, RequestsAreTakenInOrderWhoeverReceives) {
  Pair p = Shared(), q = Shared();
  for (uint64_t id = 0; id < 10; id++) Must(srq_.Post(Recv(id)));
  for (uint64_t id = 0; id < 10; id++) {
    Pair& next = id % 3 ? p : q;
    Must(next.a.qp.Post(Send(0)));
    EXPECT_EQ(Await(next.b.recv_cq).wr_id, id);
    EXPECT_EQ(Await(next.a.send_cq).status, IBV_WC_SUCCESS);
  }
}

TEST_P(SharedQueue, EmptyQueueMeansNotReady) {
  Pair p = Shared();
  Must(p.a.qp.Post(Send(1)));
  ExpectQuiet(p.a.send_cq);
  Must(srq_.Post(Recv(2)));
  EXPECT_EQ(Await(p.b.recv_cq).wr_id, 2u);
  EXPECT_EQ(Await(p.a.send_cq).status, IBV_WC_SUCCESS);
}

TEST_P(SharedQueue, LimitEventComesOnceBelowTheLimit) {
  Pair p = Shared();
  for (uint64_t id = 0; id < 10; id++) Must(srq_.Post(Recv(id)));
  Must(srq_.SetLimit(7));
  EXPECT_EQ(Must(srq_.Query()).srq_limit, 7u);

  auto receive = [&] {
    Must(p.a.qp.Post(Send(0)));
    EXPECT_EQ(Await(p.a.send_cq).status, IBV_WC_SUCCESS);
  };
  for (int i = 0; i < 3; i++) receive();  // 7 left
  ExpectNoEvent();
  receive();  // 6 left
  ExpectLimitEvent();
  EXPECT_EQ(Must(srq_.Query()).srq_limit, 0u);
  receive();
  ExpectNoEvent();

  Must(srq_.SetLimit(5));
  receive();  // 4 left
  ExpectLimitEvent();
}

TEST_P(SharedQueue, LimitAboveTheSizeIsRefused) {
  const uint32_t size = Must(srq_.Query()).max_wr;
  EXPECT_EQ(srq_.SetLimit(size + 1).error(), EINVAL);
  EXPECT_EQ(srq_.SetLimit(size).error(), 0);
}

TEST_P(SharedQueue, FullQueueBlamesTheFirstRequestThatDoesNotFit) {
  const size_t depth = Must(srq_.Query()).max_wr;
  ASSERT_GE(depth, 64u);
  std::vector<RecvWr> list;
  for (uint64_t id = 0; id < depth + 2; id++) list.push_back(RecvWr(id, {b_.mr.Slice(0, 8)}));
  size_t posted = 0;
  EXPECT_EQ(srq_.Post(list, &posted).error(), ENOMEM);
  EXPECT_EQ(posted, depth);
}

TEST_P(SharedQueue, TooManyElementsAreRefused) {
  const size_t max = Must(srq_.Query()).max_sge;
  ASSERT_GE(max, 4u);
  std::vector<ibv_sge> sges(max + 1, b_.mr.Slice(0, 1));
  EXPECT_EQ(srq_.Post(RecvWr(1, sges)).error(), EINVAL);
}

TEST_P(SharedQueue, QueueInUseIsBusy) {
  Pair p = Shared();
  EXPECT_EQ(srq_.Close().error(), EBUSY);
  Must(p.b.qp.Close());
  EXPECT_EQ(srq_.Close().error(), 0);
}

TEST_P(SharedQueue, ErrorOfOneQpLeavesTheRequestsToTheOthers) {
  Pair p = Shared(), q = Shared();
  for (uint64_t id = 0; id < 5; id++) Must(srq_.Post(Recv(id)));
  Must(p.b.qp.ModifyState(IBV_QPS_ERR));
  ExpectQuiet(p.b.recv_cq);
  for (uint64_t id = 0; id < 5; id++) {
    Must(q.a.qp.Post(Send(0)));
    EXPECT_EQ(Await(q.b.recv_cq).wr_id, id);
  }
}

TEST_P(SharedQueue, LastWqeReachedComesOnceWhenTheQpFails) {
  Pair p = Shared();
  Must(srq_.Post(Recv(1)));
  Must(p.a.qp.Post(Send(2)));
  EXPECT_EQ(Await(p.b.recv_cq).wr_id, 1u);
  Must(p.b.qp.ModifyState(IBV_QPS_ERR));
  for (;;) {
    ibv_async_event event = Must(b_.ctx.WaitEvent(Patience()));
    if (event.event_type == IBV_EVENT_COMM_EST) continue;
    EXPECT_EQ(event.event_type, IBV_EVENT_QP_LAST_WQE_REACHED);
    EXPECT_EQ(event.element.qp, p.b.qp.get());
    break;
  }
  ExpectNoEvent();
  // Nor when more is flushed.
  Must(p.b.qp.Post(SendWr::Send(3, b_.mr.Slice(0, 8))));
  EXPECT_EQ(Await(p.b.send_cq).status, IBV_WC_WR_FLUSH_ERR);
  ExpectNoEvent();
}

TEST_P(SharedQueue, UdQpsCanUseItToo) {
  constexpr uint32_t kQkey = 0x123;
  End x = End::Create(a_, {.type = IBV_QPT_UD});
  End y = End::Create(b_, {.type = IBV_QPT_UD, .srq = &srq_});
  Must(BringUpUd(x.qp, a_.port, kQkey));
  Must(BringUpUd(y.qp, b_.port, kQkey));
  Ah ah = Must(Ah::Create(a_.pd, AhAttr(a_.port, b_.port.gid)));
  FillPattern(a_.bytes(0, 500), 3);
  Must(srq_.Post(Recv(0)));
  Must(x.qp.Post(Send(0, 500).To(ah.get(), y.qp.num(), kQkey)));
  ExpectWc(Await(y.recv_cq), {.wr_id = 0,
                              .opcode = IBV_WC_RECV,
                              .qp_num = y.qp.num(),
                              .byte_len = 540,
                              .flags = IBV_WC_GRH,
                              .src_qp = x.qp.num()});
  ExpectPattern(b_.bytes(40, 500), 3);
}

TEST_P(SharedQueue, MessageLongerThanItsBufferFailsOnlyItsConnection) {
  Pair p = Shared(), q = Shared();
  Must(srq_.Post(RecvWr(1, {b_.mr.Slice(0, 100)})));
  Must(srq_.Post(Recv(2)));
  Must(p.a.qp.Post(Send(0)));
  ExpectFailed(Await(p.b.recv_cq), 1, IBV_WC_LOC_LEN_ERR, p.b.qp.num());
  ExpectFailed(Await(p.a.send_cq), 0, IBV_WC_REM_INV_REQ_ERR, p.a.qp.num());
  Must(q.a.qp.Post(Send(0)));
  EXPECT_EQ(Await(q.b.recv_cq).wr_id, 2u);
}

// IBTA vol. 1, 10.2.9: a queue's protection domain is that of its requests.
TEST_P(SharedQueue, ProtectionDomainOfTheQueueGovernsItsRequests) {
  Pd other = Must(Pd::Create(b_.ctx));
  Mr mr = Must(Mr::Register(other, b_.bytes(0, 4096)));
  srq_ = Must(Srq::Create(other, 64, 4));
  Pair p = Shared();
  FillPattern(a_.bytes(0, 1000), 5);
  Must(srq_.Post(RecvWr(1, {mr.Slice(0, 1000)})));
  Must(p.a.qp.Post(Send(0)));
  ExpectWc(Await(p.b.recv_cq),
           {.wr_id = 1, .opcode = IBV_WC_RECV, .qp_num = p.b.qp.num(), .byte_len = 1000});
  EXPECT_EQ(Await(p.a.send_cq).status, IBV_WC_SUCCESS);
  ExpectPattern(b_.bytes(0, 1000), 5);

  Must(srq_.Post(Recv(2)));  // of the QP's domain, which is not the queue's
  Must(p.a.qp.Post(Send(0)));
  ExpectFailed(Await(p.b.recv_cq), 2, IBV_WC_LOC_PROT_ERR, p.b.qp.num());
  ExpectFailed(Await(p.a.send_cq), 0, IBV_WC_REM_OP_ERR, p.a.qp.num());
}

// ibv_modify_srq(3): what is posted stays, in its order, and the new size is the size.
TEST_P(SharedQueue, ResizeKeepsWhatIsPosted) {
  Pair p = Shared(), q = Shared();
  uint64_t posted = 0, received = 0;
  auto post_to = [&](uint64_t end) {
    while (posted < end) Must(srq_.Post(RecvWr(posted++, {b_.mr.Slice(0, 1024)})));
  };
  auto receive_to = [&](uint64_t end) {
    for (; received < end; received++) {
      Pair& next = received % 3 ? p : q;
      Must(next.a.qp.Post(Send(0)));
      EXPECT_EQ(Await(next.b.recv_cq).wr_id, received);
      EXPECT_EQ(Await(next.a.send_cq).status, IBV_WC_SUCCESS);
    }
  };
  post_to(60);
  receive_to(10);
  for (uint32_t size : {500, 64, 100, 128}) {
    SCOPED_TRACE(size);
    Must(srq_.Resize(size));
    const uint32_t max = Must(srq_.Query()).max_wr;
    EXPECT_GE(max, size);
    post_to(received + max);
    EXPECT_EQ(srq_.Post(Recv(0)).error(), ENOMEM);
    receive_to(posted - 40);
  }
  receive_to(posted);
}

TEST_P(SharedQueue, ResizeThatFailsLeavesTheQueue) {
  Pair p = Shared();
  for (uint64_t id = 0; id < 33; id++) Must(srq_.Post(RecvWr(id, {b_.mr.Slice(0, 1024)})));
  EXPECT_EQ(srq_.Resize(32).error(), EINVAL);
  EXPECT_EQ(srq_.Resize(0).error(), EINVAL);
  EXPECT_EQ(srq_.Resize(Must(b_.ctx.QueryDevice()).max_srq_wr + 1).error(), EINVAL);
  EXPECT_EQ(srq_.Resize(128, 129).error(), EINVAL);
  EXPECT_EQ(Must(srq_.Query()).max_wr, 64u);
  EXPECT_EQ(Must(srq_.Query()).srq_limit, 0u);
  for (uint64_t id = 0; id < 33; id++) {
    Must(p.a.qp.Post(Send(0)));
    EXPECT_EQ(Await(p.b.recv_cq).wr_id, id);
    EXPECT_EQ(Await(p.a.send_cq).status, IBV_WC_SUCCESS);
    // Now they fit.
    if (id == 0) Must(srq_.Resize(32));
  }
}

// A program that may have no more memory to map keeps the queue that it has.
TEST_P(SharedQueue, ResizeWithoutRoomToMapLeavesTheQueue) {
  Pair p = Shared();
  Must(srq_.Post(Recv(1)));
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlimit none = {.rlim_cur = pages * 4096 + (1 << 20), .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &none), 0);
  const int error = srq_.Resize(32768).error();  // 4 MiB
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_EQ(error, ENOMEM);
  EXPECT_EQ(Must(srq_.Query()).max_wr, 64u);
  Must(srq_.Post(Recv(2)));
  Must(srq_.Resize(32768));
  Must(srq_.Post(Recv(3)));
  for (uint64_t id = 1; id <= 3; id++) {
    Must(p.a.qp.Post(Send(0)));
    EXPECT_EQ(Await(p.b.recv_cq).wr_id, id);
  }
}

TEST_P(SharedQueue, LimitAndSizeChangeTogetherOrNotAtAll) {
  Pair p = Shared();
  Must(srq_.SetLimit(50));
  EXPECT_EQ(srq_.Resize(32).error(), EINVAL);  // the limit that is armed would not fit
  EXPECT_EQ(srq_.Resize(32, 33).error(), EINVAL);
  EXPECT_EQ(Must(srq_.Query()).srq_limit, 50u);
  Must(srq_.Resize(32, 5));
  EXPECT_EQ(Must(srq_.Query()).max_wr, 32u);
  EXPECT_EQ(Must(srq_.Query()).srq_limit, 5u);
  EXPECT_EQ(srq_.SetLimit(33).error(), EINVAL);
  Must(srq_.Resize(256));
  for (uint64_t id = 0; id < 6; id++) Must(srq_.Post(Recv(id)));
  for (uint64_t id = 0; id < 2; id++) {
    Must(p.a.qp.Post(Send(0)));
    EXPECT_EQ(Await(p.a.send_cq).status, IBV_WC_SUCCESS);
    if (id == 0) ExpectNoEvent();  // 5 left
  }
  ExpectLimitEvent();
}

// Threads post, several QPs receive, and another thread changes the size meanwhile.
TEST_P(SharedQueue, ResizesUnderTrafficLoseNothing) {
  constexpr uint64_t kEach = 300;
  std::vector<Pair> pairs;
  for (int i = 0; i < 2; i++) pairs.push_back(Shared());
  std::atomic<uint64_t> resizes = 0;
  {
    const Loop resizer([&] {
      // 4: of each thread one is posted, and one may be by the other one.
      if (srq_.Resize(resizes % 2 ? 4 : 4096).ok()) resizes++;
    });
    std::vector<std::jthread> threads;
    for (Pair& p : pairs) {
      threads.emplace_back([&] {
        for (uint64_t id = 0; id < kEach; id++) {
          Must(srq_.Post(RecvWr(id, {b_.mr.Slice(0, 1024)})));
          Must(p.a.qp.Post(Send(0)));
          EXPECT_EQ(Await(p.b.recv_cq).status, IBV_WC_SUCCESS);
          EXPECT_EQ(Await(p.a.send_cq).status, IBV_WC_SUCCESS);
        }
      });
    }
  }
  EXPECT_GT(resizes, 0u);
  // Nothing was doubled, either: this one is the next.
  Must(srq_.Post(RecvWr(kEach, {b_.mr.Slice(0, 1024)})));
  Must(pairs[0].a.qp.Post(Send(0)));
  EXPECT_EQ(Await(pairs[0].b.recv_cq).wr_id, kEach);
}

class SharedQueueAtHome : public HostTest {};

TEST_F(SharedQueueAtHome, DeviceTellsThatItResizes) {
  EXPECT_TRUE(Must(a_.ctx.QueryDevice()).device_cap_flags & IBV_DEVICE_SRQ_RESIZE);
}

TEST_F(SharedQueueAtHome, LimitsOfTheDeviceAreEnforced) {
  ibv_device_attr attr = Must(a_.ctx.QueryDevice());
  ASSERT_GT(attr.max_srq_wr, 0);
  ASSERT_GT(attr.max_srq_sge, 0);
  EXPECT_EQ(Srq::Create(a_.pd, attr.max_srq_wr + 1).error(), EINVAL);
  EXPECT_EQ(Srq::Create(a_.pd, 16, attr.max_srq_sge + 1).error(), EINVAL);
  EXPECT_EQ(Srq::Create(a_.pd, 16, attr.max_srq_sge).error(), 0);
  EXPECT_EQ(Srq::Create(a_.pd, 0).error(), EINVAL);
}

TEST_F(SharedQueueAtHome, QueryTellsAtLeastWhatWasAsked) {
  for (uint32_t size : {1, 2, 7, 100, 5000}) {
    Srq srq = Must(Srq::Create(a_.pd, size, 3));
    ibv_srq_attr attr = Must(srq.Query());
    EXPECT_GE(attr.max_wr, size);
    EXPECT_GE(attr.max_sge, 3u);
    EXPECT_EQ(attr.srq_limit, 0u);
  }
}

// ibv_create_srq(3): the limit is irrelevant there; it is armed by ibv_modify_srq() alone.
TEST_F(SharedQueueAtHome, CreationArmsNoLimit) {
  for (uint32_t limit : {8u, 1000u}) {
    SCOPED_TRACE(limit);
    ibv_srq_init_attr init = {.attr = {.max_wr = 16, .max_sge = 1, .srq_limit = limit}};
    Srq srq(ibv_create_srq(a_.pd.get(), &init));
    ASSERT_TRUE(srq) << std::strerror(errno);
    EXPECT_EQ(Must(srq.Query()).srq_limit, 0u);
    End receiver = End::Create(a_, {.srq = &srq});
    End sender = End::Create(a_);
    Must(Connect(sender.qp, a_.port, receiver.qp, a_.port));
    for (uint64_t id = 0; id < 10; id++) Must(srq.Post(RecvWr(id, {a_.mr.Slice(8192, 64)})));
    for (uint64_t id = 0; id < 5; id++) {
      Must(sender.qp.Post(SendWr::Send(id, a_.mr.Slice(0, 64))));
      EXPECT_EQ(Await(receiver.recv_cq).wr_id, id);
    }
    EXPECT_EQ(a_.ctx.WaitEvent(Silence()).error(), ETIMEDOUT);
  }
}

// ibv_create_qp(3): of other types than RC and UD it fails.
TEST_F(SharedQueueAtHome, UcQpsCannotUseIt) {
  Srq srq = Must(Srq::Create(a_.pd, 16));
  Cq cq = Must(Cq::Create(a_.ctx, 16));
  EXPECT_EQ(Qp::Create(a_.pd, cq, cq, {.type = IBV_QPT_UC, .srq = &srq}).error(), EINVAL);
  EXPECT_EQ(Qp::Create(a_.pd, cq, cq, {.type = IBV_QPT_RC, .srq = &srq}).error(), 0);
  EXPECT_EQ(Qp::Create(a_.pd, cq, cq, {.type = IBV_QPT_UD, .srq = &srq}).error(), 0);
}

TEST_F(SharedQueueAtHome, ManyRoundsUseEverySlot) {
  Srq srq = Must(Srq::Create(a_.pd, 10));
  End receiver = End::Create(a_, {.srq = &srq});
  End sender = End::Create(a_);
  Must(Connect(sender.qp, a_.port, receiver.qp, a_.port));
  for (uint64_t id = 0; id < 200; id++) {
    Must(srq.Post(RecvWr(id, {a_.mr.Slice(8192, 64)})));
    Must(sender.qp.Post(SendWr::Send(id, a_.mr.Slice(0, 64))));
    EXPECT_EQ(Await(receiver.recv_cq).wr_id, id);
    EXPECT_EQ(Await(sender.send_cq).wr_id, id);
  }
}

SRN_OVER_BOTH_IP(SharedQueue);

}  // namespace
}  // namespace verbs_test
