// SPDX-License-Identifier: GPL-2.0-only
/* When a QP that shares its path with many may send, when it gives that up, and that who waits is woken. */
#include "../gate.h"
#include "../requester.h"
#include "../retry.h"
#include "../shift.h"
#include "../stats.h"
#include "fake_many.h"

/* Where they are few nobody has one. */
static void srn_shift_few_test(struct kunit *test)
{
	struct many *m = new_many(test);
	int i;

	m->path->users = SRN_ROTA_FEW;
	own_all(test, m);
	for (i = 0; i < USERS; i++) {
		KUNIT_EXPECT_EQ(test, ask(m, i), SRN_GATE_OPEN);
		KUNIT_EXPECT_FALSE(test, m->qp[i]->known->shift.on);
		KUNIT_EXPECT_TRUE(test, srn_shift_packs(m->qp[i]));
	}
	end_all(test, m);
	m->path->users = USERS;
}

/* Where they are not so few each has a place, which it begins with few packets. */
static void srn_shift_some_test(struct kunit *test)
{
	struct many *m = new_many(test);
	int i;

	m->path->users = SRN_ROTA_FEW + 1;
	own_all(test, m);
	for (i = 0; i < SRN_ROTA_PLACES; i++) {
		KUNIT_EXPECT_EQ(test, ask(m, i), SRN_GATE_OPEN);
		KUNIT_EXPECT_TRUE(test, m->qp[i]->known->shift.on);
		KUNIT_EXPECT_LT(test, m->qp[i]->window.cwnd, SRN_WINDOW_FEW);
	}
	end_all(test, m);
	m->path->users = USERS;
}

/* Who has nothing out, and no more to send, gives its place to the first that waits, which is woken. */
static void srn_shift_idle_test(struct kunit *test)
{
	struct many *m = new_many(test);
	int first = SRN_ROTA_PLACES;

	own_all(test, m);
	fill(test, m, 2);
	srn_shift_end_round(m->qp[0]);
	KUNIT_EXPECT_FALSE(test, is_woken(m->qp[first]));
	answer(m, 0);
	srn_shift_end_round(m->qp[0]);
	KUNIT_EXPECT_FALSE(test, m->qp[0]->known->shift.on);
	KUNIT_EXPECT_FALSE(test, m->qp[0]->known->shift.waits);
	KUNIT_EXPECT_TRUE(test, is_woken(m->qp[first]));
	KUNIT_EXPECT_FALSE(test, is_woken(m->qp[first + 1]));
	KUNIT_EXPECT_EQ(test, ask(m, first), SRN_GATE_OPEN);
	KUNIT_EXPECT_EQ(test, ask(m, first + 1), SRN_GATE_SHIFT);
	KUNIT_EXPECT_EQ(test, ask(m, 0), SRN_GATE_SHIFT);
	end_all(test, m);
}

/* Who was given a place, and has nothing to send by then, does not keep it. */
static void srn_shift_vain_test(struct kunit *test)
{
	struct many *m = new_many(test);
	int first = SRN_ROTA_PLACES;

	own_all(test, m);
	fill(test, m, 2);
	answer(m, 0);
	srn_shift_end_round(m->qp[0]);
	srn_shift_end_round(m->qp[first]);
	KUNIT_EXPECT_FALSE(test, m->qp[first]->known->shift.on);
	KUNIT_EXPECT_TRUE(test, is_woken(m->qp[first + 1]));
	KUNIT_EXPECT_EQ(test, ask(m, first + 1), SRN_GATE_OPEN);
	end_all(test, m);
}

/* But who was given it while its round went on, in which it had to wait, has not begun. */
static void srn_shift_early_test(struct kunit *test)
{
	struct many *m = new_many(test);
	int first = SRN_ROTA_PLACES;

	own_all(test, m);
	fill(test, m, 1);
	KUNIT_EXPECT_EQ(test, ask(m, first), SRN_GATE_SHIFT);
	answer(m, 0);
	srn_shift_end_round(m->qp[0]);
	srn_shift_end_round(m->qp[first]);
	KUNIT_EXPECT_TRUE(test, m->qp[first]->known->shift.on);
	/* It was woken for another one. */
	KUNIT_EXPECT_TRUE(test, is_woken(m->qp[first]));
	srn_shift_end_round(m->qp[first]);
	KUNIT_EXPECT_FALSE(test, m->qp[first]->known->shift.on);
	end_all(test, m);
}

