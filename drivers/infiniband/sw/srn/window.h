/* SPDX-License-Identifier: GPL-2.0-only */
/* What of a requester is in flight, in PSNs: pure arithmetic, so that it can be tested.
 * Nothing here knows of WQEs or packets.
 */
#ifndef SRN_WINDOW_H
#define SRN_WINDOW_H

#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include "crowd.h"
#include "legacy.h"
#include "limits.h"
#include "psn.h"

/* A link that loses a packet now and then is used with so many in flight. */
#define SRN_WINDOW_FEW	16
/* So many small packets in one pack are no more of a burst than the SRN_WINDOW_FEW long ones that each connection may
 * begin with.
 */
#define SRN_WINDOW_SMALL	64

/* What is out is spread from so many times what fills a short path on. */
#define SRN_WINDOW_SPREAD	4

/* A place in the send queue: a packet, and the WQE that it belongs to. */
struct srn_cursor {
	u32 index;		/* of the WQE, free-running */
	u32 psn;
};

/* Why cwnd changed; for traces. */
enum srn_window_why {
	SRN_WINDOW_GREW,
	SRN_WINDOW_LOST,
	SRN_WINDOW_COLLAPSED,
	SRN_WINDOW_LATE,
	SRN_WINDOW_CROWDED,
	SRN_WINDOW_SPARED,
	SRN_WINDOW_SETTLED,
	SRN_WINDOW_WHY_MAX,
};

/* It began as one of many, with few that do not double, and nothing was lost since. */
enum srn_window_many {
	SRN_WINDOW_NOT_OF_MANY,
	SRN_WINDOW_OF_MANY,
	SRN_WINDOW_WAS_OF_MANY,	/* before silence, which may be the length of the path */
};

/* PSNs from una on that may be in flight while a READ or an atomic is: of so many early answers it
 * is known whether they were taken (early.h). A READ takes no more of them than the window has.
 */
#define SRN_WINDOW_READS	1024
static_assert(SRN_WINDOW_READS >= 2 * SRN_WINDOW);

/* una <= at.psn <= end, but for a moment when the peer is ahead of the cursor (srn_retry_progress()), where what
 * is in flight is not to be asked for. Owner of the turn only.
 */
struct srn_window {
	u32 una;		/* oldest PSN not acknowledged */
	u32 end;		/* one after the highest PSN ever sent */
	struct srn_cursor at;	/* what goes next; before end it is sent again */
	u32 cwnd;		/* PSNs that may be in flight, */
	u32 gone;		/* without so many of those that are: the peer has them, or they are lost */
	u32 came;		/* likewise of the answers to READs: they are here, or lost */
	u32 reach;		/* and with them */
	u32 ssthresh;		/* below it cwnd doubles, above it grows slowly */
	u32 credit;		/* towards the next step of cwnd */
	u32 cut_end;		/* what was sent before the last cut ends here */
	u16 full;		/* so many fill a path that is not long, */
	u16 most_any;		/* and more than so many may be out on none: */
	u16 most;		/* cwnd grows up to what may on this one, */
	u16 floor;		/* and is not below this, whatever is lost */
	bool cut;		/* cut_end is ahead of una */
	bool draining;		/* more are out than may be, and what is answered is to leave the queue */
	bool tail;		/* of what was out then the last may be lost, and nothing goes to show it */
	u8 lent;		/* so much of cwnd is for small packets that leave at once, and no longer */
	u8 spare;		/* such jumps of una until what was out before silence is known not to be lost */
	bool timed;		/* timed_psn left at timed_ns, first */
	bool timed_again;	/* and went again since, but for a first probe */
	bool timed_queue;	/* so many were before it that they are a queue */
	u16 spare_cwnd;		/* before silence */
	u16 spare_ssthresh;
	u32 spare_end;		/* what was out then ends here */
	u32 drain_end;		/* that ends here, */
	u64 drain_ns;		/* and went before this; ktime, as cut_ns is */
	u64 cut_ns;		/* when a gap last led to a cut, */
	u32 judged_end;		/* and what was sent before that ends here */
	u16 doubt;		/* PSNs that do not leave as runs any more, after a loss */
	u16 rd_room;		/* elements of rd_last, a power of two, or 0 */
	u16 timed_rest;		/* of a READ's answer, PSNs behind its first: the last may be timed, too */
	bool timed_last;	/* it is the last of a READ's answer, whose first was timed before */
	u8 many;		/* enum srn_window_many */
	u32 timed_psn;
	u64 timed_ns;		/* ktime */
	struct srn_crowd crowd;	/* what is known of the path */
	u32 unasked;		/* PSNs since the last packet that asks for an answer */
	u32 rd_head;		/* READs and atomics in flight: rd_last[rd_head..rd_tail) */
	u32 rd_tail;
	u32 spread_at;		/* spread.h: when the next one is to go */
	u32 *rd_last;		/* the last PSN of each */
};

