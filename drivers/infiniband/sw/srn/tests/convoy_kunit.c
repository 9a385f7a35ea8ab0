// SPDX-License-Identifier: GPL-2.0-only
/* What a NAPI coupled, at the QP: executed as one, or as far as it is good, allowed, and there is room. */
#include "../convoy.h"
#include "../round.h"
#include "fake_target.h"

#include <kunit/skbuff.h>
#include <linux/if_ether.h>

/* Executed as one, with one ACK; what comes twice is that many duplicates. */
static void srn_convoy_executed_test(struct kunit *test)
{
	struct sk_buff *packets[MAX_PACKETS];
	struct target t;

	migrate_disable();
	t = new_target(test, &usual);
	make_packets(test, &usual, t.ref->qpn, packets);
	take(test, &t, packets, &usual);
	KUNIT_EXPECT_EQ(test, t.r.qp->resp.msg.psn, srn_psn_add(PSN, usual.num));
	KUNIT_EXPECT_EQ(test, t.r.qp->resp.msg.msn, 1);
	KUNIT_EXPECT_EQ(test, count(&t, SRN_CNT_RCVD_CONVOYS), 1);
	KUNIT_EXPECT_EQ(test, count(&t, SRN_CNT_RCVD_RUNS), 0);
	KUNIT_EXPECT_EQ(test, count(&t, SRN_CNT_RCVD_PKTS), usual.num);
	KUNIT_EXPECT_EQ(test, count(&t, SRN_CNT_SENT_ACK), 1);
	expect_memory(test, t.r.mem, 0, payload_len(&usual));
	make_packets(test, &usual, t.ref->qpn, packets);
	take(test, &t, packets, &usual);
	migrate_enable();
	KUNIT_EXPECT_EQ(test, count(&t, SRN_CNT_SPLIT_CONVOYS), 1);
	KUNIT_EXPECT_EQ(test, count(&t, SRN_CNT_SPLIT_RUNS), 0);
	KUNIT_EXPECT_EQ(test, count(&t, SRN_CNT_DUP_REQUEST), usual.num);
	KUNIT_EXPECT_EQ(test, t.r.qp->resp.msg.psn, srn_psn_add(PSN, usual.num));
	KUNIT_EXPECT_EQ(test, atomic_read(&t.r.qp->rxq_bytes), 0);
}

/* Of packets that were made anew, each kept with a reference. */
static struct page *pages[MAX_PACKETS];
static u32 num_pages;

/* As NICs' drivers make them: in one page behind the headers, of which the last @apart bytes are another
 * fragment.
 */
static void repage(struct kunit *test, struct sk_buff *skb, u32 apart)
{
	struct page *page = alloc_page(GFP_ATOMIC);
	u32 len = skb->data_len;

	KUNIT_ASSERT_NOT_NULL(test, page);
	skb_copy_bits(skb, skb_headlen(skb), page_address(page), len);
	KUNIT_ASSERT_EQ(test, pskb_trim(skb, skb_headlen(skb)), 0);
	get_page(page);
	pages[num_pages++] = page;
	skb_add_rx_frag(skb, 0, page, 0, len - apart, PAGE_SIZE);
	if (!apart)
		return;
	get_page(page);
	skb_add_rx_frag(skb, 1, page, len - apart, apart, SMP_CACHE_BYTES);
}

static void in_one_page(struct kunit *test, struct sk_buff *skb) { repage(test, skb, 0); }
static void trailer_apart(struct kunit *test, struct sk_buff *skb) { repage(test, skb, SRN_ICRC_SIZE); }
static void trailer_in_two(struct kunit *test, struct sk_buff *skb) { repage(test, skb, 2); }

static void in_one_piece(struct kunit *test, struct sk_buff *skb)
{
	KUNIT_ASSERT_EQ(test, skb_linearize(skb), 0);
}

