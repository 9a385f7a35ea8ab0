// SPDX-License-Identifier: GPL-2.0-only
/* A QP's turn: what runs, in which order, and how it is woken. */
#include "round.h"

#include <kunit/visibility.h>
#include <linux/bottom_half.h>
#include <linux/export.h>
#include <linux/ktime.h>
#include <linux/minmax.h>

#include "bell.h"
#include "clock.h"
#include "completer.h"
#include "convoy.h"
#include "gather.h"
#include "hello.h"
#include "hold.h"
#include "notify.h"
#include "parse.h"
#include "path.h"
#include "psn.h"
#include "qp.h"
#include "react.h"
#include "requester.h"
#include "responder.h"
#include "retry.h"
#include "rq.h"
#include "rxq.h"
#include "sack.h"
#include "shed.h"
#include "sq.h"
#include "trace.h"
#include "ud.h"

/* The path may have changed since demux looked at it, without the turn. */
static bool is_from_peer(const struct srn_qp *qp, const struct sk_buff *skb)
{
	return !qp->svc->connected || srn_path_from(&qp->path, skb);
}

static bool must_split(struct srn_qp *qp, struct sk_buff *skb)
{
	if (!srn_pkt_is_run(skb))
		return false;
	if (srn_pkt_info(skb)->is_request)
		return !srn_responder_takes_run(qp, skb);
	/* Who is asked takes what it says of all that is in front of it, though no part of it may be left. */
	qp->answered = true;
	return !srn_completer_takes_run(qp, skb);
}

static bool is_answer(struct sk_buff *skb)
{
	const struct srn_opcode *info = srn_pkt_info(skb);

	return !info->is_request && info->op != SRN_OP_NONE;
}

/* Other than a SACK, which is for the completer: to a hello of ours, or of a kind or version that
 * nobody knows.
 */
static bool is_hello_answer(struct sk_buff *skb)
{
	return srn_pkt_info(skb)->op == SRN_OP_SACK && srn_sack_kind(skb) != SRN_SACK_HELD;
}

/* Of no message. It may have waited while the QP left the state that demux saw. */
static void rx_aside(struct srn_qp *qp, struct sk_buff *skb)
{
	if (!srn_responder_receives(qp)) {
		srn_rxq_refuse(qp, skb, SRN_CNT_RX_BAD_STATE);
		return;
	}
	if (srn_rxq_is_notice(skb))
		srn_react_cnp(qp);
	else
		srn_hello_rx_answer(qp, skb);
	napi_consume_skb(skb, 1);
}

/* Whether it was a hello, which was a request to the parser. It is not executed, nor is it one that
 * comes a second time for anything but the look of it.
 */
static bool rx_hello(struct srn_qp *qp, struct sk_buff *skb)
{
	if (likely(srn_psn_diff(srn_pkt(skb)->psn, qp->resp.msg.psn) >= 0) ||
	    !srn_responder_receives(qp) || !srn_hello_take(qp, skb))
		return false;
	napi_consume_skb(skb, 1);
	return true;
}

/* What is left of it goes the way of packets. */
static void rx_pack(struct srn_qp *qp, struct sk_buff *skb)
{
	if (srn_responder_rx_pack(qp, skb))
		return;
	if (srn_responder_receives(qp))
		srn_rxq_split_back(qp, skb);
	else
		srn_rxq_refuse(qp, skb, SRN_CNT_RX_BAD_STATE);
}

/* Of a connection. Whoever posts may have waited for what it brings. Returns false if it has to wait. */
static bool rx_request(struct srn_qp *qp, struct sk_buff *skb)
{
	srn_gather_told(&qp->req.bell.gather);
	if (srn_pkt_is_pack(skb)) {
		rx_pack(qp, skb);
		return true;
	}
	return rx_hello(qp, skb) || likely(srn_responder_rx(qp, skb));
}

/* Of packets that were joined one has to wait or is refused; not all that are before it. Returns false if
 * it waits.
 */
