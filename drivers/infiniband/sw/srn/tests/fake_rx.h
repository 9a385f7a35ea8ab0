/* SPDX-License-Identifier: GPL-2.0-only */
/* Packets given to one side of a QP past its round, as the round gives them: BH disabled. */
#ifndef SRN_TESTS_FAKE_RX_H
#define SRN_TESTS_FAKE_RX_H

#include "../completer.h"
#include "../responder.h"

#include <linux/bottom_half.h>

static inline void rx_answer(struct srn_qp *qp, struct sk_buff *skb)
{
	local_bh_disable();
	srn_completer_rx(qp, skb);
	local_bh_enable();
}

static inline bool rx_request(struct srn_qp *qp, struct sk_buff *skb)
{
	bool taken;

	local_bh_disable();
	taken = srn_responder_rx(qp, skb);
	local_bh_enable();
	return taken;
}

static inline bool rx_pack(struct srn_qp *qp, struct sk_buff *skb)
{
	bool taken;

	local_bh_disable();
	taken = srn_responder_rx_pack(qp, skb);
	local_bh_enable();
	return taken;
}

#endif
