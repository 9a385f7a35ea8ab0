/* SPDX-License-Identifier: GPL-2.0-only */
/* A requester with SENDs, and what the wire was given: what the tests of requesters share. */
#ifndef SRN_TESTS_FAKE_SENDER_H
#define SRN_TESTS_FAKE_SENDER_H

#include "../requester.h"
#include "../stats.h"
#include "../wire.h"
#include "fake_round.h"
#include "fake_route.h"

#include <kunit/test.h>
#include <linux/skbuff.h>
#include <linux/udp.h>

/* What the wire was given. */
static struct {
	unsigned int packets;
	bool asked;	/* the last one asks for an ACK */
	u8 opcode;	/* of that, */
	u32 psn;	/* and its own */
	void (*look)(void);	/* as each leaves */
} left;

static inline int leave(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	const struct srn_bth *bth = (void *)(skb_transport_header(skb) + sizeof(struct udphdr));
	const struct sk_buff *part;

	for (part = skb_shinfo(skb)->frag_list; part; part = part->next)
		bth = (void *)part->data;

	left.packets++;
	left.asked = be32_to_cpu(bth->apsn) & SRN_BTH_ACKREQ;
	left.opcode = bth->opcode;
	left.psn = be32_to_cpu(bth->apsn) & SRN_PSN_MASK;
	if (left.look)
		left.look();
	kfree_skb(skb);
	return 0;
}

/* Its SENDs have not begun. */
static inline struct srn_qp *new_sender(struct kunit *test, u32 num)
{
	struct srn_qp *qp = &new_owner(test)->qp;

	qp->state = IB_QPS_RTS;
	qp->mtu = 1024;
	give_sends(test, qp, num);
	give_clock(test, qp);
	srn_requester_start(qp);
	qp->window.cwnd = qp->window.full / 4;
	fake_route(test, &qp->path, leave);
	return qp;
}

/* Packets that have left, alone or in trains. */
static inline u64 num_sent(const struct srn_qp *qp)
{
	return srn_stats_sum(qp->dev, SRN_CNT_SENT_PKTS);
}

/* Whether the program is told to ring. */
static inline bool rings(const struct srn_qp *qp)
{
	return qp->page->status & SRN_QP_NEED_DB;
}

/* A program's QP with as much in flight as hushes it. */
static inline struct srn_qp *new_busy(struct kunit *test)
{
	struct srn_qp *qp = &new_owner(test)->qp;

	qp->state = IB_QPS_RTS;
	qp->who.kernel = false;
	qp->page = fake_page(test);
	qp->sq = (struct srn_sq){ .entries = 64, .max_wr = 64 };
	give_clock(test, qp);
	srn_window_start(&qp->window, 0, 1024);
	qp->window.at.psn = 2 * SRN_DB_INFLIGHT;
	qp->window.end = qp->window.at.psn;
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_SQ));
	return qp;
}

#endif
