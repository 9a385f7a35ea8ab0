// SPDX-License-Identifier: GPL-2.0-only
/* Alarms: each when it is due, none early, one timer for all. */
#include "../clock.h"
#include "../turn.h"

#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/ktime.h>

#define TICK	(2 * NSEC_PER_MSEC)

struct bell {
	struct srn_clock clock;
	struct srn_turn turn;
	unsigned int rang;		/* BIT(alarm) */
	ktime_t when[SRN_ALARMS];
	unsigned int looks;		/* rounds that the timer started */
	unsigned int inside;		/* those that ran in the timer's own time */
};

static enum srn_left look(struct srn_turn *turn, unsigned int bits)
{
	struct bell *b = container_of(turn, struct bell, turn);
	unsigned int due, i;

	due = bits & SRN_TURN_TIMER ? srn_clock_expired(&b->clock) : 0;
	for (i = 0; i < SRN_ALARMS; i++)
		if (due & BIT(i))
			b->when[i] = ktime_get();
	b->looks++;
	b->inside += !!hrtimer_callback_running(&b->clock.timer);
	WRITE_ONCE(b->rang, b->rang | due);
	return SRN_LEFT_NOTHING;
}

static void stop(void *clock)
{
	srn_clock_stop(clock);
}

static struct bell *new_bell(struct kunit *test)
{
	struct bell *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, b);
	srn_turn_init(&b->turn, look);
	srn_clock_init(&b->clock, &b->turn);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, stop, &b->clock));
	return b;
}

static bool rings(struct bell *b, enum srn_alarm alarm)
{
	int i;

	for (i = 0; i < 1000 && !(READ_ONCE(b->rang) & BIT(alarm)); i++)
		msleep(1);
	return i < 1000;
}

static void srn_clock_each_alarm_test(struct kunit *test)
{
	struct bell *b = new_bell(test);
	ktime_t start = ktime_get();

	srn_clock_set(&b->clock, SRN_ALARM_ACK, 10 * TICK);
	srn_clock_set(&b->clock, SRN_ALARM_RNR, TICK);
	srn_clock_set(&b->clock, SRN_ALARM_ROOM, 5 * TICK);
	KUNIT_EXPECT_TRUE(test, srn_clock_is_set(&b->clock, SRN_ALARM_ACK));
	KUNIT_EXPECT_TRUE(test, rings(b, SRN_ALARM_ACK));
	KUNIT_EXPECT_EQ(test, b->rang,
			BIT(SRN_ALARM_ACK) | BIT(SRN_ALARM_RNR) | BIT(SRN_ALARM_ROOM));
	KUNIT_EXPECT_GE(test, ktime_sub(b->when[SRN_ALARM_RNR], start), TICK);
	KUNIT_EXPECT_GE(test, ktime_sub(b->when[SRN_ALARM_ROOM], start), 5 * TICK);
	KUNIT_EXPECT_GE(test, ktime_sub(b->when[SRN_ALARM_ACK], start), 10 * TICK);
	KUNIT_EXPECT_FALSE(test, srn_clock_is_set(&b->clock, SRN_ALARM_ACK));
}

/* An alarm that moves back costs one look, not a timer for each move. */
static void srn_clock_moved_test(struct kunit *test)
{
	struct bell *b = new_bell(test);
	ktime_t start = ktime_get();
	int i;

	for (i = 0; i < 100; i++)
		srn_clock_set(&b->clock, SRN_ALARM_ACK, 10 * TICK);
	srn_clock_set(&b->clock, SRN_ALARM_ACK, 20 * TICK);
	KUNIT_EXPECT_TRUE(test, rings(b, SRN_ALARM_ACK));
	KUNIT_EXPECT_GE(test, ktime_sub(b->when[SRN_ALARM_ACK], start), 20 * TICK);
	KUNIT_EXPECT_LE(test, b->looks, 3u);
}

static void srn_clock_cleared_test(struct kunit *test)
{
	struct bell *b = new_bell(test);

	/* Alarms belong to the owner of the turn, who may be slow. */
	srn_turn_own(&b->turn);
	srn_clock_set(&b->clock, SRN_ALARM_ACK, TICK);
	srn_clock_set(&b->clock, SRN_ALARM_RNR, 4 * TICK);
	srn_clock_clear(&b->clock, SRN_ALARM_ACK);
	srn_turn_disown(&b->turn);
	KUNIT_EXPECT_TRUE(test, rings(b, SRN_ALARM_RNR));
	KUNIT_EXPECT_EQ(test, b->rang, BIT(SRN_ALARM_RNR));
}

/* Any number of timers may be due at once: what they start runs outside of their pass. */
static void srn_clock_fires_only_test(struct kunit *test)
{
	struct bell *b = new_bell(test);

	srn_clock_set(&b->clock, SRN_ALARM_ACK, TICK);
	KUNIT_EXPECT_TRUE(test, rings(b, SRN_ALARM_ACK));
	KUNIT_EXPECT_EQ(test, b->inside, 0u);
}

/* Of those that are left the first one counts, whichever it is. */
static void srn_clock_first_counts_test(struct kunit *test)
{
	unsigned int first;

	for (first = 0; first < 2; first++) {
		struct bell *b = new_bell(test);

		srn_clock_set(&b->clock, first, 100 * NSEC_PER_SEC);
		srn_clock_set(&b->clock, 1 - first, 200 * NSEC_PER_SEC);
		srn_clock_set(&b->clock, 2, 300 * NSEC_PER_SEC);
		KUNIT_EXPECT_EQ(test, srn_clock_expired(&b->clock), 0);
		KUNIT_EXPECT_EQ(test, b->clock.armed, b->clock.due[first]);
	}
}

static struct kunit_case srn_clock_cases[] = {
	KUNIT_CASE(srn_clock_first_counts_test),
	KUNIT_CASE(srn_clock_each_alarm_test),
	KUNIT_CASE(srn_clock_moved_test),
	KUNIT_CASE(srn_clock_cleared_test),
	KUNIT_CASE(srn_clock_fires_only_test),
	{}
};

static struct kunit_suite srn_clock_suite = {
	.name = "srn_clock",
	.test_cases = srn_clock_cases,
};

kunit_test_suite(srn_clock_suite);
