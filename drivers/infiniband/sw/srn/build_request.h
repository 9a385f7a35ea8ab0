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
 * srn_build_request() - the packet that @plan describes, ready for srn_xmit()
 * @qp: QP, its turn owned
 * @wqe: started WQE that the plan was made of
 * @plan: from srn_segment()
 * @flags: SRN_BUILD_*
 * @skb: set on SRN_OK
 *
 * Payload of RC requests is referenced, that of others, short payload, and what is
 * sent again is copied. SRN_OK, SRN_V_AGAIN without memory, or the verdict on an SGE.
 */
enum srn_verdict srn_build_request(struct srn_qp *qp, struct srn_wqe *wqe,
				   const struct srn_plan *plan, unsigned int flags,
				   struct sk_buff **skb);

#endif