/**
 * srn_window_start() - a new connection with a path MTU of @mtu bytes: @psn goes first
 *
 * It begins with few and doubles with each that is answered, since many may begin at once.
 */
void srn_window_start(struct srn_window *w, u32 psn, u32 mtu);

/** srn_window_leave() - nothing is out, and another goes on with what is known of the path */
void srn_window_leave(const struct srn_window *w, struct srn_legacy *legacy);

/** srn_window_inherit() - go on where who left @legacy stopped; nothing is out */
void srn_window_inherit(struct srn_window *w, const struct srn_legacy *legacy);

/** srn_window_is_of_many() - whether it has as few as one that began among many, though nothing was lost since */
static inline bool srn_window_is_of_many(const struct srn_window *w)
{
	return unlikely(w->many == SRN_WINDOW_OF_MANY);
}

/** srn_window_start_in_crowd() - it begins as one of many: with fewer, that double as well */
void srn_window_start_in_crowd(struct srn_window *w);

/**
 * srn_window_share() - it had what @some have at a time, and goes on with its part of that, as @all do
 *
 * No less than one of many begins with, and no more than it had. What is lent is not shared.
 */
void srn_window_share(struct srn_window *w, u32 some, u32 all);

/** srn_window_widen() - who began as one of many goes on as one of few, if nothing was lost since */
void srn_window_widen(struct srn_window *w);

/**
 * srn_window_set_room() - as many READs and atomics may be in flight as @last has @room for
 * @room: a power of two, and as many as are in flight at least: they stay known
 *
 * Return: where they were kept until now, which is the caller's; or NULL.
 */
u32 *srn_window_set_room(struct srn_window *w, u32 *last, u32 room);

/**
 * srn_window_lost() - a gap of @num PSNs: less in flight, once for all that was out
 * @sent_ns: ktime at which they went last, if they went again; 0: they did not, or nobody knows
 * @now_ns: ktime
 *
 * By how much the room crowd.h says. Where queues are minded, what went since the last cut was not of
 * what was out then.
 */
void srn_window_lost(struct srn_window *w, u32 num, u64 sent_ns, u64 now_ns);

/** srn_window_collapsed() - what was sent again got lost: begin with few */
void srn_window_collapsed(struct srn_window *w);

/**
 * srn_window_silent() - silence: begin with few, though nothing is known to be lost; before srn_window_seek()
 * @longer: the same silence was told of before, and nothing was heard since
 */
void srn_window_silent(struct srn_window *w, bool longer);

/** srn_window_guilty() - it was silent since something was lost, or too much out, not since the path is long */
static inline void srn_window_guilty(struct srn_window *w)
{
	w->spare = 0;
}

/**
 * srn_window_spare() - una is ahead of the cursor: what was not sent again yet was answered
 * @sacks: the peer keeps what comes early, and says so
 *
 * If that was out before silence it was not lost; or only its answers were, and the peer was asked for one
 * again. So (as RFC 5682 has it) two go again, and if then it happens once more, all that was out is taken to
 * be on its way: so many may be out as before, but no more are to leave at once than a connection begins with
 * (RFC 4015). Not where READs or atomics were among it, nor where part of it was to go again already.
 * Return: the PSN to go on with: una, or behind what was out, which is answered late, too.
 */
u32 srn_window_spare(struct srn_window *w, bool sacks);

/** srn_window_late() - an answer took too long: half of it in flight, once for all that was out */
void srn_window_late(struct srn_window *w);

/** srn_window_time() - the packet with @psn has left and is timed, from @now_ns on; @queue: timed_queue */
static inline void srn_window_time(struct srn_window *w, u32 psn, u64 now_ns, bool queue)
{
	w->timed = true;
	w->timed_again = false;
	w->timed_queue = queue;
	w->timed_last = false;
	w->timed_psn = psn;
	w->timed_rest = 0;
	w->timed_ns = now_ns;
}

