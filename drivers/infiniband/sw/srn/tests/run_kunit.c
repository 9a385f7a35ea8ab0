// SPDX-License-Identifier: GPL-2.0-only
/* Runs: what the stack makes of one is what would have left as packets; what is none is refused. */
#include "../crc.h"
#include "../payer.h"
#include "../psn.h"
#include "../stats.h"
#include "fake_run.h"

#include <linux/if_ether.h>
#include <net/inet_ecn.h>
#include <net/sch_generic.h>

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
	{ "a lent answer", IB_OPCODE_RC_RDMA_READ_RESPONSE_FIRST, IB_OPCODE_RC_RDMA_READ_RESPONSE_LAST,
	  5, 1024, 77, 0, false, 0, true },
	{ "the middle of one", IB_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE,
	  IB_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE, 3, 4096, 4096, 0, true, 0, true },
	{ "a linear one", IB_OPCODE_RC_RDMA_READ_RESPONSE_FIRST, IB_OPCODE_RC_RDMA_READ_RESPONSE_LAST,
	  3, 512, 3, 0, false, 3 * 512, true },
	{ "who has linearised it", IB_OPCODE_RC_RDMA_WRITE_FIRST, IB_OPCODE_RC_RDMA_WRITE_LAST,
	  5, 512, 500, SRN_PKT_ACKREQ, false, 5 * 512 },
	{ "who has done so in part", IB_OPCODE_RC_RDMA_WRITE_FIRST, IB_OPCODE_RC_RDMA_WRITE_LAST,
	  5, 512, 500, SRN_PKT_ACKREQ, true, 700 },
};

KUNIT_ARRAY_PARAM_DESC(shape, shapes, desc);
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

	segments = cut_by_stack(test, skb, features);
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

static void expect_parts(struct kunit *test, struct sk_buff_head *parts, const struct shape *s)
{
	struct sk_buff *skb;
	u32 i;

	KUNIT_EXPECT_EQ(test, skb_queue_len(parts), s->num);
	for (i = 0; i < s->num; i++) {
		skb = __skb_dequeue(parts);
		KUNIT_ASSERT_NOT_NULL(test, skb);
		KUNIT_EXPECT_FALSE(test, srn_pkt_is_run(skb));
		KUNIT_EXPECT_EQ(test, (int)ip_hdr(skb)->version, s->is_v6 ? 6 : 4);
		expect_packet(test, skb, s, i);
		kfree_skb(skb);
	}
}

static unsigned int split(struct sk_buff *skb, struct sk_buff_head *parts)
{
	unsigned int lost;

	__skb_queue_head_init(parts);
	local_bh_disable();
	lost = srn_run_split(skb, parts);
	local_bh_enable();
	return lost;
}

/* What arrives uncut, and has to be cut here. */
static void expect_split(struct kunit *test, struct sk_buff *skb, const struct shape *s)
{
	struct sk_buff_head parts;

	arrive(skb, s->is_v6);
	KUNIT_EXPECT_TRUE(test, srn_run_arrived(skb));
	KUNIT_ASSERT_EQ(test, srn_run_parse(skb), SRN_PARSE_OK);
	KUNIT_EXPECT_TRUE(test, srn_pkt_is_run(skb));
	KUNIT_EXPECT_EQ(test, srn_pkt_num(skb), s->num);
	KUNIT_EXPECT_EQ(test, srn_pkt_last_psn(skb), srn_psn_add(PSN, s->num - 1));
	KUNIT_EXPECT_EQ(test, srn_pkt(skb)->len, payload_len(s));
	expect_payload(test, skb, 0);
	KUNIT_EXPECT_EQ(test, split(skb, &parts), 0);
	kfree_skb(skb);
	expect_parts(test, &parts, s);
	if (s->lent)
		KUNIT_EXPECT_EQ(test, refcount_read(&lender.mem->refs), 1);
}

static void srn_run_split_test(struct kunit *test)
{
	const struct shape *s = test->param_value;
	struct sk_buff *skb;

	migrate_disable();
	skb = send(test, new_path(test, s->is_v6), s, NULL);
	migrate_enable();
	expect_split(test, skb, s);
}

