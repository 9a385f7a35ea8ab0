// SPDX-License-Identifier: GPL-2.0-only
/* Packs: what the stack makes of one is what would have left as packets; what is none is refused. */
#include "../pack_cut.h"
#include "../stats.h"
#include "fake_pack.h"

#include <linux/if_ether.h>
#include <net/inet_ecn.h>

#define SE		SRN_PKT_SE
#define ASKS		SRN_PKT_ACKREQ

static const struct msgs rows[] = {
	{ "two WRITEs", 2, { { A_WRITE, 8 }, { A_WRITE, 8, ASKS } } },
	{ "no bytes", 3, { { A_SEND, 0 }, { A_WRITE, 0 }, { A_SEND, 0, ASKS } } },
	{ "all kinds, all pads", 6, { { A_SEND, 1, SE }, { A_SEND_IMM, 2, SE }, { A_WRITE, 3 },
	  { A_WRITE_IMM, 5, ASKS }, { A_SEND_INV, 6, SE | ASKS }, { A_SEND, 4 } } },
	{ "the first asks", 2, { { A_WRITE_IMM, 7, SE | ASKS }, { A_SEND_INV, 0 } } },
	{ "long ones", 3, { { A_WRITE, 512 }, { A_SEND, 511 }, { A_SEND_IMM, 509, ASKS } } },
	{ "IPv6", 4, { { A_SEND_INV, 3 }, { A_WRITE, 17, ASKS }, { A_WRITE_IMM, 64, SE }, { A_SEND, 1 } },
	  true },
	{ "as many as there may be", 64, { [0 ... 63] = { A_WRITE, 8 } } },
};

KUNIT_ARRAY_PARAM_DESC(row, rows, desc);

/* Message @i as it leaves by itself, the @i-th of a train: skb->data at the IP header. */
static struct sk_buff *single(struct kunit *test, struct srn_path *path, const struct msgs *m, u32 i)
{
	struct sk_buff *skb = build_message(test, m, i, 0, m->msg[i].len);

	local_bh_disable();
	KUNIT_EXPECT_TRUE(test, srn_xmit_seal(path, skb, i));
	local_bh_enable();
	if (!path->is_v6)
		ip_send_check(ip_hdr(skb));
	return skb;
}

static void expect_alike(struct kunit *test, struct sk_buff *skb, struct sk_buff *other, u32 i)
{
	KUNIT_ASSERT_EQ_MSG(test, skb->len, other->len, "packet %u", i);
	KUNIT_ASSERT_EQ(test, skb_linearize(skb), 0);
	KUNIT_EXPECT_EQ_MSG(test, memcmp(skb->data, other->data, skb->len), 0, "packet %u", i);
	KUNIT_EXPECT_FALSE(test, skb_is_gso(skb));
	KUNIT_EXPECT_FALSE(test, skb->encapsulation);
}

/* All that it has, in as many packets, byte by byte; and what was counted. */
static void expect_segments(struct kunit *test, struct srn_path *path, struct sk_buff *skb,
			    const struct msgs *m, netdev_features_t features)
{
	struct sk_buff *segments = cut_by_stack(test, skb, features), *next, *other;
	u64 bytes = 0;
	u32 i = 0;

	KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(segments));
	for (; segments && i < m->num; segments = next, i++) {
		next = segments->next;
		skb_mark_not_on_list(segments);
		other = single(test, path, m, i);
		expect_alike(test, segments, other, i);
		bytes += other->len - skb_transport_offset(other) - sizeof(struct udphdr);
		kfree_skb(other);
		kfree_skb(segments);
	}
	KUNIT_EXPECT_EQ(test, i, m->num);
	KUNIT_EXPECT_NULL(test, segments);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(path->dev, SRN_CNT_SENT_PKTS), m->num);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(path->dev, SRN_CNT_SENT_BYTES), bytes);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(path->dev, SRN_CNT_SENT_RUNS), 1);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(path->dev, SRN_CNT_SENT_TRAINS), 1);
}

