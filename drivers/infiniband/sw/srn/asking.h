/* SPDX-License-Identifier: GPL-2.0-only */
/* Which packets of a requester ask for an ACK, and when it waits for those (Documentation/wire.rst, Requester). */
#ifndef SRN_ASKING_H
#define SRN_ASKING_H

#include <linux/types.h>

struct srn_lazy;
struct srn_plan;
struct srn_qp;
struct srn_wqe;

enum srn_asking {
	SRN_ASKING_NOT,		/* what follows does, or nobody answers */
	SRN_ASKING_ASKS,
	SRN_ASKING_SPARED,	/* nobody waits for an answer (lazy.h) */
	SRN_ASKING_PAUSED,	/* likewise, but to spare that did not pay: it asks */
};

/** srn_asking_asks() - whether packets that are so ask for an ACK */
static inline bool srn_asking_asks(enum srn_asking asking)
{
	return asking == SRN_ASKING_ASKS || asking == SRN_ASKING_PAUSED;
}

/** srn_asking_needs() - whether the planned packets ask, whatever follows them; of RC */
bool srn_asking_needs(const struct srn_qp *qp, const struct srn_plan *plan);

/**
 * srn_asking_of() - whether the planned packets of @wqe, at the cursor, ask for an ACK
 * @follows: what comes next leaves in the same round, and may ask for both
 *
 * Owner of the turn.
 */
enum srn_asking srn_asking_of(const struct srn_qp *qp, const struct srn_wqe *wqe,
			      const struct srn_plan *plan, bool follows);

/**
 * srn_asking_waits_for_room() - a round begins: whether so little may go that it waits for answers on their way
 *
 * What fills the window asks for an answer (srn_asking_needs()). Where each answer lets a few go, these few are
 * answered by themselves in turn: on a wire a burst for the device, an interrupt and a pass of the stack at both
 * ends, for as long as the stream goes on. Who waits until a quarter of the window is free sends that at once, in
 * the manner of tcp_tso_should_defer(); it is waited for however little is posted. If the answers are lost a probe
 * asks. Owner of the turn.
 */
bool srn_asking_waits_for_room(const struct srn_qp *qp);

/** srn_asking_sent() - the planned packets have left, and asked as @asking says; owner of the turn */
void srn_asking_sent(struct srn_lazy *lazy, const struct srn_plan *plan, enum srn_asking asking);

/** srn_asking_end() - a round ends: if what left counts on a follower that did not, it is asked about */
void srn_asking_end(struct srn_qp *qp);

#endif
