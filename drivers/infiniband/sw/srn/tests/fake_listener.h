/* SPDX-License-Identifier: GPL-2.0-only */
/* A QP that hears by SACKs what its peer has. */
#ifndef SRN_TESTS_FAKE_LISTENER_H
#define SRN_TESTS_FAKE_LISTENER_H

#include "../lost.h"
#include "fake_round.h"
#include "fake_sack.h"

#include <kunit/test.h>

#define MTU	1024
#define RTT_NS	(100 * NSEC_PER_MSEC)

#define OUT	100
#define FEW	16

/* Its turn is the test's, and its peer understands SACKs. */
static inline struct srn_qp *new_qp(struct kunit *test)
{
	struct srn_qp *qp = &new_owner(test)->qp;

	qp->state = IB_QPS_RTS;
	qp->mtu = MTU;
	qp->recovery = SRN_RECOVERY_SACK;
	qp->peer.sacks = true;
	give_clock(test, qp);
	know_path(qp);
	qp->rtt.srtt_ns = RTT_NS;
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_SQ));
	return qp;
}

static inline struct sk_buff *new_sack(struct kunit *test, u32 expected, const unsigned long *map, u32 num)
{
	return new_told(test, expected, SRN_HOLD_WIDE, map, num);
}

static inline bool hear(struct kunit *test, struct srn_qp *qp, u32 expected, const unsigned long *map,
			u32 num)
{
	struct sk_buff *skb = new_sack(test, expected, map, num);
	bool news = srn_lost_heard(qp, expected, skb);

	kfree_skb(skb);
	return news;
}

static inline void fly(struct srn_qp *qp, u32 num)
{
	qp->window.at.psn = num;
	qp->window.end = num;
}

#endif
