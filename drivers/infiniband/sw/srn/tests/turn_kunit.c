// SPDX-License-Identifier: GPL-2.0-only
#include "../turn.h"

#include <kunit/test.h>
#include <linux/kthread.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/sched.h>
#include <linux/ktime.h>
#include <linux/netdevice.h>

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
	bool later;		/* what is left is left for later */
	unsigned int busy_us;	/* how long a round takes */
	int in_softirq;		/* rounds there */
	int by_worker;		/* rounds there */
	int nice;		/* of the last worker */
	int at;			/* how many rounds there had been of all when it ran first */
};

static atomic_t all_rounds;

static enum srn_left fake_run(struct srn_turn *turn, unsigned int bits)
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
	f->done += atomic_xchg(&f->work, 0);
	if (f->kick_inside) {
		unsigned int again = f->kick_inside;

		f->kick_inside = 0;
		srn_turn_kick(turn, again);
	}
	f->inside--;
	if (f->more-- <= 0)
		return SRN_LEFT_NOTHING;
	return f->later ? SRN_LEFT_LATER : SRN_LEFT_URGENT;
}

static struct fake *new_fake(struct kunit *test)
{
	struct fake *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	srn_turn_init(&f->turn, fake_run);
	return f;
}

static void wait_idle(struct fake *f)
{
	int i;

	for (i = 0; i < 1000 && atomic_read(&f->turn.bits); i++)
		msleep(1);
}

static void srn_turn_kick_runs_at_once_test(struct kunit *test)
{
	struct fake *f = new_fake(test);

	srn_turn_kick(&f->turn, SRN_TURN_SQ);
	KUNIT_EXPECT_EQ(test, f->rounds, 1);
	KUNIT_EXPECT_EQ(test, f->seen, (unsigned int)SRN_TURN_SQ);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->turn.bits), 0);
}

/* A kick from inside the turn does not nest: the owner sees the bit. */
static void srn_turn_kick_inside_test(struct kunit *test)
{
	struct fake *f = new_fake(test);

	f->kick_inside = SRN_TURN_RX;
	srn_turn_kick(&f->turn, SRN_TURN_SQ);
	KUNIT_EXPECT_EQ(test, f->overlaps, 0);
	KUNIT_EXPECT_EQ(test, f->rounds, 2);
	KUNIT_EXPECT_EQ(test, f->seen, (unsigned int)(SRN_TURN_SQ | SRN_TURN_RX));
}

/* Work without end goes on in the NAPI, and ends when it ends. */
static void srn_turn_budget_test(struct kunit *test)
{
	struct fake *f = new_fake(test);

	f->more = 100;
	srn_turn_kick(&f->turn, SRN_TURN_SQ);
	wait_idle(f);
	KUNIT_EXPECT_EQ(test, f->rounds, 101);
	KUNIT_EXPECT_TRUE(test, f->seen & SRN_TURN_MORE);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->turn.bits), 0);
}

static void srn_turn_defer_test(struct kunit *test)
{
	struct fake *f = new_fake(test);

	local_bh_disable();
	srn_turn_defer(&f->turn, SRN_TURN_SQ);
	KUNIT_EXPECT_EQ(test, f->rounds, 0);
	local_bh_enable();
	wait_idle(f);
	KUNIT_EXPECT_EQ(test, f->rounds, 1);
}

/* Who owns a turn is alone; what came meanwhile runs when it is given back. */
static void srn_turn_own_test(struct kunit *test)
{
	struct fake *f = new_fake(test);

	srn_turn_own(&f->turn);
	srn_turn_kick(&f->turn, SRN_TURN_RX);
	KUNIT_EXPECT_EQ(test, f->rounds, 0);
	srn_turn_disown(&f->turn);
	KUNIT_EXPECT_EQ(test, f->rounds, 1);
	KUNIT_EXPECT_EQ(test, f->seen, (unsigned int)SRN_TURN_RX);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->turn.bits), 0);
}

