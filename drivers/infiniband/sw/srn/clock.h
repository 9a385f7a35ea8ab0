/* SPDX-License-Identifier: GPL-2.0-only */
/* A QP's alarms: one deadline for each thing that it may wait for, all on one hrtimer.
 * The timer is moved lazily: it is not touched when a deadline moves back, it looks at
 * the deadlines when it fires and goes back to sleep. Only where it fired for nothing, and few
 * alarms were set since it did before, as with one message in a while, it is cancelled with the
 * last one, which is cheaper, for some times. Nor is it touched for an answer that may come before the
 * softirqs of who rings a doorbell have ended, as it does from this machine. What an alarm means its user knows.
 */
#ifndef SRN_CLOCK_H
#define SRN_CLOCK_H

#include <linux/bits.h>
#include <linux/hrtimer.h>
#include <linux/types.h>

struct srn_turn;

enum srn_alarm {
	SRN_ALARM_ACK,		/* the next probe, or the local ACK timeout */
	SRN_ALARM_RNR,		/* the peer may be ready now */
	SRN_ALARM_ROOM,		/* the queues below may have room */
	SRN_ALARM_QUIET,	/* no answer, or no worker, for a while, and posts go without
				 * a doorbell
				 */
	SRN_ALARM_GAP,		/* what was overtaken, or sent again, may be lost by now */
	SRN_ALARM_TELL,		/* the peer may be told again what is held */
	SRN_ALARM_GATHER,	/* posts that were left are to go */
	SRN_ALARM_PACE,		/* what has left has had its time */
	SRN_ALARMS
};

/* Alarms, set since the timer fired before, that are few if it fires for nothing. */
#define SRN_CLOCK_SETS		4
/* So often it is cancelled then, before it is let again to see whether they are still few. */
#define SRN_CLOCK_CANCELS	64

/* Owner of the turn only, but for the timer. */
struct srn_clock {
	struct hrtimer timer;
	struct srn_turn *turn;		/* kicked with SRN_TURN_TIMER */
	ktime_t due[SRN_ALARMS];	/* 0: not set */
	bool armed;			/* the timer will fire, or has, and srn_clock_expired() is to come */
	bool unarmed;			/* an alarm is set that was put off, and no timer for it */
	u8 sets;			/* alarms since it did, or was cancelled, up to SRN_CLOCK_SETS + 1 */
	u8 cancels;			/* so often it is cancelled when none is set any more */
};

void srn_clock_init(struct srn_clock *clock, struct srn_turn *turn);

/** srn_clock_stop() - no alarm is set, and the timer does not run any more; may sleep */
void srn_clock_stop(struct srn_clock *clock);

/**
 * srn_clock_put_off() - as long as softirqs of this CPU may bring an answer, the timer is not set for one
 *
 * Preemption off, and BH on, from here to srn_clock_end_put_off(), but for what may have to be answered in between; one
 * clock of a CPU at a time, whose QP lives. In PREEMPT_RT nothing is put off.
 */
void srn_clock_put_off(struct srn_clock *clock);

/** srn_clock_end_put_off() - the timer is set for an answer that has not come; without the turn */
void srn_clock_end_put_off(struct srn_clock *clock);

/** srn_clock_set() - @alarm is due @ns from now, never earlier; owner of the turn, any context */
void srn_clock_set(struct srn_clock *clock, enum srn_alarm alarm, u64 ns);

/**
 * srn_clock_set_too() - srn_clock_set() of an @alarm that others wait for, too: if it is due before that it stays so
 */
static inline void srn_clock_set_too(struct srn_clock *clock, enum srn_alarm alarm, u64 ns)
{
	if (!clock->due[alarm] || ktime_before(ktime_add_ns(ktime_get(), ns), clock->due[alarm]))
		srn_clock_set(clock, alarm, ns);
}

/** srn_clock_is_set() - whether @alarm is set and was not taken by srn_clock_expired() */
static inline bool srn_clock_is_set(const struct srn_clock *clock, enum srn_alarm alarm)
{
	return clock->due[alarm];
}

/** srn_clock_is_due() - whether srn_clock_expired() would take @alarm now */
static inline bool srn_clock_is_due(const struct srn_clock *clock, enum srn_alarm alarm)
{
	return clock->due[alarm] && !ktime_before(ktime_get(), clock->due[alarm]);
}

/* Behind srn_clock_clear(); owner of the turn, any context. */
void srn_clock_cancel(struct srn_clock *clock);

/** srn_clock_clear() - @alarm is not waited for any more; owner of the turn, any context */
static inline void srn_clock_clear(struct srn_clock *clock, enum srn_alarm alarm)
{
	clock->due[alarm] = 0;
	if (unlikely(clock->cancels) && clock->armed)
		srn_clock_cancel(clock);
}

/**
 * srn_clock_expired() - in the turn after the timer fired, or since it is to be set: take what is due
 *
 * Sets the timer for what is not.
 *
 * Return: BIT(alarm) of those that are due; they are not set any more.
 */
unsigned int srn_clock_expired(struct srn_clock *clock);

#endif
