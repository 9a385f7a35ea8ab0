/* SPDX-License-Identifier: GPL-2.0-only */
/* Enhanced connection establishment (IBTA volume 1, 12.6: vendor and options of REQ and REP): what two ends say
 * of themselves while they connect, so that no packet is needed for it. rdma_cm carries it; to who connects
 * without one a hello says the same (hello.h).
 */
#ifndef SRN_ECE_H
#define SRN_ECE_H

#include <linux/types.h>

struct srn_qp;

/**
 * srn_ece_offer() - what a QP that is made now has for its peer, by the parameters of the module
 *
 * Any context. Return: SRN_ECE_* without a number, which the QP keeps; 0 for nothing.
 */
u8 srn_ece_offer(const struct srn_qp *qp);

/**
 * srn_ece_both() - what both ends have, where the QP numbered @peer is said to have @options
 *
 * Options of another QP say nothing: there are programs that tell a QP its own (UCX 1.22). Without SACK
 * nothing else counts. Any context. Return: SRN_ECE_* without a number.
 */
u8 srn_ece_both(const struct srn_qp *qp, u32 options, u32 peer);

/**
 * srn_ece_begin() - INIT to RTR: the mode of a connection whose ends both have @both, and nobody knows the peer
 *
 * What was offered is kept, whatever the parameters have become: the peer counts on it. Owner of the turn.
 */
void srn_ece_begin(struct srn_qp *qp, u8 both);

/** srn_ece_meet() - behind all else that this change starts: the peer has that, too. Owner of the turn. */
void srn_ece_meet(struct srn_qp *qp, u8 both);

#endif
