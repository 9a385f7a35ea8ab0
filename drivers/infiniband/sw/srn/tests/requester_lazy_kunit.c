// SPDX-License-Identifier: GPL-2.0-only
/* Which requests ask for no ACK, and who asks for them. */
#include "../asking.h"
#include "../known.h"
#include "../lazy.h"
#include "../limits.h"
#include "../mw.h"
#include "../pace.h"
#include "../recovery.h"
#include "../retry.h"
#include "../segment.h"
#include "fake_mem.h"
#include "fake_sender.h"

#include <linux/ktime.h>
#include <rdma/ib_pack.h>
#include <rdma/ib_verbs.h>

#define NUM		64u
#define PAUSE_MAX	(SRN_LAZY_PAUSE << SRN_LAZY_DOUBLES)

/* Requests that ask until one does not. */
static u32 pause_of(struct srn_lazy *l)
{
	u32 num;

	for (num = 0; num <= 2 * PAUSE_MAX && !srn_lazy_spares(l); num++)
		srn_lazy_paused(l);
	srn_lazy_spared(l, 0);
	return num;
}

static void skip(struct srn_lazy *l, u32 num)
{
	while (num--)
		srn_lazy_spared(l, 0);
}

/* What is asked about in silence, after few of them, pays seldom, and more and more so. */
static void srn_lazy_pause_test(struct kunit *test)
{
	u32 pause = SRN_LAZY_PAUSE;
	struct srn_lazy l = {};
	int i;

	skip(&l, SRN_LAZY_WORTH - 1);
	srn_lazy_silent(&l);
	for (i = 0; i < 12; i++) {
		KUNIT_EXPECT_EQ(test, pause_of(&l), pause);
		srn_lazy_silent(&l);
		pause = pause < PAUSE_MAX ? 2 * pause : pause;
	}
	KUNIT_EXPECT_EQ(test, pause, PAUSE_MAX);
	/* Once one ACK was for many, all is forgotten. */
	pause_of(&l);
	skip(&l, SRN_LAZY_WORTH - 1);
	srn_lazy_asked(&l);
	skip(&l, 1);
	srn_lazy_silent(&l);
	KUNIT_EXPECT_EQ(test, pause_of(&l), SRN_LAZY_PAUSE);
}

/* Many, and then silence: as much was spared as that costs. */
static void srn_lazy_worth_test(struct kunit *test)
{
	struct srn_lazy l = {};

	skip(&l, SRN_LAZY_WORTH);
	srn_lazy_silent(&l);
	KUNIT_EXPECT_EQ(test, pause_of(&l), 0);
}

/* As a program's that has had an answer, with a turn; nothing is posted. */
static struct srn_qp *new_lazy(struct kunit *test)
{
	struct srn_qp *qp;

	memset(&left, 0, sizeof(left));
	migrate_disable();
	qp = new_sender(test, NUM);
	qp->sq.tail = 0;
	qp->recovery = SRN_RECOVERY_HOLD;
	qp->timeout = 14;
	qp->peer.acked = qp->window.una;
	qp->rtt = (struct srn_rtt){ .srtt_ns = 1, .wait = 31 };
	local_bh_disable();
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_SQ));
	return qp;
}

static void leave_lazy(void)
{
	local_bh_enable();
	migrate_enable();
}

static void run(struct srn_qp *qp)
{
	int budget = SRN_ROUND_BUDGET;

	srn_requester_run(qp, &budget);
}

/* @num more, at once. Returns whether the last packet that left asks. */
static bool post(struct srn_qp *qp, u32 num)
{
	qp->sq.tail += num;
	run(qp);
	return !qp->window.unasked;
}

static void answer(struct srn_qp *qp)
{
	u32 i;

	for (i = qp->sq.una; i != qp->window.at.index; i++)
		srn_sq_wqe(&qp->sq, i)->done = true;
	srn_window_acked(&qp->window, qp->window.at.psn);
	qp->peer.acked = qp->window.una;
	srn_sq_retire(qp);
	srn_retry_progress(qp);
}

