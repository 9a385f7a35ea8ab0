// SPDX-License-Identifier: GPL-2.0-only
/* PSNs in flight. */
#include "window.h"

#include <kunit/visibility.h>
#include <linux/compiler.h>
#include <linux/export.h>
#include <linux/limits.h>
#include <linux/minmax.h>

/* A gap is no proof of a full queue: a quarter less, and not below what a link that
 * loses a packet now and then needs. Silence is nearly one.
 */
#define GAP_FLOOR	16
#define FLOOR		2
/* What a connection begins with, of the full window: a program may open hundreds at once. */
#define BEGIN		4
/* Above ssthresh: steps for each window that was answered. */
#define STEPS		4
/* A READ asks for at most this many response packets at once, unless few READs may be
 * in flight: the window of what a responder may send us. A longer one is several
 * requests on the wire.
 */
#define CHUNK		64
/* And after a loss for few; but a long READ keeps what it began with. */
#define FEW		8
/* Where what is lost is asked for by itself, as many as one ACK is asked for of other requests. More
 * at once would be a burst for each; with less more requests are lost, of which each keeps all behind
 * it waiting.
 */
#define CHUNK_PARTS	32

void srn_window_start(struct srn_window *w, u32 psn, u32 mtu)
{
	w->una = psn;
	w->end = psn;
	w->at.psn = psn;
	w->full = min_t(u32, SRN_WINDOW, SRN_WINDOW_BYTES / mtu);
	w->cwnd = w->full / BEGIN;
	w->ssthresh = w->full;
	w->gone = 0;
	w->came = 0;
	w->reach = SRN_PSN_MASK / 2;
	w->credit = 0;
	w->cut = false;
	w->timed = false;
	w->doubt = 0;
	w->least_ns = U64_MAX;
}
EXPORT_SYMBOL_IF_KUNIT(srn_window_start);

void srn_window_reset(struct srn_window *w, u32 index)
{
	srn_window_seek(w, (struct srn_cursor){ .index = index, .psn = w->una });
}

bool srn_window_sent(struct srn_window *w, u32 npsn, bool asked, bool read)
{
	bool again = srn_psn_diff(w->at.psn, w->end) < 0;

	w->at.psn = srn_psn_add(w->at.psn, npsn);
	if (srn_psn_diff(w->at.psn, w->end) > 0)
		w->end = w->at.psn;
	w->doubt -= min(w->doubt, npsn);
	w->unasked = asked ? 0 : w->unasked + npsn;
	if (read)
		w->rd_last[w->rd_tail++ % SRN_MAX_RD_ATOMIC] = srn_psn_add(w->at.psn, -1);
	return again;
}
EXPORT_SYMBOL_IF_KUNIT(srn_window_sent);

void srn_window_seek(struct srn_window *w, struct srn_cursor to)
{
	w->at = to;
	w->unasked = 0;
	w->timed = false;	/* of two packets with one PSN nobody knows which was answered */
	/* What is asked again is in flight when it is sent again. */
	w->rd_head = w->rd_tail;
}
EXPORT_SYMBOL_IF_KUNIT(srn_window_seek);

static void cut_to(struct srn_window *w, u32 cwnd)
{
	w->cwnd = cwnd;
	w->credit = 0;
	w->cut = true;
	w->cut_end = w->end;
}

/* Once for all that is out: what comes of the same queue says nothing new. */
static void shrink(struct srn_window *w, u32 cwnd)
{
	if (w->cut)
		return;
	w->ssthresh = cwnd;
	cut_to(w, cwnd);
}

void srn_window_lost(struct srn_window *w)
{
	w->doubt = SRN_RUN_DOUBT;
	shrink(w, max_t(u32, w->cwnd - w->cwnd / 4, min_t(u32, w->cwnd, GAP_FLOOR)));
}
EXPORT_SYMBOL_IF_KUNIT(srn_window_lost);

u64 srn_window_delay(struct srn_window *w, u64 now_ns)
{
	u64 took = now_ns - w->timed_ns;

	w->timed = false;
	w->least_ns = min(w->least_ns, took);
	return took - w->least_ns;
}
EXPORT_SYMBOL_IF_KUNIT(srn_window_delay);

void srn_window_late(struct srn_window *w)
{
	shrink(w, max_t(u32, w->cwnd / 2, FLOOR));
}
EXPORT_SYMBOL_IF_KUNIT(srn_window_late);

void srn_window_collapsed(struct srn_window *w)
{
	w->doubt = SRN_RUN_DOUBT;
	w->ssthresh = max_t(u32, w->cwnd / 2, FLOOR);
	cut_to(w, FLOOR);
}
EXPORT_SYMBOL_IF_KUNIT(srn_window_collapsed);

/* After a loss. */
static u32 chunk_of_parts(const struct srn_window *w, u32 reads)
{
	u32 chunk = clamp_t(u32, w->cwnd, FEW, CHUNK_PARTS);

	return max_t(u32, chunk, w->cwnd / max_t(u32, reads, 1));
}

u32 srn_window_chunk(const struct srn_window *w, u32 reads, bool parts)
{
	if (parts && w->ssthresh < w->full)
		return chunk_of_parts(w, reads);
	/* Two requests, so that the second waits at the peer when the first is answered. */
	if (w->cwnd < 2 * CHUNK && w->ssthresh < w->full)
		return max_t(u32, w->cwnd / 2, FEW);
	return max_t(u32, CHUNK, w->full / max_t(u32, reads, 1));
}
EXPORT_SYMBOL_IF_KUNIT(srn_window_chunk);

static void grow(struct srn_window *w, u32 acked)
{
	u32 doubled = min(w->cwnd + acked, w->ssthresh);

	if (w->cwnd < w->ssthresh) {
		w->cwnd = doubled;
		return;
	}
	w->credit += acked * STEPS;
	while (w->credit >= w->cwnd && w->cwnd < w->full) {
		w->credit -= w->cwnd;
		w->cwnd++;
	}
}

void srn_window_acked(struct srn_window *w, u32 psn)
{
	if (unlikely(w->cwnd < w->full))
		grow(w, srn_psn_diff(psn, w->una));
	w->una = psn;
	if (unlikely(w->cut) && srn_psn_diff(psn, w->cut_end) >= 0)
		w->cut = false;
	while (w->rd_head != w->rd_tail &&
	       srn_psn_diff(psn, w->rd_last[w->rd_head % SRN_MAX_RD_ATOMIC]) > 0)
		w->rd_head++;
}
EXPORT_SYMBOL_IF_KUNIT(srn_window_acked);
