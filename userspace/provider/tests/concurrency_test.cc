// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Two sides of a ring at once. Who finds nothing to do goes to sleep after it has said so, and the
// other side must wake it. Stress: it shows locks, order and wake-ups that are missing altogether;
// a missing barrier it shows where two CPUs do the same at once.

#include <atomic>
#include <chrono>
#include <semaphore>
#include <stop_token>
#include <thread>
#include <vector>

#include "fake_kernel.h"

namespace srn::test {
namespace {

using std::chrono_literals::operator""s;

constexpr uint32_t kThreads = 3;
constexpr uint32_t kPerThread = 20000;
constexpr uint32_t kTotal = kThreads * kPerThread;
// Long enough for any machine: it passes only when a wake-up was lost.
constexpr auto kLost = 10s;

class ConcurrencyTest : public ProviderTest {};

// The kernel's side of a send queue, in a thread.
class Sender {
 public:
  explicit Sender(const KernelQp& qp) : qp_(qp) {}

  // The doorbell.
  void Ring() { doorbell_.release(); }

  // Takes `count` WQEs; false if a doorbell was lost.
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

// One request at a time: no later one covers for a doorbell that was lost.
TEST_F(ConcurrencyTest, EachPostWakesTheKernel) {
  ibv_qp* qp = MakeQp(IBV_QPT_RC);
  KernelQp& queue = kernel_.Of(qp);
  Sender sender(queue);
  kernel_.on_doorbell = [&sender] { sender.Ring(); };

  std::jthread poster([&](std::stop_token stop) {
    for (uint32_t i = 0; i < kTotal && !stop.stop_requested(); ++i) {
      ibv_send_wr wr = {};
      wr.opcode = IBV_WR_SEND;
      ibv_send_wr* bad = nullptr;
      ASSERT_EQ(ibv_post_send(qp, &wr, &bad), 0);
      while (LoadAcquire(queue.page->sq_head) == i && !stop.stop_requested()) {
        std::this_thread::yield();
      }
    }
  });
  EXPECT_TRUE(sender.Run(kTotal)) << "a WQE was posted and the kernel slept";
  EXPECT_GT(sender.sleeps(), 0u);
}

// A doorbell and the kernel look at the same moment, again and again: a CPU that delays its store
// past its look, as all do without a barrier, is caught in some of the rounds where two are free.
TEST_F(ConcurrencyTest, WhoPostsAndWhoSleepsSeeEachOther) {
  srn_qp_page& page = *kernel_.Of(MakeQp(IBV_QPT_RC)).page;
  Gathered gathered{};
  const Doorbell doorbell(kernel_.doorbell_fd(), 0, gathered);
  bool rung = false;
  kernel_.on_doorbell = [&rung] { rung = true; };
  std::atomic<uint32_t> begun{0}, over{0};
  bool seen = false;

  std::jthread kernel([&](std::stop_token stop) {
    for (uint32_t round = 1; !stop.stop_requested(); ++round) {
      while (begun.load() != round)
        if (stop.stop_requested()) return;
      StoreRelease(page.status, SRN_QP_NEED_DB);
      FullBarrier();
      seen = LoadAcquire(page.sq_tail) == round;
      over.store(round);
    }
  });
  const auto end = std::chrono::steady_clock::now() + 1s;
  for (uint32_t round = 1; round < kTotal && std::chrono::steady_clock::now() < end; ++round) {
    StoreRelease(page.status, 0);
    rung = false;
    begun.store(round);
    // The other one takes as long to see that, or less, or more.
    for (std::atomic<uint32_t> wait = 0; wait < round % 64; ++wait) continue;
    StoreRelease(page.sq_tail, round);
    doorbell.AfterSend(page);
    while (over.load() != round) continue;
    ASSERT_TRUE(rung || seen) << "in round " << round;
  }
}

// As above for events. The CQ has no locks, which are barriers on some machines.
TEST_F(ConcurrencyTest, ArmedQueueIsAlwaysNotified) {
  ibv_cq_init_attr_ex attr = {};
  attr.cqe = 2;
  attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
  attr.flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED;
  ibv_cq_ex* cq_ex = ibv_create_cq_ex(context_, &attr);
  ASSERT_NE(cq_ex, nullptr);
  ibv_cq* cq = ibv_cq_ex_to_cq(cq_ex);
  KernelCq& queue = kernel_.Of(cq);
  std::counting_semaphore<> events{0};
  std::atomic<uint32_t> consumed{0};

  std::jthread kernel([&](std::stop_token stop) {
    for (uint32_t i = 0; i < kTotal; ++i) {
      while (consumed.load() != i) {
        if (stop.stop_requested()) return;
        std::this_thread::yield();
      }
      srn_cqe cqe = {};
      cqe.wr_id = i;
      queue.Post(cqe);
      FullBarrier();
      if (std::atomic_ref<uint32_t>(queue.page->arm).exchange(SRN_CQ_DISARMED)) events.release();
    }
  });

  uint32_t waits = 0;
  ibv_wc wc;
  for (uint32_t next = 0; next < kTotal;) {
    int polled = ibv_poll_cq(cq, 1, &wc);
    if (polled == 0) {
      ASSERT_EQ(ibv_req_notify_cq(cq, 0), 0);
      polled = ibv_poll_cq(cq, 1, &wc);
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
  kernel.join();
  EXPECT_EQ(ibv_destroy_cq(cq), 0);
}

// The kernel fills each slot as soon as it is given back: what was in it is copied by then. That it
// is not shows where to copy takes long, beside ThreadSanitizer.
TEST_F(ConcurrencyTest, SlotIsGivenBackWhenItWasCopied) {
  KernelCq& queue = kernel_.Of(cq_);

  std::jthread kernel([&](std::stop_token stop) {
    for (uint32_t i = 0; i < kTotal; ++i) {
      while (i - LoadAcquire(queue.page->cons) == queue.entries)
        if (stop.stop_requested()) return;
      srn_cqe cqe = {};
      cqe.wr_id = i;
      cqe.byte_len = i;
      queue.Post(cqe);
    }
  });
  const auto end = std::chrono::steady_clock::now() + 1s;
  ibv_wc wc[4];
  uint32_t next = 0;
  while (next < kTotal && std::chrono::steady_clock::now() < end) {
    const int polled = ibv_poll_cq(cq_, 4, wc);
    ASSERT_GE(polled, 0);
    for (int i = 0; i < polled; ++i, ++next) {
      ASSERT_EQ(wc[i].wr_id, next);
      ASSERT_EQ(wc[i].byte_len, next);
    }
  }
  EXPECT_GT(next, 0u);
}

// The device goes while a program polls: the error comes after the last completion.
TEST_F(ConcurrencyTest, DeadQueueHasGivenAll) {
  constexpr int kRounds = 100;
  for (int round = 0; round < kRounds; ++round) {
    KernelCq& queue = kernel_.Of(cq_);
    StoreRelease(queue.page->dead, 0);
    std::jthread kernel([&queue] {
      queue.Post({});
      StoreRelease(queue.page->dead, SRN_CQ_GONE);
    });
    ibv_wc wc;
    int polled;
    while ((polled = ibv_poll_cq(cq_, 1, &wc)) == 0) std::this_thread::yield();
    ASSERT_EQ(polled, 1) << "the error came first";
    kernel.join();
    ASSERT_LT(ibv_poll_cq(cq_, 1, &wc), 0);
  }
}

}  // namespace
}  // namespace srn::test
