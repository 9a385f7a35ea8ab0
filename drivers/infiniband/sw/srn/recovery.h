/* SPDX-License-Identifier: GPL-2.0-only */
/* How what is lost comes again: a parameter of the module, of which each RC connection keeps what
 * it was when the connection began.
 */
#ifndef SRN_RECOVERY_H
#define SRN_RECOVERY_H

#include <linux/types.h>

enum srn_recovery {
	SRN_RECOVERY_GBN,	/* go back N: all from the gap on */
	SRN_RECOVERY_HOLD,	/* what comes early is kept, what is missing sent again; probes */
	SRN_RECOVERY_SACK,	/* and peers that understand it are told of all that is kept */
	SRN_RECOVERIES
};

/** srn_recovery() - what a connection that begins now has; any context */
enum srn_recovery srn_recovery(void);

#endif
