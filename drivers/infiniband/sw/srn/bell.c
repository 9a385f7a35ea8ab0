// SPDX-License-Identifier: GPL-2.0-only
/* When the program is to ring for what it posts, and when we look ourselves. */
#include "bell.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/jiffies.h>
#include <linux/time64.h>
#include <rdma/ib_verbs.h>

#include "clock.h"
#include "cq.h"
#include "gate.h"
#include "qp.h"
#include "run.h"
#include "sq.h"
#include "stats.h"
#include "turn.h"
#include "window.h"

/* Who is not rung looks itself if no answer came for this long. */
#define QUIET_NS	(500 * NSEC_PER_USEC)

/* What the program was told is kept here too: its page can say anything. */
static void tell(struct srn_qp *qp, bool ring)
{
	qp->req.bell.rings = ring;
	/* Pairs with the provider's barrier between sq_tail and what it looks at then. A poller may see
	 * sq_tail and not yet that posts ring here: then the owner of the turn, who looks behind this and
	 * a full barrier, sees that tail, too.
	 */
	smp_store_release(&qp->page->status, ring ? SRN_QP_NEED_DB : 0);
}

/* A program that leaves completions lying does not wait for this request, it streams. The hint spares
 * who waits for each request the lock of its CQ. (Where few requests have a completion these do not show it:
 * srn_gather_rang().)
 */
static bool lags(struct srn_qp *qp)
{
	return READ_ONCE(qp->scq->waiting) + 1 >= SRN_GATHER_CQES &&
	       srn_cq_is_left(qp->scq, SRN_GATHER_CQES);
}

/* Who has armed a CQ is about to sleep, and polls no more before that. */
static bool may_sleep(struct srn_qp *qp)
{
	return srn_cq_is_armed(qp->scq) || (qp->rcq != qp->scq && srn_cq_is_armed(qp->rcq));
}

/* Messages of many packets make a batch by themselves, and to wait with them is to leave the path
 * empty: but not where they pass whole. There who sends, the path and who receives are the CPUs of
 * this machine, and what the program does meanwhile they do not have to do later.
 */
static bool leaves_path_empty(struct srn_qp *qp)
{
	return qp->req.psns > 1 && !srn_run_is_whole(&qp->path, qp->req.psns, qp->mtu);
}

/* Of each message, in packets of which a window has SRN_WINDOW: of the longest it has fewer. */
static u32 psns(const struct srn_qp *qp)
{
	return qp->req.psns * (SRN_WINDOW / qp->window.full);
}

bool srn_bell_gather(struct srn_qp *qp)
{
	struct srn_gather *gather = &qp->req.bell.gather;
	bool rang;
	u32 tail;

	srn_turn_assert_owned(&qp->turn);
	/* A pause first, since a CQ is asked with its lock; but how one rings is noted each time. */
	rang = srn_gather_rang(gather, jiffies);
	if (!READ_ONCE(srn_gather_enabled) || srn_gather_pauses(gather) || !(rang || lags(qp)) ||
	    may_sleep(qp) || srn_gate_qp(qp) != SRN_GATE_OPEN || leaves_path_empty(qp) || !srn_sq_posted(qp, &tail) ||
	    !srn_gather_begin(gather, qp->sq.fetched, tail, psns(qp)))
		return false;
	srn_count(qp->dev, SRN_CNT_GATHERINGS);
	srn_clock_set(&qp->clock, SRN_ALARM_GATHER, SRN_GATHER_NS);
	qp->req.bell.rings = false;
	WRITE_ONCE(qp->page->status, SRN_QP_GATHERS);
	return true;
}

void srn_bell_send(struct srn_qp *qp)
{
	srn_turn_assert_owned(&qp->turn);
	if (unlikely(qp->req.bell.gather.on))
		srn_clock_clear(&qp->clock, SRN_ALARM_GATHER);
}

static void end_gathering(struct srn_qp *qp, u32 to)
{
	if (likely(!qp->req.bell.gather.on))
		return;
	srn_gather_end(&qp->req.bell.gather, to, jiffies);
	srn_clock_clear(&qp->clock, SRN_ALARM_GATHER);
}

/* Looks after @ns whether there was progress. */
static void watch(struct srn_qp *qp, u64 ns)
{
	qp->req.bell.quiet_una = qp->window.una;
	srn_clock_set(&qp->clock, SRN_ALARM_QUIET, ns);
}