/* A router marks it as one datagram; each of the packets that it has is marked then. */
static void srn_run_marked_test(struct kunit *test)
{
	const struct shape *s = test->param_value;
	struct sk_buff *skb, *part;
	struct sk_buff_head parts;
	struct srn_path *path;

	migrate_disable();
	path = new_path(test, s->is_v6);
	path->ecn = INET_ECN_ECT_0;
	skb = send(test, path, s, NULL);
	migrate_enable();
	KUNIT_EXPECT_EQ(test, INET_ECN_set_ce(skb), 1);
	arrive(skb, s->is_v6);
	KUNIT_ASSERT_EQ(test, srn_run_parse(skb), SRN_PARSE_OK);
	KUNIT_EXPECT_TRUE(test, srn_pkt(skb)->flags & SRN_PKT_CE);
	KUNIT_EXPECT_EQ(test, split(skb, &parts), 0);
	kfree_skb(skb);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&parts), s->num);
	skb_queue_walk(&parts, part)
		KUNIT_EXPECT_TRUE(test, srn_pkt(part)->flags & SRN_PKT_CE);
	__skb_queue_purge(&parts);
}

/* On lo it is nothing that the stack would cut, and known all the same. */
static void srn_run_lo_test(struct kunit *test)
{
	const struct shape *s = test->param_value;
	struct sk_buff *skb;

	migrate_disable();
	skb = send(test, new_path_by(test, s->is_v6, new_netdev(test, IFF_LOOPBACK)), s, NULL);
	migrate_enable();
	KUNIT_EXPECT_FALSE(test, skb_is_gso(skb));
	skb->skb_iif = LOOPBACK_IFINDEX;
	expect_split(test, skb, s);
}

/* A program's datagram says nothing of all that. */
static void srn_run_no_datagram_test(struct kunit *test)
{
	struct sk_buff *skb = alloc_skb(64, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	KUNIT_EXPECT_FALSE(test, srn_run_arrived(skb));
	skb_set_inner_protocol(skb, htons(ETH_P_IBOE));
	KUNIT_EXPECT_FALSE(test, srn_run_arrived(skb));
	skb->encapsulation = 1;
	KUNIT_EXPECT_FALSE(test, srn_run_arrived(skb));
	skb->skb_iif = LOOPBACK_IFINDEX + 1;
	KUNIT_EXPECT_FALSE(test, srn_run_arrived(skb));
	skb->skb_iif = LOOPBACK_IFINDEX;
	KUNIT_EXPECT_TRUE(test, srn_run_arrived(skb));
	skb->encapsulation = 0;
	KUNIT_EXPECT_FALSE(test, srn_run_arrived(skb));
	skb->encapsulation = 1;
	skb_set_inner_protocol(skb, htons(ETH_P_TEB));
	KUNIT_EXPECT_FALSE(test, srn_run_arrived(skb));
	skb_set_inner_ipproto(skb, IPPROTO_UDP);
	KUNIT_EXPECT_FALSE(test, srn_run_arrived(skb));
	kfree_skb(skb);
}

static const struct shape lent = {
	"", IB_OPCODE_RC_RDMA_READ_RESPONSE_FIRST, IB_OPCODE_RC_RDMA_READ_RESPONSE_LAST,
	3, 1024, 100, 0, false, 0, true,
};

static void scribble(const struct sk_buff *skb)
{
	const struct skb_shared_info *info = skb_shinfo(skb);
	u32 i;

	for (i = 0; i < info->nr_frags; i++)
		memset(skb_frag_address(&info->frags[i]), 0xa5, skb_frag_size(&info->frags[i]));
}

/* What is cut from it has bytes of its own: the owner may write as soon as it is cut. */
static void srn_run_lent_is_copied_test(struct kunit *test)
{
	struct sk_buff *skb, *segments, *next;
	u32 i = 0;

	migrate_disable();
	skb = send(test, new_path(test, false), &lent, NULL);
	segments = cut_by_stack(test, skb, NETIF_F_SG);
	migrate_enable();
	KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(segments));
	KUNIT_EXPECT_EQ(test, refcount_read(&lender.mem->refs), 1);
	scribble(skb);
	for (; segments; segments = next) {
		next = segments->next;
		skb_mark_not_on_list(segments);
		expect_segment(test, segments, &lent, i++);
		kfree_skb(segments);
	}
	KUNIT_EXPECT_EQ(test, i, lent.num);
	kfree_skb(skb);
}