/* What is due to one is no more than that while others wait, and is said to end; then it stands behind them. */
static void srn_shift_over_test(struct kunit *test)
{
	struct many *m = new_many(test);
	int first = SRN_ROTA_PLACES;
	struct srn_qp *qp;

	own_all(test, m);
	qp = m->qp[0];
	fill(test, m, 0);
	qp->known->shift.sent = SRN_ROTA_QUOTA - 1024 - SRN_PACE_HEADERS;
	KUNIT_EXPECT_FALSE(test, srn_shift_ends(qp, 1024, 1));
	KUNIT_EXPECT_EQ(test, ask(m, first), SRN_GATE_SHIFT);
	srn_shift_end_round(m->qp[first]);
	KUNIT_EXPECT_FALSE(test, srn_shift_ends(qp, 1023, 1));
	KUNIT_EXPECT_TRUE(test, srn_shift_ends(qp, 1024, 1));
	KUNIT_EXPECT_EQ(test, ask(m, 0), SRN_GATE_OPEN);
	send(m, 0, 1);
	KUNIT_EXPECT_EQ(test, ask(m, 0), SRN_GATE_SHIFT);
	/* As long as it has something out the place is used. */
	srn_shift_end_round(qp);
	KUNIT_EXPECT_FALSE(test, is_woken(m->qp[first]));
	KUNIT_EXPECT_EQ(test, ask(m, 0), SRN_GATE_SHIFT);
	answer(m, 0);
	srn_shift_end_round(qp);
	KUNIT_EXPECT_TRUE(test, is_woken(m->qp[first]));
	KUNIT_EXPECT_TRUE(test, qp->known->shift.waits);
	KUNIT_EXPECT_EQ(test, ask(m, first), SRN_GATE_OPEN);
	answer(m, 1);
	srn_shift_end_round(m->qp[1]);
	KUNIT_EXPECT_TRUE(test, is_woken(qp));
	KUNIT_EXPECT_EQ(test, ask(m, 0), SRN_GATE_OPEN);
	KUNIT_EXPECT_EQ(test, waits(m), 2);
	end_all(test, m);
}

/* Where nobody waits another shift begins, without a pause. */
static void srn_shift_renewed_test(struct kunit *test)
{
	struct many *m = new_many(test);

	own_all(test, m);
	fill(test, m, 0);
	m->qp[0]->known->shift.sent = 10 * SRN_ROTA_QUOTA;
	KUNIT_EXPECT_EQ(test, ask(m, 0), SRN_GATE_OPEN);
	KUNIT_EXPECT_EQ(test, m->qp[0]->known->shift.sent, 0u);
	end_all(test, m);
}

/* Who waited is gone when the place is given up: who did that goes on, and knows. */
static void srn_shift_alone_again_test(struct kunit *test)
{
	struct many *m = new_many(test);
	int first = SRN_ROTA_PLACES;

	own_all(test, m);
	fill(test, m, 1);
	answer(m, 0);
	m->qp[0]->known->shift.sent = SRN_ROTA_QUOTA;
	KUNIT_EXPECT_EQ(test, ask(m, 0), SRN_GATE_SHIFT);
	srn_shift_leave(m->qp[first]);
	srn_shift_end_round(m->qp[0]);
	KUNIT_EXPECT_TRUE(test, is_woken(m->qp[0]));
	KUNIT_EXPECT_EQ(test, ask(m, 0), SRN_GATE_OPEN);
	end_all(test, m);
}

