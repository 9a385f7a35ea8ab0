/* SPDX-License-Identifier: GPL-2.0-only */
/* Request packets a second time, without the cursor: of what is lost, or to hear something. */
#ifndef SRN_AGAIN_H
#define SRN_AGAIN_H

#include <linux/types.h>

struct srn_qp;

/**
 * srn_again_ask() - the packet with @psn once more, asking for an ACK, behind what left before
 * @psn: of what is in flight
 *
 * Return: false if it cannot be made.
 */
bool srn_again_ask(struct srn_qp *qp, u32 psn);

/** srn_again_run() - what qp->resend names, on a QP that may send; takes of @budget, packets */
void srn_again_run(struct srn_qp *qp, int *budget);

#endif
