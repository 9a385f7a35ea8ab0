// SPDX-License-Identifier: GPL-2.0-only
// The verbs side: PD, MR, CQs and one QP of the device under test.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include <roce/packet.h>
#include <verbs/connect.h>

#include "peer.h"

namespace wire {

using verbs::RecvWr;
using verbs::SendWr;

inline constexpr size_t kBufferSize = 256 << 10;

// In place of a completion that did not come: a status no device reports here.
inline constexpr ibv_wc_status kNoCompletion = IBV_WC_TM_ERR;

// Of enhanced connection establishment, as Documentation/wire.rst has them.
inline constexpr uint32_t kEceVendor = 0x73726e;
inline constexpr uint32_t kEceSack = 1, kEceTells = 2, kEceParts = 4;

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
  std::optional<net::IpAddress> address;  // of the device, where it is not that of all others
  std::optional<uint32_t> ece;            // the peer's options, as rdma_cm brings them,
  bool ece_own = false;                   // or a program that takes its own for them
};

class Endpoint {
 public:
  // Creates the QP and brings it to RTS towards `peer`. Throws (the test fails) if that does not
  // work.
  Endpoint(Peer& peer, const QpOptions& options);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  const QpOptions& options() const { return options_; }
  const verbs::Qp& qp() const { return qp_; }
  const verbs::Mr& mr() const { return mr_; }
  uint32_t qpn() const { return qp_.num(); }
  uint32_t rkey() const { return mr_->rkey; }
  uint64_t Va(size_t offset = 0) const { return mr_.At(offset).addr; }
  verbs::Bytes Memory(size_t offset, size_t length) const;
  // That memory for a work request: no element for no bytes.
  SendWr::Sges Data(size_t offset, size_t length) const;
  roce::Bytes Copy(size_t offset, size_t length) const;
  void Fill(uint8_t value);
  // Fills with a pattern that differs everywhere.
  void FillPattern(size_t offset, size_t length, uint32_t seed = 1);
  uint64_t Load64(size_t offset) const;
  void Store64(size_t offset, uint64_t value);

  void Post(SendWr wr);
  void Post(RecvWr wr);
  // A SEND that asks for no completion itself: signal_all has it complete.
  void PostSend(uint64_t id, size_t offset, size_t length);
  void PostRecv(uint64_t id, size_t offset, size_t length);
  // An address handle that lives as long as the QP. `path`: what stands in the IP header.
  ibv_ah* CreateAh(const Peer& peer, const verbs::WireOptions& path = {}, uint8_t sl = 0);

  // Through RESET and up again, towards the same peer and with the same PSNs.
  void Reconnect(Peer& peer);

  // The next completion; a test failure if none comes (then kNoCompletion).
  ibv_wc WaitSend();
  ibv_wc WaitRecv();
  void ExpectNoCompletion(std::chrono::microseconds duration = kAWhile);
  std::optional<ibv_wc> PollSend() { return send_cq_.Poll(); }

  ibv_qp_state State() const { return qp_.State(); }
  void DestroyQp() { EXPECT_TRUE(qp_.Close()); }
  // Waits until the QP is in the state.
  bool ReachesState(ibv_qp_state state) const;

 private:
  void Connect(const Peer& peer);

  QpOptions options_;
  verbs::Buffer buffer_;
  verbs::Pd pd_;
  verbs::Mr mr_;
  verbs::Cq send_cq_;
  verbs::Cq recv_cq_;
  std::vector<verbs::Ah> ahs_;
  verbs::Qp qp_;
};

}  // namespace wire