/* A small message goes without a place, where nothing else is out; what could join it does not. */
static void srn_shift_small_test(struct kunit *test)
{
	struct many *m = new_many(test);
	int first = SRN_ROTA_PLACES;

	own_all(test, m);
	fill(test, m, 0);
	m->wqe->length = SRN_ROTA_SMALL;
	KUNIT_EXPECT_EQ(test, ask(m, first), SRN_GATE_OPEN);
	KUNIT_EXPECT_FALSE(test, m->qp[first]->known->shift.on);
	KUNIT_EXPECT_FALSE(test, srn_shift_packs(m->qp[first]));
	KUNIT_EXPECT_TRUE(test, srn_shift_packs(m->qp[0]));
	m->wqe->length++;
	KUNIT_EXPECT_EQ(test, ask(m, first), SRN_GATE_SHIFT);
	srn_shift_end_round(m->qp[first]);
	m->wqe->length--;
	send(m, first, 1);
	KUNIT_EXPECT_EQ(test, ask(m, first), SRN_GATE_SHIFT);
	end_all(test, m);
}

/* The first of a list takes the place that the others will want, if there is one; else it goes, and they wait. */
static void srn_shift_list_test(struct kunit *test)
{
	struct many *m = new_many(test);
	int first = SRN_ROTA_PLACES, i;

	own_all(test, m);
	m->wqe->length = SRN_ROTA_SMALL;
	for (i = 0; i <= first; i++) {
		m->qp[i]->sq.fetched = m->qp[i]->window.at.index + 2;
		KUNIT_EXPECT_EQ(test, ask(m, i), SRN_GATE_OPEN);
		KUNIT_EXPECT_EQ(test, m->qp[i]->known->shift.on, i < first);
		KUNIT_EXPECT_EQ(test, srn_shift_packs(m->qp[i]), i < first);
		send(m, i, 1);
	}
	KUNIT_EXPECT_TRUE(test, m->qp[first]->known->shift.waits);
	KUNIT_EXPECT_EQ(test, ask(m, first), SRN_GATE_SHIFT);
	/* The last is followed by none. */
	m->qp[first + 1]->sq.fetched = m->qp[first + 1]->window.at.index + 1;
	KUNIT_EXPECT_EQ(test, ask(m, first + 1), SRN_GATE_OPEN);
	KUNIT_EXPECT_FALSE(test, m->qp[first + 1]->known->shift.waits);
	end_all(test, m);
}

/* Who is not answered for long gives its place up with packets out, and takes none before it is; what asks after
 * that needs none.
 */
static void srn_shift_stall_test(struct kunit *test)
{
	struct many *m = new_many(test);
	int first = SRN_ROTA_PLACES;

	own_all(test, m);
	fill(test, m, 1);
	m->qp[0]->retry.probes = 3;
	srn_shift_end_round(m->qp[0]);
	KUNIT_EXPECT_TRUE(test, m->qp[0]->known->shift.on);
	m->qp[0]->retry.probes = 4;
	srn_shift_end_round(m->qp[0]);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(m->dev, SRN_CNT_SHIFT_STALLS), 1);
	KUNIT_EXPECT_TRUE(test, is_woken(m->qp[first]));
	KUNIT_EXPECT_EQ(test, ask(m, first), SRN_GATE_OPEN);
	KUNIT_EXPECT_EQ(test, m->path->rota.legacy.cwnd, 0);
	KUNIT_EXPECT_EQ(test, ask(m, 0), SRN_GATE_SHIFT);
	KUNIT_EXPECT_FALSE(test, m->qp[0]->known->shift.waits);
	answer(m, 0);
	m->qp[0]->retry.probing = true;
	KUNIT_EXPECT_EQ(test, ask(m, 0), SRN_GATE_OPEN);
	KUNIT_EXPECT_FALSE(test, m->qp[0]->known->shift.on);
	m->qp[0]->retry.probing = false;
	KUNIT_EXPECT_EQ(test, ask(m, 0), SRN_GATE_SHIFT);
	KUNIT_EXPECT_TRUE(test, m->qp[0]->known->shift.waits);
	end_all(test, m);
}

