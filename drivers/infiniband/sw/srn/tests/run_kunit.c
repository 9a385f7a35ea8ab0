// SPDX-License-Identifier: GPL-2.0-only
/* Runs: what the stack makes of one is what would have left as packets; what is none is refused. */
#include "../build.h"
#include "../net.h"
#include "../payer.h"
#include "../psn.h"
#include "../run.h"
#include "../run_cut.h"
#include "../stats.h"
#include "fake_round.h"
#include "fake_route.h"

#include <kunit/test.h>
#include <linux/ipv6.h>
#include <net/gso.h>
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
};

static const struct shape shapes[] = {
	{ "a WRITE", IB_OPCODE_RC_RDMA_WRITE_FIRST, IB_OPCODE_RC_RDMA_WRITE_LAST, 15, 4096, 4096 },
	{ "its pad", IB_OPCODE_RC_RDMA_WRITE_FIRST, IB_OPCODE_RC_RDMA_WRITE_LAST, 3, 1024, 5,
	  SRN_PKT_ACKREQ },
	{ "one byte", IB_OPCODE_RC_RDMA_WRITE_MIDDLE, IB_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE,
	  2, 1024, 1, SRN_PKT_ACKREQ | SRN_PKT_SE },
	{ "the middle", IB_OPCODE_RC_SEND_MIDDLE, IB_OPCODE_RC_SEND_MIDDLE, 60, 1024, 1024 },
	{ "IPv6", IB_OPCODE_RC_SEND_FIRST, IB_OPCODE_RC_SEND_LAST_WITH_INVALIDATE, 4, 2048, 2,
	  SRN_PKT_SE, true },
	{ "an answer", IB_OPCODE_RC_RDMA_READ_RESPONSE_FIRST, IB_OPCODE_RC_RDMA_READ_RESPONSE_LAST,
	  5, 512, 511, 0, true },
	{ "who has linearised it", IB_OPCODE_RC_RDMA_WRITE_FIRST, IB_OPCODE_RC_RDMA_WRITE_LAST,
	  5, 512, 500, SRN_PKT_ACKREQ, false, 5 * 512 },
	{ "who has done so in part", IB_OPCODE_RC_RDMA_WRITE_FIRST, IB_OPCODE_RC_RDMA_WRITE_LAST,
	  5, 512, 500, SRN_PKT_ACKREQ, true, 700 },
};

KUNIT_ARRAY_PARAM_DESC(shape, shapes, desc);

static u32 payload_len(const struct shape *s)
{
	return (s->num - 1) * s->each + s->tail;
}

static u8 byte_at(u32 at)
{
	return at * 7 + (at >> 8);
}

static void put_pages(struct kunit *test, struct sk_buff *skb, u32 from, u32 to)
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

/* From the BTH on, as srn_run_xmit() is given it. */
static struct sk_buff *build(struct kunit *test, const struct srn_path *path, const struct shape *s)
{
	const u16 hdrs = srn_opcodes[s->first].hdrs;
	struct srn_run run = {
		.num = s->num, .each = s->each, .opcode = s->last, .flags = s->flags,
		.word = cpu_to_be32(WORD),
	};
	u32 len = payload_len(s), linear = min(s->linear, len), i;
	struct sk_buff *skb;

	local_bh_disable();
	skb = srn_build(s->first, 0, QPN, PSN, sizeof(run));
	local_bh_enable();
	KUNIT_ASSERT_NOT_NULL(test, skb);
	if (hdrs & SRN_HDR_RETH)
		srn_build_reth(skb, VA, rkey, len);
	if (hdrs & SRN_HDR_AETH)
		srn_build_aeth(skb, SRN_SYN_ACK_UNLIMITED, 3);
	srn_run_put(skb, path, &run);
	if (linear)
		KUNIT_ASSERT_EQ(test, 0, pskb_expand_head(skb, 0, linear, GFP_KERNEL));
	for (i = 0; i < linear; i++)
		*(u8 *)skb_put(skb, 1) = byte_at(i);
	put_pages(test, skb, linear, len);
	return skb;
}

static struct sk_buff *left;

static int leave(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	kfree_skb(left);
	left = skb;
	return 0;
}