/* A round that is due is done before a sleeper gets the turn: what a peer is owed has left. */
static void srn_turn_own_after_round_test(struct kunit *test)
{
	struct fake *f = new_fake(test);

	local_bh_disable();
	srn_turn_defer(&f->turn, SRN_TURN_RX);
	local_bh_enable();
	srn_turn_own(&f->turn);
	KUNIT_EXPECT_EQ(test, f->rounds, 1);
	KUNIT_EXPECT_EQ(test, f->seen, (unsigned int)SRN_TURN_RX);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->turn.bits), (int)SRN_TURN_OWNED);
	srn_turn_disown(&f->turn);
	KUNIT_EXPECT_EQ(test, f->rounds, 1);
}

/* A turn that no worker has begun is not lost to who comes. */
static void srn_turn_take_back_test(struct kunit *test)
{
	struct fake *f = new_fake(test);
	int i, here = 0;

	/* On another CPU the worker may be sooner, now and then. */
	for (i = 0; i < 100; i++) {
		KUNIT_ASSERT_TRUE(test, srn_turn_take(&f->turn, SRN_TURN_SQ));
		srn_turn_send_away(&f->turn);
		srn_turn_kick(&f->turn, SRN_TURN_RX);
		here += !atomic_read(&f->turn.bits);
		wait_idle(f);
	}
	KUNIT_EXPECT_GT(test, here, 10);
	KUNIT_EXPECT_EQ(test, f->overlaps, 0);
	KUNIT_EXPECT_EQ(test, f->seen, (unsigned int)(SRN_TURN_SQ | SRN_TURN_RX));
	KUNIT_EXPECT_EQ(test, atomic_read(&f->turn.bits), 0);
}

/* Whoever runs work without end gives it up to who wants to own it. */
static void own_and_end(struct kunit *test, struct fake *f)
{
	srn_turn_own(&f->turn);
	KUNIT_EXPECT_EQ(test, f->inside, 0);
	f->more = 0;
	srn_turn_disown(&f->turn);
	wait_idle(f);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->turn.bits), 0);
}

#define HOGS	300

static void end_all(struct fake *hogs)
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

static struct fake *new_hogs(struct kunit *test, int more)
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

/* Workers whose work has no end let the others have their turn; those can be owned. */
static void srn_turn_away_shared_test(struct kunit *test)
{
	struct fake *hogs = new_hogs(test, INT_MAX), *f = new_fake(test);
	int i;

	for (i = 0; i < HOGS; i++) {
		KUNIT_ASSERT_TRUE(test, srn_turn_take(&hogs[i].turn, SRN_TURN_SQ));
		srn_turn_send_away(&hogs[i].turn);
	}
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&f->turn, SRN_TURN_SQ));
	srn_turn_send_away(&f->turn);
	for (i = 0; i < 5000 && !READ_ONCE(f->rounds); i++)
		msleep(1);
	KUNIT_EXPECT_EQ(test, f->rounds, 1);
	end_all(hogs);
}

static int rounds_of(const struct fake *hogs)
{
	int i, rounds = 0;

	for (i = 0; i < HOGS; i++)
		rounds += READ_ONCE(hogs[i].rounds);
	return rounds;
}

static void defer_all(struct fake *hogs)
{
	int i;

	for (i = 0; i < HOGS; i++)
		srn_turn_defer(&hogs[i].turn, SRN_TURN_SQ);
}

/* Who wants to own a turn does not wait for the others in its list, however many they are. */
static void srn_turn_own_listed_test(struct kunit *test)
{
	struct fake *hogs = new_hogs(test, INT_MAX), *f = new_fake(test);
	int i, before;

	for (i = 0; i < HOGS; i++)
		hogs[i].busy_us = 1000;
	local_bh_disable();
	defer_all(hogs);
	srn_turn_defer(&f->turn, SRN_TURN_RX);
	local_bh_enable();
	before = rounds_of(hogs);
	srn_turn_own(&f->turn);
	KUNIT_EXPECT_LT(test, rounds_of(hogs) - before, HOGS / 2);
	KUNIT_EXPECT_EQ(test, f->rounds, 1);
	KUNIT_EXPECT_EQ(test, f->seen, (unsigned int)SRN_TURN_RX);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->turn.bits), (int)SRN_TURN_OWNED);
	srn_turn_disown(&f->turn);
	for (i = 0; i < HOGS; i++)
		hogs[i].busy_us = 0;
	end_all(hogs);
}

