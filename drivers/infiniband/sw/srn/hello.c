// SPDX-License-Identifier: GPL-2.0-only
/* Question and answer. */
#include "hello.h"

#include <linux/minmax.h>

#include "parse.h"
#include "psn.h"
#include "qp.h"
#include "react.h"
#include "recovery.h"
#include "sack.h"
#include "window.h"

#define HELLOS	4

void srn_hello_start(struct srn_qp *qp)
{
	bool sack = qp->recovery == SRN_RECOVERY_SACK;

	qp->peer = (struct srn_peer){ .due = sack, .left = sack ? HELLOS : 0 };
	srn_hold_widen(qp->dev, &qp->resp.hold, 0);	/* nothing is held yet */
}

void srn_hello_send(struct srn_qp *qp)
{
	qp->peer.due = false;
	qp->peer.left--;
	srn_sack_hello(qp, SRN_SACK_HELLO, qp->window.una);
}

/* Who only guesses an address and a QPN shall not tell us what the peer understands. */
static bool is_near(u32 psn, u32 ours)
{
	return abs(srn_psn_diff(psn, ours)) < SRN_PSNS;
}

static void meet(struct srn_qp *qp, const struct srn_sack *sack)
{
	qp->peer.sacks = true;
	qp->peer.due = false;
	qp->peer.parts |= sack->parts;
	qp->peer.ahead = clamp_t(u32, sack->ahead, SRN_WINDOW, SRN_HOLD_WIDE);
	srn_hold_widen(qp->dev, &qp->resp.hold, qp->mtu);
	srn_window_set_reach(&qp->window, qp->peer.ahead);
	if (sack->tells)
		srn_react_meet(qp);
}

/* It was asked with what is in flight. How much it holds the SACK says itself;
 * whether it tells of marks, no packet but a hello does.
 */
bool srn_hello_heard(struct srn_qp *qp)
{
	if (qp->recovery != SRN_RECOVERY_SACK)
		return false;
	if (!qp->peer.sacks)
		meet(qp, &(struct srn_sack){ .ahead = SRN_WINDOW });
	return true;
}

void srn_hello_rx(struct srn_qp *qp, struct sk_buff *skb)
{
	u32 psn = srn_pkt(skb)->psn;
	struct srn_sack sack;

	if (qp->recovery != SRN_RECOVERY_SACK || !srn_sack_read(skb, &sack))
		return;
	if (sack.kind == SRN_SACK_HELLO && is_near(psn, qp->resp.msg.psn)) {
		meet(qp, &sack);
		srn_sack_hello(qp, SRN_SACK_ANSWER, psn);
	} else if (sack.kind == SRN_SACK_ANSWER && is_near(psn, qp->window.una)) {
		meet(qp, &sack);
	}
}
