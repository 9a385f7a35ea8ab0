/* SPDX-License-Identifier: GPL-2.0-only */
/* What a requester sends again beside its cursor, which goes on meanwhile: for a peer that keeps
 * what comes early, the packet that is missing; for one that turns out not to, more and more of
 * what follows it, and in the end all, as the standard has it. And what it asks for again of a
 * READ's answer. Pure: PSNs in, PSNs out.
 */
#ifndef SRN_RESEND_H
#define SRN_RESEND_H

#include <linux/types.h>

#include "psn.h"

/* Owner of the turn only. */
struct srn_resend {
	u32 psn;		/* goes next, */
	u32 left;		/* of so many packets */
	u32 run;		/* packets for one gap */
	u32 end;		/* behind the last run */
	u32 flight;		/* behind what was in flight then */
	bool judging;		/* the next gap says what became of that run */
	u8 patience;		/* gaps for which all is sent again before a run is tried again */
	bool ask;		/* ask for answers again, from ask_psn on */
	bool asked;		/* that was done, for [asked_psn, asked_end) */
	bool probe;		/* one packet, to hear something */
	u32 ask_psn;
	u32 asked_psn;
	u32 asked_end;
};

/** srn_resend_start() - a new connection: nobody knows what the peer keeps */
void srn_resend_start(struct srn_resend *r);

/** srn_resend_stop() - the cursor goes back, or nothing is in flight: nothing goes beside it */
void srn_resend_stop(struct srn_resend *r);

/**
 * srn_resend_gap() - the peer misses @psn, the oldest of @inflight PSNs; it is not the gap
 * that it named last
 *
 * Return: false if all is to be sent again.
 */
bool srn_resend_gap(struct srn_resend *r, u32 psn, u32 inflight);

/** srn_resend_gap_again() - it still misses @psn; returns as srn_resend_gap() */
bool srn_resend_gap_again(struct srn_resend *r, u32 psn, u32 inflight);

/** srn_resend_jumped() - the peer has more than was sent since the cursor went back: it keeps */
void srn_resend_jumped(struct srn_resend *r);

/** srn_resend_acked() - everything before @una was answered */
void srn_resend_acked(struct srn_resend *r, u32 una);

/**
 * srn_resend_is_stalled() - whether an ACK of everything before @una, which srn_resend_acked()
 * was told of, is of just what was sent again, though more had been in flight
 *
 * That was dropped, and a peer that has nothing more to wait for does not say so: @una is a gap.
 */
static inline bool srn_resend_is_stalled(const struct srn_resend *r, u32 una)
{
	return r->judging && !r->left && una == r->end && srn_psn_diff(una, r->flight) < 0;
}

/**
 * srn_resend_ask() - the answer with @psn is missing, and a later one is here
 *
 * Once for each: what is asked for includes all that follows it.
 * Return: false if it was asked for.
 */
bool srn_resend_ask(struct srn_resend *r, u32 psn);

/** srn_resend_ask_again() - what was asked for came without @psn */
static inline void srn_resend_ask_again(struct srn_resend *r, u32 psn)
{
	r->asked = false;
	srn_resend_ask(r, psn);
}

/** srn_resend_probe() - it has been quiet for too long */
static inline void srn_resend_probe(struct srn_resend *r)
{
	r->probe = true;
}

/** srn_resend_any() - whether anything goes beside the cursor */
static inline bool srn_resend_any(const struct srn_resend *r)
{
	return r->left || r->ask || r->probe;
}

/** srn_resend_sent() - a packet that stands for @npsn PSNs from r->psn on was sent again */
void srn_resend_sent(struct srn_resend *r, u32 npsn);

/** srn_resend_asked() - answers from @psn up to @end, exclusive, were asked for again */
void srn_resend_asked(struct srn_resend *r, u32 psn, u32 end);

#endif
