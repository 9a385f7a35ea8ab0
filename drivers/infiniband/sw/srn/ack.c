// SPDX-License-Identifier: GPL-2.0-only
/* ACK and NAK of a RC responder (IBTA vol. 1, 9.7.5.1 and 9.7.5.2). */
#include "ack.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <rdma/ib_pack.h>

#include "build.h"
#include "psn.h"
#include "qp.h"
#include "stats.h"
#include "wire.h"
#include "xmit.h"

static unsigned int syndrome_class(u8 syndrome)
{
	return FIELD_GET(SRN_SYN_CLASS, syndrome);
}

static bool pending_ack(const struct srn_responder *resp)
{
	return resp->ack_pending && syndrome_class(resp->ack_syndrome) == SRN_SYN_ACK;
}

static void set_pending(struct srn_responder *resp, u8 syndrome, u32 psn)
{
	resp->ack_pending = true;
	resp->ack_syndrome = syndrome;
	resp->ack_psn = psn;
}

/* Coalescing: the ACK that waits grows with each packet. Never to the PSN of a
 * READ or atomic though: some requesters (rxe) complete a READ without data when
 * an ACK names its last PSN. Hence done_psn, which only SEND and WRITE move.
 */
void srn_ack_done(struct srn_qp *qp, u32 psn, bool asked)
{
	struct srn_responder *resp = &qp->resp;
	bool waiting = pending_ack(resp);

	resp->done_psn = psn;
	resp->done_any = true;
	if (waiting && asked)
		srn_count(qp->dev, SRN_CNT_ACK_DEFERRED);
	if (waiting || asked)
		set_pending(resp, SRN_SYN_ACK_UNLIMITED, psn);
}
EXPORT_SYMBOL_IF_KUNIT(srn_ack_done);

/* A duplicate is acknowledged, with the PSN of the newest packet done. A
 * NAK that waits says as much.
 */
void srn_ack_again(struct srn_qp *qp)
{
	struct srn_responder *resp = &qp->resp;

	if (resp->ack_pending)
		return;
	set_pending(resp, SRN_SYN_ACK_UNLIMITED,
		    resp->done_any ? resp->done_psn : srn_psn_add(resp->psn, -1));
}
EXPORT_SYMBOL_IF_KUNIT(srn_ack_again);

static void send_back(struct srn_responder *resp, u8 syndrome)
{
	resp->nak_sent = syndrome;
	set_pending(resp, syndrome, resp->psn);
}

/* The packet behind the missing one comes first after it, so when it comes again
 * the peer has gone back, and what it sent again is lost as well. Silence would
 * cost it a timeout.
 */
void srn_ack_gap(struct srn_qp *qp, u32 psn)
{
	struct srn_responder *resp = &qp->resp;
	bool lost_again = resp->nak_sent == SRN_SYN_NAK_SEQ &&
			  psn == srn_psn_add(resp->psn, 1);

	if (!resp->nak_sent || lost_again)
		send_back(resp, SRN_SYN_NAK_SEQ);
}
EXPORT_SYMBOL_IF_KUNIT(srn_ack_gap);

void srn_ack_rnr(struct srn_qp *qp)
{
	send_back(&qp->resp, SRN_SYN_RNR_NAK | qp->min_rnr_timer);
}
EXPORT_SYMBOL_IF_KUNIT(srn_ack_rnr);

void srn_ack_fatal(struct srn_qp *qp, u8 syndrome, u32 psn)
{
	struct srn_responder *resp = &qp->resp;

	resp->fatal = true;
	set_pending(resp, syndrome, psn);
}

bool srn_ack_expected(struct srn_qp *qp)
{
	struct srn_responder *resp = &qp->resp;

	resp->nak_sent = 0;
	if (!resp->ack_pending || pending_ack(resp))
		return false;
	resp->ack_pending = false;
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(srn_ack_expected);

void srn_ack_implied(struct srn_qp *qp, u32 psn)
{
	struct srn_responder *resp = &qp->resp;

	if (!pending_ack(resp) || srn_psn_diff(psn, resp->ack_psn) < 0)
		return;
	resp->ack_pending = false;
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

/* Without memory the answer is lost, as on a bad wire: the peer asks again. */
void srn_ack_send(struct srn_qp *qp)
{
	struct srn_responder *resp = &qp->resp;
	struct sk_buff *skb;

	if (!resp->ack_pending)
		return;
	resp->ack_pending = false;
	skb = srn_build(IB_OPCODE_RC_ACKNOWLEDGE, 0, qp->dest_qpn, resp->ack_psn, 0);
	if (!skb) {
		srn_count(qp->dev, SRN_CNT_TX_NOMEM);
		return;
	}
	srn_build_aeth(skb, resp->ack_syndrome, resp->msn);
	srn_count(qp->dev, counter_of(resp->ack_syndrome));
	srn_xmit(&qp->path, skb);
}
