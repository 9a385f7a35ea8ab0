// SPDX-License-Identifier: GPL-2.0-only
/* Which packets ask for an answer, and which of those is timed. */
#include "../asking.h"
#include "../limits.h"
#include "../recovery.h"
#include "../segment.h"
#include "fake_sender.h"

#define NUM	40u

/* Lets the next ones go one by one. Returns which of them asked, as bits. */
static u64 asked(struct srn_qp *qp, u32 num)
{
	u64 bits = 0;
	int budget;
	u32 i;

	for (i = 0; i < num; i++) {
		budget = 1;
		srn_requester_run(qp, &budget);
		if (left.asked)
			bits |= BIT_ULL(i);
	}
	return bits;
}

static struct srn_qp *new_asker(struct kunit *test, u32 cwnd)
{
	struct srn_qp *qp = new_sender(test, NUM);

	qp->recovery = SRN_RECOVERY_HOLD;
	qp->window.cwnd = cwnd;
	memset(&left, 0, sizeof(left));
	return qp;
}

static void begin(struct kunit *test, struct srn_qp *qp)
{
	local_bh_disable();
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_SQ));
}

static void end(void)
{
	local_bh_enable();
	migrate_enable();
}

/* The first packet, so that it is soon known how long the path is; once it is, not the next first one. */
static void srn_requester_first_asks_test(struct kunit *test)
{
	struct srn_qp *qp;
	u64 first, later;
	u32 timed;
	bool is_timed;

	migrate_disable();
	qp = new_asker(test, 128);
	begin(test, qp);
	first = asked(qp, 20);
	is_timed = qp->window.timed;
	timed = qp->window.timed_psn;
	srn_window_acked(&qp->window, qp->window.at.psn);
	qp->window.unasked = 0;
	qp->rtt.srtt_ns = 1;
	qp->window.timed = false;
	later = asked(qp, 10);
	end();
	KUNIT_EXPECT_EQ(test, first, 1ull);
	KUNIT_EXPECT_TRUE(test, is_timed);
	KUNIT_EXPECT_EQ(test, timed, qp->sq_psn);
	KUNIT_EXPECT_EQ(test, later, 0ull);
}

/* With gbn nothing needs to know it early: every 32nd, as ever. */
static void srn_requester_first_of_gbn_test(struct kunit *test)
{
	struct srn_qp *qp;
	u64 first;

	migrate_disable();
	qp = new_asker(test, 128);
	qp->recovery = SRN_RECOVERY_GBN;
	begin(test, qp);
	first = asked(qp, 33);
	end();
	KUNIT_EXPECT_EQ(test, first, BIT_ULL(31));
}

/* Packets of which the last one asks, of a stream of such as @plan has at once. */
static u32 asks_every(struct srn_qp *qp, const struct srn_plan *plan)
{
	qp->window.unasked = 0;
	while (!srn_asking_needs(qp, plan) && qp->window.unasked < 1000)
		qp->window.unasked += plan->num;
	return qp->window.unasked + plan->num;
}

/* Of what passes whole a quarter of a window is not asked about, but where the way is long. */
static void srn_requester_whole_asks_test(struct kunit *test)
{
	struct srn_plan whole = { .num = 32, .npsn = 32, .whole = true }, cut = { .num = 16, .npsn = 16 };
	struct srn_qp *qp;

	migrate_disable();
	qp = new_asker(test, SRN_WINDOW);
	qp->rtt.srtt_ns = 1;
	qp->window.crowd.least_ns = SRN_WINDOW_PATH_NS;
	KUNIT_EXPECT_EQ(test, asks_every(qp, &whole), 32);
	qp->window.crowd.least_ns--;
	KUNIT_EXPECT_EQ(test, asks_every(qp, &whole), 64);
	KUNIT_EXPECT_EQ(test, asks_every(qp, &cut), 32);
	migrate_enable();
}

/* Rather less than much more; twice for what may be out; and of long packets as many as ever. */
static void srn_requester_whole_asks_in_time_test(struct kunit *test)
{
	struct srn_plan whole = { .num = 60, .npsn = 60, .whole = true };
	struct srn_qp *qp;

	migrate_disable();
	qp = new_asker(test, SRN_WINDOW);
	qp->rtt.srtt_ns = 1;
	qp->window.crowd.least_ns = 1;
	KUNIT_EXPECT_EQ(test, asks_every(qp, &whole), 60);
	whole.num = 24;
	KUNIT_EXPECT_EQ(test, asks_every(qp, &whole), 48);
	whole.num = 8;
	KUNIT_EXPECT_EQ(test, asks_every(qp, &whole), 64);
	qp->window.cwnd = 80;
	KUNIT_EXPECT_EQ(test, asks_every(qp, &whole), 40);
	qp->window.full = SRN_WINDOW / 2;
	qp->window.cwnd = SRN_WINDOW / 2;
	KUNIT_EXPECT_EQ(test, asks_every(qp, &whole), 32);
	migrate_enable();
}