/* News is not kept waiting by all those whose work never ends, nor by alarms. */
static void news_among(struct kunit *test, struct fake *hogs,
		       void (*start)(struct srn_turn *turn, unsigned int bits), unsigned int bits)
{
	struct fake *f = new_fake(test);
	int i, before;

	migrate_disable();
	local_bh_disable();
	for (i = 0; i < HOGS; i++) {
		start(&hogs[i].turn, bits);
		hogs[i].busy_us = 100;
	}
	local_bh_enable();
	local_bh_disable();
	before = atomic_read(&all_rounds);
	srn_turn_defer(&f->turn, SRN_TURN_SQ);
	local_bh_enable();
	migrate_enable();
	wait_idle(f);
	KUNIT_EXPECT_EQ(test, f->rounds, 1);
	KUNIT_EXPECT_LT(test, f->at - before, HOGS / 10);
	for (i = 0; i < HOGS; i++)
		hogs[i].busy_us = 0;
	end_all(hogs);
}

static void srn_turn_news_first_test(struct kunit *test)
{
	news_among(test, new_hogs(test, INT_MAX), srn_turn_kick, SRN_TURN_SQ);
}

static void srn_turn_news_beside_alarms_test(struct kunit *test)
{
	news_among(test, new_hogs(test, 0), srn_turn_defer, SRN_TURN_TIMER);
}

/* And those whose work never ends are not kept waiting by news without end. */
static void srn_turn_rest_beside_news_test(struct kunit *test)
{
	struct fake *hogs = new_hogs(test, 0), *f = new_fake(test);
	int i, rounds;

	f->more = INT_MAX;
	srn_turn_kick(&f->turn, SRN_TURN_SQ);
	for (i = 0; i < HOGS; i++)
		hogs[i].busy_us = 100;
	local_bh_disable();
	defer_all(hogs);
	rounds = READ_ONCE(f->rounds);
	local_bh_enable();
	for (i = 0; i < HOGS; i++)
		wait_idle(&hogs[i]);
	/* One in each poll, and a poll runs no more than its budget. */
	KUNIT_EXPECT_GE(test, READ_ONCE(f->rounds) - rounds, HOGS / NAPI_POLL_WEIGHT);
	own_and_end(test, f);
}

/* One poll of the NAPI does not run all turns that are listed, however many they are. */
static void srn_turn_poll_bounded_test(struct kunit *test)
{
	struct fake *hogs = new_hogs(test, 0);
	int i;

	for (i = 0; i < HOGS; i++)
		hogs[i].busy_us = 1000;
	local_bh_disable();
	defer_all(hogs);
	local_bh_enable();
	KUNIT_EXPECT_LT(test, rounds_of(hogs), HOGS / 2);
	for (i = 0; i < HOGS; i++)
		wait_idle(&hogs[i]);
	KUNIT_EXPECT_EQ(test, rounds_of(hogs), HOGS);
}

/* What nobody waits for is done by a worker, or by who causes it: not in a softirq. */
static void srn_turn_later_test(struct kunit *test)
{
	struct fake *f = new_fake(test);

	f->later = true;
	f->more = 100;
	srn_turn_kick(&f->turn, SRN_TURN_FLUSH);
	wait_idle(f);
	KUNIT_EXPECT_EQ(test, f->rounds, 101);
	f->more = 100;
	srn_turn_kick_here(&f->turn, SRN_TURN_FLUSH);
	KUNIT_EXPECT_EQ(test, f->rounds, 202);
	KUNIT_EXPECT_EQ(test, f->in_softirq, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->turn.bits), 0);
}

