// SPDX-License-Identifier: GPL-2.0-only
/* What a NAPI couples, and what it does not; that the stack parts it into what came, and convoy.c into a run
 * or packets again.
 */
#include "../convoy.h"
#include "../copy.h"
#include "../gro.h"
#include "../payer.h"
#include "../recv.h"
#include "fake_napi.h"

#include <linux/if_ether.h>
#include <linux/if_vlan.h>
#include <net/gro.h>
#include <net/inet_ecn.h>

KUNIT_ARRAY_PARAM_DESC(shape, shapes, desc);


struct copies {
	u32 num;
	u32 len[MAX_PACKETS];
	u8 *bytes[MAX_PACKETS];
};

static void copy_packets(struct kunit *test, struct copies *copies, struct sk_buff **packets, u32 num)
{
	u32 i;

	copies->num = num;
	for (i = 0; i < num; i++) {
		copies->len[i] = packets[i]->len;
		copies->bytes[i] = kunit_kzalloc(test, packets[i]->len, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, copies->bytes[i]);
		skb_copy_bits(packets[i], 0, copies->bytes[i], packets[i]->len);
	}
}

static void expect_copy(struct kunit *test, const struct sk_buff *skb, const struct copies *copies, u32 i)
{
	u8 *bytes = kunit_kzalloc(test, skb->len, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, bytes);
	KUNIT_ASSERT_LT(test, i, copies->num);
	KUNIT_ASSERT_EQ(test, skb->len, copies->len[i]);
	skb_copy_bits(skb, 0, bytes, skb->len);
	KUNIT_EXPECT_EQ_MSG(test, 0, memcmp(bytes, copies->bytes[i], skb->len), "packet %u", i);
}

/* By whoever can't take the list. */
static void expect_parted_by_stack(struct kunit *test, struct sk_buff *skb, const struct copies *copies)
{
	struct sk_buff *segments, *next;
	u32 i = 0;

	segments = cut_by_stack(test, skb, NETIF_F_SG);
	KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(segments));
	for (; segments; segments = next) {
		next = segments->next;
		skb_mark_not_on_list(segments);
		expect_copy(test, segments, copies, i++);
		kfree_skb(segments);
	}
	KUNIT_EXPECT_EQ(test, i, copies->num);
	kfree_skb(skb);
}

/* Other senders' do not count up. */
static void give_ids(const struct shape *s, struct sk_buff **packets)
{
	u32 i;

	for (i = 0; i < s->num && !s->is_v6; i++) {
		ip_hdr(packets[i])->id = htons(7 * i + 3);
		ip_send_check(ip_hdr(packets[i]));
	}
}

/* What leaves again is what came, byte by byte. */
static void srn_gro_parted_by_stack_test(struct kunit *test)
{
	const struct shape *s = test->param_value;
	struct napi *napi = new_napi(test, fake_dev(test));
	struct sk_buff *packets[MAX_PACKETS];
	struct copies *copies = kunit_kzalloc(test, sizeof(*copies), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, copies);
	KUNIT_ASSERT_EQ(test, make_packets(test, s, QPN, packets), s->num);
	give_ids(s, packets);
	copy_packets(test, copies, packets, s->num);
	expect_parted_by_stack(test, couple(test, napi, packets, s->num), copies);
}

static void expect_proven(struct kunit *test, struct sk_buff_head *parts, struct sk_buff_head *proven)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(parts))) {
		KUNIT_ASSERT_EQ(test, srn_parse(skb), SRN_PARSE_OK);
		KUNIT_EXPECT_EQ(test, srn_parse_icrc(skb), SRN_PARSE_OK);
		if (!skb_queue_empty(proven))
			KUNIT_EXPECT_TRUE(test, srn_convoy_follows(skb_peek_tail(proven), skb));
		__skb_queue_tail(proven, skb);
	}
}

