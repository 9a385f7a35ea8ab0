/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether the program rings for what it posts. It need not where answers bring us back soon, while
 * somebody is on the way, or while it gathers more.
 */
#ifndef SRN_BELL_H
#define SRN_BELL_H

#include <linux/types.h>

#include "gather.h"

struct srn_qp;

/* Owner of the turn only, but for what is the poller's. Few bytes: struct srn_qp has no more. */
struct srn_bell {
	struct srn_gather gather;
	u32 quiet_una : 24;	/* oldest PSN not acknowledged when the alarm was set */
	u32 rings : 1;		/* the program was told to ring for each post; a poller looks, too */
	u32 away : 1;		/* hushed until a worker comes */
	u32 quiet : 1;		/* the alarm came; without an answer since it was set: rings */
	u32 polled;		/* WQEs posted when a poller came last; the poller only */
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

/**
 * srn_bell_send() - what was left begins to be sent, and no alarm is to end that
 *
 * It may take many rounds, in which the program has nothing more to post: an alarm would find that it waited.
 */
void srn_bell_send(struct srn_qp *qp);

/**
 * srn_bell_is_due() - whether the program would have rung, if it had no poller; its poller only
 *
 * Not where nobody is to ring, nor twice for the same posts: those may have to wait for something. The
 * program may write to its page what it likes, and may so keep its own thread awake.
 */
bool srn_bell_is_due(struct srn_qp *qp);

/** srn_bell_heed() - what is posted is served now; the poller only, before it takes the turn */
void srn_bell_heed(struct srn_qp *qp);

/** srn_bell_forget() - it was not served, for another has the turn: the next look finds it again */
void srn_bell_forget(struct srn_qp *qp);

/** srn_bell_listen() - posts come with a doorbell, but for those that can be seen now */
void srn_bell_listen(struct srn_qp *qp);

/**
 * srn_bell_idle() - tell the program whether to ring, before the turn ends
 *
 * Return: true if something was posted meanwhile: go on.
 */
bool srn_bell_idle(struct srn_qp *qp);

#endif
