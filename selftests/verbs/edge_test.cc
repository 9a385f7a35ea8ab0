// SPDX-License-Identifier: GPL-2.0-only
// Edges of objects: the end of the address space, domains, clocks, queues that overran.
#include <sys/mman.h>

#include <fstream>
#include <thread>

#include "env.h"

namespace verbs_test {
namespace {

// Edges of memory regions, on host B, seen from host A.
class RegionEdge : public WireTest {
 protected:
  ibv_wc_status Write(const Mr& mr, uint64_t addr, uint32_t length = 8) {
    Pair p = Connected();
    Must(p.a.qp.Post(SendWr::Write(1, a_.mr.Slice(0, length), {addr, mr->rkey})));
    return Await(p.a.send_cq).status;
  }
  // kB that this process has pinned.
  static long Pinned() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("VmPin:")) return std::stol(line.substr(6));
    return -1;
  }
};

TEST_P(RegionEdge, MayEndWhereAddressesEnd) {
  const uint64_t last = uint64_t{0} - 8192;
  Mr mr = Must(Mr::RegisterAt(b_.pd, b_.bytes(0, 8192), last));
  FillPattern(a_.bytes(0, 64), 5);
  EXPECT_EQ(Write(mr, uint64_t{0} - 64, 64), IBV_WC_SUCCESS);
  ExpectPattern(b_.bytes(8192 - 64, 64), 5);
  EXPECT_EQ(Write(mr, last - 1), IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(Mr::RegisterAt(b_.pd, b_.bytes(0, 8192), last + 4096).error(), EINVAL);
}

TEST_P(RegionEdge, ZeroBasedIsAddressedFromZero) {
  Mr mr = Must(Mr::Register(b_.pd, b_.bytes(100, 8192),
                            (kAllAccess & ~IBV_ACCESS_MW_BIND) | IBV_ACCESS_ZERO_BASED));
  FillPattern(a_.bytes(0, 64), 6);
  EXPECT_EQ(Write(mr, 8192 - 64, 64), IBV_WC_SUCCESS);
  ExpectPattern(b_.bytes(100 + 8192 - 64, 64), 6);
  EXPECT_EQ(Write(mr, 8192 - 63, 64), IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(Write(mr, mr.At(0).addr), IBV_WC_REM_ACCESS_ERR);
  // Aligned by its address, and not in memory.
  Pair p = Connected();
  Must(p.a.qp.Post(SendWr::FetchAdd(1, a_.mr.Slice(0, 8), {0, mr->rkey}, 1)));
  EXPECT_EQ(Await(p.a.send_cq).status, IBV_WC_REM_INV_REQ_ERR);
}

TEST_P(RegionEdge, BecomesZeroBasedAndBack) {
  Mr mr = Must(Mr::Register(b_.pd, b_.bytes(0, 8192)));
  const uint64_t addr = mr.At(0).addr;
  for (int round = 0; round < 2; round++) {
    EXPECT_EQ(Write(mr, addr), IBV_WC_SUCCESS);
    EXPECT_EQ(Write(mr, 0), IBV_WC_REM_ACCESS_ERR);
    ASSERT_EQ(mr.Reregister(IBV_REREG_MR_CHANGE_ACCESS, nullptr, {},
                            (kAllAccess & ~IBV_ACCESS_MW_BIND) | IBV_ACCESS_ZERO_BASED),
              0);
    EXPECT_EQ(Write(mr, 0), IBV_WC_SUCCESS);
    EXPECT_EQ(Write(mr, addr), IBV_WC_REM_ACCESS_ERR);
    ASSERT_EQ(mr.Reregister(IBV_REREG_MR_CHANGE_ACCESS, nullptr, {}, kAllAccess), 0);
  }
}

// Pages that were pinned to be read are not written because the rights say so.
TEST_P(RegionEdge, RightToWriteNeedsPagesThatMayBeWritten) {
  Buffer page = Must(Buffer::Map(4096));
  FillPattern(page.bytes(), 3);
  ASSERT_EQ(mprotect(page.data(), page.size(), PROT_READ), 0);
  Mr mr = Must(Mr::Register(b_.pd, page.bytes(), IBV_ACCESS_REMOTE_READ));
  EXPECT_NE(mr.Reregister(IBV_REREG_MR_CHANGE_ACCESS, nullptr, {}, kAllAccess), 0);
  EXPECT_EQ(Write(mr, mr.At(0).addr), IBV_WC_REM_ACCESS_ERR);
  ExpectPattern(page.bytes(), 3);
}

TEST_P(RegionEdge, StaysAsItIsWhileAWindowIsBound) {
  Pair p = Connected();
  Mr mr = Must(Mr::Register(b_.pd, b_.bytes(0, 8192)));
  Mw mw = Must(Mw::Create(b_.pd, IBV_MW_TYPE_2));
  const uint32_t key = ibv_inc_rkey(mw->rkey);
  Must(p.b.qp.Post(SendWr::BindMw(1, mw.get(), key,
                                  {.mr = mr.get(),
                                   .addr = mr.At(0).addr,
                                   .length = 4096,
                                   .mw_access_flags = IBV_ACCESS_REMOTE_WRITE})));
  EXPECT_EQ(Await(p.b.send_cq).status, IBV_WC_SUCCESS);
  EXPECT_NE(mr.Reregister(IBV_REREG_MR_CHANGE_ACCESS, nullptr, {}, IBV_ACCESS_REMOTE_READ), 0);
  EXPECT_NE(mr.Reregister(IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, b_.bytes(8192, 4096), 0), 0);
  FillPattern(a_.bytes(0, 64), 8);
  Must(p.a.qp.Post(SendWr::Write(2, a_.mr.Slice(0, 64), {mr.At(0).addr, key})));
  EXPECT_EQ(Await(p.a.send_cq).status, IBV_WC_SUCCESS);
  ExpectPattern(b_.bytes(0, 64), 8);
  Must(p.b.qp.Post(SendWr::LocalInvalidate(3, key)));
  EXPECT_EQ(Await(p.b.send_cq).status, IBV_WC_SUCCESS);
  EXPECT_EQ(mr.Reregister(IBV_REREG_MR_CHANGE_ACCESS, nullptr, {}, IBV_ACCESS_REMOTE_READ), 0);
}

TEST_P(RegionEdge, WhatItWasBeforeIsPinnedNoLonger) {
  const long before = Pinned();
  ASSERT_GE(before, 0);
  {
    Mr mr = Must(Mr::Register(b_.pd, b_.bytes(0, 8192)));
    for (size_t i = 1; i <= 8; i++)
      ASSERT_EQ(
          mr.Reregister(IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, b_.bytes(i * 8192, 8192), 0), 0);
    EXPECT_EQ(Pinned(), before + 8);
  }
  EXPECT_EQ(Pinned(), before);
}

SRN_OVER_BOTH_IP(RegionEdge);

class HandleEdge : public WireTest {};

TEST_P(HandleEdge, OfAnotherDomainIsNotTheQps) {
  constexpr uint32_t kQkey = 0x1234;
  Pd other = Must(Pd::Create(a_.ctx));
  Ah ah = Must(Ah::Create(other, AhAttr(a_.port, b_.port.gid)));
  End x = End::Create(a_, {.type = IBV_QPT_UD});
  Must(BringUpUd(x.qp, a_.port, kQkey));
  Must(x.qp.Post(SendWr::Send(1, a_.mr.Slice(0, 8)).To(ah.get(), 0xfffffa, kQkey)));
  ExpectFailed(Await(x.send_cq), 1, IBV_WC_LOC_QP_OP_ERR, x.qp.num());
}

TEST_P(HandleEdge, ServiceLevelsEndAt15) {
  ibv_ah_attr attr = AhAttr(a_.port, b_.port.gid);
  attr.sl = 15;
  Must(Ah::Create(a_.pd, attr));
  attr.sl = 16;
  EXPECT_EQ(Ah::Create(a_.pd, attr).error(), EINVAL);
}

// No packet has addresses of both families, or none.
TEST_P(HandleEdge, AddressesAreOfOneFamily) {
  const Ip other = GetParam() == Ip::kV4 ? Ip::kV6 : Ip::kV4;
  const ibv_gid mixed = Must(b_.ctx.FindPort(other)).gid;
  for (const ibv_gid& gid : {mixed, ibv_gid{}}) {
    EXPECT_NE(Ah::Create(a_.pd, AhAttr(a_.port, gid)).error(), 0);
    End end = End::Create(a_);
    EXPECT_NE(ConnectTo(end.qp, a_.port, gid, 0xfffffa, 0, 0, {}).error(), 0);
  }
}

SRN_OVER_BOTH_IP(HandleEdge);

class QueueEdge : public HostTest {
 protected:
  // A QP in error: what is posted there completes, as flushed.
  Qp ErrorQp(const Cq& cq) {
    Qp qp = Must(Qp::Create(a_.pd, cq, cq, {.max_recv_wr = 64}));
    Must(Apply(qp, ToInit(IBV_QPT_RC, a_.port)));
    Must(qp.ModifyState(IBV_QPS_ERR));
    return qp;
  }
  uint64_t RawClock() {
    ibv_values_ex values = {};
    values.comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
    EXPECT_EQ(ibv_query_rt_values_ex(a_.ctx.get(), &values), 0);
    EXPECT_EQ(values.comp_mask, unsigned{IBV_VALUES_MASK_RAW_CLOCK});
    return static_cast<uint64_t>(values.raw_clock.tv_nsec);
  }
};

TEST_F(QueueEdge, SharedQueuesHaveNumbers) {
  Srq one = Must(Srq::Create(a_.pd, 4)), two = Must(Srq::Create(a_.pd, 4));
  uint32_t first = 0, second = 0;
  EXPECT_EQ(ibv_get_srq_num(one.get(), &first), 0);
  EXPECT_EQ(ibv_get_srq_num(two.get(), &second), 0);
  EXPECT_NE(first, second);
}

// Of both queues: a number may be the next QP's.
TEST_F(QueueEdge, DestroyedQpTakesItsCompletionsAlong) {
  End end = End::Create(a_);
  Must(ConnectTo(end.qp, a_.port, a_.port.gid, end.qp.num(), 5, 5, {}));
  Must(end.qp.Post(RecvWr(1, {a_.mr.Slice(4096, 8)})));
  Must(end.qp.Post(RecvWr(2, {a_.mr.Slice(4096, 8)})));
  for (uint64_t id = 3; id <= 4; id++) Must(end.qp.Post(SendWr::Send(id, a_.mr.Slice(0, 8))));
  // When the first of each is here, the second is, too, or not far.
  EXPECT_EQ(Await(end.recv_cq).wr_id, 1u);
  EXPECT_EQ(Await(end.send_cq).wr_id, 3u);
  std::this_thread::sleep_for(Silence());
  Must(end.qp.Close());
  ExpectQuiet(end.send_cq);
  ExpectQuiet(end.recv_cq);
}

// A completion is lost for good, whatever is done with the queue. To a QP that is in error already
// it says nothing new.
TEST_F(QueueEdge, ResizeDoesNotMendAnOverrun) {
  Cq cq = Must(Cq::Create(a_.ctx, 4));
  Qp qp = ErrorQp(cq);
  const int room = cq->cqe;
  for (int i = 0; i < room + 3; i++)
    (void)qp.Post(RecvWr(static_cast<uint64_t>(i), {a_.mr.Slice(0, 8)}));
  for (;;) {
    const Result<ibv_async_event> event = a_.ctx.WaitEvent(Silence());
    if (!event.ok()) break;
    EXPECT_EQ(event->event_type, IBV_EVENT_CQ_ERR) << ibv_event_type_str(event->event_type);
  }
  Must(cq.Resize(64));
  EXPECT_GE(cq->cqe, 64);
  ibv_wc wc;
  for (int i = 0; i < room; i++) ASSERT_EQ(cq.PollRaw(&wc, 1), 1);
  EXPECT_LT(cq.PollRaw(&wc, 1), 0);
}

// Of the clock that ibv_query_rt_values_ex tells.
TEST_F(QueueEdge, TimestampIsTheTimeOfTheCompletion) {
  ibv_cq_init_attr_ex attr = {};
  attr.cqe = 16;
  attr.wc_flags = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
  ibv_cq_ex* raw = ibv_create_cq_ex(a_.ctx.get(), &attr);
  ASSERT_TRUE(raw);
  Cq cq(ibv_cq_ex_to_cq(raw));
  Qp qp = ErrorQp(cq);
  uint64_t before = RawClock();
  for (uint64_t id = 0; id < 3; id++) {
    Must(qp.Post(RecvWr(id, {a_.mr.Slice(0, 8)})));
    ibv_poll_cq_attr poll = {};
    const auto deadline = std::chrono::steady_clock::now() + Patience();
    while (ibv_start_poll(raw, &poll) == ENOENT)
      ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    const uint64_t stamp = ibv_wc_read_completion_ts(raw), after = RawClock();
    ibv_end_poll(raw);
    EXPECT_GT(stamp, before);
    EXPECT_LT(stamp, after);
    before = stamp;
  }
}

}  // namespace
}  // namespace verbs_test