static void expect_payload(struct kunit *test, struct sk_buff *skb, u32 at, u32 len, u32 from)
{
	u8 *bytes = kunit_kzalloc(test, len, GFP_KERNEL);
	u32 i, wrong = 0;

	KUNIT_ASSERT_NOT_NULL(test, bytes);
	KUNIT_ASSERT_EQ(test, 0, srn_copy_skb(skb, at, bytes, len));
	for (i = 0; i < len; i++)
		wrong += bytes[i] != byte_at(from + i);
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

static void expect_run(struct kunit *test, struct sk_buff *skb, const struct shape *s)
{
	const struct srn_pkt *pkt = srn_pkt(skb);

	KUNIT_EXPECT_TRUE(test, srn_pkt_is_run(skb));
	KUNIT_EXPECT_EQ(test, srn_pkt_num(skb), s->num);
	KUNIT_EXPECT_EQ(test, pkt->opcode, s->first);
	KUNIT_EXPECT_EQ(test, pkt->last, s->last);
	KUNIT_EXPECT_EQ(test, pkt->psn, PSN);
	KUNIT_EXPECT_EQ(test, pkt->each, s->each);
	KUNIT_EXPECT_EQ(test, pkt->len, payload_len(s));
	KUNIT_EXPECT_EQ(test, pkt->flags & (SRN_PKT_SE | SRN_PKT_ACKREQ), s->flags);
	if (srn_opcodes[s->last].hdrs)
		KUNIT_EXPECT_EQ(test, be32_to_cpu(pkt->word), WORD);
	expect_payload(test, skb, srn_pkt_payload(skb), payload_len(s), 0);
}

static void expect_split(struct kunit *test, struct sk_buff *skb, const struct shape *s, u32 truesize)
{
	struct sk_buff_head parts;
	u32 i, sum = 0;

	__skb_queue_head_init(&parts);
	srn_convoy_split(skb, &parts);
	KUNIT_ASSERT_EQ(test, skb_queue_len(&parts), s->num);
	for (i = 0; i < s->num; i++) {
		skb = __skb_dequeue(&parts);
		KUNIT_EXPECT_FALSE(test, srn_pkt_is_run(skb));
		KUNIT_EXPECT_FALSE(test, skb_has_frag_list(skb));
		KUNIT_EXPECT_EQ(test, srn_pkt(skb)->psn, srn_psn_add(PSN, i));
		KUNIT_EXPECT_EQ(test, srn_pkt(skb)->len, i == s->num - 1 ? s->tail : s->each);
		KUNIT_EXPECT_EQ(test, srn_pkt(skb)->flags & (SRN_PKT_SE | SRN_PKT_ACKREQ),
				i == s->num - 1 ? s->flags : 0);
		expect_payload(test, skb, srn_pkt_payload(skb), srn_pkt(skb)->len, i * s->each);
		sum += skb->truesize;
		kfree_skb(skb);
	}
	KUNIT_EXPECT_EQ(test, sum, truesize);
}

/* @tap: somebody has a part in it. */
static void expect_taken(struct kunit *test, const struct shape *s, bool tap)
{
	struct napi *napi = new_napi(test, fake_dev(test));
	struct sk_buff *packets[MAX_PACKETS], *skb, *seen = NULL;
	struct copies *copies = kunit_kzalloc(test, sizeof(*copies), GFP_KERNEL);
	struct sk_buff_head parts, proven;
	u32 lost;

	KUNIT_ASSERT_NOT_NULL(test, copies);
	__skb_queue_head_init(&parts);
	__skb_queue_head_init(&proven);
	KUNIT_ASSERT_EQ(test, make_packets(test, s, QPN, packets), s->num);
	copy_packets(test, copies, packets, s->num);
	skb = couple(test, napi, packets, s->num);
	if (tap) {
		seen = skb_clone(skb, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, seen);
	}
	KUNIT_ASSERT_EQ(test, srn_convoy_part(to_socket(skb), &parts, &lost), SRN_PARSE_OK);
	KUNIT_EXPECT_EQ(test, lost, 0);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&parts), s->num);
	expect_proven(test, &parts, &proven);
	local_bh_disable();
	skb = srn_convoy_join(&proven);
	local_bh_enable();
	expect_run(test, skb, s);
	KUNIT_EXPECT_EQ(test, srn_run_bytes(skb), ({
		u32 i, sum = 0;

		for (i = 0; i < s->num; i++)
			sum += copies->len[i] - sizeof(struct udphdr) -
			       (s->is_v6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr));
		sum;
	}));
	expect_split(test, skb, s, skb->truesize);
	if (seen)
		expect_parted_by_stack(test, seen, copies);
}

