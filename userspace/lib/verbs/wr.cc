// SPDX-License-Identifier: GPL-2.0-only
#include "wr.h"

#include <arpa/inet.h>

#include <utility>

namespace verbs {

SendWr::SendWr(uint64_t wr_id, ibv_wr_opcode opcode, Sges sges) : sges_(std::move(sges)) {
  wr_.wr_id = wr_id;
  wr_.opcode = opcode;
  wr_.send_flags = IBV_SEND_SIGNALED;
}

SendWr SendWr::Send(uint64_t wr_id, Sges sges) {
  return SendWr(wr_id, IBV_WR_SEND, std::move(sges));
}

SendWr SendWr::Write(uint64_t wr_id, Sges sges, Remote remote) {
  SendWr wr(wr_id, IBV_WR_RDMA_WRITE, std::move(sges));

  wr.wr_.wr.rdma = {.remote_addr = remote.addr, .rkey = remote.rkey};
  return wr;
}

SendWr SendWr::Read(uint64_t wr_id, Sges sges, Remote remote) {
  SendWr wr(wr_id, IBV_WR_RDMA_READ, std::move(sges));

  wr.wr_.wr.rdma = {.remote_addr = remote.addr, .rkey = remote.rkey};
  return wr;
}

SendWr SendWr::CompareSwap(uint64_t wr_id, ibv_sge sge, Remote remote, uint64_t compare,
                           uint64_t swap) {
  SendWr wr(wr_id, IBV_WR_ATOMIC_CMP_AND_SWP, {sge});

  wr.wr_.wr.atomic = {
      .remote_addr = remote.addr, .compare_add = compare, .swap = swap, .rkey = remote.rkey};
  return wr;
}

SendWr SendWr::FetchAdd(uint64_t wr_id, ibv_sge sge, Remote remote, uint64_t add) {
  SendWr wr(wr_id, IBV_WR_ATOMIC_FETCH_AND_ADD, {sge});

  wr.wr_.wr.atomic = {
      .remote_addr = remote.addr, .compare_add = add, .swap = 0, .rkey = remote.rkey};
  return wr;
}

SendWr SendWr::AtomicWrite(uint64_t wr_id, ibv_sge sge, Remote remote) {
  SendWr wr(wr_id, IBV_WR_ATOMIC_WRITE, {sge});

  wr.wr_.send_flags |= IBV_SEND_INLINE;
  wr.wr_.wr.rdma = {.remote_addr = remote.addr, .rkey = remote.rkey};
  return wr;
}

SendWr SendWr::LocalInvalidate(uint64_t wr_id, uint32_t rkey) {
  SendWr wr(wr_id, IBV_WR_LOCAL_INV);

  wr.wr_.invalidate_rkey = rkey;
  return wr;
}

SendWr SendWr::BindMw(uint64_t wr_id, ibv_mw* mw, uint32_t new_rkey, const ibv_mw_bind_info& info) {
  SendWr wr(wr_id, IBV_WR_BIND_MW);

  wr.wr_.bind_mw.mw = mw;
  wr.wr_.bind_mw.rkey = new_rkey;
  wr.wr_.bind_mw.bind_info = info;
  return wr;
}

SendWr& SendWr::Imm(uint32_t imm) {
  wr_.opcode = wr_.opcode == IBV_WR_SEND ? IBV_WR_SEND_WITH_IMM : IBV_WR_RDMA_WRITE_WITH_IMM;
  wr_.imm_data = htonl(imm);
  return *this;
}

SendWr& SendWr::Invalidate(uint32_t rkey) {
  wr_.opcode = IBV_WR_SEND_WITH_INV;
  wr_.invalidate_rkey = rkey;
  return *this;
}

SendWr& SendWr::Flags(unsigned flags) {
  wr_.send_flags |= flags;
  return *this;
}

SendWr& SendWr::Unsignaled() {
  wr_.send_flags &= ~IBV_SEND_SIGNALED;
  return *this;
}

SendWr& SendWr::To(ibv_ah* ah, uint32_t qpn, uint32_t qkey) {
  wr_.wr.ud = {.ah = ah, .remote_qpn = qpn, .remote_qkey = qkey};
  return *this;
}

ibv_send_wr* SendWr::raw() {
  wr_.sg_list = sges_.data();
  wr_.num_sge = static_cast<int>(sges_.size());
  return &wr_;
}

RecvWr::RecvWr(uint64_t wr_id, std::vector<ibv_sge> sges) : sges_(std::move(sges)) {
  wr_.wr_id = wr_id;
}

ibv_recv_wr* RecvWr::raw() {
  wr_.sg_list = sges_.data();
  wr_.num_sge = static_cast<int>(sges_.size());
  return &wr_;
}

}  // namespace verbs
