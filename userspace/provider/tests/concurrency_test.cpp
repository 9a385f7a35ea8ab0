// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Two sides of a ring at once. Who finds nothing to do goes to sleep after it has said so: were a
// barrier missing on either side, both would miss the other's store, and sleep.

#include <atomic>
#include <chrono>
#include <semaphore>
#include <stop_token>
#include <thread>
#include <vector>

#include "fake_kernel.hpp"

namespace srn::test {
namespace {

using std::chrono_literals::operator""s;

constexpr uint32_t kThreads = 3;
constexpr uint32_t kPerThread = 20000;
constexpr uint32_t kTotal = kThreads * kPerThread;
/** Long enough for any machine: it passes only when a wake-up was lost. */
constexpr auto kLost = 10s;

class ConcurrencyTest : public ProviderTest {};

/** The kernel's side of a send queue, in a thread. */
class Sender {
 public:
  explicit Sender(const KernelQp& qp) : qp_(qp) {}

  /** The doorbell. */
  void Ring() { doorbell_.release(); }

  /** Takes `count` WQEs; false if a doorbell was lost. */
  bool Run(uint32_t count) {
    while (head_ != count) {
      const uint32_t tail = LoadAcquire(qp_.page->sq_tail);
      if (tail != head_) {
        Take(tail);
      } else if (!Sleep()) {
        return false;
      }
    }
    return true;
  }

  const std::vector<uint64_t>& taken() const { return taken_; }
  uint32_t sleeps() const { return sleeps_; }

 private:
  void Take(uint32_t tail) {
    for (; head_ != tail; ++head_) taken_.push_back(qp_.send(head_).wr_id);
    StoreRelease(qp_.page->sq_head, head_);
  }

  bool Sleep() {
    StoreRelease(qp_.page->status, SRN_QP_NEED_DB);
    FullBarrier();
    if (LoadAcquire(qp_.page->sq_tail) == head_) {
      ++sleeps_;
      if (!doorbell_.try_acquire_for(kLost)) return false;
    }
    StoreRelease(qp_.page->status, 0);
    return true;
  }

  const KernelQp& qp_;
  std::counting_semaphore<> doorbell_{0};
  std::vector<uint64_t> taken_;
  uint32_t head_ = 0;
  uint32_t sleeps_ = 0;
};

void PostAll(ibv_qp* qp, uint64_t thread, std::stop_token stop) {
  for (uint64_t i = 0; i < kPerThread && !stop.stop_requested();) {
    ibv_send_wr wr = {};
    wr.wr_id = thread << 32 | i;
    wr.opcode = IBV_WR_SEND;
    ibv_send_wr* bad = nullptr;
    const int err = ibv_post_send(qp, &wr, &bad);
    if (err == 0) {
      ++i;
    } else {
      ASSERT_EQ(err, ENOMEM);
      std::this_thread::yield();
    }
  }
}

TEST_F(ConcurrencyTest, PostersLoseNothingAndWakeTheKernel) {
  ibv_qp* qp = MakeQp(IBV_QPT_RC);
  Sender sender(kernel_.Of(qp));
  kernel_.on_doorbell = [&sender] { sender.Ring(); };

  std::vector<std::jthread> posters;
  for (uint64_t t = 0; t < kThreads; ++t) {
    posters.emplace_back([=](std::stop_token stop) { PostAll(qp, t, stop); });
  }
  const bool complete = sender.Run(kTotal);
  posters.clear();
  EXPECT_TRUE(complete) << "a WQE was posted and the kernel slept";

  // Everything once, and each thread's requests in its order.
  ASSERT_EQ(sender.taken().size(), kTotal);
  std::vector<uint32_t> next(kThreads, 0);
  for (uint64_t wr_id : sender.taken()) {
    const uint32_t thread = static_cast<uint32_t>(wr_id >> 32);
    ASSERT_LT(thread, kThreads);
    ASSERT_EQ(static_cast<uint32_t>(wr_id), next[thread]++);
  }
  EXPECT_GT(sender.sleeps(), 0u);
}

TEST_F(ConcurrencyTest, ArmedQueueIsAlwaysNotified) {
  std::counting_semaphore<> events{0};
  std::atomic<uint32_t> consumed{0};
  KernelCq& queue = kernel_.Of(cq_);

  std::jthread kernel([&](std::stop_token stop) {
    for (uint32_t i = 0; i < kTotal; ++i) {
      while (i - consumed.load() >= queue.entries) {
        if (stop.stop_requested()) return;
        std::this_thread::yield();
      }
      srn_cqe cqe = {};
      cqe.wr_id = i;
      queue.Post(cqe);
      FullBarrier();
      if (std::atomic_ref<uint32_t>(queue.page->arm).exchange(SRN_CQ_DISARMED)) events.release();
      if (i % 3 == 0) std::this_thread::yield();
    }
  });

  uint32_t waits = 0;
  ibv_wc wc;
  for (uint32_t next = 0; next < kTotal;) {
    int polled = ibv_poll_cq(cq_, 1, &wc);
    if (polled == 0) {
      ASSERT_EQ(ibv_req_notify_cq(cq_, 0), 0);
      polled = ibv_poll_cq(cq_, 1, &wc);
    }
    if (polled == 0) {
      ++waits;
      ASSERT_TRUE(events.try_acquire_for(kLost)) << "a completion came and nobody was told";
      continue;
    }
    ASSERT_EQ(polled, 1);
    ASSERT_EQ(wc.wr_id, next++);
    consumed.store(next);
  }
  EXPECT_GT(waits, 0u);
}

}  // namespace
}  // namespace srn::test