/* It is a run, and may be packets again. */
static void srn_gro_taken_test(struct kunit *test)
{
	expect_taken(test, test->param_value, false);
}

/* Who captures keeps what came. */
static void srn_gro_tapped_test(struct kunit *test)
{
	expect_taken(test, test->param_value, true);
}


static void other_psn(struct sk_buff *skb) { bth(skb)->apsn ^= cpu_to_be32(4); }
static void other_qpn(struct sk_buff *skb) { bth(skb)->dqpn ^= cpu_to_be32(1); }
static void fecn(struct sk_buff *skb) { bth(skb)->dqpn ^= cpu_to_be32(BIT(31)); }
static void reserved(struct sk_buff *skb) { bth(skb)->apsn ^= cpu_to_be32(BIT(24)); }
static void other_pkey(struct sk_buff *skb) { bth(skb)->pkey ^= cpu_to_be16(0x8000); }
static void migrated(struct sk_buff *skb) { bth(skb)->flags ^= SRN_BTH_MIGREQ; }
static void version(struct sk_buff *skb) { bth(skb)->flags |= 1; }
static void pad(struct sk_buff *skb) { bth(skb)->flags |= 1 << 4; }
static void first_again(struct sk_buff *skb) { bth(skb)->opcode = IB_OPCODE_RC_RDMA_WRITE_FIRST; }
static void only(struct sk_buff *skb) { bth(skb)->opcode = IB_OPCODE_RC_RDMA_WRITE_ONLY; }
static void other_op(struct sk_buff *skb) { bth(skb)->opcode = IB_OPCODE_RC_SEND_MIDDLE; }
static void unreliable(struct sk_buff *skb) { bth(skb)->opcode = IB_OPCODE_UC_RDMA_WRITE_MIDDLE; }
static void unknown(struct sk_buff *skb) { bth(skb)->opcode = 0xff; }
static void with_immediate(struct sk_buff *skb)
{
	bth(skb)->opcode = IB_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE;
}
static void tos(struct sk_buff *skb) { ip_hdr(skb)->tos ^= INET_ECN_CE; }
static void ttl(struct sk_buff *skb) { ip_hdr(skb)->ttl--; }
static void may_fragment(struct sk_buff *skb)
{
	ip_hdr(skb)->frag_off = 0;
}
static void hop_limit(struct sk_buff *skb) { ipv6_hdr(skb)->hop_limit--; }
static void traffic_class(struct sk_buff *skb) { ipv6_hdr(skb)->flow_lbl[0] ^= 0x10; }
static void checksum(struct sk_buff *skb) { udp_hdr(skb)->check = htons(1); }
static void udp_length(struct sk_buff *skb) { udp_hdr(skb)->len = htons(ntohs(udp_hdr(skb)->len) - 4); }
static void shorter(struct sk_buff *skb)
{
	pskb_trim(skb, skb->len - 4);
	udp_hdr(skb)->len = htons(ntohs(udp_hdr(skb)->len) - 4);
}
static void headers_alone(struct sk_buff *skb)
{
	pskb_trim(skb, skb_transport_offset(skb) + sizeof(struct udphdr) + sizeof(struct srn_bth) + 3);
	udp_hdr(skb)->len = htons(skb->len - skb_transport_offset(skb));
}
static void less_than_bth(struct sk_buff *skb)
{
	pskb_trim(skb, skb_transport_offset(skb) + sizeof(struct udphdr) + 11);
	udp_hdr(skb)->len = htons(skb->len - skb_transport_offset(skb));
}
static void asks(struct sk_buff *skb) { bth(skb)->apsn |= cpu_to_be32(SRN_BTH_ACKREQ); }
static void solicits(struct sk_buff *skb) { bth(skb)->flags |= SRN_BTH_SE; }
static void flushed(struct sk_buff *skb) { NAPI_GRO_CB(skb)->flush = 1; }
static void in_tunnel(struct sk_buff *skb) { skb->encapsulation = 1; }
static void behind_header(struct sk_buff *skb) { NAPI_GRO_CB(skb)->network_offset = 4; }
static void sum_all(struct sk_buff *skb) { skb->ip_summed = CHECKSUM_COMPLETE; }
static void sum_missing(struct sk_buff *skb) { skb->ip_summed = CHECKSUM_PARTIAL; }
static void other_sum(struct sk_buff *skb) { skb->csum_level = 3; }
static void from_reserve(struct sk_buff *skb) { skb->pfmemalloc = 1; }
static void ends(struct sk_buff *skb) { bth(skb)->opcode = IB_OPCODE_RC_RDMA_WRITE_LAST; }
static void shorter_ip(struct sk_buff *skb)
{
	shorter(skb);
	ip_hdr(skb)->tot_len = htons(ntohs(ip_hdr(skb)->tot_len) - 4);
}
static void shorter_end(struct sk_buff *skb)
{
	ends(skb);
	shorter_ip(skb);
}