/* A turn that never ends by itself can still be owned. */
static void srn_turn_own_busy_test(struct kunit *test)
{
	struct fake *f = new_fake(test);

	f->more = INT_MAX;
	srn_turn_kick(&f->turn, SRN_TURN_SQ);
	own_and_end(test, f);
	KUNIT_EXPECT_EQ(test, f->overlaps, 0);
}

/* A worker runs what was sent away, however long it takes; kicks meanwhile are seen. */
static void srn_turn_away_test(struct kunit *test)
{
	struct fake *f = new_fake(test);

	f->more = 100;
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&f->turn, SRN_TURN_SQ));
	KUNIT_EXPECT_FALSE(test, srn_turn_take(&f->turn, SRN_TURN_RX));
	srn_turn_kick(&f->turn, SRN_TURN_TIMER);
	KUNIT_EXPECT_EQ(test, f->rounds, 0);
	srn_turn_send_away(&f->turn);
	wait_idle(f);
	KUNIT_EXPECT_EQ(test, f->rounds, 101);
	KUNIT_EXPECT_EQ(test, f->seen & (SRN_TURN_SQ | SRN_TURN_RX | SRN_TURN_TIMER),
			(unsigned int)(SRN_TURN_SQ | SRN_TURN_RX | SRN_TURN_TIMER));
	KUNIT_EXPECT_EQ(test, atomic_read(&f->turn.bits), 0);
}

/* Workers compete with programs as one of them, whatever a program has them do. */
static void srn_turn_away_is_not_first_test(struct kunit *test)
{
	struct fake *f = new_fake(test);

	KUNIT_ASSERT_TRUE(test, srn_turn_take(&f->turn, SRN_TURN_SQ));
	srn_turn_send_away(&f->turn);
	wait_idle(f);
	KUNIT_EXPECT_EQ(test, f->by_worker, 1);
	KUNIT_EXPECT_EQ(test, f->nice, 0);
}

/* A turn that is away can be owned, and stays with its worker until then. */
static void srn_turn_own_away_test(struct kunit *test)
{
	struct fake *f = new_fake(test);

	f->more = INT_MAX;
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&f->turn, SRN_TURN_SQ));
	srn_turn_send_away(&f->turn);
	own_and_end(test, f);
}

/* Other CPUs that were found busy are left alone for a while. */
static void srn_turn_away_pause_test(struct kunit *test)
{
	struct fake *f = new_fake(test);

	KUNIT_EXPECT_EQ(test, srn_turn_may_go_away(&f->turn), num_online_cpus() > 1);
	f->turn.away_pause = jiffies + HZ;
	KUNIT_EXPECT_FALSE(test, srn_turn_may_go_away(&f->turn));
}

/* Who is sent away does not stand behind a queue. */
static void srn_turn_away_queue_test(struct kunit *test)
{
	struct fake *hogs = new_hogs(test, INT_MAX), *f = new_fake(test);
	int i;

	for (i = 0; i < HOGS; i++) {
		hogs[i].busy_us = 100;
		KUNIT_ASSERT_TRUE(test, srn_turn_take(&hogs[i].turn, SRN_TURN_SQ));
		srn_turn_send_away(&hogs[i].turn);
	}
	KUNIT_EXPECT_FALSE(test, srn_turn_may_go_away(&f->turn));
	for (i = 0; i < HOGS; i++)
		hogs[i].busy_us = 0;
	end_all(hogs);
	KUNIT_EXPECT_EQ(test, srn_turn_may_go_away(&f->turn), num_online_cpus() > 1);
}

