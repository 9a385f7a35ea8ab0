// SPDX-License-Identifier: GPL-2.0-only
// QPs made, connected and used while allocations fail.
#include "env.h"
#include "nth.h"

namespace fault {
namespace {

using namespace verbs;
using result::Must;
using verbs_test::End;
using verbs_test::IpName;

class FailingPair : public verbs_test::WireTest {
 protected:
  static int Create(Qp* to, const Pd& pd, const Cq& cq, const Qp::Options& options) {
    Result<Qp> qp = Qp::Create(pd, cq, cq, options);
    if (!qp.ok()) return qp.error();
    *to = std::move(*qp);
    return 0;
  }
};

TEST_P(FailingPair, QpsAreCreated) {
  Cq cq = Must(Cq::Create(a_.ctx, 16));
  Srq srq = Must(Srq::Create(a_.pd, 16));
  for (const Qp::Options& options :
       {Qp::Options{.type = IBV_QPT_RC}, Qp::Options{.type = IBV_QPT_UC},
        Qp::Options{.type = IBV_QPT_UD}, Qp::Options{.type = IBV_QPT_RC, .srq = &srq},
        Qp::Options{.type = IBV_QPT_RC, .max_send_wr = 5000, .max_recv_wr = 5000}}) {
    Qp qp;
    FailEach(
        {.act = [&] { return Create(&qp, a_.pd, cq, options); }, .undo = [&] { Must(qp.Close()); }},
        5);
  }
}

// From RESET to RTS and back, each step with each of its faults.
TEST_P(FailingPair, QpsAreConnected) {
  End a = End::Create(a_), b = End::Create(b_);
  auto reset = [&] { Must(a.qp.ModifyState(IBV_QPS_RESET)); };
  const Transition init = ToInit(IBV_QPT_RC, a_.port);
  const Transition rtr = ToRtr(IBV_QPT_RC, a_.port, b_.port.gid, b.qp.num(), 7, {});
  const Transition rts = ToRts(IBV_QPT_RC, 7, {});

  FailEach({.act =
                [&] {
                  for (const Transition& step : {init, rtr, rts}) {
                    Status done = Apply(a.qp, step);
                    if (done.ok()) continue;
                    // Where it was, nothing of it was done.
                    reset();
                    return done.error();
                  }
                  return 0;
                },
            .undo = reset},
           0);
}

// Two programs' worth of it at once: what is sent while a post fails arrives all the same.
TEST_P(FailingPair, PostsAreExecuted) {
  verbs_test::Pair pair = Connected();
  FailEach({.act =
                [&] {
                  verbs_test::ExpectWorks(a_, pair.a, b_, pair.b);
                  verbs_test::ExpectWorks(b_, pair.b, a_, pair.a);
                  return 0;
                }},
           1);
}

SRN_OVER_BOTH_IP(FailingPair);

}  // namespace
}  // namespace fault
