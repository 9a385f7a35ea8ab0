// SPDX-License-Identifier: GPL-2.0-only
/* What is left of a turn: to a worker, or to who causes it, in his own time. */
#include "../limits.h"
#include "fake_turn.h"

#include <linux/bottom_half.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>

static void send_all_away(struct kunit *test, struct fake *hogs)
{
	int i;

	for (i = 0; i < HOGS; i++) {
		KUNIT_ASSERT_TRUE(test, srn_turn_take(&hogs[i].turn, SRN_TURN_SQ));
		srn_turn_send_away(&hogs[i].turn);
	}
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

/* Workers whose work has no end let the others have their turn; those can be owned. */
static void srn_turn_away_shared_test(struct kunit *test)
{
	struct fake *hogs = new_hogs(test, INT_MAX), *f = new_fake(test);
	int i;

	send_all_away(test, hogs);
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&f->turn, SRN_TURN_SQ));
	srn_turn_send_away(&f->turn);
	for (i = 0; i < 5000 && !READ_ONCE(f->rounds); i++)
		msleep(1);
	KUNIT_EXPECT_EQ(test, f->rounds, 1);
	end_all(hogs);
}

/* After each of so many rounds there is more to flush. */
static struct fake *new_flusher(struct kunit *test, int more)
{
	struct fake *f = new_fake(test);

	f->left = SRN_LEFT_LATER;
	f->more = more;
	return f;
}

static bool kicks_here_once(struct fake *f)
{
	bool left;

	local_bh_disable();
	left = srn_turn_kick_here(&f->turn, SRN_TURN_FLUSH);
	local_bh_enable();
	return left;
}

/* As who rings does; how often it came. */
static int kicks_here(struct fake *f)
{
	int kicks = 1;

	while (kicks_here_once(f))
		kicks++;
	return kicks;
}

/* What nobody waits for is done by a worker, or by who causes it: not in a softirq. */
static void srn_turn_later_test(struct kunit *test)
{
	struct fake *f = new_flusher(test, 100);

	srn_turn_kick(&f->turn, SRN_TURN_FLUSH);
	wait_idle(f);
	KUNIT_EXPECT_EQ(test, f->rounds, 101);
	f->more = 100;
	KUNIT_EXPECT_EQ(test, kicks_here(f), 101);
	KUNIT_EXPECT_EQ(test, f->rounds, 202);
	KUNIT_EXPECT_EQ(test, f->in_softirq, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->turn.bits), 0);
}

/* What may take a peer as long as it likes is in a list, where who rings takes it out. */
static void srn_turn_listed_test(struct kunit *test)
{
	struct fake *f = new_fake(test);
	bool out = false;
	int i;

	f->left = SRN_LEFT_LISTED;
	f->more = INT_MAX;
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&f->turn, SRN_TURN_SQ));
	srn_turn_send_away(&f->turn);
	for (i = 0; i < 10000 && !READ_ONCE(f->rounds); i++)
		msleep(1);
	/* The NAPI may be at it, now and then. */
	for (i = 0; i < 1000 && !out; i++) {
		if (i)
			msleep(1);
		local_bh_disable();
		out = srn_turn_take_out(&f->turn, SRN_TURN_FLUSH);
		if (out) {
			f->more = 0;
			srn_turn_run(&f->turn);
		}
		local_bh_enable();
	}
	KUNIT_EXPECT_TRUE(test, out);
	KUNIT_EXPECT_EQ(test, f->by_worker, 1);
	KUNIT_EXPECT_EQ(test, f->overlaps, 0);
	if (!out)
		own_and_end(test, f);
	wait_idle(f);
}

/* Between the parts nobody has the turn: a sleeper gets it at once, a packet goes on. */
static void srn_turn_put_down_test(struct kunit *test)
{
	struct fake *f = new_flusher(test, 3);

	KUNIT_EXPECT_TRUE(test, kicks_here_once(f));
	KUNIT_EXPECT_EQ(test, f->rounds, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->turn.bits), (int)SRN_TURN_MORE);
	srn_turn_own(&f->turn);
	KUNIT_EXPECT_EQ(test, f->rounds, 1);
	/* Who had it does what is left. */
	srn_turn_disown(&f->turn);
	KUNIT_EXPECT_EQ(test, f->rounds, 4);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->turn.bits), 0);
}

