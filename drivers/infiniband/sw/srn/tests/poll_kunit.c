// SPDX-License-Identifier: GPL-2.0-only
/* What a poller finds: what its program would have rung for, once. */
#include "../bell.h"
#include "../limits.h"
#include "../run.h"
#include "../sq.h"
#include "fake_sender.h"

static void have_it_ring(struct srn_qp *qp)
{
	qp->req.bell.rings = true;
	qp->page->status = SRN_QP_NEED_DB;
}

/* A program's QP, idle, whose posts nobody rings for. */
static struct srn_qp *new_polled(struct kunit *test)
{
	struct srn_qp *qp;
	struct srn_sq *sq;

	memset(&left, 0, sizeof(left));
	migrate_disable();
	qp = new_sender(test, 0x7f);
	sq = &qp->sq;
	qp->who.kernel = false;
	qp->page = fake_page(test);
	sq->stride = srn_send_stride(1, 0);
	sq->slots = kunit_kcalloc(test, sq->entries, sq->stride, GFP_KERNEL);	/* WRITEs of 0 B */
	KUNIT_ASSERT_NOT_NULL(test, sq->slots);
	qp->scq = new_cq(test, qp, 4);
	qp->rcq = new_cq(test, qp, 4);
	local_bh_disable();
	have_it_ring(qp);
	return qp;
}

static void leave_polled(struct kunit *test, struct srn_qp *qp)
{
	local_bh_enable();
	migrate_enable();
	srn_clock_stop(&qp->clock);
	KUNIT_EXPECT_TRUE(test, wait_idle(qp));
}

static void post(struct srn_qp *qp, u32 tail)
{
	qp->page->sq_tail = tail;
}

static void srn_poll_posts_test(struct kunit *test)
{
	struct srn_qp *qp = new_polled(test);

	KUNIT_EXPECT_EQ(test, srn_round_poll(qp), SRN_HEARD_NO_POST);
	post(qp, 1);
	KUNIT_EXPECT_TRUE(test, srn_bell_is_due(qp));
	KUNIT_EXPECT_EQ(test, num_sent(qp), 0);
	KUNIT_EXPECT_EQ(test, srn_round_poll(qp), SRN_HEARD);
	KUNIT_EXPECT_EQ(test, num_sent(qp), 1);
	KUNIT_EXPECT_TRUE(test, rings(qp));
	KUNIT_EXPECT_EQ(test, srn_round_poll(qp), SRN_HEARD_NO_POST);
	post(qp, 3);
	KUNIT_EXPECT_EQ(test, srn_round_poll(qp), SRN_HEARD);
	KUNIT_EXPECT_EQ(test, num_sent(qp), 3);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_POLLED), 2);
	leave_polled(test, qp);
}

/* Where nobody rings, answers bring us back, and what is posted meanwhile goes in one burst. */
static void srn_poll_hushed_test(struct kunit *test)
{
	struct srn_qp *qp = new_polled(test);

	post(qp, SRN_DB_INFLIGHT);
	KUNIT_EXPECT_EQ(test, srn_round_poll(qp), SRN_HEARD);
	KUNIT_EXPECT_FALSE(test, rings(qp));
	post(qp, SRN_DB_INFLIGHT + 1);
	KUNIT_EXPECT_FALSE(test, srn_bell_is_due(qp));
	KUNIT_EXPECT_EQ(test, srn_round_poll(qp), SRN_HEARD_NO_POST);
	/* Until it is told to ring, and nothing was forgotten meanwhile. */
	have_it_ring(qp);
	KUNIT_EXPECT_EQ(test, srn_round_poll(qp), SRN_HEARD);
	leave_polled(test, qp);
}

/* What waits for something else than us is not looked at over and over: so the poller comes to sleep. */
static void srn_poll_waits_test(struct kunit *test)
{
	struct srn_qp *qp = new_polled(test);

	qp->retry.rnr_wait = true;
	post(qp, 1);
	KUNIT_EXPECT_EQ(test, srn_round_poll(qp), SRN_HEARD);
	KUNIT_EXPECT_EQ(test, num_sent(qp), 0);
	KUNIT_EXPECT_TRUE(test, rings(qp));
	KUNIT_EXPECT_FALSE(test, srn_bell_is_due(qp));
	KUNIT_EXPECT_EQ(test, srn_round_poll(qp), SRN_HEARD_NO_POST);
	post(qp, 2);
	KUNIT_EXPECT_EQ(test, srn_round_poll(qp), SRN_HEARD);
	qp->retry.rnr_wait = false;
	KUNIT_EXPECT_EQ(test, srn_round_post(qp), SRN_HEARD);
	KUNIT_EXPECT_EQ(test, num_sent(qp), 2);
	leave_polled(test, qp);
}

