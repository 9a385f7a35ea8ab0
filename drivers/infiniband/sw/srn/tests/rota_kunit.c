// SPDX-License-Identifier: GPL-2.0-only
/* Who is given which place, and when it is over. */
#include "../rota.h"

#include <kunit/test.h>

#define MANY	(3 * SRN_ROTA_PLACES)

static struct {
	struct srn_rota rota;
	struct srn_shift all[MANY];
} r;

static void begin(void)
{
	memset(&r, 0, sizeof(r));
	srn_rota_init(&r.rota);
}

static void take(struct kunit *test, u32 from, u32 num, bool on)
{
	u32 i;

	for (i = from; i < from + num; i++)
		KUNIT_EXPECT_EQ(test, srn_rota_ask(&r.rota, &r.all[i]), on);
}

/* As many as there are places for; who asks twice has one, or waits once. */
static void srn_rota_places_test(struct kunit *test)
{
	begin();
	take(test, 0, SRN_ROTA_PLACES, true);
	KUNIT_EXPECT_FALSE(test, srn_rota_is_wanted(&r.rota));
	take(test, 0, SRN_ROTA_PLACES, true);
	KUNIT_EXPECT_EQ(test, r.rota.taken, SRN_ROTA_PLACES);
	take(test, SRN_ROTA_PLACES, MANY - SRN_ROTA_PLACES, false);
	take(test, SRN_ROTA_PLACES, MANY - SRN_ROTA_PLACES, false);
	KUNIT_EXPECT_EQ(test, r.rota.num_waiting, MANY - SRN_ROTA_PLACES);
	KUNIT_EXPECT_TRUE(test, srn_rota_is_wanted(&r.rota));
}

/* Who waits longest is next, and who gives its place up and wants one again stands behind all of them. */
static void srn_rota_order_test(struct kunit *test)
{
	u32 i;

	begin();
	take(test, 0, SRN_ROTA_PLACES, true);
	take(test, SRN_ROTA_PLACES, MANY - SRN_ROTA_PLACES, false);
	for (i = 0; i < 10 * MANY; i++) {
		struct srn_shift *from = &r.all[i % MANY];

		KUNIT_EXPECT_TRUE(test, from->on);
		KUNIT_EXPECT_PTR_EQ(test, srn_rota_yield(&r.rota, from),
				    &r.all[(i + SRN_ROTA_PLACES) % MANY]);
		KUNIT_EXPECT_FALSE(test, from->on);
		KUNIT_EXPECT_FALSE(test, srn_rota_ask(&r.rota, from));
		KUNIT_EXPECT_EQ(test, r.rota.taken, SRN_ROTA_PLACES);
	}
}

/* A new shift begins with nothing sent. */
static void srn_rota_begins_test(struct kunit *test)
{
	begin();
	take(test, 0, SRN_ROTA_PLACES, true);
	KUNIT_EXPECT_TRUE(test, r.all[0].begins);
	r.all[SRN_ROTA_PLACES].sent = 1000;
	take(test, SRN_ROTA_PLACES, 1, false);
	KUNIT_EXPECT_FALSE(test, r.all[SRN_ROTA_PLACES].begins);
	srn_rota_yield(&r.rota, &r.all[0]);
	KUNIT_EXPECT_FALSE(test, r.all[0].begins);
	KUNIT_EXPECT_TRUE(test, r.all[SRN_ROTA_PLACES].begins);
	KUNIT_EXPECT_EQ(test, r.all[SRN_ROTA_PLACES].sent, 0u);
}

/* A place that nobody wants is free; who waits and goes is not given one. */
static void srn_rota_leave_test(struct kunit *test)
{
	struct srn_shift *first = &r.all[SRN_ROTA_PLACES], *second = first + 1;

	begin();
	take(test, 0, SRN_ROTA_PLACES, true);
	take(test, SRN_ROTA_PLACES, 2, false);
	KUNIT_EXPECT_NULL(test, srn_rota_yield(&r.rota, first));
	KUNIT_EXPECT_FALSE(test, first->waits);
	KUNIT_EXPECT_PTR_EQ(test, srn_rota_yield(&r.rota, &r.all[0]), second);
	KUNIT_EXPECT_FALSE(test, srn_rota_is_wanted(&r.rota));
	KUNIT_EXPECT_NULL(test, srn_rota_yield(&r.rota, &r.all[1]));
	KUNIT_EXPECT_EQ(test, r.rota.taken, SRN_ROTA_PLACES - 1);
	/* Who has none gives none. */
	KUNIT_EXPECT_NULL(test, srn_rota_yield(&r.rota, &r.all[1]));
	KUNIT_EXPECT_EQ(test, r.rota.taken, SRN_ROTA_PLACES - 1);
	KUNIT_EXPECT_TRUE(test, srn_rota_ask(&r.rota, first));
}

