/* SPDX-License-Identifier: GPL-2.0-only */
/* Many QPs that share a path: what the tests of their turns share. */
#ifndef SRN_TESTS_FAKE_MANY_H
#define SRN_TESTS_FAKE_MANY_H

#include "../gate.h"
#include "../requester.h"
#include "../shift.h"
#include "../stats.h"
#include "fake_sender.h"

#define USERS	(SRN_ROTA_PLACES + 2)

/* QPs that go to the same address. Their turns are the test's: who is woken has a bit set. */
struct many {
	struct srn_known *known;
	struct srn_known_path *path;
	struct srn_known_user *user[USERS];
	struct srn_dev *dev;
	struct srn_wqe *wqe;
	struct srn_qp *qp[USERS];
};

static inline struct srn_qp *new_member(struct kunit *test, struct many *m, int i)
{
	const struct srn_path path = {};
	struct srn_qp *qp = &new_owner(test)->qp;

	qp->dev = m->dev;
	m->user[i] = srn_known_get(m->known, &path, &qp->turn);
	KUNIT_ASSERT_NOT_NULL(test, m->user[i]);
	m->path = m->user[i]->path;
	qp->known = m->user[i];
	qp->state = IB_QPS_RTS;
	qp->mtu = 1024;
	qp->timeout = 14;
	qp->recovery = SRN_RECOVERY_HOLD;
	give_clock(test, qp);
	srn_requester_start(qp);
	return qp;
}

static inline void put_all(void *p)
{
	struct many *m = p;
	int i;

	for (i = 0; i < USERS; i++)
		srn_known_put(m->user[i]);
}

static inline struct many *new_many(struct kunit *test)
{
	struct many *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, m);
	m->known = kunit_kzalloc(test, sizeof(*m->known), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, m->known);
	srn_known_init(m->known);
	m->dev = fake_dev(test);
	m->dev->rota = SRN_ROTA_ALWAYS;
	m->wqe = kunit_kzalloc(test, srn_wqe_size(1, 0), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, m->wqe);
	m->wqe->opcode = IB_WR_RDMA_WRITE;
	m->wqe->length = 65536;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, put_all, m));
	for (i = 0; i < USERS; i++)
		m->qp[i] = new_member(test, m, i);
	/* Which is short. */
	m->path->rota.least_ns = NSEC_PER_USEC;
	return m;
}

/* Nothing is run from here on. */
static inline void own_all(struct kunit *test, struct many *m)
{
	int i;

	local_bh_disable();
	for (i = 0; i < USERS; i++)
		KUNIT_EXPECT_TRUE(test, srn_turn_take(&m->qp[i]->turn, 0));
}

/* And nothing is left to be run. */
static inline void end_all(struct kunit *test, struct many *m)
{
	int i;

	for (i = 0; i < USERS; i++) {
		srn_shift_leave(m->qp[i]);
		KUNIT_EXPECT_FALSE(test, m->qp[i]->known->shift.on);
		KUNIT_EXPECT_FALSE(test, m->qp[i]->known->shift.waits);
	}
	KUNIT_EXPECT_EQ(test, m->path->rota.taken, 0u);
	KUNIT_EXPECT_EQ(test, m->path->rota.num_waiting, 0u);
	local_bh_enable();
}

static inline bool is_woken(struct srn_qp *qp)
{
	return atomic_fetch_andnot(SRN_TURN_SQ, &qp->turn.bits) & SRN_TURN_SQ;
}

static inline enum srn_gate ask(struct many *m, int i)
{
	return srn_gate_wqe(m->qp[i], m->wqe);
}

static inline void send(struct many *m, int i, u32 num)
{
	srn_window_sent(&m->qp[i]->window, num, true, false);
	srn_shift_charge(m->qp[i], num * 1024, num);
}

static inline void answer(struct many *m, int i)
{
	srn_window_acked(&m->qp[i]->window, m->qp[i]->window.at.psn);
}

static inline u64 waits(const struct many *m)
{
	return srn_stats_sum(m->dev, SRN_CNT_SHIFT_WAITS);
}

/* All places are taken, with a packet out on each; @wait QPs wait. */
static inline void fill(struct kunit *test, struct many *m, int wait)
{
	int i;

	for (i = 0; i < SRN_ROTA_PLACES; i++) {
		KUNIT_EXPECT_EQ(test, ask(m, i), SRN_GATE_OPEN);
		send(m, i, 1);
	}
	for (; i < SRN_ROTA_PLACES + wait; i++) {
		KUNIT_EXPECT_EQ(test, ask(m, i), SRN_GATE_SHIFT);
		KUNIT_EXPECT_EQ(test, ask(m, i), SRN_GATE_SHIFT);
		srn_shift_end_round(m->qp[i]);
	}
	KUNIT_EXPECT_EQ(test, waits(m), wait);
}

#endif