/* Its region is registered anew: nobody reads it any more. */
static void srn_run_stale_test(struct kunit *test)
{
	struct sk_buff_head parts;
	struct srn_mem *mem;
	struct sk_buff *skb;

	migrate_disable();
	skb = send(test, new_path(test, false), &lent, NULL);
	srn_mem_set_state(lender.mem, SRN_MEM_INVALID);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(cut_by_stack(test, skb, NETIF_F_SG)), -ESTALE);
	srn_mem_set_state(lender.mem, SRN_MEM_VALID);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(cut_by_stack(test, skb, 0)), -ESTALE);
	migrate_enable();
	arrive(skb, false);
	KUNIT_ASSERT_EQ(test, srn_run_parse(skb), SRN_PARSE_OK);
	KUNIT_EXPECT_EQ(test, split(skb, &parts), 0);
	KUNIT_EXPECT_TRUE(test, skb_queue_empty(&parts));
	local_bh_disable();
	KUNIT_EXPECT_FALSE(test, srn_run_hold(skb, &mem));
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, srn_stats_sum(lender.dev, SRN_CNT_STALE_ANSWERS), 4);
	KUNIT_EXPECT_EQ(test, refcount_read(&lender.mem->refs), 1);
	kfree_skb(skb);
}

/* Nor when the QP that answered has gone, though the region stands. */
static void srn_run_orphan_test(struct kunit *test)
{
	struct srn_mem *mem;
	struct sk_buff *skb;

	migrate_disable();
	skb = send(test, new_path(test, false), &lent, NULL);
	kunit_release_action(test, close_lender, lender.ref);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(cut_by_stack(test, skb, NETIF_F_SG)), -ESTALE);
	migrate_enable();
	arrive(skb, false);
	KUNIT_ASSERT_EQ(test, srn_run_parse(skb), SRN_PARSE_OK);
	local_bh_disable();
	KUNIT_EXPECT_FALSE(test, srn_run_hold(skb, &mem));
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, refcount_read(&lender.mem->refs), 1);
	kfree_skb(skb);
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
FORGE(lent_write, run->flags |= SRN_PKT_LENT)

#define FORGED(_f)	{ #_f, _f }

static const struct forged forged[] = {
	FORGED(no_magic), FORGED(one_packet), FORGED(one_more), FORGED(one_less), FORGED(too_many),
	FORGED(no_length), FORGED(odd_length), FORGED(too_long), FORGED(other_end),
	FORGED(other_service), FORGED(no_end), FORGED(short_middle), FORGED(no_start),
	FORGED(no_payload), FORGED(reserved), FORGED(lent_write),
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
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(cut_by_stack(test, skb, NETIF_F_SG)), -EINVAL);
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

	KUNIT_ASSERT_EQ(test, 0, srn_payer_open(&payer, &init_net, NULL));
	before = refcount_read(&payer.sk->sk_wmem_alloc);
	migrate_disable();
	path = new_path(test, false);
	skb = send(test, path, &shapes[0], &payer);
	migrate_enable();
	KUNIT_EXPECT_GE(test, refcount_read(&payer.sk->sk_wmem_alloc),
			before + payload_len(&shapes[0]));
	segments = cut_by_stack(test, skb, NETIF_F_SG);
	consume_skb(skb);
	KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(segments));
	for (; segments; segments = next) {
		KUNIT_EXPECT_GE(test, refcount_read(&payer.sk->sk_wmem_alloc),
				before + payload_len(&shapes[0]));
		next = segments->next;
		consume_skb(segments);
	}
	KUNIT_EXPECT_EQ(test, refcount_read(&payer.sk->sk_wmem_alloc), before);
	srn_payer_close(&payer);
}

/* A qdisc takes it for as many bytes as its packets have, but for what is in front of one payload, not of all; and for
 * as long as the longest.
 */
