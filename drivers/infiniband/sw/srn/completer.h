/* SPDX-License-Identifier: GPL-2.0-only */
/* ACKs and responses to completions. */
#ifndef SRN_COMPLETER_H
#define SRN_COMPLETER_H

#include <linux/skbuff.h>

#include "verdict.h"

struct srn_qp;
struct srn_wqe;

/** srn_completer_rx() - a response for this QP; consumes @skb */
void srn_completer_rx(struct srn_qp *qp, struct sk_buff *skb);

/** srn_completer_retire() - complete, in order, what is done at the head of the SQ */
void srn_completer_retire(struct srn_qp *qp);

/**
 * srn_completer_fail() - the WQE at the head of the SQ failed: complete it so and
 * put the QP (or, for UC and UD, its SQ) into the error state
 */
void srn_completer_fail(struct srn_qp *qp, struct srn_wqe *wqe, enum srn_verdict v);

#endif
