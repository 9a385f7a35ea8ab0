// SPDX-License-Identifier: GPL-2.0-only
/* Alarms: each when it is due, none early, one timer for all. */
#include "../clock.h"
#include "../turn.h"

#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/preempt.h>
#include <linux/sched.h>

#define TICK	(2 * NSEC_PER_MSEC)

/* Looks at a timer that fires, a microsecond apart, and how many are before it is due. */
#define RACES		128
#define RACES_EARLY	16

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
	/* And who ran it, on whichever CPU, has put the turn down: it may go now. */
	for (; i < 1000 && atomic_read(&b->turn.bits); i++)
		msleep(1);
	return i < 1000;
}

static void srn_clock_each_alarm_test(struct kunit *test)
{
	struct bell *b = new_bell(test);
	ktime_t start = ktime_get();

	/* Alarms belong to the owner of the turn, who may be slow. */
	srn_turn_own(&b->turn);
	srn_clock_set(&b->clock, SRN_ALARM_ACK, 10 * TICK);
	srn_clock_set(&b->clock, SRN_ALARM_RNR, TICK);
	srn_clock_set(&b->clock, SRN_ALARM_ROOM, 5 * TICK);
	KUNIT_EXPECT_TRUE(test, srn_clock_is_set(&b->clock, SRN_ALARM_ACK));
	srn_turn_disown(&b->turn);
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

	srn_turn_own(&b->turn);
	for (i = 0; i < 100; i++)
		srn_clock_set(&b->clock, SRN_ALARM_ACK, 10 * TICK);
	srn_clock_set(&b->clock, SRN_ALARM_ACK, 20 * TICK);
	srn_turn_disown(&b->turn);
	KUNIT_EXPECT_TRUE(test, rings(b, SRN_ALARM_ACK));
	KUNIT_EXPECT_GE(test, ktime_sub(b->when[SRN_ALARM_ACK], start), 20 * TICK);
	KUNIT_EXPECT_LE(test, b->looks, 3u);
}

/* Of two that wait by the same alarm the first one counts, whichever asked last. */
static void srn_clock_shared_test(struct kunit *test)
{
	struct bell *b = new_bell(test);
	ktime_t due;

	srn_turn_own(&b->turn);
	srn_clock_set_too(&b->clock, SRN_ALARM_PACE, NSEC_PER_SEC);
	due = b->clock.due[SRN_ALARM_PACE];
	srn_clock_set_too(&b->clock, SRN_ALARM_PACE, 2 * NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, b->clock.due[SRN_ALARM_PACE], due);
	srn_clock_set_too(&b->clock, SRN_ALARM_PACE, TICK);
	KUNIT_EXPECT_LT(test, b->clock.due[SRN_ALARM_PACE], due);
	srn_turn_disown(&b->turn);
	KUNIT_EXPECT_TRUE(test, rings(b, SRN_ALARM_PACE));
}

static void srn_clock_cleared_test(struct kunit *test)
{
	struct bell *b = new_bell(test);

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

	srn_turn_own(&b->turn);
	srn_clock_set(&b->clock, SRN_ALARM_ACK, TICK);
	srn_turn_disown(&b->turn);
	KUNIT_EXPECT_TRUE(test, rings(b, SRN_ALARM_ACK));
	KUNIT_EXPECT_EQ(test, b->inside, 0u);
}

/* Of those that are left the first one counts, whichever it is. */
static void srn_clock_first_counts_test(struct kunit *test)
{
	unsigned int first;

	for (first = 0; first < 2; first++) {
		struct bell *b = new_bell(test);

		srn_turn_own(&b->turn);
		srn_clock_set(&b->clock, first, 100 * NSEC_PER_SEC);
		srn_clock_set(&b->clock, 1 - first, 200 * NSEC_PER_SEC);
		srn_clock_set(&b->clock, 2, 300 * NSEC_PER_SEC);
		KUNIT_EXPECT_EQ(test, srn_clock_expired(&b->clock), 0);
		KUNIT_EXPECT_TRUE(test, b->clock.armed);
		KUNIT_EXPECT_EQ(test, hrtimer_get_expires(&b->clock.timer), b->clock.due[first]);
		srn_turn_disown(&b->turn);
	}
}

/* As the timer does when it fires and nothing is set, after @sets alarms; owner of the turn. */
static void fire_for_nothing(struct bell *b, int sets)
{
	while (sets--)
		srn_clock_set(&b->clock, SRN_ALARM_ACK, 100 * NSEC_PER_SEC);
	srn_clock_clear(&b->clock, SRN_ALARM_ACK);
	hrtimer_cancel(&b->clock.timer);
	srn_clock_expired(&b->clock);
}

