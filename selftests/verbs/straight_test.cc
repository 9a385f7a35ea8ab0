// SPDX-License-Identifier: GPL-2.0-only
// READs of a device's own memory: what they are answered with goes to its place at once, unless
// somebody looks.
#include <chrono>
#include <thread>
#include <tuple>

#include <net/command.h>
#include <net/packet_socket.h>
#include <share/counters.h>
#include <share/parameter.h>

#include "env.h"

namespace verbs_test {
namespace {

constexpr size_t kSize = 65536, kGuard = 64;
constexpr uint32_t kOne = 1, kOther = 2;
constexpr uint8_t kUntouched = 0xa5;

// A talks to itself, over lo.
class Straight : public WireTest {
 protected:
  Straight() : WireTest(4 * kSize) {}
  void SetUp() override {
    if (Foreign()) GTEST_SKIP() << "what others' answers are made of nobody knows";
    WireTest::SetUp();
    memory_ = Must(Buffer::Map(2 * kSize));
    mr_ = Must(Mr::Register(a_.pd, memory_.bytes(), IBV_ACCESS_REMOTE_READ));
    FillPattern(memory_.Slice(0, kSize), kOne);
    FillPattern(memory_.Slice(kSize, kSize), kOther);
    Fill(a_.bytes(0, 4 * kSize), kUntouched);
    Join();
  }
  void TearDown() override {
    if (queue_) (void)net::Run({"tc", "qdisc", "del", "dev", "lo", "root"});
  }

  void Join() {
    asks_ = End::Create(a_);
    answers_ = End::Create(a_);
    Must(Connect(asks_.qp, a_.port, answers_.qp, a_.port, {.timeout = 18}));
    // Each knows where the other is.
    Read(3 * kSize, 0, 8);
    ASSERT_EQ(Await(asks_.send_cq).status, IBV_WC_SUCCESS);
  }
  // `length` bytes from `from` of the region to `to` of the buffer.
  void Read(size_t to, size_t from, size_t length) {
    Must(asks_.qp.Post(SendWr::Read(1, a_.mr.Slice(to, length), mr_.At(from))));
  }
  static uint64_t Bare() { return share::FreshCounter(DeviceA(), "sent_bare_runs"); }
  // READs all of kOne, and returns how much of it went to its place at once.
  uint64_t ReadAll() {
    const uint64_t before = Bare();
    Read(kGuard, 0, kSize);
    EXPECT_EQ(Await(asks_.send_cq).status, IBV_WC_SUCCESS);
    ExpectPattern(a_.bytes(kGuard, kSize), kOne);
    return Bare() - before;
  }

