// SPDX-License-Identifier: GPL-2.0-only
/* PSNs in flight. */
#include "window.h"

#include <kunit/visibility.h>
#include <linux/compiler.h>
#include <linux/export.h>
#include <linux/limits.h>
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>

/* What a connection begins with: a program may open hundreds at once. */
#define BEGIN		SRN_WINDOW_FEW
/* Where many begin, and only some may have data out, all of these fill a short queue with so many each; and they
 * double it only when they have seen the path.
 */
#define BEGIN_OF_MANY	8
/* Where many begin though nobody takes turns yet. */
#define BEGIN_IN_CROWD	2
/* Where much may be out, so many leave at once when a gap was filled. */
#define BURST		64
/* Times in a row that una is to jump, after silence, over what was not sent again: the answer to what was, of a
 * peer of which only the answers were lost, is one.
 */
#define JUMPS		2
/* And so many go again between them: what they are answered with is no jump. */
#define AGAIN		2
/* What was lost is compared with so many PSNs at most: an answer is timed more often than those go round. */
#define JUDGED		(1 << 22)
/* The peer holds as much as anybody has out. */
#define REACH_ANY	(SRN_PSN_MASK / 2)
/* Above ssthresh: steps for each window that was answered. */
#define STEPS		4
/* A READ asks for at most this many response packets at once, unless few READs may be
 * in flight: the window of what a responder may send us. A longer one is several
 * requests on the wire.
 */
#define CHUNK		64
/* At the start, too, it asks for few if it is no longer than this: a longer one would do so for life. */
#define SHORT		128
/* And after a loss for few; but a long READ keeps what it began with. Fewer where what is lost is asked
 * for by itself.
 */
#define CHUNK_LEAST		8
#define CHUNK_LEAST_PARTS	4
/* Where what is lost is asked for by itself, as many as one ACK is asked for of other requests. More
 * at once would be a burst for each; with less more requests are lost, of which each keeps all behind
 * it waiting.
 */
#define CHUNK_PARTS	32

/* Of the READ or atomic at free-running @index. */
static u32 *rd_last(const struct srn_window *w, u32 index)
{
	return &w->rd_last[index & (w->rd_room - 1)];
}

void srn_window_start(struct srn_window *w, u32 psn, u32 mtu)
{
	w->una = psn;
	w->end = psn;
	w->at.psn = psn;
	w->full = min_t(u32, SRN_WINDOW, SRN_WINDOW_BYTES / mtu);
	w->most_any = min_t(u32, SRN_WINDOW_WIDE, SRN_WINDOW_WIDE_BYTES / mtu);
	w->most = w->full;
	w->cwnd = BEGIN;
	w->floor = 1;
	w->ssthresh = w->full;
	w->gone = 0;
	w->came = 0;
	w->reach = REACH_ANY;
	w->credit = 0;
	w->cut = false;
	w->judged_end = psn;
	w->timed = false;
	w->doubt = 0;
	w->cut_ns = 0;
	w->drain_ns = 0;
	w->draining = false;
	w->tail = false;
	w->many = SRN_WINDOW_NOT_OF_MANY;
	w->spare = 0;
	w->lent = 0;
	srn_crowd_start(&w->crowd);
}
EXPORT_SYMBOL_IF_KUNIT(srn_window_start);

void srn_window_start_in_crowd(struct srn_window *w)
{
	w->cwnd = min_t(u32, w->cwnd, max_t(u32, w->floor, BEGIN_IN_CROWD));
}
EXPORT_SYMBOL_IF_KUNIT(srn_window_start_in_crowd);

void srn_window_share(struct srn_window *w, u32 some, u32 all)
{
	u32 own = w->cwnd - w->lent;

	w->cwnd = w->lent + min(own, max3((u32)w->floor, (u32)BEGIN_IN_CROWD, own * some / all));
}
EXPORT_SYMBOL_IF_KUNIT(srn_window_share);

