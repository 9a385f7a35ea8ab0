// SPDX-License-Identifier: GPL-2.0-only
/* What an ACK tells of receives, where a program may write what it likes. */
#include "../credit.h"
#include "../qp.h"
#include "../rq.h"
#include "../wire.h"
#include "fake.h"

#include <kunit/test.h>
#include <linux/limits.h>

#define ENTRIES	16

static struct srn_qp *new_qp(struct kunit *test)
{
	struct srn_qp *qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, qp);
	qp->page = fake_page(test);
	qp->rq.entries = ENTRIES;
	return qp;
}

struct tail_row {
	const char *desc;
	u32 head, tail;
	bool open;
	u32 receives;
};

static const struct tail_row tail_rows[] = {
	{ "over the end of the index", U32_MAX - 2, 5, false, 8 },
	{ "none", 7, 7, false, 0 },
	{ "one in use", 7, 7, true, 1 },
	{ "all", 7, 7 + ENTRIES, false, ENTRIES },
	{ "garbage: one too many", 7, 8 + ENTRIES, false, 0 },
	{ "garbage: behind the head", 7, 6, false, 0 },
	{ "garbage: far away, one in use", 7, 0x80000007, true, 1 },
};

KUNIT_ARRAY_PARAM_DESC(tail, tail_rows, desc);

/* What can't be is no receive: who believed it would send what finds none, or wait for a receive
 * that is there when it is looked at.
 */
static void srn_rq_credits_of_tail_test(struct kunit *test)
{
	const struct tail_row *row = test->param_value;
	struct srn_qp *qp = new_qp(test);
	u8 syndrome;

	qp->rq.head = row->head;
	qp->rq.open = row->open;
	qp->page->rq_tail = row->tail;
	syndrome = srn_rq_syndrome(qp);
	KUNIT_EXPECT_EQ(test, syndrome, srn_credit_code(row->receives));
	KUNIT_EXPECT_NE(test, syndrome, SRN_SYN_ACK_UNLIMITED);
	/* A kernel user's is not the page's. */
	qp->who.kernel = true;
	qp->rq.tail = row->head;
	KUNIT_EXPECT_EQ(test, srn_rq_syndrome(qp), srn_credit_code(row->open));
}

/* Of a SRQ, which others take from, no credits are given, whatever is in the QP's own page; and
 * who has neither receives nothing.
 */
static void srn_rq_credits_of_srq_test(struct kunit *test)
{
	struct srn_srq *srq = kunit_kzalloc(test, sizeof(*srq), GFP_KERNEL);
	struct srn_qp *qp = new_qp(test);

	KUNIT_ASSERT_NOT_NULL(test, srq);
	qp->rq.entries = 0;
	qp->page->rq_tail = 4;
	KUNIT_EXPECT_EQ(test, srn_rq_syndrome(qp), srn_credit_code(0));
	qp->srq = srq;
	KUNIT_EXPECT_EQ(test, srn_rq_syndrome(qp), 0x1f);
	qp->rq.open = true;
	KUNIT_EXPECT_EQ(test, srn_rq_syndrome(qp), 0x1f);
}

/* Of either queue, and not of the one that the QP does not receive by. */
static void srn_rq_is_empty_test(struct kunit *test)
{
	struct srn_srq *srq = kunit_kzalloc(test, sizeof(*srq), GFP_KERNEL);
	struct srn_qp *qp = new_qp(test);

	KUNIT_ASSERT_NOT_NULL(test, srq);
	spin_lock_init(&srq->lock);
	srq->page = fake_page(test);
	srq->head = 7;
	srq->page->tail = 7;
	qp->rq.head = 3;
	qp->page->rq_tail = 3;
	KUNIT_EXPECT_TRUE(test, srn_rq_is_empty(qp));
	qp->page->rq_tail = 4;
	KUNIT_EXPECT_FALSE(test, srn_rq_is_empty(qp));
	qp->srq = srq;
	KUNIT_EXPECT_TRUE(test, srn_rq_is_empty(qp));
	srq->page->tail = 8;
	KUNIT_EXPECT_FALSE(test, srn_rq_is_empty(qp));
}

static struct kunit_case srn_rq_cases[] = {
	KUNIT_CASE_PARAM(srn_rq_credits_of_tail_test, tail_gen_params),
	KUNIT_CASE(srn_rq_credits_of_srq_test),
	KUNIT_CASE(srn_rq_is_empty_test),
	{}
};

static struct kunit_suite srn_rq_suite = {
	.name = "srn_rq",
	.test_cases = srn_rq_cases,
};

kunit_test_suite(srn_rq_suite);