/* What a filter may have done to one of them since. */
struct later {
	const char *desc;
	void (*change)(struct sk_buff *skb);
	bool last;	/* to that which is to be followed */
	bool follows;
};

static const struct later later_rows[] = {
	{ "nothing", NULL, false, true },
	{ "another PSN", other_psn },
	{ "another QP", other_qpn },
	{ "another P_Key", other_pkey },
	{ "the first again", first_again },
	{ "the only one", only },
	{ "another operation", other_op },
	{ "another service", unreliable },
	{ "a router's mark", tos },
	{ "shorter", shorter_ip },
	{ "the last one, shorter", shorter_end, false, true },
	{ "it asks for an ACK", asks, false, true },
	{ "behind what asks for an ACK", asks, true },
	{ "behind what solicits an event", solicits, true },
	{ "behind the last one", ends, true },
	{ "behind another service's", unreliable, true },
};

KUNIT_ARRAY_PARAM_DESC(later, later_rows, desc);

/* Whoever coupled them, the parser's word is what counts. */
static void srn_gro_follows_test(struct kunit *test)
{
	const struct later *row = test->param_value;
	struct napi *napi = new_napi(test, fake_dev(test));
	struct sk_buff *packets[MAX_PACKETS], *skb, *last;
	struct sk_buff_head parts;
	u32 lost;

	__skb_queue_head_init(&parts);
	make_packets(test, &usual, QPN, packets);
	skb = couple(test, napi, packets, usual.num);
	if (row->change)
		row->change(packets[row->last ? 1 : 2]);
	KUNIT_ASSERT_EQ(test, srn_convoy_part(to_socket(skb), &parts, &lost), SRN_PARSE_OK);
	kfree_skb(__skb_dequeue(&parts));
	last = __skb_dequeue(&parts);
	skb = skb_peek(&parts);
	KUNIT_EXPECT_EQ(test, srn_parse(last), SRN_PARSE_OK);
	KUNIT_EXPECT_EQ(test, srn_parse(skb), SRN_PARSE_OK);
	KUNIT_EXPECT_EQ(test, srn_convoy_follows(last, skb), row->follows);
	kfree_skb(last);
	__skb_queue_purge(&parts);
}

struct rule {
	const char *desc;
	void (*change)(struct sk_buff *skb);
	enum outcome outcome;
	bool is_v6;
};

