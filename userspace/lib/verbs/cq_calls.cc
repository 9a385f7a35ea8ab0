// SPDX-License-Identifier: GPL-2.0-only
// Polling by ibv_start_poll(), ibv_next_poll() and ibv_end_poll(): a call for each field.
#include "cq.h"

namespace verbs {
namespace {

ibv_wc Read(ibv_cq_ex* cq) {
  ibv_wc wc = {};

  wc.wr_id = cq->wr_id;
  wc.status = cq->status;
  wc.vendor_err = ibv_wc_read_vendor_err(cq);
  wc.qp_num = ibv_wc_read_qp_num(cq);
  if (wc.status != IBV_WC_SUCCESS) return wc;
  wc.opcode = ibv_wc_read_opcode(cq);
  wc.byte_len = ibv_wc_read_byte_len(cq);
  wc.src_qp = ibv_wc_read_src_qp(cq);
  wc.wc_flags = ibv_wc_read_wc_flags(cq);
  wc.slid = static_cast<uint16_t>(ibv_wc_read_slid(cq));
  wc.sl = ibv_wc_read_sl(cq);
  wc.dlid_path_bits = ibv_wc_read_dlid_path_bits(cq);
  if (wc.wc_flags & IBV_WC_WITH_INV)
    wc.invalidated_rkey = ibv_wc_read_invalidated_rkey(cq);
  else
    wc.imm_data = ibv_wc_read_imm_data(cq);
  return wc;
}

}  // namespace

Result<Cq> Cq::CreateForCalls(const Context& context, int entries, const Options& options) {
  ibv_cq_init_attr_ex attr = {};

  attr.cqe = static_cast<uint32_t>(entries);
  attr.cq_context = options.context;
  attr.channel = options.channel ? options.channel->get() : nullptr;
  attr.comp_vector = static_cast<uint32_t>(options.vector);
  attr.wc_flags = IBV_WC_STANDARD_FLAGS;
  errno = 0;
  ibv_cq_ex* calls = ibv_create_cq_ex(context.get(), &attr);
  Result<Cq> cq = Adopt<Cq>(calls ? ibv_cq_ex_to_cq(calls) : nullptr, "ibv_create_cq_ex");
  if (cq.ok()) cq->calls_ = calls;
  return cq;
}

int Cq::PollByCalls(ibv_wc* wc, int count) const {
  ibv_poll_cq_attr attr = {};

  if (count == 0) return 0;
  const int err = ibv_start_poll(calls_, &attr);
  if (err) return err == ENOENT ? 0 : -1;
  int polled = 0;
  do wc[polled++] = Read(calls_);
  while (polled < count && ibv_next_poll(calls_) == 0);
  ibv_end_poll(calls_);
  return polled;
}

}  // namespace verbs