static struct srn_path *new_path(struct kunit *test, bool is_v6)
{
	struct srn_path *path = kunit_kzalloc(test, sizeof(*path), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, path);
	path->dev = fake_dev(test);
	path->is_v6 = is_v6;
	path->ttl = 64;
	/* A socket that nobody looks at, since the route is in the cache. */
	path->dev->snet = kunit_kzalloc(test, sizeof(*path->dev->snet), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, path->dev->snet);
	path->dev->snet->sock6 = kunit_kzalloc(test, sizeof(struct socket), GFP_KERNEL);
	fake_route(test, path, leave);
	return path;
}

/* As it leaves, skb->data at the IP header. */
static struct sk_buff *send(struct kunit *test, struct srn_path *path, const struct shape *s,
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

/* By the stack, for a netdev with @features. */
static struct sk_buff *cut(struct kunit *test, struct sk_buff *skb, netdev_features_t features)
{
	struct net_device *dev = kunit_kzalloc(test, sizeof(*dev), GFP_KERNEL);
	struct sk_buff *segments;

	KUNIT_ASSERT_NOT_NULL(test, dev);
	dev->hw_enc_features = features;
	skb->dev = dev;
	rcu_read_lock();
	segments = __skb_gso_segment(skb, features, true);
	rcu_read_unlock();
	return segments;
}

static void expect_payload(struct kunit *test, struct sk_buff *skb, u32 from)
{
	const u32 at = srn_pkt_payload(skb), len = srn_pkt(skb)->len;
	u32 i, wrong = 0;
	u8 byte;

	for (i = 0; i < len; i++)
		wrong += skb_copy_bits(skb, at + i, &byte, 1) || byte != byte_at(from + i);
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

/* Packet @i of the message's, parsed. */
static void expect_packet(struct kunit *test, struct sk_buff *skb, const struct shape *s, u32 i)
{
	const struct srn_opcode *info = srn_pkt_info(skb);
	const struct srn_pkt *pkt = srn_pkt(skb);
	bool last = i == s->num - 1;
	u8 flags = (last ? s->flags : 0) | (s->is_v6 ? SRN_PKT_V6 : 0);

	KUNIT_EXPECT_EQ(test, pkt->psn, srn_psn_add(PSN, i));
	KUNIT_EXPECT_EQ(test, pkt->qpn, QPN);
	KUNIT_EXPECT_EQ(test, pkt->flags, flags);
	KUNIT_EXPECT_EQ(test, pkt->len, last ? s->tail : s->each);
	KUNIT_EXPECT_EQ(test, info->op, srn_opcodes[s->first].op);
	if (!i)
		KUNIT_EXPECT_EQ(test, pkt->opcode, s->first);
	else if (last)
		KUNIT_EXPECT_EQ(test, pkt->opcode, s->last);
	else
		KUNIT_EXPECT_EQ(test, info->pos, SRN_POS_MIDDLE);
	if (info->hdrs & SRN_HDR_RETH) {
		KUNIT_EXPECT_EQ(test, be64_to_cpu(srn_pkt_reth(skb)->va), VA);
		KUNIT_EXPECT_EQ(test, be32_to_cpu(srn_pkt_reth(skb)->rkey), rkey);
		KUNIT_EXPECT_EQ(test, be32_to_cpu(srn_pkt_reth(skb)->len), payload_len(s));
	}
	if (last && info->hdrs)
		KUNIT_EXPECT_EQ(test, be32_to_cpu(srn_pkt_imm(skb)), WORD);
	expect_payload(test, skb, i * s->each);
}

static void expect_segment(struct kunit *test, struct sk_buff *skb, const struct shape *s, u32 i)
{
	skb_reset_network_header(skb);
	if (!s->is_v6)
		KUNIT_EXPECT_EQ(test, ntohs(ip_hdr(skb)->id), i);
	skb_pull(skb, s->is_v6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr));
	KUNIT_EXPECT_FALSE(test, skb_is_gso(skb));
	KUNIT_EXPECT_FALSE(test, skb->encapsulation);
	KUNIT_ASSERT_EQ(test, srn_parse(skb), SRN_PARSE_OK);
	KUNIT_EXPECT_EQ(test, srn_parse_icrc(skb), SRN_PARSE_OK);
	expect_packet(test, skb, s, i);
}

static void expect_segments(struct kunit *test, const struct shape *s, netdev_features_t features)
{
	struct srn_path *path = new_path(test, s->is_v6);
	struct sk_buff *skb = send(test, path, s, NULL), *segments, *next;
	u64 bytes = 0;
	u32 i = 0;

	segments = cut(test, skb, features);
	KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(segments));
	for (; segments; segments = next) {
		next = segments->next;
		skb_mark_not_on_list(segments);
		if (!(features & NETIF_F_SG))
			KUNIT_EXPECT_FALSE(test, skb_is_nonlinear(segments));
		expect_segment(test, segments, s, i++);
		bytes += segments->len - sizeof(struct udphdr);
		kfree_skb(segments);
	}
	KUNIT_EXPECT_EQ(test, i, s->num);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(path->dev, SRN_CNT_SENT_PKTS), s->num);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(path->dev, SRN_CNT_SENT_BYTES), bytes);
	kfree_skb(skb);
}

