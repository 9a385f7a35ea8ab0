// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Shared receive queues; posting to them is in post.cc.

#include "srn.h"

namespace srn {
namespace {

int Modify(ibv_srq* srq, ibv_srq_attr* attr, int attr_mask, const srn_modify_srq_req& driver) {
  ModifySrqRequest cmd;
  cmd.set_driver(driver);
  return ibv_cmd_modify_srq(srq, attr, attr_mask, cmd.data(), cmd.size());
}

// The ring that the kernel makes for another size, mapped; 0 or an errno.
int MapNewRing(Srq& srq, ibv_srq_attr* attr, int attr_mask, srn_modify_srq_resp* ring,
               Mapping* mapping) {
  const srn_modify_srq_req make = {.comp_mask = SRN_MODIFY_SRQ_RING,
                                   .resp_len = sizeof(*ring),
                                   .resp_addr = reinterpret_cast<uintptr_t>(ring)};

  if (const int err = Modify(&srq.vsrq.srq, attr, attr_mask, make)) return err;
  return mapping->Map(srq.vsrq.srq.context->cmd_fd, ring->mmap_offset, ring->mmap_len);
}

int Resize(Srq& srq, ibv_srq_attr* attr, int attr_mask) {
  LockGuard resizes(srq.resize_lock);
  Mapping mapping, old;  // unmapped with the ring's lock free
  srn_modify_srq_resp ring = {};
  int err = MapNewRing(srq, attr, attr_mask, &ring, &mapping);
  if (err) return err;

  // Nobody may post to the old ring once the kernel has copied it.
  LockGuard guard(srq.lock);
  err = Modify(&srq.vsrq.srq, attr, attr_mask,
               {.comp_mask = SRN_MODIFY_SRQ_MOVE, .resp_len = 0, .resp_addr = 0});
  if (err) return err;

  old = static_cast<Mapping&&>(srq.mapping);
  srq.mapping = static_cast<Mapping&&>(mapping);
  srq.page = srq.mapping.at<srn_srq_page>(0);
  srq.ring.MoveTo(&srq.page->tail, &srq.page->head, srq.mapping.at<unsigned char>(SRN_QUEUE_OFFSET),
                  ring.entries);
  return 0;
}

}  // namespace

ibv_srq* CreateSrq(ibv_pd* pd, ibv_srq_init_attr* attr) {
  Owned<Srq> srq = Make<Srq>();
  if (!srq) return Fail(ENOMEM);

  CreateSrqRequest cmd;
  CreateSrqResponse resp;
  int err = ibv_cmd_create_srq(pd, &srq->vsrq.srq, attr, cmd.data(), cmd.size(), resp.data(),
                               resp.size());
  if (err) return Fail(err);

  const srn_create_srq_resp queue = resp.driver();
  err = srq->mapping.Map(pd->context->cmd_fd, queue.mmap_offset, queue.mmap_len);
  if (err) {
    ibv_cmd_destroy_srq(&srq->vsrq.srq);
    return Fail(err);
  }
  srq->page = srq->mapping.at<srn_srq_page>(0);
  srq->ring.Init(&srq->page->tail, &srq->page->head,
                 srq->mapping.at<unsigned char>(SRN_QUEUE_OFFSET), queue.entries, queue.stride,
                 attr->attr.max_wr);
  srq->max_sge = attr->attr.max_sge;
  srq->vsrq.srq_type = IBV_SRQT_BASIC;
  srq->vsrq.srq_num = queue.srqn;
  srq->domain.Enter(pd);
  if (IsSingleThreaded(pd)) {
    srq->resize_lock.Disable();
    srq->lock.Disable();
  }
  return &srq.release()->vsrq.srq;
}

ibv_srq* CreateSrqEx(ibv_context*, ibv_srq_init_attr_ex* attr) {
  const bool basic =
      !(attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) || attr->srq_type == IBV_SRQT_BASIC;

  if (!basic || attr->comp_mask & ~(IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD)) {
    return Fail(EOPNOTSUPP);
  }
  if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_PD)) return Fail(EINVAL);

  ibv_srq_init_attr basic_attr = {.srq_context = attr->srq_context, .attr = attr->attr};
  ibv_srq* srq = CreateSrq(attr->pd, &basic_attr);
  if (srq != nullptr) attr->attr = basic_attr.attr;
  return srq;
}

int ModifySrq(ibv_srq* srq, ibv_srq_attr* attr, int attr_mask) {
  if (attr_mask & IBV_SRQ_MAX_WR) return Resize(ToSrq(srq), attr, attr_mask);
  return Modify(srq, attr, attr_mask, {});
}

int QuerySrq(ibv_srq* srq, ibv_srq_attr* attr) {
  QuerySrqRequest cmd;
  return ibv_cmd_query_srq(srq, attr, cmd.data(), cmd.size());
}

int GetSrqNum(ibv_srq* srq, uint32_t* srq_num) {
  *srq_num = ToSrq(srq).vsrq.srq_num;
  return 0;
}

int DestroySrq(ibv_srq* srq) {
  if (const int err = ibv_cmd_destroy_srq(srq)) return err;
  Drop(&ToSrq(srq));
  return 0;
}

}  // namespace srn
