/* SPDX-License-Identifier: GPL-2.0-only */
/* Answers to READs and atomics, the first time and again. Owner of the turn only. */
#ifndef SRN_ANSWER_H
#define SRN_ANSWER_H

#include <linux/types.h>

#include "verdict.h"

struct srn_qp;
struct srn_range;

/* Duplicates: answered again if they are known and (READ) still allowed, else dropped. */
void srn_answer_again_read(struct srn_qp *qp, u32 psn, const struct srn_range *range);
void srn_answer_again_atomic(struct srn_qp *qp, u8 op, u32 psn);

/**
 * srn_answer_send() - answers in PSN order, while @budget lasts
 * @psn: set to that of the response that can't be sent, where the result is not SRN_OK
 *
 * SRN_OK, with answers left if qp->resp.replay.open says so; or a verdict that ends
 * the QP: a READ's memory was taken away before it was answered.
 */
enum srn_verdict srn_answer_send(struct srn_qp *qp, int *budget, u32 *psn);

#endif