/* Its bytes behind the first BTH, in pages. */
static void unlinearize(struct kunit *test, struct sk_buff *skb, u32 linear)
{
	u32 len = skb->len - linear;
	struct page *page = alloc_page(GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, page);
	memcpy(page_address(page), skb->data + linear, len);
	memset(skb->data + linear, 0xa5, len);
	__skb_trim(skb, linear);
	skb_add_rx_frag(skb, 0, page, 0, len, PAGE_SIZE);
}

static u32 outer_len(const struct msgs *m)
{
	return (m->is_v6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr)) + sizeof(struct udphdr);
}

/* @linear: without what is behind so many bytes; 0: as it leaves. */
static void expect_cut(struct kunit *test, u32 linear, netdev_features_t features)
{
	const struct msgs *m = test->param_value;
	struct srn_path *path;
	struct sk_buff *skb;

	migrate_disable();
	path = new_path(test, m->is_v6);
	skb = send_pack(test, path, m);
	if (linear)
		unlinearize(test, skb, linear);
	expect_segments(test, path, skb, m, features);
	migrate_enable();
	kfree_skb(skb);
}

static void srn_pack_segments_test(struct kunit *test)
{
	expect_cut(test, 0, NETIF_F_SG);
	expect_cut(test, 0, 0);
}

/* Whoever has moved it. */
static void srn_pack_segments_in_pages_test(struct kunit *test)
{
	expect_cut(test, outer_len(test->param_value) + sizeof(struct srn_bth), NETIF_F_SG);
}

/* What the parser says of message @i. */
static void expect_message(struct kunit *test, struct sk_buff *skb, const struct msgs *m, u32 i)
{
	const struct srn_pkt *pkt = srn_pkt(skb);
	const struct msg *msg = &m->msg[i];
	u32 at, wrong = 0;
	u8 byte;

	KUNIT_EXPECT_EQ(test, pkt->opcode, msg->opcode);
	KUNIT_EXPECT_EQ(test, pkt->psn, srn_psn_add(PSN, i));
	KUNIT_EXPECT_EQ(test, pkt->qpn, QPN);
	KUNIT_EXPECT_EQ(test, pkt->flags, msg->flags | (m->is_v6 ? SRN_PKT_V6 : 0));
	KUNIT_EXPECT_EQ(test, pkt->len, msg->len);
	KUNIT_EXPECT_EQ(test, pkt->more, 0);
	if (info_of(m, i)->hdrs & SRN_HDR_RETH) {
		KUNIT_EXPECT_EQ(test, be64_to_cpu(srn_pkt_reth(skb)->va), VA + i * STRIDE);
		KUNIT_EXPECT_EQ(test, be32_to_cpu(srn_pkt_reth(skb)->rkey), rkey);
		KUNIT_EXPECT_EQ(test, be32_to_cpu(srn_pkt_reth(skb)->len), msg->len);
	}
	if (info_of(m, i)->hdrs & (SRN_HDR_IMM | SRN_HDR_IETH))
		KUNIT_EXPECT_EQ(test, be32_to_cpu(srn_pkt_imm(skb)), WORD + i);
	for (at = 0; at < msg->len; at++)
		wrong += skb_copy_bits(skb, srn_pkt_payload(skb) + at, &byte, 1) ||
			 byte != byte_at(i * STRIDE + at);
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

static struct sk_buff *arrived(struct kunit *test, const struct msgs *m)
{
	struct sk_buff *skb;

	migrate_disable();
	skb = send_pack(test, new_path(test, m->is_v6), m);
	migrate_enable();
	arrive(skb, m->is_v6);
	return skb;
}

/* Each in turn, where it is. */
static void srn_pack_walk_test(struct kunit *test)
{
	const struct msgs *m = test->param_value;
	struct sk_buff *skb = arrived(test, m);
	u32 i;

	KUNIT_EXPECT_TRUE(test, srn_run_arrived(skb));
	unlinearize(test, skb, sizeof(struct udphdr) + sizeof(struct srn_bth));
	KUNIT_ASSERT_EQ(test, srn_run_parse(skb), SRN_PARSE_OK);
	KUNIT_EXPECT_FALSE(test, skb_is_nonlinear(skb));
	KUNIT_EXPECT_TRUE(test, srn_pkt_is_run(skb));
	for (i = 0; i < m->num; i++) {
		KUNIT_EXPECT_EQ(test, srn_pkt_num(skb), m->num - i);
		KUNIT_EXPECT_EQ(test, srn_pkt_is_pack(skb), i + 1 < m->num);
		expect_message(test, skb, m, i);
		if (i + 1 < m->num)
			srn_run_advance(skb);
	}
	kfree_skb(skb);
}

/* What is left of it when @taken were taken, as packets. */
static void expect_split(struct kunit *test, const struct msgs *m, u32 taken)
{
	struct sk_buff *skb = arrived(test, m), *part;
	struct sk_buff_head parts;
	u32 i;

	KUNIT_ASSERT_EQ(test, srn_run_parse(skb), SRN_PARSE_OK);
	for (i = 0; i < taken; i++)
		srn_run_advance(skb);
	__skb_queue_head_init(&parts);
	local_bh_disable();
	KUNIT_EXPECT_EQ(test, srn_run_split(skb, &parts), 0);
	local_bh_enable();
	kfree_skb(skb);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&parts), m->num - taken);
	for (; (part = __skb_dequeue(&parts)); i++) {
		KUNIT_EXPECT_FALSE(test, srn_pkt_is_run(part));
		KUNIT_EXPECT_EQ(test, (int)ip_hdr(part)->version, m->is_v6 ? 6 : 4);
		expect_message(test, part, m, i);
		kfree_skb(part);
	}
	KUNIT_EXPECT_EQ(test, i, m->num);
}

