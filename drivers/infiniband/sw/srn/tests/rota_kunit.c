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

/* Who is not to wait any more is off the list; but who was given a place just then has it. */
static void srn_rota_excuse_test(struct kunit *test)
{
	struct srn_shift *first = &r.all[SRN_ROTA_PLACES], *second = first + 1;

	begin();
	take(test, 0, SRN_ROTA_PLACES, true);
	take(test, SRN_ROTA_PLACES, 2, false);
	srn_rota_yield(&r.rota, &r.all[0]);
	srn_rota_excuse(&r.rota, first);
	KUNIT_EXPECT_TRUE(test, first->on);
	KUNIT_EXPECT_TRUE(test, second->waits);
	srn_rota_excuse(&r.rota, second);
	KUNIT_EXPECT_FALSE(test, second->waits);
	KUNIT_EXPECT_FALSE(test, srn_rota_is_wanted(&r.rota));
	KUNIT_EXPECT_EQ(test, r.rota.taken, SRN_ROTA_PLACES);
}

/* What was left when turns were taken last is not for those that take them anew. */
static void srn_rota_lost_test(struct kunit *test)
{
	const struct srn_crowd full = { .left = 1 };

	begin();
	r.rota.legacy.cwnd = 5;
	srn_rota_lost(&r.rota, SRN_ROTA_LATELY_NS);
	KUNIT_EXPECT_EQ(test, r.rota.legacy.cwnd, 0u);
	r.rota.legacy.cwnd = 5;
	srn_rota_lost(&r.rota, 2 * SRN_ROTA_LATELY_NS - 1);
	KUNIT_EXPECT_EQ(test, r.rota.legacy.cwnd, 5u);
	srn_rota_lost(&r.rota, 3 * SRN_ROTA_LATELY_NS - 1);
	KUNIT_EXPECT_EQ(test, r.rota.legacy.cwnd, 0u);
	KUNIT_EXPECT_TRUE(test, r.rota.needed);
	/* Nor is it older for one who has looked at the clock before. */
	r.rota.legacy.cwnd = 5;
	srn_rota_calm(&r.rota, 3 * SRN_ROTA_LATELY_NS - 2);
	KUNIT_EXPECT_TRUE(test, r.rota.needed);
	srn_rota_lost(&r.rota, 3 * SRN_ROTA_LATELY_NS - 2);
	KUNIT_EXPECT_EQ(test, r.rota.legacy.cwnd, 5u);
	KUNIT_EXPECT_EQ(test, r.rota.lost_ns, 3 * SRN_ROTA_LATELY_NS - 1);
	KUNIT_EXPECT_FALSE(test, srn_rota_is_news(&r.rota, &full, 3 * SRN_ROTA_LATELY_NS - 2));
	KUNIT_EXPECT_TRUE(test, srn_rota_is_news(&r.rota, &full, 3 * SRN_ROTA_LATELY_NS - 1 + SRN_ROTA_TELL_NS));
}