/* Twice for what may be out, where that is little; and the next of them that asks is timed. */
static void srn_requester_few_ask_test(struct kunit *test)
{
	struct srn_qp *qp;
	u32 timed;
	u64 bits;

	migrate_disable();
	qp = new_asker(test, 12);
	qp->rtt = (struct srn_rtt){ .srtt_ns = 1, .wait = 31 };
	begin(test, qp);
	bits = asked(qp, 12);
	timed = qp->window.timed_psn;
	end();
	KUNIT_EXPECT_EQ(test, bits, BIT_ULL(5) | BIT_ULL(11));
	KUNIT_EXPECT_TRUE(test, qp->window.timed);
	KUNIT_EXPECT_EQ(test, timed, srn_psn_add(qp->sq_psn, 5));
}

/* With as many as this none is, until it is its turn. */
static void srn_requester_many_are_not_timed_test(struct kunit *test)
{
	struct srn_qp *qp;

	migrate_disable();
	qp = new_asker(test, 24);
	qp->rtt = (struct srn_rtt){ .srtt_ns = 1, .wait = 31 };
	begin(test, qp);
	KUNIT_EXPECT_EQ(test, asked(qp, 12), BIT_ULL(11));
	end();
	KUNIT_EXPECT_FALSE(test, qp->window.timed);
}

/* What is sent behind a gap is answered when that is filled, which says nothing of the path. */
static void srn_requester_gap_is_not_timed_test(struct kunit *test)
{
	bool during, after;
	struct srn_qp *qp;

	migrate_disable();
	qp = new_asker(test, 12);
	begin(test, qp);
	qp->retry.rewound = true;
	KUNIT_EXPECT_NE(test, asked(qp, 6), 0ull);
	during = qp->window.timed;
	qp->retry.rewound = false;
	KUNIT_EXPECT_NE(test, asked(qp, 6), 0ull);
	after = qp->window.timed;
	end();
	KUNIT_EXPECT_FALSE(test, during);
	KUNIT_EXPECT_TRUE(test, after);
}

/* Of a READ the first response is timed: those behind it are late by it alone. */
static void srn_requester_times_first_response_test(struct kunit *test)
{
	struct srn_wqe *wqe;
	struct srn_qp *qp;
	int budget = 8;

	migrate_disable();
	qp = new_asker(test, 64);
	qp->max_rd_atomic = 1;
	wqe = srn_sq_wqe(&qp->sq, 0);
	wqe->opcode = IB_WR_RDMA_READ;
	wqe->length = 8 * qp->mtu;
	qp->sq.tail = 1;
	begin(test, qp);
	srn_requester_run(qp, &budget);
	end();
	KUNIT_EXPECT_EQ(test, srn_window_inflight(&qp->window), 8);
	KUNIT_EXPECT_TRUE(test, qp->window.timed);
	KUNIT_EXPECT_EQ(test, qp->window.timed_psn, qp->sq_psn);
}

/* Two requests of half a READ each. Of the second the first response is timed, and then perhaps what is behind it. */
static void time_two(struct kunit *test, u32 *first_rest, u32 *second_rest)
{
	struct srn_wqe *wqe;
	struct srn_qp *qp;
	int budget = 1;
	u32 second;

	migrate_disable();
	qp = new_asker(test, 16);
	qp->window.ssthresh = 16;
	qp->max_rd_atomic = 2;
	wqe = srn_sq_wqe(&qp->sq, 0);
	wqe->opcode = IB_WR_RDMA_READ;
	wqe->length = 16 * qp->mtu;
	qp->sq.tail = 1;
	begin(test, qp);
	srn_requester_run(qp, &budget);
	*first_rest = qp->window.timed_rest;
	qp->window.timed = false;
	qp->window.timed_psn = qp->sq_psn;
	qp->rtt = (struct srn_rtt){};
	budget = 1;
	srn_requester_run(qp, &budget);
	*second_rest = qp->window.timed_rest;
	second = srn_psn_diff(qp->window.timed_psn, qp->sq_psn);
	end();
	KUNIT_EXPECT_EQ(test, srn_window_inflight(&qp->window), 16);
	KUNIT_EXPECT_EQ(test, wqe->chunk, 8);
	KUNIT_EXPECT_TRUE(test, qp->window.timed);
	KUNIT_EXPECT_EQ(test, second, 8);
}

/* Of a request that is not alone perhaps also the last: it stands behind the others. */
static void srn_requester_times_last_response_test(struct kunit *test)
{
	u32 first, second;

	time_two(test, &first, &second);
	KUNIT_EXPECT_EQ(test, first, 0);
	KUNIT_EXPECT_EQ(test, second, 7);
}

static struct kunit_case srn_requester_ask_cases[] = {
	KUNIT_CASE(srn_requester_first_asks_test),
	KUNIT_CASE(srn_requester_first_of_gbn_test),
	KUNIT_CASE(srn_requester_whole_asks_test),
	KUNIT_CASE(srn_requester_whole_asks_in_time_test),
	KUNIT_CASE(srn_requester_few_ask_test),
	KUNIT_CASE(srn_requester_many_are_not_timed_test),
	KUNIT_CASE(srn_requester_gap_is_not_timed_test),
	KUNIT_CASE(srn_requester_times_first_response_test),
	KUNIT_CASE(srn_requester_times_last_response_test),
	{}
};

static struct kunit_suite srn_requester_ask_suite = {
	.name = "srn_requester_ask",
	.test_cases = srn_requester_ask_cases,
};
kunit_test_suite(srn_requester_ask_suite);
