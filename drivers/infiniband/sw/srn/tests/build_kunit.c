// SPDX-License-Identifier: GPL-2.0-only
/* Room in packets, and packets that ride in trains. */
#include "../build_request.h"
#include "../build.h"
#include "../psn.h"
#include "../qp.h"
#include "../segment.h"
#include "../train.h"
#include "../wire.h"
#include "../xmit.h"
#include "fake_route.h"
#include "fake_train.h"

#include <kunit/test.h>
#include <linux/bottom_half.h>
#include <linux/if_ether.h>
#include <linux/if_vlan.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/dst.h>
#include <rdma/ib_pack.h>

/* Geneve's base header and the options that its length field can count. */
#define GENEVE	(8 + 63 * 4)

/* skb_segment_list() pushes them into the members of a train as they are. */
static void srn_build_headroom_test(struct kunit *test)
{
	static const u32 linear[] = { 0, 8, 100, 511, 1024 };
	const unsigned int tunnel = ETH_HLEN + VLAN_HLEN + sizeof(struct ipv6hdr) +
				    sizeof(struct udphdr) + GENEVE + ETH_HLEN;
	int i;

	for (i = 0; i < ARRAY_SIZE(linear); i++) {
		struct sk_buff *skb;

		local_bh_disable();
		skb = srn_build(IB_OPCODE_RC_RDMA_WRITE_MIDDLE, 0, 2, 3, linear[i]);
		local_bh_enable();
		KUNIT_ASSERT_NOT_NULL(test, skb);
		KUNIT_EXPECT_GE(test, skb_headroom(skb), tunnel + sizeof(struct ipv6hdr) +
				sizeof(struct udphdr));
		KUNIT_EXPECT_GE(test, skb_tailroom(skb), linear[i] + 3 + 4);
		kfree_skb(skb);
	}
}

/* A packet that waits somewhere keeps the page of its trailer: one page and no more. */
static void srn_xmit_trailer_test(struct kunit *test)
{
	struct srn_path path = { .dev = fake_dev(test) };
	const skb_frag_t *trailer;
	struct sk_buff *skb;

	local_bh_disable();
	skb = srn_build(IB_OPCODE_RC_RDMA_WRITE_MIDDLE, 0, 2, 3, 0);
	KUNIT_EXPECT_TRUE(test, skb && srn_build_payload(skb, 1025));
	KUNIT_EXPECT_TRUE(test, skb && srn_xmit_seal(&path, skb, 0));
	local_bh_enable();
	KUNIT_ASSERT_NOT_NULL(test, skb);
	KUNIT_ASSERT_EQ(test, skb_shinfo(skb)->nr_frags, 2);
	trailer = &skb_shinfo(skb)->frags[1];
	KUNIT_EXPECT_EQ(test, skb_frag_size(trailer), 3 + 4);
	KUNIT_EXPECT_EQ(test, compound_order(compound_head(skb_frag_page(trailer))), 0);
	kfree_skb(skb);
}

/* A packet without a fragment for its trailer does not leave, and that is counted. */
static void srn_xmit_no_fragment_test(struct kunit *test)
{
	struct srn_path path = { .dev = fake_dev(test) };
	struct sk_buff *skb;
	bool sealed = true;

	local_bh_disable();
	skb = srn_build(IB_OPCODE_RC_RDMA_WRITE_MIDDLE, 0, 2, 3, 0);
	if (skb && srn_build_payload(skb, 1025)) {
		u8 used = skb_shinfo(skb)->nr_frags;

		skb_shinfo(skb)->nr_frags = MAX_SKB_FRAGS;
		sealed = srn_xmit_seal(&path, skb, 0);
		skb_shinfo(skb)->nr_frags = used;
	}
	local_bh_enable();
	KUNIT_ASSERT_NOT_NULL(test, skb);
	KUNIT_EXPECT_FALSE(test, sealed);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(path.dev, SRN_CNT_TX_NOMEM), 1);
	kfree_skb(skb);
}

/* Tunnels' netdevs take segments of software, but none that are in a tunnel already. */
static void srn_train_gso_type_test(struct kunit *test)
{
	const netdev_features_t tunnel = NETIF_F_GSO_SOFTWARE;
	struct net_device *dev = kunit_kzalloc(test, sizeof(*dev), GFP_KERNEL);
	struct dst_entry dst = { .dev = dev };

	KUNIT_ASSERT_NOT_NULL(test, dev);
	KUNIT_EXPECT_FALSE(test, net_gso_ok(tunnel, srn_train_gso_type(&dst)));
	KUNIT_EXPECT_TRUE(test, net_gso_ok(tunnel | NETIF_F_GSO_ENCAP_ALL,
					   srn_train_gso_type(&dst)));
	/* As lo has them. */
	dev->flags = IFF_LOOPBACK;
	KUNIT_EXPECT_TRUE(test, net_gso_ok(NETIF_F_GSO_SOFTWARE, srn_train_gso_type(&dst)));
}

