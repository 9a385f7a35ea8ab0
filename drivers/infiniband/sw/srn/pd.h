/* SPDX-License-Identifier: GPL-2.0-only */
/* A protection domain: whose memory is whose, and what its connections know together. */
#ifndef SRN_PD_H
#define SRN_PD_H

#include <rdma/ib_verbs.h>

#include "known.h"

struct srn_pd {
	struct ib_pd ibpd;
	struct srn_known known;
};

static inline struct srn_pd *to_srn_pd(struct ib_pd *pd)
{
	return container_of(pd, struct srn_pd, ibpd);
}

#endif