struct over_row {
	const char *desc;
	u32 sent;
	u32 more;
	u32 out;
	bool over;
};

static const struct over_row over_rows[] = {
	{ "all there is", U32_MAX, U32_MAX, 1024, true },
	{ "nothing", 0, 0, 0, false },
	{ "one byte less", SRN_ROTA_QUOTA - 1, 0, 0, false },
	{ "all", SRN_ROTA_QUOTA, 0, 0, true },
	{ "all, with what leaves now", SRN_ROTA_QUOTA - 10, 10, 1024, true },
	{ "not so often", SRN_ROTA_QUOTA, 0, SRN_ROTA_QUOTA, false },
	{ "as often", SRN_ROTA_QUOTA * SRN_ROTA_ROUNDS, 0, SRN_ROTA_QUOTA, true },
	{ "as often, less one byte", SRN_ROTA_QUOTA * SRN_ROTA_ROUNDS - 1, 0, SRN_ROTA_QUOTA, false },
	{ "what may be out is very much", U32_MAX, 0, U32_MAX, false },
};

KUNIT_ARRAY_PARAM_DESC(over, over_rows, desc);

static void srn_rota_over_test(struct kunit *test)
{
	const struct over_row *row = test->param_value;
	struct srn_shift shift = { .on = true, .sent = row->sent };

	KUNIT_EXPECT_EQ(test, srn_rota_is_over(&shift, row->more, row->out), row->over);
}

/* How long others wait is counted from when somebody does, and anew for who is given a place. */
static void srn_rota_kept_test(struct kunit *test)
{
	struct srn_shift *one = &r.all[0], *next = &r.all[SRN_ROTA_PLACES];

	begin();
	take(test, 0, SRN_ROTA_PLACES, true);
	KUNIT_EXPECT_EQ(test, srn_rota_kept_ns(&r.rota, one, 1000), 0ull);
	take(test, SRN_ROTA_PLACES, 2, false);
	KUNIT_EXPECT_EQ(test, srn_rota_kept_ns(&r.rota, one, 5000), 0ull);
	KUNIT_EXPECT_EQ(test, srn_rota_kept_ns(&r.rota, one, 5700), 700ull);
	next->due = true;
	next->wanted_ns = 5000;
	srn_rota_yield(&r.rota, one);
	KUNIT_EXPECT_FALSE(test, next->due);
	KUNIT_EXPECT_EQ(test, srn_rota_kept_ns(&r.rota, next, 6000), 0ull);
	KUNIT_EXPECT_EQ(test, srn_rota_kept_ns(&r.rota, next, 6100), 100ull);
	srn_rota_yield(&r.rota, &r.all[1]);
	KUNIT_EXPECT_EQ(test, srn_rota_kept_ns(&r.rota, next, 6200), 0ull);
}

/* And how long they may have to, by how long answers take. */
static void srn_rota_due_test(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, srn_rota_due_ns(NSEC_PER_MSEC), 1ull * NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, srn_rota_due_ns(200 * NSEC_PER_MSEC), 1600ull * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, srn_rota_due_ns(0), 2ull * NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, srn_rota_last_ns(200 * NSEC_PER_MSEC), 3200ull * NSEC_PER_MSEC);
}

static struct kunit_case srn_rota_cases[] = {
	KUNIT_CASE(srn_rota_places_test),
	KUNIT_CASE(srn_rota_order_test),
	KUNIT_CASE(srn_rota_begins_test),
	KUNIT_CASE(srn_rota_leave_test),
	KUNIT_CASE_PARAM(srn_rota_over_test, over_gen_params),
	KUNIT_CASE(srn_rota_kept_test),
	KUNIT_CASE(srn_rota_due_test),
	{}
};

static struct kunit_suite srn_rota_suite = {
	.name = "srn_rota",
	.test_cases = srn_rota_cases,
};

kunit_test_suite(srn_rota_suite);
