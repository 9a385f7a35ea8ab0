// SPDX-License-Identifier: GPL-2.0-only
// Answers to READs that wait in this host's queues, by reference, while their region goes.
#include <chrono>
#include <fstream>
#include <thread>

#include <net/command.h>
#include <share/counters.h>
#include <share/parameter.h>

#include "env.h"

namespace verbs_test {
namespace {

constexpr size_t kSize = 32768;
constexpr uint32_t kBefore = 1, kAfter = 2, kNothing = 3;

// A answers, and its netdev holds what leaves for a while.
class Lease : public WireTest {
 protected:
  void SetUp() override {
    if (Foreign()) GTEST_SKIP() << "what others' answers are made of nobody knows";
    WireTest::SetUp();
    std::ifstream("/sys/class/infiniband/" + DeviceA() + "/ports/1/gid_attrs/ndevs/0") >> netdev_;
    memory_ = Must(Buffer::Map(kSize));
    mr_ = Must(Mr::Register(a_.pd, memory_.bytes(), IBV_ACCESS_REMOTE_READ));
    FillPattern(memory_.bytes(), kBefore);
    FillPattern(b_.bytes(0, kSize), kNothing);
    // Longer than what leaves is held: what comes then is still asked for, and nothing asks before.
    ASSERT_TRUE(recovery_.Set("gbn"));
    ASSERT_TRUE(leases_.Set("Y"));
    pair_ = Connected({}, {.timeout = 17, .retry_cnt = 1});
    Must(pair_.b.qp.Post(SendWr::Read(1, b_.mr.Slice(kSize, 8), mr_.At(0))));
    ASSERT_EQ(Await(pair_.b.send_cq).status, IBV_WC_SUCCESS);  // each knows where the other is
  }
  void TearDown() override {
    if (!netdev_.empty()) (void)net::Run({"tc", "qdisc", "del", "dev", netdev_, "root"});
  }

