/* SPDX-License-Identifier: GPL-2.0-only */
/* Send queue to packets: which WQE next, may it go, and how far it is. */
#ifndef SRN_REQUESTER_H
#define SRN_REQUESTER_H

#include <linux/types.h>

#include "limits.h"
#include "train.h"

struct srn_qp;

/* A READ asks for at most this many response packets at once: the window of
 * what a responder may send us. A longer READ is several requests on the wire.
 */
#define SRN_READ_CHUNK	64

/* Indices are free-running; una <= nxt <= fetched <= posted. Owner of the turn only. */
struct srn_requester {
	u32 fetched;		/* WQEs copied into the private array */
	u32 nxt;		/* WQE that sends next */
	u32 una;		/* oldest WQE not completed */
	u32 psn;		/* PSN of the next packet */
	u32 max_psn;		/* one after the highest PSN ever sent */
	u32 una_psn;		/* oldest PSN not acknowledged */
	u32 unasked;		/* packets since the last one that asked for an ACK */
	u32 rd_head;		/* READs and atomics in flight: rd_last[rd_head..rd_tail) */
	u32 rd_tail;
	u32 rd_last[SRN_MAX_RD_ATOMIC];	/* the last PSN of each */
	bool rnr_wait;		/* told to wait; the timer ends it */
	bool rewound;		/* went back to una_psn, no progress since */
	bool probing;		/* after a timeout: one packet, then wait for the answer */
	struct srn_train train;
	u8 retries;		/* left before RETRY_EXC */
	u8 rnr_retries;
};

/** srn_requester_reset() - after a flush or a discard: nothing is in flight, nothing waits */
void srn_requester_reset(struct srn_qp *qp);

/** srn_requester_start() - RTR to RTS: first PSN and retry counts are known */
void srn_requester_start(struct srn_qp *qp);

/**
 * srn_requester_run() - fetch posted WQEs and send what window and fences allow
 * @budget: packets left in this round, decremented
 *
 * Return: true if it stopped for the budget.
 */
bool srn_requester_run(struct srn_qp *qp, int *budget);

/**
 * srn_requester_seek() - the next packet to send is that of @psn
 *
 * Back after a NAK or a timeout; forward where the peer acknowledged more than
 * was sent again.
 */
void srn_requester_seek(struct srn_qp *qp, u32 psn);

/** srn_requester_progress() - una_psn moved: forget what was answered, restart the clock */
void srn_requester_progress(struct srn_qp *qp);

/** srn_requester_inflight() - PSNs sent and not acknowledged */
u32 srn_requester_inflight(const struct srn_qp *qp);

/** srn_requester_hush() - no doorbells until the turn, which the caller owns, ends */
void srn_requester_hush(struct srn_qp *qp);

/**
 * srn_requester_idle() - tell the program whether to ring, before the turn ends
 *
 * Return: true if something was posted meanwhile: go on.
 */
bool srn_requester_idle(struct srn_qp *qp);

#endif
