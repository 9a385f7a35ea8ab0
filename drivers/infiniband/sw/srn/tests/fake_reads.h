/* SPDX-License-Identifier: GPL-2.0-only */
/* A peer that READs: what it asks for, the memory that it may, and what becomes of the answers. */
#ifndef SRN_TESTS_FAKE_READS_H
#define SRN_TESTS_FAKE_READS_H

#include "../mem.h"
#include "../mw.h"
#include "../payer.h"
#include "../replay.h"
#include "../responder.h"
#include "fake_round.h"
#include "fake_route.h"

#include <kunit/test.h>
#include <rdma/ib_pack.h>

static inline struct sk_buff *new_read(struct kunit *test, u32 psn, const struct srn_mem *mem, u32 len)
{
	struct sk_buff *skb = new_packet(test, IB_OPCODE_RC_RDMA_READ_REQUEST, psn);
	struct srn_reth *reth = (struct srn_reth *)srn_pkt_reth(skb);

	reth->va = cpu_to_be64(mem->map.iova);
	reth->rkey = cpu_to_be32(mem->key);
	reth->len = cpu_to_be32(len);
	return skb;
}

static inline struct sk_buff *new_send_inv(struct kunit *test, u32 psn, const struct srn_mem *mem)
{
	struct sk_buff *skb = new_packet(test, IB_OPCODE_RC_SEND_ONLY_WITH_INVALIDATE, psn);
	struct srn_ieth *ieth = srn_pkt_ext(skb);

	ieth->rkey = cpu_to_be32(mem->key);
	return skb;
}

static inline void free_slots(void *qp)
{
	srn_replay_resize(&((struct srn_qp *)qp)->resp.replay, 0);
}

#define MTU	256

/* A region that the peer may read; it has room for one READ, and may invalidate it. */
static inline struct srn_mem *give_memory(struct kunit *test, struct srn_qp *qp, u32 len)
{
	struct srn_mem *mem;

	qp->ibqp.pd = fake_pd(test, qp->dev);
	qp->who.pd = qp->ibqp.pd;
	srn_mw_owner_init(&qp->windows, &qp->who);
	qp->access = IB_ACCESS_REMOTE_READ;
	qp->mtu = MTU;
	KUNIT_ASSERT_EQ(test, 0, srn_replay_resize(&qp->resp.replay, 1));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, free_slots, qp));
	mem = fake_mr(test, qp->dev, qp->ibqp.pd, 0x10000, len, 0, IB_ACCESS_REMOTE_READ);
	mem->type = SRN_MEM_FRMR;
	return mem;
}

/* What the stack was given, and the references on what was read meanwhile. */
static struct {
	const struct srn_mem *mem;
	unsigned int packets, skbs, refs;
} left;

static inline int leave(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	left.packets += max_t(unsigned int, skb_shinfo(skb)->gso_segs, 1);
	left.refs = max(left.refs, refcount_read(&left.mem->refs));
	kfree_skb(skb);
	return 0;
}

/* A queue of this host that holds what it is given, on any CPU. */
static struct sk_buff_head held;

static inline int hold(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	skb_queue_tail(&held, skb);
	return 0;
}

static inline u32 held_bytes(void)
{
	const struct sk_buff *skb;
	u32 bytes = 0;

	spin_lock_bh(&held.lock);
	skb_queue_walk(&held, skb)
		bytes += skb->truesize;
	spin_unlock_bh(&held.lock);
	return bytes;
}

static inline void close_payer(void *qp)
{
	srn_payer_close(&((struct srn_qp *)qp)->payer);
}

static inline void give_payer(struct kunit *test, struct srn_qp *qp)
{
	give_clock(test, qp);
	KUNIT_ASSERT_EQ(test, 0, srn_responder_alloc(qp, 1));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, close_payer, qp));
}

#endif
