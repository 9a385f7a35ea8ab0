// SPDX-License-Identifier: GPL-2.0-only
/* ACK and NAK of a RC responder (IBTA vol. 1, 9.7.5.1 and 9.7.5.2). */
#include "ack.h"

#include <kunit/visibility.h>
#include <linux/bottom_half.h>
#include <linux/export.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <rdma/ib_pack.h>

#include "build.h"
#include "clock.h"
#include "note.h"
#include "psn.h"
#include "qp.h"
#include "rnr.h"
#include "rq.h"
#include "sack.h"
#include "stats.h"
#include "wire.h"
#include "xmit.h"

/* What was in flight when a NAK left has come after this long, near by. */
#define IN_FLIGHT_NS	(100ull * NSEC_PER_USEC)
/* Peers have three retries at least, or do not mean to be patient. */
#define NAKS_IN_A_ROW	3
/* Between SACKs: what comes meanwhile is told with the next one. Longer behind a long one, by as much again for so many
 * words of its map: of a long path it has hundreds.
 */
#define SACK_EVERY_NS	(50 * NSEC_PER_USEC)
#define SACK_WORDS	16
/* Whoever sent nothing again for so many of them, and for longer than answers take, may not have
 * heard that there are any.
 */
#define SACKS_IN_VAIN	8
#define IN_VAIN_NS	(250 * NSEC_PER_MSEC)

static unsigned int syndrome_class(u8 syndrome)
{
	return FIELD_GET(SRN_SYN_CLASS, syndrome);
}

void srn_ack_reset(struct srn_qp *qp)
{
	qp->resp.ack = (struct srn_ack) {};
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
	ack->untold = false;
}

/* Coalescing: the ACK that waits grows with each packet. Never to the PSN of a
 * READ or atomic though: some requesters (rxe) complete a READ without data when
 * an ACK names its last PSN. Hence done_psn, which only SEND and WRITE move.
 */
