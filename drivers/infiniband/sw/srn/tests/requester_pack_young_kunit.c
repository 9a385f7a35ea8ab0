// SPDX-License-Identifier: GPL-2.0-only
/* The first messages of a connection, which leave as one pack, beyond the window that they open. */
#include "fake_packer.h"

/* As it begins, and as little as it may get. */
static void young(struct srn_qp *qp)
{
	qp->window.cwnd = SRN_WINDOW_FEW;
}

/* That a young connection's goes on beyond the window lasts no longer than it does, and who fills it asks. */
static void srn_requester_pack_young_test(struct kunit *test)
{
	static const u32 lens[] = { 0, 8, 64, 200 };
	struct srn_pack_cut cut;
	struct srn_qp *qp;
	bool packed, asks;
	u32 i, num;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		qp = send_packed(test, 100, lens[i], young);
		num = next_skb(test, &cut, &packed);
		KUNIT_EXPECT_TRUE(test, packed);
		do
			asks = cut.msg.flags & SRN_PKT_ACKREQ;
		while (srn_pack_cut_next(&cut));
		KUNIT_EXPECT_EQ(test, asks, num >= SRN_WINDOW_FEW);
		__skb_queue_purge(&sent);
		KUNIT_EXPECT_EQ(test, srn_window_inflight(&qp->window), max(num, SRN_WINDOW_FEW));
		KUNIT_EXPECT_EQ(test, qp->window.lent, 0);
		KUNIT_EXPECT_EQ(test, qp->window.unasked, 0);
		KUNIT_EXPECT_EQ(test, count(qp, SRN_CNT_RETRANS), 0);
		/* What comes of it makes it grow as if it had not been lent: small packets say little of long ones. */
		srn_window_acked(&qp->window, qp->window.at.psn);
		KUNIT_EXPECT_EQ(test, qp->window.cwnd, 2 * SRN_WINDOW_FEW);
	}
}

static void young_a_long_one(struct srn_qp *qp)
{
	young(qp);
	srn_sq_wqe(&qp->sq, 20)->length = 600;
}

static void young_a_long_one_in_time(struct srn_qp *qp)
{
	young(qp);
	a_long_one(qp);
}

static void young_a_read(struct srn_qp *qp)
{
	young(qp);
	srn_sq_wqe(&qp->sq, 20)->opcode = IB_WR_RDMA_READ;
	qp->max_rd_atomic = 1;
}

static void young_longer_ones(struct srn_qp *qp)
{
	u32 i;

	young(qp);
	for (i = 20; i < 32; i++)
		srn_sq_wqe(&qp->sq, i)->length = 200;
}

static void young_few_segments(struct srn_qp *qp)
{
	young(qp);
	way->gso_max_segs = 20;
}

static void young_little_reach(struct srn_qp *qp)
{
	young(qp);
	srn_window_set_reach(&qp->window, 24);
}

static void young_stopped(struct srn_qp *qp)
{
	young(qp);
	WRITE_ONCE(srn_run_stopped, true);
}

static void young_and_busy(struct srn_qp *qp)
{
	young(qp);
	qp->window.una = srn_psn_add(PSN, -4);
}

static void grew_and_lost(struct srn_qp *qp)
{
	young(qp);
	qp->window.ssthresh = SRN_WINDOW_FEW;
}

static const struct row rows[] = {
	{ "a young connection's goes at once", 32, 8, young, { -32 } },
	{ "as much of it as is one", 100, 8, young, { -64 } },
	{ "or as there is room for", 32, 64, young, { -24 } },
	{ "what is long is not in it", 32, 8, young_a_long_one, { -20 } },
	{ "and ends it", 32, 8, young_a_long_one_in_time, { -3, 2, -11 } },
	{ "nor a READ", 32, 8, young_a_read, { -20 } },
	{ "nor one that it has no room for", 32, 8, young_longer_ones, { -21 } },
	{ "nor more than the netdev takes", 32, 8, young_few_segments, { -20 } },
	{ "nor than the peer keeps", 32, 8, young_little_reach, { -24 } },
	{ "packets go as many as may", 32, 8, young_stopped, { 16 } },
	{ "beside others as many as may", 32, 8, young_and_busy, { -12 } },
	{ "and after a loss", 32, 8, grew_and_lost, { -16 } },
};

KUNIT_ARRAY_PARAM_DESC(row, rows, desc);

static void srn_requester_pack_young_rows_test(struct kunit *test)
{
	expect_row(test, test->param_value);
}

static struct kunit_case srn_requester_pack_young_cases[] = {
	KUNIT_CASE(srn_requester_pack_young_test),
	KUNIT_CASE_PARAM(srn_requester_pack_young_rows_test, row_gen_params),
	{}
};

static struct kunit_suite srn_requester_pack_young_suite = {
	.name = "srn_requester_pack_young",
	.test_cases = srn_requester_pack_young_cases,
};

kunit_test_suite(srn_requester_pack_young_suite);
