// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Which send operations there are on which type of QP.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

namespace srn {

constexpr uint32_t OpBit(ibv_wr_opcode opcode) { return 1U << opcode; }

inline constexpr uint32_t kUdOps = OpBit(IBV_WR_SEND) | OpBit(IBV_WR_SEND_WITH_IMM);
inline constexpr uint32_t kUcOps = kUdOps | OpBit(IBV_WR_RDMA_WRITE) |
                                   OpBit(IBV_WR_RDMA_WRITE_WITH_IMM) | OpBit(IBV_WR_LOCAL_INV) |
                                   OpBit(IBV_WR_BIND_MW);
inline constexpr uint32_t kRcOps =
    kUcOps | OpBit(IBV_WR_RDMA_READ) | OpBit(IBV_WR_ATOMIC_CMP_AND_SWP) |
    OpBit(IBV_WR_ATOMIC_FETCH_AND_ADD) | OpBit(IBV_WR_SEND_WITH_INV) | OpBit(IBV_WR_ATOMIC_WRITE);

// The operations of a type of QP; 0 for types that srn does not have.
constexpr uint32_t SendOps(ibv_qp_type type) {
  switch (type) {
    case IBV_QPT_RC:
      return kRcOps;
    case IBV_QPT_UC:
      return kUcOps;
    case IBV_QPT_UD:
      return kUdOps;
    default:
      return 0;
  }
}

// Operations whose data may ride in the WQE, behind its head.
inline constexpr uint32_t kInlineOps = OpBit(IBV_WR_SEND) | OpBit(IBV_WR_SEND_WITH_IMM) |
                                       OpBit(IBV_WR_SEND_WITH_INV) | OpBit(IBV_WR_RDMA_WRITE) |
                                       OpBit(IBV_WR_RDMA_WRITE_WITH_IMM);

// Operations that move no bytes of the program: their SGEs mean nothing.
inline constexpr uint32_t kBareOps = OpBit(IBV_WR_LOCAL_INV) | OpBit(IBV_WR_BIND_MW);

// enum ibv_send_flags that srn knows.
inline constexpr uint32_t kSendFlags =
    IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | IBV_SEND_INLINE;

// ibv_qp_create_send_ops_flags has the bits of the opcodes, except for the atomic write.
static_assert(IBV_QP_EX_WITH_RDMA_WRITE == OpBit(IBV_WR_RDMA_WRITE));
static_assert(IBV_QP_EX_WITH_SEND == OpBit(IBV_WR_SEND));
static_assert(IBV_QP_EX_WITH_RDMA_READ == OpBit(IBV_WR_RDMA_READ));
static_assert(IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD == OpBit(IBV_WR_ATOMIC_FETCH_AND_ADD));
static_assert(IBV_QP_EX_WITH_BIND_MW == OpBit(IBV_WR_BIND_MW));
static_assert(IBV_QP_EX_WITH_SEND_WITH_INV == OpBit(IBV_WR_SEND_WITH_INV));

// The same operations in the numbering of ibv_qp_init_attr_ex.send_ops_flags.
constexpr uint64_t SendOpsFlags(ibv_qp_type type) {
  const uint32_t ops = SendOps(type);
  const uint64_t same = ops & ~OpBit(IBV_WR_ATOMIC_WRITE);
  return same | (ops & OpBit(IBV_WR_ATOMIC_WRITE) ? uint64_t{IBV_QP_EX_WITH_ATOMIC_WRITE} : 0);
}

}  // namespace srn