void srn_bell_hush(struct srn_qp *qp)
{
	u32 tail;

	srn_turn_assert_owned(&qp->turn);
	/* A worker takes it all. */
	end_gathering(qp, srn_sq_posted(qp, &tail) ? tail : qp->sq.fetched);
	tell(qp, false);
	/* Nobody else would fetch it from a worker who does not come. */
	watch(qp, 2 * SRN_TURN_LATE_NS);
	qp->req.bell.away = true;
}
EXPORT_SYMBOL_IF_KUNIT(srn_bell_hush);

/* Whether the program goes on posting, so that what it posted is left once more. */
static bool gathers_on(struct srn_qp *qp)
{
	u32 tail;

	if (!srn_sq_posted(qp, &tail) || !srn_gather_look(&qp->req.bell.gather, tail))
		return false;
	srn_clock_set(&qp->clock, SRN_ALARM_GATHER, SRN_GATHER_NS);
	return true;
}

unsigned int srn_bell_alarm(struct srn_qp *qp, unsigned int due)
{
	if (due & BIT(SRN_ALARM_QUIET))
		qp->req.bell.quiet = true;
	if ((due & BIT(SRN_ALARM_GATHER)) && gathers_on(qp))
		due &= ~BIT(SRN_ALARM_GATHER);
	return due;
}
EXPORT_SYMBOL_IF_KUNIT(srn_bell_alarm);

/* Whether answers will bring us back soon, so that what is posted meanwhile goes in one
 * burst; what nobody asked about brings none. What is posted while something waits here could not
 * go before the answers. The alarm is not set anew for each answer, so that silence is noticed
 * after one to two QUIET_NS.
 */
static bool answers_come(struct srn_qp *qp)
{
	struct srn_bell *bell = &qp->req.bell;

	if (qp->window.at.index != qp->sq.fetched)
		return true;
	if (srn_window_awaited(&qp->window) < SRN_DB_INFLIGHT)
		return false;
	bell->quiet = bell->quiet && bell->quiet_una == qp->window.una;
	if (bell->quiet)
		return false;
	if (bell->away || !srn_clock_is_set(&qp->clock, SRN_ALARM_QUIET))
		watch(qp, QUIET_NS);
	bell->away = false;
	return true;
}

/* A look without the turn: what it misses the next one sees, and it does not sleep before one that
 * misses nothing.
 */
bool srn_bell_is_due(struct srn_qp *qp)
{
	u32 fetched = data_race(READ_ONCE(qp->sq.fetched));
	struct srn_bell *bell = &qp->req.bell;
	u32 tail = READ_ONCE(qp->page->sq_tail);

	if (tail == fetched || !data_race((bool)bell->rings)) {
		/* Never so old that an index comes round to it. Owners of the turn write beside it. */
		if (bell->polled != fetched)
			bell->polled = fetched;
		return false;
	}
	return tail != bell->polled;
}
EXPORT_SYMBOL_IF_KUNIT(srn_bell_is_due);

void srn_bell_heed(struct srn_qp *qp)
{
	qp->req.bell.polled = READ_ONCE(qp->page->sq_tail);
}

void srn_bell_forget(struct srn_qp *qp)
{
	/* As in srn_bell_is_due(): an old one makes it look again. */
	qp->req.bell.polled = data_race(READ_ONCE(qp->sq.fetched));
}

void srn_bell_listen(struct srn_qp *qp)
{
	srn_turn_assert_owned(&qp->turn);
	if (qp->who.kernel || qp->req.bell.rings)
		return;
	tell(qp, true);
	/* As in srn_bell_idle(). */
	smp_mb();
}

bool srn_bell_idle(struct srn_qp *qp)
{
	bool may_send = srn_gate_qp(qp) == SRN_GATE_OPEN;
	u32 tail;

	srn_turn_assert_owned(&qp->turn);
	if (qp->who.kernel)
		return false;
	end_gathering(qp, qp->sq.fetched);
	if (may_send && answers_come(qp)) {
		tell(qp, false);
		return false;
	}
	srn_clock_clear(&qp->clock, SRN_ALARM_QUIET);
	tell(qp, true);
	/* Pairs with the provider's barrier between sq_tail and status. */
	smp_mb();
	if (!srn_sq_posted(qp, &tail))
		return false;
	if (!may_send || tail == qp->sq.fetched)
		return false;
	tell(qp, false);
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(srn_bell_idle);

void srn_bell_reset(struct srn_qp *qp)
{
	srn_clock_clear(&qp->clock, SRN_ALARM_QUIET);
	srn_clock_clear(&qp->clock, SRN_ALARM_GATHER);
	qp->req.bell.gather = (struct srn_gather){};
	if (qp->state == IB_QPS_RESET)
		tell(qp, true);
}