/* Whether answers on a path that is not near are looked at. */
static void srn_rota_may_see_test(struct kunit *test)
{
	const u64 long_ns = 2 * SRN_ROTA_FAR_NS, near_ns = SRN_ROTA_FAR_NS - 1;
	const struct { enum srn_rota_when when; u64 was, least; bool far, needed, may; } rows[] = {
		{ SRN_ROTA_OFF, long_ns, SRN_ROTA_FAR_NS, false, false, false },
		{ SRN_ROTA_OFF, long_ns, near_ns, true, false, true },
		{ SRN_ROTA_OFF, near_ns, near_ns, false, false, false },
		{ SRN_ROTA_LOSSY, long_ns, long_ns, false, false, true },
		{ SRN_ROTA_LOSSY, long_ns, long_ns, true, false, false },
		{ SRN_ROTA_LOSSY, long_ns, long_ns, true, true, true },
		{ SRN_ROTA_LOSSY, long_ns, long_ns - 1, true, false, true },
		{ SRN_ROTA_LOSSY, near_ns, near_ns, false, true, false },
		{ SRN_ROTA_LOSSY, near_ns, near_ns - 1, false, false, true },
		{ SRN_ROTA_ALWAYS, long_ns, long_ns, true, false, true },
		{ SRN_ROTA_ALWAYS, near_ns, near_ns, false, false, false },
	};
	int i;

	begin();
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct srn_crowd crowd = { .least_ns = rows[i].least };

		r.rota.least_ns = rows[i].was;
		r.rota.far = rows[i].far;
		r.rota.needed = rows[i].needed;
		KUNIT_EXPECT_EQ_MSG(test, srn_rota_may_see(&r.rota, &crowd, rows[i].when), rows[i].may, "%d", i);
	}
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
	{ "so much, less one byte", SRN_ROTA_MOST - 1, 0, SRN_ROTA_MOST / 2, false },
	{ "so much", SRN_ROTA_MOST, 0, SRN_ROTA_MOST / 2, true },
	{ "not once", SRN_ROTA_ALL_MOST - 1, 0, SRN_ROTA_ALL_MOST, false },
	{ "once, what may be out is very much", SRN_ROTA_ALL_MOST, 0, SRN_ROTA_ALL_MOST, true },
};

KUNIT_ARRAY_PARAM_DESC(over, over_rows, desc);

static void srn_rota_over_test(struct kunit *test)
{
	const struct over_row *row = test->param_value;
	struct srn_shift shift = { .on = true, .sent = row->sent };

	begin();
	r.rota.least_ns = SRN_ROTA_LONG_NS - 1;
	KUNIT_EXPECT_EQ(test, srn_rota_is_over(&r.rota, &shift, row->more, row->out), row->over);
}

/* Of very many each has less. */
static void srn_rota_over_many_test(struct kunit *test)
{
	struct srn_shift shift = { .on = true, .sent = SRN_ROTA_MOST / 4 - 1 };

	begin();
	r.rota.least_ns = SRN_ROTA_LONG_NS - 1;
	r.rota.num_waiting = 256;
	KUNIT_EXPECT_FALSE(test, srn_rota_is_over(&r.rota, &shift, 0, SRN_ROTA_MOST));
	KUNIT_EXPECT_TRUE(test, srn_rota_is_over(&r.rota, &shift, 1, SRN_ROTA_MOST));
	r.rota.num_waiting = 1 << 20;
	shift.sent = SRN_ROTA_QUOTA - 1;
	KUNIT_EXPECT_FALSE(test, srn_rota_is_over(&r.rota, &shift, 0, SRN_ROTA_MOST));
	KUNIT_EXPECT_TRUE(test, srn_rota_is_over(&r.rota, &shift, 1, SRN_ROTA_MOST));
}

/* Where it takes long until another one's first packet is here a shift is longer. */
static void srn_rota_over_long_test(struct kunit *test)
{
	struct srn_shift shift = { .on = true, .sent = 2 * SRN_ROTA_ROUNDS * SRN_ROTA_QUOTA - 1 };

	begin();
	KUNIT_EXPECT_FALSE(test, srn_rota_is_over(&r.rota, &shift, 0, SRN_ROTA_QUOTA));
	r.rota.least_ns = SRN_ROTA_LONG_NS;
	KUNIT_EXPECT_FALSE(test, srn_rota_is_over(&r.rota, &shift, 0, SRN_ROTA_QUOTA));
	KUNIT_EXPECT_TRUE(test, srn_rota_is_over(&r.rota, &shift, 1, SRN_ROTA_QUOTA));
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
	KUNIT_EXPECT_EQ(test, srn_rota_due_ns(60ull * NSEC_PER_SEC), 4ull * NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, srn_rota_last_ns(200 * NSEC_PER_MSEC), 3200ull * NSEC_PER_MSEC);
}

