// SPDX-License-Identifier: GPL-2.0-only
// Memory regions: what can be registered, re-registered, addressed.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "env.h"

namespace verbs_test {
namespace {

class Region : public WireTest {
 protected:
  // Bytes that a WRITE of `size` puts through `mr` are seen in `memory`.
  void ExpectReachable(const Mr& mr, Bytes memory, size_t offset, size_t size) {
    Pair p = Connected();
    FillPattern(a_.bytes(0, size), 21);
    Must(p.a.qp.Post(SendWr::Write(1, a_.mr.Slice(0, size), mr.At(offset))));
    ASSERT_EQ(Await(p.a.send_cq).status, IBV_WC_SUCCESS);
    ExpectPattern(memory.subspan(offset, size), 21);
  }
};

TEST_P(Region, AnyAlignmentAndLength) {
  for (auto [at, size] : std::vector<std::pair<size_t, size_t>>{
           {0, 1}, {4095, 2}, {4096, 4096}, {1, 3}, {4095, 8194}, {17, 100000}}) {
    SCOPED_TRACE(testing::Message() << size << " bytes at " << at);
    const Bytes memory = b_.bytes(at, size);
    Mr mr = Must(Mr::Register(b_.pd, memory));
    EXPECT_EQ(mr->length, size);
    EXPECT_EQ(mr->addr, memory.data());
    ExpectReachable(mr, memory, 0, size);
  }
}

TEST_P(Region, IovaIsWhereBothKeysStart) {
  constexpr uint64_t kIova = 0x123456789000;
  const Bytes memory = b_.bytes(100, 20000);
  for (uint64_t iova : {kIova + 100, uint64_t{100}}) {
    SCOPED_TRACE(iova);
    Mr mr = Must(Mr::RegisterAt(b_.pd, memory, iova));
    ExpectReachable(mr, memory, 0, 20000);
    ExpectReachable(mr, memory, 9999, 5000);

    Pair p = Connected();
    FillPattern(memory, 4);
    Must(p.a.qp.Post(RecvWr(1, {a_.mr.Slice(0, 20000)})));
    Must(p.b.qp.Post(SendWr::Send(2, mr.Slice(0, 20000))));
    EXPECT_EQ(Await(p.a.recv_cq).byte_len, 20000u);
    ExpectPattern(a_.bytes(0, 20000), 4);
  }
}

TEST_P(Region, IovaHasTheOffsetInItsPageOfTheMemory) {
  EXPECT_EQ(Mr::RegisterAt(b_.pd, b_.bytes(100, 20000), 0x123456789000).error(), EINVAL);
}

TEST_P(Region, ReadOnlyPagesCanBeReadByThePeerOnly) {
  Buffer page = Must(Buffer::Map(8192));
  FillPattern(page.bytes(), 3);
  ASSERT_EQ(mprotect(page.data(), page.size(), PROT_READ), 0);

  EXPECT_EQ(Mr::Register(b_.pd, page.bytes(), IBV_ACCESS_LOCAL_WRITE).error(), EFAULT);
  Mr mr = Must(Mr::Register(b_.pd, page.bytes(), IBV_ACCESS_REMOTE_READ));
  Pair p = Connected();
  Must(p.a.qp.Post(SendWr::Read(1, a_.mr.Slice(0, 8192), mr.At(0))));
  EXPECT_EQ(Await(p.a.send_cq).status, IBV_WC_SUCCESS);
  ExpectPattern(a_.bytes(0, 8192), 3);
  Must(p.a.qp.Post(SendWr::Write(2, a_.mr.Slice(0, 8), mr.At(0))));
  ExpectFailed(Await(p.a.send_cq), 2, IBV_WC_REM_ACCESS_ERR, p.a.qp.num());
  ExpectPattern(page.bytes(), 3);
}

TEST_P(Region, HugePages) {
  constexpr size_t kHuge = 2 << 20;
  Result<Buffer> huge = Buffer::Map(2 * kHuge, PROT_READ | PROT_WRITE, MAP_HUGETLB);
  if (!huge.ok()) GTEST_SKIP() << "no huge pages: " << huge.message();

  Mr mr = Must(Mr::Register(b_.pd, huge->bytes()));
  ExpectReachable(mr, huge->bytes(), kHuge - 5000, 10000);
  ExpectReachable(mr, huge->bytes(), 2 * kHuge - 100, 100);
}

TEST_P(Region, BigRegionIsReachableEverywhere) {
  constexpr size_t kBig = 192 << 20;
  Buffer big = Must(Buffer::Map(kBig, PROT_READ | PROT_WRITE, MAP_NORESERVE));
  Mr mr = Must(Mr::Register(b_.pd, big.bytes()));

  for (size_t offset : {size_t{0}, kBig / 2 - 3000, kBig - 50000})
    ExpectReachable(mr, big.bytes(), offset, 50000);
}

// No byte moves, so nothing is checked (IBTA 9.7.4.1.2), wherever the address points.
TEST_P(Region, WithoutBytesTakesMessagesWithoutBytes) {
  for (size_t at : {0, 100}) {
    Mr mine = Must(Mr::Register(a_.pd, a_.bytes(at, 0)));
    Mr mr = Must(Mr::Register(b_.pd, b_.bytes(at, 0)));
    Pair p = Connected();
    for (uint64_t offset : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 40}) {
      SCOPED_TRACE(testing::Message() << at << ", " << offset);
      const Remote to = {mr.At(0).addr + offset, mr->rkey};
      const ibv_sge from = {mine.At(0).addr + offset, 0, mine->lkey};
      Must(p.b.qp.Post(RecvWr(9, {{mr.At(0).addr + offset, 0, mr->lkey}})));
      Must(p.a.qp.Post(SendWr::Write(1, from, to)));
      Must(p.a.qp.Post(SendWr::Read(2, from, to)));
      Must(p.a.qp.Post(SendWr::Send(3, from)));
      for (uint64_t id : {1, 2, 3}) {
        ibv_wc wc = Await(p.a.send_cq);
        EXPECT_EQ(wc.wr_id, id);
        EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
      }
      EXPECT_EQ(Await(p.b.recv_cq).byte_len, 0u);
    }
    Must(p.a.qp.Post(SendWr::Write(1, a_.mr.Slice(0, 1), {mr.At(0).addr, mr->rkey})));
    EXPECT_EQ(Await(p.a.send_cq).status, IBV_WC_REM_ACCESS_ERR);
  }
}

// Deregistration waits for the access that is under way, not for those still to come.
TEST_P(Region, GoesWhileRequestsAreUnderWay) {
  Pair p = Connected();
  for (int round = 0; round < 20; round++) {
    Mr source = Must(Mr::Register(a_.pd, a_.bytes(0, 128 << 10)));
    Mr target = Must(Mr::Register(b_.pd, b_.bytes(0, 128 << 10)));
    for (uint64_t id = 0; id < 16; id++)
      Must(p.a.qp.Post(id % 2 ? SendWr::Read(id, source.Slice(0, 128 << 10), target.At(0))
                              : SendWr::Write(id, source.Slice(0, 128 << 10), target.At(0))));
    const auto before = std::chrono::steady_clock::now();
    Must((round % 2 ? source : target).Close());
    EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(2));
    // As far as they came.
    for (int id = 0; id < 16; id++) Await(p.a.send_cq);
    p = Connected();
  }
}

