/* SPDX-License-Identifier: GPL-2.0-only */
/* UD and GSI messages. */
#ifndef SRN_UD_H
#define SRN_UD_H

struct sk_buff;
struct srn_qp;

/** srn_ud_rx() - a UD (or GSI) message for this QP; consumes @skb. Owner of the turn only. */
void srn_ud_rx(struct srn_qp *qp, struct sk_buff *skb);

#endif