  const share::ScopedParameter recovery_{"recovery"};
  Buffer memory_;
  Mr mr_;
  End asks_, answers_;
  bool queue_ = false;  // lo has one
};

TEST_P(Straight, GoesToItsPlaceAtOnce) {
  EXPECT_GT(ReadAll(), 0u);
  ExpectAll(a_.bytes(0, kGuard), kUntouched);
  ExpectAll(a_.bytes(kGuard + kSize, kGuard), kUntouched);
}

TEST_P(Straight, ScattersWhatItReads) {
  const uint64_t before = Bare();
  Must(asks_.qp.Post(SendWr::Read(
      1, {a_.mr.Slice(0, 1), a_.mr.Slice(kSize, 10001), a_.mr.Slice(kGuard, kSize - 20000)},
      mr_.At(0))));
  EXPECT_EQ(Await(asks_.send_cq).status, IBV_WC_SUCCESS);
  EXPECT_GT(Bare(), before);
  Buffer whole = Must(Buffer::Map(kSize));
  FillPattern(whole.bytes(), kOne);
  const Bytes want = whole.bytes(), got = a_.bytes(0, 4 * kSize);
  const auto equal = [&](size_t at, size_t from, size_t length) {
    return std::equal(got.begin() + at, got.begin() + at + length, want.begin() + from);
  };
  EXPECT_TRUE(equal(0, 0, 1));
  EXPECT_TRUE(equal(kSize, 1, 10001));
  EXPECT_TRUE(equal(kGuard, 10002, kSize - 20000));
  ExpectAll(a_.bytes(1, kGuard - 1), kUntouched);
  ExpectAll(a_.bytes(kSize + 10001, kGuard), kUntouched);
}

// A capture shows all bytes, as of any packet.
TEST_P(Straight, WhoLooksSeesTheBytes) {
  {
    auto capture = Must(net::PacketSocket::Open("lo"));
    EXPECT_EQ(ReadAll(), 0u);
    size_t seen = 0;
    while (const auto frame = capture.Receive(std::chrono::milliseconds(100)))
      seen += frame->bytes.size();
    EXPECT_GT(seen, kSize);
  }
  EXPECT_GT(ReadAll(), 0u);
}

// A queue of lo may hold them, and what was answered is what there was then.
TEST_P(Straight, WhatWaitsHasItsBytes) {
  // Nothing is asked for again meanwhile.
  ASSERT_TRUE(recovery_.Set("gbn"));
  Join();
  Must(net::Run({"tc", "qdisc", "replace", "dev", "lo", "root", "netem", "delay", "300ms"}));
  queue_ = true;
  const uint64_t sent = share::FreshCounter(DeviceA(), "sent_pkts"), before = Bare();
  Read(kGuard, 0, kSize);
  // The answer is of 16 packets; few others are sent.
  for (int i = 0; i < 1000 && share::FreshCounter(DeviceA(), "sent_pkts") < sent + 12; ++i) {
  }
  mr_ = {};
  FillPattern(memory_.Slice(0, kSize), kOther);
  EXPECT_EQ(Await(asks_.send_cq).status, IBV_WC_SUCCESS);
  ExpectPattern(a_.bytes(kGuard, kSize), kOne);
  EXPECT_EQ(Bare(), before);
}

// What is short comes with its bytes, later than what goes to its place at once. Of two READs with
// one place the last one's bytes are there; but what was lost comes again, and may be the last.
TEST_P(Straight, TheLastOneIsTheLast) {
  const auto again = [] { return share::FreshCounter(DeviceA(), "retransmitted_pkts"); };
  for (int i = 0; i < 20; ++i) {
    const uint64_t before = again();
    Read(0, kSize, 64);
    Read(0, 0, kSize);
    for (int j = 0; j < 2; ++j) ASSERT_EQ(Await(asks_.send_cq).status, IBV_WC_SUCCESS);
    if (again() == before) ExpectPattern(a_.bytes(0, kSize), kOne);
  }
}

// Who asks for what he may not have is refused, and nothing is written.
TEST_P(Straight, RightsAreRights) {
  const uint64_t before = Bare();
  mr_ = Must(Mr::Register(a_.pd, memory_.bytes(), 0));
  Read(0, 0, kSize);
  EXPECT_EQ(Await(asks_.send_cq).status, IBV_WC_REM_ACCESS_ERR);
  ExpectAll(a_.bytes(0, kSize), kUntouched);
  EXPECT_EQ(Bare(), before);
}

// Where he may not write, neither: it comes with its bytes, and fails as ever.
TEST_P(Straight, KeysAreKeys) {
  const uint64_t before = Bare();
  // The region is to be read.
  Must(asks_.qp.Post(SendWr::Read(1, mr_.Slice(kSize, kSize), mr_.At(0))));
  EXPECT_EQ(Await(asks_.send_cq).status, IBV_WC_LOC_PROT_ERR);
  ExpectPattern(memory_.Slice(kSize, kSize), kOther);
  EXPECT_EQ(Bare(), before);
}

// Regions come and go while they are read: each READ has the bytes, or an error.
TEST_P(Straight, RegionsThatGoAreNotRead) {
  int whole = 0, refused = 0;
  for (int i = 0; i < 30; ++i) {
    Fill(a_.bytes(0, kSize), kUntouched);
    mr_ = Must(Mr::Register(a_.pd, memory_.bytes(), IBV_ACCESS_REMOTE_READ));
    FillPattern(memory_.Slice(0, kSize), kOne);
    Join();
    const SendWr read = SendWr::Read(1, a_.mr.Slice(0, kSize), mr_.At(0));
    std::thread owner([&] {
      if (i % 3) std::this_thread::sleep_for(std::chrono::microseconds(20 * i));
      mr_ = {};
      FillPattern(memory_.Slice(0, kSize), kOther);
    });
    Must(asks_.qp.Post(read));
    const ibv_wc wc = Await(asks_.send_cq);
    owner.join();
    if (wc.status == IBV_WC_SUCCESS) {
      ++whole;
      ExpectPattern(a_.bytes(0, kSize), kOne);
    } else {
      ++refused;
      ASSERT_EQ(wc.status, IBV_WC_REM_ACCESS_ERR);
    }
  }
  std::printf("# %d whole, %d refused\n", whole, refused);
}

// Each borrows the other's turn, until one fails: what is done has its bytes, the rest is flushed.
TEST_P(Straight, BothReadUntilTheyFail) {
  constexpr int kMany = 6;
  int whole = 0;
  const uint64_t before = Bare();
  for (int turn = 0; turn < 20; ++turn) {
    Fill(a_.bytes(0, 2 * kSize), kUntouched);
    Join();
    const SendWr read = SendWr::Read(1, a_.mr.Slice(0, kSize), mr_.At(0));
    const SendWr other = SendWr::Read(1, a_.mr.Slice(kSize, kSize), mr_.At(kSize));
    std::thread peer([&] {
      for (int i = 0; i < kMany; ++i) Must(answers_.qp.Post(other));
      std::this_thread::sleep_for(std::chrono::microseconds(50 * turn));
      Must(answers_.qp.ModifyState(IBV_QPS_ERR));
    });
    for (int i = 0; i < kMany; ++i) Must(asks_.qp.Post(read));
    std::this_thread::sleep_for(std::chrono::microseconds(30 * turn));
    Must(asks_.qp.ModifyState(IBV_QPS_ERR));
    peer.join();
    for (const auto& [end, at, seed] :
         {std::tuple{&asks_, size_t{0}, kOne}, std::tuple{&answers_, kSize, kOther}}) {
      int done = 0;
      for (int i = 0; i < kMany; ++i) {
        const ibv_wc_status status = Await(end->send_cq).status;
        ASSERT_TRUE(status == IBV_WC_SUCCESS || status == IBV_WC_WR_FLUSH_ERR) << status;
        done += status == IBV_WC_SUCCESS;
      }
      if (done) ExpectPattern(a_.bytes(at, kSize), seed);
      whole += done;
    }
  }
  std::printf("# %d whole\n", whole);
  // Without runs all bytes come with the packets.
  if (whole && share::Parameter("runs") == "Y") EXPECT_GT(Bare(), before);
}

SRN_OVER_BOTH_IP(Straight);

}  // namespace
}  // namespace verbs_test
