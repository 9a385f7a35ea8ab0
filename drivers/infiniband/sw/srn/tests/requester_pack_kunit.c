// SPDX-License-Identifier: GPL-2.0-only
/* Which messages leave as a pack: those that would have left as packets, and as these would. */
#include "../score.h"
#include "fake_packer.h"

/* A list goes at once, each message as it is, and only the last asks. */
static void srn_requester_pack_list_test(struct kunit *test)
{
	struct srn_qp *qp = send_packed(test, 8, 9, NULL);
	struct srn_pack_cut cut;
	bool packed;
	u32 i = 0;

	KUNIT_ASSERT_EQ(test, next_skb(test, &cut, &packed), 8);
	KUNIT_ASSERT_TRUE(test, packed);
	KUNIT_EXPECT_EQ(test, be32_get_bits(cut.bth.apsn, SRN_BTH_PSN), PSN);
	do {
		const u8 *at = cut.skb->data + cut.msg.at;
		const struct srn_reth *reth = (const void *)at;

		KUNIT_EXPECT_EQ(test, cut.msg.opcode, A_WRITE);
		KUNIT_EXPECT_EQ(test, cut.msg.len, 9);
		KUNIT_EXPECT_EQ(test, cut.msg.flags, i == 7 ? SRN_PKT_ACKREQ : 0);
		KUNIT_EXPECT_EQ(test, be64_to_cpu(reth->va), i);
		KUNIT_EXPECT_EQ(test, at[sizeof(*reth)], i);
		KUNIT_EXPECT_EQ(test, at[sizeof(*reth) + 8], i);
		i++;
	} while (srn_pack_cut_next(&cut));
	EXPECT_SENT(test, -8);
	KUNIT_EXPECT_EQ(test, count(qp, SRN_CNT_SENT_PKTS), 8);
	KUNIT_EXPECT_EQ(test, count(qp, SRN_CNT_SENT_BYTES), 8 * (12 + 16 + 12 + 4));
	KUNIT_EXPECT_EQ(test, count(qp, SRN_CNT_SENT_RUNS), 1);
	KUNIT_EXPECT_EQ(test, srn_window_inflight(&qp->window), 8);
	KUNIT_EXPECT_EQ(test, qp->window.unasked, 0);
	KUNIT_EXPECT_NULL(test, qp->req.pack.skb);
}

/* In a long one, each thirty-second asks, as if they went one by one. */
static void srn_requester_pack_asks_test(struct kunit *test)
{
	struct srn_pack_cut cut;
	bool packed;
	u32 i = 0;

	send_packed(test, MANY, 8, NULL);
	KUNIT_ASSERT_EQ(test, next_skb(test, &cut, &packed), MANY);
	do {
		i++;
		KUNIT_EXPECT_EQ(test, cut.msg.flags, i == 32 || i == MANY ? SRN_PKT_ACKREQ : 0);
	} while (srn_pack_cut_next(&cut));
	EXPECT_SENT(test, -MANY);
}

static void a_fence(struct srn_qp *qp)
{
	srn_sq_wqe(&qp->sq, 3)->flags |= IB_SEND_FENCE;
}

static void a_read(struct srn_qp *qp)
{
	srn_sq_wqe(&qp->sq, 3)->opcode = IB_WR_RDMA_READ;
	qp->max_rd_atomic = 1;
}

static void a_little_window(struct srn_qp *qp)
{
	qp->window.cwnd = 3;
}

/* Of those before it none is done. */
static void many_begun(struct srn_qp *qp)
{
	qp->sq.una -= SRN_WINDOW_WQES - 3;
}

static void a_doubt(struct srn_qp *qp)
{
	qp->window.doubt = SRN_RUN_DOUBT;
}

static void an_end_of_doubt(struct srn_qp *qp)
{
	qp->window.doubt = 2;
}

static void stopped(struct srn_qp *qp)
{
	WRITE_ONCE(srn_run_stopped, true);
}

static void no_features(struct srn_qp *qp)
{
	way->hw_enc_features = 0;
}

static void few_segments(struct srn_qp *qp)
{
	way->gso_max_segs = 3;
}