/* Who asks nobody before the timeout is silent from then on. */
static void srn_shift_stall_unasked_test(struct kunit *test)
{
	struct many *m = new_many(test);

	own_all(test, m);
	fill(test, m, 1);
	m->qp[0]->retry.probing = true;
	srn_shift_end_round(m->qp[0]);
	KUNIT_EXPECT_TRUE(test, m->qp[0]->known->shift.on);
	m->qp[0]->recovery = SRN_RECOVERY_GBN;
	srn_shift_end_round(m->qp[0]);
	KUNIT_EXPECT_FALSE(test, m->qp[0]->known->shift.on);
	KUNIT_EXPECT_TRUE(test, is_woken(m->qp[SRN_ROTA_PLACES]));
	end_all(test, m);
}

/* Others have waited for its place since then, as it saw. */
static void keep(struct many *m, int i, u64 ns)
{
	srn_shift_end_round(m->qp[i]);
	m->qp[i]->rtt.srtt_ns = NSEC_PER_MSEC;
	m->qp[i]->known->shift.wanted_ns -= ns;
	srn_shift_end_round(m->qp[i]);
}

/* However few bytes that is: once others have waited for long nothing more goes, and it is theirs when that is answered;
 * where nobody waits any more, nobody is kept waiting.
 */
static void srn_shift_due_test(struct kunit *test)
{
	struct many *m = new_many(test);
	int first = SRN_ROTA_PLACES;

	own_all(test, m);
	fill(test, m, 1);
	keep(m, 0, SRN_ROTA_DUE_NS / 2);
	KUNIT_EXPECT_EQ(test, ask(m, 0), SRN_GATE_OPEN);
	keep(m, 0, SRN_ROTA_DUE_NS / 2);
	KUNIT_EXPECT_EQ(test, ask(m, 0), SRN_GATE_SHIFT);
	srn_shift_end_round(m->qp[0]);
	KUNIT_EXPECT_TRUE(test, m->qp[0]->known->shift.on);
	KUNIT_EXPECT_EQ(test, ask(m, 0), SRN_GATE_SHIFT);
	answer(m, 0);
	srn_shift_end_round(m->qp[0]);
	KUNIT_EXPECT_TRUE(test, is_woken(m->qp[first]));
	KUNIT_EXPECT_TRUE(test, m->qp[0]->known->shift.waits);
	keep(m, 1, SRN_ROTA_DUE_NS);
	KUNIT_EXPECT_EQ(test, ask(m, 1), SRN_GATE_SHIFT);
	srn_shift_leave(m->qp[0]);
	KUNIT_EXPECT_EQ(test, ask(m, 1), SRN_GATE_OPEN);
	end_all(test, m);
}

/* What silence has shut its window to is left to nobody. */
static void srn_shift_due_silent_test(struct kunit *test)
{
	struct many *m = new_many(test);

	own_all(test, m);
	fill(test, m, 1);
	keep(m, 0, SRN_ROTA_DUE_NS);
	answer(m, 0);
	m->qp[0]->retry.probing = true;
	srn_shift_end_round(m->qp[0]);
	KUNIT_EXPECT_FALSE(test, m->qp[0]->known->shift.on);
	KUNIT_EXPECT_EQ(test, m->path->rota.legacy.cwnd, 0);
	end_all(test, m);
}