/* With the packets nobody has a part in them any more. */
static void expect_freed(struct kunit *test)
{
	while (num_pages) {
		KUNIT_EXPECT_EQ(test, page_ref_count(pages[--num_pages]), 1);
		put_page(pages[num_pages]);
	}
}

/* Wherever its trailers are. */
static void srn_convoy_shapes_test(struct kunit *test)
{
	static void (*const made[])(struct kunit *test, struct sk_buff *skb) = {
		in_one_page, trailer_apart, trailer_in_two, in_one_piece,
	};
	struct sk_buff *packets[MAX_PACKETS];
	struct target t;
	u32 i, k;

	migrate_disable();
	for (i = 0; i < ARRAY_SIZE(made); i++) {
		t = new_target(test, &usual);
		make_packets(test, &usual, t.ref->qpn, packets);
		for (k = 0; k < usual.num; k++)
			made[i](test, packets[k]);
		take(test, &t, packets, &usual);
		KUNIT_EXPECT_EQ(test, count(&t, SRN_CNT_RCVD_CONVOYS), 1);
		KUNIT_EXPECT_EQ(test, count(&t, SRN_CNT_RX_ICRC), 0);
		expect_memory(test, t.r.mem, 0, payload_len(&usual));
		KUNIT_EXPECT_EQ(test, t.r.qp->resp.msg.psn, srn_psn_add(PSN, usual.num));
		expect_freed(test);
	}
	migrate_enable();
}