/* What is looked at twice, since it is built as a run first and then as packets, is spared one ACK. */
static void srn_lazy_looked_at_twice_test(struct kunit *test)
{
	struct srn_qp *qp = new_lazy(test);
	struct srn_plan plan = {
		.psn = qp->window.at.psn, .npsn = 1, .num = 1, .first = true, .last = true,
	};
	int i;

	qp->sq.fetched = 1;
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, (int)srn_asking_of(qp, srn_sq_wqe(&qp->sq, 0), &plan, false),
				(int)SRN_ASKING_SPARED);
	KUNIT_EXPECT_EQ(test, (u32)qp->req.lazy.skipped, 0);
	qp->sq.fetched = 0;
	KUNIT_EXPECT_FALSE(test, post(qp, 1));
	KUNIT_EXPECT_EQ(test, (u32)qp->req.lazy.skipped, 1);
	/* So it is with the asking that is left of a pause. */
	answer(qp);
	qp->req.lazy.pause = 2;
	qp->sq.fetched++;
	plan.psn = qp->window.at.psn;
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, (int)srn_asking_of(qp, srn_sq_wqe(&qp->sq, 1), &plan, false),
				(int)SRN_ASKING_PAUSED);
	qp->sq.fetched--;
	KUNIT_EXPECT_TRUE(test, post(qp, 1));
	KUNIT_EXPECT_EQ(test, qp->req.lazy.pause, 1);
	leave_lazy();
}

/* One of sixteen asks, and no alarm but that of silence is needed. */
static void srn_lazy_sixteenth_test(struct kunit *test)
{
	struct srn_qp *qp = new_lazy(test);
	u64 bits = 0;
	u32 i;

	for (i = 0; i < NUM / 2; i++) {
		if (!post(qp, 1))
			continue;
		bits |= BIT_ULL(i);
		KUNIT_EXPECT_TRUE(test, left.asked);
		answer(qp);
	}
	KUNIT_EXPECT_EQ(test, bits, BIT_ULL(15) | BIT_ULL(31));
	KUNIT_EXPECT_EQ(test, left.packets, NUM / 2);
	post(qp, 1);
	KUNIT_EXPECT_TRUE(test, srn_clock_is_set(&qp->clock, SRN_ALARM_ACK));
	leave_lazy();
}

/* With less out at once the window wants to know earlier. */
static void srn_lazy_small_window_test(struct kunit *test)
{
	struct srn_qp *qp = new_lazy(test);
	u64 bits = 0;
	u32 i;

	qp->window.cwnd = SRN_WINDOW_FEW;
	for (i = 0; i < SRN_WINDOW_FEW; i++)
		bits |= post(qp, 1) ? BIT_ULL(i) : 0;
	KUNIT_EXPECT_EQ(test, bits, BIT_ULL(7) | BIT_ULL(15));
	leave_lazy();
}

enum why {
	WHY_NOT, WHY_SIGNALLED, WHY_ALL, WHY_READ, WHY_LIST, WHY_GBN, WHY_CREDIT, WHY_PACE,
	WHY_NARROW, WHY_LOST, WHY_REFUSED, WHY_HALF, WHY_BEHIND_READ, WHY_PAUSE, WHY_AGAIN,
	WHY_SHORT, WHY_UNKNOWN, WHY_PLACE, WHY_MAX,
};

static const char *const whys[] = {
	[WHY_NOT] = "nobody waits",
	[WHY_SIGNALLED] = "a completion is wanted",
	[WHY_ALL] = "of each",
	[WHY_READ] = "a READ",
	[WHY_LIST] = "of a list the last asks",
	[WHY_GBN] = "what is lost costs a timeout",
	[WHY_CREDIT] = "an ACK brings credits",
	[WHY_PACE] = "a rate is kept",
	[WHY_NARROW] = "few may be out",
	[WHY_LOST] = "something is lost",
	[WHY_REFUSED] = "the peer had no receive",
	[WHY_HALF] = "half of the queue is full",
	[WHY_BEHIND_READ] = "without its bytes nobody could ask",
	[WHY_PAUSE] = "it did not pay",
	[WHY_AGAIN] = "it goes a second time",
	[WHY_SHORT] = "the timeout comes before a probe",
	[WHY_UNKNOWN] = "nobody knows how long the path is",
	[WHY_PLACE] = "others may wait for its place",
};

static struct srn_known_path known_path;
static struct srn_known_user user = { .path = &known_path, .shift.on = true };