static const struct rule second_rules[] = {
	{ "as it is", NULL, COUPLED },
	{ "as it is, IPv6", NULL, COUPLED, true },
	{ "another PSN", other_psn, HELD },
	{ "another QP", other_qpn, HELD },
	{ "another P_Key", other_pkey, HELD },
	{ "a mark of a switch", fecn, HELD },
	{ "reserved bits", reserved, HELD },
	{ "migrated", migrated, HELD },
	{ "another version", version, NORMAL },
	{ "pad where none may be", pad, NORMAL },
	{ "the first again", first_again, HELD },
	{ "the only one", only, NORMAL },
	{ "another operation", other_op, HELD },
	{ "another service", unreliable, NORMAL },
	{ "no opcode", unknown, NORMAL },
	{ "the last one, with immediate data", with_immediate, COUPLED },
	{ "a router's mark", tos, HELD },
	{ "a longer way", ttl, HELD },
	{ "may be fragmented", may_fragment, NORMAL },
	{ "a longer way, IPv6", hop_limit, HELD, true },
	{ "a router's mark, IPv6", traffic_class, HELD, true },
	{ "a checksum", checksum, NORMAL },
	{ "UDP's length", udp_length, NORMAL },
	{ "too short in the middle", shorter, HELD },
	{ "no payload", headers_alone, NORMAL },
	{ "no BTH", less_than_bth, NORMAL },
	{ "it asks for an ACK", asks, COUPLED },
	{ "it solicits an event", solicits, COUPLED },
	{ "the stack flushed it", flushed, NORMAL },
	{ "in a tunnel", in_tunnel, NORMAL },
	{ "behind another header", behind_header, NORMAL },
	{ "a checksum that is not there yet", sum_missing, NORMAL },
	{ "summed otherwise", other_sum, HELD },
	{ "from the emergency reserve", from_reserve, HELD },
	{ "the last one", ends, COUPLED },
};

KUNIT_ARRAY_PARAM_DESC(second, second_rules, desc);

/* One behind another. Whatever is not coupled has the other go on first. */
static void srn_gro_second_test(struct kunit *test)
{
	const struct rule *rule = test->param_value;
	const struct shape *s = rule->is_v6 ? &usual6 : &usual;
	struct napi *napi = new_napi(test, fake_dev(test));
	struct sk_buff *packets[MAX_PACKETS];
	enum outcome outcome;
	u32 i;

	make_packets(test, s, QPN, packets);
	KUNIT_ASSERT_EQ(test, receive(napi, packets[0]), HELD);
	prepare(packets[1]);
	if (rule->change)
		rule->change(packets[1]);
	outcome = give(napi, packets[1]);
	KUNIT_EXPECT_EQ(test, outcome, rule->outcome);
	if (outcome != COUPLED)
		KUNIT_EXPECT_PTR_EQ(test, napi->ready, packets[0]);
	if (outcome == NORMAL)
		kfree_skb(packets[1]);
	for (i = 2; i < s->num; i++)
		kfree_skb(packets[i]);
}

static const struct rule first_rules[] = {
	{ "as it is", NULL, HELD },
	{ "as it is, IPv6", NULL, HELD, true },
	{ "another host's", other_host, NORMAL },
	{ "the only one", only, NORMAL },
	{ "the last one", ends, NORMAL },
	{ "another service", unreliable, NORMAL },
	{ "no opcode", unknown, NORMAL },
	{ "another version", version, NORMAL },
	{ "pad", pad, NORMAL },
	{ "it asks for an ACK", asks, NORMAL },
	{ "it solicits an event", solicits, NORMAL },
	{ "no payload", headers_alone, NORMAL },
	{ "no BTH", less_than_bth, NORMAL },
	{ "may be fragmented", may_fragment, NORMAL },
	{ "a checksum", checksum, NORMAL },
	{ "UDP's length", udp_length, NORMAL },
	{ "the stack flushed it", flushed, NORMAL },
	{ "in a tunnel", in_tunnel, NORMAL },
	{ "behind another header", behind_header, NORMAL },
	{ "a checksum that is not there yet", sum_missing, NORMAL },
};

KUNIT_ARRAY_PARAM_DESC(first, first_rules, desc);

