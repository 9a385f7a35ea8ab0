// SPDX-License-Identifier: GPL-2.0-only
/* RC and UC requests: what follows from the verdict on each, which is where RC
 * (answers) and UC (silence) part. The checks are in arrival_check.c, what they permit is
 * done in arrival_execute.c.
 */
#include "responder.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/log2.h>

#include "ack.h"
#include "answer.h"
#include "arrival.h"
#include "clock.h"
#include "device.h"
#include "mem.h"
#include "payer.h"
#include "psn.h"
#include "qp.h"
#include "rq.h"
#include "stats.h"
#include "trace.h"

static enum srn_verdict check_psn(struct srn_arrival *a)
{
	s32 ahead = srn_psn_diff(a->pkt->psn, a->msg->psn);

	if (ahead)
		return ahead > 0 ? SRN_V_SEQ : SRN_V_DUP;
	a->ack_owed = srn_ack_expected(a->qp);
	return SRN_OK;
}

static enum srn_verdict serve(struct srn_arrival *a)
{
	enum srn_verdict v = srn_arrival_check(a) ?: srn_arrival_execute(a);

	if (a->mem)
		srn_mem_put(a->mem);
	return v;
}

/* The event is for errors that no completion tells of. Who is told finds the QP in error. */
void srn_responder_fail(struct srn_qp *qp, enum srn_verdict v, u32 psn)
{
	if (qp->svc->reliable)
		srn_ack_fatal(qp, srn_verdicts[v].nak, psn);
	srn_qp_error(qp, v);
	if (qp->rq.open)
		srn_rq_fail(qp, v);
	else
		srn_qp_event(qp, srn_verdicts[v].event);
}
EXPORT_SYMBOL_IF_KUNIT(srn_responder_fail);

/* Answered again, never executed again. */
static void answer_again(struct srn_arrival *a)
{
	srn_count(a->qp->dev, SRN_CNT_DUP_REQUEST);
	if (a->info->is_atomic) {
		srn_answer_again_atomic(a->qp, a->info->op, a->pkt->psn);
	} else if (a->info->op == SRN_OP_READ_REQ) {
		srn_answer_again_read(a->qp, a->pkt->psn, &a->range);
	} else if (a->info->is_stream && (a->pkt->flags & SRN_PKT_ACKREQ)) {
		/* Not each packet of a burst that is sent again for nothing. */
		srn_ack_again(a->qp, a->pkt->psn);
	}
}

/* A SEND that invalidates the key of a READ which is still being answered waits until the
 * answer has left. Done at once it would turn a READ that was accepted into an access
 * error; done at once with the memory held, the owner would be told that the key is dead
 * while the peer still reads.
 */
static enum srn_verdict check_answers(const struct srn_arrival *a)
{
	const struct srn_replay *replay = &a->qp->resp.replay;

	if (likely(!(a->info->hdrs & SRN_HDR_IETH)) || a->pkt->psn != a->msg->psn)
		return SRN_OK;
	return srn_replay_reads(replay, be32_to_cpu(srn_pkt_imm(a->skb))) ? SRN_V_LATER : SRN_OK;
}

static enum srn_verdict rc_request(struct srn_arrival *a)
{
	enum srn_verdict v = check_answers(a) ?: check_psn(a) ?: serve(a);

	if (srn_verdicts[v].effect) {
		srn_responder_fail(a->qp, v, a->msg->psn);
		return v;
	}
	switch (v) {
	case SRN_V_DUP:
		answer_again(a);
		break;
	case SRN_V_SEQ:
		srn_count(a->qp->dev, SRN_CNT_OUT_OF_SEQ);
		srn_ack_gap(a->qp, a->pkt->psn);
		break;
	case SRN_V_RNR:
		srn_ack_rnr(a->qp);
		break;
	default:
		break;
	}
	return v;
}

/* Whatever is amiss with a packet, only the message that it is part of is lost. */
static enum srn_verdict uc_request(struct srn_arrival *a)
{
	enum srn_verdict v = srn_arrival_resync(a) ?: serve(a);

	if (!v || v == SRN_V_DROP)
		return v;
	if (srn_verdicts[v].own_fault) {
		srn_responder_fail(a->qp, v, a->pkt->psn);
		return v;
	}
	srn_count(a->qp->dev, v == SRN_V_RNR ? SRN_CNT_RX_NO_RECV : SRN_CNT_UC_REFUSED);
	srn_arrival_drop(a);
	return v;
}