static void make(struct srn_qp *qp, enum why why)
{
	struct srn_wqe *wqe = srn_sq_wqe(&qp->sq, 0);

	switch (why) {
	case WHY_SIGNALLED:
		wqe->flags = IB_SEND_SIGNALED;
		break;
	case WHY_ALL:
		qp->sig_all = true;
		break;
	case WHY_READ:
		qp->max_rd_atomic = 1;
		wqe->opcode = IB_WR_RDMA_READ;
		break;
	case WHY_GBN:
		qp->recovery = SRN_RECOVERY_GBN;
		break;
	case WHY_CREDIT:
		qp->credit.on = true;
		break;
	case WHY_PACE:
		srn_pace_set_mtu(&qp->pace, qp->mtu);
		srn_pace_limit(&qp->pace, SRN_PACE_USER, NSEC_PER_SEC);
		break;
	case WHY_NARROW:
		qp->window.cwnd = SRN_WINDOW_FEW - 1;
		break;
	case WHY_LOST:
		qp->retry.rewound = true;
		break;
	case WHY_REFUSED:
		qp->retry.refused = true;
		break;
	case WHY_HALF:
		qp->sq.max_wr = 1;
		break;
	case WHY_BEHIND_READ:
		qp->peer.acked = SRN_HELLO_NO_PSN;
		break;
	case WHY_PAUSE:
		qp->req.lazy.pause = 1;
		break;
	case WHY_AGAIN:
		qp->window.end = srn_psn_add(qp->window.end, 1);
		break;
	case WHY_SHORT:
		qp->timeout = 5;
		break;
	case WHY_UNKNOWN:
		qp->rtt.srtt_ns = 0;
		qp->window.timed = true;
		break;
	case WHY_PLACE:
		qp->known = &user;
		break;
	default:
		break;
	}
}

/* Each reason by itself. */
static void srn_lazy_not_test(struct kunit *test)
{
	struct srn_qp *qp;
	enum why why;
	bool asked;

	for (why = 0; why < WHY_MAX; why++) {
		qp = new_lazy(test);
		make(qp, why);
		asked = post(qp, why == WHY_LIST ? 2 : 1);
		leave_lazy();
		KUNIT_EXPECT_EQ_MSG(test, asked, why != WHY_NOT, "%s", whys[why]);
		/* With a packet of its own. */
		KUNIT_EXPECT_EQ_MSG(test, left.packets, 1, "%s", whys[why]);
	}
}

/* What cannot go before what is out is answered has that asked about, once. */
static void srn_lazy_waited_for_test(struct kunit *test)
{
	struct srn_qp *qp = new_lazy(test);
	struct srn_wqe *wqe = srn_sq_wqe(&qp->sq, 1);

	wqe->opcode = IB_WR_LOCAL_INV;
	KUNIT_EXPECT_FALSE(test, post(qp, 1));
	KUNIT_EXPECT_TRUE(test, post(qp, 1));
	KUNIT_EXPECT_EQ(test, left.packets, 2);
	run(qp);
	leave_lazy();
	KUNIT_EXPECT_EQ(test, left.packets, 2);
	KUNIT_EXPECT_EQ(test, qp->window.at.index, 1);
	KUNIT_EXPECT_EQ(test, qp->window.unasked, 0);
}

/* So has what is posted with it: that asks itself, and goes once. */
static void srn_lazy_waits_behind_test(struct kunit *test)
{
	struct srn_qp *qp = new_lazy(test);

	srn_sq_wqe(&qp->sq, 1)->opcode = IB_WR_LOCAL_INV;
	KUNIT_EXPECT_TRUE(test, post(qp, 2));
	leave_lazy();
	KUNIT_EXPECT_EQ(test, left.packets, 1);
	KUNIT_EXPECT_TRUE(test, left.asked);
}

