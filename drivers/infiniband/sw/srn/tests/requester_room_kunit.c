// SPDX-License-Identifier: GPL-2.0-only
/* Who waits until more may leave at once, and who does not. */
#include "../asking.h"
#include "../bell.h"
#include "../limits.h"
#include "../mw.h"
#include "../recovery.h"
#include "fake_mem.h"
#include "fake_sender.h"

#define NUM	64u
#define CWND	32u
#define LITTLE	(CWND / 4 - 1)	/* to wait for more */

static void go(struct srn_qp *qp)
{
	int budget = SRN_ROUND_BUDGET;

	srn_requester_run(qp, &budget);
}

/* With @num posted, as much in flight as may be, half of it in queues, and a turn: the last one asked. Nothing makes
 * that more.
 */
static struct srn_qp *new_full_of(struct kunit *test, u32 num)
{
	struct srn_window *w;
	struct srn_qp *qp;

	memset(&left, 0, sizeof(left));
	migrate_disable();
	qp = new_sender(test, NUM);
	qp->sq.tail = num;
	qp->recovery = SRN_RECOVERY_HOLD;
	qp->timeout = 14;
	qp->rtt = (struct srn_rtt){ .srtt_ns = 1, .wait = 31 };
	w = &qp->window;
	w->full = CWND;
	w->most = CWND;
	w->ssthresh = CWND - 1;	/* not young, which is lent more */
	w->cwnd = CWND;
	w->crowd.least_ns = NSEC_PER_MSEC;
	w->crowd.delay_ns = NSEC_PER_MSEC;
	local_bh_disable();
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_SQ));
	go(qp);
	KUNIT_ASSERT_EQ(test, srn_window_inflight(w), CWND);
	KUNIT_ASSERT_EQ(test, w->unasked, 0);
	return qp;
}

static struct srn_qp *new_full(struct kunit *test)
{
	return new_full_of(test, NUM);
}

static void end(void)
{
	local_bh_enable();
	migrate_enable();
}

static void acked(struct srn_qp *qp, u32 num)
{
	srn_window_acked(&qp->window, srn_psn_add(qp->window.una, num));
}

/* Packets that the next round sends. */
static u32 sends(struct srn_qp *qp)
{
	u64 before = num_sent(qp);

	go(qp);
	return num_sent(qp) - before;
}

/* What is posted meanwhile is fetched, so that nobody looks for it until then (bell.c). */
static void srn_requester_room_fetches_test(struct kunit *test)
{
	struct srn_qp *qp = new_full_of(test, CWND);
	u32 little;

	acked(qp, LITTLE);
	qp->sq.tail++;
	little = sends(qp);
	end();
	KUNIT_EXPECT_EQ(test, little, 0);
	KUNIT_EXPECT_EQ(test, qp->sq.fetched, CWND + 1);
}

/* A program is not told to ring meanwhile, nor is there anything to do at once. */
static void srn_requester_room_rings_not_test(struct kunit *test)
{
	struct srn_qp *qp = new_full(test);
	bool again;

	acked(qp, LITTLE);
	go(qp);
	local_bh_enable();
	qp->page = fake_page(test);
	local_bh_disable();
	qp->page->sq_tail = qp->sq.fetched;
	qp->who.kernel = false;
	qp->req.bell.quiet = true;
	qp->req.bell.quiet_una = qp->window.una;
	again = srn_bell_idle(qp);
	end();
	KUNIT_EXPECT_FALSE(test, again);
	KUNIT_EXPECT_FALSE(test, rings(qp));
}

/* Until a quarter of the window may go; and nobody is asked once more meanwhile. */
static void srn_requester_room_waits_test(struct kunit *test)
{
	struct srn_qp *qp = new_full(test);
	u32 little, still, much, after;

	acked(qp, LITTLE);
	little = sends(qp);
	still = sends(qp);
	acked(qp, 1);
	much = sends(qp);
	acked(qp, CWND - 1);
	after = sends(qp);
	end();
	KUNIT_EXPECT_EQ(test, little, 0);
	KUNIT_EXPECT_EQ(test, still, 0);
	KUNIT_EXPECT_EQ(test, much, LITTLE + 1);
	KUNIT_EXPECT_EQ(test, after, NUM - CWND - LITTLE - 1);
}

static void leave_one_unasked(struct srn_qp *qp)
{
	qp->window.unasked = 1;
}

static void mind_queues(struct srn_qp *qp)
{
	qp->window.crowd.left = 1;
}

static void go_back_n(struct srn_qp *qp)
{
	qp->recovery = SRN_RECOVERY_GBN;
}