static void note_established(struct srn_qp *qp)
{
	if (qp->state != IB_QPS_RTR || qp->resp.comm_est)
		return;
	qp->resp.comm_est = true;
	srn_qp_event(qp, IB_EVENT_COMM_EST);
}

/* The packet may have waited while the QP left the state that demux saw. */
bool srn_responder_receives(const struct srn_qp *qp)
{
	return qp->state == IB_QPS_RTR || qp->state == IB_QPS_RTS ||
	       qp->state == IB_QPS_SQD || qp->state == IB_QPS_SQE;
}

bool srn_responder_rx(struct srn_qp *qp, struct sk_buff *skb)
{
	enum srn_verdict v;
	struct srn_arrival a;

	srn_turn_assert_owned(&qp->turn);
	if (!srn_responder_receives(qp)) {
		srn_count(qp->dev, SRN_CNT_RX_BAD_STATE);
		kfree_skb(skb);
		return true;
	}
	note_established(qp);
	srn_arrival_init(&a, qp, skb);
	v = qp->svc->reliable ? rc_request(&a) : uc_request(&a);
	if (likely(!v)) {
		consume_skb(skb);
		return true;
	}
	trace_srn_verdict(qp, a.pkt->opcode, a.pkt->psn, v);
	if (v == SRN_V_LATER)
		return false;
	kfree_skb(skb);
	return true;
}

/* Returns false if answers wait for room, and an alarm is set to look again. */
static bool has_room(struct srn_qp *qp)
{
	if (srn_payer_has_room(&qp->resp.payer))
		return true;
	if (!srn_clock_is_set(&qp->clock, SRN_ALARM_ROOM))
		srn_clock_set(&qp->clock, SRN_ALARM_ROOM, srn_payer_wait(&qp->resp.payer));
	return false;
}

static void send_answers(struct srn_qp *qp, int *budget)
{
	enum srn_verdict v;
	u32 psn;

	v = srn_answer_send(qp, budget, &psn);
	if (v)
		srn_responder_fail(qp, v, psn);
}

/* In the error state only the way to a NAK is finished: what the peer asked for
 * before the request that failed, then the NAK.
 */
bool srn_responder_send(struct srn_qp *qp, int *budget)
{
	struct srn_responder *resp = &qp->resp;

	srn_turn_assert_owned(&qp->turn);
	if (!resp->replay.open && !resp->ack.pending)
		return false;
	if (!srn_responder_receives(qp) && !resp->ack.fatal) {
		srn_replay_abandon(&resp->replay);
		srn_ack_abandon(qp);
		return false;
	}
	if (resp->replay.open) {
		if (!has_room(qp))
			return false;
		send_answers(qp, budget);
	}
	if (resp->replay.open)
		return true;
	srn_ack_send(qp);
	return false;
}

void srn_responder_start(struct srn_qp *qp, u32 psn)
{
	srn_message_start(&qp->resp.msg, psn);
}

/* What RESET leaves: nothing but the memory of the slots. */
void srn_responder_reset(struct srn_qp *qp)
{
	srn_message_start(&qp->resp.msg, 0);
	srn_ack_reset(qp);
	srn_replay_clear(&qp->resp.replay);
	qp->resp.comm_est = false;
	srn_rq_reset(qp);
}

static int open_payer(struct srn_responder *resp, struct net *net)
{
	int err = resp->payer.sock ? 0 : srn_payer_open(&resp->payer, net);

	resp->train.payer = &resp->payer;
	return err;
}

int srn_responder_alloc(struct srn_qp *qp, u32 num)
{
	struct srn_responder *resp = &qp->resp;
	int err = num ? open_payer(resp, qp->dev->net) : 0;

	/* rxe rounds up how many READs its own side may have open, and sends that many. */
	if (num)
		num = roundup_pow_of_two(num);
	if (!err && num != resp->replay.num)
		err = srn_replay_resize(&resp->replay, num);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(srn_responder_alloc);

void srn_responder_free(struct srn_qp *qp)
{
	srn_replay_resize(&qp->resp.replay, 0);	/* to nothing: cannot fail */
	srn_payer_close(&qp->resp.payer);
}
