/* SPDX-License-Identifier: GPL-2.0-only */
/* ACKs and responses to completions. */
#ifndef SRN_COMPLETER_H
#define SRN_COMPLETER_H

#include <linux/skbuff.h>
#include <linux/types.h>

struct srn_qp;

/** srn_completer_takes_run() - whether srn_completer_rx() may be given a run; else its packets */
bool srn_completer_takes_run(struct srn_qp *qp, struct sk_buff *skb);

/** srn_completer_rx() - a response for this QP; consumes @skb */
void srn_completer_rx(struct srn_qp *qp, struct sk_buff *skb);

#endif