/* Who sets many alarms before it fires lets it. */
static void srn_clock_many_test(struct kunit *test)
{
	struct bell *b = new_bell(test);

	srn_turn_own(&b->turn);
	fire_for_nothing(b, SRN_CLOCK_SETS + 1);
	srn_clock_set(&b->clock, SRN_ALARM_ACK, 100 * NSEC_PER_SEC);
	srn_clock_clear(&b->clock, SRN_ALARM_ACK);
	KUNIT_EXPECT_TRUE(test, hrtimer_active(&b->clock.timer));
	KUNIT_EXPECT_TRUE(test, b->clock.armed);
	/* Each time anew. */
	fire_for_nothing(b, 1);
	KUNIT_EXPECT_EQ(test, b->clock.cancels, SRN_CLOCK_CANCELS);
	srn_turn_disown(&b->turn);
}

/* What has fired is not cancelled any more: it is looked at. */
static void srn_clock_late_test(struct kunit *test)
{
	struct bell *b = new_bell(test);

	srn_turn_own(&b->turn);
	fire_for_nothing(b, 1);
	srn_clock_set(&b->clock, SRN_ALARM_ACK, TICK);
	while (hrtimer_active(&b->clock.timer))
		msleep(1);
	srn_clock_clear(&b->clock, SRN_ALARM_ACK);
	KUNIT_EXPECT_TRUE(test, b->clock.armed);
	KUNIT_EXPECT_EQ(test, b->clock.cancels, SRN_CLOCK_CANCELS);
	srn_turn_disown(&b->turn);
	srn_turn_own(&b->turn);
	KUNIT_EXPECT_FALSE(test, b->clock.armed);
	srn_turn_disown(&b->turn);
}

/* Who sets few has it cancelled with the last one, for a time. */
static void srn_clock_few_test(struct kunit *test)
{
	struct bell *b = new_bell(test);
	int i;

	srn_turn_own(&b->turn);
	fire_for_nothing(b, SRN_CLOCK_SETS);
	srn_clock_set(&b->clock, SRN_ALARM_ACK, 100 * NSEC_PER_SEC);
	srn_clock_set(&b->clock, SRN_ALARM_RNR, 200 * NSEC_PER_SEC);
	srn_clock_clear(&b->clock, SRN_ALARM_ACK);
	KUNIT_EXPECT_TRUE(test, hrtimer_active(&b->clock.timer));
	for (i = 0; i < SRN_CLOCK_CANCELS; i++) {
		srn_clock_clear(&b->clock, SRN_ALARM_RNR);
		KUNIT_EXPECT_FALSE(test, hrtimer_active(&b->clock.timer));
		KUNIT_EXPECT_FALSE(test, b->clock.armed);
		srn_clock_set(&b->clock, SRN_ALARM_RNR, 100 * NSEC_PER_SEC);
		KUNIT_EXPECT_TRUE(test, hrtimer_active(&b->clock.timer));
	}
	srn_clock_clear(&b->clock, SRN_ALARM_RNR);
	KUNIT_EXPECT_TRUE(test, hrtimer_active(&b->clock.timer));
	srn_turn_disown(&b->turn);
}

/* An alarm behind one that was cancelled rings; and one that rings is none that fired for nothing. */
static void srn_clock_cancelled_test(struct kunit *test)
{
	struct bell *b = new_bell(test);

	srn_turn_own(&b->turn);
	fire_for_nothing(b, 1);
	srn_clock_set(&b->clock, SRN_ALARM_ACK, TICK);
	srn_clock_clear(&b->clock, SRN_ALARM_ACK);
	KUNIT_EXPECT_EQ(test, b->clock.sets, 0);
	b->clock.cancels = 0;
	srn_clock_set(&b->clock, SRN_ALARM_RNR, 2 * TICK);
	srn_turn_disown(&b->turn);
	KUNIT_EXPECT_TRUE(test, rings(b, SRN_ALARM_RNR));
	KUNIT_EXPECT_EQ(test, b->rang, BIT(SRN_ALARM_RNR));
	KUNIT_EXPECT_EQ(test, b->clock.cancels, 0);
}

/* The timer stays on the CPU of who set it. */
static void go_to_cpu(struct kunit *test, unsigned int num)
{
	unsigned int cpu = cpumask_nth(num % num_online_cpus(), cpu_online_mask);

	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(cpu)), 0);
}

static void leave_cpu(void *unused)
{
	set_cpus_allowed_ptr(current, cpu_possible_mask);
}

/* A timer that is taken to be armed is, or it fires just now, or is going to be looked at. */
static bool is_lost(struct bell *b)
{
	return b->clock.armed && !hrtimer_active(&b->clock.timer) &&
	       !(atomic_read(&b->turn.bits) & SRN_TURN_TIMER);
}

