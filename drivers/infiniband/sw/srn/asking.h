/* SPDX-License-Identifier: GPL-2.0-only */
/* Which packets of a requester ask for an ACK (Documentation/wire.rst, Requester). */
#ifndef SRN_ASKING_H
#define SRN_ASKING_H

#include <linux/types.h>

struct srn_plan;
struct srn_qp;
struct srn_wqe;

/** srn_asking_needs() - whether the planned packets ask, whatever follows them; of RC */
bool srn_asking_needs(const struct srn_qp *qp, const struct srn_plan *plan);

/**
 * srn_asking_wants() - whether the planned packets of @wqe, at the cursor, ask for an ACK
 * @follows: what comes next leaves in the same round, and may ask for both
 *
 * Owner of the turn. A request that nobody waits for may be spared it, which is noted (lazy.h).
 */
bool srn_asking_wants(struct srn_qp *qp, const struct srn_wqe *wqe, const struct srn_plan *plan,
		      bool follows);

/** srn_asking_end() - a round ends: if what left counts on a follower that did not, it is asked about */
void srn_asking_end(struct srn_qp *qp);

#endif