/* Returns what is said of its checksum then. */
static int give_first(struct kunit *test, struct napi *napi, const struct rule *rule)
{
	const struct shape *s = rule->is_v6 ? &usual6 : &usual;
	struct sk_buff *packets[MAX_PACKETS];
	int summed;
	u32 i;

	make_packets(test, s, QPN, packets);
	prepare(packets[0]);
	if (rule->change)
		rule->change(packets[0]);
	KUNIT_EXPECT_EQ(test, give(napi, packets[0]), rule->outcome);
	summed = packets[0]->ip_summed;
	if (rule->outcome == NORMAL)
		kfree_skb(packets[0]);
	for (i = 1; i < s->num; i++)
		kfree_skb(packets[i]);
	return summed;
}

static void srn_gro_first_test(struct kunit *test)
{
	give_first(test, new_napi(test, fake_dev(test)), test->param_value);
}

/* After somebody put a list into one piece, and while the last device goes; not once it is long ago. */
static void srn_gro_rests_test(struct kunit *test)
{
	const struct rule rests = { "", NULL, NORMAL }, holds = { "", NULL, HELD };
	struct napi *napi = new_napi(test, fake_dev(test));

	srn_net_rest_gro(&napi->snet);
	give_first(test, napi, &rests);
	atomic64_set(&napi->snet.gro_from, get_jiffies_64() - (1ULL << 33));
	rcu_assign_sk_user_data(napi->sk, NULL);
	give_first(test, napi, &rests);
	rcu_assign_sk_user_data(napi->sk, &napi->snet);
	give_first(test, napi, &holds);
}

/* Then it is looked at no closer, unless one that came before waits: that goes on in front of it. */
static void srn_gro_unwanted_test(struct kunit *test)
{
	const struct rule summed = { "", sum_all, NORMAL };
	struct napi *napi = new_napi(test, fake_dev(test));
	struct sk_buff *packets[MAX_PACKETS];
	u32 i;

	srn_gro_wanted = false;
	KUNIT_EXPECT_EQ(test, give_first(test, napi, &summed), CHECKSUM_COMPLETE);
	srn_gro_wanted = true;
	make_packets(test, &usual, QPN, packets);
	KUNIT_ASSERT_EQ(test, receive(napi, packets[0]), HELD);
	srn_gro_wanted = false;
	KUNIT_EXPECT_EQ(test, receive(napi, packets[2]), NORMAL);
	KUNIT_EXPECT_PTR_EQ(test, napi->ready, packets[0]);
	for (i = 1; i < usual.num; i++)
		kfree_skb(packets[i]);
}

/* What a NIC summed is of each by itself. */
static void srn_gro_summed_test(struct kunit *test)
{
	const struct rule summed = { "", sum_all, HELD };
	struct napi *napi = new_napi(test, fake_dev(test));

	KUNIT_EXPECT_EQ(test, give_first(test, napi, &summed), CHECKSUM_UNNECESSARY);
}

/* What ends it goes on at once; so does a full one. */
static void srn_gro_end_test(struct kunit *test)
{
	const struct shape *most = &shapes[4];
	struct napi *napi = new_napi(test, fake_dev(test));
	struct sk_buff *packets[MAX_PACKETS];
	u32 i;

	make_packets(test, &usual, QPN, packets);
	for (i = 0; i < usual.num; i++) {
		KUNIT_EXPECT_NULL(test, napi->ready);
		receive(napi, packets[i]);
	}
	KUNIT_EXPECT_PTR_EQ(test, napi->ready, packets[0]);
	make_packets(test, most, QPN, packets);
	for (i = 0; i < most->num; i++) {
		KUNIT_EXPECT_PTR_NE(test, napi->ready, packets[0]);
		receive(napi, packets[i]);
	}
	KUNIT_EXPECT_PTR_EQ(test, napi->ready, packets[0]);
	KUNIT_EXPECT_TRUE(test, list_empty(&napi->held));
}