/* A packet that came meanwhile is not put down with the rest; what was rung for is. */
static void srn_turn_put_down_news_test(struct kunit *test)
{
	struct fake *f = new_flusher(test, 1);

	f->kick_inside = SRN_TURN_RX;
	KUNIT_EXPECT_FALSE(test, kicks_here_once(f));
	KUNIT_EXPECT_EQ(test, f->rounds, 2);
	KUNIT_EXPECT_TRUE(test, f->seen & SRN_TURN_RX);
	f->more = 1;
	f->kick_inside = SRN_TURN_GATHER;
	KUNIT_EXPECT_TRUE(test, kicks_here_once(f));
	KUNIT_EXPECT_EQ(test, f->rounds, 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->turn.bits), (int)(SRN_TURN_MORE | SRN_TURN_GATHER));
	own_and_end(test, f);
}

/* However much others post meanwhile, who gives it back comes out; a worker has the rest. */
static void srn_turn_disown_bounded_test(struct kunit *test)
{
	struct fake *f = new_flusher(test, INT_MAX);

	srn_turn_own(&f->turn);
	atomic_or(SRN_TURN_MORE, &f->turn.bits);
	srn_turn_disown(&f->turn);
	KUNIT_EXPECT_TRUE(test, atomic_read(&f->turn.bits) & SRN_TURN_OWNED);
	own_and_end(test, f);
	KUNIT_EXPECT_GT(test, f->rounds, 2 * SRN_MAX_QP_WR / SRN_ROUND_BUDGET);
	KUNIT_EXPECT_LT(test, f->rounds - f->by_worker, 3 * SRN_MAX_QP_WR / SRN_ROUND_BUDGET);
}

/* Those who ring in vain do not make it a worker's. */
static void srn_turn_here_beside_news_test(struct kunit *test)
{
	struct fake *f = new_flusher(test, 100);
	int passed_on = 0;

	f->news = SRN_TURN_SQ;
	while (f->more > 0)
		passed_on += !kicks_here_once(f);
	KUNIT_EXPECT_EQ(test, passed_on, 0);
	f->news = 0;
	KUNIT_EXPECT_EQ(test, kicks_here(f), 1);
	KUNIT_EXPECT_EQ(test, f->by_worker, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->turn.bits), 0);
}

/* Who does not come back for the rest leaves it to a worker. */
static void srn_turn_give_away_test(struct kunit *test)
{
	struct fake *f = new_flusher(test, 3);

	KUNIT_EXPECT_TRUE(test, kicks_here_once(f));
	local_bh_disable();
	srn_turn_give_away(&f->turn);
	local_bh_enable();
	wait_idle(f);
	KUNIT_EXPECT_EQ(test, f->rounds, 4);
	KUNIT_EXPECT_EQ(test, f->by_worker, 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->turn.bits), 0);
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

	make_busy(hogs, 100);
	send_all_away(test, hogs);
	KUNIT_EXPECT_FALSE(test, srn_turn_may_go_away(&f->turn));
	make_busy(hogs, 0);
	end_all(hogs);
	KUNIT_EXPECT_EQ(test, srn_turn_may_go_away(&f->turn), num_online_cpus() > 1);
}

/* Nor does it wait there: its alarm fetches it, and then it stays for a while. */
static void srn_turn_away_fetched_test(struct kunit *test)
{
	struct fake *hogs = new_hogs(test, INT_MAX), *f = new_fake(test);
	unsigned long start = jiffies;
	u64 late;
	int before;

	make_busy(hogs, 100);
	send_all_away(test, hogs);
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
	make_busy(hogs, 0);
	end_all(hogs);
}

static struct kunit_case srn_turn_away_cases[] = {
	KUNIT_CASE(srn_turn_take_back_test),
	KUNIT_CASE(srn_turn_away_shared_test),
	KUNIT_CASE(srn_turn_later_test),
	KUNIT_CASE(srn_turn_listed_test),
	KUNIT_CASE(srn_turn_put_down_test),
	KUNIT_CASE(srn_turn_put_down_news_test),
	KUNIT_CASE(srn_turn_disown_bounded_test),
	KUNIT_CASE(srn_turn_here_beside_news_test),
	KUNIT_CASE(srn_turn_give_away_test),
	KUNIT_CASE(srn_turn_away_test),
	KUNIT_CASE(srn_turn_away_is_not_first_test),
	KUNIT_CASE(srn_turn_own_away_test),
	KUNIT_CASE(srn_turn_away_pause_test),
	KUNIT_CASE(srn_turn_away_queue_test),
	KUNIT_CASE(srn_turn_away_fetched_test),
	{}
};

static struct kunit_suite srn_turn_away_suite = {
	.name = "srn_turn_away",
	.test_cases = srn_turn_away_cases,
};

kunit_test_suite(srn_turn_away_suite);
