// SPDX-License-Identifier: GPL-2.0-only
/* ACK and NAK of a RC responder (IBTA vol. 1, 9.7.5.1 and 9.7.5.2). */
#include "ack.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <rdma/ib_pack.h>

#include "build.h"
#include "psn.h"
#include "qp.h"
#include "rnr.h"
#include "stats.h"
#include "wire.h"
#include "xmit.h"

/* What was in flight when a NAK left has come after this long, near by. */
#define IN_FLIGHT_NS	(100ull * NSEC_PER_USEC)

static unsigned int syndrome_class(u8 syndrome)
{
	return FIELD_GET(SRN_SYN_CLASS, syndrome);
}

void srn_ack_reset(struct srn_qp *qp)
{
	qp->resp.ack = (struct srn_ack) {};
}

void srn_ack_abandon(struct srn_qp *qp)
{
	qp->resp.ack.pending = false;
}

static bool pending_ack(const struct srn_ack *ack)
{
	return ack->pending && syndrome_class(ack->syndrome) == SRN_SYN_ACK;
}

static void set_pending(struct srn_ack *ack, u8 syndrome, u32 psn)
{
	ack->pending = true;
	ack->syndrome = syndrome;
	ack->psn = psn;
}

/* Coalescing: the ACK that waits grows with each packet. Never to the PSN of a
 * READ or atomic though: some requesters (rxe) complete a READ without data when
 * an ACK names its last PSN. Hence done_psn, which only SEND and WRITE move.
 */
void srn_ack_done(struct srn_qp *qp, u32 psn, bool asked)
{
	struct srn_ack *ack = &qp->resp.ack;
	bool waiting = pending_ack(ack);

	ack->done_psn = psn;
	ack->done_any = true;
	if (waiting && asked)
		srn_count(qp->dev, SRN_CNT_ACK_DEFERRED);
	if (waiting || asked)
		set_pending(ack, SRN_SYN_ACK_UNLIMITED, psn);
}
EXPORT_SYMBOL_IF_KUNIT(srn_ack_done);

/* The newest packet done, seen from a duplicate of @psn. An ACK past a READ or atomic
 * would tell the peer that its answer is lost, and cost it a retry; but it may be on
 * its way, and if not, the peer comes to it by itself.
 */
static u32 newest_done(const struct srn_responder *resp, u32 psn)
{
	u32 done = resp->ack.done_any ? resp->ack.done_psn : srn_psn_add(resp->msg.psn, -1);
	const struct srn_replay_slot *slot = srn_replay_after(&resp->replay, psn);

	if (slot && srn_psn_diff(slot->first_psn, done) <= 0)
		return srn_psn_add(slot->first_psn, -1);
	return done;
}

/* A NAK that waits says as much. */
void srn_ack_again(struct srn_qp *qp, u32 psn)
{
	struct srn_ack *ack = &qp->resp.ack;

	if (!ack->pending)
		set_pending(ack, SRN_SYN_ACK_UNLIMITED, newest_done(&qp->resp, psn));
}
EXPORT_SYMBOL_IF_KUNIT(srn_ack_again);

/* The packets behind it that are here already have their say first: one NAK for all of
 * them, none if they were only reordered.
 */
static void send_back(struct srn_qp *qp, u8 syndrome)
{
	qp->answer_later = true;
	qp->resp.ack.nak_sent = syndrome;
	qp->resp.ack.next_came = false;
	set_pending(&qp->resp.ack, syndrome, qp->resp.msg.psn);
}

/* The packet behind the refused one comes first after it, so when it comes a second time
 * the peer has gone back, and what it sent again is lost. So it is after a RNR NAK when a
 * packet comes that has come before, or, if there was none, any, and it is late enough for
 * the peer to have gone on: what waited in queues on the way is new. Silence would cost
 * the peer a timeout.
 */
static bool lost_again(struct srn_ack *ack, bool next, bool seen)
{
	bool again = next && ack->next_came;

	ack->next_came |= next;
	return again || (syndrome_class(ack->nak_sent) == SRN_SYN_RNR && seen &&
			 ktime_get_ns() >= ack->resumes_ns);
}

static void note_dropped(struct srn_ack *ack, u32 psn)
{
	if (!ack->dropped || srn_psn_diff(psn, ack->ahead) > 0)
		ack->ahead = psn;
	ack->dropped = true;
}

