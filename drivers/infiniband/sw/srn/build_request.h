/* SPDX-License-Identifier: GPL-2.0-only */
/* Request packets. */
#ifndef SRN_BUILD_REQUEST_H
#define SRN_BUILD_REQUEST_H

#include <linux/skbuff.h>

#include "verdict.h"

struct srn_plan;
struct srn_qp;
struct srn_wqe;

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

#endif
