// SPDX-License-Identifier: GPL-2.0-only
#include "srq.h"

#include "chain.h"

namespace verbs {

Result<Srq> Srq::Create(const Pd& pd, uint32_t max_wr, uint32_t max_sge) {
  ibv_srq_init_attr init = {};

  init.attr.max_wr = max_wr;
  init.attr.max_sge = max_sge;
  errno = 0;
  return Adopt<Srq>(ibv_create_srq(pd.get(), &init), "ibv_create_srq");
}

Status Srq::Post(RecvWr wr) const { return Post(std::span(&wr, 1), nullptr); }

Status Srq::Post(std::span<RecvWr> list, size_t* posted) const {
  ibv_recv_wr* bad = nullptr;
  Status status =
      FromReturn(ibv_post_srq_recv(get(), Chain<ibv_recv_wr>(list), &bad), "ibv_post_srq_recv");

  if (posted) *posted = CountBefore<ibv_recv_wr>(list, status.ok() ? nullptr : bad);
  return status;
}

Status Srq::SetLimit(uint32_t limit) const {
  ibv_srq_attr attr = {};

  attr.srq_limit = limit;
  return FromReturn(ibv_modify_srq(get(), &attr, IBV_SRQ_LIMIT), "ibv_modify_srq");
}

Status Srq::Resize(uint32_t max_wr) const {
  ibv_srq_attr attr = {};

  attr.max_wr = max_wr;
  return FromReturn(ibv_modify_srq(get(), &attr, IBV_SRQ_MAX_WR), "ibv_modify_srq");
}

Status Srq::Resize(uint32_t max_wr, uint32_t limit) const {
  ibv_srq_attr attr = {};

  attr.max_wr = max_wr;
  attr.srq_limit = limit;
  return FromReturn(ibv_modify_srq(get(), &attr, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT), "ibv_modify_srq");
}

Result<ibv_srq_attr> Srq::Query() const {
  ibv_srq_attr attr = {};
  Status status = FromReturn(ibv_query_srq(get(), &attr), "ibv_query_srq");

  if (!status.ok()) return status.failure();
  return attr;
}

}  // namespace verbs