/**
 * srn_window_times_on() - after srn_window_delay(): whether the rest of the same answer is to tell of the queue
 *
 * It does where queues are minded, and the first packet waited for much of what may queue: then its last one is
 * timed. How long others' packets wait, and one's own behind others of one's own, is seen there. If the first did not
 * wait, how long the rest takes is of its own making. The queue is no shorter than it was, @was_ns, until the last one
 * is here.
 */
static inline bool srn_window_times_on(struct srn_window *w, u64 was_ns)
{
	u32 rest = w->timed_rest;

	w->timed_rest = 0;
	if (!rest || !srn_crowd_is(&w->crowd) || srn_crowd_has_room(&w->crowd))
		return false;
	w->timed = true;
	w->timed_psn = srn_psn_add(w->timed_psn, rest);
	w->timed_last = true;
	w->crowd.delay_ns = max(w->crowd.delay_ns, was_ns);
	return true;
}

/** srn_window_untime() - what is timed will be answered later than by the way there and back */
static inline void srn_window_untime(struct srn_window *w)
{
	w->timed = false;
}

/** srn_window_is_late() - whether @delay_ns of what is timed is too much for a local ACK timeout, or 0 for none */
static inline bool srn_window_is_late(const struct srn_window *w, u64 delay_ns, u64 timeout_ns)
{
	return w->timed_queue && timeout_ns && delay_ns > timeout_ns / 4;
}

/**
 * srn_window_answered_again() - what is timed went more than once, and was answered @took_ns after it went first
 *
 * If the path is known to be so much shorter, it stood in a queue.
 */
static inline void srn_window_answered_again(struct srn_window *w, u64 took_ns, u64 timeout_ns)
{
	srn_window_untime(w);
	if (srn_window_is_late(w, took_ns - min_t(u64, took_ns, w->crowd.least_ns), timeout_ns))
		srn_window_guilty(w);
}

/** srn_window_untime_run() - what is timed will be, if it is one of the @num PSNs from @psn on, which went again */
static inline void srn_window_untime_run(struct srn_window *w, u32 psn, u32 num)
{
	u32 ahead = srn_psn_diff(w->timed_psn, psn);

	if (ahead < num)
		w->timed = false;
}

/** srn_window_time_again() - of what is timed, if it is one of the @num PSNs from @psn on, two are out */
static inline void srn_window_time_again(struct srn_window *w, u32 psn, u32 num)
{
	u32 ahead = srn_psn_diff(w->timed_psn, psn);

	if (ahead < num)
		w->timed_again = true;
}

/** srn_window_is_timed() - whether the packet that is timed was answered just now */
static inline bool srn_window_is_timed(const struct srn_window *w)
{
	return w->timed && srn_psn_diff(w->una, w->timed_psn) > 0;
}

/**
 * srn_window_delay() - what the timed packet was answered later, at @now_ns, than the fastest
 * @least_ns: that any answer is known to have taken
 *
 * The next one may be timed. Return: ns.
 */
u64 srn_window_delay(struct srn_window *w, u64 least_ns, u64 now_ns);

/** srn_window_mind() - a delay was measured: less in flight where too much queues, or few, to see the path */
void srn_window_mind(struct srn_window *w);

/**
 * srn_window_chunk() - PSNs that one request of a READ of @npsn asks for if @reads may be in flight
 * @parts: what is lost of them is asked for by itself
 */
u32 srn_window_chunk(const struct srn_window *w, u32 npsn, u32 reads, bool parts);

/** srn_window_reset() - nothing is in flight; the WQE @index goes next */
void srn_window_reset(struct srn_window *w, u32 index);

/** srn_window_inflight() - PSNs sent and not acknowledged */
static inline u32 srn_window_inflight(const struct srn_window *w)
{
	return srn_psn_diff(w->at.psn, w->una);
}

/** srn_window_awaited() - PSNs in flight up to the last that asks for an answer, which will be soon */
static inline u32 srn_window_awaited(const struct srn_window *w)
{
	u32 inflight = srn_window_inflight(w);

	return inflight - min(inflight, w->unasked);
}

/** srn_window_reads() - READ requests and atomics in flight */
static inline u32 srn_window_reads(const struct srn_window *w)
{
	return w->rd_tail - w->rd_head;
}

/**
 * srn_window_load() - PSNs that are on their way, there or back
 *
 * Of a READ the peer has the request, and its answer is to come: while there are READs, all but what
 * is known of answers.
 */