/* Of a path without queues, that each of them has seen, one knows as much as the other. */
static bool is_as(const struct srn_window *w, const struct srn_legacy *legacy)
{
	return w->cwnd == legacy->cwnd && w->ssthresh == legacy->ssthresh && srn_window_is_of_many(w) == legacy->many &&
	       !srn_crowd_is(&w->crowd) && !srn_crowd_is(&legacy->crowd) &&
	       srn_crowd_has_room(&w->crowd) && srn_crowd_has_room(&legacy->crowd) &&
	       w->crowd.least_ns == legacy->crowd.least_ns;
}

void srn_window_leave(const struct srn_window *w, struct srn_legacy *legacy)
{
	if (is_as(w, legacy))
		return;
	*legacy = (struct srn_legacy){
		.cwnd = w->cwnd,
		.ssthresh = w->ssthresh,
		.many = srn_window_is_of_many(w),
		.crowd = w->crowd,
	};
}
EXPORT_SYMBOL_IF_KUNIT(srn_window_leave);

/* What is lost of one's own packets is no part of it, nor whether they are spread. */
static void inherit_crowd(struct srn_crowd *c, const struct srn_crowd *of)
{
	struct srn_crowd own = *c;

	*c = *of;
	srn_crowd_unlearn(c);
	c->lost = own.lost;
	c->was_lost = own.was_lost;
	c->was_sent = own.was_sent;
	c->heavy = own.heavy;
	c->spreads = own.spreads;
}

void srn_window_inherit(struct srn_window *w, const struct srn_legacy *legacy)
{
	if (is_as(w, legacy))
		return;
	w->credit = 0;
	if (!legacy->cwnd) {
		if (w->ssthresh == w->most)
			w->many = SRN_WINDOW_OF_MANY;
		w->cwnd = min_t(u32, w->cwnd, BEGIN_OF_MANY);
		w->ssthresh = w->cwnd;
		return;
	}
	w->many = legacy->many ? SRN_WINDOW_OF_MANY : SRN_WINDOW_NOT_OF_MANY;
	w->cwnd = clamp_t(u32, legacy->cwnd, w->floor, w->full);
	w->ssthresh = clamp_t(u32, legacy->ssthresh, w->floor, w->full);
	/* Nothing is out yet: no more at once than one that begins, and from there soon to what it was. */
	if (w->cwnd > BEGIN) {
		w->ssthresh = max(w->ssthresh, w->cwnd);
		w->cwnd = BEGIN;
	}
	inherit_crowd(&w->crowd, &legacy->crowd);
}
EXPORT_SYMBOL_IF_KUNIT(srn_window_inherit);

void srn_window_widen(struct srn_window *w)
{
	if (!srn_window_is_of_many(w))
		return;
	w->many = SRN_WINDOW_NOT_OF_MANY;
	w->cwnd = max_t(u32, w->cwnd, min_t(u32, BEGIN, w->most));
	w->ssthresh = w->most;
}
EXPORT_SYMBOL_IF_KUNIT(srn_window_widen);

u32 *srn_window_set_room(struct srn_window *w, u32 *last, u32 room)
{
	u32 *was = w->rd_last, i;

	for (i = w->rd_head; i != w->rd_tail; i++)
		last[i & (room - 1)] = *rd_last(w, i);
	w->rd_last = last;
	w->rd_room = room;
	return was;
}
EXPORT_SYMBOL_IF_KUNIT(srn_window_set_room);

void srn_window_reset(struct srn_window *w, u32 index)
{
	srn_window_seek(w, (struct srn_cursor){ .index = index, .psn = w->una });
	w->timed = false;
	w->spare = 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_window_reset);

bool srn_window_sent(struct srn_window *w, u32 npsn, bool asked, bool read)
{
	bool again = srn_psn_diff(w->at.psn, w->end) < 0;

	w->at.psn = srn_psn_add(w->at.psn, npsn);
	if (srn_psn_diff(w->at.psn, w->end) > 0)
		w->end = w->at.psn;
	w->doubt -= min(w->doubt, npsn);
	w->unasked = asked ? 0 : w->unasked + npsn;
	if (read)
		*rd_last(w, w->rd_tail++) = srn_psn_add(w->at.psn, -1);
	return again;
}
EXPORT_SYMBOL_IF_KUNIT(srn_window_sent);

