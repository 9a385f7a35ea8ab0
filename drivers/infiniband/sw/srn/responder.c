// SPDX-License-Identifier: GPL-2.0-only
/* RC and UC requests: what follows from the verdict on each, which is where RC
 * (answers) and UC (silence) part. The checks are in arrival_check.c, what they permit is
 * done in arrival_execute.c.
 */
#include "responder.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/minmax.h>

#include "ack.h"
#include "answer.h"
#include "arrival.h"
#include "clock.h"
#include "convoy.h"
#include "device.h"
#include "hold.h"
#include "mem.h"
#include "net.h"
#include "pace.h"
#include "payer.h"
#include "psn.h"
#include "qp.h"
#include "react.h"
#include "rq.h"
#include "run.h"
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
	srn_ack_twice(a->qp, !a->info->is_atomic && a->info->op != SRN_OP_READ_REQ);
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

	if (likely(!(a->last->hdrs & SRN_HDR_IETH)) || a->pkt->psn != a->msg->psn)
		return SRN_OK;
	return srn_replay_reads(replay, be32_to_cpu(srn_pkt_imm(a->skb))) ? SRN_V_LATER : SRN_OK;
}

/* What came before its turn need not come again, if there is room for it. */
static enum srn_held keep(struct srn_arrival *a)
{
	struct srn_qp *qp = a->qp;

	if (!srn_qp_holds(qp))
		return SRN_HELD_NOT;
	return srn_hold_add(qp->dev, &qp->resp.hold, a->skb, a->msg->psn);
}

/* One of several that were joined is wrong. What is before it is executed, and it is what the NAK is
 * for, once each comes by itself. None of them was, but that a SEND may have been placed, as it will be
 * again; and a NAK for a gap that this closed is owed an ACK instead.
 */
static enum srn_verdict take_each(const struct srn_arrival *a)
{
	if (a->ack_owed)
		srn_ack_again(a->qp, srn_psn_add(a->pkt->psn, -1));
	return SRN_V_EACH;
}

static enum srn_verdict rc_request(struct srn_arrival *a)
{
	enum srn_verdict v = check_answers(a) ?: check_psn(a) ?: serve(a);
	enum srn_held held;

	if (likely(!v))
		return SRN_OK;
	if (srn_verdicts[v].nak && srn_pkt_is_joined(a->skb))
		return take_each(a);
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
		held = keep(a);
		srn_ack_gap(a->qp, a->pkt->psn, held);
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

static enum srn_verdict serve_message(struct srn_qp *qp, struct sk_buff *skb)
{
	struct srn_arrival a __uninitialized;	/* the next line sets all of it */
	enum srn_verdict v;

