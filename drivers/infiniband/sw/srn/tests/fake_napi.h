/* SPDX-License-Identifier: GPL-2.0-only */
/* A NAPI that receives packets of a message, in a namespace with a device, and asks srn's socket. */
#ifndef SRN_FAKE_NAPI_H
#define SRN_FAKE_NAPI_H

#include "../convoy.h"
#include "../gid.h"
#include "../gro.h"
#include "../psn.h"
#include "fake_receiver.h"

#include <net/gro.h>

static const struct shape shapes[] = {
	{ "a WRITE", IB_OPCODE_RC_RDMA_WRITE_FIRST, IB_OPCODE_RC_RDMA_WRITE_LAST, 15, 4096, 4096 },
	{ "its pad", IB_OPCODE_RC_RDMA_WRITE_FIRST, IB_OPCODE_RC_RDMA_WRITE_LAST, 3, 1024, 5,
	  SRN_PKT_ACKREQ },
	{ "one byte", IB_OPCODE_RC_RDMA_WRITE_MIDDLE, IB_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE,
	  2, 1024, 1, SRN_PKT_ACKREQ | SRN_PKT_SE },
	{ "the middle", IB_OPCODE_RC_SEND_MIDDLE, IB_OPCODE_RC_SEND_MIDDLE, 60, 1024, 1024 },
	{ "the most", IB_OPCODE_RC_SEND_FIRST, IB_OPCODE_RC_SEND_MIDDLE, 64, 512, 512 },
	{ "its end asks", IB_OPCODE_RC_SEND_FIRST, IB_OPCODE_RC_SEND_MIDDLE, 4, 512, 512, SRN_PKT_ACKREQ },
	{ "IPv6", IB_OPCODE_RC_SEND_FIRST, IB_OPCODE_RC_SEND_LAST_WITH_INVALIDATE, 4, 2048, 2,
	  SRN_PKT_SE, true },
	{ "an answer", IB_OPCODE_RC_RDMA_READ_RESPONSE_FIRST, IB_OPCODE_RC_RDMA_READ_RESPONSE_LAST,
	  5, 512, 511, 0, true },
	{ "linear packets", IB_OPCODE_RC_RDMA_WRITE_FIRST, IB_OPCODE_RC_RDMA_WRITE_LAST,
	  5, 512, 500, SRN_PKT_ACKREQ, false, 5 * 512 },
};

static const struct shape usual = {
	"", IB_OPCODE_RC_RDMA_WRITE_FIRST, IB_OPCODE_RC_RDMA_WRITE_LAST, 5, 1024, 1000, SRN_PKT_ACKREQ,
};

static const struct shape usual6 = {
	"", IB_OPCODE_RC_RDMA_WRITE_FIRST, IB_OPCODE_RC_RDMA_WRITE_LAST, 5, 1024, 1000, SRN_PKT_ACKREQ,
	true,
};

#define MAX_PACKETS	64

/* A namespace with a device and its addresses, and what waits in a NAPI. */
struct napi {
	struct sock *sk;
	struct srn_net snet;
	struct list_head held;
	struct sk_buff *ready;	/* the last that went on */
	bool strange;		/* all that waits is of other flows, to the stack */
};

static inline void add_gid(struct srn_gid_table *table, const struct in6_addr *addr)
{
	memcpy(&table->gids[table->num].gid, addr, sizeof(*addr));
	table->gids[table->num].id = table->num + 1;
	table->num++;
}

static const struct in6_addr here6 = { .s6_addr = { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 } };

static inline void give_addresses(struct kunit *test, struct srn_dev *dev)
{
	struct srn_gid_table *table = kunit_kzalloc(test, struct_size(table, gids, 2), GFP_KERNEL);
	struct in6_addr addr;

	KUNIT_ASSERT_NOT_NULL(test, table);
	ipv6_addr_set_v4mapped(htonl(HERE), &addr);
	add_gid(table, &addr);
	add_gid(table, &here6);
	mutex_init(&dev->gid_lock);
	RCU_INIT_POINTER(dev->gids, table);
}

static inline void free_left(void *p)
{
	struct napi *napi = p;
	struct sk_buff *skb, *next;

	list_for_each_entry_safe(skb, next, &napi->held, list) {
		skb_list_del_init(skb);
		kfree_skb(skb);
	}
	kfree_skb(napi->ready);
}

static inline struct napi *new_napi(struct kunit *test, struct srn_dev *dev)
{
	struct napi *napi = kunit_kzalloc(test, sizeof(*napi), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, napi);
	napi->sk = kunit_kzalloc(test, sizeof(*napi->sk), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, napi->sk);
	napi->snet.net = &init_net;
	atomic64_set(&napi->snet.gro_from, get_jiffies_64());
	INIT_LIST_HEAD(&napi->snet.devs);
	INIT_LIST_HEAD(&napi->held);
	list_add(&dev->node, &napi->snet.devs);
	give_addresses(test, dev);
	rcu_assign_sk_user_data(napi->sk, &napi->snet);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, free_left, napi));
	return napi;
}

