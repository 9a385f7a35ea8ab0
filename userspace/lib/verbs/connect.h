// SPDX-License-Identifier: GPL-2.0-only
// Bringing queue pairs up: the attributes of each transition, and both ends
// at once.
#pragma once

#include <bit>

#include "context.h"
#include "qp.h"

namespace verbs {

// What the two ends of a connection agree on, and how patient they are.
struct WireOptions {
  // 0: the smaller active MTU of the two ports.
  ibv_mtu mtu = ibv_mtu(0);
  // Rights that the peer has through the QP.
  int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
               IBV_ACCESS_REMOTE_ATOMIC;
  uint8_t timeout = 15;  // 4.096 us * 2^15 = 134 ms
  uint8_t retry_cnt = 7;
  uint8_t rnr_retry = 7;       // for ever
  uint8_t min_rnr_timer = 12;  // 0.64 ms
  uint8_t rd_atomic = 8;
  uint32_t psn_a = 0x123456;
  uint32_t psn_b = 0xabcdef;
  uint8_t traffic_class = 0;
  uint8_t hop_limit = 64;
  uint32_t flow_label = 0;
  uint32_t qkey = 0;  // UD
};

// Attributes of one transition with the mask that goes with them.
struct Transition {
  ibv_qp_attr attr = {};
  int mask = 0;
};

// The way from `local` to the GID of `remote`.
ibv_ah_attr AhAttr(const Port& local, const ibv_gid& remote, const WireOptions& options = {});

// `access` and all below as in WireOptions. A UD QP has no peer: RTR leaves out what tells of one.
Transition ToInit(ibv_qp_type type, const Port& local, const WireOptions& options = {});
Transition ToRtr(ibv_qp_type type, const Port& local, const ibv_gid& remote, uint32_t dest_qpn,
                 uint32_t rq_psn, const WireOptions& options);
Transition ToRts(ibv_qp_type type, uint32_t sq_psn, const WireOptions& options);

Status Apply(const Qp& qp, const Transition& transition);

// Takes both QPs from RESET to RTS, connected with each other.
Status Connect(const Qp& a, const Port& port_a, const Qp& b, const Port& port_b,
               WireOptions options = {});

// Takes one QP to RTS towards any QP number, existing or not.
Status ConnectTo(const Qp& qp, const Port& local, const ibv_gid& remote, uint32_t dest_qpn,
                 uint32_t rq_psn, uint32_t sq_psn, const WireOptions& options);

// Takes a UD QP from RESET to RTS.
Status BringUpUd(const Qp& qp, const Port& local, uint32_t qkey, uint32_t sq_psn = 0);

// 256 to 4096.
inline int MtuBytes(ibv_mtu mtu) { return 128 << static_cast<int>(mtu); }
// The path MTU of @p bytes, a power of two from 256 to 4096.
inline ibv_mtu MtuOf(uint32_t bytes) { return ibv_mtu(std::countr_zero(bytes / 128)); }

}  // namespace verbs
