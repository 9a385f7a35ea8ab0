// SPDX-License-Identifier: GPL-2.0-only
/* The send queue's cursor: which WQE goes next, and send it. */
#include "requester.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>

#include "again.h"
#include "ah.h"
#include "asking.h"
#include "bell.h"
#include "build.h"
#include "build_request.h"
#include "clock.h"
#include "credit.h"
#include "gate.h"
#include "hello.h"
#include "lazy.h"
#include "local.h"
#include "opcode.h"
#include "pace.h"
#include "packing.h"
#include "payer.h"
#include "psn.h"
#include "qp.h"
#include "react.h"
#include "retry.h"
#include "run.h"
#include "score.h"
#include "segment.h"
#include "shift.h"
#include "spread.h"
#include "sq.h"
#include "stats.h"
#include "turn.h"
#include "window.h"
#include "xmit.h"

/* WQEs that are copied at once, ahead of the one being sent: few enough to keep a
 * round short.
 */
#define LOOKAHEAD	64
/* The time to the answer is taken of a packet with this many PSNs in flight. */
#define TIMED_FROM	SRN_WINDOW_FEW

/* UD packets have no path MTU of their own: the port's. */
static u32 wqe_mtu(struct srn_qp *qp)
{
	if (qp->svc->connected)
		return qp->mtu;
	return ib_mtu_enum_to_int(srn_dev_mtu(qp->dev->ndev));
}

static void take_credit(struct srn_qp *qp, const struct srn_wqe *wqe)
{
	if (!srn_wqe_takes_recv(wqe)) {
		srn_credit_pass(&qp->credit, srn_segment_requests(wqe));
		return;
	}
	srn_credit_begin(&qp->credit, wqe->first_psn);
	if (qp->credit.limited)
		srn_count(qp->dev, SRN_CNT_LIMITED);
}

static void begin(struct srn_qp *qp, struct srn_wqe *wqe, u32 npsn)
{
	bool read = srn_wqe_is_answered(wqe);
	u32 chunk = 1;

	srn_hello_begin(&qp->peer, read);
	if (read)
		chunk = srn_window_chunk(&qp->window, npsn, qp->max_rd_atomic, qp->peer.parts);
	srn_sq_start(wqe, qp->window.at.psn, npsn, chunk);
	if (unlikely(qp->credit.on))
		take_credit(qp, wqe);
}

static void start(struct srn_qp *qp, struct srn_wqe *wqe, u32 mtu)
{
	u32 npsn = srn_wqe_npsn(wqe, mtu);

	qp->req.psns = min(npsn, U8_MAX);
	if (!qp->svc->connected && wqe->length > mtu)
		wqe->status = SRN_V_LOC_LEN;
	else if (srn_wqe_is_answered(wqe) && !qp->max_rd_atomic)
		wqe->status = SRN_V_LOC_QP_OP;	/* it could never go */
	else
		begin(qp, wqe, npsn);
}

/* Whether the private array has the WQE; looks into the ring only if it has not. */
static bool is_there(struct srn_qp *qp, u32 index)
{
	if (index != qp->sq.fetched)
		return true;
	return srn_sq_fetch(qp, LOOKAHEAD) && index != qp->sq.fetched;
}

/* Whether the packet after a message's last one can go at once, so that its ACK
 * will serve for both.
 */
static bool next_follows(struct srn_qp *qp)
{
	u32 index = qp->window.at.index + 1;
	const struct srn_wqe *next;

	if (!is_there(qp, index) || index - qp->sq.una >= SRN_WINDOW_WQES)
		return false;
	next = srn_sq_wqe(&qp->sq, index);
	return !next->status && !(next->flags & IB_SEND_FENCE) && !srn_wqe_is_answered(next) &&
	       !srn_wqe_is_local(next) && qp->state != IB_QPS_SQD &&
	       (next->started ||
		!srn_credit_waits(&qp->credit, srn_wqe_takes_recv(next), true));
}

/* Few packets in flight are no queue, but they tell how long the path is. Of an answer to a READ the first
 * packet is timed: how long the @rest behind it take is of their own making. But if more is out the last of them
 * stands behind those of others, as a packet of one's own does: perhaps it is to tell of the queue as well.
 */
