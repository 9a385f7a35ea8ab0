/* SPDX-License-Identifier: GPL-2.0-only */
/* Receive WQEs of a QP, from its own ring or its SRQ, and their completions. At
 * most one is open (struct srn_responder.rwqe): taken and not yet completed.
 * Owner of the turn only.
 */
#ifndef SRN_RQ_H
#define SRN_RQ_H

#include <linux/types.h>
#include <rdma/srn-abi.h>

#include "verdict.h"

struct srn_qp;

/**
 * srn_rq_open() - have a receive WQE open; takes the next one unless one is
 *
 * SRN_OK; SRN_V_RNR: there is none; SRN_V_REM_OP: the WQE is malformed (it is
 * open, to be failed) or the ring's index is (none is open).
 */
enum srn_verdict srn_rq_open(struct srn_qp *qp);

/** srn_rq_cqe() - a receive completion with the fields that all of a QP have in common */
void srn_rq_cqe(const struct srn_qp *qp, struct srn_cqe *cqe);

/** srn_rq_complete() - complete the open WQE with @cqe, filled but for its wr_id */
void srn_rq_complete(struct srn_qp *qp, struct srn_cqe *cqe, bool solicited);

/** srn_rq_fail() - complete the open WQE with the status that @v has */
void srn_rq_fail(struct srn_qp *qp, enum srn_verdict v);

#endif
