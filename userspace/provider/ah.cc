// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Address handles: the kernel keeps the address, UD work requests carry its index.

#include "srn.h"

namespace srn {

ibv_ah* CreateAh(ibv_pd* pd, ibv_ah_attr* attr) {
  Owned<Ah> ah = Make<Ah>();
  if (!ah) return Fail(ENOMEM);

  CreateAhResponse resp;
  const int err = ibv_cmd_create_ah(pd, &ah->ah, attr, resp.data(), resp.size());
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
