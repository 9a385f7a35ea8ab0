// SPDX-License-Identifier: GPL-2.0-only
// Work requests that own their scatter/gather lists.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "memory.h"

namespace verbs {

// A send work request, signalled unless told otherwise. Reads as
// `SendWr::Write(7, mr.Slice(0, 64), peer.At(0)).Imm(9).Fence()`.
class SendWr {
 public:
  using Sges = std::vector<ibv_sge>;

  static SendWr Send(uint64_t wr_id, Sges sges);
  static SendWr Write(uint64_t wr_id, Sges sges, Remote remote);
  static SendWr Read(uint64_t wr_id, Sges sges, Remote remote);
  static SendWr CompareSwap(uint64_t wr_id, ibv_sge sge, Remote remote, uint64_t compare,
                            uint64_t swap);
  static SendWr FetchAdd(uint64_t wr_id, ibv_sge sge, Remote remote, uint64_t add);
  // Its 8 bytes are taken from the element when it is posted.
  static SendWr AtomicWrite(uint64_t wr_id, ibv_sge sge, Remote remote);
  static SendWr LocalInvalidate(uint64_t wr_id, uint32_t rkey);
  static SendWr BindMw(uint64_t wr_id, ibv_mw* mw, uint32_t new_rkey, const ibv_mw_bind_info& info);

  // One element instead of a list.
  static SendWr Send(uint64_t wr_id, ibv_sge sge) { return Send(wr_id, Sges{sge}); }
  static SendWr Write(uint64_t wr_id, ibv_sge sge, Remote remote) {
    return Write(wr_id, Sges{sge}, remote);
  }
  static SendWr Read(uint64_t wr_id, ibv_sge sge, Remote remote) {
    return Read(wr_id, Sges{sge}, remote);
  }

  // Turns SEND or WRITE into its form with immediate data (host order).
  SendWr& Imm(uint32_t imm);
  // Turns SEND into SEND with invalidate.
  SendWr& Invalidate(uint32_t rkey);
  SendWr& Flags(unsigned flags);
  SendWr& Unsignaled();
  SendWr& Fence() { return Flags(IBV_SEND_FENCE); }
  SendWr& Solicited() { return Flags(IBV_SEND_SOLICITED); }
  SendWr& Inline() { return Flags(IBV_SEND_INLINE); }
  SendWr& To(ibv_ah* ah, uint32_t qpn, uint32_t qkey);

  // The request for ibv_post_send; valid while this object lives unmoved.
  ibv_send_wr* raw();

 private:
  explicit SendWr(uint64_t wr_id, ibv_wr_opcode opcode, Sges sges = {});

  Sges sges_;
  ibv_send_wr wr_ = {};
};

// A receive work request.
class RecvWr {
 public:
  RecvWr(uint64_t wr_id, std::vector<ibv_sge> sges);

  ibv_recv_wr* raw();

 private:
  std::vector<ibv_sge> sges_;
  ibv_recv_wr wr_ = {};
};

}  // namespace verbs
