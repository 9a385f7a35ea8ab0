// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// A kernel that only answers: it makes queues in a memfd, remembers doorbells, and lets a test play
// the other end of each queue. It replaces libibverbs' ibv_cmd_*() and libc's ioctl() in the test
// program; all else is the real libibverbs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include <provider/srn.h>

namespace srn::test {

// The kernel's view of a queue.
struct KernelQp {
  srn_create_qp_resp layout = {};
  srn_qp_page* page = nullptr;
  unsigned char* base = nullptr;

  const srn_send_wqe& send(uint32_t index) const {
    return *reinterpret_cast<const srn_send_wqe*>(
        base + layout.sq_offset + (index & (layout.sq_entries - 1)) * layout.sq_stride);
  }
  const srn_recv_wqe& recv(uint32_t index) const {
    return *reinterpret_cast<const srn_recv_wqe*>(
        base + layout.rq_offset + (index & (layout.rq_entries - 1)) * layout.rq_stride);
  }
};

struct KernelCq {
  uint32_t entries = 0;
  srn_cq_page* page = nullptr;
  srn_cqe* cqes = nullptr;

  void Post(const srn_cqe& cqe) {
    cqes[page->prod & (entries - 1)] = cqe;
    StoreRelease(page->prod, page->prod + 1);
  }
};

struct KernelSrq {
  srn_create_srq_resp layout = {};
  srn_srq_page* page = nullptr;
  unsigned char* base = nullptr;

  const srn_recv_wqe& recv(uint32_t index) const {
    return *reinterpret_cast<const srn_recv_wqe*>(base + SRN_QUEUE_OFFSET +
                                                  (index & (layout.entries - 1)) * layout.stride);
  }
};

class FakeKernel {
 public:
  // The one that answers now: tests run one by one.
  static FakeKernel& Get();

  FakeKernel();
  ~FakeKernel();

  int cmd_fd() const { return memory_fd_; }
  int doorbell_fd() const { return doorbell_fd_; }

  // The next command fails with this.
  void FailNext(int error) { fail_next_ = error; }
  int TakeFailure();

  // A queue of `length` bytes that the program can map at `*offset`.
  unsigned char* MakeQueue(uint64_t length, uint64_t* offset);
  // The next queue is offered at an offset where nothing can be mapped.
  void BreakNextOffset() { break_offset_ = true; }

  KernelQp& Of(const ibv_qp* qp) { return qps[qp]; }
  KernelCq& Of(const ibv_cq* cq) { return cqs[cq]; }
  KernelSrq& Of(const ibv_srq* srq) { return srqs[srq]; }

  std::map<const ibv_qp*, KernelQp> qps;
  std::map<const ibv_cq*, KernelCq> cqs;
  std::map<const ibv_srq*, KernelSrq> srqs;
  srn_poller_page* poller = nullptr;  // of the context, if it has one
  int poller_error = 0;               // to who asks for one
  std::vector<uint64_t> doorbells;    // arguments, in order
  std::function<void()> on_doorbell;  // instead of remembering them; called by any thread
  uint64_t cq_wc_flags = 0;           // of the last create_cq
  uint32_t rate_limit = 0;            // of the last modify_qp that had one
  uint32_t ece_offered = 0;           // by QPs that are created from here on
  srn_modify_qp_req modify = {};      // of the last modify_qp that had one
  std::vector<uint32_t> srq_steps;    // comp_mask of each modify_srq
  int srq_move_error = 0;             // to SRN_MODIFY_SRQ_MOVE
  uint32_t cq_flags = 0;
  ibv_moderate_cq moderate = {};  // of the last modify_cq
  uint8_t ah_sl = 0;              // of the last create_ah
  uint32_t next_handle = 1;

  // What modify_srq does.
  int ModifySrq(const ibv_srq* srq, uint32_t max_wr, const srn_modify_srq_req& req);

 private:
  int memory_fd_;
  int doorbell_fd_;
  uint64_t used_ = 0;
  KernelSrq next_srq_;  // made, and not gone over to
  int fail_next_ = 0;
  bool break_offset_ = false;
};

// An open context, a PD and a CQ; makes QPs.
class ProviderTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // A QP of 5 send and 3 receive WRs in rings of 8 and 4, in RTS, with the kernel at work.
  ibv_qp* MakeQp(ibv_qp_type type, ibv_srq* srq = nullptr);
  // The same with ibv_wr_*.
  ibv_qp_ex* MakeQpEx(ibv_qp_type type, uint64_t send_ops);
  void SetState(ibv_qp* qp, ibv_qp_state state) { kernel_.Of(qp).page->state = state; }

  FakeKernel kernel_;
  verbs_device* device_ = nullptr;
  ibv_context* context_ = nullptr;
  ibv_pd* pd_ = nullptr;
  ibv_cq* cq_ = nullptr;
};

inline constexpr uint32_t kMaxSendWr = 5;
inline constexpr uint32_t kMaxRecvWr = 3;
inline constexpr uint32_t kMaxSge = 4;
inline constexpr uint32_t kMaxInline = 64;

}  // namespace srn::test