static inline u32 srn_window_load(const struct srn_window *w)
{
	return srn_window_inflight(w) - (srn_window_reads(w) ? w->came : w->gone);
}

/* PSNs that may be in flight at all. */
static inline u32 srn_window_reach(const struct srn_window *w)
{
	return srn_window_reads(w) ? min_t(u32, w->reach, SRN_WINDOW_READS) : w->reach;
}

/** srn_window_is_full() - whether answers have to come before @npsn more may go */
static inline bool srn_window_is_full(const struct srn_window *w, u32 npsn)
{
	return srn_window_load(w) + npsn > w->cwnd ||
	       srn_window_inflight(w) + npsn > srn_window_reach(w);
}

/** srn_window_is_nearly_full() - whether less than a quarter of it is free */
static inline bool srn_window_is_nearly_full(const struct srn_window *w)
{
	return srn_window_load(w) + w->cwnd / 4 > w->cwnd;
}

/** srn_window_takes_read() - whether a READ that takes no more than the window has may follow */
static inline bool srn_window_takes_read(const struct srn_window *w)
{
	return srn_window_inflight(w) + SRN_WINDOW <= SRN_WINDOW_READS;
}

/** srn_window_takes_again() - whether of what is gone one may go again */
static inline bool srn_window_takes_again(const struct srn_window *w)
{
	return srn_window_load(w) + !srn_window_reads(w) <= w->cwnd;
}

/** srn_window_takes_two() - whether two may */
static inline bool srn_window_takes_two(const struct srn_window *w)
{
	return srn_window_load(w) + 2 <= w->cwnd;
}

/** srn_window_is_narrow() - so few may be out that how long answers take decides how many */
static inline bool srn_window_is_narrow(const struct srn_window *w)
{
	return w->cwnd < SRN_WINDOW_FEW || srn_crowd_is(&w->crowd);
}

/** srn_window_is_tight() - what comes makes no room: queues are minded */
static inline bool srn_window_is_tight(const struct srn_window *w)
{
	/* Beside READs what the peer has takes room as well, so that there may be none for long. */
	return srn_crowd_is(&w->crowd) && !srn_window_reads(w);
}

/**
 * srn_window_is_young() - whether a burst of small packets may leave before it has grown
 *
 * Nothing is out, and nothing was ever lost, late or in a queue that is too long.
 */
static inline bool srn_window_is_young(const struct srn_window *w)
{
	return w->cwnd < SRN_WINDOW_SMALL && w->cwnd >= SRN_WINDOW_FEW && w->ssthresh == w->most &&
	       !w->cut && !srn_crowd_is(&w->crowd) && w->at.psn == w->una && w->una == w->end;
}

/**
 * srn_window_lend() - what leaves at once, from here on, may be of @num small packets, on a window that is young
 *
 * Until srn_window_take_back(), before which nobody answers.
 */
static inline void srn_window_lend(struct srn_window *w, u32 num)
{
	num = min_t(u32, num, SRN_WINDOW_SMALL);
	w->lent = num - min_t(u32, num, w->cwnd);
	w->cwnd += w->lent;
}

/** srn_window_take_back() - it has left, or nothing more is to be in it */
static inline void srn_window_take_back(struct srn_window *w)
{
	w->cwnd -= w->lent;
	w->lent = 0;
}

/** srn_window_next_is_lent() - whether one more fills the window, so that what follows would go by what was lent */
static inline bool srn_window_next_is_lent(const struct srn_window *w)
{
	return unlikely(w->lent) && srn_window_load(w) + 1 + w->lent >= w->cwnd;
}

/** srn_window_takes_part() - whether of the answers that are lost one may be asked for again */
static inline bool srn_window_takes_part(const struct srn_window *w)
{
	return srn_window_load(w) + 1 <= w->cwnd;
}

/** srn_window_room() - how many PSNs may go; it is not full */
static inline u32 srn_window_room(const struct srn_window *w)
{
	return min(w->cwnd - srn_window_load(w), srn_window_reach(w) - srn_window_inflight(w));
}

/** srn_window_set_out() - of what is in flight only @out PSNs are on their way */
static inline void srn_window_set_out(struct srn_window *w, u32 out)
{
	u32 inflight = srn_window_inflight(w);

	w->gone = inflight - min(out, inflight);
}

