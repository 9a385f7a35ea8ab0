/* SPDX-License-Identifier: GPL-2.0-only */
/* Send queue to packets: which WQE next, and send it. */
#ifndef SRN_REQUESTER_H
#define SRN_REQUESTER_H

#include <linux/types.h>

#include "bell.h"
#include "lazy.h"
#include "pack.h"
#include "train.h"

struct srn_qp;

/* Owner of the turn only. */
struct srn_requester {
	struct srn_train train;
	struct srn_pack pack;	/* what it has goes behind the train */
	u16 pack_most;		/* srn_run_messages(), as it was in this round; 0: not asked */
	u8 psns;		/* of the WQE that was started last, or U8_MAX for more; 0: none was */
	struct srn_lazy lazy;
	struct srn_bell bell;
};

/**
 * srn_requester_alloc() - @num READs and atomics may be in flight, at least
 *
 * What there was room for stays: as many may be in flight now. May sleep. Return: 0 or -ENOMEM.
 */
int srn_requester_alloc(struct srn_qp *qp, u32 num);

/** srn_requester_free() - nothing is sent any more */
void srn_requester_free(struct srn_qp *qp);

/** srn_requester_reset() - after a flush or a discard: nothing is in flight, nothing waits */
void srn_requester_reset(struct srn_qp *qp);

/** srn_requester_start() - RTR to RTS: first PSN and retry counts are known */
void srn_requester_start(struct srn_qp *qp);

/**
 * srn_requester_run() - fetch posted WQEs and send what may go
 * @budget: packets left in this round, decremented
 *
 * When all that may go has left, the wait for the peer begins, if none has (retry.h).
 *
 * Return: true if it stopped for the budget, and is to be called again.
 */
bool srn_requester_run(struct srn_qp *qp, int *budget);

#endif