void srn_ack_gap(struct srn_qp *qp, u32 psn)
{
	struct srn_ack *ack = &qp->resp.ack;
	bool next = psn == srn_psn_add(qp->resp.msg.psn, 1);
	bool seen = !ack->dropped || srn_psn_diff(psn, ack->ahead) <= 0;

	note_dropped(ack, psn);
	if (ack->nak_sent && !lost_again(ack, next, seen))
		return;
	send_back(qp, srn_verdicts[SRN_V_SEQ].nak);
	ack->next_came = true;
}
EXPORT_SYMBOL_IF_KUNIT(srn_ack_gap);

void srn_ack_rnr(struct srn_qp *qp)
{
	u64 wait = max(srn_rnr_ns(qp->min_rnr_timer), IN_FLIGHT_NS);

	send_back(qp, srn_verdicts[SRN_V_RNR].nak | qp->min_rnr_timer);
	qp->resp.ack.resumes_ns = ktime_get_ns() + wait;
}
EXPORT_SYMBOL_IF_KUNIT(srn_ack_rnr);

void srn_ack_fatal(struct srn_qp *qp, u8 syndrome, u32 psn)
{
	struct srn_ack *ack = &qp->resp.ack;

	ack->fatal = true;
	set_pending(ack, syndrome, psn);
}

bool srn_ack_expected(struct srn_qp *qp)
{
	struct srn_ack *ack = &qp->resp.ack;

	ack->nak_sent = 0;
	if (ack->dropped && srn_psn_diff(ack->ahead, qp->resp.msg.psn) <= 0)
		ack->dropped = false;
	if (!ack->pending || pending_ack(ack))
		return false;
	ack->pending = false;
	ack->holed |= ack->dropped;
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(srn_ack_expected);

void srn_ack_implied(struct srn_qp *qp, u32 psn)
{
	struct srn_ack *ack = &qp->resp.ack;

	if (!pending_ack(ack) || srn_psn_diff(psn, ack->psn) < 0)
		return;
	ack->pending = false;
	srn_count(qp->dev, SRN_CNT_ACK_DEFERRED);
}
EXPORT_SYMBOL_IF_KUNIT(srn_ack_implied);

static enum srn_counter counter_of(u8 syndrome)
{
	switch (syndrome_class(syndrome)) {
	case SRN_SYN_ACK:
		return SRN_CNT_SENT_ACK;
	case SRN_SYN_RNR:
		return SRN_CNT_SEND_RNR;
	default:
		return SRN_CNT_SENT_NAK;
	}
}

/* Packets changed places on the way: one came in time after all, and the NAK for it was
 * withdrawn; those behind it were dropped. Unless they came again meanwhile, the peer is
 * told what is expected now, which acknowledges all before it.
 */
void srn_ack_conclude(struct srn_qp *qp)
{
	struct srn_ack *ack = &qp->resp.ack;
	s32 ahead = srn_psn_diff(ack->ahead, qp->resp.msg.psn);

	if (!ack->holed)
		return;
	ack->holed = false;
	if (ack->fatal || !ack->dropped || ahead < 0)
		return;
	ack->nak_sent = srn_verdicts[SRN_V_SEQ].nak;
	ack->next_came = ahead > 0;
	set_pending(ack, ack->nak_sent, qp->resp.msg.psn);
}
EXPORT_SYMBOL_IF_KUNIT(srn_ack_conclude);

/* Without memory the answer is lost, as on a bad wire: the peer asks again. */
void srn_ack_send(struct srn_qp *qp)
{
	struct srn_ack *ack = &qp->resp.ack;
	struct sk_buff *skb;

	srn_ack_conclude(qp);
	if (!ack->pending)
		return;
	ack->pending = false;
	skb = srn_build(IB_OPCODE_RC_ACKNOWLEDGE, SRN_BUILD_ALONE, qp->dest_qpn, ack->psn, 0);
	if (!skb) {
		srn_count(qp->dev, SRN_CNT_TX_NOMEM);
		return;
	}
	srn_build_aeth(skb, ack->syndrome, qp->resp.msg.msn);
	srn_count(qp->dev, counter_of(ack->syndrome));
	srn_xmit(&qp->path, skb, NULL);
}