/* What is sent again is copied: the program may be writing it. */
static void build_twice(struct kunit *test, enum ib_qp_type type, bool refers)
{
	struct srn_qp *qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);
	struct srn_wqe *wqe = kunit_kzalloc(test, srn_wqe_size(1, 0), GFP_KERNEL);
	struct srn_plan plan;
	struct sk_buff *skb;
	enum srn_verdict v;
	struct srn_mem *mr;
	int again;

	KUNIT_ASSERT_NOT_NULL(test, qp);
	KUNIT_ASSERT_NOT_NULL(test, wqe);
	qp->dev = fake_dev(test);
	qp->ibqp.pd = fake_pd(test, qp->dev);
	qp->who = fake_who(qp->dev, qp->ibqp.pd, 0);
	qp->svc = srn_service_of(type);
	mr = fake_mr(test, qp->dev, qp->ibqp.pd, 0x1000, PAGE_SIZE, 0, 0);
	wqe->opcode = IB_WR_RDMA_WRITE;
	wqe->length = 2048;
	wqe->num_sge = 1;
	wqe->sge[0] = (struct ib_sge){ 0x1000, 2048, mr->key };
	wqe->first_psn = wqe->last_psn = 0xffffff;
	srn_segment(wqe, qp->svc, 4096, wqe->first_psn, &plan);

	for (again = 0; again < 2; again++) {
		qp->window.end = srn_psn_add(wqe->first_psn, again);
		local_bh_disable();
		v = srn_build_request(qp, wqe, &plan, 0, &skb);
		local_bh_enable();
		KUNIT_ASSERT_EQ(test, v, SRN_OK);
		KUNIT_ASSERT_EQ(test, skb_shinfo(skb)->nr_frags, 1);
		KUNIT_EXPECT_EQ(test, refers && !again, skb_frag_page(&skb_shinfo(skb)->frags[0]) ==
				virt_to_page(mr->map.blocks[0]));
		kfree_skb(skb);
	}
}

static void srn_build_again_test(struct kunit *test)
{
	build_twice(test, IB_QPT_RC, true);
}

/* A UC request is complete, and its memory the program's, before the packet has left. */
static void srn_build_unreliable_test(struct kunit *test)
{
	build_twice(test, IB_QPT_UC, false);
}

/* However many pieces a packet is gathered from, it can leave. */
static void srn_build_pieces_test(struct kunit *test)
{
	struct srn_wqe *wqe = kunit_kzalloc(test, srn_wqe_size(SRN_MAX_SGE, 0), GFP_KERNEL);
	struct srn_qp *qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);
	struct srn_path path = { .dev = fake_dev(test) };
	struct sk_buff *skb = NULL;
	struct srn_plan plan;
	struct srn_mem *mr;
	bool sealed;
	u32 num;

	KUNIT_ASSERT_NOT_NULL(test, wqe);
	KUNIT_ASSERT_NOT_NULL(test, qp);
	qp->dev = path.dev;
	qp->ibqp.pd = fake_pd(test, qp->dev);
	qp->who = fake_who(qp->dev, qp->ibqp.pd, 0);
	qp->svc = srn_service_of(IB_QPT_RC);
	mr = fake_mr(test, qp->dev, qp->ibqp.pd, 0x1000, PAGE_SIZE, 0, 0);
	wqe->opcode = IB_WR_RDMA_WRITE;
	for (num = 1; num <= SRN_MAX_SGE; num++) {
		wqe->sge[num - 1] = (struct ib_sge){ 0x1000 + 128 * (num - 1), 64, mr->key };
		wqe->num_sge = num;
		wqe->length = 64 * num;
		srn_segment(wqe, qp->svc, 4096, wqe->first_psn, &plan);
		local_bh_disable();
		sealed = !srn_build_request(qp, wqe, &plan, 0, &skb) &&
			 srn_xmit_seal(&path, skb, 0);
		local_bh_enable();
		KUNIT_EXPECT_TRUE_MSG(test, sealed, "%u pieces", num);
		kfree_skb(skb);
	}
}