static bool come_again(struct srn_qp *qp, struct sk_buff *skb)
{
	if (!srn_pkt_is_joined(skb)) {
		srn_rxq_put_back(qp, skb);
		return false;
	}
	srn_rxq_split_back(qp, skb);
	return true;
}

/* Returns false if the packet has to wait, and all behind it. */
static bool rx_one(struct srn_qp *qp, struct sk_buff *skb)
{
	enum srn_counter whole = srn_pkt_is_joined(skb) ? SRN_CNT_RCVD_CONVOYS : SRN_CNT_RCVD_RUNS;
	bool run = srn_pkt_is_run(skb);

	if (unlikely(!is_from_peer(qp, skb))) {
		srn_rxq_refuse(qp, skb, SRN_CNT_RX_BAD_ADDR);
		return true;
	}
	if (must_split(qp, skb)) {
		srn_rxq_split_back(qp, skb);
		return true;
	}
	trace_srn_rx(qp, skb);
	if (unlikely(srn_pkt(skb)->flags & SRN_PKT_CE))
		srn_notify_mark(qp, skb);
	if (unlikely(srn_rxq_is_notice(skb) || is_hello_answer(skb))) {
		rx_aside(qp, skb);
	} else if (!qp->svc->connected) {
		srn_gather_told(&qp->req.bell.gather);
		srn_ud_rx(qp, skb);
	} else if (is_answer(skb)) {
		srn_completer_rx(qp, skb);
		qp->answered = true;
	} else if (unlikely(!rx_request(qp, skb))) {
		return come_again(qp, skb);
	}
	if (run)
		srn_count(qp->dev, whole);
	return true;
}

/* Before all that waits, and with a budget of their own: many of them shall not keep requests
 * from their turn. Returns true if some are left.
 */
static bool run_notices(struct srn_qp *qp)
{
	int budget = SRN_ROUND_BUDGET;
	struct sk_buff *skb;

	while (unlikely(!skb_queue_empty_lockless(&qp->noticeq))) {
		if (!budget--)
			return true;
		skb = skb_dequeue(&qp->noticeq);
		srn_rxq_uncharge(qp, skb);
		rx_one(qp, skb);
	}
	return false;
}

/* Returns true if packets are left; if budget is left too, the first one waits for answers to
 * leave. A run is not cut for the budget, which may end below 0.
 */
static bool run_rx(struct srn_qp *qp, int *budget)
{
	struct sk_buff *skb;
	int num;

	while (srn_responder_drain(qp, budget)) {
		if (skb_queue_empty_lockless(&qp->rxq))
			return false;
		if (*budget <= 0)
			return true;
		/* It is still there: only the owner takes packets out. */
		skb = skb_dequeue(&qp->rxq);
		srn_rxq_uncharge(qp, skb);
		num = srn_pkt_num(skb);
		if (!rx_one(qp, skb))
			return true;
		*budget -= num;
	}
	return true;
}

/* An answer that is here is in time, also behind requests that are held or too many. */
static void run_answers(struct srn_qp *qp)
{
	struct sk_buff_head all, rest, parts;
	int budget = SRN_ROUND_BUDGET;
	struct sk_buff *skb;

	__skb_queue_head_init(&all);
	__skb_queue_head_init(&rest);
	spin_lock_irq(&qp->rxq.lock);
	skb_queue_splice_init(&qp->rxq, &all);
	spin_unlock_irq(&qp->rxq.lock);
	while (budget > 0 && (skb = __skb_dequeue(&all))) {
		if (!is_answer(skb)) {
			__skb_queue_tail(&rest, skb);
			continue;
		}
		srn_rxq_uncharge(qp, skb);
		if (is_from_peer(qp, skb) && must_split(qp, skb)) {
			srn_rxq_split(qp, skb, &parts);
			skb_queue_splice(&parts, &all);
			continue;
		}
		budget -= srn_pkt_num(skb);
		rx_one(qp, skb);
	}
	skb_queue_splice_tail(&all, &rest);
	spin_lock_irq(&qp->rxq.lock);
	skb_queue_splice(&rest, &qp->rxq);
	spin_unlock_irq(&qp->rxq.lock);
}