/* Whatever the timer does on another CPU when its last alarm is cleared: the next one rings, and none else. */
static void srn_clock_race_test(struct kunit *test)
{
	struct bell *b = new_bell(test);
	ktime_t look;
	int i;

	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, leave_cpu, NULL));
	for (i = 0; i < RACES; i++) {
		go_to_cpu(test, i);
		srn_turn_own(&b->turn);
		b->rang = 0;
		b->clock.cancels = SRN_CLOCK_CANCELS;
		srn_clock_set(&b->clock, SRN_ALARM_ACK, TICK / 2);
		look = b->clock.due[SRN_ALARM_ACK] + (i - RACES_EARLY) * NSEC_PER_USEC;
		go_to_cpu(test, i + 1);
		while (ktime_before(ktime_get(), look))
			cpu_relax();
		srn_clock_clear(&b->clock, SRN_ALARM_ACK);
		KUNIT_EXPECT_FALSE(test, is_lost(b));
		srn_clock_set(&b->clock, SRN_ALARM_RNR, TICK / 8);
		KUNIT_EXPECT_FALSE(test, is_lost(b));
		srn_turn_disown(&b->turn);
		KUNIT_EXPECT_TRUE(test, rings(b, SRN_ALARM_RNR));
		KUNIT_EXPECT_EQ(test, b->rang, BIT(SRN_ALARM_RNR));
	}
}

#define LONG	(200 * NSEC_PER_SEC)

/* Whether the timer runs once an alarm for an answer is set, and at the end. */
struct ringing {
	bool active, active_end;
};

/* As a doorbell, in the time of @clock: an alarm of @b for an answer, due in @ns, which is given to @b's turn before that ends,
 * unless it is another's; cleared if @clear, and with one beside it that is not put off if @rnr.
 */
static struct ringing ring(struct bell *b, struct srn_clock *clock, u64 ns, bool clear, bool rnr)
{
	struct ringing r = {};

	preempt_disable();
	srn_clock_put_off(clock);
	local_bh_disable();
	if (!srn_turn_take(&b->turn, 0))
		b = NULL;
	if (b) {
		srn_clock_set(&b->clock, SRN_ALARM_ACK, ns);
		r.active = hrtimer_active(&b->clock.timer);
		if (rnr)
			srn_clock_set(&b->clock, SRN_ALARM_RNR, 2 * LONG);
		if (clear)
			srn_clock_clear(&b->clock, SRN_ALARM_ACK);
		srn_turn_run(&b->turn);
	}
	local_bh_enable();
	srn_clock_end_put_off(clock);
	if (b)
		r.active_end = hrtimer_active(&b->clock.timer);
	preempt_enable();
	return r;
}

static void skip_rt(struct kunit *test)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		kunit_skip(test, "nothing is put off");
}

/* An answer that comes at once costs no timer; one that does not has it. */
static void srn_clock_put_off_test(struct kunit *test)
{
	struct bell *b = new_bell(test);
	struct ringing r;
	int i;

	skip_rt(test);
	for (i = 0; i < 3; i++) {
		r = ring(b, &b->clock, LONG, true, false);
		KUNIT_EXPECT_FALSE(test, r.active || r.active_end);
	}
	r = ring(b, &b->clock, LONG, false, false);
	KUNIT_EXPECT_FALSE(test, r.active);
	/* Where something else waits for this CPU that comes first. */
	for (i = 0; i < 1000 && !hrtimer_active(&b->clock.timer); i++)
		msleep(1);
	KUNIT_EXPECT_TRUE(test, hrtimer_active(&b->clock.timer));
	KUNIT_EXPECT_EQ(test, hrtimer_get_expires(&b->clock.timer), b->clock.due[SRN_ALARM_ACK]);
	srn_turn_own(&b->turn);
	srn_clock_stop(&b->clock);
	srn_turn_disown(&b->turn);
	ring(b, &b->clock, TICK, false, false);
	KUNIT_EXPECT_TRUE(test, rings(b, SRN_ALARM_ACK));
	KUNIT_EXPECT_EQ(test, b->rang, BIT(SRN_ALARM_ACK));
}

/* The timer is set for what was put off with any other that is set then. */
static void srn_clock_put_off_beside_test(struct kunit *test)
{
	struct bell *b = new_bell(test);
	struct ringing r;

	skip_rt(test);
	r = ring(b, &b->clock, LONG, false, true);
	KUNIT_EXPECT_FALSE(test, r.active);
	KUNIT_EXPECT_TRUE(test, r.active_end);
	KUNIT_EXPECT_EQ(test, hrtimer_get_expires(&b->clock.timer), b->clock.due[SRN_ALARM_ACK]);
}

