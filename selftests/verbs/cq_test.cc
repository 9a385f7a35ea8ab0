// SPDX-License-Identifier: GPL-2.0-only
// Completion queues: sizes, vectors, resizing, wrapping, overflow.
#include <sys/sysinfo.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include <share/parameter.h>

#include "env.h"

namespace verbs_test {
namespace {

class CompletionQueue : public HostTest {
 protected:
  // A QP without peer on this queue: what is posted comes back as flushed, so
  // that completions can be made at will.
  Qp ErrorQp(const Cq& cq, uint32_t depth) {
    Qp qp = Must(Qp::Create(a_.pd, cq, cq, {.max_send_wr = depth, .max_recv_wr = depth}));
    Transition t = ToInit(IBV_QPT_RC, a_.port);
    Must(qp.Modify(t.attr, t.mask));
    Must(qp.ModifyState(IBV_QPS_ERR));
    return qp;
  }
  // Makes completions with the wr_ids `first` to `first` + count - 1.
  void Make(const Qp& qp, uint64_t first, uint64_t count) {
    for (uint64_t id = first; id < first + count; id++)
      Must(qp.Post(RecvWr(id, {a_.mr.Slice(0, 8)})));
  }
  // The same one by one, each of them in the queue before the next is asked for: a worker may make
  // what is posted at once, and nobody sees how far it is without consuming.
  void MakeSurely(const CompChannel& channel, const Cq& cq, const Qp& qp, uint64_t count) {
    for (uint64_t id = 0; id < count; id++) {
      Must(cq.Arm());
      Make(qp, id, 1);
      Must(channel.Wait(Patience()));
    }
  }
  void ExpectNext(const Cq& cq, uint64_t first, uint64_t count) {
    for (uint64_t id = first; id < first + count; id++) ASSERT_EQ(Await(cq).wr_id, id);
  }
};

TEST_F(CompletionQueue, EverySizeUpToTheLimitCanBeCreated) {
  const int max = Must(a_.ctx.QueryDevice()).max_cqe;
  ASSERT_GE(max, 4 << 20);
  for (int entries : {1, 2, 3, 63, 64, 65, 1000, 4096, 65537, 1 << 20, 4 << 20, max}) {
    SCOPED_TRACE(entries);
    Cq cq = Must(Cq::Create(a_.ctx, entries));
    EXPECT_GE(cq->cqe, entries);
    EXPECT_FALSE(cq.Poll());
  }
}

TEST_F(CompletionQueue, SizesOutsideTheLimitsAreRefused) {
  const int max = Must(a_.ctx.QueryDevice()).max_cqe;
  EXPECT_EQ(Cq::Create(a_.ctx, 0).error(), EINVAL);
  EXPECT_EQ(Cq::Create(a_.ctx, -1).error(), EINVAL);
  EXPECT_EQ(Cq::Create(a_.ctx, max + 1).error(), EINVAL);
}

TEST_F(CompletionQueue, VectorsOutsideTheDeviceAreRefused) {
  const int vectors = a_.ctx->num_comp_vectors;
  ASSERT_GT(vectors, 0);
  for (int vector = 0; vector < vectors; vector++)
    EXPECT_EQ(Cq::Create(a_.ctx, 8, {.vector = vector}).error(), 0);
  EXPECT_EQ(Cq::Create(a_.ctx, 8, {.vector = vectors}).error(), EINVAL);
  EXPECT_EQ(Cq::Create(a_.ctx, 8, {.vector = -1}).error(), EINVAL);
}

// Unless CPUs are isolated, or have gone since the device was made.
TEST_F(CompletionQueue, VectorsAreAsManyAsProcessors) {
  EXPECT_EQ(a_.ctx->num_comp_vectors, std::min(get_nprocs(), 64));
}

// On the processor of its vector or on the one that completes: each event is told of, and whoever
// does not wait for it may take queue and channel away.
TEST_F(CompletionQueue, EventsOfEachVectorCome) {
  const share::ScopedParameter vectors("vectors");
  for (const char* whose : {"all", "kernel", "softirq", "off"}) {
    ASSERT_TRUE(vectors.Set(whose));
    for (int vector = 0; vector < a_.ctx->num_comp_vectors; vector++) {
      SCOPED_TRACE(testing::Message() << whose << ", vector " << vector);
      const CompChannel channel = Must(CompChannel::Create(a_.ctx));
      Cq cq = Must(Cq::Create(a_.ctx, 256, {.channel = &channel, .vector = vector}));
      Qp qp = ErrorQp(cq, 256);
      MakeSurely(channel, cq, qp, 100);
      ExpectNext(cq, 0, 100);
      Must(cq.Arm());
      Make(qp, 100, 1);
    }
  }
}

TEST_F(CompletionQueue, EverySlotIsUsedManyTimes) {
  for (int entries : {1, 3, 16, 100}) {
    SCOPED_TRACE(entries);
    Cq cq = Must(Cq::Create(a_.ctx, entries));
    Qp qp = ErrorQp(cq, entries);
    for (uint64_t round = 0; round < 40; round++) {
      // Full each time, and another position of the wrap each time.
      const uint64_t count = 1 + (round + entries - 1) % entries;
      Make(qp, 1000 * round, count);
      ExpectNext(cq, 1000 * round, count);
    }
    EXPECT_FALSE(cq.Poll());
  }
}

TEST_F(CompletionQueue, PollTakesAtMostWhatIsAskedAndIsThere) {
  Cq cq = Must(Cq::Create(a_.ctx, 64));
  Qp qp = ErrorQp(cq, 64);
  Make(qp, 0, 10);
  ASSERT_EQ(Await(cq).wr_id, 0u);
  // The others may come a little later.
  std::vector<ibv_wc> wc(20);
  int total = 0;
  const auto deadline = std::chrono::steady_clock::now() + Patience();
  while (total < 9 && std::chrono::steady_clock::now() < deadline) {
    int count = cq.PollRaw(wc.data(), 4);
    ASSERT_GE(count, 0);
    ASSERT_LE(count, 4);
    for (int i = 0; i < count; i++) EXPECT_EQ(wc[i].wr_id, static_cast<uint64_t>(++total));
  }
  EXPECT_EQ(total, 9);
  EXPECT_EQ(cq.PollRaw(wc.data(), 20), 0);
  EXPECT_EQ(cq.PollRaw(wc.data(), 0), 0);
}

TEST_F(CompletionQueue, HundredThousandCompletionsFitABigQueue) {
  constexpr uint32_t kDepth = 10000, kQps = 10;
  Cq cq = Must(Cq::Create(a_.ctx, kDepth * kQps));
  std::vector<Qp> qps;
  for (uint32_t i = 0; i < kQps; i++) {
    qps.push_back(ErrorQp(cq, kDepth));
    Make(qps.back(), i * kDepth, kDepth);
  }
  std::vector<bool> seen(kDepth * kQps);
  for (uint32_t i = 0; i < kDepth * kQps; i++) {
    ibv_wc wc = Await(cq);
    ASSERT_LT(wc.wr_id, seen.size());
    EXPECT_FALSE(seen[wc.wr_id]);
    seen[wc.wr_id] = true;
  }
  EXPECT_FALSE(cq.Poll());
}

TEST_F(CompletionQueue, ResizeKeepsWhatIsInside) {
  Cq cq = Must(Cq::Create(a_.ctx, 16));
  Qp qp = ErrorQp(cq, 1024);
  // Starts off the beginning of the ring, so that it wraps.
  Make(qp, 0, 11);
  ExpectNext(cq, 0, 11);

  Make(qp, 100, 10);
  ASSERT_EQ(Await(cq).wr_id, 100u);
  Must(cq.Resize(300));
  EXPECT_GE(cq->cqe, 300);
  Make(qp, 110, 250);
  ExpectNext(cq, 101, 259);

  Make(qp, 400, 20);
  Must(cq.Resize(32));
  EXPECT_GE(cq->cqe, 32);
  EXPECT_LT(cq->cqe, 300);
  ExpectNext(cq, 400, 20);
  Make(qp, 500, 30);
  ExpectNext(cq, 500, 30);
  EXPECT_FALSE(cq.Poll());
}

TEST_F(CompletionQueue, ResizeBelowTheCountIsRefused) {
  const CompChannel channel = Must(CompChannel::Create(a_.ctx));
  Cq cq = Must(Cq::Create(a_.ctx, 256, {.channel = &channel}));
  Qp qp = ErrorQp(cq, 256);
  MakeSurely(channel, cq, qp, 200);
  EXPECT_EQ(cq.Resize(100).error(), EINVAL);
  ExpectNext(cq, 0, 200);
  EXPECT_FALSE(cq.Poll());
}

// What is inside fills the new ring, to the last slot.
TEST_F(CompletionQueue, ResizeToTheCountKeepsAll) {
  const CompChannel channel = Must(CompChannel::Create(a_.ctx));
  Cq cq = Must(Cq::Create(a_.ctx, 64, {.channel = &channel}));
  Qp qp = ErrorQp(cq, 64);
  MakeSurely(channel, cq, qp, 32);
  Must(cq.Resize(32));
  EXPECT_EQ(cq->cqe, 32);
  ExpectNext(cq, 0, 32);
  EXPECT_FALSE(cq.Poll());
}

TEST_F(CompletionQueue, ResizeOutsideTheLimitsIsRefused) {
  Cq cq = Must(Cq::Create(a_.ctx, 16));
  const int before = cq->cqe;
  EXPECT_EQ(cq.Resize(0).error(), EINVAL);
  EXPECT_EQ(cq.Resize(Must(a_.ctx.QueryDevice()).max_cqe + 1).error(), EINVAL);
  EXPECT_EQ(cq->cqe, before);
  Qp qp = ErrorQp(cq, 16);
  Make(qp, 0, 16);
  ExpectNext(cq, 0, 16);
}

TEST_F(CompletionQueue, ResizeAgainAndAgainWhileCompletionsCome) {
  Cq cq = Must(Cq::Create(a_.ctx, 64));
  Qp qp = ErrorQp(cq, 64);
  for (uint64_t round = 0; round < 60; round++) {
    Make(qp, round * 20, 20);
    Must(cq.Resize(round % 2 ? 64 : 500 + round));
    ExpectNext(cq, round * 20, 20);
  }
}

TEST_F(CompletionQueue, QueueInUseIsBusy) {
  Cq cq = Must(Cq::Create(a_.ctx, 16));
  Qp qp = Must(Qp::Create(a_.pd, cq, cq, {}));
  EXPECT_EQ(cq.Close().error(), EBUSY);
  Must(qp.Close());
  EXPECT_EQ(cq.Close().error(), 0);
}

TEST_F(CompletionQueue, OverflowIsAnEventAndHarmsNoOtherQueue) {
  Cq small = Must(Cq::Create(a_.ctx, 4));
  Cq other = Must(Cq::Create(a_.ctx, 64));
  const uint64_t room = small->cqe;
  Qp qp = ErrorQp(small, 256);
  Qp healthy = ErrorQp(other, 64);

  EXPECT_EQ(a_.ctx.WaitEvent(Timeout(0)).error(), ETIMEDOUT);
  // A provider may give more slots than asked, and use one more than it says.
  for (uint64_t id = 0; id < 4 * room + 8 && id < 256; id++)
    (void)qp.Post(RecvWr(id, {a_.mr.Slice(0, 8)}));
  bool seen = false;
  for (;;) {
    Result<ibv_async_event> event = a_.ctx.WaitEvent(seen ? Silence() : Patience());
    if (!event.ok()) break;
    // A QP whose completion was lost may say so, too.
    if (event->event_type != IBV_EVENT_CQ_ERR) continue;
    EXPECT_EQ(event->element.cq, small.get());
    EXPECT_FALSE(seen) << "told twice";
    seen = true;
  }
  EXPECT_TRUE(seen);

  Make(healthy, 0, 40);
  ExpectNext(other, 0, 40);
}

TEST_F(CompletionQueue, OverflowIsFatalForTheQpThatLostItsCompletion) {
  Cq small = Must(Cq::Create(a_.ctx, 1));
  End peer = End::Create(a_);
  Cq recv_cq = Must(Cq::Create(a_.ctx, 16));
  Qp qp = Must(Qp::Create(a_.pd, small, recv_cq, {.max_send_wr = 64}));
  Must(Connect(qp, a_.port, peer.qp, a_.port));

  const uint64_t room = small->cqe;
  for (uint64_t id = 0; id < 4 * room + 8 && id < 64; id++)
    Must(qp.Post(SendWr::Write(id, a_.mr.Slice(0, 8), a_.mr.At(4096))));
  bool cq_error = false, qp_fatal = false;
  while (!cq_error || !qp_fatal) {
    ibv_async_event event = Must(a_.ctx.WaitEvent(Patience()));
    if (event.event_type == IBV_EVENT_CQ_ERR) {
      EXPECT_EQ(event.element.cq, small.get());
      cq_error = true;
    } else if (event.event_type == IBV_EVENT_QP_FATAL) {
      EXPECT_EQ(event.element.qp, qp.get());
      qp_fatal = true;
    }
  }
  ExpectReaches(qp, IBV_QPS_ERR);
  Must(qp.Close());
}

// The extended interface: fields one by one.
class ExtendedCq : public CompletionQueue {
 protected:
  ibv_cq_ex* Create(uint64_t wc_flags, uint32_t entries = 64) {
    ibv_cq_init_attr_ex attr = {};
    attr.cqe = entries;
    attr.wc_flags = wc_flags;
    errno = 0;
    return ibv_create_cq_ex(a_.ctx.get(), &attr);
  }
};

TEST_F(ExtendedCq, PollsFieldByField) {
  ibv_cq_ex* raw = Create(IBV_WC_STANDARD_FLAGS);
  if (!raw && errno == EOPNOTSUPP) {
    SRN_SKIP_FOREIGN() << "no extended queues";
  }
  ASSERT_TRUE(raw) << std::strerror(errno);
  Cq cq(ibv_cq_ex_to_cq(raw));
  ibv_poll_cq_attr attr = {};
  EXPECT_EQ(ibv_start_poll(raw, &attr), ENOENT);

  End one = {Must(Cq::Create(a_.ctx, 64)), Must(Cq::Create(a_.ctx, 64)),
             Must(Qp::Create(a_.pd, cq, cq, {}))};
  End two = End::Create(a_);
  Must(Connect(one.qp, a_.port, two.qp, a_.port));
  for (uint64_t id = 0; id < 3; id++) {
    Must(one.qp.Post(RecvWr(id, {a_.mr.Slice(4096, 64)})));
    Must(two.qp.Post(SendWr::Send(id, a_.mr.Slice(0, 10 + id)).Imm(7)));
    EXPECT_EQ(Await(two.send_cq).status, IBV_WC_SUCCESS);
  }
  const auto deadline = std::chrono::steady_clock::now() + Patience();
  int rc;
  while ((rc = ibv_start_poll(raw, &attr)) == ENOENT)
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
  ASSERT_EQ(rc, 0);
  for (uint64_t id = 0; id < 3; id++) {
    EXPECT_EQ(raw->wr_id, id);
    EXPECT_EQ(raw->status, IBV_WC_SUCCESS);
    EXPECT_EQ(ibv_wc_read_opcode(raw), IBV_WC_RECV);
    EXPECT_EQ(ibv_wc_read_byte_len(raw), 10 + id);
    EXPECT_EQ(ibv_wc_read_qp_num(raw), one.qp.num());
    EXPECT_TRUE(ibv_wc_read_wc_flags(raw) & IBV_WC_WITH_IMM);
    EXPECT_EQ(ibv_wc_read_imm_data(raw), htobe32(7));
    EXPECT_EQ(ibv_next_poll(raw), id < 2 ? 0 : ENOENT);
  }
  ibv_end_poll(raw);
  rc = ibv_start_poll(raw, &attr);
  // Else the queue would stay locked.
  if (rc == 0) ibv_end_poll(raw);
  EXPECT_EQ(rc, ENOENT);
  // The next one is found where polling ended.
  Must(one.qp.Post(RecvWr(9, {a_.mr.Slice(4096, 64)})));
  Must(two.qp.Post(SendWr::Send(9, a_.mr.Slice(0, 10))));
  EXPECT_EQ(Await(cq).wr_id, 9u);
  Must(one.qp.Close());
}

TEST_F(ExtendedCq, UnknownFlagsAreRefused) {
  ibv_cq_ex* raw = Create(uint64_t{1} << 40);
  EXPECT_FALSE(raw);
  EXPECT_TRUE(errno == EOPNOTSUPP || errno == EINVAL) << errno;
}

}  // namespace
}  // namespace verbs_test
