// SPDX-License-Identifier: GPL-2.0-only
/* Numbers, and where CPUs found them lately. No QP is looked into: what names it stands for it. */
#include "../lease.h"
#include "../qpn.h"
#include "../wire.h"

#include <kunit/test.h>
#include <linux/bottom_half.h>
#include <linux/cpumask.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>

static void end(void *data)
{
	struct srn_qp_ref *ref = data;

	srn_qp_ref_unpublish(ref);
	srn_qp_ref_destroy(ref);
}

/* As of a QP that is there, until the test ends or says so. */
static struct srn_qp_ref *new_ref(struct kunit *test)
{
	struct srn_qp_ref *ref = srn_qp_ref_create(NULL, 0);

	KUNIT_ASSERT_FALSE(test, IS_ERR(ref));
	srn_qp_ref_publish(ref);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, end, ref));
	return ref;
}

struct look {
	u32 qpn;
	struct srn_qp_ref *found;
};

static void look(void *data)
{
	struct look *l = data;

	l->found = srn_qpn_get(l->qpn);
	if (l->found)
		srn_qp_ref_put(l->found);
}

/* Whether @qpn leads there on each CPU; twice, so that it is looked for in the table and where it was found. */
static bool leads_to(u32 qpn, const struct srn_qp_ref *want)
{
	struct look l = { .qpn = qpn };
	int cpu, i;

	for_each_online_cpu(cpu) {
		for (i = 0; i < 2; i++) {
			if (smp_call_function_single(cpu, look, &l, true) || l.found != want)
				return false;
		}
	}
	return true;
}

/* A number leads to its QP when that is complete, and until it goes. */
static void srn_qpn_found_test(struct kunit *test)
{
	struct srn_qp_ref *ref = srn_qp_ref_create(NULL, 0);
	u32 qpn;

	KUNIT_ASSERT_FALSE(test, IS_ERR(ref));
	qpn = ref->qpn;
	KUNIT_EXPECT_TRUE(test, leads_to(qpn, NULL));
	srn_qp_ref_publish(ref);
	KUNIT_EXPECT_TRUE(test, leads_to(qpn, ref));
	srn_qp_ref_unpublish(ref);
	KUNIT_EXPECT_TRUE(test, leads_to(qpn, NULL));
	srn_qp_ref_destroy(ref);
	/* It is free now: with KASAN it would be seen that somebody still looks at it. */
	kvfree_rcu_barrier();
	KUNIT_EXPECT_TRUE(test, leads_to(qpn, NULL));
}

/* Of one that came to nothing the number is free again. */
static void srn_qpn_cancelled_test(struct kunit *test)
{
	struct srn_qp_ref *ref = srn_qp_ref_create(NULL, 0);
	u32 qpn;

	KUNIT_ASSERT_FALSE(test, IS_ERR(ref));
	qpn = ref->qpn;
	srn_qp_ref_cancel(ref);
	KUNIT_EXPECT_TRUE(test, leads_to(qpn, NULL));
}

/* Who has it keeps it, but nobody else finds it any more: else it might never go. */
static void srn_qpn_held_test(struct kunit *test)
{
	struct srn_qp_ref *ref = srn_qp_ref_create(NULL, 0), *held;
	u32 qpn;

	KUNIT_ASSERT_FALSE(test, IS_ERR(ref));
	qpn = ref->qpn;
	srn_qp_ref_publish(ref);
	KUNIT_EXPECT_TRUE(test, leads_to(qpn, ref));
	held = srn_qpn_get(qpn);
	KUNIT_EXPECT_PTR_EQ(test, held, ref);
	KUNIT_EXPECT_EQ(test, refcount_read(&ref->refs), 2);
	srn_qp_ref_unpublish(ref);
	KUNIT_EXPECT_TRUE(test, leads_to(qpn, NULL));
	KUNIT_EXPECT_EQ(test, refcount_read(&ref->refs), 2);
	if (held)
		srn_qp_ref_put(held);
	KUNIT_EXPECT_EQ(test, refcount_read(&ref->refs), 1);
	srn_qp_ref_destroy(ref);
}

/* The bit that says so is in no number that may be asked for: a packet's that was forged is refused before. */
static void srn_qpn_forged_test(struct kunit *test)
{
	struct srn_qp_ref *ref = srn_qp_ref_create(NULL, 0);
	struct srn_lease lease = { .device = U32_MAX };

	KUNIT_ASSERT_FALSE(test, IS_ERR(ref));
	srn_qp_ref_publish(ref);
	KUNIT_EXPECT_TRUE(test, leads_to(ref->qpn, ref));
	srn_qp_ref_unpublish(ref);
	lease.qpn = ref->qpn;
	KUNIT_EXPECT_GT(test, lease.qpn, SRN_QPN_MASK);
	local_bh_disable();
	KUNIT_EXPECT_NULL(test, srn_lease_get(&lease));
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, refcount_read(&ref->refs), 1);
	srn_qp_ref_destroy(ref);
}

/* Two that share a slot: each number leads to its own, also once the one is gone that was not found there last. */
static void srn_qpn_neighbours_test(struct kunit *test)
{
	struct srn_qp_ref *first = new_ref(test), *last = first;
	u32 qpn = first->qpn;
	int i;

	/* Numbers go on after the last one with the first, and others may take some meanwhile. */
	for (i = 0; i < 4 * SRN_QPN_RECENT && (!i || last->qpn % SRN_QPN_RECENT != qpn % SRN_QPN_RECENT); i++)
		last = new_ref(test);
	KUNIT_ASSERT_EQ(test, qpn % SRN_QPN_RECENT, last->qpn % SRN_QPN_RECENT);
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_TRUE(test, leads_to(qpn, first));
		KUNIT_EXPECT_TRUE(test, leads_to(last->qpn, last));
	}
	kunit_release_action(test, end, first);
	KUNIT_EXPECT_TRUE(test, leads_to(qpn, NULL));
	KUNIT_EXPECT_TRUE(test, leads_to(last->qpn, last));
}

static struct kunit_case srn_qpn_cases[] = {
	KUNIT_CASE(srn_qpn_found_test),
	KUNIT_CASE(srn_qpn_cancelled_test),
	KUNIT_CASE(srn_qpn_held_test),
	KUNIT_CASE(srn_qpn_forged_test),
	KUNIT_CASE(srn_qpn_neighbours_test),
	{}
};

static struct kunit_suite srn_qpn_suite = {
	.name = "srn_qpn",
	.test_cases = srn_qpn_cases,
};

kunit_test_suite(srn_qpn_suite);
