// SPDX-License-Identifier: GPL-2.0-only
#include "posted.h"

#include <fmt/format.h>

#include "target.h"

namespace fuzz {

void Posted::Complete(const ibv_wc& wc) {
  const auto found = all_.find(wc.wr_id);
  if (found == all_.end())
    throw Broken(fmt::format("request {} completes twice, or was never posted ({})", wc.wr_id,
                             ibv_wc_status_str(wc.status)));
  const Request request = found->second;
  all_.erase(found);
  if (wc.status == IBV_WC_SUCCESS && (wc.opcode & IBV_WC_RECV) && wc.byte_len > request.room &&
      wc.opcode != IBV_WC_RECV_RDMA_WITH_IMM)
    throw Broken(fmt::format("{} bytes were received into {}", wc.byte_len, request.room));
}

void Posted::ForgetOwn() {
  std::erase_if(all_, [](const auto& entry) { return !entry.second.shared; });
}

}  // namespace fuzz