/* A datagram has less than 64 KiB: two runs of one message. */
static void srn_gro_bytes_test(struct kunit *test)
{
	const struct shape half = {
		"", IB_OPCODE_RC_SEND_FIRST, IB_OPCODE_RC_SEND_MIDDLE, 15, 4096, 4096,
	}, rest = {
		"", IB_OPCODE_RC_SEND_MIDDLE, IB_OPCODE_RC_SEND_MIDDLE, 2, 4096, 4096,
	};
	struct napi *napi = new_napi(test, fake_dev(test));
	struct sk_buff *packets[MAX_PACKETS], *more[MAX_PACKETS];
	u32 i;

	make_packets(test, &half, QPN, packets);
	make_packets(test, &rest, QPN, more);
	for (i = 0; i < half.num; i++)
		receive(napi, packets[i]);
	prepare(more[0]);
	bth(more[0])->apsn = cpu_to_be32(srn_psn_add(PSN, half.num));
	KUNIT_EXPECT_EQ(test, give(napi, more[0]), HELD);
	KUNIT_EXPECT_PTR_EQ(test, napi->ready, packets[0]);
	KUNIT_EXPECT_LT(test, packets[0]->len, 65536);
	kfree_skb(more[1]);
}

/* Or what parts them would take it for one that fits where it does not. */
static void srn_gro_longer_test(struct kunit *test)
{
	const struct shape s = {
		"", IB_OPCODE_RC_SEND_MIDDLE, IB_OPCODE_RC_SEND_LAST_WITH_IMMEDIATE, 2, 1024, 1024,
	};
	struct napi *napi = new_napi(test, fake_dev(test));
	struct sk_buff *packets[MAX_PACKETS];

	make_packets(test, &s, QPN, packets);
	KUNIT_EXPECT_EQ(test, receive(napi, packets[0]), HELD);
	KUNIT_EXPECT_EQ(test, receive(napi, packets[1]), NORMAL);
	KUNIT_EXPECT_PTR_EQ(test, napi->ready, packets[0]);
	kfree_skb(packets[1]);
}

static void give_header(struct sk_buff *skb, struct net_device *dev)
{
	skb->dev = dev;
	skb->slow_gro = 1;
	skb_set_mac_header(skb, -ETH_HLEN);
	memset(skb_mac_header(skb), 0xee, ETH_HLEN);
}

static void other_hash(struct sk_buff *skb) { __skb_set_sw_hash(skb, 7, true); }
static void other_mac(struct sk_buff *skb) { skb_mac_header(skb)[3] ^= 1; }
static void other_vlan(struct sk_buff *skb) { __vlan_hwaccel_put_tag(skb, htons(ETH_P_8021Q), 3); }
static void routed(struct sk_buff *skb) { skb->_skb_refdst = 8 | SKB_DST_NOREF; }
static void with_ports(struct sk_buff *skb) { udp_hdr(skb)->dest ^= htons(1); }

struct stranger {
	const char *desc;
	void (*change)(struct sk_buff *skb);
	enum outcome outcome;
	bool ready;	/* the other goes on before it */
};

static const struct stranger strangers[] = {
	{ "paid by another", NULL, COUPLED },
	{ "another PSN", other_psn, HELD, true },
	{ "it ends", ends, COUPLED, true },
	{ "another hash", other_hash, HELD, true },
	{ "from another station", other_mac, HELD, true },
	{ "in a VLAN", other_vlan, HELD, true },
	{ "with a route", routed, NORMAL, true },
	{ "from another port", with_ports, HELD, false },
};

KUNIT_ARRAY_PARAM_DESC(stranger, strangers, desc);

/* To the stack it is another flow, since somebody else paid for it, or nobody: it is of the same, and if it
 * can't be coupled does not overtake.
 */
static void srn_gro_stranger_test(struct kunit *test)
{
	const struct stranger *row = test->param_value;
	struct net_device *dev = kunit_kzalloc(test, sizeof(*dev), GFP_KERNEL);
	struct napi *napi = new_napi(test, fake_dev(test));
	struct sk_buff *packets[MAX_PACKETS];
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, dev);
	dev->hard_header_len = ETH_HLEN;
	napi->strange = true;
	make_packets(test, &usual, QPN, packets);
	for (i = 0; i < 2; i++) {
		prepare(packets[i]);
		give_header(packets[i], dev);
	}
	if (row->change)
		row->change(packets[1]);
	KUNIT_ASSERT_EQ(test, give(napi, packets[0]), HELD);
	KUNIT_EXPECT_EQ(test, give(napi, packets[1]), row->outcome);
	KUNIT_EXPECT_PTR_EQ(test, napi->ready, row->ready ? packets[0] : NULL);
	skb_dst_drop(packets[1]);
	for (i = row->outcome == NORMAL ? 1 : 2; i < usual.num; i++)
		kfree_skb(packets[i]);
}

