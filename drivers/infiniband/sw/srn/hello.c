// SPDX-License-Identifier: GPL-2.0-only
/* Question and answer. */
#include "hello.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/minmax.h>
#include <rdma/ib_pack.h>

#include "parse.h"
#include "psn.h"
#include "qp.h"
#include "react.h"
#include "recovery.h"
#include "sack.h"
#include "window.h"

#define HELLOS	4
/* Twice of what a peer has out that does not know us: its hello may be as late as what was behind
 * it.
 */
#define NEAR	(2 * SRN_HOLD_AHEAD)

void srn_hello_start(struct srn_qp *qp)
{
	bool sack = qp->recovery == SRN_RECOVERY_SACK;

	qp->peer = (struct srn_peer){
		.due = sack, .left = sack ? HELLOS : 0, .acked = SRN_HELLO_NO_PSN,
		.only_reads = sack, .asked = (u32)jiffies - SRN_HELLO_PAUSE,
	};
	srn_hold_widen(qp->dev, &qp->resp.hold, 0);	/* nothing is held yet */
}
EXPORT_SYMBOL_IF_KUNIT(srn_hello_start);

/* Who only guesses an address and a QPN shall not tell us what the peer understands. */
static bool is_behind(u32 psn, u32 ours, s32 near)
{
	s32 diff = srn_psn_diff(psn, ours);

	return diff < 0 && diff > -near;
}

/* The one in front of the first PSN is behind what the peer expects, but no request had it. */
static u32 before_first(const struct srn_qp *qp)
{
	return srn_psn_add(qp->sq_psn, -1);
}

/* A READ was answered, nothing else has begun, and the peer's next PSN is near enough. Once it is
 * not, it never is again: when PSNs come round, that in front of the first is a READ's.
 */
static bool may_ask_reader(struct srn_qp *qp)
{
	qp->peer.only_reads &= is_behind(before_first(qp), qp->window.end, NEAR);
	return qp->peer.only_reads && qp->window.una != qp->sq_psn;
}

/* Not with the PSN of a READ or an atomic: of these a responder keeps something that it may look
 * for by the PSN. And by C9-105 a WRITE that comes again is acknowledged with the newest PSN that was
 * executed: by rxe with the last SEND's, WRITE's or atomic's, and before the first of them with that
 * of an older connection, or 0xffffff. To READs and atomics that completes nothing, and what it would
 * complete waits until it has come: it does so in front of the answer to what leaves behind the hello.
 */
void srn_hello_send(struct srn_qp *qp)
{
	u32 psn = srn_hello_psn(&qp->peer, qp->window.una);
	bool acked = psn != SRN_HELLO_NO_PSN;

	if (!acked && !may_ask_reader(qp))
		return;
	if (!srn_sack_hello(qp, acked ? psn : before_first(qp)))
		return;
	qp->peer.fence = !acked && !qp->peer.knows;
	qp->peer.due = false;
	qp->peer.left--;
	qp->peer.asked = jiffies;
}
EXPORT_SYMBOL_IF_KUNIT(srn_hello_send);

/* A PSN to compare an answer with there is from then on, too: in RTR the window is that of
 * another connection.
 */
static bool has_asked(const struct srn_qp *qp)
{
	return qp->peer.left < HELLOS;
}

bool srn_hello_draws_any(const struct srn_qp *qp)
{
	return qp->peer.only_reads && has_asked(qp);
}

static void meet(struct srn_qp *qp, const struct srn_sack *sack)
{
	qp->peer.sacks = true;
	qp->peer.due = false;
	qp->peer.parts |= sack->parts;
	srn_hold_widen(qp->dev, &qp->resp.hold, qp->mtu);
	if (sack->tells)
		srn_react_meet(qp);
}

static void set_ahead(struct srn_qp *qp, const struct srn_sack *sack, u32 most)
{
	qp->peer.ahead = clamp_t(u32, sack->ahead, SRN_WINDOW, most);
	srn_window_set_reach(&qp->window, qp->peer.ahead);
}

static void meet_who_knows(struct srn_qp *qp, const struct srn_sack *sack)
{
	meet(qp, sack);
	qp->peer.knows = true;
	qp->peer.fence = false;
	/* It answers: whenever it is asked again, it is not in vain. But that it was asked stays so. */
	qp->peer.left = max(qp->peer.left, HELLOS - 1);
	set_ahead(qp, sack, SRN_HOLD_WIDE);
}

/* Of who says hello, or of whom somebody says that, nothing shows that it has heard the answer: what it says that
 * it holds, it does for who it knows. Of who does know us it takes an answer, or a SACK, to say anything else.
 */
static void meet_who_asks(struct srn_qp *qp, const struct srn_sack *sack)
{
	meet(qp, sack);
	if (!qp->peer.knows)
		set_ahead(qp, sack, SRN_HOLD_AHEAD);
}

void srn_hello_introduce(struct srn_qp *qp, bool tells, bool parts)
{
	const struct srn_sack sack = { .tells = tells, .parts = parts, .ahead = SRN_HOLD_AHEAD };

	meet_who_asks(qp, &sack);
}
EXPORT_SYMBOL_IF_KUNIT(srn_hello_introduce);

/* Whoever sends it has heard of this side, and what is in flight: it says all that the answer did. */
bool srn_hello_heard(struct srn_qp *qp, struct sk_buff *skb)
{
	struct srn_sack sack;

	if (qp->recovery != SRN_RECOVERY_SACK)
		return false;
	if (!qp->peer.knows && srn_sack_read(skb, &sack)) {
		/* That it has room for less is so while it holds something (srn_lost_heard()). */
		sack.ahead = max_t(u32, sack.ahead, SRN_HOLD_AHEAD);
		meet_who_knows(qp, &sack);
	}
	return qp->peer.sacks;
}

void srn_hello_rx_answer(struct srn_qp *qp, struct sk_buff *skb)
{
	struct srn_sack sack;

	if (qp->recovery != SRN_RECOVERY_SACK || !srn_sack_read(skb, &sack))
		return;
	if (sack.kind == SRN_SACK_ANSWER && has_asked(qp) &&
	    is_behind(srn_pkt(skb)->psn, qp->window.una, SRN_PSNS))
		meet_who_knows(qp, &sack);
}
EXPORT_SYMBOL_IF_KUNIT(srn_hello_rx_answer);

/* Who waits for an ACK gets it: whatever its key, that was a WRITE. */
bool srn_hello_take(struct srn_qp *qp, struct sk_buff *skb)
{
	const struct srn_pkt *pkt = srn_pkt(skb);
	struct srn_sack sack;

	if (qp->recovery != SRN_RECOVERY_SACK || pkt->opcode != IB_OPCODE_RC_RDMA_WRITE_ONLY ||
	    pkt->flags & SRN_PKT_ACKREQ || !srn_sack_read_hello(skb, &sack) ||
	    !is_behind(pkt->psn, qp->resp.msg.psn, NEAR))
		return false;
	meet_who_asks(qp, &sack);
	qp->peer.owed = true;
	qp->peer.owed_psn = pkt->psn;
	return true;
}

/* However many came: each answer would say the same. */
void srn_hello_answer(struct srn_qp *qp, bool receives)
{
	if (likely(!qp->peer.owed))
		return;
	qp->peer.owed = false;
	if (receives)
		srn_sack_answer(qp, qp->peer.owed_psn);
}
EXPORT_SYMBOL_IF_KUNIT(srn_hello_answer);