static void time_it(struct srn_qp *qp, u32 psn, u32 rest)
{
	struct srn_window *w = &qp->window;
	bool queue = srn_window_inflight(w) >= TIMED_FROM;

	/* Where nothing is told of what is behind a gap it is answered when that is filled. */
	if (w->timed || (qp->retry.rewound && !qp->score))
		return;
	if (!queue && !srn_window_is_narrow(w) && !(srn_qp_holds(qp) && srn_rtt_wants(&qp->rtt)))
		return;
	srn_window_time(w, psn, ktime_get_ns(), queue);
	if (srn_window_load(w) > rest + 1)
		w->timed_rest = rest;
}

/* Apart, as are the two below: hardly anybody spreads what leaves. */
static noinline void charge_spread(struct srn_qp *qp, u32 num)
{
	srn_spread_sent(&qp->window, qp->rtt.srtt_ns, num);
}

static void account(struct srn_qp *qp, const struct srn_wqe *wqe, const struct srn_plan *plan,
		    enum srn_asking asking)
{
	bool read = srn_wqe_is_answered(wqe), asked = srn_asking_asks(asking);
	u32 end = qp->window.end;

	/* Data answers a READ whether it is asked for or not. */
	if (srn_window_sent(&qp->window, plan->npsn, asked || read, read))
		srn_count(qp->dev, SRN_CNT_RETRANS);
	else if (asked || read)
		time_it(qp, read ? plan->psn : srn_psn_add(qp->window.at.psn, -1), read ? plan->npsn - 1 : 0);
	srn_shift_charge(qp, read ? plan->npsn * qp->mtu : plan->len, plan->npsn);
	if (srn_spread_is_on(&qp->window) && !read)
		charge_spread(qp, plan->num);
	if (asking)
		srn_asking_sent(&qp->req.lazy, plan, asking);
	if (unlikely(qp->score))
		srn_score_used(qp->score, plan->npsn);
	if (unlikely(qp->gaps))
		srn_score_used(qp->gaps, plan->npsn);
	if (!plan->last)
		return;
	srn_window_pass(&qp->window);
	/* Not each time that its last packet is sent again. */
	if (srn_opcodes[plan->opcode].op == SRN_OP_SEND && qp->window.end != end)
		srn_count(qp->dev, SRN_CNT_RDMA_SENDS);
}

/* UC and UD are done when the last packet has left. */
static void sent_unreliable(struct srn_qp *qp, struct srn_wqe *wqe, const struct srn_plan *plan)
{
	srn_window_acked(&qp->window, qp->window.at.psn);
	if (!plan->last)
		return;
	wqe->done = true;
	srn_sq_retire(qp);
}

/* What leaves. */
struct departure {
	struct sk_buff *skb;
	bool follows;	/* the next packet takes the same path in this round, if the window lets it */
	enum srn_asking asking;	/* for an ACK */
	bool packed;	/* the pack has it */
};

static void emit(struct srn_qp *qp, struct srn_wqe *wqe, const struct srn_plan *plan,
		 const struct departure *d)
{
	if (d->packed) {
		srn_train_charge(&qp->req.train, &qp->path, 1,
				 srn_pack_wire_len(plan->opcode, plan->len));
		if (!d->follows)
			srn_packing_leave(qp);
	} else if (srn_opcodes[plan->opcode].hdrs & SRN_HDR_DETH) {
		srn_xmit(&wqe->ud.av->path, d->skb, &qp->payer);
	} else {
		srn_run_or_train(&qp->req.train, &qp->path, d->skb, d->follows);
	}
}

/* Whether the planned packets are the last before a wait: what the peer says of them is not to
 * wait as well.
 */
static bool pace_ends(const struct srn_qp *qp, const struct srn_wqe *wqe,
		      const struct srn_plan *plan)
{
	u32 payload = srn_wqe_is_answered(wqe) ? 0 : plan->len;

	return unlikely(srn_pace_is_on(&qp->pace)) &&
	       srn_pace_ends(&qp->pace, payload + plan->num * SRN_PACE_HEADERS);
}

