// SPDX-License-Identifier: GPL-2.0-only
#include "memory.h"

namespace verbs {

Result<Mr> Mr::Register(const Pd& pd, Bytes bytes, int access) {
  errno = 0;
  ibv_mr* raw = ibv_reg_mr(pd.get(), bytes.data(), bytes.size(), access);
  Result<Mr> mr = Adopt<Mr>(raw, "ibv_reg_mr");

  if (mr.ok()) mr->iova_ = reinterpret_cast<uint64_t>(bytes.data());
  return mr;
}

Result<Mr> Mr::RegisterAt(const Pd& pd, Bytes bytes, uint64_t iova, int access) {
  errno = 0;
  ibv_mr* raw = ibv_reg_mr_iova(pd.get(), bytes.data(), bytes.size(), iova, access);
  Result<Mr> mr = Adopt<Mr>(raw, "ibv_reg_mr_iova");

  if (mr.ok()) mr->iova_ = iova;
  return mr;
}

int Mr::Reregister(int flags, ibv_pd* pd, Bytes bytes, int access) {
  int rc = ibv_rereg_mr(get(), flags, pd, bytes.data(), bytes.size(), access);

  if (rc == 0 && (flags & IBV_REREG_MR_CHANGE_TRANSLATION))
    iova_ = reinterpret_cast<uint64_t>(bytes.data());
  return rc;
}

ibv_sge Mr::Slice(size_t offset, size_t length) const {
  return {.addr = iova_ + offset, .length = static_cast<uint32_t>(length), .lkey = get()->lkey};
}

Remote Mr::At(size_t offset) const { return {iova_ + offset, get()->rkey}; }

Result<Mw> Mw::Create(const Pd& pd, ibv_mw_type type) {
  errno = 0;
  return Adopt<Mw>(ibv_alloc_mw(pd.get(), type), "ibv_alloc_mw");
}

}  // namespace verbs