/* What a tunnel to our port carries may look like one, but says that it is encapsulated. */
static void srn_convoy_arrived_test(struct kunit *test)
{
	struct sk_buff *skb = kunit_zalloc_skb(test, 64, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	KUNIT_EXPECT_FALSE(test, srn_convoy_arrived(skb));
	skb_shinfo(skb)->gso_type = SRN_CONVOY_TYPE;
	KUNIT_EXPECT_TRUE(test, srn_convoy_arrived(skb));
	skb_shinfo(skb)->gso_type |= SKB_GSO_TCP_FIXEDID;
	KUNIT_EXPECT_TRUE(test, srn_convoy_arrived(skb));
	skb->encapsulation = 1;
	KUNIT_EXPECT_FALSE(test, srn_convoy_arrived(skb));
}

/* A byte of packet @bad was changed: it is lost, all before it is executed, all behind it held. */
static void expect_damaged(struct kunit *test, u32 bad)
{
	struct sk_buff *packets[MAX_PACKETS];
	struct target t = new_target(test, &usual);
	u8 byte;

	make_packets(test, &usual, t.ref->qpn, packets);
	skb_copy_bits(packets[bad], packets[bad]->len - 1, &byte, 1);
	byte ^= 0x40;
	skb_store_bits(packets[bad], packets[bad]->len - 1, &byte, 1);
	take(test, &t, packets, &usual);
	KUNIT_EXPECT_EQ(test, count(&t, SRN_CNT_RX_ICRC), 1);
	KUNIT_EXPECT_EQ(test, count(&t, SRN_CNT_RCVD_PKTS), usual.num - 1);
	KUNIT_EXPECT_EQ(test, t.r.qp->resp.msg.psn, srn_psn_add(PSN, bad));
	KUNIT_EXPECT_EQ(test, count(&t, SRN_CNT_HELD), usual.num - 1 - bad);
	expect_memory(test, t.r.mem, 0, bad * usual.each);
	srn_hold_purge(t.r.qp->dev, &t.r.qp->resp.hold);
	KUNIT_EXPECT_EQ(test, atomic_read(&t.r.qp->rxq_bytes), 0);
}

static void srn_convoy_damaged_test(struct kunit *test)
{
	u32 i;

	migrate_disable();
	for (i = 0; i < usual.num; i++)
		expect_damaged(test, i);
	migrate_enable();
}

/* Each counts that would have counted by itself. */
static void srn_convoy_refused_test(struct kunit *test)
{
	struct sk_buff *packets[MAX_PACKETS];
	struct target t;

	migrate_disable();
	t = new_target(test, &usual);
	make_packets(test, &usual, t.ref->qpn ^ 0x800000, packets);
	take(test, &t, packets, &usual);
	KUNIT_EXPECT_EQ(test, count(&t, SRN_CNT_RX_NO_QP), usual.num);
	t.r.qp->path.v4.daddr = htonl(OTHER);
	make_packets(test, &usual, t.ref->qpn, packets);
	take(test, &t, packets, &usual);
	migrate_enable();
	KUNIT_EXPECT_EQ(test, count(&t, SRN_CNT_RX_BAD_ADDR), usual.num);
	KUNIT_EXPECT_EQ(test, count(&t, SRN_CNT_RX_ICRC), 0);
	KUNIT_EXPECT_EQ(test, count(&t, SRN_CNT_RCVD_PKTS), 0);
}

/* NAT sees the first alone. */
static void take_changed(struct kunit *test, const struct target *t, void (*change)(struct sk_buff *skb))
{
	struct sk_buff *packets[MAX_PACKETS], *skb;

	make_packets(test, &usual, t->ref->qpn, packets);
	skb = couple(test, t->napi, packets, usual.num);
	change(skb);
	to_target(test, t, skb);
	KUNIT_EXPECT_TRUE(test, wait_idle(t->r.qp));
	KUNIT_EXPECT_EQ(test, count(t, SRN_CNT_RCVD_PKTS), 0);
}

static void other_peer(struct sk_buff *skb) { ip_hdr(skb)->saddr = htonl(OTHER); }
static void other_sport(struct sk_buff *skb) { udp_hdr(skb)->source ^= htons(1); }

/* What it changed is none of the QP's, or has a wrong ICRC: no packet of it. */
static void srn_convoy_nat_test(struct kunit *test)
{
	struct target t;

	migrate_disable();
	t = new_target(test, &usual);
	take_changed(test, &t, other_host);
	KUNIT_EXPECT_EQ(test, count(&t, SRN_CNT_RX_BAD_ADDR), usual.num);
	take_changed(test, &t, other_peer);
	KUNIT_EXPECT_EQ(test, count(&t, SRN_CNT_RX_BAD_ADDR), 2 * usual.num);
	take_changed(test, &t, other_sport);
	KUNIT_EXPECT_EQ(test, count(&t, SRN_CNT_RX_ICRC), usual.num);
	migrate_enable();
}

static void srn_convoy_nat6_test(struct kunit *test)
{
	struct napi *napi = new_napi(test, fake_dev(test));
	struct sk_buff *packets[MAX_PACKETS], *skb;
	struct sk_buff_head parts;
	struct in6_addr to;
	u32 lost;

	__skb_queue_head_init(&parts);
	make_packets(test, &usual6, QPN, packets);
	skb = couple(test, napi, packets, usual6.num);
	ipv6_hdr(skb)->daddr.s6_addr[15] ^= 1;
	to = ipv6_hdr(skb)->daddr;
	KUNIT_ASSERT_EQ(test, srn_convoy_part(to_socket(skb), &parts, &lost), SRN_PARSE_OK);
	skb_queue_walk(&parts, skb)
		KUNIT_EXPECT_TRUE(test, ipv6_addr_equal(&ipv6_hdr(skb)->daddr, &to));
	__skb_queue_purge(&parts);
}

/* There is never room for all of it. */
static void srn_convoy_no_room_test(struct kunit *test)
{
	struct sk_buff *packets[MAX_PACKETS];
	const struct shape *s = &shapes[4];
	struct target t;
	u32 in;

	migrate_disable();
	t = new_target(test, &usual);
	srn_turn_own(&t.r.qp->turn);
	atomic_set(&t.r.qp->dev->num_qps, 65536);
	atomic_long_set(&t.r.qp->dev->rxq_bytes, SRN_DEV_RXQ_BYTES);
	make_packets(test, s, t.ref->qpn, packets);
	to_target(test, &t, couple(test, t.napi, packets, s->num));
	migrate_enable();
	in = skb_queue_len(&t.r.qp->rxq);
	KUNIT_EXPECT_GT(test, in, 2);
	KUNIT_EXPECT_LE(test, atomic_read(&t.r.qp->rxq_bytes), SRN_RXQ_OWN_MIN_BYTES);
	KUNIT_EXPECT_EQ(test, count(&t, SRN_CNT_SPLIT_CONVOYS), 1);
	KUNIT_EXPECT_EQ(test, count(&t, SRN_CNT_RCVD_PKTS), in);
	KUNIT_EXPECT_EQ(test, count(&t, SRN_CNT_RCVD_BYTES),
			in * (sizeof(struct srn_bth) + s->each + SRN_ICRC_SIZE));
	KUNIT_EXPECT_EQ(test, count(&t, SRN_CNT_RX_DEV_FULL), s->num - in);
	srn_rxq_purge(t.r.qp);
	KUNIT_EXPECT_EQ(test, atomic_read(&t.r.qp->rxq_bytes), 0);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&t.r.qp->dev->rxq_bytes), SRN_DEV_RXQ_BYTES);
}

