// SPDX-License-Identifier: GPL-2.0-only
// Queue pairs and address handles.
#pragma once

#include <span>

#include "context.h"
#include "cq.h"
#include "handle.h"
#include "srq.h"
#include "wr.h"

namespace verbs {

// Everything that ibv_query_qp tells.
struct QpState {
  ibv_qp_attr attr;
  ibv_qp_init_attr init;
};

class Qp : public Handle<ibv_qp> {
 public:
  using Handle::Handle;

  struct Options {
    ibv_qp_type type = IBV_QPT_RC;
    uint32_t max_send_wr = 64;
    uint32_t max_recv_wr = 64;
    uint32_t max_send_sge = 4;
    uint32_t max_recv_sge = 4;
    uint32_t max_inline = 0;
    bool sq_sig_all = false;
    const Srq* srq = nullptr;
    void* context = nullptr;
    // enum ibv_qp_create_send_ops_flags; not 0: create for ibv_wr_*().
    uint64_t send_ops = 0;
  };

  static Result<Qp> Create(const Pd& pd, const Cq& send_cq, const Cq& recv_cq,
                           const Options& options);

  // What the device gave, at least what the options asked.
  const ibv_qp_cap& cap() const { return cap_; }
  uint32_t num() const { return get()->qp_num; }

  Status Modify(ibv_qp_attr attr, int mask) const;
  Status ModifyState(ibv_qp_state state) const;
  Result<QpState> Query() const;
  // The state that ibv_query_qp tells, IBV_QPS_UNKNOWN if the call fails.
  ibv_qp_state State() const;
  // Waits until the QP has got into @p state by itself. ETIMEDOUT if it did not.
  Status WaitState(ibv_qp_state state, Timeout timeout) const;

  Status Post(SendWr wr) const;
  // Posts a list; `posted` gets the number of requests before the bad one.
  Status Post(std::span<SendWr> list, size_t* posted) const;
  // The same by ibv_wr_*() between ibv_wr_start() and ibv_wr_complete(): all of them or none. The
  // QP is created with the `send_ops` that the list needs.
  Status PostByCalls(std::span<SendWr> list) const;
  Status Post(RecvWr wr) const;
  Status Post(std::span<RecvWr> list, size_t* posted) const;

 private:
  ibv_qp_cap cap_ = {};
};

class Ah : public Handle<ibv_ah> {
 public:
  using Handle::Handle;

  static Result<Ah> Create(const Pd& pd, ibv_ah_attr attr);
};

}  // namespace verbs
