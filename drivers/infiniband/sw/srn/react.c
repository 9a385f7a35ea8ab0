// SPDX-License-Identifier: GPL-2.0-only
/* What DCQCN makes of notifications is the QP's pace. */
#include "react.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/ktime.h>
#include <linux/limits.h>
#include <net/inet_ecn.h>

#include "cc.h"
#include "clock.h"
#include "dcqcn.h"
#include "qp.h"
#include "spread.h"
#include "stats.h"
#include "trace.h"
#include "window.h"

/* UC is not marked (srn_path.ecn), and UD has no peer. */
static bool reacts(const struct srn_qp *qp)
{
	return qp->cc != SRN_CC_OFF && qp->svc->reliable;
}

void srn_react_mark(struct srn_qp *qp)
{
	bool capable = reacts(qp) && (qp->notifies || qp->cc == SRN_CC_ALWAYS);

	qp->path.ecn = capable ? INET_ECN_ECT_0 : INET_ECN_NOT_ECT;
}

void srn_react_start(struct srn_qp *qp)
{
	qp->notifies = false;
	srn_react_mark(qp);
}

void srn_react_meet(struct srn_qp *qp)
{
	qp->notifies = true;
	srn_react_mark(qp);
}

static void set_pace(struct srn_qp *qp, u64 before)
{
	if (qp->dcqcn.rate == before)
		return;
	trace_srn_rate(qp);
	srn_pace_limit(&qp->pace, SRN_PACE_CC, qp->dcqcn.rate);
}

void srn_react_cnp(struct srn_qp *qp)
{
	u64 before = qp->dcqcn.rate;

	srn_turn_assert_owned(&qp->turn);
	if (!reacts(qp)) {
		srn_count(qp->dev, SRN_CNT_CNP_IGNORED);
		return;
	}
	srn_count(qp->dev, SRN_CNT_CNP_HANDLED);
	srn_react_meet(qp);
	srn_dcqcn_cnp(&qp->dcqcn, &qp->dev->cc, ktime_get_ns(), qp->pace.sent,
		      srn_window_inflight(&qp->window) * qp->mtu);
	set_pace(qp, before);
}

static void look(struct srn_qp *qp, u64 now_ns)
{
	u64 before = qp->dcqcn.rate;

	srn_dcqcn_look(&qp->dcqcn, &qp->dev->cc, now_ns, qp->pace.sent);
	set_pace(qp, before);
}

u32 srn_react_ask(struct srn_qp *qp, enum srn_pace_side side, u64 now_ns)
{
	if (srn_dcqcn_limits(&qp->dcqcn))
		look(qp, now_ns);
	return srn_pace_is_on(&qp->pace) ? srn_pace_ask(&qp->pace, side, now_ns) : U32_MAX;
}
EXPORT_SYMBOL_IF_KUNIT(srn_react_ask);

/* What is spread may wait for it, too; who is woken early waits on. */
static void set_alarm(struct srn_qp *qp, u64 ns)
{
	if (srn_spread_is_on(&qp->window))
		srn_clock_set_too(&qp->clock, SRN_ALARM_PACE, ns);
	else
		srn_clock_set(&qp->clock, SRN_ALARM_PACE, ns);
}

void srn_react_wait(struct srn_qp *qp, enum srn_pace_side side, u64 now_ns)
{
	if (!srn_pace_is_closed(&qp->pace))
		srn_count(qp->dev, SRN_CNT_PACED);
	set_alarm(qp, srn_pace_wait(&qp->pace, side, now_ns));
}
EXPORT_SYMBOL_IF_KUNIT(srn_react_wait);

void srn_react_woken(struct srn_qp *qp, u64 now_ns)
{
	u64 ns = srn_pace_woken(&qp->pace, now_ns);

	if (ns)
		srn_clock_set(&qp->clock, SRN_ALARM_PACE, ns);
}

void srn_react_reset(struct srn_qp *qp)
{
	qp->dcqcn = (struct srn_dcqcn){};
}
