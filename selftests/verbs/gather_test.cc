// SPDX-License-Identifier: GPL-2.0-only
// RC: posts of a program that streams are left for a moment, to go with those that follow. They go
// all the same, whatever it does next, and who waits for each of his is not taken for one.
#include <atomic>
#include <thread>

#include <share/counters.h>
#include <share/parameter.h>

#include "env.h"

namespace verbs_test {
namespace {

constexpr size_t kShort = 8, kLong = 64 << 10;
// More than show that a program streams.
constexpr int kMany = 100;
constexpr uint32_t kDepth = 128;

class RcGather : public WireTest {
 protected:
  RcGather() : WireTest(2 << 20) { gather_.Set("Y"); }

  SendWr Write(uint64_t id, size_t size) {
    return SendWr::Write(id, a_.mr.Slice(0, size), b_.mr.At(0));
  }
  // Whether the last byte of what is written becomes `value`, without a look at any CQ.
  bool Arrives(size_t size, uint8_t value) {
    const volatile auto& last = reinterpret_cast<const volatile uint8_t&>(b_.bytes(0, size).back());
    const auto late = std::chrono::steady_clock::now() + Patience();
    while (last != value)
      if (std::chrono::steady_clock::now() > late) return false;
    return true;
  }
  // Posts many without a completion, each when the one before it is there.
  void PostSilently(const Qp& qp, size_t size) {
    for (int i = 0; i < kMany; i++) {
      const auto value = static_cast<uint8_t>(i + 1);
      Fill(a_.bytes(0, size), value);
      Must(qp.Post(Write(i, size).Unsignaled()));
      ASSERT_TRUE(Arrives(size, value)) << i;
    }
  }
  // Keeps requests posted of which one in 50 completes; how many doorbells for each.
  double Doorbells(const Pair& p, size_t size) {
    constexpr uint64_t kRequests = 2000, kEvery = 50;
    const uint64_t before = Counter("doorbells");
    uint64_t posted = 0, done = 0;

    while (done < kRequests) {
      while (posted < kRequests && posted - done < kDepth) {
        SendWr wr = Write(posted, size);
        if (++posted % kEvery != 0) wr.Unsignaled();
        Must(p.a.qp.Post(std::move(wr)));
      }
      const ibv_wc wc = Await(p.a.send_cq);
      EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
      done = wc.wr_id + 1;
    }
    return static_cast<double>(Counter("doorbells") - before) / kRequests;
  }
  static uint64_t Counter(const char* name) {
    return Foreign() ? 0 : share::FreshCounter(DeviceA(), name);
  }
  static uint64_t ReceivedWhole() {
    return Foreign() ? 0 : share::FreshCounter(DeviceB(), "rcvd_runs");
  }
  // With one CPU nobody else sends for it.
  static bool IsCounted() { return !Foreign() && std::thread::hardware_concurrency() == 1; }