/* What has room leaves at once, so that is no more than @least, or some; it doubles back to what it was. */
static void settle(struct srn_window *w, u32 least)
{
	u32 most = max(srn_window_load(w) + BURST, least);

	if (w->cwnd <= w->full || w->cwnd <= most)
		return;
	w->ssthresh = max(w->ssthresh, w->cwnd);
	w->cwnd = most;
}

void srn_window_seek(struct srn_window *w, struct srn_cursor to)
{
	w->at = to;
	w->unasked = 0;
	w->tail = false;
	w->draining = false;
	w->timed_again = true;
	/* What is asked again is in flight when it is sent again. */
	w->rd_head = w->rd_tail;
	settle(w, w->full);
}
EXPORT_SYMBOL_IF_KUNIT(srn_window_seek);

static void cut_to(struct srn_window *w, u32 cwnd)
{
	w->cwnd = cwnd;
	w->credit = 0;
	w->cut = true;
	w->cut_end = w->end;
	w->many = SRN_WINDOW_NOT_OF_MANY;
}

/* What is answered until as few are out is to leave the queue. */
static void drain(struct srn_window *w, u64 now_ns)
{
	w->draining = true;
	w->tail = true;
	w->drain_end = w->end;
	w->drain_ns = now_ns;
}

/* Once for all that is out: what comes of the same queue says nothing new. */
static void shrink(struct srn_window *w, u32 cwnd)
{
	if (w->cut)
		return;
	w->ssthresh = cwnd;
	cut_to(w, cwnd);
}

/* Few, and twice as many with each that is answered, up to half of what was. */
static void begin_again(struct srn_window *w)
{
	w->ssthresh = max_t(u32, w->cwnd / 2, w->floor);
	cut_to(w, w->floor);
	srn_crowd_few(&w->crowd);
}

/* What stands in a queue too long for it is no chance, nor is much of what goes where a queue is too short to be
 * seen.
 */
static u32 chance_cut(const struct srn_window *w)
{
	u32 wide = srn_crowd_wide_excess(&w->crowd, w->cwnd, w->full);

	if (w->cwnd > w->full && srn_crowd_lost_much(&w->crowd))
		return srn_window_is_very_long(w) ? w->cwnd / 3 : w->cwnd / 4;
	if (wide)
		return srn_window_is_very_long(w) ? min(w->cwnd / 4, 2 * wide) : w->cwnd / 4;
	return srn_crowd_cut(&w->crowd, w->cwnd);
}

/* Only a queue that was full is to drain: a loss by chance leaves none behind. */
static void cut(struct srn_window *w, u64 now_ns)
{
	u32 was = w->cwnd, sent = srn_psn_diff(w->end, w->judged_end);

	w->judged_end = w->end;
	w->cut_ns = now_ns;
	if (srn_window_is_very_long(w) && !srn_window_reads(w))
		srn_crowd_learn(&w->crowd, sent, was, w->full);
	switch (srn_crowd_lost(&w->crowd, sent, now_ns)) {
	case SRN_CROWD_CHANCE:
		shrink(w, max(was - chance_cut(w), min_t(u32, was, SRN_WINDOW_FEW)));
		break;
	case SRN_CROWD_FULL:
		shrink(w, max_t(u32, was - DIV_ROUND_UP(was, 4), w->floor));
		drain(w, now_ns);
		break;
	case SRN_CROWD_BLIND:
		begin_again(w);
		drain(w, now_ns);
		break;
	}
}

void srn_window_lost(struct srn_window *w, u32 num, u64 sent_ns, u64 now_ns)
{
	w->doubt = SRN_RUN_DOUBT;
	srn_window_guilty(w);
	srn_crowd_missed(&w->crowd, num);
	if (sent_ns > w->cut_ns && srn_crowd_is(&w->crowd))
		w->cut = false;
	if (!w->cut)
		cut(w, now_ns);
}
EXPORT_SYMBOL_IF_KUNIT(srn_window_lost);

