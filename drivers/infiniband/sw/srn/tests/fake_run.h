/* SPDX-License-Identifier: GPL-2.0-only */
/* Runs as they leave, of any shape, and as they arrive. */
#ifndef SRN_TESTS_FAKE_RUN_H
#define SRN_TESTS_FAKE_RUN_H

#include "../build.h"
#include "../lease.h"
#include "../net.h"
#include "../psn.h"
#include "../qpn.h"
#include "../run.h"
#include "../run_cut.h"
#include "fake_round.h"
#include "fake_route.h"

#include <kunit/test.h>
#include <linux/ipv6.h>
#include <net/gso.h>
#include <net/sch_generic.h>
#include <net/sock.h>
#include <rdma/ib_pack.h>

#define QPN	0x123456
#define PSN	0xfffffe
#define WORD	0x1fabcdef	/* an AETH would say that it is an ACK */
#define VA	0x1122334455667788ull

struct shape {
	const char *desc;
	u8 first, last;
	u32 num, each, tail;	/* bytes of the last packet */
	u8 flags;
	bool is_v6;
	u32 linear;		/* bytes of payload in the head */
	bool lent;		/* its pages are a region's */
	bool bare;		/* it has none: its payload is where it belongs */
};
static inline u32 payload_len(const struct shape *s)
{
	return (s->num - 1) * s->each + s->tail;
}

static inline u8 byte_at(u32 at)
{
	return at * 7 + (at >> 8);
}

static inline void put_pages(struct kunit *test, struct sk_buff *skb, u32 from, u32 to)
{
	u32 here, i;
	u8 *p;

	for (; from < to; from += here) {
		p = (u8 *)__get_free_page(GFP_ATOMIC);
		KUNIT_ASSERT_NOT_NULL(test, p);
		here = min_t(u32, to - from, PAGE_SIZE);
		for (i = 0; i < here; i++)
			p[i] = byte_at(from + i);
		skb_add_rx_frag(skb, skb_shinfo(skb)->nr_frags, virt_to_page(p), 0, here,
				PAGE_SIZE);
	}
}

/* What the requests name. */
static u32 rkey = 0xabcdef01;

/* Who answers READs, and the region that is lent. */
static struct lender {
	struct srn_dev *dev;
	struct srn_mem *mem;
	struct srn_qp_ref *ref;
} lender;

static inline void close_lender(void *ref)
{
	srn_qp_ref_unpublish(ref);
	srn_qp_ref_destroy(ref);
}

static inline void open_lender(struct kunit *test)
{
	struct srn_qp *qp = &new_owner(test)->qp;
	struct srn_qp_ref *ref = srn_qp_ref_create(qp, 0);

	KUNIT_ASSERT_FALSE(test, IS_ERR(ref));
	srn_qp_ref_publish(ref);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, close_lender, ref));
	lender.dev = qp->dev;
	lender.mem = fake_mr(test, qp->dev, fake_pd(test, qp->dev), VA, PAGE_SIZE, 0,
			     IB_ACCESS_REMOTE_READ);
	lender.ref = ref;
}

static inline void put_lease(struct kunit *test, struct sk_buff *skb)
{
	struct srn_lease lease;

	open_lender(test);
	srn_lease_make(&lease, lender.mem, lender.ref->qpn);
	skb_put_data(skb, &lease, sizeof(lease));
}

