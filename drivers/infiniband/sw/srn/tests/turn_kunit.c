// SPDX-License-Identifier: GPL-2.0-only
/* Who runs a turn and who owns it; which turn of many a NAPI runs next. */
#include "fake_turn.h"

#include <linux/bottom_half.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/netdevice.h>

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

/* A borrowed turn is nobody else's, and what comes meanwhile is run when it is given back, elsewhere. */
static void srn_turn_borrow_test(struct kunit *test)
{
	struct fake *f = new_fake(test);
	bool listed, again;

	local_bh_disable();
	KUNIT_ASSERT_TRUE(test, srn_turn_borrow(&f->turn, &listed));
	KUNIT_EXPECT_FALSE(test, listed);
	KUNIT_EXPECT_FALSE(test, srn_turn_borrow(&f->turn, &again));
	srn_turn_kick(&f->turn, SRN_TURN_RX);
	KUNIT_EXPECT_EQ(test, f->rounds, 0);
	srn_turn_return(&f->turn, listed);
	KUNIT_EXPECT_EQ(test, f->rounds, 0);
	local_bh_enable();
	wait_idle(f);
	KUNIT_EXPECT_EQ(test, f->rounds, 1);
	KUNIT_EXPECT_EQ(test, f->seen, (unsigned int)SRN_TURN_RX);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->turn.bits), 0);
}

/* Nothing came: no round is due. But for whose news lie there nobody borrows: who left them comes back. */
static void srn_turn_borrow_in_vain_test(struct kunit *test)
{
	struct fake *f = new_fake(test);
	bool listed;

	local_bh_disable();
	KUNIT_ASSERT_TRUE(test, srn_turn_borrow(&f->turn, &listed));
	srn_turn_return(&f->turn, listed);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->turn.bits), 0);
	atomic_set(&f->turn.bits, SRN_TURN_MORE);
	KUNIT_EXPECT_FALSE(test, srn_turn_borrow(&f->turn, &listed));
	KUNIT_EXPECT_EQ(test, atomic_read(&f->turn.bits), (int)SRN_TURN_MORE);
	atomic_set(&f->turn.bits, 0);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, f->rounds, 0);
}

/* Nor one that somebody waits to own. */
static void srn_turn_borrow_listed_wanted_test(struct kunit *test)
{
	struct fake *f = new_fake(test);
	bool listed;

	local_bh_disable();
	srn_turn_defer(&f->turn, SRN_TURN_SQ);
	atomic_or(SRN_TURN_WANTED, &f->turn.bits);
	KUNIT_EXPECT_FALSE(test, srn_turn_borrow(&f->turn, &listed));
	atomic_andnot(SRN_TURN_WANTED, &f->turn.bits);
	local_bh_enable();
	wait_idle(f);
	KUNIT_EXPECT_EQ(test, f->rounds, 1);
}

/* One that waits in a list has its round all the same, with what it waited for or with nothing. */
static void borrow_listed(struct kunit *test, unsigned int bits)
{
	struct fake *f = new_fake(test);
	bool listed;

	local_bh_disable();
	srn_turn_defer(&f->turn, bits);
	KUNIT_ASSERT_TRUE(test, srn_turn_borrow(&f->turn, &listed));
	KUNIT_EXPECT_TRUE(test, listed);
	KUNIT_EXPECT_EQ(test, f->rounds, 0);
	srn_turn_return(&f->turn, listed);
	KUNIT_EXPECT_EQ(test, f->rounds, 0);
	local_bh_enable();
	wait_idle(f);
	KUNIT_EXPECT_EQ(test, f->rounds, 1);
	KUNIT_EXPECT_EQ(test, f->seen, bits);
}

static void srn_turn_borrow_listed_test(struct kunit *test)
{
	borrow_listed(test, 0);
	borrow_listed(test, SRN_TURN_SQ);
	borrow_listed(test, SRN_TURN_MORE);
}

/* Who waits for a turn that is borrowed gets it. */
static int own_and_disown(void *arg)
{
	struct fake *f = arg;

	srn_turn_own(&f->turn);
	srn_turn_disown(&f->turn);
	return 0;
}

static void srn_turn_borrow_wanted_test(struct kunit *test)
{
	struct fake *f = new_fake(test);
	struct task_struct *task;
	bool listed;
	int i;

	migrate_disable();
	local_bh_disable();
	KUNIT_ASSERT_TRUE(test, srn_turn_borrow(&f->turn, &listed));
	local_bh_enable();
	task = kthread_create(own_and_disown, f, "srn-own");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	get_task_struct(task);
	wake_up_process(task);
	for (i = 0; i < 1000 && !(atomic_read(&f->turn.bits) & SRN_TURN_WANTED); i++)
		msleep(1);
	KUNIT_EXPECT_TRUE(test, atomic_read(&f->turn.bits) & SRN_TURN_WANTED);
	local_bh_disable();
	srn_turn_return(&f->turn, listed);
	local_bh_enable();
	migrate_enable();
	wait_idle(f);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->turn.bits), 0);
	kthread_stop_put(task);
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
	int before;

	make_busy(hogs, 1000);
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
	make_busy(hogs, 0);
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
	make_busy(hogs, 0);
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
	make_busy(hogs, 100);
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

	make_busy(hogs, 1000);
	local_bh_disable();
	defer_all(hogs);
	local_bh_enable();
	KUNIT_EXPECT_LT(test, rounds_of(hogs), HOGS / 2);
	for (i = 0; i < HOGS; i++)
		wait_idle(&hogs[i]);
	KUNIT_EXPECT_EQ(test, rounds_of(hogs), HOGS);
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
	KUNIT_CASE(srn_turn_borrow_test),
	KUNIT_CASE(srn_turn_borrow_in_vain_test),
	KUNIT_CASE(srn_turn_borrow_listed_wanted_test),
	KUNIT_CASE(srn_turn_borrow_listed_test),
	KUNIT_CASE(srn_turn_borrow_wanted_test),
	KUNIT_CASE(srn_turn_own_listed_test),
	KUNIT_CASE(srn_turn_news_first_test),
	KUNIT_CASE(srn_turn_news_beside_alarms_test),
	KUNIT_CASE(srn_turn_rest_beside_news_test),
	KUNIT_CASE(srn_turn_poll_bounded_test),
	KUNIT_CASE(srn_turn_race_test),
	{}
};

static struct kunit_suite srn_turn_suite = {
	.name = "srn_turn",
	.test_cases = srn_turn_cases,
};

kunit_test_suite(srn_turn_suite);
