/* SPDX-License-Identifier: GPL-2.0-only */
/* Delay points: where a race has a window of nanoseconds, a test makes it milliseconds.
 *
 * A row in fault.c and a line here make a point. Only in kernels for debugging, which have
 * CONFIG_FAULT_INJECTION or CONFIG_PROVE_LOCKING; nothing in others.
 *
 *	echo qp_answered=20 >/sys/module/srn/parameters/delay	# milliseconds; 0: off
 */
#ifndef SRN_FAULT_H
#define SRN_FAULT_H

#include <linux/kconfig.h>

enum srn_delay {
	SRN_DELAY_QP_ANSWERED,	/* create_qp: the program was told, or that failed */
	SRN_DELAY_AWAY,		/* a worker was given a turn and has not looked at it yet */
	SRN_DELAY_CQ_COPIED,	/* resize_cq: the first copy is made, the ring is the old one */
	SRN_DELAY_SRQ_COPIED,	/* modify_srq: likewise */
	SRN_DELAY_OWNED,	/* a turn is in a sleeper's hand */
	SRN_DELAY_POLLER_SLEEPS, /* a poller has looked for long enough, and has not said so yet */
	SRN_DELAY_POLLER_ENDS,	/* it has seen that its context is gone, and has not ended yet */
	SRN_DELAY_NUM
};

#if IS_ENABLED(CONFIG_FAULT_INJECTION) || IS_ENABLED(CONFIG_PROVE_LOCKING)
/** srn_delay() - stay here as long as the module's parameter says; sleeps where that is allowed */
void srn_delay(enum srn_delay point);
#else
static inline void srn_delay(enum srn_delay point) {}
#endif

#endif