static void let_more_out(struct srn_qp *qp)
{
	qp->window.full = CWND - 1;
}

static void empty_queues(struct srn_qp *qp)
{
	qp->window.crowd.delay_ns--;
}

static void forget_path(struct srn_qp *qp)
{
	qp->window.crowd.least_ns = U64_MAX;
}

static void probe(struct srn_qp *qp)
{
	qp->retry.probes = 1;
}

/* One goes again; and less may be out, so that it is no quarter that is free then. */
static void go_back(struct srn_qp *qp)
{
	struct srn_cursor at = qp->window.at;

	srn_window_seek(&qp->window, (struct srn_cursor){ .index = at.index - 1, .psn = srn_psn_add(at.psn, -1) });
	qp->window.cwnd -= 2;
}

/* Beside a READ what the peer has takes room as well. */
static void read(struct srn_qp *qp)
{
	qp->window.rd_tail++;
}

/* A READ needs no room for what it asks. */
static void post_read(struct srn_qp *qp)
{
	struct srn_wqe *wqe = srn_sq_wqe(&qp->sq, qp->window.at.index);

	wqe->opcode = IB_WR_RDMA_READ;
	wqe->length = LITTLE * qp->mtu;
	qp->max_rd_atomic = 1;
	qp->sq.tail = qp->window.at.index + 1;
	qp->sq.fetched = qp->sq.tail;
}

static const struct busy_row {
	const char *desc;
	void (*make)(struct srn_qp *qp);
	u32 goes;
} busy_rows[] = {
	{ "some were not asked about", leave_one_unasked, LITTLE },
	{ "queues are minded", mind_queues, LITTLE },
	{ "go-back-N", go_back_n, LITTLE },
	{ "more than fills a short path", let_more_out, LITTLE },
	{ "most of the way is no queue", empty_queues, LITTLE },
	{ "nobody knows the way", forget_path, LITTLE },
	{ "the answers may be lost", probe, LITTLE },
	{ "something goes again", go_back, LITTLE - 1 },
	{ "a READ is in flight", read, LITTLE },
};

KUNIT_ARRAY_PARAM_DESC(busy, busy_rows, desc);

static void srn_requester_room_goes_test(struct kunit *test)
{
	const struct busy_row *row = test->param_value;
	struct srn_qp *qp = new_full(test);
	u32 little;
	bool waits;

	acked(qp, LITTLE);
	waits = srn_asking_waits_for_room(qp);
	row->make(qp);
	little = sends(qp);
	qp->window.rd_head = qp->window.rd_tail;
	end();
	KUNIT_EXPECT_TRUE(test, waits);
	KUNIT_EXPECT_EQ(test, little, row->goes);
}

static void srn_requester_room_is_not_for_reads_test(struct kunit *test)
{
	struct srn_qp *qp = new_full(test);
	u32 requests, asked;

	acked(qp, LITTLE);
	post_read(qp);
	requests = sends(qp);
	asked = srn_window_inflight(&qp->window);
	end();
	KUNIT_EXPECT_EQ(test, requests, 1);
	KUNIT_EXPECT_EQ(test, asked, CWND);
}

/* Nor does what is done here: this bind fails, which it would not if it waited. */
static void srn_requester_room_is_not_for_binds_test(struct kunit *test)
{
	struct srn_qp *qp = new_full(test);
	struct srn_wqe *wqe = srn_sq_wqe(&qp->sq, qp->window.at.index);

	local_bh_enable();
	qp->who.pd = fake_pd(test, qp->dev);
	srn_mw_owner_init(&qp->windows, &qp->who);
	local_bh_disable();
	acked(qp, LITTLE);
	wqe->opcode = IB_WR_BIND_MW;
	go(qp);
	end();
	KUNIT_EXPECT_NE(test, wqe->status, SRN_OK);
}

static struct kunit_case srn_requester_room_cases[] = {
	KUNIT_CASE(srn_requester_room_waits_test),
	KUNIT_CASE_PARAM(srn_requester_room_goes_test, busy_gen_params),
	KUNIT_CASE(srn_requester_room_is_not_for_reads_test),
	KUNIT_CASE(srn_requester_room_is_not_for_binds_test),
	KUNIT_CASE(srn_requester_room_fetches_test),
	KUNIT_CASE(srn_requester_room_rings_not_test),
	{}
};

static struct kunit_suite srn_requester_room_suite = {
	.name = "srn_requester_room",
	.test_cases = srn_requester_room_cases,
};
kunit_test_suite(srn_requester_room_suite);