#define LEAST	(14 * NSEC_PER_MSEC)
#define SEC	((u64)NSEC_PER_SEC)

/* Answers that took so long come from @now_ns on, in @within_ns, where so fast ones are known; something was lost by a
 * queue, or not.
 */
static void come_within(struct srn_rota *rota, int num, u64 took_ns, u64 now_ns, u64 within_ns, bool lost)
{
	struct srn_crowd crowd = { .least_ns = LEAST, .delay_ns = took_ns - LEAST, .left = lost };
	int i;

	for (i = 0; i < num; i++) {
		crowd.now_ns = now_ns + (num > 1 ? within_ns / (num - 1) * i : 0);
		if (i == num - 1 && num > 1)
			crowd.now_ns = now_ns + within_ns;
		srn_rota_look(rota, &crowd);
	}
}

/* Likewise, at @now_ns. */
static void come(struct srn_rota *rota, int num, u64 took_ns, u64 now_ns, bool lost)
{
	come_within(rota, num, took_ns, now_ns, 0, lost);
}

/* Few are those that have a place, for some time, and it is known to who looks: not who is there. */
static void srn_rota_few_test(struct kunit *test)
{
	struct srn_shift *one = &r.all[0];
	const u64 some = SRN_ROTA_FEW_NS;

	begin();
	take(test, 0, SRN_ROTA_FEW, true);
	KUNIT_EXPECT_FALSE(test, srn_rota_has_few(&r.rota, one, SEC));
	KUNIT_EXPECT_FALSE(test, srn_rota_has_few(&r.rota, one, SEC + some - 1));
	KUNIT_EXPECT_TRUE(test, srn_rota_has_few(&r.rota, one, SEC + some));
	take(test, SRN_ROTA_FEW, 1, true);
	KUNIT_EXPECT_FALSE(test, srn_rota_has_few(&r.rota, one, SEC + 2 * some));
	srn_rota_yield(&r.rota, &r.all[SRN_ROTA_FEW]);
	KUNIT_EXPECT_FALSE(test, srn_rota_has_few(&r.rota, one, SEC + 3 * some - 1));
	KUNIT_EXPECT_TRUE(test, srn_rota_has_few(&r.rota, one, SEC + 3 * some));
	/* More of them in between, when it did not look. */
	take(test, SRN_ROTA_FEW, 1, true);
	srn_rota_yield(&r.rota, &r.all[SRN_ROTA_FEW]);
	KUNIT_EXPECT_FALSE(test, srn_rota_has_few(&r.rota, one, SEC + 4 * some));
	KUNIT_EXPECT_TRUE(test, srn_rota_has_few(&r.rota, one, SEC + 5 * some));
}

/* As many as there are places say that a path is far, and so do fewer after some time. */
static void srn_rota_far_test(struct kunit *test)
{
	begin();
	KUNIT_EXPECT_FALSE(test, srn_rota_is_near(&r.rota));
	come(&r.rota, SRN_ROTA_PLACES - 1, LEAST, SEC, false);
	KUNIT_EXPECT_FALSE(test, srn_rota_is_far(&r.rota));
	come(&r.rota, 1, LEAST, SEC, false);
	KUNIT_EXPECT_TRUE(test, srn_rota_is_far(&r.rota));
	KUNIT_EXPECT_FALSE(test, srn_rota_is_near(&r.rota));
	srn_rota_init(&r.rota);
	come(&r.rota, 1, LEAST, SEC, false);
	come(&r.rota, 1, LEAST, SEC + 2 * LEAST, false);
	KUNIT_EXPECT_FALSE(test, srn_rota_is_far(&r.rota));
	come(&r.rota, 1, LEAST, SEC + 3 * LEAST, false);
	KUNIT_EXPECT_TRUE(test, srn_rota_is_far(&r.rota));
}

