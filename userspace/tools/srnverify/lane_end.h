// SPDX-License-Identifier: GPL-2.0-only
// One end of a lane: its queue pair and what goes with that.
#pragma once

#include <cstdint>

#include <verbs/connect.h>
#include <verbs/memory.h>
#include <verbs/qp.h>

#include "device.h"
#include "plan.h"
#include "queues.h"

namespace srnverify {

class LaneEnd {
 public:
  // All must live as long. Throws Fault, as all here do.
  LaneEnd(const Device& device, const Plan& plan, int lane, int side, const Queues& queues,
          const verbs::Srq* srq);

  const Lane& lane() const { return lane_; }
  const verbs::Qp& qp() const { return qp_; }
  ibv_ah* ah() const { return ah_.get(); }

  // From RESET to RTS, towards the other end's QP.
  void Connect(const ibv_gid& peer, uint32_t peer_qpn);
  // Through RESET, which drops what is posted, to RTS with other PSNs.
  void Renew();

  // Binds the window to part of an MR; its new key.
  uint32_t Bind(const verbs::Mr& mr, uint64_t offset, uint64_t length, uint64_t id);
  void Invalidate(uint64_t id);

 private:
  void Await(uint64_t id, ibv_wc_opcode opcode, const char* what) const;

  const Device& device_;
  const Plan& plan_;
  const Lane& lane_;
  const int side_;
  const Queues& queues_;
  verbs::Qp qp_;
  verbs::Ah ah_;
  verbs::Mw window_;
  uint32_t key_ = 0;
  ibv_gid peer_ = {};
  uint32_t peer_qpn_ = 0;
  uint32_t times_ = 0;
};

}  // namespace srnverify