static void srn_pack_split_test(struct kunit *test)
{
	const struct msgs *m = test->param_value;

	expect_split(test, m, 0);
	expect_split(test, m, 1);
	expect_split(test, m, m->num - 1);
}

/* A router marks all of it. */
static void srn_pack_marked_test(struct kunit *test)
{
	const struct msgs *m = test->param_value;
	struct srn_path *path;
	struct sk_buff *skb;
	u32 i;

	migrate_disable();
	path = new_path(test, m->is_v6);
	path->ecn = INET_ECN_ECT_0;
	skb = send_pack(test, path, m);
	migrate_enable();
	KUNIT_EXPECT_EQ(test, INET_ECN_set_ce(skb), 1);
	arrive(skb, m->is_v6);
	KUNIT_ASSERT_EQ(test, srn_run_parse(skb), SRN_PARSE_OK);
	for (i = 1; i < m->num; i++)
		srn_run_advance(skb);
	KUNIT_EXPECT_TRUE(test, srn_pkt(skb)->flags & SRN_PKT_CE);
	kfree_skb(skb);
}

/* As many bytes on a wire as are told of. */
static void srn_pack_bytes_test(struct kunit *test)
{
	const struct msgs *m = test->param_value;
	struct sk_buff *skb = arrived(test, m);
	u32 bytes = 0, i;

	KUNIT_ASSERT_EQ(test, srn_run_parse(skb), SRN_PARSE_OK);
	for (i = 0; i < m->num; i++)
		bytes += srn_pack_wire_len(m->msg[i].opcode, m->msg[i].len);
	KUNIT_EXPECT_EQ(test, srn_run_bytes(skb), bytes);
	kfree_skb(skb);
}

/* A qdisc takes it for as many bytes as its packets have, and four; and for as long as the longest. */
static void srn_pack_qdisc_test(struct kunit *test)
{
	const struct msgs *m = test->param_value;
	u32 bytes = 4, longest = 0, len, i, outer;
	struct sk_buff *skb;

	migrate_disable();
	skb = send_pack(test, new_path(test, m->is_v6), m);
	migrate_enable();
	outer = skb_transport_offset(skb) + sizeof(struct udphdr);
	for (i = 0; i < m->num; i++) {
		len = outer + srn_pack_wire_len(m->msg[i].opcode, m->msg[i].len);
		longest = max(longest, len);
		bytes += len;
	}
	KUNIT_EXPECT_EQ(test, bytes, skb->len + (skb_shinfo(skb)->gso_segs - 1) *
				     (u32)skb_inner_transport_offset(skb));
	KUNIT_EXPECT_TRUE(test, skb_gso_validate_network_len(skb, longest));
	KUNIT_EXPECT_FALSE(test, skb_gso_validate_network_len(skb, longest - 1));
	kfree_skb(skb);
}

