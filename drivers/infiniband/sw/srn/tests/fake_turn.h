/* SPDX-License-Identifier: GPL-2.0-only */
/* A turn whose rounds only count, and many of them: what the tests of turns share. */
#ifndef SRN_TESTS_FAKE_TURN_H
#define SRN_TESTS_FAKE_TURN_H

#include "../turn.h"

#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/preempt.h>
#include <linux/sched.h>

struct fake {
	struct srn_turn turn;
	int inside;		/* contexts in run() now */
	int overlaps;		/* times it was more than one */
	int rounds;
	unsigned int seen;	/* bits seen in all rounds */
	int more;		/* rounds that report work left */
	atomic_t work;		/* posted by kicks */
	int done;		/* taken by rounds */
	unsigned int kick_inside;
	enum srn_left left;	/* what a round with more reports; 0: URGENT */
	unsigned int news;	/* come in each round */
	unsigned int busy_us;	/* how long a round takes */
	int in_softirq;		/* rounds there */
	int by_worker;		/* rounds there */
	int nice;		/* of the last worker */
	int at;			/* how many rounds there had been of all when it ran first */
};

static atomic_t all_rounds;

static inline enum srn_left fake_run(struct srn_turn *turn, unsigned int bits)
{
	struct fake *f = container_of(turn, struct fake, turn);

	if (f->inside++)
		f->overlaps++;
	srn_turn_assert_owned(turn);
	if (!f->rounds++)
		f->at = atomic_read(&all_rounds);
	atomic_inc(&all_rounds);
	f->in_softirq += !!in_serving_softirq();
	if (!in_serving_softirq() && (current->flags & PF_WQ_WORKER)) {
		f->by_worker++;
		f->nice = task_nice(current);
	}
	udelay(f->busy_us);
	f->seen |= bits;
	atomic_or(f->news, &turn->bits);
	f->done += atomic_xchg(&f->work, 0);
	if (f->kick_inside) {
		unsigned int again = f->kick_inside;

		f->kick_inside = 0;
		srn_turn_kick(turn, again);
	}
	f->inside--;
	if (f->more-- <= 0)
		return SRN_LEFT_NOTHING;
	return f->left ?: SRN_LEFT_URGENT;
}

static inline struct fake *new_fake(struct kunit *test)
{
	struct fake *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	srn_turn_init(&f->turn, fake_run);
	return f;
}

static inline void wait_idle(struct fake *f)
{
	int i;

	for (i = 0; i < 1000 && atomic_read(&f->turn.bits); i++)
		msleep(1);
}

/* Whoever runs work without end gives it up to who wants to own it. */
static inline void own_and_end(struct kunit *test, struct fake *f)
{
	srn_turn_own(&f->turn);
	KUNIT_EXPECT_EQ(test, f->inside, 0);
	f->more = 0;
	srn_turn_disown(&f->turn);
	wait_idle(f);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->turn.bits), 0);
}

#define HOGS	300

/* How long a round of each takes from now on. */
static inline void make_busy(struct fake *hogs, unsigned int us)
{
	int i;

	for (i = 0; i < HOGS; i++)
		hogs[i].busy_us = us;
}

static inline void end_all(struct fake *hogs)
{
	int i;

	for (i = 0; i < HOGS; i++) {
		srn_turn_own(&hogs[i].turn);
		hogs[i].more = 0;
		srn_turn_disown(&hogs[i].turn);
	}
	for (i = 0; i < HOGS; i++)
		wait_idle(&hogs[i]);
}

static inline struct fake *new_hogs(struct kunit *test, int more)
{
	struct fake *hogs = kunit_kcalloc(test, HOGS, sizeof(*hogs), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, hogs);
	for (i = 0; i < HOGS; i++) {
		srn_turn_init(&hogs[i].turn, fake_run);
		hogs[i].more = more;
	}
	return hogs;
}

#endif
