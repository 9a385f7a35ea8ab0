// SPDX-License-Identifier: GPL-2.0-only
/* QPs that take turns only where something was lost by a queue. */
#include "../board.h"
#include "../known.h"
#include "../retry.h"
#include "fake_many.h"

#include <kunit/test.h>
#include <linux/ktime.h>

static struct many *new_lossy(struct kunit *test)
{
	struct many *m = new_many(test);

	m->dev->rota = SRN_ROTA_LOSSY;
	return m;
}

/* A member finds something lost, by a queue or by chance. */
static void lose(struct many *m, int i, bool queue)
{
	struct srn_qp *qp = m->qp[i];

	qp->window.crowd.left = queue;
	srn_known_lost(qp->known, &qp->window.crowd, ktime_get_ns());
}

/* As if it had been so long ago. */
static void pass(struct many *m, u64 ns)
{
	m->path->rota.lost_ns -= ns;
}

static void age(struct many *m)
{
	pass(m, SRN_ROTA_LATELY_NS);
}

/* Nothing is run from here on, something was lost, all places are taken, and @wait QPs wait. */
static void begin_turns(struct kunit *test, struct many *m, int wait)
{
	own_all(test, m);
	lose(m, 3, true);
	fill(test, m, wait);
}

static int num_open(struct many *m)
{
	int i, num = 0;

	for (i = 0; i < USERS; i++)
		num += ask(m, i) == SRN_GATE_OPEN;
	return num;
}

/* As long as nothing is lost, or by chance, nobody has a place or waits for one. */
static void srn_lossy_free_test(struct kunit *test)
{
	struct many *m = new_lossy(test);

	own_all(test, m);
	KUNIT_EXPECT_EQ(test, num_open(m), USERS);
	lose(m, 0, false);
	KUNIT_EXPECT_EQ(test, num_open(m), USERS);
	KUNIT_EXPECT_EQ(test, m->path->rota.taken, 0u);
	KUNIT_EXPECT_EQ(test, waits(m), 0);
	/* Nor where each would have a place. */
	m->path->users = SRN_ROTA_PLACES;
	lose(m, 0, true);
	m->path->users = USERS;
	KUNIT_EXPECT_EQ(test, num_open(m), USERS);
	end_all(test, m);
}

/* From a loss by a queue on they take turns; also those that had no turn to take, with what they have out. */
static void srn_lossy_lost_test(struct kunit *test)
{
	struct many *m = new_lossy(test);

	own_all(test, m);
	send(m, USERS - 1, 1);
	lose(m, 3, true);
	fill(test, m, USERS - SRN_ROTA_PLACES);
	KUNIT_EXPECT_EQ(test, m->path->rota.taken, SRN_ROTA_PLACES);
	end_all(test, m);
}

/* Whoever finds that something is lost says so: by a NAK, or by what SACKs tell. */
static void srn_lossy_told_test(struct kunit *test)
{
	struct many *m = new_lossy(test);
	struct srn_score *board;
	struct srn_qp *qp;
	int i;

	own_all(test, m);
	for (i = 0; i < 2; i++) {
		qp = m->qp[i];
		qp->window.crowd.left = 1;
		m->path->rota.needed = false;
		send(m, i, 4);
		if (i) {
			board = srn_board_get(qp, &qp->score);
			srn_board_sent(qp, board, ktime_get_ns(), 0, 1);
			srn_board_drop(qp, &qp->score);
		} else {
			srn_retry_nak(qp);
		}
		KUNIT_EXPECT_TRUE_MSG(test, m->path->rota.needed, "%d", i);
	}
	end_all(test, m);
}

/* When nothing was lost for long they do not any more: who asks for a place goes without. */
static void srn_lossy_calm_test(struct kunit *test)
{
	struct many *m = new_lossy(test);
	int first = SRN_ROTA_PLACES;

	begin_turns(test, m, 1);
	age(m);
	KUNIT_EXPECT_EQ(test, ask(m, first), SRN_GATE_OPEN);
	KUNIT_EXPECT_FALSE(test, m->qp[first]->known->shift.waits);
	KUNIT_EXPECT_FALSE(test, m->qp[first]->known->shift.on);
	KUNIT_EXPECT_EQ(test, waits(m), 1);
	KUNIT_EXPECT_EQ(test, num_open(m), USERS);
	KUNIT_EXPECT_EQ(test, m->path->rota.taken, 0u);
	end_all(test, m);
}

/* Who waits when it gets calm is told by whoever has a place. */
static void srn_lossy_calm_waiter_test(struct kunit *test)
{
	struct many *m = new_lossy(test);
	int first = SRN_ROTA_PLACES;

	begin_turns(test, m, 2);
	age(m);
	KUNIT_EXPECT_EQ(test, ask(m, first), SRN_GATE_OPEN);
	KUNIT_EXPECT_FALSE(test, is_woken(m->qp[first + 1]));
	KUNIT_EXPECT_EQ(test, ask(m, 0), SRN_GATE_OPEN);
	KUNIT_EXPECT_TRUE(test, is_woken(m->qp[first + 1]));
	KUNIT_EXPECT_EQ(test, ask(m, first + 1), SRN_GATE_OPEN);
	end_all(test, m);
}