  const share::ScopedParameter gather_{"gather"};
};

// Who looks at memory for what he waits for is taken for one that streams, at first.
TEST_P(RcGather, SilentPostsGoAllTheSame) {
  Pair p = Connected({.max_send_wr = kDepth}, {});
  const uint64_t before = Counter("gatherings");
  PostSilently(p.a.qp, kShort);
  if (IsCounted()) EXPECT_GT(Counter("gatherings"), before);
}

TEST_P(RcGather, LongSilentPostsGoAllTheSame) {
  Pair p = Connected({.max_send_wr = kDepth}, {});
  PostSilently(p.a.qp, kLong);  // whether they are left is up to the path: all of them go
}

// Nobody polls, rings or arms after the last post. (Where there is another CPU that sends, that may
// be late.)
TEST_P(RcGather, PostsOfWhoSleepsGoAllTheSame) {
  for (const size_t size : {kShort, kLong}) {
    Pair p = Connected({.max_send_wr = kDepth}, {});
    for (uint8_t round = 1; round <= 5; round++) {
      for (int i = 0; i < 20; i++) {
        Fill(a_.bytes(0, size), i < 19 ? 0 : round);
        Must(p.a.qp.Post(Write(i, size).Unsignaled()));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      if (IsCounted()) EXPECT_EQ(static_cast<uint8_t>(b_.bytes(0, size).back()), round);
      EXPECT_TRUE(Arrives(size, round));
    }
  }
}

// Nor does he ring who stops the QP: the provider does, before it.
TEST_P(RcGather, PostsGoBeforeTheQpStops) {
  for (const bool destroyed : {false, true}) {
    Pair p = Connected({.max_send_wr = kDepth}, {});
    for (uint8_t round = 1; round <= 40; round++) {
      Fill(a_.bytes(0, kShort), round);
      Must(p.a.qp.Post(Write(round, kShort).Unsignaled()));
    }
    if (destroyed)
      Must(p.a.qp.Close());
    else
      Must(p.a.qp.ModifyState(IBV_QPS_ERR));
    if (IsCounted()) EXPECT_EQ(static_cast<uint8_t>(b_.bytes(0, kShort).back()), 40);
  }
}

// What was left goes before he who posted it sleeps.
TEST_P(RcGather, PostsOfWhoIsToBeWokenGo) {
  CompChannel channel = Must(CompChannel::Create(a_.ctx));
  Cq cq = Must(Cq::Create(a_.ctx, kDepth, {.channel = &channel}));
  Qp qp = Must(Qp::Create(a_.pd, cq, cq, {.max_send_wr = kDepth}));
  End b_end = End::Create(b_);
  Must(Connect(qp, a_.port, b_end.qp, b_.port));

  for (const size_t size : {kShort, kLong}) {
    for (int round = 0; round < 10; round++) {
      for (int i = 0; i < 40; i++) Must(qp.Post(Write(i, size).Unsignaled()));
      Must(qp.Post(Write(40, size)));
      Must(cq.Arm());
      std::optional<ibv_wc> wc = cq.Poll();
      // The event may be of the round before, whose completion came before it was waited for.
      while (!wc) {
        EXPECT_EQ(Must(channel.Wait(Patience())).cq, cq.get());
        wc = cq.Poll();
      }
      EXPECT_EQ(wc->wr_id, 40u);
    }
  }
}

TEST_P(RcGather, PostsOfOneThreadGoWhileAnotherPolls) {
  constexpr uint64_t kRequests = 3000, kEvery = 30;
  Pair p = Connected({.max_send_wr = 64}, {});
  const auto late = std::chrono::steady_clock::now() + Patience(30000);
  std::atomic<bool> failed = false;

  std::thread poster([&] {
    for (uint64_t id = 0; id < kRequests && !failed; id++) {
      Status posted;
      do {
        SendWr wr = Write(id, kShort);
        if ((id + 1) % kEvery != 0) wr.Unsignaled();
        posted = p.a.qp.Post(std::move(wr));
      } while (!posted && posted.error() == ENOMEM && std::chrono::steady_clock::now() < late);
      if (!posted) failed = true;
    }
  });
  for (uint64_t next = kEvery - 1; next < kRequests;) {
    if (std::chrono::steady_clock::now() > late) failed = true;
    if (failed) break;
    const std::optional<ibv_wc> wc = p.a.send_cq.Poll();
    if (!wc) continue;
    EXPECT_EQ(wc->wr_id, next);
    next += kEvery;
  }
  poster.join();
  EXPECT_FALSE(failed);
}

// A slow machine may take a while for a few long ones, so that to leave them does not pay; and so
// it may for short ones while others have its CPU. Long ones are left where they pass whole: where
// they are cut, each is a batch by itself, and the path would be empty meanwhile.
TEST_P(RcGather, StreamOfFewCompletionsRingsSeldom) {
  double each = 1;
  for (int i = 0; i < 10 && each >= 0.5; i++)
    each = Doorbells(Connected({.max_send_wr = kDepth}, {}), kShort);
  if (IsCounted()) EXPECT_LT(each, 0.5);

  const uint64_t before = Counter("gatherings"), whole = ReceivedWhole();
  Doorbells(Connected({.max_send_wr = kDepth}, {}), kLong);
  if (!IsCounted()) return;
  if (ReceivedWhole() > whole)
    EXPECT_GT(Counter("gatherings"), before);
  else
    EXPECT_EQ(Counter("gatherings"), before);
}

// Who waits for each is served at once.
TEST_P(RcGather, RequestsThatAreWaitedForAreNotLeft) {
  Pair p = Connected();
  const uint64_t before = Counter("gatherings");
  for (const size_t size : {kShort, kLong})
    for (int i = 0; i < kMany; i++) {
      Must(p.a.qp.Post(Write(i, size)));
      EXPECT_EQ(Await(p.a.send_cq).status, IBV_WC_SUCCESS);
    }
  EXPECT_EQ(Counter("gatherings"), before);
}

SRN_OVER_BOTH_IP(RcGather);

}  // namespace
}  // namespace verbs_test
