// SPDX-License-Identifier: GPL-2.0-only
#include "posting.h"

#include <chrono>
#include <stdexcept>

#include <verbs/chain.h>

namespace srnbench {
namespace {

using Clock = std::chrono::steady_clock;

// A template, so that who only counts them pays for no call.
template <typename F>
int Take(const verbs::Cq& cq, const F& completed) {
  ibv_wc wc[16];
  const int n = cq.PollRaw(wc, 16);
  for (int i = 0; i < n; ++i) {
    if (wc[i].status != IBV_WC_SUCCESS) throw std::runtime_error(ibv_wc_status_str(wc[i].status));
    completed(wc[i]);
  }
  if (n < 0) throw std::runtime_error("the CQ is broken");
  return n;
}

template <typename F>
int TakeSome(const verbs::Cq& cq, const F& completed) {
  const auto late = Clock::now() + kStuck;
  for (int spins = 0;; ++spins) {
    const int n = Take(cq, completed);
    if (n > 0) return n;
    if (spins % 4096 == 4095 && Clock::now() > late) throw std::runtime_error("no completion");
  }
}

}  // namespace

void Check(const verbs::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.message());
}

void Post(const verbs::Qp& qp, std::span<verbs::SendWr> list) {
  ibv_send_wr* bad;
  const int rc = ibv_post_send(qp.get(), verbs::Chain<ibv_send_wr>(list), &bad);
  if (rc != 0) Check(verbs::FromReturn(rc, "ibv_post_send"));
}

void Post(const verbs::Qp& qp, verbs::RecvWr& request) {
  ibv_recv_wr* bad;
  const int rc = ibv_post_recv(qp.get(), request.raw(), &bad);
  if (rc != 0) Check(verbs::FromReturn(rc, "ibv_post_recv"));
}

int ReapSome(const verbs::Cq& cq, const Completed& completed) { return Take(cq, completed); }

int Reap(const verbs::Cq& cq) {
  return TakeSome(cq, [](const ibv_wc&) {});
}

int Reap(const verbs::Cq& cq, const Completed& completed) { return TakeSome(cq, completed); }

}  // namespace srnbench