/* Nobody keeps a place for ever, though each of its packets but one is answered: all of those that have one. */
static void srn_shift_last_test(struct kunit *test)
{
	struct many *m = new_many(test);
	int first = SRN_ROTA_PLACES;

	own_all(test, m);
	fill(test, m, 2);
	keep(m, 0, 2 * SRN_ROTA_DUE_NS - 100 * NSEC_PER_MSEC);
	KUNIT_EXPECT_TRUE(test, m->qp[0]->known->shift.on);
	keep(m, 0, 100 * NSEC_PER_MSEC);
	KUNIT_EXPECT_FALSE(test, m->qp[0]->known->shift.on);
	KUNIT_EXPECT_TRUE(test, is_woken(m->qp[first]));
	KUNIT_EXPECT_EQ(test, srn_stats_sum(m->dev, SRN_CNT_SHIFT_STALLS), 1);
	KUNIT_EXPECT_EQ(test, m->path->rota.legacy.cwnd, 0);
	keep(m, 1, 2 * SRN_ROTA_DUE_NS);
	KUNIT_EXPECT_TRUE(test, is_woken(m->qp[first + 1]));
	KUNIT_EXPECT_EQ(test, ask(m, first), SRN_GATE_OPEN);
	KUNIT_EXPECT_EQ(test, ask(m, first + 1), SRN_GATE_OPEN);
	/* With what it has to send it stands behind those that came before it. */
	KUNIT_EXPECT_EQ(test, ask(m, 0), SRN_GATE_SHIFT);
	KUNIT_EXPECT_TRUE(test, m->qp[0]->known->shift.waits);
	end_all(test, m);
}

/* Who might keep a place for ever takes none. */
static void srn_shift_no_part_test(struct kunit *test)
{
	struct many *m = new_many(test);
	int first = SRN_ROTA_PLACES;
	struct srn_qp *qp = m->qp[first];

	own_all(test, m);
	fill(test, m, 0);
	qp->timeout = 0;
	qp->recovery = SRN_RECOVERY_GBN;
	KUNIT_EXPECT_EQ(test, ask(m, first), SRN_GATE_OPEN);
	KUNIT_EXPECT_FALSE(test, qp->known->shift.on || qp->known->shift.waits);
	qp->recovery = SRN_RECOVERY_HOLD;
	KUNIT_EXPECT_EQ(test, ask(m, first), SRN_GATE_SHIFT);
	end_all(test, m);
}

/* Once the path is known to be far who has a place gives it up, those that wait are woken, and all go on as if there
 * had been no turns: also who is given that place, or finds by itself that it need not wait.
 */
static void srn_shift_far_test(struct kunit *test)
{
	struct many *m = new_many(test);
	int first = SRN_ROTA_PLACES, i;
	struct srn_window *w = &m->qp[0]->window;

	own_all(test, m);
	fill(test, m, 2);
	m->path->rota.far = true;
	KUNIT_EXPECT_EQ(test, ask(m, first + 1), SRN_GATE_OPEN);
	KUNIT_EXPECT_EQ(test, ask(m, 0), SRN_GATE_OPEN);
	KUNIT_EXPECT_FALSE(test, m->qp[0]->known->shift.on);
	KUNIT_EXPECT_EQ(test, w->cwnd, SRN_WINDOW_FEW);
	KUNIT_EXPECT_EQ(test, w->ssthresh, w->most);
	for (i = first; i < USERS; i++) {
		KUNIT_EXPECT_TRUE(test, is_woken(m->qp[i]));
		KUNIT_EXPECT_FALSE(test, m->qp[i]->known->shift.waits);
		KUNIT_EXPECT_EQ(test, ask(m, i), SRN_GATE_OPEN);
		KUNIT_EXPECT_FALSE(test, m->qp[i]->known->shift.on);
		KUNIT_EXPECT_EQ(test, m->qp[i]->window.cwnd, SRN_WINDOW_FEW);
		KUNIT_EXPECT_TRUE(test, srn_shift_packs(m->qp[i]));
	}
	/* What lost something stays as it is, also when that is repaired. */
	srn_window_lost(&m->qp[1]->window, 1, 0, ktime_get_ns());
	srn_window_silent(&m->qp[2]->window, false);
	answer(m, 1);
	answer(m, 2);
	for (i = 1; i < SRN_ROTA_PLACES; i++) {
		KUNIT_EXPECT_EQ(test, ask(m, i), SRN_GATE_OPEN);
		KUNIT_EXPECT_EQ(test, m->qp[i]->window.cwnd < SRN_WINDOW_FEW, i <= 2);
	}
	KUNIT_EXPECT_EQ(test, m->path->rota.taken, 0u);
	end_all(test, m);
}

