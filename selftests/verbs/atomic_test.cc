// SPDX-License-Identifier: GPL-2.0-only
// CAS, FAA and ATOMIC_WRITE.
#include <atomic>
#include <cstring>
#include <thread>

#include "env.h"

namespace verbs_test {
namespace {

class Atomic : public WireTest {
 protected:
  void SetUp() override {
    WireTest::SetUp();
    pair_ = Connected();
  }
  // The 64-bit word at this offset of a buffer.
  static uint64_t& Word(const Host& host, size_t offset) {
    return *reinterpret_cast<uint64_t*>(host.buffer.data() + offset);
  }
  Wc Done(uint64_t id, ibv_wc_opcode opcode) {
    return {.wr_id = id, .opcode = opcode, .qp_num = pair_.a.qp.num(), .byte_len = 8};
  }

  Pair pair_;
};

TEST_P(Atomic, FetchAddReturnsTheOldValueAndAdds) {
  Word(b_, 64) = 40;
  Must(pair_.a.qp.Post(SendWr::FetchAdd(1, a_.mr.Slice(0, 8), b_.mr.At(64), 2)));
  ExpectWc(Await(pair_.a.send_cq), Done(1, IBV_WC_FETCH_ADD));
  EXPECT_EQ(Word(a_, 0), 40u);
  EXPECT_EQ(Word(b_, 64), 42u);
}

TEST_P(Atomic, FetchAddWraps) {
  Word(b_, 64) = ~0ull - 1;
  Must(pair_.a.qp.Post(SendWr::FetchAdd(1, a_.mr.Slice(0, 8), b_.mr.At(64), 5)));
  ExpectWc(Await(pair_.a.send_cq), Done(1, IBV_WC_FETCH_ADD));
  EXPECT_EQ(Word(a_, 0), ~0ull - 1);
  EXPECT_EQ(Word(b_, 64), 3u);
}

TEST_P(Atomic, CompareSwapSwapsOnlyWhatIsEqual) {
  constexpr uint64_t kOld = 0x0123456789abcdef, kNew = 0xfedcba9876543210;
  Word(b_, 64) = kOld;
  Must(pair_.a.qp.Post(SendWr::CompareSwap(1, a_.mr.Slice(0, 8), b_.mr.At(64), kOld ^ 1, kNew)));
  ExpectWc(Await(pair_.a.send_cq), Done(1, IBV_WC_COMP_SWAP));
  EXPECT_EQ(Word(a_, 0), kOld);
  EXPECT_EQ(Word(b_, 64), kOld);

  Must(pair_.a.qp.Post(SendWr::CompareSwap(2, a_.mr.Slice(8, 8), b_.mr.At(64), kOld, kNew)));
  ExpectWc(Await(pair_.a.send_cq), Done(2, IBV_WC_COMP_SWAP));
  EXPECT_EQ(Word(a_, 8), kOld);
  EXPECT_EQ(Word(b_, 64), kNew);
}

TEST_P(Atomic, NeighboursAreLeftAlone) {
  Fill(b_.bytes(0, 256), 0x11);
  Fill(a_.bytes(0, 256), 0x22);
  Must(pair_.a.qp.Post(SendWr::FetchAdd(1, a_.mr.Slice(64, 8), b_.mr.At(128), 0x100)));
  ExpectWc(Await(pair_.a.send_cq), Done(1, IBV_WC_FETCH_ADD));
  ExpectAll(b_.bytes(0, 128), 0x11);
  ExpectAll(b_.bytes(136, 120), 0x11);
  ExpectAll(a_.bytes(0, 64), 0x22);
  ExpectAll(a_.bytes(72, 184), 0x22);
}

TEST_P(Atomic, ResultMayBeScatteredToAnyAddress) {
  Word(b_, 64) = 0x1122334455667788;
  Must(pair_.a.qp.Post(SendWr::FetchAdd(1, a_.mr.Slice(4093, 8), b_.mr.At(64), 0)));
  ExpectWc(Await(pair_.a.send_cq), Done(1, IBV_WC_FETCH_ADD));
  EXPECT_EQ(std::memcmp(a_.buffer.data() + 4093, &Word(b_, 64), 8), 0);
}

TEST_P(Atomic, UnalignedTargetIsAnInvalidRequest) {
  for (size_t offset : {1, 2, 4, 7}) {
    SCOPED_TRACE(offset);
    pair_ = Connected();
    Fill(b_.bytes(0, 64), 0x33);
    Status status = pair_.a.qp.Post(SendWr::FetchAdd(1, a_.mr.Slice(0, 8), b_.mr.At(offset), 1));
    if (!status.ok()) {
      // A provider may see it before the wire does.
      EXPECT_EQ(status.error(), EINVAL);
      continue;
    }
    ExpectFailed(Await(pair_.a.send_cq), 1, IBV_WC_REM_INV_REQ_ERR, pair_.a.qp.num());
    ExpectAll(b_.bytes(0, 64), 0x33);
    ExpectReaches(pair_.a.qp, IBV_QPS_ERR);
    ExpectReaches(pair_.b.qp, IBV_QPS_ERR);
  }
}

TEST_P(Atomic, ManyOutstandingOnesEachHappenOnce) {
  constexpr uint64_t kCount = 60;
  Word(b_, 0) = 0;
  for (uint64_t id = 0; id < kCount; id++)
    Must(pair_.a.qp.Post(SendWr::FetchAdd(id, a_.mr.Slice(8 * id, 8), b_.mr.At(0), 1)));
  for (uint64_t id = 0; id < kCount; id++) {
    ExpectWc(Await(pair_.a.send_cq), Done(id, IBV_WC_FETCH_ADD));
    EXPECT_EQ(Word(a_, 8 * id), id);
  }
  EXPECT_EQ(Word(b_, 0), kCount);
}

// Three connections add to one word; every old value is seen exactly once.
TEST_P(Atomic, ConnectionsAreAtomicTowardsEachOther) {
  constexpr uint64_t kRounds = 60;
  std::vector<Pair> pairs;
  for (int i = 0; i < 3; i++) pairs.push_back(Connected());
  Word(b_, 0) = 0;

  for (size_t i = 0; i < pairs.size(); i++)
    for (uint64_t id = 0; id < kRounds; id++)
      Must(pairs[i].a.qp.Post(
          SendWr::FetchAdd(id, a_.mr.Slice(8 * (i * kRounds + id), 8), b_.mr.At(0), 1)));
  for (Pair& pair : pairs)
    for (uint64_t id = 0; id < kRounds; id++)
      ASSERT_EQ(Await(pair.a.send_cq).status, IBV_WC_SUCCESS);

  const uint64_t total = pairs.size() * kRounds;
  EXPECT_EQ(Word(b_, 0), total);
  std::vector<bool> seen(total);
  for (uint64_t i = 0; i < total; i++) {
    ASSERT_LT(Word(a_, 8 * i), total);
    EXPECT_FALSE(seen[Word(a_, 8 * i)]);
    seen[Word(a_, 8 * i)] = true;
  }
}

// UCX, for one, leaves atomics alone on a device that says anything else.
TEST_P(Atomic, DevicePromisesWhatProgramsLookFor) {
  EXPECT_EQ(Must(a_.ctx.QueryDeviceEx()).orig_attr.atomic_cap, IBV_ATOMIC_HCA);
}

// The CPU adds in a loop while the wire does: nothing is lost. HCA does not promise it; srn keeps
// it all the same.
TEST_P(Atomic, WireIsAtomicTowardsTheCpu) {
  constexpr uint64_t kAdds = 400;
  std::atomic_ref<uint64_t> word(Word(b_, 0));
  word = 0;
  uint64_t added_by_cpu = 0;
  std::jthread cpu([&](const std::stop_token& stop) {
    for (; !stop.stop_requested(); added_by_cpu++) word.fetch_add(1 << 20);
  });
  while (word == 0) std::this_thread::yield();
  for (uint64_t id = 0; id < kAdds; id++) {
    Must(pair_.a.qp.Post(SendWr::FetchAdd(id, a_.mr.Slice(0, 8), b_.mr.At(0), 1)));
    EXPECT_EQ(Await(pair_.a.send_cq).status, IBV_WC_SUCCESS);
  }
  cpu.request_stop();
  cpu.join();
  EXPECT_GT(added_by_cpu, 0u);
  EXPECT_EQ(word.load(), kAdds + (added_by_cpu << 20));
}

class AtomicWrite : public Atomic {
 protected:
  void SetUp() override {
    WireTest::SetUp();
    Result<Qp> probe = Error{0};
    end_ = {Must(Cq::Create(a_.ctx, 64)), Must(Cq::Create(a_.ctx, 64)), Qp()};
    probe = Qp::Create(a_.pd, end_.send_cq, end_.recv_cq,
                       {.send_ops = IBV_QP_EX_WITH_ATOMIC_WRITE | IBV_QP_EX_WITH_RDMA_WRITE});
    if (probe.error() == EOPNOTSUPP) SRN_SKIP_FOREIGN() << "device knows no ATOMIC_WRITE";
    end_.qp = Must(std::move(probe));
    peer_ = End::Create(b_);
    Must(Connect(end_.qp, a_.port, peer_.qp, b_.port));
  }
  // Not TearDown(): the QP must go before the queues that it uses.
  ~AtomicWrite() override { (void)end_.qp.Close(); }