/* Nor does what is done here at once, and has a completion, complete before. */
static void srn_lazy_local_test(struct kunit *test)
{
	struct srn_qp *qp = new_lazy(test);
	struct srn_wqe *wqe = srn_sq_wqe(&qp->sq, 1);
	struct srn_mem *mr;
	struct srn_mw *mw;

	local_bh_enable();
	qp->who.pd = fake_pd(test, qp->dev);
	srn_mw_owner_init(&qp->windows, &qp->who);
	mr = fake_mr(test, qp->dev, qp->who.pd, 0, PAGE_SIZE, 0, IB_ACCESS_MW_BIND);
	mw = make_mw(test, qp->who.pd, IB_MW_TYPE_2);
	local_bh_disable();
	wqe->opcode = IB_WR_BIND_MW;
	wqe->flags = IB_SEND_SIGNALED;
	wqe->bind.length = 8;
	wqe->bind.mr_lkey = mr->key;
	wqe->bind.mw_rkey = mw->mem->key;
	wqe->bind.new_rkey = mw->mem->key;
	KUNIT_EXPECT_FALSE(test, post(qp, 1));
	KUNIT_EXPECT_TRUE(test, post(qp, 1));
	KUNIT_EXPECT_EQ(test, left.packets, 2);
	KUNIT_EXPECT_TRUE(test, wqe->done);
	/* All is asked about, by what goes twice: so the next ones ask. */
	KUNIT_EXPECT_EQ(test, qp->req.lazy.pause, SRN_LAZY_PAUSE);
	KUNIT_EXPECT_TRUE(test, post(qp, 1));
	leave_lazy();
	KUNIT_EXPECT_EQ(test, left.packets, 3);
	srn_dealloc_mw(&mw->ibmw);
}

/* A list that leaves the asking to what cannot follow is asked about, whatever rested before. */
static void srn_lazy_list_behind_test(struct kunit *test)
{
	struct srn_qp *qp = new_lazy(test);
	int budget = 1;

	KUNIT_EXPECT_FALSE(test, post(qp, 1));
	qp->sq.tail += 2;
	srn_requester_run(qp, &budget);
	KUNIT_EXPECT_FALSE(test, left.asked);
	qp->sq.tail--;
	qp->sq.fetched--;
	run(qp);
	leave_lazy();
	KUNIT_EXPECT_TRUE(test, left.asked);
	KUNIT_EXPECT_EQ(test, left.packets, 3);
}

/* Half a queue of it, and no more, though nobody polls; then all slots come back. */
static void srn_lazy_half_test(struct kunit *test)
{
	struct srn_qp *qp = new_lazy(test);
	int i;

	qp->sq.max_wr = 8;
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_FALSE(test, post(qp, 1));
	KUNIT_EXPECT_TRUE(test, post(qp, 1));
	answer(qp);
	leave_lazy();
	KUNIT_EXPECT_EQ(test, qp->sq.head, 5);
}

/* Who drains is told when all that was begun is done. */
static void srn_lazy_drained_test(struct kunit *test)
{
	struct srn_qp *qp = new_lazy(test);

	KUNIT_EXPECT_FALSE(test, post(qp, 1));
	run(qp);
	KUNIT_EXPECT_EQ(test, left.packets, 1);
	qp->state = IB_QPS_SQD;
	run(qp);
	leave_lazy();
	KUNIT_EXPECT_EQ(test, left.packets, 2);
	KUNIT_EXPECT_TRUE(test, left.asked);
}

/* Silence: the last one goes again, and asks; that it was silent was not worth it. */
static void srn_lazy_silence_test(struct kunit *test)
{
	struct srn_qp *qp = new_lazy(test);

	KUNIT_EXPECT_FALSE(test, post(qp, 1));
	KUNIT_EXPECT_FALSE(test, post(qp, 1));
	srn_retry_alarm(qp, BIT(SRN_ALARM_ACK));
	run(qp);
	KUNIT_EXPECT_EQ(test, left.packets, 3);
	KUNIT_EXPECT_TRUE(test, left.asked);
	KUNIT_EXPECT_EQ(test, qp->req.lazy.pause, SRN_LAZY_PAUSE);
	/* One silence is one. */
	srn_retry_alarm(qp, BIT(SRN_ALARM_ACK));
	KUNIT_EXPECT_EQ(test, qp->req.lazy.pause, SRN_LAZY_PAUSE);
	KUNIT_EXPECT_EQ(test, qp->req.lazy.doubles, 1);
	answer(qp);
	KUNIT_EXPECT_TRUE(test, post(qp, 1));
	leave_lazy();
}

/* One that left, and whose bytes are gone since; unasked, if nobody waits for it. */
static struct srn_qp *new_gone(struct kunit *test, u8 timeout, int flags)
{
	struct srn_qp *qp = new_lazy(test);
	struct srn_wqe *wqe = srn_sq_wqe(&qp->sq, 0);

