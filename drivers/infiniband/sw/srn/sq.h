/* SPDX-License-Identifier: GPL-2.0-only */
/* The send queue from its ring to the private array: what is posted, copied once,
 * flushed, forgotten. What is sent of it the requester decides. Owner of the turn only.
 */
#ifndef SRN_SQ_H
#define SRN_SQ_H

#include <linux/types.h>

struct srn_qp;
struct srn_wqe;

/** srn_sq_wqe() - the private copy at free-running @index; kernel users' posts write it */
struct srn_wqe *srn_sq_wqe(struct srn_qp *qp, u32 index);

/**
 * srn_sq_posted() - how many WQEs were posted
 * @tail: free-running count
 *
 * Return: false if the program wrote nonsense there.
 */
bool srn_sq_posted(struct srn_qp *qp, u32 *tail);

/**
 * srn_sq_fetch() - copy newly posted WQEs, up to @ahead beyond the requester's cursor
 *
 * Return: false if the program's tail was nonsense; the QP is in error then.
 */
bool srn_sq_fetch(struct srn_qp *qp, u32 ahead);

/** srn_sq_flush() - complete all that is posted with FLUSH_ERR */
void srn_sq_flush(struct srn_qp *qp);

/** srn_sq_discard() - forget all that is posted (RESET, destroy) */
void srn_sq_discard(struct srn_qp *qp);

#endif