  // A bucket that one answer nearly empties: the next one waits for 300 ms, and as one, since it
  // has room for it.
  void Hold() {
    Must(net::Run({"tc", "qdisc", "replace", "dev", netdev_, "root", "tbf", "rate", "700kbit",
                   "burst", "40000", "limit", "1000000"}));
    Must(pair_.b.qp.Post(SendWr::Read(1, b_.mr.Slice(kSize, kSize), mr_.At(0))));
    ASSERT_EQ(Await(pair_.b.send_cq).status, IBV_WC_SUCCESS);
  }
  // What becomes of that READ. The bucket is large from here on: a READ that asks again while its
  // answer waits doubles what is in front of the next.
  ibv_wc Arrival() {
    Must(net::Run({"tc", "qdisc", "change", "dev", netdev_, "root", "tbf", "rate", "8gbit", "burst",
                   "1000000", "limit", "1000000"}));
    return Await(pair_.b.send_cq);
  }
  void Read() { Must(pair_.b.qp.Post(SendWr::Read(1, b_.mr.Slice(0, kSize), mr_.At(0)))); }
  static uint64_t Count(const std::string& name) {
    std::ifstream file("/sys/class/infiniband/" + DeviceA() + "/ports/1/hw_counters/" + name);
    uint64_t value = ~uint64_t{0};
    file >> value;
    return value;
  }
  // Until the answer to a READ that is posted now lies in the queue.
  void ReadAndHold() {
    Hold();
    std::this_thread::sleep_for(share::kCacheLife);
    const uint64_t before = Count(leaves_as_);
    Read();
    for (int i = 0; i < 1000 && Count(leaves_as_) == before; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ASSERT_GT(Count(leaves_as_), before);
  }

  std::string leaves_as_ = "sent_runs";

  std::string netdev_;
  const share::ScopedParameter recovery_{"recovery"}, leases_{"leases"};
  Buffer memory_;
  Mr mr_;
  Pair pair_;
};

TEST_P(Lease, AnswerThatWaitsIsWhole) {
  ReadAndHold();
  EXPECT_EQ(Arrival().status, IBV_WC_SUCCESS);
  ExpectPattern(b_.bytes(0, kSize), kBefore);
}

// By default what was answered is what there was then: a READ never shows newer bytes than one
// behind it in the same queue.
TEST_P(Lease, WithoutOneTheAnswerIsACopy) {
  ASSERT_TRUE(leases_.Set("N"));
  ReadAndHold();
  FillPattern(memory_.bytes(), kAfter);
  EXPECT_EQ(Arrival().status, IBV_WC_SUCCESS);
  ExpectPattern(b_.bytes(0, kSize), kBefore);
}

TEST_P(Lease, WithOneTheAnswerIsReadWhenItArrives) {
  ReadAndHold();
  FillPattern(memory_.bytes(), kAfter);
  EXPECT_EQ(Arrival().status, IBV_WC_SUCCESS);
  ExpectPattern(b_.bytes(0, kSize), kAfter);
}

// Neither does who takes the region back wait for the queue, nor does the peer see what is written
// there from then on.
TEST_P(Lease, WhatIsWrittenAfterTheRegionWentIsNotRead) {
  const uint64_t stale = Count("stale_answers");
  ReadAndHold();
  const auto begin = std::chrono::steady_clock::now();
  mr_ = {};
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(200));
  FillPattern(memory_.bytes(), kAfter);
  EXPECT_EQ(Arrival().status, IBV_WC_RETRY_EXC_ERR);
  ExpectPattern(b_.bytes(0, kSize), kNothing);
  EXPECT_GT(Count("stale_answers"), stale);
}

// Who destroys a QP takes the peer's right to read with it, though the region stays.
TEST_P(Lease, WhatIsWrittenAfterTheQpWentIsNotRead) {
  const uint64_t stale = Count("stale_answers");
  ReadAndHold();
  pair_.a.qp = {};
  FillPattern(memory_.bytes(), kAfter);
  EXPECT_EQ(Arrival().status, IBV_WC_RETRY_EXC_ERR);
  ExpectPattern(b_.bytes(0, kSize), kNothing);
  EXPECT_GT(Count("stale_answers"), stale);
}

// The same key, the same memory, other rights: what was lent before is lost, and asked for again.
TEST_P(Lease, AnotherRegistrationIsAnotherLease) {
  const uint64_t stale = Count("stale_answers");
  ReadAndHold();
  ASSERT_EQ(mr_.Reregister(IBV_REREG_MR_CHANGE_ACCESS, nullptr, {},
                           IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ),
            0);
  FillPattern(memory_.bytes(), kAfter);
  EXPECT_EQ(Arrival().status, IBV_WC_SUCCESS);
  ExpectPattern(b_.bytes(0, kSize), kAfter);
  EXPECT_GT(Count("stale_answers"), stale);
}

SRN_OVER_BOTH_IP(Lease);

// Its netdev takes nothing uncut, as a NIC: what is cut there, as late as it may be, lends nothing.
class LeaseToNic : public Lease {
 protected:
  void SetUp() override {
    leaves_as_ = "sent_trains";  // runs too
    Lease::SetUp();
    if (!netdev_.empty()) Must(net::Run({"ethtool", "-K", netdev_, "tx-gso-list", "off"}));
  }
  void TearDown() override {
    if (!netdev_.empty()) (void)net::Run({"ethtool", "-K", netdev_, "tx-gso-list", "on"});
    Lease::TearDown();
  }
};

TEST_P(LeaseToNic, AnswerIsWhatThereWas) {
  ReadAndHold();
  FillPattern(memory_.bytes(), kAfter);
  EXPECT_EQ(Arrival().status, IBV_WC_SUCCESS);
  ExpectPattern(b_.bytes(0, kSize), kBefore);
}

TEST_P(LeaseToNic, AnswerIsThereThoughTheRegionWent) {
  const uint64_t stale = Count("stale_answers");
  ReadAndHold();
  mr_ = {};
  FillPattern(memory_.bytes(), kAfter);
  EXPECT_EQ(Arrival().status, IBV_WC_SUCCESS);
  ExpectPattern(b_.bytes(0, kSize), kBefore);
  EXPECT_EQ(Count("stale_answers"), stale);
}

SRN_OVER_BOTH_IP(LeaseToNic);

}  // namespace
}  // namespace verbs_test