/* There is room for more than three, as these are shorter than the first. */
static void few_segments_of_less(struct srn_qp *qp)
{
	u32 i;

	few_segments(qp);
	for (i = 1; i < 7; i++)
		srn_sq_wqe(&qp->sq, i)->length = 0;
}

/* Who begins it asks for room for those behind it. */
static void a_short_one_first(struct srn_qp *qp)
{
	srn_sq_wqe(&qp->sq, 0)->length = 8;
}

static void short_datagrams(struct srn_qp *qp)
{
	way->gso_ipv4_max_size = SRN_PACK_BYTES;
}

static void probing(struct srn_qp *qp)
{
	qp->retry.probing = true;
}

/* Nothing but what is begun goes. */
static void sqd(struct srn_qp *qp)
{
	qp->state = IB_QPS_SQD;
}

static const struct row rows[] = {
	{ "all that fit", 64, 8, NULL, { -64 } },
	{ "one alone", 1, 8, NULL, { 1 } },
	{ "two", 2, 8, NULL, { -2 } },
	{ "of no bytes", 5, 0, NULL, { -5 } },
	{ "as long as may be", 7, 512, NULL, { -3, -3, 1 } },
	{ "longer", 2, 513, NULL, { 2 } },
	{ "longer than fits", 9, 256, NULL, { -7, -2 } },
	{ "a fence ends it", 6, 8, a_fence, { -3, -3 } },
	{ "a READ ends it", 6, 8, a_read, { -3, 1, -2 } },
	{ "what is long ends it", 6, 8, a_long_one, { -3, 2, -2 } },
	{ "the window ends it", 6, 8, a_little_window, { -3 } },
	{ "no more than may have begun", 6, 8, many_begun, { -3 } },
	{ "none after a loss", 4, 8, a_doubt, { 4 } },
	{ "some later", 6, 8, an_end_of_doubt, { 2, -4 } },
	{ "none where tests see packets", 4, 8, stopped, { 4 } },
	{ "none where they would be cut", 4, 8, no_features, { 4 } },
	{ "no more than the netdev takes", 7, 8, few_segments, { -3, -3, 1 } },
	{ "nor of less", 7, 64, few_segments_of_less, { -3, -3, 1 } },
	{ "longer ones behind a short one", 6, 64, a_short_one_first, { -6 } },
	{ "none where they are too long", 4, 8, short_datagrams, { 4 } },
	{ "a probe goes by itself", 4, 8, probing, { 1 } },
	{ "nothing", 4, 8, sqd, { 0 } },
};

KUNIT_ARRAY_PARAM_DESC(row, rows, desc);

static void srn_requester_pack_rows_test(struct kunit *test)
{
	expect_row(test, test->param_value);
}

/* What goes again goes as packets. */
static void srn_requester_pack_again_test(struct kunit *test)
{
	struct srn_qp *qp;

	migrate_disable();
	qp = new_packer(test, 5, 8);
	qp->sq.tail = 3;
	run(qp);
	EXPECT_SENT(test, -3);
	srn_window_seek(&qp->window, (struct srn_cursor){ .psn = PSN });
	qp->sq.tail = 5;
	run(qp);
	migrate_enable();
	EXPECT_SENT(test, 3, -2);
	KUNIT_EXPECT_EQ(test, count(qp, SRN_CNT_RETRANS), 3);
}

/* One that can't be read is not in it, nor what is behind it. */
static void srn_requester_pack_bad_key_test(struct kunit *test)
{
	struct srn_pack_cut cut;
	struct srn_wqe *wqe;
	struct srn_qp *qp;
	bool packed;

	migrate_disable();
	qp = new_packer(test, 5, 3);
	wqe = srn_sq_wqe(&qp->sq, 2);
	wqe->flags = 0;
	wqe->num_sge = 1;
	wqe->sge[0] = (struct ib_sge){ .addr = VA, .length = 3, .lkey = 0x1234 };
	run(qp);
	migrate_enable();
	KUNIT_EXPECT_EQ(test, next_skb(test, &cut, &packed), 2);
	KUNIT_EXPECT_TRUE(test, packed);
	/* Somebody is asked what has become of those that are. */
	KUNIT_EXPECT_EQ(test, qp->window.unasked, 0);
	EXPECT_SENT(test, -2, 1);
	KUNIT_EXPECT_EQ(test, wqe->status, SRN_V_LOC_PROT);
}

