/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether the program rings for what it posts. It need not where answers bring us back soon, while
 * somebody is on the way, or while it gathers more.
 */
#ifndef SRN_BELL_H
#define SRN_BELL_H

#include <linux/types.h>

#include "gather.h"

struct srn_qp;

/* Owner of the turn only. */
struct srn_bell {
	struct srn_gather gather;
	bool rings;		/* the program was told to ring for each post */
	bool away;		/* hushed until a worker comes */
	bool quiet;		/* the alarm came; without an answer since it was set: rings */
	u32 quiet_una;		/* oldest PSN not acknowledged when it was set */
};

/** srn_bell_reset() - nothing is waited for; in RESET each post rings */
void srn_bell_reset(struct srn_qp *qp);

/**
 * srn_bell_alarm() - alarms came
 * @due: BIT(alarm) of each that is due
 *
 * Return: @due, but for SRN_ALARM_GATHER if posts are left for longer.
 */
unsigned int srn_bell_alarm(struct srn_qp *qp, unsigned int due);

/**
 * srn_bell_hush() - no doorbells until the turn, which the caller owns, ends
 *
 * For a turn that is about to be sent away; an alarm looks whether it was begun.
 */
void srn_bell_hush(struct srn_qp *qp);

/**
 * srn_bell_gather() - no doorbells for a moment, and what was posted waits with the rest
 *
 * For a program that has more to post first. It rings when it has not (see srn-abi.h), or an
 * alarm comes.
 *
 * Return: false if what was posted is to go now.
 */
bool srn_bell_gather(struct srn_qp *qp);

/** srn_bell_listen() - posts come with a doorbell, but for those that can be seen now */
void srn_bell_listen(struct srn_qp *qp);

/**
 * srn_bell_idle() - tell the program whether to ring, before the turn ends
 *
 * Return: true if something was posted meanwhile: go on.
 */
bool srn_bell_idle(struct srn_qp *qp);

#endif