/* Of what was ever answered soon nobody says that it is far, whatever comes later. */
static void srn_rota_near_test(struct kunit *test)
{
	const struct srn_crowd soon = { .least_ns = SRN_ROTA_FAR_NS - 1, .now_ns = SEC };

	begin();
	come(&r.rota, SRN_ROTA_PLACES, LEAST, SEC, false);
	srn_rota_look(&r.rota, &soon);
	KUNIT_EXPECT_FALSE(test, srn_rota_is_far(&r.rota));
	KUNIT_EXPECT_TRUE(test, srn_rota_is_near(&r.rota));
	come(&r.rota, 100, LEAST, 100 * SEC, false);
	KUNIT_EXPECT_FALSE(test, srn_rota_is_far(&r.rota));
}

/* If a quarter of the first ones stood in a queue for as long as the path takes, it may be near, for some time. */
static void srn_rota_queue_first_test(struct kunit *test)
{
	begin();
	come(&r.rota, SRN_ROTA_PLACES - SRN_ROTA_PLACES / 4, LEAST, SEC, false);
	come(&r.rota, SRN_ROTA_PLACES / 4, 2 * LEAST, SEC, false);
	KUNIT_EXPECT_FALSE(test, srn_rota_is_far(&r.rota));
	come(&r.rota, 1, LEAST, 32 * SEC, false);
	KUNIT_EXPECT_FALSE(test, srn_rota_is_far(&r.rota));
	come(&r.rota, 1, LEAST, 33 * SEC, false);
	KUNIT_EXPECT_TRUE(test, srn_rota_is_far(&r.rota));
	srn_rota_init(&r.rota);
	come(&r.rota, SRN_ROTA_PLACES - 3, LEAST, SEC, false);
	come(&r.rota, 3, 2 * LEAST, SEC, false);
	KUNIT_EXPECT_TRUE(test, srn_rota_is_far(&r.rota));
}

/* And longer, while half of them do. */
static void srn_rota_queue_stays_test(struct kunit *test)
{
	begin();
	come(&r.rota, SRN_ROTA_PLACES, LEAST, SEC, false);
	come_within(&r.rota, 32, 2 * LEAST, SEC, 2 * LEAST, true);
	come(&r.rota, 17, LEAST, 31 * SEC, false);
	come_within(&r.rota, 15, 2 * LEAST, 31 * SEC, 2 * LEAST, false);
	come(&r.rota, 16, LEAST, 32 * SEC, false);
	come_within(&r.rota, 16, 2 * LEAST, 32 * SEC, 2 * LEAST, false);
	come(&r.rota, 1, LEAST, 63 * SEC, false);
	KUNIT_EXPECT_FALSE(test, srn_rota_is_far(&r.rota));
	come_within(&r.rota, 31, LEAST, 63 * SEC, 2 * LEAST, false);
	come(&r.rota, 1, LEAST, 64 * SEC + 2 * LEAST, false);
	KUNIT_EXPECT_TRUE(test, srn_rota_is_far(&r.rota));
}

/* A far path may be a queue after all: if all answers stand in it for two round trips, and it loses something. */
static void srn_rota_queue_later_test(struct kunit *test)
{
	begin();
	come(&r.rota, SRN_ROTA_PLACES, LEAST, SEC, false);
	come_within(&r.rota, 32, 2 * LEAST, 2 * SEC, 2 * LEAST, false);
	KUNIT_EXPECT_TRUE(test, srn_rota_is_far(&r.rota));
	come(&r.rota, 1, 2 * LEAST - 1, 2 * SEC, true);
	come_within(&r.rota, 31, 2 * LEAST, 2 * SEC, 2 * LEAST, true);
	KUNIT_EXPECT_TRUE(test, srn_rota_is_far(&r.rota));
	/* However many stand in a burst. */
	come_within(&r.rota, 256, 2 * LEAST, 3 * SEC, 2 * LEAST - 1, true);
	KUNIT_EXPECT_TRUE(test, srn_rota_is_far(&r.rota));
	come(&r.rota, 1, LEAST, 3 * SEC + 2 * LEAST, true);
	KUNIT_EXPECT_TRUE(test, srn_rota_is_far(&r.rota));
	come_within(&r.rota, 32, 2 * LEAST, 4 * SEC, 2 * LEAST, true);
	KUNIT_EXPECT_FALSE(test, srn_rota_is_far(&r.rota));
}

