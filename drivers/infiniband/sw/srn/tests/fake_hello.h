/* SPDX-License-Identifier: GPL-2.0-only */
/* A requester whose packets, hellos among them, are seen as they leave. */
#ifndef SRN_TESTS_FAKE_HELLO_H
#define SRN_TESTS_FAKE_HELLO_H

#include "../completer.h"
#include "../hello.h"
#include "../requester.h"
#include "../sack.h"
#include "../wire.h"
#include "fake_round.h"
#include "fake_route.h"
#include "fake_rx.h"

#include <linux/bottom_half.h>
#include <linux/udp.h>
#include <linux/unaligned.h>
#include <rdma/ib_pack.h>

#define MTU	1024
/* So many PSNs behind the expected one it is heard no more. */
#define FAR	(2 * SRN_HOLD_AHEAD)
#define HELLO	(SRN_SACK_MAGIC << 16 | SRN_SACK_VERSION << 8 | 1)

/* What the wire was given: BTHs of the first packets, and what the last hello says. */
static struct {
	struct srn_bth bths[8];
	struct srn_hello_fields hello;
	u32 num;
} left;

static inline void note(const void *bth)
{
	if (left.num < ARRAY_SIZE(left.bths))
		memcpy(&left.bths[left.num++], bth, sizeof(struct srn_bth));
}

static inline int leave(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	const struct sk_buff *part;
	const struct srn_bth *bth = (void *)(skb_transport_header(skb) + sizeof(struct udphdr));

	note(bth);
	if (bth->opcode == IB_OPCODE_RC_RDMA_WRITE_ONLY)
		memcpy(&left.hello, bth + 1, sizeof(left.hello));
	for (part = skb_shinfo(skb)->frag_list; part; part = part->next)
		note(part->data);
	kfree_skb(skb);
	return 0;
}

static inline void expect_left(struct kunit *test, u32 i, u8 opcode, u32 psn)
{
	KUNIT_ASSERT_LT(test, i, left.num);
	KUNIT_EXPECT_EQ(test, left.bths[i].opcode, opcode);
	KUNIT_EXPECT_EQ(test, be32_get_bits(left.bths[i].apsn, SRN_BTH_PSN), psn);
}

/* Its SENDs have not begun; the turn is the test's until stop(). */
static inline struct srn_qp *start(struct kunit *test, u32 num)
{
	struct srn_qp *qp = &new_owner(test)->qp;

	memset(&left, 0, sizeof(left));
	migrate_disable();
	qp->state = IB_QPS_RTS;
	qp->mtu = MTU;
	qp->timeout = 20;
	qp->sq_psn = SRN_PSN_MASK;
	qp->recovery = SRN_RECOVERY_SACK;
	srn_hello_start(qp);
	give_sends(test, qp, num);
	give_clock(test, qp);
	srn_requester_start(qp);
	fake_route(test, &qp->path, leave);
	local_bh_disable();
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_SQ));
	return qp;
}

static inline void stop(void)
{
	local_bh_enable();
	migrate_enable();
}

/* One packet in a round, so that none are packed. */
static inline void run(struct srn_qp *qp, int num)
{
	int budget;

	while (num--) {
		budget = 1;
		srn_requester_run(qp, &budget);
	}
}

static inline void ack(struct kunit *test, struct srn_qp *qp, u32 psn)
{
	rx_answer(qp, new_packet(test, IB_OPCODE_RC_ACKNOWLEDGE, psn));
}

/* A SACK packet of the peer's, which holds so many PSNs. */
static inline struct sk_buff *new_word(struct kunit *test, enum srn_sack_kind kind, u32 psn,
				       u32 ahead)
{
	struct sk_buff *skb = new_packet(test, SRN_OPCODE_SACK, psn);
	struct srn_sack_fields *fields = skb_put_zero(skb, sizeof(*fields));

	put_unaligned_be32(HELLO - SRN_SACK_HELLO + kind, &fields->what);
	put_unaligned_be32(ahead, &fields->ahead);
	srn_pkt(skb)->len = sizeof(*fields);
	return skb;
}

#endif
