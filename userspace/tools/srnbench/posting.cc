// SPDX-License-Identifier: GPL-2.0-only
#include "posting.h"

#include <chrono>
#include <stdexcept>

#include <verbs/chain.h>

namespace srnbench {
namespace {

using Clock = std::chrono::steady_clock;

// The completions that are there now.
int ReapSome(const verbs::Cq& cq) {
  ibv_wc wc[16];
  const int n = cq.PollRaw(wc, 16);
  for (int i = 0; i < n; ++i)
    if (wc[i].status != IBV_WC_SUCCESS) throw std::runtime_error(ibv_wc_status_str(wc[i].status));
  if (n < 0) throw std::runtime_error("the CQ is broken");
  return n;
}

}  // namespace

void Check(const verbs::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.message());
}

void Post(const End& end, std::span<verbs::SendWr> list) {
  ibv_send_wr* bad;
  const int rc = ibv_post_send(end.qp.get(), verbs::Chain<ibv_send_wr>(list), &bad);
  if (rc != 0) Check(verbs::FromReturn(rc, "ibv_post_send"));
}

void Post(const End& end, verbs::RecvWr& request) {
  ibv_recv_wr* bad;
  const int rc = ibv_post_recv(end.qp.get(), request.raw(), &bad);
  if (rc != 0) Check(verbs::FromReturn(rc, "ibv_post_recv"));
}

int Reap(const verbs::Cq& cq) {
  const auto late = Clock::now() + kStuck;
  for (int spins = 0;; ++spins) {
    const int n = ReapSome(cq);
    if (n > 0) return n;
    if (spins % 4096 == 4095 && Clock::now() > late) throw std::runtime_error("no completion");
  }
}

}  // namespace srnbench