/* All are busy, and nobody asks: whoever has had its turn sees it. */
static void srn_lossy_calm_busy_test(struct kunit *test)
{
	struct many *m = new_lossy(test);

	begin_turns(test, m, 2);
	m->qp[0]->known->shift.sent = SRN_ROTA_QUOTA * SRN_ROTA_ROUNDS;
	KUNIT_EXPECT_EQ(test, ask(m, 0), SRN_GATE_SHIFT);
	answer(m, 0);
	age(m);
	srn_shift_end_round(m->qp[0]);
	KUNIT_EXPECT_FALSE(test, m->path->rota.needed);
	KUNIT_EXPECT_EQ(test, num_open(m), USERS);
	end_all(test, m);
}

/* Nobody takes turns on a path that is far, nor does anybody ask: it is seen when an answer is. */
static void srn_lossy_calm_far_test(struct kunit *test)
{
	struct many *m = new_lossy(test);
	const struct srn_crowd crowd = { .least_ns = 2 * SRN_ROTA_FAR_NS, .now_ns = ktime_get_ns() };

	m->path->rota.least_ns = crowd.least_ns;
	m->path->rota.far = true;
	m->path->rota.known = true;
	own_all(test, m);
	srn_rota_lost(&m->path->rota, crowd.now_ns);
	srn_known_look(m->path, &crowd, SRN_ROTA_LOSSY);
	KUNIT_EXPECT_EQ(test, m->path->rota.answers, 1u);
	KUNIT_EXPECT_TRUE(test, m->path->rota.needed);
	age(m);
	srn_known_look(m->path, &crowd, SRN_ROTA_LOSSY);
	KUNIT_EXPECT_FALSE(test, m->path->rota.needed);
	KUNIT_EXPECT_EQ(test, m->path->rota.answers, 2u);
	srn_known_look(m->path, &crowd, SRN_ROTA_LOSSY);
	KUNIT_EXPECT_EQ(test, m->path->rota.answers, 2u);
	end_all(test, m);
}

/* On a path that is not short a place that is not used for a round trip is missed, unless a queue covers that. */
static void srn_lossy_long_test(struct kunit *test)
{
	struct many *m = new_lossy(test);
	struct srn_crowd *c = &m->qp[0]->window.crowd;

	m->path->rota.least_ns = SRN_ROTA_LONG_NS;
	c->least_ns = SRN_ROTA_LONG_NS;
	c->delay_ns = SRN_ROTA_LONG_NS - 1;
	own_all(test, m);
	lose(m, 0, true);
	KUNIT_EXPECT_FALSE(test, m->path->rota.needed);
	c->delay_ns++;
	lose(m, 0, true);
	KUNIT_EXPECT_TRUE(test, m->path->rota.needed);
	/* Nor later, though nobody has seen that it was over. */
	age(m);
	c->delay_ns--;
	lose(m, 0, true);
	KUNIT_EXPECT_GE(test, ktime_get_ns() - m->path->rota.lost_ns, SRN_ROTA_LATELY_NS);
	end_all(test, m);
}

/* Who gives up a place has its part of that: all may go on at once when turns are not taken any more. */
static void srn_lossy_share_test(struct kunit *test)
{
	struct many *m = new_lossy(test);
	struct srn_window *w = &m->qp[0]->window;

	begin_turns(test, m, 1);
	answer(m, 0);
	w->cwnd = USERS;
	srn_shift_end_round(m->qp[0]);
	KUNIT_EXPECT_EQ(test, w->cwnd, SRN_ROTA_PLACES);
	KUNIT_EXPECT_EQ(test, m->path->rota.legacy.cwnd, USERS);
	/* Not where it may go on with all of it at once: nobody waits. */
	answer(m, 1);
	w = &m->qp[1]->window;
	w->cwnd = USERS;
	srn_shift_end_round(m->qp[1]);
	KUNIT_EXPECT_FALSE(test, m->qp[1]->known->shift.on);
	KUNIT_EXPECT_EQ(test, w->cwnd, USERS);
	end_all(test, m);
}

/* So has who has a place when turns are not taken any more. */
static void srn_lossy_share_calm_test(struct kunit *test)
{
	struct many *m = new_lossy(test);
	struct srn_window *w;
	int i;

	begin_turns(test, m, 0);
	for (i = 0; i < 2; i++) {
		w = &m->qp[i]->window;
		w->many = SRN_WINDOW_NOT_OF_MANY;
		w->cwnd = USERS;
		/* On a path that turns out to be far it is one of few. */
		m->path->rota.far = i;
		m->path->rota.needed = i;
		KUNIT_EXPECT_EQ(test, ask(m, i), SRN_GATE_OPEN);
		KUNIT_EXPECT_FALSE(test, m->qp[i]->known->shift.on);
		KUNIT_EXPECT_EQ(test, w->cwnd, i ? USERS : SRN_ROTA_PLACES);
	}
	end_all(test, m);
}