/** srn_window_set_coming() - while there are READs only @out PSNs are on their way */
static inline void srn_window_set_coming(struct srn_window *w, u32 out)
{
	u32 inflight = srn_window_inflight(w);

	w->came = inflight - min(out, inflight);
}

/** srn_window_set_reach() - the peer keeps @psns PSNs, from the oldest not acknowledged on */
static inline void srn_window_set_reach(struct srn_window *w, u32 psns)
{
	w->reach = psns;
}

/**
 * srn_window_set_spread() - before srn_window_delay(): whether what is out on a very long path is to be spread
 *
 * It is to a peer that keeps more than each does: to others no more is out than fills a short path.
 */
void srn_window_set_spread(struct srn_window *w, bool on);

/** srn_window_is_very_long() - whether much of what is out is spread over the time that answers take (spread.h), if at all */
static inline bool srn_window_is_very_long(const struct srn_window *w)
{
	return unlikely(w->crowd.spreads) && w->most >= SRN_WINDOW_SPREAD * w->full;
}

/**
 * srn_window_wants_reach() - whether more might be out on this path, if the peer were known to keep more; or, on any,
 * whether it keeps less than each peer does
 */
bool srn_window_wants_reach(const struct srn_window *w);

/**
 * srn_window_hold_back() - the peer misses something, and does not say that it keeps anything
 *
 * Return: whether it was believed to keep more than each peer does.
 */
bool srn_window_hold_back(struct srn_window *w);

/** srn_window_move() - what leaves from here on takes another path, of which nothing is known */
void srn_window_move(struct srn_window *w);

/** srn_window_asked() - all that is in flight was asked about, with a packet sent again */
static inline void srn_window_asked(struct srn_window *w)
{
	w->unasked = 0;
	w->timed = false;
}

/**
 * srn_window_sent() - what takes @npsn PSNs left from the cursor, which moves behind it
 * @asked: its answer says that all before it arrived
 * @read: it is a READ or an atomic; there is room for one more
 *
 * Return: true if its PSN was sent before.
 */
bool srn_window_sent(struct srn_window *w, u32 npsn, bool asked, bool read);

/** srn_window_sent_one() - srn_window_sent() of one PSN that goes first, asks for nothing and is no READ; no doubt */
static inline void srn_window_sent_one(struct srn_window *w)
{
	w->at.psn = srn_psn_add(w->at.psn, 1);
	w->end = w->at.psn;
	w->unasked++;
}

/** srn_window_pass() - the WQE at the cursor has nothing (more) to send: go to the next */
static inline void srn_window_pass(struct srn_window *w)
{
	w->at.index++;
}

/**
 * srn_window_seek() - go on from @to: back after a loss, forward where the peer is ahead
 *
 * What is timed is sent again then, if it was not answered.
 */
void srn_window_seek(struct srn_window *w, struct srn_cursor to);

/**
 * srn_window_drained() - what was to leave a queue, and has had @again_ns for it: it is here or lost
 * @now_ns: ktime
 *
 * Once. Return: PSNs from una on that were out then, or 0.
 */
static inline u32 srn_window_drained(struct srn_window *w, u64 again_ns, u64 now_ns)
{
	s32 out = srn_psn_diff(w->drain_end, w->una);

	if (!w->tail || now_ns - w->drain_ns < again_ns)
		return 0;
	w->tail = false;
	w->draining = false;
	return clamp_t(s32, out, 0, srn_window_inflight(w));
}

/** srn_window_came() - the peer has @num PSNs more: as many more may go, and perhaps more than that */
void srn_window_came(struct srn_window *w, u32 num);

/** srn_window_refilled() - gaps were filled, so that much may leave at once: no more than some, and soon more */
void srn_window_refilled(struct srn_window *w);

/** srn_window_acked() - everything before @psn was answered; it is not before una */
void srn_window_acked(struct srn_window *w, u32 psn);

/** srn_window_is_out() - whether the cursor has sent @psn, and it was not answered */
static inline bool srn_window_is_out(const struct srn_window *w, u32 psn)
{
	return srn_psn_diff(psn, w->una) >= 0 && srn_psn_diff(psn, w->at.psn) < 0;
}

/** srn_window_has() - whether an answer with @psn answers what was sent and not answered */
static inline bool srn_window_has(const struct srn_window *w, u32 psn)
{
	return srn_psn_diff(psn, w->una) >= 0 && srn_psn_diff(psn, w->end) < 0;
}

#endif