static bool is_error(const struct srn_qp *qp)
{
	enum ib_qp_state state = READ_ONCE(qp->state);

	return state == IB_QPS_ERR || state == IB_QPS_SQE;
}

/* Whether there may be something to flush. */
static bool flushes(const struct srn_qp *qp)
{
	return is_error(qp) || READ_ONCE(qp->sq.stale);
}

/* @left: there are packets that were not looked at. False: the timer was set for what is not
 * waited for any more, or posts are left for longer.
 */
static bool run_alarms(struct srn_qp *qp, bool left)
{
	unsigned int due;

	/* Before the alarm is taken: an answer puts it off. */
	if (left && srn_clock_is_due(&qp->clock, SRN_ALARM_ACK))
		run_answers(qp);
	due = srn_clock_expired(&qp->clock);
	srn_retry_alarm(qp, due);
	due = srn_bell_alarm(qp, due);
	if (due & BIT(SRN_ALARM_PACE))
		srn_react_woken(qp, ktime_get_ns());
	return due;
}

/* @waits: the first packet, for answers to leave. */
static void set_parked(struct srn_qp *qp, bool waits)
{
	bool parked = waits && srn_pace_is_on(&qp->pace);

	if (unlikely(qp->parked != parked))
		WRITE_ONCE(qp->parked, parked);
}

static int flush_budget(const struct srn_qp *qp)
{
	return qp->who.kernel ? SRN_ROUND_BUDGET : min(SRN_ROUND_BUDGET, qp->flush_left);
}

/* Returns true if WQEs are left that may be flushed. Beyond those that were posted before
 * the program was told to ring, it takes a doorbell.
 */
static bool run_flush(struct srn_qp *qp)
{
	int budget = flush_budget(qp), rest = budget;
	bool more;

	srn_bell_listen(qp);
	more = srn_sq_flush(qp, &rest);
	srn_requester_reset(qp);
	if (qp->state == IB_QPS_ERR)
		more |= srn_rq_flush(qp, &rest);
	if (!qp->who.kernel)
		qp->flush_left -= budget - rest;
	return more && flush_budget(qp) > 0;
}

/* Returns true if the send queue has work left. */
static bool run_sq(struct srn_qp *qp, int *budget)
{
	qp->answered = false;
	return srn_requester_run(qp, budget);
}

/* Answers go before requests, since a peer waits for them, but with half of the budget
 * only where the send queue may have work: a peer that reads without end must not keep
 * this side from sending.
 */
static bool run_tx(struct srn_qp *qp, bool sq)
{
	int rest = sq ? SRN_ROUND_BUDGET / 2 : 0, budget = SRN_ROUND_BUDGET - rest;
	bool more = srn_responder_send(qp, &budget);

	budget += rest;
	if (sq)
		more |= run_sq(qp, &budget);
	return more;
}

/* Whether the send queue has its part in this round: not for a request from the peer, which says
 * nothing to it, nor for posts that are left to be more. @more: another round follows anyway.
 */
static bool takes_posts(struct srn_qp *qp, unsigned int bits, bool more)
{
	if (qp->answered || (bits & ~(SRN_TURN_RX | SRN_TURN_GATHER)))
		return true;
	return (bits & SRN_TURN_GATHER) && (more || !srn_bell_gather(qp));
}

/* The order is that of urgency: what arrived decides what may be sent. What is due here for a packet is_settled()
 * has to know, too.
 */
static enum srn_left run_all(struct srn_qp *qp, unsigned int bits)
{
	int rx = SRN_ROUND_BUDGET;
	bool more, sq, notices, flush = false;