/* From the BTH on, as srn_run_xmit() is given it. */
static inline struct sk_buff *build(struct kunit *test, const struct srn_path *path,
				    const struct shape *s)
{
	const u16 hdrs = srn_opcodes[s->first].hdrs;
	struct srn_run run = {
		.num = s->num, .each = s->each, .opcode = s->last,
		.flags = s->flags | (s->lent ? SRN_PKT_LENT : 0) | (s->bare ? SRN_PKT_BARE : 0),
		.rest = s->bare ? s->tail : 0,
		.word = cpu_to_be32(WORD),
	};
	u32 len = payload_len(s), linear = min(s->linear, len), i;
	struct sk_buff *skb;

	local_bh_disable();
	skb = srn_build(s->first, 0, QPN, PSN, sizeof(run) + sizeof(struct srn_lease));
	local_bh_enable();
	KUNIT_ASSERT_NOT_NULL(test, skb);
	if (hdrs & SRN_HDR_RETH)
		srn_build_reth(skb, VA, rkey, len);
	if (hdrs & SRN_HDR_AETH)
		srn_build_aeth(skb, SRN_SYN_ACK_UNLIMITED, 3);
	srn_run_put(skb, path, &run);
	if (s->lent)
		put_lease(test, skb);
	if (s->bare)
		return skb;
	if (linear)
		KUNIT_ASSERT_EQ(test, 0, pskb_expand_head(skb, 0, linear, GFP_KERNEL));
	for (i = 0; i < linear; i++)
		*(u8 *)skb_put(skb, 1) = byte_at(i);
	put_pages(test, skb, linear, len);
	return skb;
}

static struct sk_buff *left;

static inline int leave(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	kfree_skb(left);
	left = skb;
	return 0;
}

static inline struct net_device *new_netdev(struct kunit *test, unsigned int flags)
{
	struct net_device *dev = kunit_kzalloc(test, sizeof(*dev), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, dev);
	dev->flags = flags;
	dev->mtu = 65535;
	dev->gso_max_segs = GSO_MAX_SEGS;
	dev->gso_max_size = GSO_LEGACY_MAX_SIZE;
	dev->gso_ipv4_max_size = GSO_LEGACY_MAX_SIZE;
	RCU_INIT_POINTER(dev->qdisc, &noop_qdisc);
	dev_net_set(dev, &init_net);
	return dev;
}

static inline void back_to_lo(void *dst)
{
	((struct dst_entry *)dst)->dev = init_net.loopback_dev;
}

/* The route leaves by @dev, which is nobody else's. */
static inline void give_netdev(struct kunit *test, struct srn_path *path, struct net_device *dev)
{
	struct dst_entry *dst = path->route.dst;

	KUNIT_ASSERT_NOT_NULL(test, dst);
	dst->dev = dev;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, back_to_lo, dst));
}

static inline struct srn_path *new_path_by(struct kunit *test, bool is_v6, struct net_device *dev)
{
	struct srn_path *path = kunit_kzalloc(test, sizeof(*path), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, path);
	path->dev = fake_dev(test);
	path->is_v6 = is_v6;
	path->ttl = 64;
	fake_route(test, path, leave);
	give_netdev(test, path, dev);
	return path;
}

static inline struct srn_path *new_path(struct kunit *test, bool is_v6)
{
	return new_path_by(test, is_v6, new_netdev(test, 0));
}

/* As it leaves, skb->data at the IP header. */
static inline struct sk_buff *send(struct kunit *test, struct srn_path *path, const struct shape *s,
				   struct srn_payer *payer)
{
	struct sk_buff *skb = build(test, path, s);

	left = NULL;
	local_bh_disable();
	srn_run_xmit(path, skb, payer);
	local_bh_enable();
	KUNIT_ASSERT_NOT_NULL(test, left);
	return left;
}
/* As the socket is given it. */
static inline void arrive(struct sk_buff *skb, bool is_v6)
{
	skb_reset_network_header(skb);
	skb_pull(skb, is_v6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr));
}
static inline struct sk_buff *cut_for(struct net_device *dev, struct sk_buff *skb)
{
	struct sk_buff *segments;

	skb->dev = dev;
	rcu_read_lock();
	segments = __skb_gso_segment(skb, dev->hw_enc_features, true);
	rcu_read_unlock();
	return segments;
}

/* By the stack, for a netdev with @features. */
static inline struct sk_buff *cut_by_stack(struct kunit *test, struct sk_buff *skb,
					   netdev_features_t features)
{
	struct net_device *dev = new_netdev(test, 0);

	dev->hw_enc_features = features;
	return cut_for(dev, skb);
}

#endif
