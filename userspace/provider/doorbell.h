// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// When the kernel must be told of a post, and how.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/srn-abi.h>
#include <sys/ioctl.h>

#include "ring.h"

namespace srn {

// Rings for the QPs of one context. Does not own the descriptor.
class Doorbell {
 public:
  Doorbell() = default;
  Doorbell(int fd, uint32_t index) : fd_(fd), argument_(SRN_DB_ARG(index)) {}

  // After sq_tail was stored. Most posts find the kernel at work, and enter it not.
  void AfterSend(srn_qp_page& page) const {
    // Either we see NEED_DB, or the kernel, which sets it and then looks again, sees our tail.
    FullBarrier();
    if (LoadRelaxed(page.status) & SRN_QP_NEED_DB) Ring();
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

  int fd_ = -1;
  uint64_t argument_ = 0;
};

}  // namespace srn