/* From when turns are not wanted any more nobody begins to wait, and who waits has not for ever. */
static void srn_shift_off_test(struct kunit *test)
{
	struct many *m = new_many(test);
	int first = SRN_ROTA_PLACES;

	own_all(test, m);
	fill(test, m, 1);
	m->dev->rota = SRN_ROTA_OFF;
	KUNIT_EXPECT_EQ(test, ask(m, first + 1), SRN_GATE_OPEN);
	KUNIT_EXPECT_FALSE(test, m->qp[first + 1]->known->shift.on);
	answer(m, 0);
	m->qp[0]->known->shift.sent = SRN_ROTA_QUOTA;
	KUNIT_EXPECT_EQ(test, ask(m, 0), SRN_GATE_SHIFT);
	srn_shift_end_round(m->qp[0]);
	KUNIT_EXPECT_TRUE(test, is_woken(m->qp[first]));
	KUNIT_EXPECT_TRUE(test, is_woken(m->qp[0]));
	KUNIT_EXPECT_EQ(test, ask(m, 0), SRN_GATE_OPEN);
	KUNIT_EXPECT_FALSE(test, m->qp[0]->known->shift.on);
	end_all(test, m);
}

/* Whatever ends a QP's requests gives its place to another, and takes it from those that wait. */
static void srn_shift_reset_test(struct kunit *test)
{
	struct many *m = new_many(test);
	int first = SRN_ROTA_PLACES;

	own_all(test, m);
	fill(test, m, 2);
	srn_requester_reset(m->qp[first]);
	KUNIT_EXPECT_FALSE(test, m->qp[first]->known->shift.waits);
	srn_requester_reset(m->qp[0]);
	KUNIT_EXPECT_FALSE(test, m->qp[0]->known->shift.on);
	KUNIT_EXPECT_FALSE(test, is_woken(m->qp[first]));
	KUNIT_EXPECT_TRUE(test, is_woken(m->qp[first + 1]));
	/* What it had out by then tells nobody anything. */
	KUNIT_EXPECT_EQ(test, m->path->rota.legacy.cwnd, 0);
	end_all(test, m);
}

/* With a place comes what is known of the path: few go where nothing is. */
static void srn_shift_inherits_test(struct kunit *test)
{
	struct many *m = new_many(test);
	int first = SRN_ROTA_PLACES;
	struct srn_window *w;

	own_all(test, m);
	w = &m->qp[first]->window;
	fill(test, m, 1);
	KUNIT_EXPECT_LT(test, m->qp[0]->window.cwnd, SRN_WINDOW_FEW);
	KUNIT_EXPECT_EQ(test, w->cwnd, SRN_WINDOW_FEW);
	answer(m, 0);
	m->qp[0]->window.cwnd = 5;
	m->qp[0]->window.ssthresh = 3;
	m->qp[0]->window.crowd.least_ns = 4711;
	m->qp[0]->window.crowd.lost = 9;
	w->crowd.lost = 2;
	srn_shift_end_round(m->qp[0]);
	KUNIT_EXPECT_EQ(test, ask(m, first), SRN_GATE_OPEN);
	KUNIT_EXPECT_EQ(test, w->cwnd, 5u);
	KUNIT_EXPECT_EQ(test, w->ssthresh, 3u);
	KUNIT_EXPECT_EQ(test, w->crowd.least_ns, 4711ull);
	KUNIT_EXPECT_EQ(test, w->crowd.lost, 2u);
	/* It lost nothing, as who left it. */
	KUNIT_EXPECT_TRUE(test, srn_window_is_of_many(w));
	/* Once. */
	w->cwnd = 7;
	KUNIT_EXPECT_EQ(test, ask(m, first), SRN_GATE_OPEN);
	KUNIT_EXPECT_EQ(test, w->cwnd, 7u);
	/* Also who might send as much, and has not seen the path. */
	w = &m->qp[first + 1]->window;
	w->cwnd = 5;
	w->ssthresh = 3;
	answer(m, 1);
	srn_shift_end_round(m->qp[1]);
	srn_window_leave(&m->qp[0]->window, &m->path->rota.legacy);
	KUNIT_EXPECT_EQ(test, ask(m, first + 1), SRN_GATE_OPEN);
	KUNIT_EXPECT_EQ(test, w->crowd.least_ns, 4711ull);
	/* It had lost something, but goes on as who left it. */
	KUNIT_EXPECT_TRUE(test, srn_window_is_of_many(w));
	end_all(test, m);
}