#ifdef CONFIG_FAILSLAB
/* Somebody captures: what is ours has to be made, and the @nth of what that takes is not there. */
static u32 lost_without_memory(struct kunit *test, u32 nth)
{
	struct sk_buff *packets[MAX_PACKETS], *skb, *seen;
	struct target t = new_target(test, &usual);

	make_packets(test, &usual, t.ref->qpn, packets);
	skb = couple(test, t.napi, packets, usual.num);
	seen = skb_clone(skb, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, seen);
	current->fail_nth = nth;
	to_target(test, &t, skb);
	current->fail_nth = 0;
	kfree_skb(seen);
	KUNIT_EXPECT_TRUE(test, wait_idle(t.r.qp));
	KUNIT_EXPECT_EQ(test, count(&t, SRN_CNT_RX_LENGTH), 0);
	KUNIT_EXPECT_FALSE(test, srn_net_gro_rests(&t.napi->snet));
	KUNIT_EXPECT_EQ(test, count(&t, SRN_CNT_RCVD_PKTS) + count(&t, SRN_CNT_RX_NOMEM), usual.num);
	return count(&t, SRN_CNT_RX_NOMEM);
}

/* Each that is lost counts, be it all of them or those behind the first. Some of what fails is the kernel's own, for
 * debugging: how much is not the same in each run.
 */
static void srn_convoy_without_memory_test(struct kunit *test)
{
	unsigned long seen = 0;
	u32 nth;

	migrate_disable();
	for (nth = 1; nth < 32; nth++)
		seen |= BIT(lost_without_memory(test, nth));
	migrate_enable();
	KUNIT_EXPECT_NE(test, seen & GENMASK(usual.num, 1), 0);
}
#endif
static struct kunit_case srn_convoy_cases[] = {
	KUNIT_CASE(srn_convoy_executed_test),
	KUNIT_CASE(srn_convoy_arrived_test),
	KUNIT_CASE(srn_convoy_shapes_test),
	KUNIT_CASE(srn_convoy_damaged_test),
	KUNIT_CASE(srn_convoy_refused_test),
	KUNIT_CASE(srn_convoy_nat_test),
	KUNIT_CASE(srn_convoy_nat6_test),
	KUNIT_CASE(srn_convoy_no_room_test),
#ifdef CONFIG_FAILSLAB
	KUNIT_CASE(srn_convoy_without_memory_test),
#endif
	{}
};

static struct kunit_suite srn_convoy_suite = {
	.name = "srn_convoy",
	.init = srn_napi_init,
	.exit = srn_napi_exit,
	.test_cases = srn_convoy_cases,
};

kunit_test_suite(srn_convoy_suite);