/* The same for all packets of a flow, whoever sends them. */
static void srn_xmit_steer_test(struct kunit *test)
{
	static const u32 hashes[] = { 0, 1, 0x9e3779b1, U32_MAX };
	struct sk_buff *skb = alloc_skb(64, GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	for (i = 0; i < ARRAY_SIZE(hashes); i++) {
		srn_xmit_steer(skb, hashes[i]);
		KUNIT_EXPECT_EQ(test, skb_get_hash_raw(skb), hashes[i]);
#ifdef CONFIG_XPS
		/* 0 and what is beyond the CPUs would have the stack take the sender's. */
		KUNIT_EXPECT_GT(test, skb->sender_cpu, 0);
		KUNIT_EXPECT_LE(test, skb->sender_cpu, nr_cpu_ids);
#endif
	}
	kfree_skb(skb);
}

/* What was handed to the route. */
static struct {
	unsigned int num, steered, segs, size;
	u32 hash;
} left;

static int leave(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	left.num++;
	left.segs = skb_shinfo(skb)->gso_segs;
	left.size = skb_shinfo(skb)->gso_size;
	left.hash = skb_get_hash_raw(skb);
#ifdef CONFIG_XPS
	left.steered += skb->sw_hash && skb->sender_cpu;
#else
	left.steered += skb->sw_hash;
#endif
	kfree_skb(skb);
	return 0;
}

static u32 hash_of_next(struct srn_path *path)
{
	struct sk_buff *skb;

	local_bh_disable();
	skb = srn_build(IB_OPCODE_RC_RDMA_WRITE_MIDDLE, 0, 2, 3, 8);
	if (skb)
		srn_xmit(path, skb, NULL);
	local_bh_enable();
	return left.hash;
}

/* What leaves is steered, by its source port, which is the QP's. */
static void srn_xmit_flow_test(struct kunit *test)
{
	struct srn_path *path = kunit_kzalloc(test, sizeof(*path), GFP_KERNEL);
	u32 hash;

	KUNIT_ASSERT_NOT_NULL(test, path);
	path->dev = fake_dev(test);
	path->sport = htons(0xc123);
	memset(&left, 0, sizeof(left));
	migrate_disable();
	fake_route(test, path, leave);
	hash = hash_of_next(path);
	KUNIT_EXPECT_EQ(test, hash_of_next(path), hash);
	path->sport = htons(0xc124);
	KUNIT_EXPECT_NE(test, hash_of_next(path), hash);
	migrate_enable();
	KUNIT_EXPECT_EQ(test, left.num, 3);
	KUNIT_EXPECT_EQ(test, left.steered, 3);
}

static unsigned int route_refs(struct srn_path *path)
{
	return rcuref_read(&path->route.dst->__rcuref);
}

/* Packets that follow each other leave as one, that tells how many they are, and what it
 * looked up on its way it lets go of. Nothing waits behind the last one.
 */
static void srn_train_test(struct kunit *test)
{
	struct srn_path *path = kunit_kzalloc(test, sizeof(*path), GFP_KERNEL);
	const unsigned int len = sizeof(struct srn_bth) + SRN_ICRC_SIZE;
	struct srn_train train = {};
	unsigned int refs;

	KUNIT_ASSERT_NOT_NULL(test, path);
	path->dev = fake_dev(test);
	memset(&left, 0, sizeof(left));
	migrate_disable();
	fake_route(test, path, leave);
	refs = route_refs(path);
	add_packets(&train, path, 3);
	KUNIT_EXPECT_EQ(test, route_refs(path), refs);
	migrate_enable();
	KUNIT_EXPECT_GT(test, refs, 0);
	KUNIT_EXPECT_NULL(test, train.head);
	KUNIT_EXPECT_EQ(test, left.num, 1);
	KUNIT_EXPECT_EQ(test, left.segs, 3);
	KUNIT_EXPECT_EQ(test, left.size, len);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(path->dev, SRN_CNT_SENT_TRAINS), 1);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(path->dev, SRN_CNT_SENT_PKTS), 3);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(path->dev, SRN_CNT_SENT_BYTES), 3 * len);
}

static struct kunit_case srn_build_cases[] = {
	KUNIT_CASE(srn_build_headroom_test),
	KUNIT_CASE(srn_build_again_test),
	KUNIT_CASE(srn_build_unreliable_test),
	KUNIT_CASE(srn_build_pieces_test),
	KUNIT_CASE(srn_xmit_trailer_test),
	KUNIT_CASE(srn_xmit_no_fragment_test),
	KUNIT_CASE(srn_xmit_steer_test),
	KUNIT_CASE(srn_xmit_flow_test),
	KUNIT_CASE(srn_train_gso_type_test),
	KUNIT_CASE(srn_train_test),
	{}
};

static struct kunit_suite srn_build_suite = {
	.name = "srn_build",
	.test_cases = srn_build_cases,
};

kunit_test_suite(srn_build_suite);