	local_bh_enable();
	qp->scq = new_cq(test, qp, 4);
	local_bh_disable();
	qp->timeout = timeout;
	wqe->flags = flags;
	KUNIT_EXPECT_EQ(test, post(qp, 1), !!(flags & IB_SEND_SIGNALED));
	wqe->num_sge = 1;
	wqe->length = 8;
	wqe->sge[0] = (struct ib_sge){ .length = 8, .lkey = 0x12345600 };
	return qp;
}

/* The program may have seen what it brought about: the peer is asked without them, as long as it has to answer. */
static void srn_lazy_gone_timeout_test(struct kunit *test)
{
	struct srn_qp *qp = new_gone(test, 12, 0);
	u32 first = qp->sq_psn, i;

	qp->retry_cnt = 2;
	srn_retry_refill(qp);
	for (i = 0; i < 100 && qp->state == IB_QPS_RTS; i++) {
		srn_retry_alarm(qp, BIT(SRN_ALARM_ACK));
		run(qp);
		KUNIT_EXPECT_EQ(test, left.psn, srn_psn_add(first, -1));
	}
	leave_lazy();
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_TIMEOUT), 3);
	KUNIT_EXPECT_EQ(test, left.packets, i);
	KUNIT_EXPECT_EQ(test, qp->state, IB_QPS_ERR);
	KUNIT_EXPECT_EQ(test, qp->last_error, SRN_V_RETRY_EXC);
}

/* What waits for it all the same has it asked about at once, and so is the next one. */
static void srn_lazy_gone_drained_test(struct kunit *test)
{
	struct srn_qp *qp = new_gone(test, 14, 0);
	u32 first = qp->sq_psn;

	qp->state = IB_QPS_SQD;
	run(qp);
	leave_lazy();
	KUNIT_EXPECT_EQ(test, left.packets, 2);
	KUNIT_EXPECT_EQ(test, left.psn, srn_psn_add(first, -1));
	KUNIT_EXPECT_TRUE(test, left.asked);
	KUNIT_EXPECT_EQ(test, qp->req.lazy.pause, SRN_LAZY_PAUSE);
}

/* Where the peer has no time to answer in, a few times. Not by who waits for the completion. */
static void srn_lazy_gone_test(struct kunit *test)
{
	struct srn_qp *qp = new_gone(test, 0, 0);
	u32 first = qp->sq_psn, i;

	for (i = 0; i < 5; i++) {
		srn_retry_alarm(qp, BIT(SRN_ALARM_ACK));
		run(qp);
		KUNIT_EXPECT_EQ(test, left.packets, 2 + i);
		KUNIT_EXPECT_EQ(test, left.opcode, IB_OPCODE_RC_RDMA_WRITE_ONLY);
		KUNIT_EXPECT_EQ(test, left.psn, srn_psn_add(first, -1));
		KUNIT_EXPECT_TRUE(test, left.asked);
		KUNIT_EXPECT_EQ(test, qp->state, IB_QPS_RTS);
	}
	srn_retry_alarm(qp, BIT(SRN_ALARM_ACK));
	run(qp);
	leave_lazy();
	KUNIT_EXPECT_EQ(test, left.packets, 6);
	KUNIT_EXPECT_EQ(test, qp->state, IB_QPS_ERR);
	KUNIT_EXPECT_EQ(test, qp->last_error, SRN_V_LOC_PROT);
}

static void srn_lazy_gone_early_test(struct kunit *test)
{
	struct srn_qp *qp = new_gone(test, 14, IB_SEND_SIGNALED);

	srn_retry_alarm(qp, BIT(SRN_ALARM_ACK));
	run(qp);
	leave_lazy();
	KUNIT_EXPECT_EQ(test, left.packets, 1);
	KUNIT_EXPECT_EQ(test, qp->state, IB_QPS_ERR);
}

/* It goes again with its bytes, and is refused a second time: without them the peer need not be asked what it has. But
 * it goes once more, and silence says that it may have it by then.
 */