/* Where nobody is answered as soon as it asks again nothing is timed: that is far. Not if somebody ever was. */
static void srn_rota_again_test(struct kunit *test)
{
	int i;

	begin();
	for (i = 0; i < SRN_ROTA_PLACES; i++) {
		KUNIT_EXPECT_FALSE(test, srn_rota_is_far(&r.rota));
		srn_rota_look_again(&r.rota);
	}
	KUNIT_EXPECT_TRUE(test, srn_rota_is_far(&r.rota));
	srn_rota_init(&r.rota);
	come(&r.rota, 1, LEAST, SEC, false);
	for (i = 0; i < 2 * SRN_ROTA_PLACES; i++)
		srn_rota_look_again(&r.rota);
	KUNIT_EXPECT_FALSE(test, srn_rota_is_far(&r.rota));
}

static const struct srn_shift *released;
static bool released_waited;

static void note_released(const struct srn_shift *shift)
{
	released = shift;
	released_waited = shift->waits;
}

/* Those that wait are released in the order in which they came, and are told while they still wait. */
static void srn_rota_release_test(struct kunit *test)
{
	int i;

	begin();
	for (i = 0; i < SRN_ROTA_PLACES + 2; i++)
		srn_rota_ask(&r.rota, &r.all[i]);
	for (i = SRN_ROTA_PLACES; i < SRN_ROTA_PLACES + 2; i++) {
		KUNIT_EXPECT_TRUE(test, srn_rota_release(&r.rota, note_released));
		KUNIT_EXPECT_PTR_EQ(test, released, (const struct srn_shift *)&r.all[i]);
		KUNIT_EXPECT_TRUE(test, released_waited);
		KUNIT_EXPECT_FALSE(test, r.all[i].on || r.all[i].waits);
	}
	KUNIT_EXPECT_FALSE(test, srn_rota_release(&r.rota, note_released));
	KUNIT_EXPECT_FALSE(test, srn_rota_is_wanted(&r.rota));
	KUNIT_EXPECT_EQ(test, r.rota.taken, SRN_ROTA_PLACES);
}

static struct kunit_case srn_rota_cases[] = {
	KUNIT_CASE(srn_rota_places_test),
	KUNIT_CASE(srn_rota_order_test),
	KUNIT_CASE(srn_rota_begins_test),
	KUNIT_CASE(srn_rota_leave_test),
	KUNIT_CASE_PARAM(srn_rota_over_test, over_gen_params),
	KUNIT_CASE(srn_rota_excuse_test),
	KUNIT_CASE(srn_rota_lost_test),
	KUNIT_CASE(srn_rota_may_see_test),
	KUNIT_CASE(srn_rota_over_many_test),
	KUNIT_CASE(srn_rota_over_long_test),
	KUNIT_CASE(srn_rota_kept_test),
	KUNIT_CASE(srn_rota_due_test),
	KUNIT_CASE(srn_rota_few_test),
	KUNIT_CASE(srn_rota_far_test),
	KUNIT_CASE(srn_rota_near_test),
	KUNIT_CASE(srn_rota_queue_first_test),
	KUNIT_CASE(srn_rota_queue_stays_test),
	KUNIT_CASE(srn_rota_queue_later_test),
	KUNIT_CASE(srn_rota_again_test),
	KUNIT_CASE(srn_rota_release_test),
	{}
};

static struct kunit_suite srn_rota_suite = {
	.name = "srn_rota",
	.test_cases = srn_rota_cases,
};

kunit_test_suite(srn_rota_suite);
