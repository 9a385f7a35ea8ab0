/* SPDX-License-Identifier: GPL-2.0-only */
/* Transport services: one const row per QP type. */
#ifndef SRN_SERVICE_H
#define SRN_SERVICE_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>

/**
 * struct srn_service - what sets the QPs of one type apart
 * @code: upper three bits of its BTH opcodes (enum srn_svc)
 * @connected: one peer, whose path, MTU and PSNs are the QP's. Else each WQE names its
 *	peer, and a message is one packet of the port's MTU.
 * @reliable: the peer answers. What is sent has a window and is sent again, READs and
 *	atomics are there, refusals draw a NAK. Else a WQE is done when it has left.
 * @paced: what it sends waits for room in this host's queues, as no window bounds it. Not
 *	QP1: it sends little, and nobody connects without it.
 * @is_gsi: QP1, the one that the communication managers talk through
 * @takes: SRN_WR_UC or SRN_WR_UD: a WR opcode must have it; 0 takes all
 */
struct srn_service {
	u8 code;
	bool connected;
	bool reliable;
	bool paced;
	bool is_gsi;
	u16 takes;
};

/** srn_service_of() - the row of a QP type; NULL for what is not supported */
const struct srn_service *srn_service_of(enum ib_qp_type type);

#endif