void srn_ack_done(struct srn_qp *qp, u32 psn, u32 asked)
{
	struct srn_ack *ack = &qp->resp.ack;
	bool waiting = pending_ack(ack);

	ack->done_psn = psn;
	ack->done_any = true;
	ack->untold = true;
	if (unlikely(waiting + asked > 1))
		srn_count_add(qp->dev, SRN_CNT_ACK_DEFERRED, waiting + asked - 1);
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

/* A NAK that waits says as much. An ACK that waits, for a duplicate in front of a READ, does not say
 * it of one behind that, and the READ's answer takes its place.
 */
void srn_ack_again(struct srn_qp *qp, u32 psn)
{
	struct srn_ack *ack = &qp->resp.ack;
	u32 done = newest_done(&qp->resp, psn);

	if (!ack->pending || (pending_ack(ack) && srn_psn_diff(done, ack->psn) > 0))
		set_pending(ack, SRN_SYN_ACK_UNLIMITED, done);
}
EXPORT_SYMBOL_IF_KUNIT(srn_ack_again);

/* The expected packet, by a NAK, which acknowledges what was executed, too. */
static void refuse(struct srn_qp *qp, u8 syndrome, bool next_came)
{
	struct srn_ack *ack = &qp->resp.ack;

	ack->nak_sent = syndrome;
	ack->next_came = next_came;
	set_pending(ack, syndrome, qp->resp.msg.psn);
}

/* The packets behind it that are here already have their say first: one NAK for all of
 * them, none if they were only reordered.
 */
static void send_back(struct srn_qp *qp, u8 syndrome, bool next_came)
{
	qp->answer_later = true;
	refuse(qp, syndrome, next_came);
}

static bool is_rnr(u8 syndrome)
{
	return syndrome_class(syndrome) == SRN_SYN_RNR;
}

/* The peer waits from when it is told, which is after all that is at hand. */
static void note_told(struct srn_qp *qp)
{
	qp->resp.ack.resumes_ns = ktime_get_ns() +
				  max(srn_rnr_ns(qp->min_rnr_timer), IN_FLIGHT_NS);
}

/* Whether the peer was told to wait, and need no longer. */
static bool has_waited(const struct srn_ack *ack)
{
	return !(ack->pending && is_rnr(ack->syndrome)) && ktime_get_ns() >= ack->resumes_ns;
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
	return again || (is_rnr(ack->nak_sent) && seen && has_waited(ack));
}

static void note_dropped(struct srn_ack *ack, u32 psn)
{
	if (!ack->dropped || srn_psn_diff(psn, ack->ahead) > 0)
		ack->ahead = psn;
	ack->dropped = true;
}

/* Of what is held nothing but the gap need come again. Packets that are held and come again in
 * the order of their PSNs are one try of a peer that goes back; the gap was part of it, or of
 * the one before it, and was lost. Notes @psn for the next look.
 */
static bool tries_again(struct srn_ack *ack, u32 psn)
{
	bool new_try = !ack->again_any || srn_psn_diff(psn, ack->again) <= 0;

	ack->again_any = true;
	ack->again = psn;
	return new_try;
}

/* After a RNR NAK: when the peer need no longer wait, what came before comes again, from its first
 * on, or, if none did, any. What was in flight says nothing, however late it is looked at.
 */
static bool resumed_without_it(struct srn_qp *qp, u32 psn, bool again)
{
	bool new_try = tries_again(&qp->resp.ack, psn);

	return ((again && new_try) || srn_hold_is_single(&qp->resp.hold)) &&
	       has_waited(&qp->resp.ack);
}

/* Where there is something to be said of the gap in front of what is held, srn_ack_conclude() says
 * it, behind what else is here already: one NAK for all.
 */
static void gap_before_held(struct srn_qp *qp, u32 psn, bool again)
{
	struct srn_ack *ack = &qp->resp.ack;

	qp->answer_later = true;
	if (!ack->nak_sent)
		return;
	if (is_rnr(ack->nak_sent) ? resumed_without_it(qp, psn, again) :
				    again && tries_again(ack, psn))
		ack->nak_sent = 0;
}

/* Whether the peer is told all that is held, and not once for a gap: the answer to each batch. */
static bool tells_all(const struct srn_qp *qp)
{
	return srn_qp_sacks(qp) && !srn_hold_is_empty(&qp->resp.hold);
}

static void note_news(struct srn_qp *qp)
{
	qp->answer_later = true;
	qp->resp.ack.news = true;
}

/* While a RNR NAK is out nothing that was in flight says anything. */
static void tell_held(struct srn_qp *qp, u32 psn, enum srn_held held)
{
	struct srn_ack *ack = &qp->resp.ack;

	qp->answer_later = true;
	ack->twice += held == SRN_HELD_AGAIN;
	if (!is_rnr(ack->nak_sent) || resumed_without_it(qp, psn, held == SRN_HELD_AGAIN))
		note_news(qp);
}

void srn_ack_twice(struct srn_qp *qp, bool vain)
{
	struct srn_ack *ack = &qp->resp.ack;

	ack->twice += vain;
	/* Who was told to wait goes on with what was refused, not with what is in front of that. */
	if (tells_all(qp) && !is_rnr(ack->nak_sent))
		note_news(qp);
}

void srn_ack_gap(struct srn_qp *qp, u32 psn, enum srn_held held)
{
	struct srn_ack *ack = &qp->resp.ack;
	bool next = psn == srn_psn_add(qp->resp.msg.psn, 1);
	bool seen = !ack->dropped || srn_psn_diff(psn, ack->ahead) <= 0;

	if (tells_all(qp)) {
		if (held == SRN_HELD_NOT)
			note_dropped(ack, psn);
		tell_held(qp, psn, held);
		return;
	}
	if (held != SRN_HELD_NOT) {
		gap_before_held(qp, psn, held == SRN_HELD_AGAIN);
		return;
	}
	note_dropped(ack, psn);
	if (ack->nak_sent && !lost_again(ack, next, seen))
		return;
	send_back(qp, srn_verdicts[SRN_V_SEQ].nak, true);
}
EXPORT_SYMBOL_IF_KUNIT(srn_ack_gap);

/* A peer that does not say what it knows may go back by itself: a NAK would have it do so twice. So
 * does each, when what was refused for want of a receive goes again.
 */
void srn_ack_shed(struct srn_qp *qp, u32 first, u32 last)
{
	struct srn_ack *ack = &qp->resp.ack;

	note_dropped(ack, last);
	if (!srn_qp_sacks(qp) || is_rnr(ack->nak_sent))
		return;
	if (!ack->gone_any || srn_psn_diff(first, ack->gone) < 0)
		ack->gone = first;
	ack->gone_any = true;
}

void srn_ack_rnr(struct srn_qp *qp)
{
	qp->resp.ack.gone_any = false;	/* it goes back by itself, and begins with this */
	qp->resp.ack.news = false;	/* the peer is to wait first */
	send_back(qp, srn_verdicts[SRN_V_RNR].nak | qp->min_rnr_timer, false);
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
	ack->sacks = 0;
	ack->again_any = false;
	if (ack->dropped && srn_psn_diff(ack->ahead, qp->resp.msg.psn) <= 0)
		ack->dropped = false;
	if (!ack->pending || pending_ack(ack))
		return false;
	ack->pending = false;
	ack->holed |= ack->dropped;
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(srn_ack_expected);

bool srn_ack_is_calm(const struct srn_ack *ack)
{
	return !ack->nak_sent && !ack->sacks && !ack->again_any && !ack->dropped &&
	       (!ack->pending || pending_ack(ack));
}

void srn_ack_implied(struct srn_qp *qp, u32 psn)
{
	struct srn_ack *ack = &qp->resp.ack;

	/* Who gets it has nothing left to be told when the QP leaves, and may have gone by then. */
	if (ack->untold && srn_psn_diff(psn, ack->done_psn) >= 0)
		ack->untold = false;
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

/* Whether something is held that waits for what the peer was not told to send again. */
static bool misses(const struct srn_qp *qp)
{
	const struct srn_ack *ack = &qp->resp.ack;

	return !ack->fatal && (!ack->nak_sent || ack->news) && !srn_hold_is_empty(&qp->resp.hold) &&
	       !srn_hold_is_due(&qp->resp.hold, qp->resp.msg.psn);
}

/* What was dropped for want of room comes again only if it is asked for. */
void srn_ack_filled(struct srn_qp *qp, bool done)
{
	struct srn_ack *ack = &qp->resp.ack;

	ack->holed |= ack->dropped;
	if (!ack->pending && done)
		set_pending(ack, SRN_SYN_ACK_UNLIMITED, ack->done_psn);
}

/* A peer that is told more often than it can send again learns nothing from it. The next look is at
 * the next packet, or when the alarm comes.
 */
static bool is_soon(struct srn_qp *qp)
{
	u64 now = ktime_get_ns();

	if (!srn_qp_sacks(qp))
		return false;
	if (now >= qp->resp.ack.tells_ns)
		return false;
	if (!srn_clock_is_set(&qp->clock, SRN_ALARM_TELL))
		srn_clock_set(&qp->clock, SRN_ALARM_TELL, qp->resp.ack.tells_ns - now);
	return true;
}

/* Whether what was let go of is next, or has come in part, and the peer was not asked for it. It
 * was told that it is here: of that it sends nothing by itself, but what it probes with.
 */
static bool comes_to_gone(struct srn_qp *qp)
{
	struct srn_ack *ack = &qp->resp.ack;
	bool gone = ack->gone_any && srn_psn_diff(ack->gone, qp->resp.msg.psn) <= 0;

	if (gone)
		ack->gone_any = false;
	return gone;
}

/* What is held waits for a packet that the peer was not told of. Or packets changed places on the
 * way: one came in time after all, and the NAK for it was withdrawn; those behind it were dropped.
 * Unless they came again meanwhile, the peer is told what is expected now.
 */
void srn_ack_conclude(struct srn_qp *qp)
{
	struct srn_ack *ack = &qp->resp.ack;
	s32 ahead = srn_psn_diff(ack->ahead, qp->resp.msg.psn);

	if (misses(qp)) {
		if (is_soon(qp))
			return;
		comes_to_gone(qp);
		ack->holed = false;
		ack->news = false;
		refuse(qp, srn_verdicts[SRN_V_SEQ].nak, true);
		return;
	}
	ack->news = false;
	if (comes_to_gone(qp))
		ack->holed = true;
	if (!ack->holed)
		return;
	ack->holed = false;
	if (ack->fatal || ack->nak_sent || !ack->dropped || ahead < 0)
		return;
	refuse(qp, srn_verdicts[SRN_V_SEQ].nak, ahead > 0);
}
EXPORT_SYMBOL_IF_KUNIT(srn_ack_conclude);

/* Without memory the answer is lost, as on a bad wire: the peer asks again. */
static void send(struct srn_qp *qp, u8 syndrome, u32 psn)
{
	struct sk_buff *skb;

	skb = srn_build(IB_OPCODE_RC_ACKNOWLEDGE, SRN_BUILD_ALONE, qp->dest_qpn, psn, 0);
	if (!skb) {
		srn_count(qp->dev, SRN_CNT_TX_NOMEM);
		return;
	}
	srn_count(qp->dev, counter_of(syndrome));
	if (likely(syndrome_class(syndrome) == SRN_SYN_ACK))
		syndrome = srn_rq_syndrome(qp);
	else
		srn_note_sent(qp, syndrome, psn);
	srn_build_aeth(skb, syndrome, qp->resp.msg.msn);
	srn_xmit(&qp->path, skb, NULL);
}

/* A NAK acknowledges what comes before it. But there are peers (hfi1) that take a retry for each
 * NAK, and give them back for an ACK only: of many gaps in a long message each is told of with a
 * NAK.
 */
static bool wants_ack_first(struct srn_ack *ack)
{
	if (ack->syndrome != srn_verdicts[SRN_V_SEQ].nak) {
		ack->naks = 0;
		return false;
	}
	if (++ack->naks < NAKS_IN_A_ROW || !ack->done_any || ack->done_psn != srn_psn_add(ack->psn, -1))
		return false;
	ack->naks = 1;
	return true;
}

/* The NAK of a gap, with more in it. */
static bool is_sack(const struct srn_qp *qp)
{
	const struct srn_ack *ack = &qp->resp.ack;

	return srn_qp_sacks(qp) && ack->syndrome == srn_verdicts[SRN_V_SEQ].nak &&
	       ack->psn == qp->resp.msg.psn && !srn_hold_is_empty(&qp->resp.hold);
}

/* Whether this is the SACK of a gap with which there is a NAK, too. */
static bool is_in_vain(struct srn_ack *ack, u64 now)
{
	if (!ack->sacks)
		ack->sacks_ns = now;
	if (ack->sacks < SACKS_IN_VAIN)
		ack->sacks++;
	if (ack->sacks != SACKS_IN_VAIN || now - ack->sacks_ns < IN_VAIN_NS)
		return false;
	ack->sacks++;
	return true;
}

static void send_sack(struct srn_qp *qp)
{
	struct srn_ack *ack = &qp->resp.ack;
	u64 now = ktime_get_ns();
	u32 words;

	srn_note_sent(qp, ack->syndrome, ack->psn);
	words = srn_sack_held(qp, ack->syndrome);
	ack->tells_ns = now + SACK_EVERY_NS * (1 + words / SACK_WORDS);
	if (is_in_vain(ack, now))
		send(qp, ack->syndrome, ack->psn);
}

/* Whether something of a READ or an atomic in front of what was executed last is yet to be sent. Of requests in
 * front of that the peer is told nothing either: which PSN the last of them has is not known any more.
 */
static bool owes_answer(const struct srn_responder *resp)
{
	const struct srn_replay *replay = &resp->replay;
	const struct srn_replay_slot *slot;
	u32 age = 0;

	if (likely(!replay->open))
		return false;
	slot = srn_replay_next(replay, &age);
	return replay->num_parts || (slot && srn_psn_diff(slot->first_psn, resp->ack.done_psn) < 0);
}

void srn_ack_leave(struct srn_qp *qp)
{
	struct srn_ack *ack = &qp->resp.ack;
	bool says = (ack->untold || ack->pending) && ack->done_any;

	ack->untold = false;
	ack->pending = false;
	if (!says || owes_answer(&qp->resp))
		return;
	local_bh_disable();
	send(qp, SRN_SYN_ACK_UNLIMITED, ack->done_psn);
	local_bh_enable();
}
EXPORT_SYMBOL_IF_KUNIT(srn_ack_leave);

void srn_ack_send(struct srn_qp *qp)
{
	struct srn_ack *ack = &qp->resp.ack;

	srn_ack_conclude(qp);
	if (!ack->pending)
		return;
	ack->pending = false;
	if (is_sack(qp)) {
		send_sack(qp);
		return;
	}
	if (wants_ack_first(ack))
		send(qp, SRN_SYN_ACK_UNLIMITED, ack->done_psn);
	if (unlikely(is_rnr(ack->syndrome)))
		note_told(qp);
	send(qp, ack->syndrome, ack->psn);
}
EXPORT_SYMBOL_IF_KUNIT(srn_ack_send);