/* On lo it is nothing that the stack would cut, and known all the same. */
static void srn_pack_lo_test(struct kunit *test)
{
	const struct msgs *m = test->param_value;
	struct sk_buff *skb;

	migrate_disable();
	skb = send_pack(test, new_path_by(test, m->is_v6, new_netdev(test, IFF_LOOPBACK)), m);
	migrate_enable();
	KUNIT_EXPECT_FALSE(test, skb_is_gso(skb));
	skb->skb_iif = LOOPBACK_IFINDEX;
	arrive(skb, m->is_v6);
	KUNIT_EXPECT_TRUE(test, srn_run_arrived(skb));
	KUNIT_ASSERT_EQ(test, srn_run_parse(skb), SRN_PARSE_OK);
	expect_message(test, skb, m, 0);
	kfree_skb(skb);
}

/* One to which no other came is its packet. */
static void srn_pack_of_one_test(struct kunit *test)
{
	static const struct msgs m = { "", 1, { { A_WRITE_IMM, 5, SE | ASKS } } };
	struct sk_buff *skb, *other;
	struct srn_path *path;

	migrate_disable();
	path = new_path(test, false);
	skb = send_pack(test, path, &m);
	other = single(test, path, &m, 0);
	migrate_enable();
	ip_send_check(ip_hdr(skb));
	expect_alike(test, skb, other, 0);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(path->dev, SRN_CNT_SENT_RUNS), 0);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(path->dev, SRN_CNT_SENT_PKTS), 1);
	kfree_skb(other);
	kfree_skb(skb);
}

/* As many as it has room for, of any length, and the room that was asked for is enough. */
static void srn_pack_room_test(struct kunit *test)
{
	struct srn_pack pack;
	struct msgs m = {};
	u32 len, size, num, all;

	for (len = 0; len <= SRN_PACK_PAYLOAD; len += 37) {
		size = srn_pack_size(A_SEND_IMM, len, SRN_RUN_MAX);
		KUNIT_EXPECT_LE(test, size, SRN_PACK_BYTES);
		m.msg[0] = (struct msg){ A_SEND_IMM, len };
		srn_pack_begin(&pack, build_message(test, &m, 0, SRN_BUILD_PACK, size), len, size,
			       SRN_RUN_MAX);
		all = srn_pack_alike(&pack, A_SEND_IMM, len);
		for (num = 1; srn_pack_has_room(&pack, A_SEND_IMM, len); num++) {
			KUNIT_EXPECT_EQ(test, srn_pack_has_room_for(&pack, A_SEND_IMM, len, len), num + 2 <= all);
			KUNIT_EXPECT_EQ(test, srn_pack_alike(&pack, A_SEND_IMM, len), all);
			srn_pack_add(&pack, A_SEND_IMM, 0, len);
			put_message(pack.skb, &m, 0);
			srn_pack_added(&pack, A_SEND_IMM, len);
		}
		KUNIT_EXPECT_EQ(test, pack.num, num);
		KUNIT_EXPECT_EQ(test, num, all);
		KUNIT_EXPECT_EQ(test, num, min(SRN_RUN_MAX, (SRN_PACK_BYTES - 16) /
					       (8 + ALIGN(len, 4))));
		KUNIT_EXPECT_GE(test, skb_tailroom(pack.skb), 3 + sizeof(struct srn_pack_tail));
		kfree_skb(srn_pack_end(&pack, false));
	}
}

/* What is wrong with a pack that somebody forged: its first BTH, its second part, its tail. */
struct forged {
	const char *desc;
	void (*forge)(struct srn_bth *bth, struct srn_pack_part *part, struct srn_pack_tail *tail);
};

#define FORGE(_name, _what)								\
static void _name(struct srn_bth *bth, struct srn_pack_part *part,			\
		  struct srn_pack_tail *tail)						\
{											\
	_what;										\
}

