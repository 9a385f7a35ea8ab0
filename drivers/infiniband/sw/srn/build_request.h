/* SPDX-License-Identifier: GPL-2.0-only */
/* Request packets. */
#ifndef SRN_BUILD_REQUEST_H
#define SRN_BUILD_REQUEST_H

#include <linux/skbuff.h>

#include "build.h"
#include "verdict.h"
#include "wqe.h"

struct srn_mem;
struct srn_pack;
struct srn_plan;
struct srn_qp;

/**
 * srn_build_references() - whether the packet's payload may go as references to its pages
 *
 * Only what may go so becomes a run.
 */
bool srn_build_references(const struct srn_qp *qp, const struct srn_wqe *wqe,
			  const struct srn_plan *plan);

/**
 * srn_build_request() - what @plan describes, ready for srn_xmit() or srn_run_xmit()
 * @qp: QP, its turn owned
 * @wqe: started WQE that the plan was made of
 * @plan: from srn_segment() or srn_segment_run()
 * @flags: SRN_BUILD_*
 * @skb: set on SRN_OK
 *
 * Payload of RC requests is referenced, that of others, short payload, and what is
 * sent again is copied. SRN_OK, SRN_V_AGAIN without memory, or where a run has too many pieces,
 * or the verdict on an SGE.
 */
enum srn_verdict srn_build_request(struct srn_qp *qp, struct srn_wqe *wqe,
				   const struct srn_plan *plan, unsigned int flags,
				   struct sk_buff **skb);

/** srn_build_copies() - whether all of a request's payload is copied, though it goes for the first time */
static inline bool srn_build_copies(const struct srn_wqe *wqe)
{
	return wqe->flags & IB_SEND_INLINE || wqe->length < SRN_REF_MIN;
}

/** srn_build_packs() - whether it is a small message that goes for the first time: one for packs */
bool srn_build_packs(const struct srn_qp *qp, const struct srn_wqe *wqe,
		     const struct srn_plan *plan);

/**
 * srn_build_pack() - begin a pack with such a message
 * @most: messages that it may have, 2 at least: srn_run_messages()
 * @pack: none; begun on SRN_OK
 *
 * Like what follows with room for as many as wait. Else as srn_build_request().
 */
enum srn_verdict srn_build_pack(struct srn_qp *qp, struct srn_wqe *wqe,
				const struct srn_plan *plan, unsigned int flags, u32 most,
				struct srn_pack *pack);

/**
 * srn_build_packed() - add such a message to a pack that has room
 *
 * The pack is as it was, but on SRN_OK. Never SRN_V_AGAIN: all of it is copied to where there is room.
 */
enum srn_verdict srn_build_packed(struct srn_qp *qp, struct srn_wqe *wqe,
				  const struct srn_plan *plan, unsigned int flags,
				  struct srn_pack *pack);

/**
 * srn_build_write() - the same for a WRITE that is one packet, copied, and asks for nothing
 * @held: as srn_mem_hold_local() has it: what the last one was read from
 *
 * SRN_V_AGAIN where the pack has no room for it.
 */
enum srn_verdict srn_build_write(struct srn_qp *qp, struct srn_wqe *wqe, struct srn_pack *pack,
				 struct srn_mem **held);

#endif
