// SPDX-License-Identifier: GPL-2.0-only
// A QP that went through RESET is a new one: events, attributes and queues begin again.
#include <chrono>
#include <cstdio>

#include "env.h"

namespace verbs_test {
namespace {

class Reborn : public WireTest {
 protected:
  // Waits for this event; others of the QPs may come in between.
  void ExpectEvent(const Host& host, ibv_event_type type, const Qp& qp) {
    for (;;) {
      const ibv_async_event event = Must(host.ctx.WaitEvent(Patience()));
      if (event.event_type != type) continue;
      EXPECT_EQ(event.element.qp, qp.get());
      return;
    }
  }
  // Posted there and not answered: nobody has this QPN.
  End Stuck() {
    End end = End::Create(a_);
    Must(ConnectTo(end.qp, a_.port, b_.port.gid, 0xfffffa, 0, 0, {.timeout = 25}));
    return end;
  }
  ibv_qp_attr Query(const Qp& qp) { return Must(qp.Query()).attr; }
  // Until the first packet of a connection that begins with PSN 0 has left: a poller looks when it
  // can.
  void AwaitStart(const Qp& qp) {
    const auto late = std::chrono::steady_clock::now() + Patience();
    while (Query(qp).sq_psn == 0 && std::chrono::steady_clock::now() < late) {
    }
  }
  // What `rdma resource` shows of the QP.
  std::string Resource(const Qp& qp) {
    const std::string command =
        "rdma -dd resource show qp link " + DeviceA() + "/1 lqpn " + std::to_string(qp.num());
    std::string text;
    char line[512];
    FILE* rdma = popen(command.c_str(), "r");
    while (rdma != nullptr && std::fgets(line, sizeof(line), rdma) != nullptr) text += line;
    if (rdma != nullptr) pclose(rdma);
    return text;
  }
};

TEST_P(Reborn, CommunicationIsEstablishedInEachLife) {
  Pair p = {End::Create(a_), End::Create(b_)};
  for (int life = 0; life < 2; life++) {
    SCOPED_TRACE(life);
    Must(Apply(p.b.qp, ToInit(IBV_QPT_RC, b_.port)));
    Must(Apply(p.b.qp, ToRtr(IBV_QPT_RC, b_.port, a_.port.gid, p.a.qp.num(), 5, {})));
    Must(ConnectTo(p.a.qp, a_.port, b_.port.gid, p.b.qp.num(), 6, 5, {}));
    Must(p.b.qp.Post(RecvWr(1, {b_.mr.Slice(0, 64)})));
    Must(p.a.qp.Post(SendWr::Send(2, a_.mr.Slice(0, 64))));
    ExpectEvent(b_, IBV_EVENT_COMM_EST, p.b.qp);
    EXPECT_EQ(Await(p.a.send_cq).status, IBV_WC_SUCCESS);
    EXPECT_EQ(Await(p.b.recv_cq).status, IBV_WC_SUCCESS);
    Must(p.a.qp.ModifyState(IBV_QPS_RESET));
    Must(p.b.qp.ModifyState(IBV_QPS_RESET));
  }
}

TEST_P(Reborn, LastWqeIsReachedInEachLife) {
  Srq srq = Must(Srq::Create(b_.pd, 16));
  Pair p = {End::Create(a_), End::Create(b_, {.srq = &srq})};
  for (int life = 0; life < 2; life++) {
    SCOPED_TRACE(life);
    Must(Connect(p.a.qp, a_.port, p.b.qp, b_.port));
    Must(p.b.qp.ModifyState(IBV_QPS_ERR));
    ExpectEvent(b_, IBV_EVENT_QP_LAST_WQE_REACHED, p.b.qp);
    Must(p.a.qp.ModifyState(IBV_QPS_RESET));
    Must(p.b.qp.ModifyState(IBV_QPS_RESET));
  }
}

TEST_P(Reborn, DrainDoesNotOutliveAReset) {
  End end = Stuck();
  Must(end.qp.Post(SendWr::Send(1, a_.mr.Slice(0, 64))));
  AwaitStart(end.qp);
  Must(end.qp.ModifyState(IBV_QPS_SQD));
  EXPECT_TRUE(Query(end.qp).sq_draining);
  Must(end.qp.ModifyState(IBV_QPS_RESET));
  EXPECT_FALSE(Query(end.qp).sq_draining);
}

// The PSNs that ibv_query_qp tells are those of the next packets.
TEST_P(Reborn, QueryTellsTheNextPackets) {
  for (int life = 0; life < 2; life++) {
    Pair p = Connected({}, {.psn_a = 0xfffffe, .psn_b = 0x500});
    for (uint64_t id = 0; id < 3; id++) ExpectWorks(a_, p.a, b_, p.b);
    EXPECT_EQ(Query(p.a.qp).sq_psn, 1u);
    EXPECT_EQ(Query(p.b.qp).rq_psn, 1u);
    EXPECT_EQ(Query(p.b.qp).sq_psn, 0x500u);
    EXPECT_EQ(Query(p.a.qp).rq_psn, 0x500u);
  }
}

TEST_P(Reborn, ReasonOfTheErrorIsShownUntilReset) {
  Pair p = Connected();
  EXPECT_EQ(Resource(p.a.qp).find("error"), std::string::npos) << Resource(p.a.qp);
  Must(p.a.qp.Post(SendWr::Write(1, a_.mr.Slice(0, 8), {b_.mr.At(0).addr, 0})));
  EXPECT_EQ(Await(p.a.send_cq).status, IBV_WC_REM_ACCESS_ERR);
  EXPECT_NE(Resource(p.a.qp).find("error"), std::string::npos) << Resource(p.a.qp);
  Must(p.a.qp.ModifyState(IBV_QPS_RESET));
  EXPECT_EQ(Resource(p.a.qp).find("error"), std::string::npos) << Resource(p.a.qp);
}

// What was posted before the RESET takes no room behind it, and nothing comes of it.
TEST_P(Reborn, QueuesAreEmpty) {
  Pair p = Connected({.max_recv_wr = 16});
  const uint32_t room = p.b.qp.cap().max_recv_wr;
  for (int life = 0; life < 3; life++) {
    for (uint32_t i = 0; i < room; i++) Must(p.b.qp.Post(RecvWr(i, {b_.mr.Slice(0, 64)})));
    EXPECT_FALSE(p.b.qp.Post(RecvWr(room, {b_.mr.Slice(0, 64)})));
    Must(p.a.qp.Post(SendWr::Send(7, a_.mr.Slice(0, 64))));
    EXPECT_EQ(Await(p.a.send_cq).status, IBV_WC_SUCCESS);
    // Its receive completion waits, and is forgotten with the rest.
    Must(p.a.qp.ModifyState(IBV_QPS_RESET));
    Must(p.b.qp.ModifyState(IBV_QPS_RESET));
    ExpectQuiet(p.b.recv_cq);
    Must(Connect(p.a.qp, a_.port, p.b.qp, b_.port));
  }
  ExpectWorks(a_, p.a, b_, p.b);
}

SRN_OVER_BOTH_IP(Reborn);

}  // namespace
}  // namespace verbs_test
