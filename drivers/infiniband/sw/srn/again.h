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

/**
 * srn_again_ask_bare() - ask what the peer has without the bytes of what is in flight
 * @psn: of a request in flight that can't be made again
 *
 * Of a request without a completion the program may have seen the effect, and given up the bytes since. So the
 * peer is asked by a WRITE of none that comes a second time: the ACK of that tells what it has (C9-105). It
 * leaves at once; without memory it is lost. Return: false if the request is one that the program waits for, or if
 * the PSN in front of all that is in flight is none that a WRITE may have (hello.h).
 */
bool srn_again_ask_bare(struct srn_qp *qp, u32 psn);

/** srn_again_run() - what qp->resend names, on a QP that may send; takes of @budget, packets */
void srn_again_run(struct srn_qp *qp, int *budget);

#endif