  int Post(uint64_t id, Remote remote, uint64_t value) {
    ibv_qp_ex* qpx = ibv_qp_to_qp_ex(end_.qp.get());
    ibv_wr_start(qpx);
    qpx->wr_id = id;
    qpx->wr_flags = IBV_SEND_SIGNALED;
    ibv_wr_atomic_write(qpx, remote.rkey, remote.addr, &value);
    return ibv_wr_complete(qpx);
  }

  End end_, peer_;
};

TEST_P(AtomicWrite, WritesEightBytes) {
  Fill(b_.bytes(0, 64), 0x44);
  for (uint64_t id = 0; id < 20; id++) {
    ASSERT_EQ(Post(id, b_.mr.At(16), 0x0102030405060708 + id), 0);
    ExpectWc(Await(end_.send_cq),
             {.wr_id = id, .opcode = IBV_WC_ATOMIC_WRITE, .qp_num = end_.qp.num()});
    EXPECT_EQ(Word(b_, 16), 0x0102030405060708 + id);
  }
  ExpectAll(b_.bytes(0, 16), 0x44);
  ExpectAll(b_.bytes(24, 40), 0x44);
}

TEST_P(AtomicWrite, UnalignedTargetIsAnInvalidRequest) {
  Fill(b_.bytes(0, 64), 0x44);
  ASSERT_EQ(Post(1, b_.mr.At(12), 7), 0);
  ExpectFailed(Await(end_.send_cq), 1, IBV_WC_REM_INV_REQ_ERR, end_.qp.num());
  ExpectAll(b_.bytes(0, 64), 0x44);
}

TEST_P(AtomicWrite, NeedsTheRightToWrite) {
  Mr mr = Must(Mr::Register(b_.pd, b_.bytes(0, 4096), IBV_ACCESS_REMOTE_READ));
  Fill(b_.bytes(0, 64), 0x44);
  ASSERT_EQ(Post(1, mr.At(16), 7), 0);
  ExpectFailed(Await(end_.send_cq), 1, IBV_WC_REM_ACCESS_ERR, end_.qp.num());
  ExpectAll(b_.bytes(0, 64), 0x44);
}

SRN_OVER_BOTH_IP(Atomic);
SRN_OVER_BOTH_IP(AtomicWrite);

}  // namespace
}  // namespace verbs_test
