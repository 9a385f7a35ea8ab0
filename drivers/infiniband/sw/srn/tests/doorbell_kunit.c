// SPDX-License-Identifier: GPL-2.0-only
/* Which QP a bit of a program's bitmap rings: the first ones have a table of their own. */
#include "../doorbell.h"
#include "../qpn.h"
#include "fake_round.h"

#include <kunit/test.h>

/* Two more than have that. */
#define QPS	(SRN_DOORBELL_FIRST + 2)

struct rung {
	struct srn_doorbell *db;
	struct srn_qp_ref *refs[QPS];
};

static struct srn_qp *last;

static enum srn_heard note(struct srn_qp *qp)
{
	last = qp;
	return SRN_HEARD;
}

static struct srn_qp *rings(struct srn_doorbell *db, unsigned long index)
{
	enum srn_heard heard;

	last = NULL;
	heard = srn_doorbell_ring(db, index, note);
	return heard == SRN_HEARD ? last : NULL;
}

static void end(void *data)
{
	struct rung *r = data;
	int i;

	for (i = 0; i < QPS; i++) {
		if (!r->refs[i])
			continue;
		srn_doorbell_del(r->db, i);
		srn_qp_ref_unpublish(r->refs[i]);
		srn_qp_ref_destroy(r->refs[i]);
	}
	srn_doorbell_put(r->db);
}

static struct rung *new_rung(struct kunit *test)
{
	struct rung *r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);
	struct srn_qp_ref *ref;
	u32 index;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, r);
	r->db = srn_doorbell_create(NULL);
	KUNIT_ASSERT_NOT_NULL(test, r->db);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, end, r));
	for (i = 0; i < QPS; i++) {
		ref = srn_qp_ref_create(&new_owner(test)->qp, 0);
		KUNIT_ASSERT_FALSE(test, IS_ERR(ref));
		KUNIT_EXPECT_EQ(test, srn_doorbell_add(r->db, ref, &index), 0);
		KUNIT_EXPECT_EQ(test, index, i);
		KUNIT_EXPECT_NULL(test, rings(r->db, i));
		srn_qp_ref_publish(ref);
		r->refs[i] = ref;
	}
	return r;
}

/* Each its own, and none what is behind them. */
static void srn_doorbell_each_test(struct kunit *test)
{
	struct rung *r = new_rung(test);
	int i;

	for (i = 0; i < QPS; i++)
		KUNIT_EXPECT_PTR_EQ(test, rings(r->db, i), r->refs[i]->qp);
	KUNIT_EXPECT_NULL(test, rings(r->db, QPS));
	KUNIT_EXPECT_NULL(test, rings(r->db, ULONG_MAX));
}

/* A bit that was given back rings nothing, and then who has it next. */
static void srn_doorbell_again_test(struct kunit *test)
{
	static const u32 bits[] = { 3, QPS - 1 };
	struct rung *r = new_rung(test);
	struct srn_qp_ref *next;
	u32 index;
	int i;

	for (i = 0; i < ARRAY_SIZE(bits); i++) {
		srn_doorbell_del(r->db, bits[i]);
		KUNIT_EXPECT_NULL(test, rings(r->db, bits[i]));
		next = r->refs[i];
		KUNIT_EXPECT_EQ(test, srn_doorbell_add(r->db, next, &index), 0);
		KUNIT_EXPECT_EQ(test, index, bits[i]);
		KUNIT_EXPECT_PTR_EQ(test, rings(r->db, bits[i]), next->qp);
	}
}

static struct kunit_case srn_doorbell_cases[] = {
	KUNIT_CASE(srn_doorbell_each_test),
	KUNIT_CASE(srn_doorbell_again_test),
	{}
};

static struct kunit_suite srn_doorbell_suite = {
	.name = "srn_doorbell",
	.test_cases = srn_doorbell_cases,
};

kunit_test_suite(srn_doorbell_suite);