FORGE(no_magic, tail->magic++)
FORGE(one_message, tail->num = 1)
FORGE(no_message, tail->num = 0)
FORGE(one_more, tail->num++)
FORGE(one_less, tail->num--)
FORGE(too_many, tail->num = SRN_RUN_MAX + 1)
FORGE(strange_flags, tail->flags |= SRN_PKT_LENT)
FORGE(first_longer, tail->len += 4)
FORGE(first_shorter, tail->len -= 4)
FORGE(first_too_long, tail->len = 65535)
FORGE(begins_with_a_read, bth->opcode = IB_OPCODE_RC_RDMA_READ_REQUEST)
FORGE(begins_with_an_atomic, bth->opcode = IB_OPCODE_RC_FETCH_ADD)
FORGE(begins_a_message, bth->opcode = IB_OPCODE_RC_SEND_FIRST)
FORGE(begins_for_uc, bth->opcode = IB_OPCODE_UC_RDMA_WRITE_ONLY)
FORGE(begins_with_an_ack, bth->opcode = IB_OPCODE_RC_ACKNOWLEDGE)
FORGE(has_a_read, part->opcode = IB_OPCODE_RC_RDMA_READ_REQUEST)
FORGE(has_an_atomic_write, part->opcode = IB_OPCODE_RC_ATOMIC_WRITE)
FORGE(has_a_last, part->opcode = IB_OPCODE_RC_SEND_LAST)
FORGE(has_one_for_uc, part->opcode = IB_OPCODE_UC_RDMA_WRITE_ONLY)
FORGE(has_one_for_ud, part->opcode = IB_OPCODE_UD_SEND_ONLY)
FORGE(has_a_reserved_one, part->opcode = 0xff)
FORGE(part_longer, part->len += 4)
FORGE(part_shorter, part->len -= 4)
FORGE(part_too_long, part->len = SRN_PACK_PAYLOAD + 1)
FORGE(part_without_end, part->len = 65535)
FORGE(part_with_flags, part->flags |= SRN_PKT_CE)

#define FORGED(_f)	{ #_f, _f }

static const struct forged forged[] = {
	FORGED(no_magic), FORGED(one_message), FORGED(no_message), FORGED(one_more),
	FORGED(one_less), FORGED(too_many), FORGED(strange_flags), FORGED(first_longer),
	FORGED(first_shorter), FORGED(first_too_long), FORGED(begins_with_a_read),
	FORGED(begins_with_an_atomic), FORGED(begins_a_message), FORGED(begins_for_uc),
	FORGED(begins_with_an_ack), FORGED(has_a_read), FORGED(has_an_atomic_write),
	FORGED(has_a_last), FORGED(has_one_for_uc), FORGED(has_one_for_ud),
	FORGED(has_a_reserved_one), FORGED(part_longer), FORGED(part_shorter),
	FORGED(part_too_long), FORGED(part_without_end), FORGED(part_with_flags),
};

KUNIT_ARRAY_PARAM_DESC(forged, forged, desc);

static const struct msgs sound = {
	"", 4, { { A_WRITE, 8 }, { A_WRITE, 12 }, { A_SEND_IMM, 4 }, { A_SEND, 4, ASKS } },
};

/* Neither cut nor taken. */
static void srn_pack_forged_test(struct kunit *test)
{
	const struct forged *row = test->param_value;
	struct srn_bth *bth;
	struct sk_buff *skb;

	migrate_disable();
	skb = send_pack(test, new_path(test, false), &sound);
	migrate_enable();
	bth = (void *)skb->data + outer_len(&sound);
	row->forge(bth, (void *)bth + srn_opcode_hdr_len(A_WRITE) + sound.msg[0].len,
		   (void *)skb_tail_pointer(skb) - sizeof(struct srn_pack_tail));
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(cut_by_stack(test, skb, NETIF_F_SG)), -EINVAL);
	arrive(skb, false);
	KUNIT_EXPECT_EQ(test, srn_run_parse(skb), SRN_PARSE_LENGTH);
	kfree_skb(skb);
}

/* Cut off anywhere, at its end. */
static void srn_pack_length_test(struct kunit *test)
{
	struct sk_buff *skb = arrived(test, &sound);
	struct srn_pack_cut cut;

	KUNIT_EXPECT_TRUE(test, srn_pack_cut_begin(&cut, skb, sizeof(struct udphdr)));
	while (skb->len) {
		__skb_trim(skb, skb->len - 1);
		KUNIT_EXPECT_FALSE(test, srn_pack_cut_begin(&cut, skb, sizeof(struct udphdr)));
	}
	kfree_skb(skb);
}