static noinline bool next_is_spread(const struct srn_qp *qp, u32 num)
{
	return srn_spread_ends(&qp->window, qp->rtt.srtt_ns, ktime_get_ns(), num);
}

/* Likewise: who did not ask would go again to do so (asking.c). */
static bool spread_ends(const struct srn_qp *qp, const struct srn_plan *plan)
{
	return srn_spread_is_on(&qp->window) && next_is_spread(qp, plan->num);
}

static enum srn_verdict build(struct srn_qp *qp, struct srn_wqe *wqe, const struct srn_plan *plan,
			      struct departure *d)
{
	enum srn_verdict v = SRN_V_AGAIN;
	unsigned int flags;

	d->follows = !srn_credit_asks(&qp->credit, plan->psn) &&
		     (!plan->last || (next_follows(qp) && !srn_packing_strands_next(qp, plan->opcode, plan->len))) &&
		     !spread_ends(qp, plan) &&
		     !pace_ends(qp, wqe, plan) && !srn_shift_ends(qp, plan->len, plan->npsn);
	d->asking = srn_asking_of(qp, wqe, plan, d->follows);
	flags = (srn_asking_asks(d->asking) ? SRN_BUILD_ACKREQ : 0) |
		(srn_plan_is_solicited(wqe, plan) ? SRN_BUILD_SE : 0) |
		(d->follows || qp->req.train.head ? 0 : SRN_BUILD_ALONE);
	if (d->follows || qp->req.pack.skb)
		v = srn_packing_build(qp, wqe, plan, flags, d->follows);
	d->packed = !v;
	return v == SRN_V_AGAIN ? srn_build_request(qp, wqe, plan, flags, &d->skb) : v;
}

/* What is lent is the pack's alone. Returns false if nothing may follow it. */
static bool leave_pack_for_next(struct srn_qp *qp)
{
	srn_packing_leave(qp);
	return !srn_window_is_full(&qp->window, 1);
}

static noinline u32 spread_run(const struct srn_qp *qp)
{
	return srn_spread_run(srn_spread_gap(&qp->window, qp->rtt.srtt_ns));
}

/* How many packets may leave as one, from the planned one on: what is referenced, not copied. */
static u32 run_packets(struct srn_qp *qp, const struct srn_wqe *wqe, struct srn_plan *plan, int budget)
{
	const struct srn_window *w = &qp->window;
	u32 num = srn_segment_left(wqe, plan);

	if (num < 2 || w->doubt || wqe->pieces || qp->retry.probing ||
	    srn_credit_asks(&qp->credit, plan->psn) ||
	    !srn_build_references(qp, wqe, plan))
		return 1;
	num = min3(num, srn_window_room(w), (u32)budget);
	if (unlikely(srn_pace_is_on(&qp->pace)))
		num = min(num, srn_pace_run(&qp->pace));
	if (srn_spread_is_on(w))
		num = min(num, spread_run(qp));
	return srn_run_packets(&qp->path, num, qp->mtu, &plan->whole);
}

/* After a timeout the oldest goes by itself, to ask: if its bytes are gone, without them. Not if the peer refused it
 * (RNR), and no timeout since says that it may have taken what went after that.
 */
static bool ask_bare(struct srn_qp *qp, const struct srn_plan *plan)
{
	const struct srn_retry *retry = &qp->retry;
	bool refused = retry->refused && retry->retries == qp->retry_cnt;

	return retry->probing && !refused && plan->psn == qp->window.una &&
	       srn_again_ask_bare(qp, plan->psn);
}

