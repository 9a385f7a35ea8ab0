// SPDX-License-Identifier: GPL-2.0-only
/* Who is told of an error, by a completion or an event, finds the QP in the state that the
 * error left: handlers modify the QP at once.
 */
#include "../ah.h"
#include "../cq.h"
#include "../qp.h"
#include "../responder.h"
#include "../service.h"
#include "../sq.h"
#include "fake.h"

struct witness {
	struct srn_qp qp;
	struct srn_cq cq;
	struct srn_av av;
	unsigned int comps, fatals;
	enum ib_qp_state state;		/* of the QP when it was told last */
};

static void on_comp(struct ib_cq *cq, void *arg)
{
	struct witness *w = arg;

	w->comps++;
	w->state = w->qp.state;
}

static void on_event(struct ib_event *event, void *arg)
{
	struct witness *w = arg;

	w->fatals += event->event == IB_EVENT_QP_FATAL;
	w->state = w->qp.state;
}

static void make_cq(struct kunit *test, struct witness *w, bool full)
{
	struct srn_cq *cq = &w->cq;

	spin_lock_init(&cq->lock);
	cq->ibcq.device = &w->qp.dev->ibdev;
	cq->ibcq.comp_handler = on_comp;
	cq->ibcq.cq_context = w;
	cq->entries = 1;
	cq->prod = full;
	cq->page = kunit_kzalloc(test, SRN_QUEUE_OFFSET + sizeof(struct srn_cqe), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, cq->page);
	cq->cqes = (void *)cq->page + SRN_QUEUE_OFFSET;
	srn_req_notify_cq(&cq->ibcq, IB_CQ_NEXT_COMP);
}

/* One signaled SEND has been fetched, one receive WQE is in use. */
static void fill_queues(struct kunit *test, struct witness *w)
{
	struct srn_sq *sq = &w->qp.sq;
	struct srn_wqe *wqe;

	sq->entries = 1;
	sq->lim.svc = w->qp.svc;
	sq->lim.who = &w->qp.who;
	sq->wqe_size = srn_wqe_size(1, 0);
	sq->wqes = kunit_kzalloc(test, sq->wqe_size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, sq->wqes);
	sq->fetched = 1;
	sq->tail = 1;
	wqe = srn_sq_wqe(sq, 0);
	wqe->opcode = IB_WR_SEND;
	wqe->flags = IB_SEND_SIGNALED;
	if (w->qp.svc == srn_service_of(IB_QPT_UD)) {
		refcount_set(&w->av.refs, 2);
		wqe->ud.av = &w->av;
	}
	w->qp.rq.wqe = fake_rwqe(test);
	w->qp.rq.open = true;
}

static struct witness *new_witness(struct kunit *test, enum ib_qp_type type, bool full)
{
	struct witness *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, w);
	w->qp.dev = fake_dev(test);
	w->qp.who = (struct srn_who) { .dev = w->qp.dev, .kernel = true };
	w->qp.scq = &w->cq;
	w->qp.rcq = &w->cq;
	w->qp.svc = srn_service_of(type);
	w->qp.state = IB_QPS_RTS;
	w->qp.ibqp.qp_type = type;
	w->qp.ibqp.event_handler = on_event;
	w->qp.ibqp.qp_context = w;
	make_cq(test, w, full);
	fill_queues(test, w);
	return w;
}

struct fail_row {
	const char *desc;
	enum ib_qp_type type;
	enum { SEND_FAILS, SEND_IS_DONE, REQUEST_FAILS } what;
	bool full;		/* the CQ: the completion is lost */
	enum ib_qp_state want;
};

static const struct fail_row fail_rows[] = {
	{ "send of UD", IB_QPT_UD, SEND_FAILS, false, IB_QPS_SQE },
	{ "send of RC", IB_QPT_RC, SEND_FAILS, false, IB_QPS_ERR },
	{ "request of a peer", IB_QPT_RC, REQUEST_FAILS, false, IB_QPS_ERR },
	{ "send of UD, not told", IB_QPT_UD, SEND_FAILS, true, IB_QPS_ERR },
	{ "send of RC, not told", IB_QPT_RC, SEND_FAILS, true, IB_QPS_ERR },
	{ "request of a peer, not told", IB_QPT_RC, REQUEST_FAILS, true, IB_QPS_ERR },
	{ "success that is not told", IB_QPT_RC, SEND_IS_DONE, true, IB_QPS_ERR },
};

KUNIT_ARRAY_PARAM_DESC(fail, fail_rows, desc);

static void srn_fail_state_comes_first_test(struct kunit *test)
{
	const struct fail_row *row = test->param_value;
	struct witness *w = new_witness(test, row->type, row->full);
	struct srn_wqe *wqe = srn_sq_wqe(&w->qp.sq, 0);

	switch (row->what) {
	case SEND_FAILS:
		srn_sq_fail(&w->qp, wqe, SRN_V_LOC_PROT);
		break;
	case SEND_IS_DONE:
		wqe->done = true;
		srn_sq_retire(&w->qp);
		break;
	case REQUEST_FAILS:
		srn_responder_fail(&w->qp, SRN_V_RESP_LEN, 0);
		break;
	}
	KUNIT_EXPECT_EQ(test, w->comps, row->full ? 0 : 1);
	KUNIT_EXPECT_EQ(test, w->fatals, row->full ? 1 : 0);
	KUNIT_EXPECT_EQ(test, w->state, row->want);
	KUNIT_EXPECT_EQ(test, w->qp.state, row->want);
}

static struct kunit_case srn_fail_cases[] = {
	KUNIT_CASE_PARAM(srn_fail_state_comes_first_test, fail_gen_params),
	{}
};

static struct kunit_suite srn_fail_suite = {
	.name = "srn_fail",
	.test_cases = srn_fail_cases,
};

kunit_test_suite(srn_fail_suite);
