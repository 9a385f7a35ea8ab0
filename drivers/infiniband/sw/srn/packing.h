/* SPDX-License-Identifier: GPL-2.0-only */
/* The pack that the requester makes (pack.h is what a pack is): which of the messages that follow each
 * other it takes, when it leaves, and what its room lends the window. Owner of the turn only.
 */
#ifndef SRN_PACKING_H
#define SRN_PACKING_H

#include <linux/types.h>

#include "verdict.h"

struct srn_plan;
struct srn_qp;
struct srn_wqe;

/** srn_packing_takes() - whether the pack that waits, if one does, takes the planned packet */
bool srn_packing_takes(const struct srn_qp *qp, const struct srn_wqe *wqe,
		       const struct srn_plan *plan);

/**
 * srn_packing_build() - put the planned packet into the pack that waits, or begin one with it
 * @flags: SRN_BUILD_*
 * @follows: the next packet goes in this round, too
 *
 * A pack that does not take it leaves.
 *
 * Return: 0; SRN_V_AGAIN: it is to go by itself, or there is no memory for one; or why it can't go.
 */
enum srn_verdict srn_packing_build(struct srn_qp *qp, struct srn_wqe *wqe,
				   const struct srn_plan *plan, unsigned int flags, bool follows);

/**
 * srn_packing_strands_next() - whether behind a packet that the pack takes the next is out of reach
 * @opcode: of the packet, and of the next: messages that follow each other mostly have the same
 * @len: bytes of the packet's payload
 *
 * It is beyond the window, and the pack has no room for it.
 */
bool srn_packing_strands_next(const struct srn_qp *qp, u8 opcode, u32 len);

/**
 * srn_packing_go_on() - put plain WRITEs that follow each other into the pack that waits; one does
 * @budget: packets left in this round, decremented
 *
 * What a list mostly is, as it would go step by step. The last of them, and each that asks for an ACK,
 * is left to who looks at everything.
 */
void srn_packing_go_on(struct srn_qp *qp, int *budget);

/** srn_packing_leave() - the pack leaves, if there is one, behind the train; it lends nothing any more */
void srn_packing_leave(struct srn_qp *qp);

#endif