/* Packets of a started WQE: one, or a run. */
static void send_packet(struct srn_qp *qp, struct srn_wqe *wqe, u32 mtu, int *budget)
{
	struct departure d;
	struct srn_plan plan;
	enum srn_verdict v;
	u32 num;

	srn_segment(wqe, qp->svc, mtu, qp->window.at.psn, &plan);
	if (unlikely(qp->window.lent) && !srn_packing_takes(qp, wqe, &plan) && !leave_pack_for_next(qp))
		return;
	num = run_packets(qp, wqe, &plan, *budget);
	if (num > 1)
		srn_segment_run(wqe, mtu, num, &plan);
	v = build(qp, wqe, &plan, &d);
	if (v == SRN_V_AGAIN && num > 1) {
		wqe->pieces = true;
		srn_segment(wqe, qp->svc, mtu, qp->window.at.psn, &plan);
		v = build(qp, wqe, &plan, &d);
	}
	*budget -= plan.num;
	if (v == SRN_V_AGAIN) {
		/* No memory is loss: the timer repeats what is not acknowledged. */
		srn_count(qp->dev, SRN_CNT_TX_NOMEM);
	} else if (v && !ask_bare(qp, &plan)) {
		wqe->status = v;
		return;
	} else if (!v) {
		/* Of what goes again the peer may have had all, and be gone since. */
		if (unlikely(qp->peer.due) && plan.psn == qp->window.end)
			srn_hello_send(qp);
		emit(qp, wqe, &plan, &d);
	}
	account(qp, wqe, &plan, d.asking);
	if (!qp->svc->reliable)
		sent_unreliable(qp, wqe, &plan);
}

/* A WQE that is executed here, not sent. */
static void do_local(struct srn_qp *qp, struct srn_wqe *wqe)
{
	wqe->status = srn_local_run(qp, wqe);
	if (wqe->status)
		return;
	srn_sq_did(wqe, qp->window.at.psn);
	srn_window_pass(&qp->window);
	if (qp->window.unasked && srn_qp_signals(qp, wqe))
		srn_lazy_await(&qp->req.lazy);
	srn_sq_retire(qp);
}

/* By the alarm of the pace, which answers to READs may wait for. */
static void await_spread(struct srn_qp *qp)
{
	srn_clock_set_too(&qp->clock, SRN_ALARM_PACE,
			  srn_spread_wait(&qp->window, qp->rtt.srtt_ns, ktime_get_ns()));
}

/* What opens a gate starts a round of its own; room and time have nobody to tell of it. */
static void wait_for(struct srn_qp *qp, enum srn_gate gate)
{
	if (gate == SRN_GATE_ROOM)
		srn_clock_set(&qp->clock, SRN_ALARM_ROOM, srn_payer_wait(&qp->payer));
	else if (gate == SRN_GATE_PACE)
		srn_react_wait(qp, SRN_PACE_REQUESTS, ktime_get_ns());
	else if (gate == SRN_GATE_SPREAD)
		await_spread(qp);
}

/* A WQE that failed completes when all before it are done; in SQD only what was begun. */
static bool fail_in_turn(struct srn_qp *qp, struct srn_wqe *wqe)
{
	bool waits = qp->state == IB_QPS_SQD && !wqe->started;

	if (!waits && qp->sq.una == qp->window.at.index)
		srn_sq_fail(qp, wqe, wqe->status);
	return false;
}

/* One step of the WQE at the cursor. False: it waits for something. */
static bool step(struct srn_qp *qp, struct srn_wqe *wqe, int *budget)
{
	u32 mtu = wqe_mtu(qp);
	enum srn_gate gate;

	if (wqe->done) {	/* a local operation, passed again after a rewind */
		--*budget;
		srn_window_pass(&qp->window);
		return true;
	}
	if (wqe->status)
		return fail_in_turn(qp, wqe);
	gate = srn_gate_wqe(qp, wqe);
	if (gate) {
		wait_for(qp, gate);
		return false;
	}
	if (srn_wqe_is_local(wqe)) {
		--*budget;
		do_local(qp, wqe);
		return true;
	}
	if (!wqe->started)
		start(qp, wqe, mtu);
	if (!wqe->status)
		send_packet(qp, wqe, mtu, budget);
	return true;
}

/* What goes beside the cursor, as much of it as the pace lets go. */
static void run_again(struct srn_qp *qp, int *budget)
{
	int part = *budget;

	if (unlikely(srn_pace_is_on(&qp->pace)))
		part = min_t(u32, part, srn_react_ask(qp, SRN_PACE_REQUESTS, ktime_get_ns()));
	*budget -= part;
	if (part)
		srn_again_run(qp, &part);
	*budget += part;
	if (part <= 0 && *budget > 0)
		srn_react_wait(qp, SRN_PACE_REQUESTS, ktime_get_ns());
}