TEST_P(Region, TwoRegionsOfTheSameMemoryAreIndependent) {
  const Bytes memory = b_.bytes(0, 8192);
  Mr one = Must(Mr::Register(b_.pd, memory));
  Mr two = Must(Mr::Register(b_.pd, memory));
  EXPECT_NE(one->rkey, two->rkey);
  EXPECT_NE(one->lkey, two->lkey);
  Must(one.Close());
  ExpectReachable(two, memory, 0, 8192);
}

TEST_P(Region, MemoryStaysPinnedWhenItIsUnmapped) {
  Buffer memory = Must(Buffer::Map(8192));
  FillPattern(memory.bytes(), 12);
  Mr mr = Must(Mr::Register(b_.pd, memory.bytes()));
  const Remote remote = mr.At(0);
  memory = Buffer();
  Buffer something_else = Must(Buffer::Map(8192));
  Fill(something_else.bytes(), 0);

  Pair p = Connected();
  Must(p.a.qp.Post(SendWr::Read(1, a_.mr.Slice(0, 8192), remote)));
  EXPECT_EQ(Await(p.a.send_cq).status, IBV_WC_SUCCESS);
  ExpectPattern(a_.bytes(0, 8192), 12);
}

class Reregister : public Region {
 protected:
  void SetUp() override {
    Region::SetUp();
    mr_ = Must(Mr::Register(b_.pd, b_.bytes(0, 8192)));
    // Every test needs the call itself: ask once, with rights as they are.
    if (mr_.Reregister(IBV_REREG_MR_CHANGE_ACCESS, nullptr, {}, kAllAccess) == IBV_REREG_MR_ERR_CMD)
      if (errno == EOPNOTSUPP) SRN_SKIP_FOREIGN() << "device cannot re-register";
  }
  // Status of a WRITE through the region.
  ibv_wc_status Write(size_t offset = 0) {
    Pair p = Connected();
    FillPattern(a_.bytes(0, 4096), 30);
    Must(p.a.qp.Post(SendWr::Write(1, a_.mr.Slice(0, 4096), mr_.At(offset))));
    return Await(p.a.send_cq).status;
  }

  Mr mr_;
};

TEST_P(Reregister, RightsChange) {
  EXPECT_EQ(Write(), IBV_WC_SUCCESS);
  ASSERT_EQ(mr_.Reregister(IBV_REREG_MR_CHANGE_ACCESS, nullptr, {},
                           IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ),
            0);
  EXPECT_EQ(Write(), IBV_WC_REM_ACCESS_ERR);
  ASSERT_EQ(mr_.Reregister(IBV_REREG_MR_CHANGE_ACCESS, nullptr, {}, kAllAccess), 0);
  EXPECT_EQ(Write(), IBV_WC_SUCCESS);
}

