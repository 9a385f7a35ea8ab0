// SPDX-License-Identifier: GPL-2.0-only
// The verbs side: PD, MR, CQs and one QP of the device under test.
#pragma once

#include <infiniband/verbs.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "peer.h"

namespace wire {

inline constexpr size_t kBufferSize = 256 << 10;

// In place of a completion that did not come: a status no device reports here.
inline constexpr ibv_wc_status kNoCompletion = IBV_WC_TM_ERR;

struct QpOptions {
  ibv_qp_type type = IBV_QPT_RC;
  uint32_t mtu = 1024;
  uint32_t rq_psn = 0x000500;  // first PSN of the peer
  uint32_t sq_psn = 0x00a000;  // first PSN of the device
  uint8_t timeout = 18;        // 1.07 s: no resends unless a test wants them
  uint8_t retry_cnt = 7;
  uint8_t rnr_retry = 7;
  uint8_t min_rnr_timer = 12;
  uint8_t max_rd_atomic = 4;
  uint8_t max_dest_rd_atomic = 4;
  int qp_access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  int mr_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                  IBV_ACCESS_REMOTE_ATOMIC;
  uint32_t qkey = 0x11223344;  // UD
  bool signal_all = true;
  ibv_qp_state last_state = IBV_QPS_RTS;  // INIT and RTR stop on the way
};

// A send work request on the endpoint's buffer.
struct SendWr {
  ibv_wr_opcode opcode = IBV_WR_SEND;
  uint64_t id = 1;
  size_t offset = 0;
  uint32_t length = 0;
  unsigned int flags = 0;
  uint32_t imm = 0;  // immediate, or rkey to invalidate
  uint64_t remote_va = 0;
  uint32_t rkey = 0;
  uint64_t compare_add = 0, swap = 0;
};

class Endpoint {
 public:
  // Creates the QP and brings it to RTS towards `peer`. Fails the running
  // test and returns nullptr if that is not possible.
  static std::unique_ptr<Endpoint> Create(Peer& peer, const QpOptions& options);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  const QpOptions& options() const { return options_; }
  uint32_t qpn() const { return qp_->qp_num; }
  ibv_qp* qp() const { return qp_; }
  ibv_pd* pd() const { return pd_; }
  uint32_t rkey() const { return mr_->rkey; }
  uint32_t lkey() const { return mr_->lkey; }
  uint64_t Va(size_t offset = 0) const {
    return reinterpret_cast<uint64_t>(buffer_.data() + offset);
  }
  std::span<uint8_t> Memory(size_t offset, size_t length) {
    return std::span(buffer_).subspan(offset, length);
  }
  std::vector<uint8_t> Copy(size_t offset, size_t length) const;
  void Fill(uint8_t value) { std::fill(buffer_.begin(), buffer_.end(), value); }
  // Fills with a pattern that differs everywhere.
  void FillPattern(size_t offset, size_t length, uint8_t seed = 1);
  uint64_t Load64(size_t offset) const;
  void Store64(size_t offset, uint64_t value);

  void PostRecv(uint64_t id, size_t offset, uint32_t length);
  void PostRecvKey(uint64_t id, size_t offset, uint32_t length, uint32_t lkey);
  void PostSend(const SendWr& wr);
  // UD.
  void PostSendTo(const SendWr& wr, ibv_ah* ah, uint32_t qpn, uint32_t qkey);
  ibv_ah* CreateAh(Peer& peer) { return CreateAh(peer, DefaultGrh()); }
  // With the caller's hop limit, traffic class and flow label.
  ibv_ah* CreateAh(Peer& peer, const ibv_global_route& grh);
  static ibv_global_route DefaultGrh();

  // The next completion; a test failure if none comes (then kNoCompletion).
  ibv_wc WaitSend(std::chrono::microseconds timeout = kSoon);
  ibv_wc WaitRecv(std::chrono::microseconds timeout = kSoon);
  void ExpectNoCompletion(std::chrono::microseconds duration = kAWhile);
  std::optional<ibv_wc> PollSend();
  std::optional<ibv_wc> PollRecv();

  ibv_qp_state State() const;
  // Waits until the QP is in the state.
  bool ReachesState(ibv_qp_state state, std::chrono::microseconds timeout = kSoon) const;

 private:
  explicit Endpoint(const QpOptions& options) : options_(options), buffer_(kBufferSize) {}
  bool CreateObjects();
  bool CreateQp();
  int ToInit();
  int ToRtr(Peer& peer, uint8_t gid_index);
  int ToRts();
  ibv_wc Wait(ibv_cq* cq, std::chrono::microseconds timeout, const char* what);

  QpOptions options_;
  std::vector<uint8_t> buffer_;
  std::vector<ibv_ah*> ahs_;
  ibv_pd* pd_ = nullptr;
  ibv_mr* mr_ = nullptr;
  ibv_cq* send_cq_ = nullptr;
  ibv_cq* recv_cq_ = nullptr;
  ibv_qp* qp_ = nullptr;
};

}  // namespace wire