static void srn_run_qdisc_test(struct kunit *test)
{
	const struct shape *s = test->param_value;
	u32 outer, each, taken, longest, bytes;
	struct srn_path *path;
	struct sk_buff *skb;

	migrate_disable();
	path = new_path(test, s->is_v6);
	skb = send(test, path, s, NULL);
	migrate_enable();
	outer = skb_transport_offset(skb) + sizeof(struct udphdr);
	each = outer + sizeof(struct srn_bth) + SRN_ICRC_SIZE;
	bytes = srn_stats_sum(path->dev, SRN_CNT_SENT_BYTES) + s->num * outer;
	taken = skb->len + (s->num - 1) * (u32)skb_inner_transport_offset(skb);
	KUNIT_EXPECT_EQ(test, (u32)skb_inner_transport_offset(skb), each);
	KUNIT_EXPECT_LE(test, abs((int)(taken - bytes)), (int)(sizeof(struct srn_run) + sizeof(struct srn_lease)));
	longest = each + srn_opcode_hdr_len(s->first) - sizeof(struct srn_bth) + s->each;
	longest = max_t(u32, longest, each + srn_opcode_hdr_len(s->last) - sizeof(struct srn_bth) + ALIGN(s->tail, 4));
	KUNIT_EXPECT_TRUE(test, skb_gso_validate_network_len(skb, longest));
	KUNIT_EXPECT_FALSE(test, skb_gso_validate_network_len(skb, longest - 1));
	kfree_skb(skb);
}

#ifdef CONFIG_FAILSLAB
/* The @nth allocation fails. Returns how many packets there are. */
static u32 cut_without_memory(struct kunit *test, const struct shape *s, u32 nth)
{
	struct sk_buff *skb = send(test, new_path(test, s->is_v6), s, NULL), *segments, *next;
	struct net_device *dev = new_netdev(test, 0);
	u32 i = 0;

	dev->hw_enc_features = NETIF_F_SG;
	current->fail_nth = nth;
	segments = cut_for(dev, skb);
	current->fail_nth = 0;
	if (IS_ERR(segments)) {
		KUNIT_EXPECT_EQ(test, PTR_ERR(segments), -ENOMEM);
		segments = NULL;
	}
	for (; segments; segments = next) {
		next = segments->next;
		skb_mark_not_on_list(segments);
		expect_segment(test, segments, s, i++);
		kfree_skb(segments);
	}
	kfree_skb(skb);
	return i;
}

/* What is made of it before there is none leaves: what is lost then is a part, as on a wire. Some of what fails is the
 * kernel's own, for debugging.
 */
static void srn_run_without_memory_test(struct kunit *test)
{
	static const struct shape s = {
		"", IB_OPCODE_RC_RDMA_WRITE_FIRST, IB_OPCODE_RC_RDMA_WRITE_LAST, 5, 1024, 1000,
	};
	unsigned long seen = 0;
	u32 nth;

	migrate_disable();
	for (nth = 1; nth < 32; nth++)
		seen |= BIT(cut_without_memory(test, &s, nth));
	migrate_enable();
	KUNIT_EXPECT_TRUE(test, seen & BIT(0));
	KUNIT_EXPECT_NE(test, seen & GENMASK(s.num - 1, 1), 0);
	KUNIT_EXPECT_TRUE(test, seen & BIT(s.num));
}
#endif

#define WHOLE	(NETIF_F_GSO | NETIF_F_SG | NETIF_F_GSO_UDP_TUNNEL | NETIF_F_GSO_FRAGLIST)

static const struct packets_row {
	const char *desc;
	netdev_features_t features, enc;
	u32 segs, num, each, packets;
	u32 size;	/* 0: what netdevs have by themselves */
	u32 lo_mtu;	/* it is lo */
	bool queue, cut, slow;	/* no CRC of several in one section of the FPU */
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
	{ "no lists: cut in front of it", WHOLE & ~NETIF_F_GSO_FRAGLIST, WHOLE, 65535, 8, 1024, 8, .cut = true },
	{ "a NIC", NETIF_F_GSO | NETIF_F_SG, 0, 65535, 8, 1024, 8, .cut = true },
	{ "a NIC, and a CRC that is slow", NETIF_F_GSO | NETIF_F_SG, 0, 65535, 8, 1024, 1, .slow = true },
	{ "not cut, and a CRC that is slow", WHOLE, WHOLE, 65535, 8, 1024, 8, .slow = true },
	{ "a NIC that takes few", NETIF_F_GSO | NETIF_F_SG, 0, 4, 8, 1024, 4, .cut = true },
	{ "a NIC without segmentation", NETIF_F_SG, 0, 65535, 8, 1024, 1 },
	{ "no tunnels", WHOLE & ~NETIF_F_GSO_UDP_TUNNEL, WHOLE, 65535, 8, 1024, 1 },
	{ "nothing inside of tunnels", WHOLE, 0, 65535, 8, 1024, 1 },
	{ "lo", NETIF_F_GSO, 0, 65535, 15, 4096, 15, 0, 65536 },
	{ "two of one length on lo", NETIF_F_GSO, 0, 65535, 16, 4096, 8, 0, 65536 },
	{ "a lo that takes little", NETIF_F_GSO, 0, 65535, 15, 4096, 4, 0, 20000 },
	{ "a lo that was told to take little", NETIF_F_GSO, 0, 65535, 15, 4096, 4, 20000, 65536 },
	{ "a lo that takes few", NETIF_F_GSO, 0, 4, 8, 4096, 4, 0, 65536 },
	{ "a lo that takes none", NETIF_F_GSO, 0, 1, 15, 4096, 1, 0, 65536 },
	{ "a lo with a queue", NETIF_F_GSO, 0, 65535, 15, 4096, 1, 0, 65536, true },
	{ "a lo without segmentation", 0, 0, 65535, 15, 4096, 1, 0, 65536 },
};