/* With pages, and for a netdev that takes none. */
static void srn_run_segments_test(struct kunit *test)
{
	migrate_disable();
	expect_segments(test, test->param_value, NETIF_F_SG);
	expect_segments(test, test->param_value, 0);
	migrate_enable();
}

/* As the socket is given it. */
static void arrive(struct sk_buff *skb, bool is_v6)
{
	skb_reset_network_header(skb);
	skb_pull(skb, is_v6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr));
}

/* What arrives uncut, and has to be cut here. */
static void srn_run_split_test(struct kunit *test)
{
	const struct shape *s = test->param_value;
	struct sk_buff_head parts;
	struct sk_buff *skb;
	u32 i;

	__skb_queue_head_init(&parts);
	migrate_disable();
	skb = send(test, new_path(test, s->is_v6), s, NULL);
	migrate_enable();
	arrive(skb, s->is_v6);
	KUNIT_EXPECT_TRUE(test, srn_run_arrived(skb));
	KUNIT_ASSERT_EQ(test, srn_run_parse(skb), SRN_PARSE_OK);
	KUNIT_EXPECT_TRUE(test, srn_pkt_is_run(skb));
	KUNIT_EXPECT_EQ(test, srn_pkt_num(skb), s->num);
	KUNIT_EXPECT_EQ(test, srn_pkt_last_psn(skb), srn_psn_add(PSN, s->num - 1));
	KUNIT_EXPECT_EQ(test, srn_pkt(skb)->len, payload_len(s));
	expect_payload(test, skb, 0);
	KUNIT_EXPECT_EQ(test, srn_run_split(skb, &parts), 0);
	kfree_skb(skb);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&parts), s->num);
	for (i = 0; i < s->num; i++) {
		skb = __skb_dequeue(&parts);
		KUNIT_ASSERT_NOT_NULL(test, skb);
		KUNIT_EXPECT_FALSE(test, srn_pkt_is_run(skb));
		KUNIT_EXPECT_EQ(test, (int)ip_hdr(skb)->version, s->is_v6 ? 6 : 4);
		expect_packet(test, skb, s, i);
		kfree_skb(skb);
	}
}

/* What is wrong with a run that somebody forged. */
struct forged {
	const char *desc;
	void (*forge)(struct srn_run *run, struct srn_bth *bth);
};

#define FORGE(_name, _what)						\
static void _name(struct srn_run *run, struct srn_bth *bth)		\
{									\
	_what;								\
}

FORGE(no_magic, run->magic++)
FORGE(one_packet, run->num = 1)
FORGE(one_more, run->num++)
FORGE(one_less, run->num--)
FORGE(too_many, run->num = SRN_RUN_MAX + 1)
FORGE(no_length, run->each = 0)
FORGE(odd_length, run->each -= 2)
FORGE(too_long, run->each = 8192)
FORGE(other_end, run->opcode = IB_OPCODE_RC_SEND_LAST)
FORGE(other_service, run->opcode = IB_OPCODE_UC_RDMA_WRITE_LAST)
FORGE(no_end, run->opcode = IB_OPCODE_RC_RDMA_WRITE_ONLY)
FORGE(short_middle, run->opcode = IB_OPCODE_RC_RDMA_WRITE_MIDDLE)
FORGE(no_start, bth->opcode = IB_OPCODE_RC_RDMA_WRITE_ONLY)
FORGE(no_payload, bth->opcode = IB_OPCODE_RC_RDMA_READ_REQUEST)
FORGE(reserved, bth->opcode = 0xff)