/* Who paid for packets has that back while they wait, be it for each, or by the first of a train for all. */
static void expect_paid_back(struct kunit *test, u32 paid)
{
	struct napi *napi = new_napi(test, fake_dev(test));
	struct sk_buff *packets[MAX_PACKETS], *skb;
	struct srn_payer payer = {};
	unsigned int before;
	u32 i;

	KUNIT_ASSERT_EQ(test, 0, srn_payer_open(&payer, &init_net, NULL));
	before = refcount_read(&payer.sk->sk_wmem_alloc);
	make_packets(test, &usual, QPN, packets);
	for (i = 0; i < paid; i++)
		srn_payer_charge(&payer, packets[i]);
	KUNIT_EXPECT_GT(test, refcount_read(&payer.sk->sk_wmem_alloc), before);
	skb = couple(test, napi, packets, usual.num);
	KUNIT_EXPECT_EQ(test, refcount_read(&payer.sk->sk_wmem_alloc), before);
	kfree_skb(skb);
	KUNIT_EXPECT_EQ(test, refcount_read(&payer.sk->sk_wmem_alloc), before);
	srn_payer_close(&payer);
}

static void srn_gro_payer_test(struct kunit *test)
{
	expect_paid_back(test, 1);
	expect_paid_back(test, usual.num);
}

/* It can't be parted, and is the caller's. */
static void srn_gro_one_piece_test(struct kunit *test)
{
	struct napi *napi = new_napi(test, fake_dev(test));
	struct sk_buff *packets[MAX_PACKETS], *skb;
	struct sk_buff_head parts;
	u32 lost;

	__skb_queue_head_init(&parts);
	make_packets(test, &usual, QPN, packets);
	skb = to_socket(couple(test, napi, packets, usual.num));
	KUNIT_ASSERT_EQ(test, 0, skb_linearize(skb));
	KUNIT_EXPECT_EQ(test, srn_convoy_part(skb, &parts, &lost), SRN_PARSE_LENGTH);
	KUNIT_EXPECT_TRUE(test, skb_queue_empty(&parts));
	rcu_read_lock();
	local_bh_disable();
	srn_recv(napi->sk, skb);
	local_bh_enable();
	rcu_read_unlock();
	KUNIT_EXPECT_TRUE(test, srn_net_gro_rests(&napi->snet));
}

static struct kunit_case gro_cases[] = {
	KUNIT_CASE_PARAM(srn_gro_parted_by_stack_test, shape_gen_params),
	KUNIT_CASE_PARAM(srn_gro_taken_test, shape_gen_params),
	KUNIT_CASE_PARAM(srn_gro_tapped_test, shape_gen_params),
	KUNIT_CASE_PARAM(srn_gro_follows_test, later_gen_params),
	KUNIT_CASE_PARAM(srn_gro_second_test, second_gen_params),
	KUNIT_CASE_PARAM(srn_gro_first_test, first_gen_params),
	KUNIT_CASE(srn_gro_rests_test),
	KUNIT_CASE(srn_gro_unwanted_test),
	KUNIT_CASE(srn_gro_summed_test),
	KUNIT_CASE(srn_gro_end_test),
	KUNIT_CASE(srn_gro_bytes_test),
	KUNIT_CASE(srn_gro_longer_test),
	KUNIT_CASE_PARAM(srn_gro_stranger_test, stranger_gen_params),
	KUNIT_CASE(srn_gro_payer_test),
	KUNIT_CASE(srn_gro_one_piece_test),
	{}
};

static struct kunit_suite gro_suite = {
	.name = "srn_gro",
	.init = srn_napi_init,
	.exit = srn_napi_exit,
	.test_cases = gro_cases,
};

kunit_test_suite(gro_suite);