/* As on a wire; returns how many. @qpn: to which QP. */
static inline u32 make_packets(struct kunit *test, const struct shape *s, u32 qpn, struct sk_buff **packets)
{
	struct srn_path *path = new_path(test, s->is_v6);
	struct sk_buff *skb, *segments;
	struct srn_bth *bth;
	u32 num = 0;

	if (s->is_v6) {
		path->v6.daddr = here6;
	} else {
		path->v4.saddr = htonl(PEER);
		path->v4.daddr = htonl(HERE);
	}
	skb = send(test, path, s, NULL);
	bth = (void *)(udp_hdr(skb) + 1);
	bth->dqpn = cpu_to_be32(qpn);
	segments = cut_by_stack(test, skb, NETIF_F_SG);
	KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(segments));
	for (; segments; num++) {
		KUNIT_ASSERT_LT(test, num, MAX_PACKETS);
		packets[num] = segments;
		segments = segments->next;
		skb_mark_not_on_list(packets[num]);
		skb_dst_drop(packets[num]);
		packets[num]->dev = NULL;
	}
	kfree_skb(skb);
	return num;
}

/* Up to where the stack asks the socket. */
static inline void prepare(struct sk_buff *skb)
{
	u32 at = (ip_hdr(skb)->version == 6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr)) +
		 sizeof(struct udphdr);

	memset(skb->cb, 0, sizeof(skb->cb));
	skb_reset_mac_header(skb);
	skb_reset_network_header(skb);
	skb_set_transport_header(skb, at - sizeof(struct udphdr));
	skb->protocol = htons(ip_hdr(skb)->version == 6 ? ETH_P_IPV6 : ETH_P_IP);
	skb_gro_pull(skb, at);
	NAPI_GRO_CB(skb)->count = 1;
	NAPI_GRO_CB(skb)->encap_mark = 1;
}

enum outcome { NORMAL, HELD, COUPLED };

static inline void go_on(struct napi *napi, struct sk_buff *skb)
{
	skb_list_del_init(skb);
	kfree_skb(napi->ready);
	napi->ready = skb;
}

/* What the stack does with what the socket says. One that is neither held nor coupled is the
 * caller's.
 */
static inline enum outcome give(struct napi *napi, struct sk_buff *skb)
{
	struct sk_buff *p, *ready;

	list_for_each_entry(p, &napi->held, list)
		NAPI_GRO_CB(p)->same_flow = !napi->strange;
	rcu_read_lock();
	ready = srn_gro_receive(napi->sk, &napi->held, skb);
	rcu_read_unlock();
	if (ready)
		go_on(napi, ready);
	if (NAPI_GRO_CB(skb)->same_flow)
		return COUPLED;
	if (NAPI_GRO_CB(skb)->flush)
		return NORMAL;
	NAPI_GRO_CB(skb)->last = skb;
	skb_shinfo(skb)->gso_size = skb_gro_len(skb);
	list_add(&skb->list, &napi->held);
	return HELD;
}

static inline enum outcome receive(struct napi *napi, struct sk_buff *skb)
{
	prepare(skb);
	return give(napi, skb);
}

/* Its head has the length of all. */
static inline void complete_gro(struct sk_buff *skb)
{
	if (ip_hdr(skb)->version == 6)
		ipv6_hdr(skb)->payload_len = htons(skb->len - sizeof(struct ipv6hdr));
	else
		ip_hdr(skb)->tot_len = htons(skb->len);
	udp_hdr(skb)->len = htons(skb->len - skb_transport_offset(skb));
	skb_shinfo(skb)->gso_segs = NAPI_GRO_CB(skb)->count;
}

/* All that waits, at the end of the poll. */
static inline struct sk_buff *flush(struct napi *napi)
{
	struct sk_buff *skb = napi->ready;

	napi->ready = NULL;
	if (!list_empty(&napi->held)) {
		kfree_skb(skb);
		skb = list_first_entry(&napi->held, struct sk_buff, list);
		skb_list_del_init(skb);
	}
	if (skb)
		complete_gro(skb);
	return skb;
}

/* @packets, one of which may be no packet any more: the first is held and all others coupled. */
static inline struct sk_buff *couple(struct kunit *test, struct napi *napi, struct sk_buff **packets, u32 num)
{
	struct sk_buff *skb;
	u32 i;

	for (i = 0; i < num; i++)
		KUNIT_EXPECT_EQ_MSG(test, receive(napi, packets[i]), i ? COUPLED : HELD, "packet %u", i);
	skb = flush(napi);
	KUNIT_ASSERT_NOT_NULL(test, skb);
	KUNIT_EXPECT_TRUE(test, list_empty(&napi->held));
	KUNIT_EXPECT_EQ(test, (u32)skb_shinfo(skb)->gso_segs, num);
	KUNIT_EXPECT_TRUE(test, srn_convoy_arrived(skb));
	return skb;
}

static inline struct srn_bth *bth(struct sk_buff *skb)
{
	return (void *)(udp_hdr(skb) + 1);
}

/* As the socket is given it. */
static inline struct sk_buff *to_socket(struct sk_buff *skb)
{
	skb_pull(skb, skb_transport_offset(skb));
	return skb;
}

static inline void other_host(struct sk_buff *skb) { ip_hdr(skb)->daddr = htonl(OTHER); }

/* As if the parameter were set. */
static bool wanted;

static inline int srn_napi_init(struct kunit *test)
{
	wanted = srn_gro_wanted;
	srn_gro_wanted = true;
	return 0;
}

static inline void srn_napi_exit(struct kunit *test)
{
	srn_gro_wanted = wanted;
}

#endif