/* A little more than fills a short path is not worth the care that more takes. */
static u32 most_on_path(const struct srn_window *w)
{
	u64 path = min_t(u64, w->crowd.path_ns, NSEC_PER_SEC);
	u64 most = div_u64(w->full * path, SRN_WINDOW_PATH_NS);

	static_assert(SRN_CROWD_VERY_LONG_NS == SRN_WINDOW_SPREAD * SRN_WINDOW_PATH_NS);
	return most < w->full + w->full / 4 ? w->full : min_t(u64, most, w->most_any);
}

/* Whether the peer keeps more than each does. */
static bool keeps_much(const struct srn_window *w)
{
	return w->reach > SRN_HOLD_AHEAD && w->reach != REACH_ANY;
}

void srn_window_set_spread(struct srn_window *w, bool on)
{
	srn_crowd_set_spread(&w->crowd, on && keeps_much(w));
}
EXPORT_SYMBOL_IF_KUNIT(srn_window_set_spread);

/* What doubles up to the most goes on doing so; what does not stays below it, however often that changes. */
static void set_most(struct srn_window *w, u32 most)
{
	bool begins = w->ssthresh == w->most;

	w->most = most;
	w->ssthresh = begins ? most : min(w->ssthresh, most - 1);
	w->cwnd = min(w->cwnd, most);
}

bool srn_window_wants_reach(const struct srn_window *w)
{
	return w->reach < SRN_HOLD_AHEAD ||
	       (w->reach == SRN_HOLD_AHEAD && most_on_path(w) > w->full);
}
EXPORT_SYMBOL_IF_KUNIT(srn_window_wants_reach);

