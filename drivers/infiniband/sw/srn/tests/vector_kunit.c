// SPDX-License-Identifier: GPL-2.0-only
/* Which CPUs are completion vectors. */
#include "../vector.h"

#include <kunit/test.h>
#include <linux/bitmap.h>

#define CPUS	200

struct pick_row {
	const char *desc;
	/* From and so many. */
	unsigned int usable[2], near[2];
	u32 num;
	int first, last;	/* -1: any CPU */
};

static const struct pick_row pick_rows[] = {
	{ "one", { 0, 1 }, {}, 1, 0, 0 },
	{ "all", { 0, 4 }, {}, 4, 0, 3 },
	{ "others are isolated", { 2, 3 }, { 0, 2 }, 3, 2, 4 },
	{ "all are isolated", {}, { 0, 8 }, 1, -1, -1 },
	{ "as many as may be", { 0, 64 }, { 32, 32 }, 64, 0, 63 },
	{ "too many, of one node", { 0, CPUS }, {}, 64, 0, 63 },
	{ "too many near", { 0, CPUS }, { 100, 100 }, 64, 100, 163 },
	{ "too many, some near", { 0, CPUS }, { 100, 60 }, 64, 0, 159 },
	{ "as many near as may be", { 0, CPUS }, { 100, 64 }, 64, 100, 163 },
};

KUNIT_ARRAY_PARAM_DESC(pick, pick_rows, desc);

static void srn_vectors_pick_test(struct kunit *test)
{
	const struct pick_row *row = test->param_value;
	struct srn_vectors v = { .num = 7 };
	DECLARE_BITMAP(usable, CPUS) = {};
	DECLARE_BITMAP(near, CPUS) = {};
	unsigned int i;

	bitmap_set(usable, row->usable[0], row->usable[1]);
	bitmap_set(near, row->near[0], row->near[1]);
	srn_vectors_pick(&v, usable, near, CPUS);
	KUNIT_ASSERT_EQ(test, v.num, row->num);
	KUNIT_EXPECT_EQ(test, v.all[0].cpu_1, row->first + 1);
	KUNIT_EXPECT_EQ(test, v.all[v.num - 1].cpu_1, row->last + 1);
	for (i = 1; i < v.num; i++)
		KUNIT_EXPECT_GT(test, v.all[i].cpu_1, v.all[i - 1].cpu_1);
}

/* Who has no choice has made none. */
static void srn_vectors_at_test(struct kunit *test)
{
	struct srn_vectors v = { .num = 2, .all = { { 5 }, { 8 }, { 9 } } };

	KUNIT_EXPECT_EQ(test, srn_vectors_at(&v, 0).cpu_1, 5);
	KUNIT_EXPECT_EQ(test, srn_vectors_at(&v, 1).cpu_1, 8);
	KUNIT_EXPECT_EQ(test, srn_vectors_at(&v, 2).cpu_1, 0);
	v.num = 1;
	KUNIT_EXPECT_EQ(test, srn_vectors_at(&v, 0).cpu_1, 0);
}

static struct kunit_case vector_cases[] = {
	KUNIT_CASE_PARAM(srn_vectors_pick_test, pick_gen_params),
	KUNIT_CASE(srn_vectors_at_test),
	{}
};

static struct kunit_suite vector_suite = {
	.name = "srn_vector",
	.test_cases = vector_cases,
};

kunit_test_suite(vector_suite);