#define FORGED(_f)	{ #_f, _f }

static const struct forged forged[] = {
	FORGED(no_magic), FORGED(one_packet), FORGED(one_more), FORGED(one_less), FORGED(too_many),
	FORGED(no_length), FORGED(odd_length), FORGED(too_long), FORGED(other_end),
	FORGED(other_service), FORGED(no_end), FORGED(short_middle), FORGED(no_start),
	FORGED(no_payload), FORGED(reserved),
};

KUNIT_ARRAY_PARAM_DESC(forged, forged, desc);

/* Neither cut nor taken. */
static void srn_run_forged_test(struct kunit *test)
{
	static const struct shape sound = {
		"", IB_OPCODE_RC_RDMA_WRITE_FIRST, IB_OPCODE_RC_RDMA_WRITE_LAST, 5, 512, 100,
	};
	const struct forged *row = test->param_value;
	struct sk_buff *skb;
	struct srn_bth *bth;

	migrate_disable();
	skb = send(test, new_path(test, false), &sound, NULL);
	migrate_enable();
	bth = (void *)skb->data + sizeof(struct iphdr) + sizeof(struct udphdr);
	row->forge((void *)bth + srn_opcode_hdr_len(sound.first), bth);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(cut(test, skb, NETIF_F_SG)), -EINVAL);
	arrive(skb, false);
	KUNIT_EXPECT_EQ(test, srn_run_parse(skb), SRN_PARSE_LENGTH);
	kfree_skb(skb);
}

/* Who paid for a run has it back when the last of its packets is gone, and not before. */
static void srn_run_payer_test(struct kunit *test)
{
	struct srn_path *path;
	struct srn_payer payer = {};
	struct sk_buff *skb, *segments, *next;
	unsigned int before;

	KUNIT_ASSERT_EQ(test, 0, srn_payer_open(&payer, &init_net));
	before = refcount_read(&payer.sock->sk->sk_wmem_alloc);
	migrate_disable();
	path = new_path(test, false);
	skb = send(test, path, &shapes[0], &payer);
	migrate_enable();
	KUNIT_EXPECT_GE(test, refcount_read(&payer.sock->sk->sk_wmem_alloc),
			before + payload_len(&shapes[0]));
	segments = cut(test, skb, NETIF_F_SG);
	consume_skb(skb);
	KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(segments));
	for (; segments; segments = next) {
		KUNIT_EXPECT_GE(test, refcount_read(&payer.sock->sk->sk_wmem_alloc),
				before + payload_len(&shapes[0]));
		next = segments->next;
		consume_skb(segments);
	}
	KUNIT_EXPECT_EQ(test, refcount_read(&payer.sock->sk->sk_wmem_alloc), before);
	srn_payer_close(&payer);
}

static const struct shape write = {
	"", IB_OPCODE_RC_RDMA_WRITE_FIRST, IB_OPCODE_RC_RDMA_WRITE_LAST, 5, 1024, 7, SRN_PKT_ACKREQ,
};

/* A QP that expects the run, from nowhere to nowhere, memory for it, and the path it comes by. */
struct receiver {
	struct srn_qp *qp;
	struct srn_mem *mem;
	struct srn_path *path;
};

static struct receiver new_receiver(struct kunit *test)
{
	struct srn_qp *qp = &new_owner(test)->qp;
	struct srn_mem *mem;

	qp->path.v4.saddr = 0;
	qp->path.v4.daddr = 0;
	qp->mtu = write.each;
	qp->recovery = SRN_RECOVERY_HOLD;
	qp->access = IB_ACCESS_REMOTE_WRITE;
	qp->ibqp.pd = fake_pd(test, qp->dev);
	qp->who.pd = qp->ibqp.pd;
	qp->resp.msg.psn = PSN;
	mem = fake_mr(test, qp->dev, qp->ibqp.pd, VA, payload_len(&write), 0,
		      IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE);
	rkey = mem->key;
	return (struct receiver){ .qp = qp, .mem = mem, .path = new_path(test, false) };
}

