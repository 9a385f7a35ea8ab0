/* SPDX-License-Identifier: GPL-2.0-only */
/* A QP that runs and packs come to, uncut. */
#ifndef SRN_TESTS_FAKE_RECEIVER_H
#define SRN_TESTS_FAKE_RECEIVER_H

#include "fake_run.h"

/* A QP that expects PSN, from nowhere to nowhere, memory for it, and the path that it comes by. */
struct receiver {
	struct srn_qp *qp;
	struct srn_mem *mem;
	struct srn_path *path;
};

/* With @len bytes from VA on. */
static inline struct receiver new_receiver_of(struct kunit *test, u32 mtu, u32 len)
{
	struct srn_qp *qp = &new_owner(test)->qp;
	struct srn_mem *mem;

	qp->path.v4.saddr = 0;
	qp->path.v4.daddr = 0;
	qp->mtu = mtu;
	qp->recovery = SRN_RECOVERY_HOLD;
	qp->access = IB_ACCESS_REMOTE_WRITE;
	qp->ibqp.pd = fake_pd(test, qp->dev);
	qp->who.pd = qp->ibqp.pd;
	qp->resp.msg.psn = PSN;
	mem = fake_mr(test, qp->dev, qp->ibqp.pd, VA, len, 0,
		      IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE);
	rkey = mem->key;
	return (struct receiver){ .qp = qp, .mem = mem, .path = new_path(test, false) };
}

/* A receive queue of @num slots, and its CQ. */
static inline void give_receives(struct kunit *test, struct srn_qp *qp, u32 num)
{
	qp->page = fake_page(test);
	qp->rcq = new_cq(test, qp, num);
	qp->rq = (struct srn_rq){ .entries = num, .max_wr = num, .max_sge = 1 };
	qp->rq.wqe = fake_rwqe(test);
	qp->rq.stride = srn_recv_stride(1);
	qp->rq.slots = kunit_kcalloc(test, num, qp->rq.stride, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, qp->rq.slots);
	spin_lock_init(&qp->rq.lock);
}

/* What left, as it arrives. */
static inline struct sk_buff *come(struct kunit *test, struct sk_buff *skb)
{
	arrive(skb, false);
	skb_dst_drop(skb);
	KUNIT_ASSERT_EQ(test, srn_run_parse(skb), SRN_PARSE_OK);
	return skb;
}

static inline void receive_skb(struct kunit *test, const struct receiver *r, struct sk_buff *skb)
{
	local_bh_disable();
	srn_round_rx(r->qp, skb);
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, wait_idle(r->qp));
}

/* The packet before it: a WRITE of nothing, from nowhere. */
static inline void receive_missing(struct kunit *test, const struct receiver *r)
{
	struct sk_buff *skb;

	local_bh_disable();
	skb = new_packet(test, IB_OPCODE_RC_RDMA_WRITE_ONLY, srn_psn_add(PSN, -1));
	ip_hdr(skb)->saddr = 0;
	ip_hdr(skb)->daddr = 0;
	local_bh_enable();
	receive_skb(test, r, skb);
}

#endif
