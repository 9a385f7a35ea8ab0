// SPDX-License-Identifier: GPL-2.0-only
/* Each field of what is put in front of the BTH. */
#include "../build.h"
#include "../path.h"
#include "../wire.h"
#include "../xmit.h"

#include <kunit/test.h>
#include <linux/bottom_half.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <rdma/ib_pack.h>

#define TOS	0x88
#define TTL	17
#define SPORT	0xc123
#define REST	(sizeof(struct srn_bth) + 8)
#define UDP_LEN	(sizeof(struct udphdr) + REST)

struct wrapped_row {
	const char *desc;
	u8 opcode;
	u8 ecn;
};

/* Only data of RC may be marked: ACKs are no data, and nobody slows down for marks on datagrams. */
static const struct wrapped_row wrapped_rows[] = {
	{ "data", IB_OPCODE_RC_SEND_ONLY, INET_ECN_ECT_0 },
	{ "ACK", IB_OPCODE_RC_ACKNOWLEDGE, 0 },
	{ "datagram", IB_OPCODE_UD_SEND_ONLY, 0 },
};

KUNIT_ARRAY_PARAM_DESC(wrapped, wrapped_rows, desc);

static struct sk_buff *wrapped(struct kunit *test, const struct srn_path *path, u8 opcode, u16 id)
{
	struct udphdr udp = { .source = htons(SPORT), .dest = htons(SRN_UDP_PORT), .len = htons(UDP_LEN) };
	struct sk_buff *skb;

	local_bh_disable();
	skb = srn_build(opcode, 0, 2, 3, 8);
	if (skb) {
		skb_put_zero(skb, 8);
		srn_xmit_wrap(path, skb, id);
	}
	local_bh_enable();
	KUNIT_ASSERT_NOT_NULL(test, skb);
	KUNIT_EXPECT_PTR_EQ(test, skb_network_header(skb), skb->data);
	KUNIT_EXPECT_PTR_EQ(test, skb_transport_header(skb), skb->data + skb->len - UDP_LEN);
	KUNIT_EXPECT_MEMEQ(test, udp_hdr(skb), &udp, sizeof(udp));
	return skb;
}

static void srn_xmit_ip4_test(struct kunit *test)
{
	const struct wrapped_row *row = test->param_value;
	struct srn_path path = { .tos = TOS, .ttl = TTL, .ecn = INET_ECN_ECT_0, .sport = htons(SPORT),
				 .v4 = { .saddr = htonl(0xc0000201), .daddr = htonl(0xc0000202) } };
	struct iphdr want = { .version = 4, .ihl = 5, .tos = TOS | row->ecn, .tot_len = htons(sizeof(want) + UDP_LEN),
			      .id = htons(0xfffe), .frag_off = htons(IP_DF), .ttl = TTL, .protocol = IPPROTO_UDP,
			      .saddr = path.v4.saddr, .daddr = path.v4.daddr };
	struct sk_buff *skb;

	srn_path_set_ip4(&path);
	skb = wrapped(test, &path, row->opcode, 0xfffe);
	KUNIT_EXPECT_EQ(test, skb->len, sizeof(want) + UDP_LEN);
	KUNIT_EXPECT_MEMEQ(test, ip_hdr(skb), &want, sizeof(want));
	kfree_skb(skb);
}

static void srn_xmit_ip6_test(struct kunit *test)
{
	const struct wrapped_row *row = test->param_value;
	struct srn_path path = { .is_v6 = true, .tos = TOS, .ttl = TTL, .ecn = INET_ECN_ECT_0, .sport = htons(SPORT),
				 .flow_label = htonl(0xfedcb),
				 .v6 = { .saddr.s6_addr = { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 },
					 .daddr.s6_addr = { 0x20, 0x01, 0x0d, 0xb8, [15] = 2 } } };
	struct ipv6hdr want = { .payload_len = htons(UDP_LEN), .nexthdr = IPPROTO_UDP, .hop_limit = TTL,
				.saddr = path.v6.saddr, .daddr = path.v6.daddr };
	struct sk_buff *skb;

	*(__be32 *)&want = htonl(6 << 28 | (TOS | row->ecn) << 20 | 0xfedcb);
	srn_path_set_ip4(&path);
	skb = wrapped(test, &path, row->opcode, 0);
	KUNIT_EXPECT_EQ(test, skb->len, sizeof(want) + UDP_LEN);
	KUNIT_EXPECT_MEMEQ(test, ipv6_hdr(skb), &want, sizeof(want));
	kfree_skb(skb);
}

static struct kunit_case srn_xmit_cases[] = {
	KUNIT_CASE_PARAM(srn_xmit_ip4_test, wrapped_gen_params),
	KUNIT_CASE_PARAM(srn_xmit_ip6_test, wrapped_gen_params),
	{}
};

static struct kunit_suite srn_xmit_suite = {
	.name = "srn_xmit",
	.test_cases = srn_xmit_cases,
};

kunit_test_suite(srn_xmit_suite);