static void expect_refused(struct kunit *test, bool silent)
{
	struct srn_qp *qp = new_gone(test, 12, 0);
	struct srn_wqe *wqe = srn_sq_wqe(&qp->sq, 0);
	u32 i, asked;

	qp->rnr_retry = 7;
	qp->retry_cnt = 7;
	srn_retry_refill(qp);
	wqe->num_sge = 0;
	wqe->length = 0;
	for (i = 0; i < 2; i++) {
		srn_retry_rnr(qp, 1);
		srn_retry_alarm(qp, BIT(SRN_ALARM_RNR));
		if (i == 0 || silent)
			run(qp);
	}
	asked = left.packets;
	KUNIT_EXPECT_EQ(test, asked, silent ? 3 : 2);
	wqe->num_sge = 1;
	wqe->length = 8;
	for (i = 0; silent && !srn_stats_sum(qp->dev, SRN_CNT_TIMEOUT) && i < 100; i++)
		srn_retry_alarm(qp, BIT(SRN_ALARM_ACK));
	run(qp);
	leave_lazy();
	KUNIT_EXPECT_EQ(test, left.packets, asked + silent);
	KUNIT_EXPECT_EQ(test, qp->state, silent ? IB_QPS_RTS : IB_QPS_ERR);
	KUNIT_EXPECT_EQ(test, qp->last_error, silent ? SRN_OK : SRN_V_LOC_PROT);
}

static void srn_lazy_gone_refused_test(struct kunit *test)
{
	expect_refused(test, false);
}

static void srn_lazy_gone_refused_silence_test(struct kunit *test)
{
	expect_refused(test, true);
}

/* An ACK that was asked for and lost is nobody's fault. */
static void srn_lazy_asked_silence_test(struct kunit *test)
{
	struct srn_qp *qp = new_lazy(test);

	KUNIT_EXPECT_TRUE(test, post(qp, 2));
	srn_retry_alarm(qp, BIT(SRN_ALARM_ACK));
	leave_lazy();
	KUNIT_EXPECT_EQ(test, qp->req.lazy.pause, 0);
}

/* What nobody asked about brings no answers: who posts more is to ring. */
static void srn_lazy_rings_test(struct kunit *test)
{
	struct srn_qp *qp = new_lazy(test);

	local_bh_enable();
	qp->page = fake_page(test);
	local_bh_disable();
	qp->who.kernel = false;
	qp->window.at.psn = srn_psn_add(qp->window.una, SRN_DB_INFLIGHT);
	qp->window.end = qp->window.at.psn;
	srn_bell_idle(qp);
	KUNIT_EXPECT_FALSE(test, rings(qp));
	qp->window.unasked = 1;
	srn_bell_idle(qp);
	KUNIT_EXPECT_TRUE(test, rings(qp));
	/* All the same, and more: it was answered since. */
	qp->window.unasked = 2 * SRN_DB_INFLIGHT;
	srn_bell_idle(qp);
	leave_lazy();
	KUNIT_EXPECT_TRUE(test, rings(qp));
}

static struct kunit_case srn_lazy_cases[] = {
	KUNIT_CASE(srn_lazy_pause_test),
	KUNIT_CASE(srn_lazy_worth_test),
	KUNIT_CASE(srn_lazy_looked_at_twice_test),
	KUNIT_CASE(srn_lazy_sixteenth_test),
	KUNIT_CASE(srn_lazy_small_window_test),
	KUNIT_CASE(srn_lazy_not_test),
	KUNIT_CASE(srn_lazy_waited_for_test),
	KUNIT_CASE(srn_lazy_waits_behind_test),
	KUNIT_CASE(srn_lazy_local_test),
	KUNIT_CASE(srn_lazy_list_behind_test),
	KUNIT_CASE(srn_lazy_half_test),
	KUNIT_CASE(srn_lazy_drained_test),
	KUNIT_CASE(srn_lazy_silence_test),
	KUNIT_CASE(srn_lazy_gone_timeout_test),
	KUNIT_CASE(srn_lazy_gone_drained_test),
	KUNIT_CASE(srn_lazy_gone_refused_test),
	KUNIT_CASE(srn_lazy_gone_refused_silence_test),
	KUNIT_CASE(srn_lazy_gone_test),
	KUNIT_CASE(srn_lazy_gone_early_test),
	KUNIT_CASE(srn_lazy_asked_silence_test),
	KUNIT_CASE(srn_lazy_rings_test),
	{}
};

static struct kunit_suite srn_lazy_suite = {
	.name = "srn_lazy",
	.test_cases = srn_lazy_cases,
};
kunit_test_suite(srn_lazy_suite);
