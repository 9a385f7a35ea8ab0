/* SPDX-License-Identifier: GPL-2.0-only */
/* What a connection that has nothing out leaves to the one that goes on in its place, on the same path. */
#ifndef SRN_LEGACY_H
#define SRN_LEGACY_H

#include <linux/types.h>

#include "crowd.h"

struct srn_legacy {
	u16 cwnd;		/* as in a window; 0: nobody has left any */
	u16 ssthresh;
	bool many;		/* likewise */
	struct srn_crowd crowd;	/* what is known of the path */
};

#endif
