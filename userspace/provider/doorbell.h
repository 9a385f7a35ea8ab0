// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// When the kernel must be told of a post, and how.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/srn-abi.h>
#include <sys/ioctl.h>

#include <atomic>

#include "ring.h"

namespace srn {

// Posts that the kernel leaves until there are more: for whom to ring when a thread of this context
// has nothing else to do. All zeros is none. If it is late or wrong by a race, the kernel's alarm
// sends, or a doorbell finds nothing to do.
class Gathered {
 public:
  // False: the QPs that are kept are of another word of the bitmap.
  bool Keep(uint64_t argument) {
    uint64_t kept = argument_.load(std::memory_order_relaxed);
    do {
      if (kept == argument) return true;
      if (kept != 0 && (kept ^ argument) >> 32 != 0) return false;
    } while (!argument_.compare_exchange_weak(kept, kept | argument, std::memory_order_relaxed));
    return true;
  }

  // Nothing follows what was left, or a QP is to stop. Most have nothing gathered either.
  void Ring(int fd) {
    if (argument_.load(std::memory_order_relaxed) == 0) return;
    const uint64_t argument = argument_.exchange(0, std::memory_order_relaxed);
    if (argument != 0) (void)ioctl(fd, SRN_IOC_DOORBELL, argument);
  }

 private:
  std::atomic<uint64_t> argument_;
};

// What a context without a poller says in place of the poller's page.
inline constexpr uint32_t kAlwaysAsleep = 1;

// Rings for the QPs of one context. Does not own the descriptor.
class Doorbell {
 public:
  Doorbell() = default;
  // `asleep`: of the context's poller, or kAlwaysAsleep.
  Doorbell(int fd, uint32_t index, Gathered& gathered, const uint32_t& asleep = kAlwaysAsleep)
      : fd_(fd), argument_(SRN_DB_ARG(index)), gathered_(&gathered), asleep_(&asleep) {}

  // After sq_tail was stored. Most posts find the kernel at work, and enter it not.
  void AfterSend(srn_qp_page& page) const {
    // Either we see NEED_DB, or the kernel, which sets it and then looks again, sees our tail.
    FullBarrier();
    const uint32_t status = LoadRelaxed(page.status);
    if (status & SRN_QP_NEED_DB) {
      // The same with a poller, which says that it sleeps and then looks again.
      if (LoadRelaxed(*asleep_) == 0) return;
      Ring();
      // It may have been put off.
      KeepOrRing(LoadRelaxed(page.status));
    } else {
      KeepOrRing(status);
    }
  }

  // The QP is to stop: what its poller has not seen yet goes before, unless another CPU is at the
  // QP.
  void BeforeStop() const {
    if (asleep_ != &kAlwaysAsleep) Ring();
  }

  // After rq_tail was stored. Only a QP in error cares at once: it flushes what is posted.
  void AfterRecv(srn_qp_page& page) const {
    FullBarrier();
    const uint32_t state = LoadRelaxed(page.state);
    if (state == IBV_QPS_ERR || state == IBV_QPS_SQE) Ring();
  }

 private:
  // The work is posted whatever comes back: the one error, a device that is gone, is told by the
  // next post and the next poll.
  void Ring() const { (void)ioctl(fd_, SRN_IOC_DOORBELL, argument_); }

  void KeepOrRing(uint32_t status) const {
    if (status & SRN_QP_GATHERS && !gathered_->Keep(argument_)) Ring();
  }

  int fd_ = -1;
  uint64_t argument_ = 0;
  Gathered* gathered_ = nullptr;
  const uint32_t* asleep_ = &kAlwaysAsleep;
};

}  // namespace srn
