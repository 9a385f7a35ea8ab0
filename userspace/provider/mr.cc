// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Memory regions: all of their state is the kernel's.

#include "srn.h"

namespace srn {

ibv_mr* RegMr(ibv_pd* pd, void* addr, size_t length, uint64_t hca_va, int access) {
  Owned<Mr> mr = Make<Mr>();
  if (!mr) return Fail(ENOMEM);

  RegMrRequest cmd;
  RegMrResponse resp;
  const int err = ibv_cmd_reg_mr(pd, addr, length, hca_va, access, &mr->vmr, cmd.data(), cmd.size(),
                                 resp.data(), resp.size());
  if (err) return Fail(err);
  return &mr.release()->vmr.mr;
}

int ReregMr(verbs_mr* vmr, int flags, ibv_pd* pd, void* addr, size_t length, int access) {
  ReregMrRequest cmd;
  ReregMrResponse resp;
  return ibv_cmd_rereg_mr(vmr, static_cast<uint32_t>(flags), addr, length,
                          reinterpret_cast<uintptr_t>(addr), access, pd, cmd.data(), cmd.size(),
                          resp.data(), resp.size());
}

int DeregMr(verbs_mr* vmr) {
  if (const int err = ibv_cmd_dereg_mr(vmr)) return err;
  Drop(reinterpret_cast<Mr*>(vmr));
  return 0;
}

}  // namespace srn
