/* SPDX-License-Identifier: GPL-2.0-only */
/* Receive WQEs of a QP, from its own ring or its SRQ, and their completions. At
 * most one is open: taken and not yet completed. Owner of the turn only.
 */
#ifndef SRN_RQ_H
#define SRN_RQ_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include <rdma/srn-abi.h>

#include "sgl.h"
#include "verdict.h"
#include "wqe.h"

struct srn_qp;

/* Receive queue; slots in every case, user or kernel. */
struct srn_rq {
	void *slots;
	u32 stride;
	u32 entries;			/* 0 with a SRQ */
	u32 max_wr;
	u32 max_sge;
	spinlock_t lock;		/* kernel users' posts */
	u32 tail;			/* kernel users */
	/* Written by rq.c only. */
	u32 head;			/* WQEs consumed of the own ring */
	bool open;			/* a dropped UC or UD message leaves it to the next */
	bool bad;			/* the last that was taken is malformed */
	bool last_wqe_reached;		/* the event was raised */
	struct srn_rwqe *wqe;		/* the open one */
};

/** srn_rq_reset() - as in RESET: what was posted is forgotten, the poster goes on from here */
void srn_rq_reset(struct srn_qp *qp);

/**
 * srn_rq_open() - have a receive WQE open; takes the next one unless one is
 *
 * SRN_OK; SRN_V_RNR: there is none; SRN_V_REM_OP: the WQE is malformed (it is
 * open, to be failed, if it is not a SRQ's; and stays what it is) or the ring's index is
 * (none is open).
 */
enum srn_verdict srn_rq_open(struct srn_qp *qp);

/**
 * srn_rq_syndrome() - the syndrome of an ACK: how many messages find a receive WQE
 *
 * The open one is the next message's. A SRQ's are anybody's: no credits are given of them.
 */
u8 srn_rq_syndrome(const struct srn_qp *qp);

/** srn_rq_is_empty() - whether there is no WQE; of a SRQ others may take the last at any time */
bool srn_rq_is_empty(const struct srn_qp *qp);

/**
 * srn_rq_sgl() - the scatter list of the open WQE
 *
 * A SRQ's PD governs its WQEs, whatever the PD of the QP is (10.2.9).
 */
struct srn_sgl srn_rq_sgl(const struct srn_qp *qp);

/** srn_rq_cqe() - a receive completion with the fields that all of a QP have in common */
void srn_rq_cqe(const struct srn_qp *qp, struct srn_cqe *cqe);

/** srn_rq_complete() - complete the open WQE with @cqe, filled but for its wr_id */
void srn_rq_complete(struct srn_qp *qp, struct srn_cqe *cqe, bool solicited);

/** srn_rq_fail() - complete the open WQE with the status that @v has */
void srn_rq_fail(struct srn_qp *qp, enum srn_verdict v);

/**
 * srn_rq_flush() - error state: complete receive WQEs with FLUSH_ERR
 * @budget: WQEs left in this round, decremented
 *
 * Return: true if some are left.
 */
bool srn_rq_flush(struct srn_qp *qp, int *budget);

#endif