/* What is done here needs none, nor does what asks for answers, which is little. */
static bool needs_room(const struct srn_wqe *wqe)
{
	return !srn_wqe_is_local(wqe) && !srn_wqe_is_answered(wqe);
}

static bool run(struct srn_qp *qp, int *budget)
{
	bool waits = srn_asking_waits_for_room(qp);
	struct srn_wqe *wqe;

	if (unlikely(qp->score || qp->gaps || srn_resend_any(&qp->resend)) &&
	    srn_gate_qp(qp) == SRN_GATE_OPEN) {
		run_again(qp, budget);
		if (*budget <= 0)
			return true;
	}
	while (srn_gate_qp(qp) == SRN_GATE_OPEN) {
		if (qp->req.pack.skb)
			srn_packing_go_on(qp, budget);
		if (!is_there(qp, qp->window.at.index))
			return false;
		if (*budget <= 0)
			return true;
		wqe = srn_sq_wqe(&qp->sq, qp->window.at.index);
		/* It was fetched, so that the program need not ring for what is behind it (bell.c). */
		if (unlikely(waits) && needs_room(wqe))
			return false;
		if (!step(qp, wqe, budget))
			return false;
	}
	return false;
}

/* When all that goes now is with the stack, which takes its time: not while the next round goes on with it. */
static void expect_answers(struct srn_qp *qp, bool more)
{
	if (!more && qp->svc->reliable && srn_window_inflight(&qp->window))
		srn_retry_sent(qp);
}

bool srn_requester_run(struct srn_qp *qp, int *budget)
{
	bool more;

	srn_turn_assert_owned(&qp->turn);
	more = run(qp, budget);
	srn_packing_leave(qp);
	qp->req.pack_most = 0;
	if (!more)
		srn_asking_end(qp);
	srn_train_leave(&qp->req.train, &qp->path);
	expect_answers(qp, more);
	if (!more)
		srn_shift_end_round(qp);
	return more;
}
EXPORT_SYMBOL_IF_KUNIT(srn_requester_run);

int srn_requester_alloc(struct srn_qp *qp, u32 num)
{
	u32 room, *last;

	if (num <= qp->window.rd_room)
		return 0;
	room = roundup_pow_of_two(num);
	last = kmalloc_array(room, sizeof(*last), GFP_KERNEL_ACCOUNT);
	if (!last)
		return -ENOMEM;
	kfree(srn_window_set_room(&qp->window, last, room));
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_requester_alloc);

void srn_requester_free(struct srn_qp *qp)
{
	kfree(qp->window.rd_last);
	srn_early_free(&qp->early);
}
EXPORT_SYMBOL_IF_KUNIT(srn_requester_free);

void srn_requester_reset(struct srn_qp *qp)
{
	srn_turn_assert_owned(&qp->turn);
	srn_window_reset(&qp->window, qp->sq.una);
	srn_shift_leave(qp);
	srn_retry_reset(qp);
	srn_early_reset(&qp->early);
	/* Not the wait for room: answers before a NAK may be waiting, too. */
	srn_bell_reset(qp);
	qp->req.psns = 0;
	qp->req.lazy = (struct srn_lazy){};
}
EXPORT_SYMBOL_IF_KUNIT(srn_requester_reset);

void srn_requester_start(struct srn_qp *qp)
{
	srn_window_start(&qp->window, qp->sq_psn, qp->mtu);
	/* Where nobody asks in silence, something behind what is lost has to tell of it. */
	if (!srn_qp_holds(qp))
		qp->window.floor = qp->timeout ? 2 : SRN_WINDOW_FEW;
	if (qp->known)
		qp->known->shift.fresh = srn_shift_is_on_loss(qp);
	if (qp->peer.sacks)
		srn_window_set_reach(&qp->window, qp->peer.ahead);
	qp->order = (struct srn_reorder){};
	srn_resend_start(&qp->resend);
	srn_early_reset(&qp->early);
	qp->rtt = (struct srn_rtt){};
	srn_retry_refill(qp);
}
EXPORT_SYMBOL_IF_KUNIT(srn_requester_start);
