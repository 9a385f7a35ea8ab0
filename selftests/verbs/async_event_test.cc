// SPDX-License-Identifier: GPL-2.0-only
// Asynchronous events of QPs; those of SRQs and CQs are in their own tests.
#include "env.h"

namespace verbs_test {
namespace {

class AsyncEvent : public WireTest {
 protected:
  // Waits for this event of this QP; COMM_EST may come in between.
  void ExpectEvent(const Host& host, ibv_event_type type, const Qp& qp) {
    for (;;) {
      ibv_async_event event = Must(host.ctx.WaitEvent(Patience()));
      if (event.event_type == IBV_EVENT_COMM_EST && type != IBV_EVENT_COMM_EST) continue;
      EXPECT_EQ(event.event_type, type)
          << ibv_event_type_str(event.event_type) << " instead of " << ibv_event_type_str(type);
      EXPECT_EQ(event.element.qp, qp.get());
      return;
    }
  }
  void ExpectNoEvent(const Host& host) {
    Result<ibv_async_event> event = host.ctx.WaitEvent(Silence());
    EXPECT_EQ(event.error(), ETIMEDOUT)
        << ibv_event_type_str(event.ok() ? event->event_type : IBV_EVENT_CQ_ERR);
  }
};

TEST_P(AsyncEvent, HealthyTrafficCausesNone) {
  Pair p = Connected();
  ExpectWorks(a_, p.a, b_, p.b);
  ExpectWorks(b_, p.b, a_, p.a);
  ExpectNoEvent(a_);
  ExpectNoEvent(b_);
}

TEST_P(AsyncEvent, FirstPacketInRtrEstablishesCommunication) {
  End a = End::Create(a_), b = End::Create(b_);
  const ibv_qp_type rc = IBV_QPT_RC;
  Transition t = ToInit(rc, b_.port);
  Must(b.qp.Modify(t.attr, t.mask));
  t = ToRtr(rc, b_.port, a_.port.gid, a.qp.num(), 5, {});
  Must(b.qp.Modify(t.attr, t.mask));
  Must(ConnectTo(a.qp, a_.port, b_.port.gid, b.qp.num(), 6, 5, {}));

  Must(b.qp.Post(RecvWr(1, {b_.mr.Slice(0, 64)})));
  Must(a.qp.Post(SendWr::Send(2, a_.mr.Slice(0, 64))));
  ExpectEvent(b_, IBV_EVENT_COMM_EST, b.qp);
  // The message itself arrives as in RTS.
  EXPECT_EQ(Await(b.recv_cq).wr_id, 1u);
  EXPECT_EQ(Await(a.send_cq).status, IBV_WC_SUCCESS);
  Must(b.qp.Post(RecvWr(3, {b_.mr.Slice(0, 64)})));
  Must(a.qp.Post(SendWr::Send(4, a_.mr.Slice(0, 64))));
  EXPECT_EQ(Await(b.recv_cq).wr_id, 3u);
  ExpectNoEvent(b_);
}

TEST_P(AsyncEvent, RefusedAccessIsAnAccessErrorOfTheResponder) {
  Pair p = Connected();
  Must(p.a.qp.Post(SendWr::Write(1, a_.mr.Slice(0, 8), {b_.mr.At(0).addr, 0})));
  ExpectEvent(b_, IBV_EVENT_QP_ACCESS_ERR, p.b.qp);
  ExpectNoEvent(b_);
  ExpectFailed(Await(p.a.send_cq), 1, IBV_WC_REM_ACCESS_ERR, p.a.qp.num());
  ExpectNoEvent(a_);
}

TEST_P(AsyncEvent, InvalidRequestIsARequestErrorOfTheResponder) {
  // A READ at a responder that has no resources for READs.
  End a = End::Create(a_), b = End::Create(b_);
  Must(ConnectTo(a.qp, a_.port, b_.port.gid, b.qp.num(), 7, 9, {}));
  Must(ConnectTo(b.qp, b_.port, a_.port.gid, a.qp.num(), 9, 7, {.rd_atomic = 0}));
  Must(a.qp.Post(SendWr::Read(1, a_.mr.Slice(0, 8), b_.mr.At(0))));
  ExpectEvent(b_, IBV_EVENT_QP_REQ_ERR, b.qp);
  ExpectNoEvent(b_);
  ExpectFailed(Await(a.send_cq), 1, IBV_WC_REM_INV_REQ_ERR, a.qp.num());
}

TEST_P(AsyncEvent, ErrorThatACompletionTellsCausesNoEvent) {
  Pair p = Connected();
  Must(p.b.qp.Post(RecvWr(1, {b_.mr.Slice(0, 8)})));
  Must(p.a.qp.Post(SendWr::Send(2, a_.mr.Slice(0, 64))));
  ExpectFailed(Await(p.b.recv_cq), 1, IBV_WC_LOC_LEN_ERR, p.b.qp.num());
  ExpectFailed(Await(p.a.send_cq), 2, IBV_WC_REM_INV_REQ_ERR, p.a.qp.num());
  ExpectNoEvent(a_);
  ExpectNoEvent(b_);
}

TEST_P(AsyncEvent, ModifyingToErrorCausesNone) {
  Pair p = Connected();
  Must(p.a.qp.Post(RecvWr(1, {a_.mr.Slice(0, 8)})));
  Must(p.a.qp.ModifyState(IBV_QPS_ERR));
  ExpectFailed(Await(p.a.recv_cq), 1, IBV_WC_WR_FLUSH_ERR, p.a.qp.num());
  ExpectNoEvent(a_);
}

class Drain : public AsyncEvent {
 protected:
  Status ToSqd(const Qp& qp, bool notify) {
    ibv_qp_attr attr = {};
    attr.qp_state = IBV_QPS_SQD;
    attr.en_sqd_async_notify = notify;
    return qp.Modify(attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY);
  }
};

TEST_P(Drain, IdleQueueIsDrainedAtOnce) {
  Pair p = Connected();
  Must(ToSqd(p.a.qp, true));
  ExpectEvent(a_, IBV_EVENT_SQ_DRAINED, p.a.qp);
  ExpectNoEvent(a_);
  QpState state = Must(p.a.qp.Query());
  EXPECT_EQ(state.attr.qp_state, IBV_QPS_SQD);
  EXPECT_EQ(state.attr.sq_draining, 0);
}

TEST_P(Drain, EventIsSentOnlyIfAskedFor) {
  Pair p = Connected();
  Must(ToSqd(p.a.qp, false));
  ExpectNoEvent(a_);
  EXPECT_EQ(p.a.qp.State(), IBV_QPS_SQD);
}

TEST_P(Drain, EventComesWhenStartedRequestsHaveCompleted) {
  Pair p = Connected();
  Must(p.a.qp.Post(SendWr::Send(1, a_.mr.Slice(0, 64))));
  ExpectQuiet(p.a.send_cq);  // the receiver is not ready
  Must(ToSqd(p.a.qp, true));
  ExpectNoEvent(a_);
  EXPECT_EQ(Must(p.a.qp.Query()).attr.sq_draining, 1);
  Must(p.b.qp.Post(RecvWr(2, {b_.mr.Slice(0, 64)})));
  ExpectEvent(a_, IBV_EVENT_SQ_DRAINED, p.a.qp);
  EXPECT_EQ(Await(p.a.send_cq).wr_id, 1u);
  EXPECT_EQ(Must(p.a.qp.Query()).attr.sq_draining, 0);
}

// One READ at a time: the second was taken from the queue with the others, and waits for the first.
TEST_P(Drain, EventDoesNotWaitForRequestsThatWereNotStarted) {
  Pair p = Connected({}, {.rd_atomic = 1});
  const auto here = a_.mr.Slice(0, 64);
  // The receiver is not ready. All of them at once: who waits for it starts nothing more.
  SendWr list[] = {SendWr::Send(1, here), SendWr::Read(2, here, b_.mr.At(0)),
                   SendWr::Read(3, here, b_.mr.At(0))};
  Must(p.a.qp.Post(list, nullptr));
  ExpectQuiet(p.a.send_cq);
  Must(ToSqd(p.a.qp, true));
  ExpectNoEvent(a_);
  Must(p.b.qp.Post(RecvWr(4, {b_.mr.Slice(0, 64)})));
  ExpectEvent(a_, IBV_EVENT_SQ_DRAINED, p.a.qp);
  EXPECT_EQ(Await(p.a.send_cq).wr_id, 1u);
  EXPECT_EQ(Await(p.a.send_cq).wr_id, 2u);
  ExpectQuiet(p.a.send_cq);
  Must(p.a.qp.ModifyState(IBV_QPS_RTS));
  EXPECT_EQ(Await(p.a.send_cq).wr_id, 3u);
}

TEST_P(Drain, RequestsPostedInSqdWaitForRts) {
  Pair p = Connected();
  Must(ToSqd(p.a.qp, true));
  ExpectEvent(a_, IBV_EVENT_SQ_DRAINED, p.a.qp);

  Must(p.b.qp.Post(RecvWr(1, {b_.mr.Slice(0, 64)})));
  Must(p.a.qp.Post(SendWr::Send(2, a_.mr.Slice(0, 64))));
  ExpectQuiet(p.b.recv_cq);
  // The receive side is not affected.
  Must(p.a.qp.Post(RecvWr(3, {a_.mr.Slice(0, 64)})));
  Must(p.b.qp.Post(SendWr::Send(4, b_.mr.Slice(0, 64))));
  EXPECT_EQ(Await(p.a.recv_cq).wr_id, 3u);
  EXPECT_EQ(Await(p.b.send_cq).wr_id, 4u);

  Must(p.a.qp.ModifyState(IBV_QPS_RTS));
  EXPECT_EQ(Await(p.b.recv_cq).wr_id, 1u);
  EXPECT_EQ(Await(p.a.send_cq).wr_id, 2u);
}

// Each drain asks for its own event.
TEST_P(Drain, EventAskedForOnceIsNotAskedForTwice) {
  Pair p = Connected();
  Must(ToSqd(p.a.qp, true));
  ExpectEvent(a_, IBV_EVENT_SQ_DRAINED, p.a.qp);
  Must(p.a.qp.ModifyState(IBV_QPS_RTS));
  Must(p.a.qp.ModifyState(IBV_QPS_SQD));
  ExpectNoEvent(a_);
}

// IBTA vol. 1, 10.3.1.5: what was posted in SQD is not looked at, wrong or not.
TEST_P(Drain, WrongRequestPostedInSqdFailsInRts) {
  Pair p = Connected();
  Must(ToSqd(p.a.qp, true));
  ExpectEvent(a_, IBV_EVENT_SQ_DRAINED, p.a.qp);
  Must(p.a.qp.Post(SendWr::FetchAdd(2, a_.mr.Slice(0, 4), b_.mr.At(0), 1)));
  ExpectQuiet(p.a.send_cq);
  EXPECT_EQ(p.a.qp.State(), IBV_QPS_SQD);
  Must(p.a.qp.ModifyState(IBV_QPS_RTS));
  ExpectFailed(Await(p.a.send_cq), 2, IBV_WC_LOC_LEN_ERR, p.a.qp.num());
}

TEST_P(Drain, RequestsWaitingInSqdAreFlushedInError) {
  Pair p = Connected();
  Must(ToSqd(p.a.qp, true));
  ExpectEvent(a_, IBV_EVENT_SQ_DRAINED, p.a.qp);
  Must(p.a.qp.Post(SendWr::Send(2, a_.mr.Slice(0, 64))));
  Must(p.a.qp.ModifyState(IBV_QPS_ERR));
  ExpectFailed(Await(p.a.send_cq), 2, IBV_WC_WR_FLUSH_ERR, p.a.qp.num());
}

SRN_OVER_BOTH_IP(AsyncEvent);
SRN_OVER_BOTH_IP(Drain);

}  // namespace
}  // namespace verbs_test