/* An index that comes round to what was seen long ago is news. */
static void srn_poll_wrap_test(struct kunit *test)
{
	struct srn_qp *qp = new_polled(test);

	post(qp, 1);
	KUNIT_EXPECT_EQ(test, srn_round_poll(qp), SRN_HEARD);
	qp->sq.fetched = 0;
	qp->page->sq_tail = 0;
	KUNIT_EXPECT_FALSE(test, srn_bell_is_due(qp));
	qp->page->sq_tail = 1;
	KUNIT_EXPECT_TRUE(test, srn_bell_is_due(qp));
	qp->sq.fetched = 1;
	leave_polled(test, qp);
}

/* Neither put off, however much it streams, nor sent to another CPU. */
static void srn_poll_at_once_test(struct kunit *test)
{
	struct srn_qp *qp = new_polled(test);

	qp->scq->waiting = 2 * SRN_STREAM_CQES;
	qp->req.bell.gather.pays = true;
	post(qp, 1);
	KUNIT_EXPECT_EQ(test, srn_round_poll(qp), SRN_HEARD);
	KUNIT_EXPECT_EQ(test, num_sent(qp), 1);
	qp->req.bell.gather.pays = true;
	post(qp, 2);
	KUNIT_EXPECT_EQ(test, srn_round_post(qp), SRN_HEARD);
	KUNIT_EXPECT_EQ(test, num_sent(qp), 2);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_GATHERINGS), 0);
	leave_polled(test, qp);
}

/* Who has the turn of a QP in error is not waited for: a later look comes again. */
static void srn_poll_again_test(struct kunit *test)
{
	struct srn_qp *qp = new_polled(test);

	qp->state = IB_QPS_ERR;
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_FLUSH));
	post(qp, 1);
	KUNIT_EXPECT_EQ(test, srn_round_poll(qp), SRN_HEARD_BUSY);
	KUNIT_EXPECT_TRUE(test, srn_bell_is_due(qp));
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_POLLED), 0);
	local_bh_enable();
	srn_turn_disown(&qp->turn);
	local_bh_disable();
	KUNIT_EXPECT_EQ(test, qp->scq->prod, 0);
	KUNIT_EXPECT_EQ(test, srn_round_poll(qp), SRN_HEARD);
	KUNIT_EXPECT_EQ(test, qp->scq->prod, 1);
	KUNIT_EXPECT_FALSE(test, srn_bell_is_due(qp));
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_POLLED), 1);
	leave_polled(test, qp);
}

/* A program may write anything there: it hurts itself. */
static void srn_poll_nonsense_test(struct kunit *test)
{
	struct srn_qp *qp = new_polled(test);

	post(qp, 1000);
	KUNIT_EXPECT_EQ(test, srn_round_poll(qp), SRN_HEARD);
	KUNIT_EXPECT_EQ(test, qp->state, IB_QPS_ERR);
	KUNIT_EXPECT_EQ(test, num_sent(qp), 0);
	KUNIT_EXPECT_FALSE(test, srn_bell_is_due(qp));
	leave_polled(test, qp);
}

static struct kunit_case srn_poll_cases[] = {
	KUNIT_CASE(srn_poll_posts_test),
	KUNIT_CASE(srn_poll_hushed_test),
	KUNIT_CASE(srn_poll_waits_test),
	KUNIT_CASE(srn_poll_wrap_test),
	KUNIT_CASE(srn_poll_at_once_test),
	KUNIT_CASE(srn_poll_again_test),
	KUNIT_CASE(srn_poll_nonsense_test),
	{}
};

static struct kunit_suite srn_poll_suite = {
	.name = "srn_poll",
	.test_cases = srn_poll_cases,
};

kunit_test_suite(srn_poll_suite);