TEST_P(Reregister, ProtectionDomainChanges) {
  Pd other = Must(Pd::Create(b_.ctx));
  ASSERT_EQ(mr_.Reregister(IBV_REREG_MR_CHANGE_PD, other.get(), {}, 0), 0);
  EXPECT_EQ(Write(), IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(other.Close().error(), EBUSY);
  ASSERT_EQ(mr_.Reregister(IBV_REREG_MR_CHANGE_PD, b_.pd.get(), {}, 0), 0);
  EXPECT_EQ(Write(), IBV_WC_SUCCESS);
  Must(other.Close());
}

TEST_P(Reregister, MemoryChanges) {
  const Bytes other = b_.bytes(64 << 10, 16384);
  Fill(b_.bytes(0, 8192), 1);
  ASSERT_EQ(mr_.Reregister(IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, other, 0), 0);
  EXPECT_EQ(mr_->length, other.size());
  EXPECT_EQ(Write(8192), IBV_WC_SUCCESS);
  ExpectPattern(other.subspan(8192, 4096), 30);
  ExpectAll(b_.bytes(0, 8192), 1);
}

TEST_P(Reregister, BadRequestsAreRefusedAndLeaveTheRegionAlone) {
  EXPECT_NE(mr_.Reregister(0, nullptr, {}, 0), 0);
  EXPECT_EQ(mr_.Reregister(1 << 10, nullptr, {}, 0), IBV_REREG_MR_ERR_INPUT);
  EXPECT_NE(mr_.Reregister(IBV_REREG_MR_CHANGE_ACCESS, nullptr, {}, IBV_ACCESS_REMOTE_WRITE), 0);
  EXPECT_EQ(Write(), IBV_WC_SUCCESS);
}

class RegionAtHome : public HostTest {};

TEST_F(RegionAtHome, UnmappedMemoryIsRefused) {
  Buffer memory = Must(Buffer::Map(3 * 4096));
  ASSERT_EQ(munmap(memory.data() + 4096, 4096), 0);
  EXPECT_EQ(Mr::Register(a_.pd, memory.bytes()).error(), EFAULT);
  EXPECT_EQ(Mr::Register(a_.pd, {reinterpret_cast<std::byte*>(4096), 4096}).error(), EFAULT);
}

TEST_F(RegionAtHome, LengthMustNotWrap) {
  EXPECT_EQ(Mr::Register(a_.pd, {a_.buffer.data(), ~size_t{0} - 4096}).error(), EINVAL);
}

TEST_F(RegionAtHome, ProtectionDomainWithARegionIsBusy) {
  EXPECT_EQ(a_.pd.Close().error(), EBUSY);
  Must(a_.mr.Close());
  EXPECT_EQ(a_.pd.Close().error(), 0);
}

TEST_F(RegionAtHome, KeysAreNotReusedAtOnce) {
  // A peer that kept a key must not reach the next region by it.
  std::set<uint32_t> before;
  for (int i = 0; i < 100; i++) {
    Mr mr = Must(Mr::Register(a_.pd, a_.bytes(0, 4096)));
    EXPECT_TRUE(before.insert(mr->rkey).second) << "region " << i << " has an earlier key";
  }
}

TEST_F(RegionAtHome, ManyRegions) {
  std::vector<Mr> all;
  for (int i = 0; i < 2000; i++) all.push_back(Must(Mr::Register(a_.pd, a_.bytes(0, 64))));
  std::vector<uint32_t> keys;
  for (const Mr& mr : all) keys.push_back(mr->rkey);
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(std::unique(keys.begin(), keys.end()), keys.end());
}

// Runs in a child without privileges: the limit does not bind root.
int RegisterBeyondTheLimit() {
  constexpr rlim_t kLimit = 1 << 20;
  const rlimit limit = {kLimit, kLimit};
  Result<Context> ctx = Context::Open(DeviceA());
  if (!ctx.ok()) return 100;
  Result<Pd> pd = Pd::Create(*ctx);
  Result<Buffer> buffer = Buffer::Map(2 * kLimit);
  if (!pd.ok() || !buffer.ok()) return 101;
  if (setrlimit(RLIMIT_MEMLOCK, &limit) || setgid(65534) || setuid(65534)) return 102;

  Result<Mr> small = Mr::Register(*pd, buffer->Slice(0, kLimit / 2));
  if (!small.ok()) return 103;
  return Mr::Register(*pd, buffer->bytes()).error();
}

TEST_F(RegionAtHome, PinLimitIsEnforced) {
  pid_t pid = fork();
  ASSERT_GE(pid, 0);
  if (pid == 0) _exit(RegisterBeyondTheLimit());
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), ENOMEM);
}

SRN_OVER_BOTH_IP(Region);
SRN_OVER_BOTH_IP(Reregister);

}  // namespace
}  // namespace verbs_test