static int enqueue(struct sk_buff *skb, struct Qdisc *qdisc, struct sk_buff **to_free)
{
	return NET_XMIT_DROP;
}

static struct Qdisc queue = { .enqueue = enqueue }, no_queue;

KUNIT_ARRAY_PARAM_DESC(packets, packets_rows, desc);

static void srn_run_packets_test(struct kunit *test)
{
	const struct packets_row *row = test->param_value;
	struct net_device *dev = new_netdev(test, row->lo_mtu ? IFF_LOOPBACK : 0);
	struct netdev_queue *tx = kunit_kzalloc(test, sizeof(*tx), GFP_KERNEL);
	enum srn_crc_impl before;
	struct srn_path *path;
	bool whole;

	KUNIT_ASSERT_NOT_NULL(test, tx);
	RCU_INIT_POINTER(tx->qdisc, row->queue ? &queue : &no_queue);
	dev->_tx = tx;
	dev->num_tx_queues = 1;
	dev->mtu = row->lo_mtu ?: 4500;
	dev->features = row->features;
	dev->hw_enc_features = row->enc;
	dev->gso_max_segs = row->segs;
	dev->gso_ipv4_max_size = row->size ?: GSO_LEGACY_MAX_SIZE;
	migrate_disable();
	path = new_path_by(test, false, dev);
	before = srn_crc32_use(row->slow ? SRN_CRC_FOLD : SRN_CRC_CLMUL);
	local_bh_disable();
	KUNIT_EXPECT_EQ(test, srn_run_packets(path, row->num, row->each, &whole), row->packets);
	KUNIT_EXPECT_EQ(test, whole, row->packets > 1 && !row->cut);
	KUNIT_EXPECT_EQ(test, srn_run_is_whole(path, row->num, row->each), row->packets > 1 && !row->cut);
	local_bh_enable();
	srn_crc32_use(before);
	migrate_enable();
}

static struct kunit_case srn_run_cases[] = {
	KUNIT_CASE_PARAM(srn_run_segments_test, shape_gen_params),
	KUNIT_CASE_PARAM(srn_run_split_test, shape_gen_params),
	KUNIT_CASE_PARAM(srn_run_marked_test, shape_gen_params),
	KUNIT_CASE_PARAM(srn_run_lo_test, shape_gen_params),
	KUNIT_CASE(srn_run_no_datagram_test),
	KUNIT_CASE(srn_run_lent_is_copied_test),
	KUNIT_CASE(srn_run_stale_test),
	KUNIT_CASE(srn_run_orphan_test),
	KUNIT_CASE_PARAM(srn_run_forged_test, forged_gen_params),
	KUNIT_CASE(srn_run_payer_test),
	KUNIT_CASE_PARAM(srn_run_qdisc_test, shape_gen_params),
#ifdef CONFIG_FAILSLAB
	KUNIT_CASE(srn_run_without_memory_test),
#endif
	KUNIT_CASE_PARAM(srn_run_packets_test, packets_gen_params),
	{}
};

static struct kunit_suite srn_run_suite = {
	.name = "srn_run",
	.test_cases = srn_run_cases,
};
kunit_test_suite(srn_run_suite);