	notices = run_notices(qp);
	more = run_rx(qp, &rx);
	if (unlikely(bits & SRN_TURN_SHED))
		srn_shed_run(qp);
	srn_hello_answer(qp, srn_responder_receives(qp));
	set_parked(qp, more && rx > 0);
	qp->answer_later = false;
	/* After the packets: an answer that is here already is in time. */
	if ((bits & SRN_TURN_TIMER) && !run_alarms(qp, more) && qp->req.bell.gather.on)
		bits &= ~SRN_TURN_TIMER;
	sq = takes_posts(qp, bits, more || notices);
	if (sq)
		srn_bell_send(qp);
	if (unlikely(qp->sq.stale))
		flush = run_flush(qp);
	if (run_tx(qp, sq))
		more = true;
	else if (unlikely(more) && rx > 0)
		/* Answers that wait for room have an alarm; else who waited for them can go. */
		more = !qp->resp.replay.open;
	more |= notices;
	if (is_error(qp))
		flush = run_flush(qp);
	if (sq && !more && !flush)
		more = srn_bell_idle(qp);
	/* In error, too: a peer waits for the answers on the way to a NAK. But whoever rings is
	 * not to wait for them.
	 */
	if (more)
		return is_error(qp) ? SRN_LEFT_LISTED : SRN_LEFT_URGENT;
	return flush ? SRN_LEFT_LATER : SRN_LEFT_NOTHING;
}

static enum srn_left qp_round(struct srn_turn *turn, unsigned int bits)
{
	struct srn_qp *qp = container_of(turn, struct srn_qp, turn);
	struct srn_tally *was = srn_tally_swap(rcu_dereference_bh(qp->tally));
	enum srn_left left = run_all(qp, bits);

	srn_tally_swap(was);
	return left;
}

void srn_round_init(struct srn_qp *qp)
{
	srn_turn_init(&qp->turn, qp_round);
	skb_queue_head_init(&qp->rxq);
	skb_queue_head_init(&qp->noticeq);
}
EXPORT_SYMBOL_IF_KUNIT(srn_round_init);

/* An answer that may wait leaves when this CPU has received what it has at hand. */
static void go_on(struct srn_qp *qp)
{
	if (qp->answer_later)
		srn_turn_leave(&qp->turn);
	else
		srn_turn_run(&qp->turn);
}

/* Whether a packet that comes now is the next to be looked at. */
static bool is_next(const struct srn_qp *qp)
{
	return skb_queue_empty_lockless(&qp->rxq) &&
	       (likely(srn_hold_is_empty(&qp->resp.hold)) ||
		!srn_hold_has_passed(&qp->resp.hold, qp->resp.msg.psn));
}

/* Whether a round would find nothing to do for the packet that was looked at, as for a request that asks for no ACK.
 * What was posted is not for such a round: only an answer (qp->answered) lets more of it go.
 */
static bool is_settled(const struct srn_qp *qp)
{
	return !qp->answered && !qp->answer_later && !qp->parked && !qp->peer.owed && !srn_responder_owes(qp) &&
	       skb_queue_empty_lockless(&qp->rxq) && skb_queue_empty_lockless(&qp->noticeq) && !flushes(qp);
}

/* No bit is set for the packet in hand, so that one which is says that there is news. */
void srn_round_rx(struct srn_qp *qp, struct sk_buff *skb)
{
	bool owned = srn_turn_take(&qp->turn, 0);
	struct srn_tally *was = srn_tally_swap(rcu_dereference_bh(qp->tally));

	/* With a turn that is taken back from a worker there may be packets that came before, or are held and passed. */
	if (owned && (is_next(qp) || srn_rxq_is_notice(skb))) {
		srn_rxq_count(qp, skb);
		rx_one(qp, skb);
	} else {
		srn_rxq_add(qp, skb);
	}
	srn_tally_swap(was);
	if (!owned)
		srn_turn_kick(&qp->turn, SRN_TURN_RX);
	else if (!is_settled(qp) || !srn_turn_give_up(&qp->turn))
		go_on(qp);
}
EXPORT_SYMBOL_IF_KUNIT(srn_round_rx);