struct share_row {
	const char *desc;
	u32 cwnd, some, all, floor, lent, share;
};

static const struct share_row share_rows[] = {
	{ "a part", 64, 16, 64, 1, 0, 16 },
	{ "no less than who begins", 4, 16, 64, 1, 0, 2 },
	{ "nor than the least", 20, 16, 256, 4, 0, 4 },
	{ "nor more than it had", 1, 16, 64, 1, 0, 1 },
	{ "though others have gone", 100, 16, 4, 1, 0, 100 },
	{ "what is lent is no part of it", 64, 16, 64, 1, 48, 52 },
};

KUNIT_ARRAY_PARAM_DESC(share, share_rows, desc);

static void srn_lossy_share_of_test(struct kunit *test)
{
	const struct share_row *row = test->param_value;
	struct srn_window *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, w);
	w->cwnd = row->cwnd;
	w->floor = row->floor;
	w->lent = row->lent;
	srn_window_share(w, row->some, row->all);
	KUNIT_EXPECT_EQ(test, w->cwnd, row->share);
}

/* What is lost again keeps them at it. */
static void srn_lossy_again_test(struct kunit *test)
{
	struct many *m = new_lossy(test);
	u64 was;

	begin_turns(test, m, 1);
	age(m);
	lose(m, 3, true);
	KUNIT_EXPECT_EQ(test, ask(m, SRN_ROTA_PLACES), SRN_GATE_SHIFT);
	/* Which is told in a while, not each time. */
	pass(m, SRN_ROTA_TELL_NS / 4);
	was = m->path->rota.lost_ns;
	lose(m, 3, true);
	KUNIT_EXPECT_EQ(test, m->path->rota.lost_ns, was);
	pass(m, SRN_ROTA_TELL_NS);
	lose(m, 3, true);
	KUNIT_EXPECT_GE(test, m->path->rota.lost_ns, was);
	end_all(test, m);
}

/* Many that begin do so with less than one of few, once they send something long: if that is before they have grown. */
static void srn_lossy_begins_test(struct kunit *test)
{
	static const struct { enum srn_rota_when when; u32 users, length, had, lent, cwnd; bool fresh; } rows[] = {
		{ SRN_ROTA_LOSSY, USERS, 65536, 16, 0, 2, false },
		{ SRN_ROTA_LOSSY, USERS, SRN_ROTA_SMALL + 1, 16, 0, 2, false },
		{ SRN_ROTA_LOSSY, USERS, SRN_ROTA_SMALL, 16, 0, 16, true },
		{ SRN_ROTA_LOSSY, USERS, 65536, 64, 48, 64, true },
		{ SRN_ROTA_LOSSY, USERS, 65536, 17, 0, 17, false },
		{ SRN_ROTA_LOSSY, USERS, 65536, 1, 0, 1, false },
		{ SRN_ROTA_LOSSY, SRN_ROTA_PLACES, 65536, 16, 0, 16, false },
		{ SRN_ROTA_OFF, USERS, 65536, 16, 0, 16, false },
	};
	struct many *m = new_lossy(test);
	struct srn_window *w = &m->qp[0]->window;
	int i;

	own_all(test, m);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		m->dev->rota = rows[i].when;
		m->path->users = rows[i].users;
		srn_requester_start(m->qp[0]);
		m->path->users = USERS;
		w->cwnd = rows[i].had;
		w->lent = rows[i].lent;
		m->wqe->length = rows[i].length;
		KUNIT_EXPECT_EQ(test, ask(m, 0), SRN_GATE_OPEN);
		w->lent = 0;
		KUNIT_EXPECT_EQ_MSG(test, w->cwnd, rows[i].cwnd, "%d", i);
		KUNIT_EXPECT_EQ(test, w->ssthresh, w->most);
		/* Once, but for what does not count. */
		KUNIT_EXPECT_EQ_MSG(test, m->user[0]->shift.fresh, rows[i].fresh, "%d", i);
	}
	m->wqe->length = 65536;
	end_all(test, m);
}

static struct kunit_case srn_lossy_cases[] = {
	KUNIT_CASE(srn_lossy_free_test),
	KUNIT_CASE(srn_lossy_lost_test),
	KUNIT_CASE(srn_lossy_told_test),
	KUNIT_CASE(srn_lossy_calm_test),
	KUNIT_CASE(srn_lossy_calm_waiter_test),
	KUNIT_CASE(srn_lossy_calm_busy_test),
	KUNIT_CASE(srn_lossy_calm_far_test),
	KUNIT_CASE(srn_lossy_long_test),
	KUNIT_CASE(srn_lossy_share_test),
	KUNIT_CASE(srn_lossy_share_calm_test),
	KUNIT_CASE_PARAM(srn_lossy_share_of_test, share_gen_params),
	KUNIT_CASE(srn_lossy_again_test),
	KUNIT_CASE(srn_lossy_begins_test),
	{}
};

static struct kunit_suite srn_lossy_suite = {
	.name = "srn_lossy",
	.test_cases = srn_lossy_cases,
};

kunit_test_suite(srn_lossy_suite);
