// SPDX-License-Identifier: GPL-2.0-only
/* Alarms of a QP. */
#include "clock.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/ktime.h>
#include <linux/string.h>

#include "turn.h"

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
	memset(clock->due, 0, sizeof(clock->due));
	clock->sets = 0;
	clock->cancels = 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_clock_stop);

/* A timer that has fired, or does just now, is not cancelled: srn_clock_expired() is to come. */
void srn_clock_cancel(struct srn_clock *clock)
{
	unsigned int i;

	srn_turn_assert_owned(clock->turn);
	for (i = 0; i < SRN_ALARMS; i++)
		if (clock->due[i])
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

void srn_clock_set(struct srn_clock *clock, enum srn_alarm alarm, u64 ns)
{
	ktime_t when = ktime_add_ns(ktime_get(), ns);

	srn_turn_assert_owned(clock->turn);
	clock->due[alarm] = when;
	if (clock->sets <= SRN_CLOCK_SETS)
		clock->sets++;
	/* Armed for earlier: it will look at the deadlines when it fires. */
	if (!clock->armed || ktime_before(when, hrtimer_get_expires(&clock->timer)))
		arm(clock, when);
}
EXPORT_SYMBOL_IF_KUNIT(srn_clock_set);

unsigned int srn_clock_expired(struct srn_clock *clock)
{
	ktime_t now = ktime_get(), first = 0;
	unsigned int expired = 0, i;

	srn_turn_assert_owned(clock->turn);
	clock->armed = false;
	for (i = 0; i < SRN_ALARMS; i++) {
		if (!clock->due[i])
			continue;
		if (!ktime_before(now, clock->due[i])) {
			clock->due[i] = 0;
			expired |= BIT(i);
		} else if (!first || ktime_before(clock->due[i], first)) {
			first = clock->due[i];
		}
	}
	if (first)
		arm(clock, first);
	else if (!expired && clock->sets <= SRN_CLOCK_SETS)
		clock->cancels = SRN_CLOCK_CANCELS;
	clock->sets = 0;
	return expired;
}
EXPORT_SYMBOL_IF_KUNIT(srn_clock_expired);