bool srn_window_hold_back(struct srn_window *w)
{
	if (!keeps_much(w))
		return false;
	w->reach = SRN_HOLD_AHEAD;
	srn_window_set_spread(w, false);
	set_most(w, w->full);
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(srn_window_hold_back);

void srn_window_move(struct srn_window *w)
{
	srn_window_untime(w);
	srn_crowd_start(&w->crowd);
	w->ssthresh = w->most;
	w->many = SRN_WINDOW_NOT_OF_MANY;
	set_most(w, w->full);
}
EXPORT_SYMBOL_IF_KUNIT(srn_window_move);

/* Not so far behind that it looks as if it were ahead. */
static void pull_judged(struct srn_window *w)
{
	u32 behind = srn_psn_add(w->end, -(s32)w->judged_end);

	if (behind > JUDGED)
		w->judged_end = srn_psn_add(w->end, -JUDGED);
}

u64 srn_window_delay(struct srn_window *w, u64 least_ns, u64 now_ns)
{
	u64 delay = srn_crowd_sample(&w->crowd, now_ns - w->timed_ns, least_ns, now_ns, w->cwnd,
				     w->cwnd <= w->floor);

	w->timed = false;
	pull_judged(w);
	srn_crowd_path(&w->crowd, w->cwnd > w->full);
	set_most(w, keeps_much(w) ? most_on_path(w) : w->full);
	return delay;
}
EXPORT_SYMBOL_IF_KUNIT(srn_window_delay);

/* Now and then few go, to see the path without one's own packets: it doubles back to what was. */
void srn_window_mind(struct srn_window *w)
{
	u32 wide = srn_crowd_wide_excess(&w->crowd, w->cwnd, w->full);
	u32 excess = srn_crowd_excess(&w->crowd, w->cwnd);

	/* It stands in a queue now, whatever was cut before. */
	if (wide) {
		w->cwnd -= wide;
		w->ssthresh = min(w->ssthresh, w->cwnd);
		w->credit = 0;
	}
	if (w->cut)
		return;
	if (w->cwnd > 4 * w->floor && srn_crowd_looks(&w->crowd)) {
		w->ssthresh = w->cwnd;
		cut_to(w, w->floor);
		drain(w, w->crowd.now_ns);
	} else if (excess) {
		w->cwnd = max_t(u32, w->cwnd - excess, w->floor);
		w->ssthresh = w->cwnd;
		w->credit = 0;
	}
}
EXPORT_SYMBOL_IF_KUNIT(srn_window_mind);

void srn_window_late(struct srn_window *w)
{
	shrink(w, max_t(u32, w->cwnd / 2, w->floor));
}
EXPORT_SYMBOL_IF_KUNIT(srn_window_late);

void srn_window_collapsed(struct srn_window *w)
{
	w->doubt = SRN_RUN_DOUBT;
	srn_window_guilty(w);
	begin_again(w);
}
EXPORT_SYMBOL_IF_KUNIT(srn_window_collapsed);

/* Whether all that is out is known to be, and none of it is a READ or an atomic: those that the cursor passes it
 * forgets, and of what is yet to go again it does not know them.
 */
static bool may_spare(const struct srn_window *w)
{
	return w->at.psn == w->end && !srn_window_reads(w);
}

/* The same silence, longer, says no more of how many were too many (RFC 5681, 3.1). */
void srn_window_silent(struct srn_window *w, bool longer)
{
	u32 cwnd = w->cwnd, ssthresh = w->ssthresh;
	u8 many = w->many;

	w->doubt = SRN_RUN_DOUBT;
	begin_again(w);
	if (longer) {
		w->ssthresh = ssthresh;
		w->many = many;
		return;
	}
	w->spare = may_spare(w) ? JUMPS : 0;
	if (many == SRN_WINDOW_OF_MANY)
		w->many = SRN_WINDOW_WAS_OF_MANY;
	w->spare_cwnd = cwnd;
	w->spare_ssthresh = ssthresh;
	w->spare_end = w->end;
}
EXPORT_SYMBOL_IF_KUNIT(srn_window_silent);

/* As if it had been none: what came since then makes it grow, too. */
static void restore(struct srn_window *w)
{
	u32 came = w->cwnd - min_t(u32, w->cwnd, AGAIN);
	u32 some = srn_psn_diff(w->end, w->una) + BEGIN + min_t(u32, 2 * came, BURST);
	u32 grown = clamp_t(u32, w->spare_cwnd + came, w->spare_cwnd,
			    max(w->spare_cwnd, w->spare_ssthresh));

	w->cut = false;
	if (w->many == SRN_WINDOW_WAS_OF_MANY)
		w->many = SRN_WINDOW_OF_MANY;
	w->cwnd = max(w->cwnd, min3(some, grown, (u32)w->most));
	w->ssthresh = max_t(u32, w->ssthresh, min(w->spare_ssthresh, w->most));
}

/* If anything new has left since, all of it has gone again. */
u32 srn_window_spare(struct srn_window *w, bool sacks)
{
	if (!sacks || w->end != w->spare_end)
		srn_window_guilty(w);
	if (!w->spare)
		return w->una;
	if (--w->spare) {
		if (w->una != w->end)
			w->cwnd = min_t(u32, w->cwnd, AGAIN);
		return w->una;
	}
	restore(w);
	return w->end;
}
EXPORT_SYMBOL_IF_KUNIT(srn_window_spare);

/* A READ keeps its requests' size for life, which may be longer than queues are minded: with as many
 * READs in flight as may be no less than what a link needs that loses a packet now and then; for a long
 * one more.
 */
static u32 chunk_least(const struct srn_window *w, u32 npsn, u32 reads)
{
	u32 all = npsn <= SHORT ? SRN_WINDOW_FEW : CHUNK;
	u32 part = DIV_ROUND_UP(all, max_t(u32, reads, 1));

	if (!srn_crowd_is(&w->crowd))
		return CHUNK_LEAST;
	return npsn <= SHORT ? part : max_t(u32, part, CHUNK_LEAST);
}

/* After a loss, two at least: a request that is lost shows when a later one is answered. */
static u32 chunk_of_parts(const struct srn_window *w, u32 npsn, u32 reads)
{
	u32 most = npsn <= SHORT ? CHUNK_LEAST_PARTS : CHUNK_PARTS;
	u32 least = min(chunk_least(w, npsn, reads), most);
	u32 chunk = clamp_t(u32, w->cwnd / 2, least, CHUNK_PARTS);

	return max_t(u32, chunk, w->cwnd / max_t(u32, reads, 1));
}

u32 srn_window_chunk(const struct srn_window *w, u32 npsn, u32 reads, bool parts)
{
	bool lost = w->ssthresh < w->full, begins = w->cwnd < CHUNK && npsn <= SHORT;

	/* What may be out beside READs (SRN_WINDOW_READS) is for no more, however long the path. */
	if (parts && (lost || begins))
		return min_t(u32, chunk_of_parts(w, npsn, reads), w->full);
	/* Two requests, so that the second waits at the peer when the first is answered. */
	if (w->cwnd < 2 * CHUNK && (lost || begins))
		return max3(w->cwnd / 2, w->cwnd / max_t(u32, reads, 1), chunk_least(w, npsn, reads));
	return max_t(u32, CHUNK, w->full / max_t(u32, reads, 1));
}
EXPORT_SYMBOL_IF_KUNIT(srn_window_chunk);

static void grow(struct srn_window *w, u32 acked)
{
	u32 doubled = min(w->cwnd + acked, w->ssthresh);
	u32 steps = srn_crowd_steps(&w->crowd, w->cwnd, STEPS);

	/* More is lost than a part of what is out may come to it. */
	if (w->cut && srn_crowd_overdoes(&w->crowd, w->cwnd, w->full))
		steps = min_t(u32, steps, STEPS);
	if (w->cwnd >= w->full)
		steps = srn_crowd_wide_steps(&w->crowd, w->cwnd, w->full, steps);
	if (!steps)
		return;
	if (w->cwnd < w->ssthresh && !srn_crowd_is_stale(&w->crowd)) {
		w->cwnd = doubled;
		return;
	}
	w->credit += acked * steps;
	while (w->credit >= w->cwnd && w->cwnd < w->most) {
		w->credit -= w->cwnd;
		w->cwnd++;
	}
}

/* Beyond what fills a short path only what was used grows (RFC 7661), and where much was lost nothing until what was
 * out then is answered.
 */
static bool may_grow(const struct srn_window *w, u32 used)
{
	if (w->draining || w->cwnd >= w->most)
		return false;
	if (w->cwnd < w->full)
		return true;
	return used >= w->cwnd / 2 && !(w->cut && srn_crowd_lost_much(&w->crowd));
}

/* @used: PSNs that were on their way until @num of them came. */
static void came(struct srn_window *w, u32 num, u32 used)
{
	if (w->draining && srn_window_load(w) <= w->cwnd)
		w->draining = false;
	if (may_grow(w, used))
		grow(w, num);
}

void srn_window_came(struct srn_window *w, u32 num)
{
	came(w, num, srn_window_load(w) + num);
}
EXPORT_SYMBOL_IF_KUNIT(srn_window_came);

/* What is spread does not leave at once; READs are not. */
void srn_window_refilled(struct srn_window *w)
{
	if (!srn_window_is_very_long(w) || srn_window_reads(w))
		settle(w, 0);
}
EXPORT_SYMBOL_IF_KUNIT(srn_window_refilled);

/* Of @num answers. What was lent to a young one was of small packets, and says nothing of long ones. */
static u32 earned(const struct srn_window *w, u32 num)
{
	return w->ssthresh == w->most ? min(num, w->cwnd) : num;
}

void srn_window_acked(struct srn_window *w, u32 psn)
{
	/* What a scoreboard knew of has made it grow by then. */
	if (unlikely(w->cwnd < w->most))
		came(w, w->gone ? 1 : earned(w, srn_psn_diff(psn, w->una)), srn_window_load(w));
	w->una = psn;
	if (unlikely(w->cut) && srn_psn_diff(psn, w->cut_end) >= 0) {
		w->cut = w->draining = w->tail = false;
		/* All of it had to go again. */
		if (srn_psn_diff(psn, w->at.psn) <= 0)
			srn_window_guilty(w);
	}
	while (w->rd_head != w->rd_tail && srn_psn_diff(psn, *rd_last(w, w->rd_head)) > 0)
		w->rd_head++;
	/* The program has nothing more: what it will have is not to leave as one. */
	if (unlikely(w->cwnd > w->full) && psn == w->at.psn) {
		w->gone = 0;
		settle(w, w->full);
	}
}
EXPORT_SYMBOL_IF_KUNIT(srn_window_acked);