/* A program that leaves completions lying does not wait for this request, it streams.
 * Its own CPU is better spent on posting than on sending: what it posts while another
 * CPU sends goes without a doorbell, and leaves in bursts.
 */
static bool goes_away(const struct srn_qp *qp)
{
	return READ_ONCE(qp->scq->waiting) >= SRN_STREAM_CQES && srn_turn_may_go_away(&qp->turn);
}

static enum srn_heard heard(bool left)
{
	return left ? SRN_HEARD_PART : SRN_HEARD;
}

/* What is posted to a QP in error is flushed in the time of who posts it. Who has the turn may
 * be about to leave it, with all flushed that he may. A peer may keep the NAPI busy with answers
 * for long, so it is taken from there, and a worker that has begun leaves those to the NAPI.
 */
static enum srn_heard flush_here(struct srn_qp *qp)
{
	if (!srn_turn_take_out(&qp->turn, SRN_TURN_SQ))
		return SRN_HEARD_BUSY;
	srn_qp_allow_flush(qp);
	return heard(srn_turn_run_here(&qp->turn));
}

/* Whether the message that began last takes a round: what it brings about is more than softirqs do at once. */
static bool is_long(const struct srn_qp *qp)
{
	/* Another owner of the turn may begin the next one. */
	return data_race(qp->req.psns) >= SRN_ROUND_BUDGET;
}

/* Runs it here, with what was gathered. The looks at whether it is much are races: at worst
 * softirqs run once for nothing, or are left to ksoftirqd.
 */
static enum srn_heard run_here(struct srn_qp *qp)
{
	bool gathered = data_race((bool)qp->req.bell.gather.on);

	if (srn_turn_kick_here(&qp->turn, SRN_TURN_GATHER))
		return SRN_HEARD_PART;
	return gathered || is_long(qp) ? SRN_HEARD_MUCH : SRN_HEARD;
}

enum srn_heard srn_round_doorbell(struct srn_qp *qp)
{
	if (flushes(qp))
		return flush_here(qp);
	if (!goes_away(qp))
		return run_here(qp);
	if (srn_turn_take(&qp->turn, SRN_TURN_SQ)) {
		srn_bell_hush(qp);
		srn_turn_send_away(&qp->turn);
	}
	return SRN_HEARD;
}
EXPORT_SYMBOL_IF_KUNIT(srn_round_doorbell);

enum srn_heard srn_round_post(struct srn_qp *qp)
{
	if (flushes(qp))
		return flush_here(qp);
	return heard(srn_turn_kick_here(&qp->turn, SRN_TURN_SQ));
}
EXPORT_SYMBOL_IF_KUNIT(srn_round_post);

enum srn_heard srn_round_poll(struct srn_qp *qp)
{
	enum srn_heard heard;

	if (!srn_bell_is_due(qp))
		return SRN_HEARD_NO_POST;
	srn_bell_heed(qp);
	heard = srn_round_post(qp);
	if (unlikely(heard == SRN_HEARD_BUSY))
		srn_bell_forget(qp);
	else
		srn_count(qp->dev, SRN_CNT_POLLED);
	return heard;
}
EXPORT_SYMBOL_IF_KUNIT(srn_round_poll);

enum srn_heard srn_round_go_on(struct srn_qp *qp)
{
	if (!srn_turn_take(&qp->turn, 0))
		return flushes(qp) ? SRN_HEARD_BUSY : SRN_HEARD;
	return heard(srn_turn_run_here(&qp->turn));
}
EXPORT_SYMBOL_IF_KUNIT(srn_round_go_on);

enum srn_heard srn_round_give_away(struct srn_qp *qp)
{
	srn_turn_give_away(&qp->turn);
	return SRN_HEARD;
}
EXPORT_SYMBOL_IF_KUNIT(srn_round_give_away);
