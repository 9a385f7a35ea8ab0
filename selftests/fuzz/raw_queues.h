// SPDX-License-Identifier: GPL-2.0-only
// Two QPs that are connected with each other, a SRQ and their CQ, made without libibverbs: what is
// in the queues then is this program's affair alone.
#pragma once

#include <rdma/srn-abi.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <verbs/memory.h>

namespace fuzz {

// A queue as mapped.
struct RawQueue {
  char* start = nullptr;
  size_t size = 0;

  std::span<uint32_t> words() const {
    return {reinterpret_cast<uint32_t*>(start), size / sizeof(uint32_t)};
  }
};

struct RawQp {
  uint32_t handle = 0;
  uint32_t number = 0;
  srn_create_qp_resp driver = {};
  RawQueue queue;

  srn_qp_page* page() const { return reinterpret_cast<srn_qp_page*>(queue.start); }
};

class RawQueues {
 public:
  // `memory` is registered with all rights, `still` may only be read.
  RawQueues(const std::string& device, ibv_qp_type type, bool with_srq, verbs::Bytes memory,
            verbs::Bytes still);
  ~RawQueues();
  RawQueues(const RawQueues&) = delete;

  const std::vector<RawQp>& qps() const { return qps_; }
  const RawQueue& cq() const { return cq_; }
  const RawQueue& srq() const { return srq_; }
  uint32_t srq_stride() const { return srq_driver_.stride; }
  // Of the memory: lkey and rkey, and of a window that nothing is bound to.
  uint32_t key() const { return key_; }
  uint32_t still_key() const { return still_key_; }
  uint32_t window() const { return window_; }
  uint32_t ah() const { return ah_; }

  void Doorbell(uint64_t argument) const;
  // Takes all completions that are there.
  void Consume() const;
  // To RTS it goes through all states before, so that what has failed lives again.
  void Modify(const RawQp& qp, ibv_qp_state state) const;

 private:
  uint32_t Register(verbs::Bytes memory, uint32_t access) const;
  void MakeMemory(verbs::Bytes memory, verbs::Bytes still);
  void MakeQp(ibv_qp_type type, bool with_srq);
  void MakeAh();
  void SetState(const RawQp& qp, ibv_qp_state state) const;
  // Towards the other one.
  void Connect(const RawQp& qp) const;
  RawQueue Map(uint64_t offset, uint64_t length) const;

  ibv_qp_type type_;
  int fd_;
  int async_ = -1;
  int doorbell_ = -1;
  uint32_t pd_ = 0, key_ = 0, still_key_ = 0, window_ = 0, ah_ = 0;
  uint32_t cq_handle_ = 0, srq_handle_ = 0;
  RawQueue cq_, srq_;
  srn_create_srq_resp srq_driver_ = {};
  std::vector<RawQp> qps_;
};

}  // namespace fuzz
