// SPDX-License-Identifier: GPL-2.0-only
// Verbs may be called from any thread at any time: many posters on one QP,
// many pollers on one CQ, objects made and destroyed beside traffic.
#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include "env.h"

namespace verbs_test {
namespace {

constexpr int kThreads = 4;
constexpr uint64_t kEach = 250;

class Threads : public WireTest {
 protected:
  // What the body of a thread throws would end the program.
  template <typename Body>
  static void Caught(Body body) {
    try {
      body();
    } catch (const SetupFailure& failure) {
      ADD_FAILURE() << failure.what();
    }
  }
  // Runs `body(0)` to `body(kThreads - 1)` at the same time.
  template <typename Body>
  static void Run(Body body) {
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; i++)
      threads.emplace_back([&body, i] { Caught([&] { body(i); }); });
    for (std::thread& thread : threads) thread.join();
  }
  // Posts when there is room: others are posting, too.
  static void PostWhenPossible(const Qp& qp, const SendWr& wr) {
    const auto deadline = std::chrono::steady_clock::now() + Patience();
    for (;;) {
      Status status = qp.Post(wr);
      if (status.ok()) return;
      if (status.error() != ENOMEM || std::chrono::steady_clock::now() > deadline) Must(status);
      std::this_thread::yield();
    }
  }
};

TEST_P(Threads, ManyPostToOneQpAndManyPollOneCq) {
  Pair p = Connected({.max_send_wr = 32});
  std::mutex mutex;
  std::set<uint64_t> completed;
  std::atomic<uint64_t> left = kThreads * kEach;

  Run([&](int me) {
    const auto deadline = std::chrono::steady_clock::now() + Patience(30000);
    uint64_t posted = 0;
    while (left > 0 && std::chrono::steady_clock::now() < deadline) {
      if (posted < kEach &&
          p.a.qp.Post(SendWr::FetchAdd(me * kEach + posted, a_.mr.Slice(8 * me, 8), b_.mr.At(0), 1))
              .ok())
        posted++;
      std::optional<ibv_wc> wc = p.a.send_cq.Poll();
      if (!wc) continue;
      EXPECT_EQ(wc->status, IBV_WC_SUCCESS);
      std::lock_guard lock(mutex);
      EXPECT_TRUE(completed.insert(wc->wr_id).second) << wc->wr_id;
      left--;
    }
  });
  EXPECT_EQ(completed.size(), kThreads * kEach);
  EXPECT_EQ(*reinterpret_cast<uint64_t*>(b_.buffer.data()), kThreads * kEach);
}

TEST_P(Threads, EachHasItsOwnQpsInOneContext) {
  Run([&](int me) {
    Pair p = Connected();
    const size_t at = me * 32768, size = 9001;
    for (uint64_t id = 0; id < kEach / 5; id++) {
      FillPattern(a_.bytes(at, size), id);
      Must(p.b.qp.Post(RecvWr(id, {b_.mr.Slice(at, size)})));
      Must(p.a.qp.Post(SendWr::Send(id, a_.mr.Slice(at, size))));
      EXPECT_EQ(Await(p.b.recv_cq).wr_id, id);
      EXPECT_EQ(Await(p.a.send_cq).wr_id, id);
      ExpectPattern(b_.bytes(at, size), id);
    }
  });
}

TEST_P(Threads, SharedReceiveQueueIsFedAndUsedByAll) {
  Srq srq = Must(Srq::Create(b_.pd, 64));
  std::atomic<uint64_t> received = 0;

  Run([&](int me) {
    Pair p = {End::Create(a_), End::Create(b_, {.srq = &srq})};
    Must(Connect(p.a.qp, a_.port, p.b.qp, b_.port));
    for (uint64_t id = 0; id < kEach / 5; id++) {
      Must(srq.Post(RecvWr(id, {b_.mr.Slice(me * 64, 64)})));
      PostWhenPossible(p.a.qp, SendWr::Send(id, a_.mr.Slice(0, 64)));
      EXPECT_EQ(Await(p.b.recv_cq).status, IBV_WC_SUCCESS);
      EXPECT_EQ(Await(p.a.send_cq).status, IBV_WC_SUCCESS);
      received++;
    }
  });
  EXPECT_EQ(received, kThreads * (kEach / 5));
}

TEST_P(Threads, ObjectsComeAndGoBesideTraffic) {
  Pair traffic = Connected();
  std::jthread mover([&](const std::stop_token& stop) {
    Caught([&] {
      while (!stop.stop_requested()) ExpectWorks(a_, traffic.a, b_, traffic.b);
    });
  });
  Run([&](int me) {
    const Bytes mine = a_.bytes(me * 8192, 8192);
    for (int i = 0; i < 40; i++) {
      Pair p = Connected({}, {.timeout = 10, .retry_cnt = 1});
      Mr mr = Must(Mr::Register(a_.pd, mine));
      Must(p.b.qp.Post(SendWr::Read(1, b_.mr.Slice(me * 8192, 8192), mr.At(0))));
      // Any moment will do.
      if (i % 3 == 0) Must(p.a.qp.Close());
      if (i % 3 == 1) Must(mr.Close());
    }
  });
  mover.request_stop();
  mover.join();
  ExpectWorks(b_, traffic.b, a_, traffic.a);
}

TEST_P(Threads, RegionChangesItsRightsUnderTraffic) {
  Mr mr = Must(Mr::Register(b_.pd, b_.bytes(0, 65536)));
  if (mr.Reregister(IBV_REREG_MR_CHANGE_ACCESS, nullptr, {}, kAllAccess))
    SRN_SKIP_FOREIGN() << "device cannot re-register";
  std::jthread changer([&](const std::stop_token& stop) {
    for (int i = 0; !stop.stop_requested(); i++)
      (void)mr.Reregister(IBV_REREG_MR_CHANGE_ACCESS, nullptr, {},
                          i % 2 ? kAllAccess : IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
  });
  // Goes on until both were met: with the right, and without it.
  int refused = 0, done = 0;
  const auto deadline = std::chrono::steady_clock::now() + Patience();
  while (done + refused < 60 || !done || !refused) {
    if (std::chrono::steady_clock::now() > deadline) break;
    Pair p = Connected();
    Must(p.a.qp.Post(SendWr::Write(1, a_.mr.Slice(0, 65536), mr.At(0))));
    ibv_wc wc = Await(p.a.send_cq);
    EXPECT_TRUE(wc.status == IBV_WC_SUCCESS || wc.status == IBV_WC_REM_ACCESS_ERR)
        << ibv_wc_status_str(wc.status);
    ++(wc.status == IBV_WC_SUCCESS ? done : refused);
  }
  changer.request_stop();
  changer.join();
  EXPECT_GT(done, 0);
  EXPECT_GT(refused, 0);
}

SRN_OVER_BOTH_IP(Threads);

}  // namespace
}  // namespace verbs_test
