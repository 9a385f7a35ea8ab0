// SPDX-License-Identifier: GPL-2.0-only
/* Alarms of a QP. */
#include "clock.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/interrupt.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "turn.h"

/* Of this CPU: whose alarm for an answer is put off, and whether one was set. */
struct put_off {
	struct srn_clock *clock;
	bool any;
};

static DEFINE_PER_CPU(struct put_off, put_off);

static enum hrtimer_restart fired(struct hrtimer *timer)
{
	struct srn_clock *clock = container_of(timer, struct srn_clock, timer);

	/* Left to the NAPI, a round is one of many, in a budget: all the timers that are due
	 * fire in one go, without a pause.
	 */
	srn_turn_defer(clock->turn, SRN_TURN_TIMER);
	return HRTIMER_NORESTART;
}

void srn_clock_init(struct srn_clock *clock, struct srn_turn *turn)
{
	clock->turn = turn;
	hrtimer_init(&clock->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	clock->timer.function = fired;
}
EXPORT_SYMBOL_IF_KUNIT(srn_clock_init);

void srn_clock_stop(struct srn_clock *clock)
{
	hrtimer_cancel(&clock->timer);
	clock->armed = false;
	clock->unarmed = false;
	memset(clock->due, 0, sizeof(clock->due));
	clock->sets = 0;
	clock->cancels = 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_clock_stop);

static bool is_any_set(const struct srn_clock *clock)
{
	unsigned int i;

	for (i = 0; i < SRN_ALARMS; i++)
		if (clock->due[i])
			return true;
	return false;
}

/* A timer that has fired, or does just now, is not cancelled: srn_clock_expired() is to come. */
void srn_clock_cancel(struct srn_clock *clock)
{
	srn_turn_assert_owned(clock->turn);
	if (is_any_set(clock))
		return;
	if (hrtimer_try_to_cancel(&clock->timer) <= 0)
		return;
	clock->armed = false;
	clock->sets = 0;
	clock->cancels--;
}
EXPORT_SYMBOL_IF_KUNIT(srn_clock_cancel);

static void arm(struct srn_clock *clock, ktime_t when)
{
	clock->armed = true;
	hrtimer_start(&clock->timer, when, HRTIMER_MODE_ABS_SOFT);
}

/* For what is due first, if anything is. */
static void arm_first(struct srn_clock *clock)
{
	ktime_t first = 0;
	unsigned int i;

	clock->unarmed = false;
	for (i = 0; i < SRN_ALARMS; i++)
		if (clock->due[i] && (!first || ktime_before(clock->due[i], first)))
			first = clock->due[i];
	if (first)
		arm(clock, first);
}

/* Interrupts, and softirqs behind them, come at any time: for them it is begun last, and over first. */
void srn_clock_put_off(struct srn_clock *clock)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		return;
	lockdep_assert_preemption_disabled();
	__this_cpu_write(put_off.any, false);
	barrier();
	__this_cpu_write(put_off.clock, clock);
}
EXPORT_SYMBOL_IF_KUNIT(srn_clock_put_off);

/* Who has the turn now sees to the alarms; softirqs that are left are another one's, in whose time the NAPI does so. */
static void catch_up(struct srn_clock *clock)
{
	bool listed;

	if (need_resched() || local_softirq_pending()) {
		srn_turn_defer(clock->turn, SRN_TURN_TIMER);
		return;
	}
	local_bh_disable();
	if (srn_turn_borrow(clock->turn, &listed)) {
		if (clock->unarmed)
			arm_first(clock);
		srn_turn_return(clock->turn, listed);
	} else {
		srn_turn_defer(clock->turn, SRN_TURN_TIMER);
	}
	local_bh_enable();
}

void srn_clock_end_put_off(struct srn_clock *clock)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		return;
	__this_cpu_write(put_off.clock, NULL);
	barrier();
	if (__this_cpu_read(put_off.any) && data_race(clock->due[SRN_ALARM_ACK] && clock->unarmed))
		catch_up(clock);
}
EXPORT_SYMBOL_IF_KUNIT(srn_clock_end_put_off);

static bool is_put_off(const struct srn_clock *clock, enum srn_alarm alarm)
{
	if (alarm != SRN_ALARM_ACK || this_cpu_read(put_off.clock) != clock)
		return false;
	this_cpu_write(put_off.any, true);
	return true;
}

void srn_clock_set(struct srn_clock *clock, enum srn_alarm alarm, u64 ns)
{
	ktime_t when = ktime_add_ns(ktime_get(), ns);

	srn_turn_assert_owned(clock->turn);
	clock->due[alarm] = when;
	if (clock->sets <= SRN_CLOCK_SETS)
		clock->sets++;
	/* Armed for earlier: it will look at the deadlines when it fires. */
	if (clock->armed && !ktime_before(when, hrtimer_get_expires(&clock->timer)))
		return;
	if (is_put_off(clock, alarm))
		clock->unarmed = true;
	else if (unlikely(clock->unarmed))
		arm_first(clock);
	else
		arm(clock, when);
}
EXPORT_SYMBOL_IF_KUNIT(srn_clock_set);

unsigned int srn_clock_expired(struct srn_clock *clock)
{
	bool has_fired = clock->armed && !hrtimer_is_queued(&clock->timer);
	unsigned int expired = 0, i;
	ktime_t now = ktime_get();

	srn_turn_assert_owned(clock->turn);
	clock->armed = false;
	for (i = 0; i < SRN_ALARMS; i++) {
		if (clock->due[i] && !ktime_before(now, clock->due[i])) {
			clock->due[i] = 0;
			expired |= BIT(i);
		}
	}
	arm_first(clock);
	if (has_fired && !clock->armed && !expired && clock->sets <= SRN_CLOCK_SETS)
		clock->cancels = SRN_CLOCK_CANCELS;
	clock->sets = 0;
	return expired;
}
EXPORT_SYMBOL_IF_KUNIT(srn_clock_expired);