/* One message is a packet, whatever its tail says. */
static void srn_pack_lone_test(struct kunit *test)
{
	static const struct srn_pack_tail tail = { SRN_PACK_MAGIC, 1, 0, 8 };
	struct sk_buff *skb = arrived(test, &sound);
	struct srn_pack_cut cut;

	__skb_trim(skb, sizeof(struct udphdr) + srn_opcode_hdr_len(A_WRITE) + tail.len);
	skb_put_data(skb, &tail, sizeof(tail));
	KUNIT_EXPECT_FALSE(test, srn_pack_cut_begin(&cut, skb, sizeof(struct udphdr)));
	kfree_skb(skb);
}

/* A message more than a pack may have, in one that is sound by all else. */
static void srn_pack_too_long_test(struct kunit *test)
{
	static const struct msgs long_one = { "", 2, { { A_SEND, 500 }, { A_SEND, 500 } } };
	struct sk_buff *skb = arrived(test, &long_one);
	struct srn_pack_tail tail;
	struct srn_pack_cut cut;
	u32 num;

	memcpy(&tail, skb_tail_pointer(skb) - sizeof(tail), sizeof(tail));
	KUNIT_ASSERT_EQ(test, 0, pskb_expand_head(skb, 0, 2 * SRN_PACK_BYTES, GFP_KERNEL));
	for (num = 2; num < 6; num++) {
		KUNIT_EXPECT_EQ_MSG(test, srn_pack_cut_begin(&cut, skb, sizeof(struct udphdr)),
				    skb->len - sizeof(struct udphdr) <= SRN_PACK_BYTES,
				    "%u messages", num);
		__skb_trim(skb, skb->len - sizeof(tail));
		*(struct srn_pack_part *)skb_put(skb, sizeof(struct srn_pack_part)) =
			(struct srn_pack_part){ A_SEND, 0, 500 };
		skb_put_zero(skb, 500);
		tail.num++;
		skb_put_data(skb, &tail, sizeof(tail));
	}
	kfree_skb(skb);
}

/* A message longer than one may be, in one that is sound by all else. */
static void srn_pack_bulky_test(struct kunit *test)
{
	static const struct msgs bulky = {
		"", 2, { { A_WRITE, 8 }, { A_SEND, SRN_PACK_PAYLOAD + 4 } },
	};
	struct sk_buff *skb;

	migrate_disable();
	skb = send_pack(test, new_path(test, false), &bulky);
	migrate_enable();
	arrive(skb, false);
	KUNIT_EXPECT_EQ(test, srn_run_parse(skb), SRN_PARSE_LENGTH);
	kfree_skb(skb);
}

static struct kunit_case srn_pack_cases[] = {
	KUNIT_CASE_PARAM(srn_pack_segments_test, row_gen_params),
	KUNIT_CASE_PARAM(srn_pack_segments_in_pages_test, row_gen_params),
	KUNIT_CASE_PARAM(srn_pack_walk_test, row_gen_params),
	KUNIT_CASE_PARAM(srn_pack_split_test, row_gen_params),
	KUNIT_CASE_PARAM(srn_pack_marked_test, row_gen_params),
	KUNIT_CASE_PARAM(srn_pack_bytes_test, row_gen_params),
	KUNIT_CASE_PARAM(srn_pack_qdisc_test, row_gen_params),
	KUNIT_CASE_PARAM(srn_pack_lo_test, row_gen_params),
	KUNIT_CASE(srn_pack_of_one_test),
	KUNIT_CASE(srn_pack_room_test),
	KUNIT_CASE_PARAM(srn_pack_forged_test, forged_gen_params),
	KUNIT_CASE(srn_pack_length_test),
	KUNIT_CASE(srn_pack_lone_test),
	KUNIT_CASE(srn_pack_bulky_test),
	KUNIT_CASE(srn_pack_too_long_test),
	{}
};

static struct kunit_suite srn_pack_suite = {
	.name = "srn_pack",
	.test_cases = srn_pack_cases,
};
kunit_test_suite(srn_pack_suite);