/* Each has its time at the pace, the same as by itself; and what is not to go yet does not. */
static u32 paced(struct kunit *test, bool whole)
{
	struct srn_qp *qp = new_packer(test, MANY, 200);

	srn_pace_limit(&qp->pace, SRN_PACE_USER, 100);	/* two packets of the MTU at once, and no more soon */
	WRITE_ONCE(srn_run_stopped, !whole);
	run(qp);
	WRITE_ONCE(srn_run_stopped, false);
	KUNIT_EXPECT_EQ(test, !!count(qp, SRN_CNT_SENT_RUNS), whole);
	KUNIT_EXPECT_TRUE(test, srn_pace_is_closed(&qp->pace));
	KUNIT_EXPECT_EQ(test, qp->window.unasked, 0);
	KUNIT_EXPECT_LT(test, count(qp, SRN_CNT_SENT_PKTS), MANY);
	__skb_queue_purge(&sent);
	return qp->pace.sent;
}

static void srn_requester_pack_pace_test(struct kunit *test)
{
	u32 whole, single;

	migrate_disable();
	whole = paced(test, true);
	single = paced(test, false);
	migrate_enable();
	KUNIT_EXPECT_EQ(test, whole, single);
}

/* One that asks for credits is the last. */
static void srn_requester_pack_credits_test(struct kunit *test)
{
	struct srn_qp *qp;
	u32 i;

	migrate_disable();
	qp = new_packer(test, 6, 8);
	for (i = 0; i < 6; i++)
		srn_sq_wqe(&qp->sq, i)->opcode = IB_WR_SEND;
	srn_credit_start(&qp->credit, true);
	srn_credit_heard(&qp->credit, srn_credit_code(3), 0, PSN);
	run(qp);
	migrate_enable();
	KUNIT_EXPECT_EQ(test, srn_window_inflight(&qp->window), 4);
	KUNIT_EXPECT_EQ(test, count(qp, SRN_CNT_LIMITED), 1);
	KUNIT_EXPECT_EQ(test, qp->window.unasked, 0);
	EXPECT_SENT(test, -4);
}

static struct srn_score *give_score(struct kunit *test, u32 una)
{
	struct srn_score *score = kunit_kzalloc(test, sizeof(*score), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, score);
	srn_score_start(score, una);
	score->owed = 10;
	return score;
}

/* A scoreboard, of requests or of answers, counts each as it does a packet. */
static void srn_requester_pack_owed_test(struct kunit *test)
{
	struct srn_qp *qp;
	u32 i;

	for (i = 0; i < 2; i++) {
		struct srn_score *score = give_score(test, PSN);

		migrate_disable();
		qp = new_packer(test, 6, 8);
		*(i ? &qp->gaps : &qp->score) = score;
		run(qp);
		qp->score = NULL;
		qp->gaps = NULL;
		migrate_enable();
		KUNIT_EXPECT_EQ(test, srn_window_inflight(&qp->window), 6);
		KUNIT_EXPECT_EQ(test, score->owed, 4);
		EXPECT_SENT(test, -6);
	}
}

static struct kunit_case srn_requester_pack_cases[] = {
	KUNIT_CASE(srn_requester_pack_list_test),
	KUNIT_CASE(srn_requester_pack_asks_test),
	KUNIT_CASE_PARAM(srn_requester_pack_rows_test, row_gen_params),
	KUNIT_CASE(srn_requester_pack_again_test),
	KUNIT_CASE(srn_requester_pack_bad_key_test),
	KUNIT_CASE(srn_requester_pack_pace_test),
	KUNIT_CASE(srn_requester_pack_credits_test),
	KUNIT_CASE(srn_requester_pack_owed_test),
	{}
};

static struct kunit_suite srn_requester_pack_suite = {
	.name = "srn_requester_pack",
	.test_cases = srn_requester_pack_cases,
};

kunit_test_suite(srn_requester_pack_suite);