/* Nor does it wait there: its alarm fetches it, and then it stays for a while. */
static void srn_turn_away_fetched_test(struct kunit *test)
{
	struct fake *hogs = new_hogs(test, INT_MAX), *f = new_fake(test);
	unsigned long start = jiffies;
	int i, before;
	u64 late;

	for (i = 0; i < HOGS; i++) {
		hogs[i].busy_us = 100;
		KUNIT_ASSERT_TRUE(test, srn_turn_take(&hogs[i].turn, SRN_TURN_SQ));
		srn_turn_send_away(&hogs[i].turn);
	}
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&f->turn, SRN_TURN_SQ));
	srn_turn_send_away(&f->turn);
	for (late = ktime_get_ns() + 2 * SRN_TURN_LATE_NS; ktime_get_ns() < late;)
		cpu_relax();
	before = atomic_read(&all_rounds);
	srn_turn_defer(&f->turn, SRN_TURN_TIMER);
	wait_idle(f);
	KUNIT_EXPECT_EQ(test, f->rounds, 1);
	KUNIT_EXPECT_LT(test, f->at - before, HOGS);
	KUNIT_EXPECT_TRUE(test, time_after(f->turn.away_pause, start));
	for (i = 0; i < HOGS; i++)
		hogs[i].busy_us = 0;
	end_all(hogs);
}

#define KICKS	20000

/* As all who have news may: run it here, send it away, leave it to the NAPI. */
static void kick_somehow(struct srn_turn *turn, int how)
{
	if (how == 0 && srn_turn_take(turn, SRN_TURN_SQ))
		srn_turn_send_away(turn);
	else if (how == 1)
		srn_turn_defer(turn, SRN_TURN_SQ);
	else
		srn_turn_kick(turn, SRN_TURN_SQ);
}

static int kicker(void *arg)
{
	struct fake *f = arg;
	int i;

	for (i = 0; i < KICKS; i++) {
		atomic_inc(&f->work);
		kick_somehow(&f->turn, i % 4);
		cond_resched();
	}
	while (!kthread_should_stop())
		msleep(1);
	return 0;
}

/* Nothing that was announced before a kick is left behind. */
static void srn_turn_race_test(struct kunit *test)
{
	struct task_struct *task[2];
	struct fake *f = new_fake(test);
	int i;

	f->more = KICKS / 2;
	for (i = 0; i < 2; i++) {
		task[i] = kthread_run(kicker, f, "srn_kunit_kick/%d", i);
		KUNIT_ASSERT_FALSE(test, IS_ERR(task[i]));
	}
	for (i = 0; i < 50; i++) {
		srn_turn_own(&f->turn);
		KUNIT_EXPECT_EQ(test, f->inside, 0);
		srn_turn_disown(&f->turn);
		msleep(1);
	}
	for (i = 0; i < 2; i++)
		kthread_stop(task[i]);
	wait_idle(f);
	KUNIT_EXPECT_EQ(test, f->done, 2 * KICKS);
	KUNIT_EXPECT_EQ(test, f->overlaps, 0);
}

static struct kunit_case srn_turn_cases[] = {
	KUNIT_CASE(srn_turn_kick_runs_at_once_test),
	KUNIT_CASE(srn_turn_kick_inside_test),
	KUNIT_CASE(srn_turn_budget_test),
	KUNIT_CASE(srn_turn_defer_test),
	KUNIT_CASE(srn_turn_own_test),
	KUNIT_CASE(srn_turn_own_busy_test),
	KUNIT_CASE(srn_turn_own_after_round_test),
	KUNIT_CASE(srn_turn_own_listed_test),
	KUNIT_CASE(srn_turn_take_back_test),
	KUNIT_CASE(srn_turn_away_shared_test),
	KUNIT_CASE(srn_turn_news_first_test),
	KUNIT_CASE(srn_turn_news_beside_alarms_test),
	KUNIT_CASE(srn_turn_rest_beside_news_test),
	KUNIT_CASE(srn_turn_poll_bounded_test),
	KUNIT_CASE(srn_turn_later_test),
	KUNIT_CASE(srn_turn_away_test),
	KUNIT_CASE(srn_turn_away_is_not_first_test),
	KUNIT_CASE(srn_turn_own_away_test),
	KUNIT_CASE(srn_turn_away_pause_test),
	KUNIT_CASE(srn_turn_away_queue_test),
	KUNIT_CASE(srn_turn_away_fetched_test),
	KUNIT_CASE(srn_turn_race_test),
	{}
};

static struct kunit_suite srn_turn_suite = {
	.name = "srn_turn",
	.test_cases = srn_turn_cases,
};

kunit_test_suite(srn_turn_suite);