/* The WRITE arrives whole. */
static void receive(struct kunit *test, const struct receiver *r)
{
	struct sk_buff *skb = send(test, r->path, &write, NULL);

	arrive(skb, false);
	skb_dst_drop(skb);
	KUNIT_ASSERT_EQ(test, srn_run_parse(skb), SRN_PARSE_OK);
	local_bh_disable();
	srn_round_rx(r->qp, skb);
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, wait_idle(r->qp));
}

static struct sk_buff *from_nowhere(struct sk_buff *skb)
{
	ip_hdr(skb)->saddr = 0;
	ip_hdr(skb)->daddr = 0;
	return skb;
}

static void expect_memory(struct kunit *test, const struct srn_mem *mem)
{
	u32 i, wrong = 0;
	u64 here;

	for (i = 0; i < payload_len(&write); i++)
		wrong += *(u8 *)srn_mem_span(mem, VA + i, &here) != byte_at(i);
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

static u64 count(const struct srn_qp *qp, enum srn_counter counter)
{
	return srn_stats_sum(qp->dev, counter);
}

/* What is next is executed as one, and acknowledged once; a second time it is that many
 * duplicates.
 */
static void srn_run_next_test(struct kunit *test)
{
	struct receiver r;

	migrate_disable();
	r = new_receiver(test);
	receive(test, &r);
	KUNIT_EXPECT_EQ(test, r.qp->resp.msg.psn, srn_psn_add(PSN, write.num));
	KUNIT_EXPECT_EQ(test, r.qp->resp.msg.msn, 1);
	KUNIT_EXPECT_EQ(test, r.qp->resp.ack.done_psn, srn_psn_add(PSN, write.num - 1));
	KUNIT_EXPECT_EQ(test, count(r.qp, SRN_CNT_SENT_ACK), 1);
	KUNIT_EXPECT_EQ(test, count(r.qp, SRN_CNT_RCVD_RUNS), 1);
	KUNIT_EXPECT_EQ(test, count(r.qp, SRN_CNT_SPLIT_RUNS), 0);
	KUNIT_EXPECT_EQ(test, count(r.qp, SRN_CNT_RCVD_PKTS), write.num);
	KUNIT_EXPECT_EQ(test, count(r.qp, SRN_CNT_RCVD_BYTES),
			srn_stats_sum(r.path->dev, SRN_CNT_SENT_BYTES));
	expect_memory(test, r.mem);
	receive(test, &r);
	migrate_enable();
	KUNIT_EXPECT_EQ(test, r.qp->resp.msg.psn, srn_psn_add(PSN, write.num));
	KUNIT_EXPECT_EQ(test, count(r.qp, SRN_CNT_SPLIT_RUNS), 1);
	KUNIT_EXPECT_EQ(test, count(r.qp, SRN_CNT_DUP_REQUEST), write.num);
	KUNIT_EXPECT_EQ(test, count(r.qp, SRN_CNT_SENT_ACK), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&r.qp->rxq_bytes), 0);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&r.qp->dev->rxq_bytes), 0);
}

/* What comes early is held as packets, and executed when what is missing is here. */
static void srn_run_early_test(struct kunit *test)
{
	struct sk_buff *skb;
	struct receiver r;

	migrate_disable();
	r = new_receiver(test);
	r.qp->resp.msg.psn = srn_psn_add(PSN, -1);
	receive(test, &r);
	KUNIT_EXPECT_EQ(test, count(r.qp, SRN_CNT_HELD), write.num);
	KUNIT_EXPECT_EQ(test, count(r.qp, SRN_CNT_SENT_NAK), 1);
	/* A WRITE of nothing. */
	local_bh_disable();
	skb = new_packet(test, IB_OPCODE_RC_RDMA_WRITE_ONLY, srn_psn_add(PSN, -1));
	srn_round_rx(r.qp, from_nowhere(skb));
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, wait_idle(r.qp));
	migrate_enable();
	KUNIT_EXPECT_EQ(test, r.qp->resp.msg.psn, srn_psn_add(PSN, write.num));
	KUNIT_EXPECT_EQ(test, r.qp->resp.msg.msn, 2);
	expect_memory(test, r.mem);
	srn_hold_purge(r.qp->dev, &r.qp->resp.hold);
}

