/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory for the host where it is short of it: what came early is let go of (hold.h), and comes
 * again. Nothing is taken from a QP: whoever looks for memory asks the QPs that hold something, and
 * each lets go in its own turn.
 */
#ifndef SRN_SHED_H
#define SRN_SHED_H

struct srn_qp;

/** srn_shed_ask() - ask QPs for @pages; any context but interrupts. Returns how many it asked for */
unsigned long srn_shed_ask(unsigned long pages);

/**
 * srn_shed_run() - let go of as much as was asked for; owner of the turn
 *
 * In the round that SRN_TURN_SHED led to, behind what has come to its turn.
 */
void srn_shed_run(struct srn_qp *qp);

/** srn_shed_setup() - the host may ask from now on; may sleep. Return: 0 or -ENOMEM */
int srn_shed_setup(void);

/** srn_shed_teardown() - and not any more; may sleep. Turns can still be left to the NAPIs */
void srn_shed_teardown(void);

#endif