/* By whoever has the turn when that is over: it is told. */
static void srn_clock_put_off_busy_test(struct kunit *test)
{
	struct bell *b = new_bell(test);
	unsigned int looks;

	skip_rt(test);
	srn_turn_own(&b->turn);
	preempt_disable();
	srn_clock_put_off(&b->clock);
	srn_clock_set(&b->clock, SRN_ALARM_ACK, LONG);
	looks = b->looks;
	srn_clock_end_put_off(&b->clock);
	preempt_enable();
	KUNIT_EXPECT_FALSE(test, hrtimer_active(&b->clock.timer));
	KUNIT_EXPECT_EQ(test, b->looks, looks);
	srn_turn_disown(&b->turn);
	KUNIT_EXPECT_EQ(test, b->looks, looks + 1);
	KUNIT_EXPECT_TRUE(test, hrtimer_active(&b->clock.timer));
	KUNIT_EXPECT_EQ(test, hrtimer_get_expires(&b->clock.timer), b->clock.due[SRN_ALARM_ACK]);
	srn_clock_stop(&b->clock);
	/* One that is told when nothing is set any more is no timer that fired for nothing. */
	srn_turn_own(&b->turn);
	srn_clock_expired(&b->clock);
	KUNIT_EXPECT_EQ(test, b->clock.cancels, 0);
	srn_turn_disown(&b->turn);
}

/* Where another waits for this CPU the timer is set behind that. */
static void srn_clock_put_off_deferred_test(struct kunit *test)
{
	struct bell *b = new_bell(test);

	skip_rt(test);
	preempt_disable();
	srn_clock_put_off(&b->clock);
	local_bh_disable();
	if (srn_turn_take(&b->turn, 0)) {
		srn_clock_set(&b->clock, SRN_ALARM_ACK, TICK);
		srn_turn_run(&b->turn);
	}
	local_bh_enable();
	set_tsk_need_resched(current);
	srn_clock_end_put_off(&b->clock);
	preempt_enable();
	KUNIT_EXPECT_TRUE(test, rings(b, SRN_ALARM_ACK));
	KUNIT_EXPECT_EQ(test, b->rang, BIT(SRN_ALARM_ACK));
}

/* That one's only, and while it is rung for; and what is stopped is wanted no more. */
static void srn_clock_put_off_other_test(struct kunit *test)
{
	struct bell *b = new_bell(test), *other = new_bell(test);
	struct ringing r;

	skip_rt(test);
	r = ring(b, &other->clock, LONG, false, false);
	KUNIT_EXPECT_TRUE(test, r.active);
	srn_clock_stop(&b->clock);
	srn_turn_own(&b->turn);
	preempt_disable();
	srn_clock_put_off(&b->clock);
	srn_clock_set(&b->clock, SRN_ALARM_ACK, LONG);
	b->clock.due[SRN_ALARM_ACK] = 0;
	srn_clock_end_put_off(&b->clock);
	srn_clock_set(&b->clock, SRN_ALARM_RNR, LONG);
	preempt_enable();
	KUNIT_EXPECT_TRUE(test, hrtimer_active(&b->clock.timer));
	srn_clock_stop(&b->clock);
	KUNIT_EXPECT_FALSE(test, b->clock.unarmed);
	srn_clock_set(&b->clock, SRN_ALARM_ACK, LONG);
	KUNIT_EXPECT_TRUE(test, hrtimer_active(&b->clock.timer));
	srn_turn_disown(&b->turn);
}

static struct kunit_case srn_clock_cases[] = {
	KUNIT_CASE(srn_clock_first_counts_test),
	KUNIT_CASE(srn_clock_each_alarm_test),
	KUNIT_CASE(srn_clock_moved_test),
	KUNIT_CASE(srn_clock_shared_test),
	KUNIT_CASE(srn_clock_cleared_test),
	KUNIT_CASE(srn_clock_fires_only_test),
	KUNIT_CASE(srn_clock_many_test),
	KUNIT_CASE(srn_clock_late_test),
	KUNIT_CASE(srn_clock_few_test),
	KUNIT_CASE(srn_clock_cancelled_test),
	KUNIT_CASE(srn_clock_race_test),
	KUNIT_CASE(srn_clock_put_off_test),
	KUNIT_CASE(srn_clock_put_off_beside_test),
	KUNIT_CASE(srn_clock_put_off_busy_test),
	KUNIT_CASE(srn_clock_put_off_deferred_test),
	KUNIT_CASE(srn_clock_put_off_other_test),
	{}
};

static struct kunit_suite srn_clock_suite = {
	.name = "srn_clock",
	.test_cases = srn_clock_cases,
};

kunit_test_suite(srn_clock_suite);