	srn_arrival_init(&a, qp, skb);
	v = qp->svc->reliable ? rc_request(&a) : uc_request(&a);
	if (unlikely(v))
		trace_srn_verdict(qp, a.pkt->opcode, a.pkt->psn, v);
	return v;
}

/* Returns true if @skb was consumed; false: it has to wait, or to come as packets. */
static bool serve_packet(struct srn_qp *qp, struct sk_buff *skb)
{
	enum srn_verdict v = serve_message(qp, skb);

	if (likely(!v)) {
		napi_consume_skb(skb, 1);
		return true;
	}
	if (v == SRN_V_LATER || v == SRN_V_EACH)
		return false;
	kfree_skb(skb);
	return true;
}

/* One that is not simply executed is the last that is taken here: what comes behind it is dropped,
 * held or waits, as packets are. Each may have put the QP into error, by its completion.
 */
bool srn_responder_rx_pack(struct srn_qp *qp, struct sk_buff *skb)
{
	enum srn_verdict v;

	srn_turn_assert_owned(&qp->turn);
	while (srn_responder_receives(qp)) {
		note_established(qp);
		srn_arrival_writes(qp, skb);
		v = serve_message(qp, skb);
		if (v == SRN_V_LATER)
			return false;
		if (!srn_pkt_is_pack(skb)) {
			napi_consume_skb(skb, 1);
			return true;
		}
		srn_run_advance(skb);
		if (unlikely(v))
			return false;
	}
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(srn_responder_rx_pack);

/* Of a message that finds no receive WQE what needs none is done, and what comes behind is held:
 * packet by packet.
 */
static bool may_lack_receive(const struct srn_qp *qp, struct sk_buff *skb)
{
	return !qp->rq.open && (srn_pkt_info(skb)->op == SRN_OP_SEND ||
				srn_pkt_last(skb)->hdrs & SRN_HDR_IMM) &&
	       srn_rq_is_empty(qp);
}

/* What is next, and has nothing held behind it, can be taken as one. */
bool srn_responder_takes_run(struct srn_qp *qp, struct sk_buff *skb)
{
	const struct srn_pkt *pkt = srn_pkt(skb);

	if (!qp->svc->reliable || pkt->psn != qp->resp.msg.psn ||
	    !srn_hold_is_empty(&qp->resp.hold))
		return false;
	return srn_pkt_is_pack(skb) || (srn_pkt_info(skb)->is_stream && pkt->each == qp->mtu &&
					!may_lack_receive(qp, skb));
}

bool srn_responder_rx(struct srn_qp *qp, struct sk_buff *skb)
{
	srn_turn_assert_owned(&qp->turn);
	if (!srn_responder_receives(qp)) {
		srn_count(qp->dev, SRN_CNT_RX_BAD_STATE);
		kfree_skb(skb);
		return true;
	}
	note_established(qp);
	return serve_packet(qp, skb);
}
EXPORT_SYMBOL_IF_KUNIT(srn_responder_rx);

/* Of what is held nothing is looked at that has been passed; in error all of it has been. */
static bool drop_passed(struct srn_qp *qp, int *budget)
{
	struct srn_hold *hold = &qp->resp.hold;

	if (unlikely(!srn_responder_receives(qp)))
		return srn_hold_drop(qp->dev, hold, budget);
	return srn_hold_drop_behind(qp->dev, hold, qp->resp.msg.psn, budget);
}

/* A request that is refused, or finds no receive WQE, ends it: the expected PSN stays. */
bool srn_responder_drain(struct srn_qp *qp, int *budget)
{
	struct srn_responder *resp = &qp->resp;
	u32 first = resp->msg.psn, done = resp->ack.done_psn;
	bool waits = false, any = resp->ack.done_any;
	struct sk_buff *skb;

	if (likely(srn_hold_is_empty(&resp->hold)))
		return true;
	srn_turn_assert_owned(&qp->turn);
	while (!waits && drop_passed(qp, budget) && *budget > 0) {
		skb = srn_hold_take(qp->dev, &resp->hold, resp->msg.psn);
		if (!skb)
			break;
		waits = !serve_packet(qp, skb);
		if (waits)
			srn_hold_put_back(qp->dev, &resp->hold, skb);
		--*budget;
	}
	if (resp->msg.psn != first)
		srn_ack_filled(qp, resp->ack.done_any != any || resp->ack.done_psn != done);
	return drop_passed(qp, budget) && !srn_hold_is_due(&resp->hold, resp->msg.psn);
}
EXPORT_SYMBOL_IF_KUNIT(srn_responder_drain);

/* How many packets of answers the pace lets go, of @budget; an alarm is set if none. */
static int paced(struct srn_qp *qp, int budget)
{
	u64 now = ktime_get_ns();
	u32 num = srn_react_ask(qp, SRN_PACE_ANSWERS, now);

	if (!num)
		srn_react_wait(qp, SRN_PACE_ANSWERS, now);
	return min_t(u32, num, budget);
}

/* Returns false if answers wait for room, and an alarm is set to look again. */
static bool has_room(struct srn_qp *qp)
{
	if (srn_payer_has_room(&qp->payer))
		return true;
	if (!srn_clock_is_set(&qp->clock, SRN_ALARM_ROOM))
		srn_clock_set(&qp->clock, SRN_ALARM_ROOM, srn_payer_wait(&qp->payer));
	return false;
}

/* Returns false if they wait for their time. */
static bool send_answers(struct srn_qp *qp, int *budget)
{
	int part = *budget;
	enum srn_verdict v;
	u32 psn;

	if (unlikely(srn_pace_is_on(&qp->pace)))
		part = paced(qp, part);
	if (!part)
		return false;
	*budget -= part;
	v = srn_answer_send(qp, &part, &psn);
	*budget += part;
	if (v)
		srn_responder_fail(qp, v, psn);
	return true;
}

/* No NAK tells of it: the peer has a QP that works. */
static bool failed_by_itself(const struct srn_qp *qp)
{
	return qp->state == IB_QPS_ERR && !qp->resp.ack.fatal;
}

bool srn_responder_owes(const struct srn_qp *qp)
{
	const struct srn_responder *resp = &qp->resp;

	return resp->replay.open || resp->ack.pending || resp->ack.gone_any || !srn_hold_is_empty(&resp->hold);
}

/* In the error state only the way to a NAK is finished: what the peer asked for
 * before the request that failed, then the NAK; or, if there is none, a last ACK.
 */
bool srn_responder_send(struct srn_qp *qp, int *budget)
{
	struct srn_responder *resp = &qp->resp;

	srn_turn_assert_owned(&qp->turn);
	/* All that was executed before is told once. */
	if (unlikely(failed_by_itself(qp))) {
		srn_ack_leave(qp);
		return false;
	}
	if (!srn_responder_owes(qp))
		return false;
	if (!srn_responder_receives(qp) && !resp->ack.fatal)
		return false;
	if (resp->replay.open && (!has_room(qp) || !send_answers(qp, budget)))
		return false;
	if (resp->replay.open)
		return true;
	/* Nothing is missing that is held and was not looked at yet. */
	if (!srn_hold_is_due(&resp->hold, resp->msg.psn))
		srn_ack_send(qp);
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(srn_responder_send);

void srn_responder_start(struct srn_qp *qp, u32 psn)
{
	srn_message_start(&qp->resp.msg, psn);
	qp->resp.carried_psn = psn;
}

/* What RESET leaves: nothing but the memory of the slots. */
void srn_responder_reset(struct srn_qp *qp)
{
	srn_message_start(&qp->resp.msg, 0);
	srn_ack_reset(qp);
	srn_hold_purge(qp->dev, &qp->resp.hold);
	srn_replay_clear(&qp->resp.replay);
	qp->resp.comm_est = false;
	qp->resp.doubt = 0;
	srn_rq_reset(qp);
}

static int open_payer(struct srn_qp *qp)
{
	qp->resp.train.payer = &qp->payer;
	if (srn_payer_pays(&qp->payer))
		return 0;
	return srn_payer_open(&qp->payer, qp->dev->net, srn_net_sock(qp->dev->snet));
}

int srn_responder_alloc(struct srn_qp *qp, u32 num)
{
	struct srn_responder *resp = &qp->resp;
	int err = num ? open_payer(qp) : 0;

	/* rxe rounds up how many READs its own side may have open, and sends that many. */
	if (num)
		num = roundup_pow_of_two(num);
	if (!err && num != resp->replay.num)
		err = srn_replay_resize(&resp->replay, num);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(srn_responder_alloc);

/* Who failed by itself may not have come to it yet, while it flushes. */
void srn_responder_leave(struct srn_qp *qp)
{
	if (srn_responder_receives(qp) || failed_by_itself(qp))
		srn_ack_leave(qp);
}
EXPORT_SYMBOL_IF_KUNIT(srn_responder_leave);

void srn_responder_free(struct srn_qp *qp)
{
	srn_hold_purge(qp->dev, &qp->resp.hold);
	srn_replay_resize(&qp->resp.replay, 0);	/* to nothing: cannot fail */
}