/* Whoever lost something by itself before there was anything to go on with has not begun as one of many. */
static void srn_shift_lost_before_test(struct kunit *test)
{
	struct many *m = new_many(test);
	struct srn_window *w = &m->qp[0]->window;

	own_all(test, m);
	srn_window_lost(w, 1, 0, ktime_get_ns());
	fill(test, m, 0);
	KUNIT_EXPECT_FALSE(test, srn_window_is_of_many(w));
	KUNIT_EXPECT_TRUE(test, srn_window_is_of_many(&m->qp[1]->window));
	end_all(test, m);
}

/* The last packet of a shift asks for an ACK, and none goes twice for that; then nothing goes. */
static void srn_shift_asks_at_the_end_test(struct kunit *test)
{
	struct many *m = new_many(test);
	int budget = SRN_ROUND_BUDGET;
	struct srn_qp *qp;

	migrate_disable();
	qp = new_sender(test, 30);
	qp->known = m->user[0];
	qp->dev->rota = SRN_ROTA_ALWAYS;
	qp->timeout = 14;
	local_bh_disable();
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_SQ));
	KUNIT_ASSERT_TRUE(test, srn_rota_ask(&m->path->rota, &qp->known->shift));
	qp->known->shift.begins = false;
	qp->window.cwnd = 16;
	qp->known->shift.sent = SRN_ROTA_ROUNDS * 16 * qp->mtu - 10 * SRN_PACE_HEADERS;
	m->path->rota.num_waiting = 1;
	KUNIT_EXPECT_FALSE(test, srn_requester_run(qp, &budget));
	KUNIT_EXPECT_EQ(test, num_sent(qp), 10);
	KUNIT_EXPECT_EQ(test, qp->window.unasked, 0u);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_RETRANS), 0);
	KUNIT_EXPECT_TRUE(test, qp->known->shift.on);
	m->path->rota.num_waiting = 0;
	srn_shift_leave(qp);
	local_bh_enable();
	migrate_enable();
}

static struct kunit_case srn_shift_cases[] = {
	KUNIT_CASE(srn_shift_asks_at_the_end_test),
	KUNIT_CASE(srn_shift_few_test),
	KUNIT_CASE(srn_shift_some_test),
	KUNIT_CASE(srn_shift_idle_test),
	KUNIT_CASE(srn_shift_vain_test),
	KUNIT_CASE(srn_shift_early_test),
	KUNIT_CASE(srn_shift_over_test),
	KUNIT_CASE(srn_shift_renewed_test),
	KUNIT_CASE(srn_shift_alone_again_test),
	KUNIT_CASE(srn_shift_small_test),
	KUNIT_CASE(srn_shift_list_test),
	KUNIT_CASE(srn_shift_stall_test),
	KUNIT_CASE(srn_shift_stall_unasked_test),
	KUNIT_CASE(srn_shift_due_test),
	KUNIT_CASE(srn_shift_due_silent_test),
	KUNIT_CASE(srn_shift_last_test),
	KUNIT_CASE(srn_shift_no_part_test),
	KUNIT_CASE(srn_shift_far_test),
	KUNIT_CASE(srn_shift_off_test),
	KUNIT_CASE(srn_shift_reset_test),
	KUNIT_CASE(srn_shift_inherits_test),
	KUNIT_CASE(srn_shift_lost_before_test),
	{}
};

static struct kunit_suite srn_shift_suite = {
	.name = "srn_shift",
	.test_cases = srn_shift_cases,
};

kunit_test_suite(srn_shift_suite);
