// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// The iterating interface of a CQ: start_poll, next_poll, end_poll, read_*.

#include "srn.h"

namespace srn {
namespace {

constexpr uint64_t kWcFlags =
    uint64_t{IBV_WC_STANDARD_FLAGS} | uint64_t{IBV_WC_EX_WITH_COMPLETION_TIMESTAMP};
constexpr uint32_t kAttrMask = IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD;

const srn_cqe& Current(ibv_cq_ex* cq) { return *ToCq(cq).current; }

// Makes the oldest completion the current one; ENOENT when there is none.
int Advance(Cq& cq) {
  cq.current = cq.ring.Peek();
  if (cq.current == nullptr) return ENOENT;
  cq.vcq.cq_ex.wr_id = cq.current->wr_id;
  cq.vcq.cq_ex.status = static_cast<ibv_wc_status>(cq.current->status);
  return 0;
}

int StartPoll(ibv_cq_ex* ibcq, ibv_poll_cq_attr* attr) {
  Cq& cq = ToCq(ibcq);

  if (attr->comp_mask) return EINVAL;
  cq.lock.lock();
  int err = Advance(cq);
  if (err && IsDead(cq)) {
    err = Advance(cq);
    if (err) err = EIO;
  }
  if (err) {
    cq.lock.unlock();
    RingForGathered(cq.vcq.cq.context);
  }
  return err;
}

int NextPoll(ibv_cq_ex* ibcq) {
  Cq& cq = ToCq(ibcq);

  if (cq.current != nullptr) {
    cq.ring.Consume();
    cq.ring.Release();
  }
  return Advance(cq);
}

void EndPoll(ibv_cq_ex* ibcq) {
  Cq& cq = ToCq(ibcq);
  const bool found_end = cq.current == nullptr;

  if (!found_end) {
    cq.ring.Consume();
    cq.ring.Release();
    cq.current = nullptr;
  }
  cq.lock.unlock();
  if (found_end) RingForGathered(cq.vcq.cq.context);
}

ibv_wc_opcode ReadOpcode(ibv_cq_ex* cq) { return static_cast<ibv_wc_opcode>(Current(cq).opcode); }
uint32_t ReadVendorErr(ibv_cq_ex* cq) { return Current(cq).vendor_err; }
uint32_t ReadByteLen(ibv_cq_ex* cq) { return Current(cq).byte_len; }
__be32 ReadImmData(ibv_cq_ex* cq) { return Current(cq).imm; }
uint32_t ReadQpNum(ibv_cq_ex* cq) { return Current(cq).qp_num; }
uint32_t ReadSrcQp(ibv_cq_ex* cq) { return Current(cq).src_qp; }
unsigned int ReadWcFlags(ibv_cq_ex* cq) { return Current(cq).wc_flags; }
uint8_t ReadSl(ibv_cq_ex* cq) { return ServiceLevel(Current(cq)); }
uint64_t ReadTimestamp(ibv_cq_ex* cq) { return Current(cq).timestamp; }

// RoCE has no LIDs.
uint32_t ReadSlid(ibv_cq_ex*) { return 0; }
uint8_t ReadDlidPathBits(ibv_cq_ex*) { return 0; }

// Only what was asked for at creation may be read, so only that is set.
void EnablePoll(ibv_cq_ex& cq, uint64_t wc_flags) {
  cq.start_poll = StartPoll;
  cq.next_poll = NextPoll;
  cq.end_poll = EndPoll;
  cq.read_opcode = ReadOpcode;
  cq.read_vendor_err = ReadVendorErr;
  cq.read_wc_flags = ReadWcFlags;
  if (wc_flags & IBV_WC_EX_WITH_BYTE_LEN) cq.read_byte_len = ReadByteLen;
  if (wc_flags & IBV_WC_EX_WITH_IMM) cq.read_imm_data = ReadImmData;
  if (wc_flags & IBV_WC_EX_WITH_QP_NUM) cq.read_qp_num = ReadQpNum;
  if (wc_flags & IBV_WC_EX_WITH_SRC_QP) cq.read_src_qp = ReadSrcQp;
  if (wc_flags & IBV_WC_EX_WITH_SLID) cq.read_slid = ReadSlid;
  if (wc_flags & IBV_WC_EX_WITH_SL) cq.read_sl = ReadSl;
  if (wc_flags & IBV_WC_EX_WITH_DLID_PATH_BITS) cq.read_dlid_path_bits = ReadDlidPathBits;
  if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP) cq.read_completion_ts = ReadTimestamp;
}

}  // namespace

ibv_cq_ex* CreateCqEx(ibv_context* context, ibv_cq_init_attr_ex* attr) {
  if (attr->comp_mask & ~kAttrMask || attr->wc_flags & ~kWcFlags) return Fail(EOPNOTSUPP);

  const uint32_t flags = attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS ? attr->flags : 0;
  ibv_pd* domain = attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD ? attr->parent_domain : nullptr;
  if (domain != nullptr && ToPd(domain).protection == nullptr) return Fail(EINVAL);

  // Threads are no concern of the kernel.
  ibv_cq_init_attr_ex kernel_attr = *attr;
  kernel_attr.flags = flags & ~static_cast<uint32_t>(IBV_CREATE_CQ_ATTR_SINGLE_THREADED);

  Owned<Cq> cq = MakeCq(context, kernel_attr);
  if (!cq) return nullptr;
  cq->domain.Enter(domain);
  if (flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED || IsSingleThreaded(domain)) {
    cq->lock.Disable();
    cq->arm_lock.Disable();
  }
  EnablePoll(cq->vcq.cq_ex, attr->wc_flags);
  return &cq.release()->vcq.cq_ex;
}

}  // namespace srn
