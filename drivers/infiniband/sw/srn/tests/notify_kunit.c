// SPDX-License-Identifier: GPL-2.0-only
/* How often a peer is told, and by which way. */
#include "../notify.h"
#include "fake_round.h"
#include "fake_route.h"

#include <kunit/test.h>
#include <linux/bottom_half.h>
#include <linux/time64.h>
#include <rdma/ib_pack.h>

#define PAUSE_NS	(50 * NSEC_PER_USEC)

static void srn_notify_pause_test(struct kunit *test)
{
	u64 next = 0, told = 0, last = 0, now;

	/* The first mark at once; of one each microsecond, then, one in fifty. */
	for (now = NSEC_PER_SEC; now < NSEC_PER_SEC + NSEC_PER_MSEC; now += NSEC_PER_USEC) {
		if (!srn_notify_is_time(&next, now, PAUSE_NS))
			continue;
		KUNIT_EXPECT_TRUE(test, !told || now - last == PAUSE_NS);
		last = now;
		told++;
	}
	KUNIT_EXPECT_EQ(test, told, 20);
	/* After a while without marks none is owed. */
	now += NSEC_PER_SEC;
	KUNIT_EXPECT_TRUE(test, srn_notify_is_time(&next, now, PAUSE_NS));
	KUNIT_EXPECT_FALSE(test, srn_notify_is_time(&next, now, PAUSE_NS));
}

/* Of the largest packets each, of others as many as bytes make full ones, whichever they are. */
static void srn_notify_bytes_test(struct kunit *test)
{
	static const struct { u32 bytes, told; } rows[] = {
		{ 1098, 1000 }, { 5000, 1000 }, { 1097, 1000 }, { 549, 501 }, { 330, 301 }, { 62, 57 },
		{ 1, 1 },
	};
	u32 told, i, n;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		/* All random numbers are as likely: of these each stands for as many. */
		for (n = 0, told = 0; n < 1000; n++)
			told += srn_notify_is_much(rows[i].bytes, 1098, n * (U32_MAX / 1000));
		KUNIT_EXPECT_EQ_MSG(test, told, rows[i].told, "%u", rows[i].bytes);
	}
	KUNIT_EXPECT_TRUE(test, srn_notify_is_much(1, 1098, 0));
	KUNIT_EXPECT_TRUE(test, srn_notify_is_much(1098, 1098, U32_MAX));
	KUNIT_EXPECT_FALSE(test, srn_notify_is_much(1097, 1098, U32_MAX));
}

static u32 seen_prio;

static int see(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	seen_prio = skb->priority;
	kfree_skb(skb);
	return 0;
}

/* When one may be sent since @next_ns. */
static void mark(struct kunit *test, struct srn_qp *qp, u64 next_ns)
{
	struct sk_buff *skb = new_packet(test, IB_OPCODE_RC_SEND_ONLY, 0);

	srn_pkt(skb)->flags |= SRN_PKT_CE;
	qp->cnp_next_ns = next_ns;
	local_bh_disable();
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_RX));
	srn_notify_mark(qp, skb);
	local_bh_enable();
	srn_turn_disown(&qp->turn);
	kfree_skb(skb);
}

/* By the QP's own, with another priority; what the stack has given up is no more the QP's then. */
static void srn_notify_route_test(struct kunit *test)
{
	struct srn_qp *qp = &new_owner(test)->qp;
	struct dst_entry *dst;
	unsigned int refs;

	qp->state = IB_QPS_RTS;
	qp->cc = SRN_CC_ALWAYS;
	qp->dev->cc.np_cnp_prio = 6;
	fake_route(test, &qp->path, see);
	dst = qp->path.route.dst;
	refs = rcuref_read(&dst->__rcuref);
	mark(test, qp, 0);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_CNP_SENT), 1);
	KUNIT_EXPECT_EQ(test, seen_prio, 6);
	KUNIT_EXPECT_EQ(test, qp->path.prio, 0);
	KUNIT_EXPECT_PTR_EQ(test, qp->path.route.dst, dst);
	KUNIT_EXPECT_EQ(test, rcuref_read(&dst->__rcuref), refs);
	dst->obsolete = DST_OBSOLETE_DEAD;
	mark(test, qp, 0);
	KUNIT_EXPECT_PTR_NE(test, qp->path.route.dst, dst);
	KUNIT_EXPECT_EQ(test, rcuref_read(&dst->__rcuref), refs - 1);
}

/* Of a short packet's mark after a long time the peer is told, whatever the lot. */
static void srn_notify_silence_test(struct kunit *test)
{
	struct srn_qp *qp = &new_owner(test)->qp;
	int i;

	qp->state = IB_QPS_RTS;
	qp->cc = SRN_CC_ALWAYS;
	qp->mtu = 4096;
	fake_route(test, &qp->path, see);
	for (i = 0; i < 20; i++)
		mark(test, qp, ktime_get_ns() - 50 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_CNP_SENT), 20);
	/* Of all others one in 60: more than half of 40 would be a wonder. */
	for (i = 0; i < 40; i++)
		mark(test, qp, ktime_get_ns());
	KUNIT_EXPECT_LE(test, srn_stats_sum(qp->dev, SRN_CNT_CNP_SENT), 40);
}

static struct kunit_case srn_notify_cases[] = {
	KUNIT_CASE(srn_notify_route_test),
	KUNIT_CASE(srn_notify_pause_test),
	KUNIT_CASE(srn_notify_bytes_test),
	KUNIT_CASE(srn_notify_silence_test),
	{}
};

static struct kunit_suite srn_notify_suite = {
	.name = "srn_notify",
	.test_cases = srn_notify_cases,
};

kunit_test_suite(srn_notify_suite);
