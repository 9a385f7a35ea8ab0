// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Memory windows. Type 2 is bound by work requests alone; type 1 by ibv_bind_mw(), which is a work
// request too. To post a bind changes the key of the window (ibv_alloc_mw(3)).

#include "srn.h"

namespace srn {

ibv_mw* AllocMw(ibv_pd* pd, ibv_mw_type type) {
  Owned<Mw> mw = Make<Mw>();
  if (!mw) return Fail(ENOMEM);

  AllocMwRequest cmd;
  AllocMwResponse resp;
  const int err =
      ibv_cmd_alloc_mw(pd, type, &mw->mw, cmd.data(), cmd.size(), resp.data(), resp.size());
  if (err) return Fail(err);
  return &mw.release()->mw;
}

void TakeKeyByte(ibv_mw& mw, uint32_t rkey) {
  constexpr uint32_t kKeyByte = 0xff;
  mw.rkey = (mw.rkey & ~kKeyByte) | (rkey & kKeyByte);
}

int BindMw(ibv_qp* qp, ibv_mw* mw, ibv_mw_bind* bind) {
  // libibverbs has looked at region and PD; rights and bounds are for the kernel to see.
  if (bind->bind_info.mw_access_flags & IBV_ACCESS_ZERO_BASED) return EINVAL;

  ibv_send_wr wr = {};
  ibv_send_wr* bad_wr;

  wr.wr_id = bind->wr_id;
  wr.opcode = IBV_WR_BIND_MW;
  wr.send_flags = bind->send_flags;
  wr.bind_mw.mw = mw;
  wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
  wr.bind_mw.bind_info = bind->bind_info;
  return PostSendBinding(ToQp(qp), IBV_MW_TYPE_1, &wr, &bad_wr);
}

int DeallocMw(ibv_mw* mw) {
  if (ToMw(mw).binder.load() != nullptr) return EBUSY;
  if (const int err = ibv_cmd_dealloc_mw(mw)) return err;
  Drop(&ToMw(mw));
  return 0;
}

}  // namespace srn
