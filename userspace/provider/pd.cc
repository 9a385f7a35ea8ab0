// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Protection domains; thread domains and the parent domains that join both. The latter two are
// known to the provider only: the kernel sees the protection domain.

#include "srn.h"

namespace srn {

ibv_pd* AllocPd(ibv_context* context) {
  Owned<Pd> pd = Make<Pd>();
  if (!pd) return Fail(ENOMEM);

  AllocPdRequest cmd;
  AllocPdResponse resp;
  const int err =
      ibv_cmd_alloc_pd(context, &pd->pd, cmd.data(), cmd.size(), resp.data(), resp.size());
  if (err) return Fail(err);
  return &pd.release()->pd;
}

int DeallocPd(ibv_pd* ibpd) {
  Pd& pd = ToPd(ibpd);

  if (pd.users.load() != 0) return EBUSY;
  if (pd.protection != nullptr) {
    pd.protection->users.fetch_sub(1);
    if (pd.td != nullptr) pd.td->users.fetch_sub(1);
  } else if (const int err = ibv_cmd_dealloc_pd(ibpd)) {
    return err;
  }
  Drop(&pd);
  return 0;
}

ibv_td* AllocTd(ibv_context* context, ibv_td_init_attr* attr) {
  if (attr->comp_mask) return Fail(EOPNOTSUPP);

  Owned<Td> td = Make<Td>();
  if (!td) return Fail(ENOMEM);
  td->td.context = context;
  return &td.release()->td;
}

int DeallocTd(ibv_td* ibtd) {
  Td& td = ToTd(ibtd);

  if (td.users.load() != 0) return EBUSY;
  Drop(&td);
  return 0;
}

// Allocators are refused: queues are the kernel's memory, so nothing would ever ask them.
ibv_pd* AllocParentDomain(ibv_context* context, ibv_parent_domain_init_attr* attr) {
  if (attr->comp_mask) return Fail(EOPNOTSUPP);
  if (attr->pd == nullptr || ToPd(attr->pd).protection != nullptr) return Fail(EINVAL);

  Owned<Pd> parent = Make<Pd>();
  if (!parent) return Fail(ENOMEM);
  parent->pd.context = context;
  parent->pd.handle = attr->pd->handle;
  parent->protection = &ToPd(attr->pd);
  parent->protection->users.fetch_add(1);
  if (attr->td != nullptr) {
    parent->td = &ToTd(attr->td);
    parent->td->users.fetch_add(1);
  }
  return &parent.release()->pd;
}

}  // namespace srn