/* One whose packets are not of the path MTU is refused as those would be. */
static void srn_run_of_other_length_test(struct kunit *test)
{
	struct receiver r;

	migrate_disable();
	r = new_receiver(test);
	r.qp->mtu = 2048;
	receive(test, &r);
	migrate_enable();
	KUNIT_EXPECT_EQ(test, r.qp->state, IB_QPS_ERR);
	KUNIT_EXPECT_EQ(test, count(r.qp, SRN_CNT_SENT_NAK), 1);
	KUNIT_EXPECT_EQ(test, r.qp->resp.msg.psn, PSN);
	srn_round_purge(r.qp);
}

#define WHOLE	(NETIF_F_GSO | NETIF_F_SG | NETIF_F_GSO_UDP_TUNNEL | NETIF_F_GSO_FRAGLIST)

static const struct packets_row {
	const char *desc;
	netdev_features_t features, enc;
	u32 segs, num, each, packets;
	u32 size;	/* 0: what netdevs have by themselves */
} packets_rows[] = {
	{ "all of a short message", WHOLE, WHOLE, 65535, 15, 4096, 15 },
	{ "two of one length", WHOLE, WHOLE, 65535, 16, 4096, 8 },
	{ "small ones", WHOLE, WHOLE, 65535, 60, 1024, 60 },
	{ "as many as the stack takes", WHOLE, WHOLE, 65535, 64, 512, 64 },
	{ "no more than that", WHOLE, WHOLE, 65535, 66, 512, 33 },
	{ "one packet", WHOLE, WHOLE, 65535, 1, 4096, 1 },
	{ "a netdev that takes few", WHOLE, WHOLE, 4, 8, 1024, 4 },
	{ "a netdev that takes none", WHOLE, WHOLE, 1, 8, 1024, 1 },
	{ "a netdev that takes little", WHOLE, WHOLE, 65535, 15, 4096, 5, 30000 },
	{ "a netdev that takes nothing", WHOLE, WHOLE, 65535, 15, 4096, 1, 100 },
	{ "segmentation is off", WHOLE & ~NETIF_F_GSO, WHOLE, 65535, 8, 1024, 1 },
	{ "no lists", WHOLE & ~NETIF_F_GSO_FRAGLIST, WHOLE, 65535, 8, 1024, 1 },
	{ "no tunnels", WHOLE & ~NETIF_F_GSO_UDP_TUNNEL, WHOLE, 65535, 8, 1024, 1 },
	{ "nothing inside of tunnels", WHOLE, 0, 65535, 8, 1024, 1 },
};

KUNIT_ARRAY_PARAM_DESC(packets, packets_rows, desc);

static void srn_run_packets_test(struct kunit *test)
{
	const struct packets_row *row = test->param_value;
	struct net_device *dev = kunit_kzalloc(test, sizeof(*dev), GFP_KERNEL);
	struct srn_path *path;
	struct dst_entry *dst;
	struct net_device *lo;

	KUNIT_ASSERT_NOT_NULL(test, dev);
	dev->features = row->features;
	dev->hw_enc_features = row->enc;
	dev->gso_max_segs = row->segs;
	dev->gso_ipv4_max_size = row->size ?: GSO_LEGACY_MAX_SIZE;
	dev_net_set(dev, &init_net);
	migrate_disable();
	path = new_path(test, false);
	local_bh_disable();
	dst = dst_cache_get(&path->cache);
	KUNIT_ASSERT_NOT_NULL(test, dst);
	lo = dst->dev;
	dst->dev = dev;
	KUNIT_EXPECT_EQ(test, srn_run_packets(path, row->num, row->each), row->packets);
	dst->dev = lo;
	dst_release(dst);
	local_bh_enable();
	migrate_enable();
}

static struct kunit_case srn_run_cases[] = {
	KUNIT_CASE_PARAM(srn_run_segments_test, shape_gen_params),
	KUNIT_CASE_PARAM(srn_run_split_test, shape_gen_params),
	KUNIT_CASE_PARAM(srn_run_forged_test, forged_gen_params),
	KUNIT_CASE(srn_run_payer_test),
	KUNIT_CASE(srn_run_next_test),
	KUNIT_CASE(srn_run_early_test),
	KUNIT_CASE(srn_run_of_other_length_test),
	KUNIT_CASE_PARAM(srn_run_packets_test, packets_gen_params),
	{}
};

static struct kunit_suite srn_run_suite = {
	.name = "srn_run",
	.test_cases = srn_run_cases,
};
kunit_test_suite(srn_run_suite);
