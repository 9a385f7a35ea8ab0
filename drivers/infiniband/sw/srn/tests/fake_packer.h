/* SPDX-License-Identifier: GPL-2.0-only */
/* A requester whose messages may leave as packs, and what left. */
#ifndef SRN_TESTS_FAKE_PACKER_H
#define SRN_TESTS_FAKE_PACKER_H

#include "../limits.h"
#include "../pace.h"
#include "../requester.h"
#include "fake_pack.h"

#include <linux/skbuff.h>

#define WHOLE	(NETIF_F_GSO | NETIF_F_SG | NETIF_F_GSO_UDP_TUNNEL | NETIF_F_GSO_FRAGLIST)
#define MANY	40

/* What the wire was given, and by which netdev. */
static struct sk_buff_head sent;
static struct net_device *way;

static inline int collect(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	skb_dst_drop(skb);
	__skb_queue_tail(&sent, skb);
	return 0;
}

static inline void forget(void *nothing)
{
	__skb_queue_purge(&sent);
}

/* A kernel user's QP with @num messages of @len inline bytes, numbered, by a netdev that takes packs. */
static inline struct srn_qp *new_packer(struct kunit *test, u32 num, u32 len)
{
	struct srn_qp *qp = &new_owner(test)->qp;
	struct srn_wqe *wqe;
	u32 i;

	way = new_netdev(test, 0);
	way->features = WHOLE;
	way->hw_enc_features = WHOLE;
	__skb_queue_head_init(&sent);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, forget, NULL));
	qp->state = IB_QPS_RTS;
	qp->mtu = 1024;
	qp->dest_qpn = QPN;
	qp->sq_psn = PSN;
	qp->req.train.pace = &qp->pace;
	srn_pace_reset(&qp->pace);
	srn_pace_set_mtu(&qp->pace, qp->mtu);
	give_sends(test, qp, num);
	qp->sq.wqe_size = srn_wqe_size(1, SRN_MAX_INLINE);
	qp->sq.wqes = kunit_kcalloc(test, qp->sq.entries, qp->sq.wqe_size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, qp->sq.wqes);
	for (i = 0; i < num; i++) {
		wqe = srn_sq_wqe(&qp->sq, i);
		wqe->opcode = IB_WR_RDMA_WRITE;
		wqe->flags = IB_SEND_INLINE;
		wqe->length = len;
		wqe->rdma.addr = i;
		memset(wqe->data, i, len);
	}
	give_clock(test, qp);
	srn_requester_start(qp);
	qp->window.cwnd = SRN_RUN_MAX;
	fake_route(test, &qp->path, collect);
	give_netdev(test, &qp->path, way);
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_SQ));
	return qp;
}

static inline u64 count(const struct srn_qp *qp, enum srn_counter counter)
{
	return srn_stats_sum(qp->dev, counter);
}

/* One round. */
static inline void run(struct srn_qp *qp)
{
	int budget = SRN_ROUND_BUDGET;

	local_bh_disable();
	srn_requester_run(qp, &budget);
	local_bh_enable();
}

/* They are posted, @prepare does something to them, and they leave. */
static inline struct srn_qp *send_packed(struct kunit *test, u32 num, u32 len,
					 void (*prepare)(struct srn_qp *qp))
{
	struct srn_qp *qp;

	migrate_disable();
	qp = new_packer(test, num, len);
	if (prepare)
		prepare(qp);
	run(qp);
	migrate_enable();
	return qp;
}

/* How many packets the next skb that left has; 0: none is left. */
static inline u32 next_skb(struct kunit *test, struct srn_pack_cut *cut, bool *packed)
{
	struct sk_buff *skb = skb_peek(&sent);

	if (!skb)
		return 0;
	*packed = srn_pack_cut_begin(cut, skb, sizeof(struct iphdr) + sizeof(struct udphdr));
	if (*packed)
		return cut->tail.num;
	return skb_is_gso(skb) ? skb_shinfo(skb)->gso_segs : 1;
}

/* What left: how many packets in each skb, in its order, then 0; packs have a minus. */
static inline void expect_sent(struct kunit *test, const int *want)
{
	struct srn_pack_cut cut;
	bool packed;
	int num;

	for (; *want; want++) {
		num = next_skb(test, &cut, &packed);
		KUNIT_EXPECT_EQ(test, packed ? -num : num, *want);
		kfree_skb(__skb_dequeue(&sent));
	}
	KUNIT_EXPECT_EQ(test, skb_queue_len(&sent), 0);
}

#define EXPECT_SENT(_test, ...)	expect_sent(_test, (const int []){ __VA_ARGS__, 0 })

struct row {
	const char *desc;
	u32 num, len;
	void (*prepare)(struct srn_qp *qp);
	int sent[8];
};

static inline void expect_row(struct kunit *test, const struct row *row)
{
	struct srn_qp *qp = send_packed(test, row->num, row->len, row->prepare);

	WRITE_ONCE(srn_run_stopped, false);
	expect_sent(test, row->sent);
	KUNIT_EXPECT_NULL(test, qp->req.pack.skb);
}

static inline void a_long_one(struct srn_qp *qp)
{
	srn_sq_wqe(&qp->sq, 3)->length = 1500;
}

#endif
