// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Address handles: the kernel keeps the address, UD work requests carry its index.

#include "srn.h"

namespace srn {

namespace {

// Ethernet has eight priorities. A greater service level is the network type that a completion has
// in its place, and that ibv_init_ah_from_wc() takes from there.
uint8_t PriorityOf(uint8_t sl) { return sl > 7 && sl < 16 ? 0 : sl; }

}  // namespace

ibv_ah* CreateAh(ibv_pd* pd, ibv_ah_attr* asked) {
  Owned<Ah> ah = Make<Ah>();
  if (!ah) return Fail(ENOMEM);

  ibv_ah_attr attr = *asked;
  attr.sl = PriorityOf(attr.sl);
  CreateAhResponse resp;
  const int err = ibv_cmd_create_ah(pd, &ah->ah, &attr, resp.data(), resp.size());
  if (err) return Fail(err);
  ah->index = resp.driver().ah;
  return &ah.release()->ah;
}

int DestroyAh(ibv_ah* ah) {
  if (const int err = ibv_cmd_destroy_ah(ah)) return err;
  Drop(&ToAh(ah));
  return 0;
}

}  // namespace srn
