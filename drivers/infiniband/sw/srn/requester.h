/* SPDX-License-Identifier: GPL-2.0-only */
/* Send queue to packets: which WQE next, and send it. */
#ifndef SRN_REQUESTER_H
#define SRN_REQUESTER_H

#include <linux/types.h>

#include "gather.h"
#include "pack.h"
#include "train.h"

struct srn_qp;

/* Owner of the turn only. */
struct srn_requester {
	struct srn_train train;
	struct srn_pack pack;	/* what it has goes behind the train */
	u32 pack_most;		/* srn_run_messages(), as it was in this round; 0: not asked */
	struct srn_gather gather;
	bool bulky;		/* the WQE that was started last is more than a packet */
	bool rings;		/* the program was told to ring for each post */
	bool away;		/* hushed until a worker comes */
	bool quiet;		/* the alarm came; without an answer since it was set: rings */
	u32 quiet_una;		/* oldest PSN not acknowledged when it was set */
};

/** srn_requester_reset() - after a flush or a discard: nothing is in flight, nothing waits */
void srn_requester_reset(struct srn_qp *qp);

/** srn_requester_start() - RTR to RTS: first PSN and retry counts are known */
void srn_requester_start(struct srn_qp *qp);

/**
 * srn_requester_run() - fetch posted WQEs and send what may go
 * @budget: packets left in this round, decremented
 *
 * Return: true if it stopped for the budget.
 */
bool srn_requester_run(struct srn_qp *qp, int *budget);

/** srn_requester_alarm() - @due: BIT(alarm) of what was waited for and is due */
void srn_requester_alarm(struct srn_qp *qp, unsigned int due);

/**
 * srn_requester_hush() - no doorbells until the turn, which the caller owns, ends
 *
 * For a turn that is about to be sent away; an alarm looks whether it was begun.
 */
void srn_requester_hush(struct srn_qp *qp);

/**
 * srn_requester_gather() - no doorbells for a moment, and what was posted waits with the rest
 *
 * For a program that has more to post first. It rings when it has not (see srn-abi.h), or an
 * alarm comes.
 *
 * Return: false if what was posted is to go now.
 */
bool srn_requester_gather(struct srn_qp *qp);

/** srn_requester_listen() - posts come with a doorbell, but for those that can be seen now */
void srn_requester_listen(struct srn_qp *qp);

/**
 * srn_requester_idle() - tell the program whether to ring, before the turn ends
 *
 * Return: true if something was posted meanwhile: go on.
 */
bool srn_requester_idle(struct srn_qp *qp);

#endif
