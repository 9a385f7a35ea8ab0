// SPDX-License-Identifier: GPL-2.0-only
/* Each test starts from a sound packet, so that what it breaks is the only reason
 * to refuse it.
 */
#include "../crc.h"
#include "../icrc.h"
#include "../parse.h"

#include <kunit/skbuff.h>
#include <kunit/test.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/dsfield.h>

#define QPN	0x12ab34
#define PSN	0xfedcba
#define PKEY	0x8765

#define RC_SEND_MIDDLE	0x01
#define RC_SEND_ONLY	0x04
#define RC_READ_REQUEST	0x0c
#define RC_ACK		0x11
#define RC_ATOMIC_ACK	0x12
#define RC_CMP_SWAP	0x13
#define RC_FETCH_ADD	0x14
#define CNP		0x81

/* What a packet is made of. Zero is a good value for each. */
struct spec {
	bool is_v6;
	u8 opcode;
	u8 hdr_len;		/* 0: what the opcode asks for, or a BTH */
	u8 pad;
	unsigned int room;	/* payload and pad */
};

static unsigned int ip_len(bool is_v6)
{
	return is_v6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);
}

/* The headers, by way of the network header: skb->data is anywhere. */
static struct iphdr *v4(struct sk_buff *skb)
{
	return ip_hdr(skb);
}

static struct ipv6hdr *v6(struct sk_buff *skb)
{
	return ipv6_hdr(skb);
}

static bool is_v6(struct sk_buff *skb)
{
	return v4(skb)->version == 6;
}

static struct udphdr *udp(struct sk_buff *skb)
{
	return (void *)skb_network_header(skb) + ip_len(is_v6(skb));
}

static struct srn_bth *bth(struct sk_buff *skb)
{
	return (void *)(udp(skb) + 1);
}

static void write_ip(struct sk_buff *skb, bool is_v6, unsigned int udp_len)
{
	if (is_v6) {
		struct ipv6hdr *ip = v6(skb);

		ip->version = 6;
		ip->nexthdr = IPPROTO_UDP;
		ip->payload_len = htons(udp_len);
		return;
	}
	v4(skb)->version = 4;
	v4(skb)->ihl = 5;
	v4(skb)->protocol = IPPROTO_UDP;
	v4(skb)->tot_len = htons(sizeof(struct iphdr) + udp_len);
}

static void write_bth(struct srn_bth *bth, const struct spec *spec)
{
	bth->opcode = spec->opcode;
	bth->flags = SRN_BTH_MIGREQ | FIELD_PREP(SRN_BTH_PAD, spec->pad);
	bth->pkey = cpu_to_be16(PKEY);
	bth->dqpn = cpu_to_be32(QPN);
	bth->apsn = cpu_to_be32(PSN);
}

/* Needs a linear skb with skb->data at the UDP header. */
static void write_icrc(struct sk_buff *skb)
{
	unsigned int start = sizeof(struct udphdr) + sizeof(struct srn_bth);
	unsigned int trailer = skb->len - SRN_ICRC_SIZE;
	u32 crc = srn_icrc_hdr(skb_network_header(skb), skb->data, is_v6(skb));

	crc = srn_crc32(crc, skb->data + start, trailer - start);
	memcpy(skb->data + trailer, &(__le32){ srn_icrc_final(crc) }, SRN_ICRC_SIZE);
}

static struct sk_buff *make(struct kunit *test, const struct spec *spec)
{
	unsigned int hdr_len = spec->hdr_len ?: srn_opcode_hdr_len(spec->opcode) ?: 12;
	unsigned int udp_len = sizeof(struct udphdr) + hdr_len + spec->room + SRN_ICRC_SIZE;
	struct sk_buff *skb = kunit_zalloc_skb(test, ip_len(spec->is_v6) + udp_len, GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_put(skb, ip_len(spec->is_v6) + udp_len);
	skb_reset_network_header(skb);
	write_ip(skb, spec->is_v6, udp_len);
	udp(skb)->dest = htons(SRN_UDP_PORT);
	udp(skb)->len = htons(udp_len);
	for (i = 0; i < udp_len - sizeof(struct udphdr); i++)
		((u8 *)bth(skb))[i] = i;
	write_bth(bth(skb), spec);
	skb_pull(skb, ip_len(spec->is_v6));
	if (skb->len >= sizeof(struct udphdr) + sizeof(struct srn_bth) + SRN_ICRC_SIZE)
		write_icrc(skb);
	return skb;
}

/* Lengths of all layers follow what is left of the packet. */
static void cut_to(struct sk_buff *skb, unsigned int len)
{
	skb_trim(skb, len);
	udp(skb)->len = htons(len);
	write_ip(skb, is_v6(skb), len);
}

/* The opcodes after whose headers the ICRC comes at once. */
static bool carries_nothing(u8 opcode)
{
	return opcode == RC_READ_REQUEST || opcode == RC_ACK || opcode == RC_ATOMIC_ACK ||
	       opcode == RC_CMP_SWAP || opcode == RC_FETCH_ADD;
}

/* 1. Every opcode, sound */

static void expect_sound(struct kunit *test, const struct spec *spec)
{
	struct sk_buff *skb = make(test, spec);

	KUNIT_EXPECT_EQ_MSG(test, srn_parse(skb), SRN_PARSE_OK, "opcode %#x", spec->opcode);
	KUNIT_EXPECT_EQ_MSG(test, srn_parse_icrc(skb), SRN_PARSE_OK, "opcode %#x", spec->opcode);
	KUNIT_EXPECT_EQ_MSG(test, srn_pkt(skb)->len, spec->room - spec->pad,
			    "opcode %#x", spec->opcode);
	KUNIT_EXPECT_EQ_MSG(test, srn_pkt(skb)->hdr_len, srn_opcode_hdr_len(spec->opcode),
			    "opcode %#x", spec->opcode);
	KUNIT_EXPECT_PTR_EQ(test, srn_pkt_bth(skb), (void *)bth(skb));
}

static void srn_parse_every_opcode_test(struct kunit *test)
{
	static const unsigned int rooms[] = { 0, 4, 256, 4096 };
	unsigned int opcode, i, pad;

	for (opcode = 0; opcode < 256; opcode++) {
		struct spec spec = { .opcode = opcode, .is_v6 = opcode & 1 };

		if (!srn_opcodes[opcode].op)
			continue;
		if (opcode == CNP) {
			spec.room = 16;
			expect_sound(test, &spec);
			continue;
		}
		for (i = 0; i < ARRAY_SIZE(rooms); i++) {
			if (rooms[i] && carries_nothing(opcode))
				continue;
			spec.room = rooms[i];
			for (pad = 0; pad <= min(3U, spec.room); pad++) {
				spec.pad = pad;
				expect_sound(test, &spec);
			}
		}
	}
}

/* 2. Fields */

static void srn_parse_fields_test(struct kunit *test)
{
	struct sk_buff *skb = make(test, &(struct spec){ .opcode = RC_SEND_ONLY, .room = 8 });
	const struct srn_pkt *pkt = srn_pkt(skb);

	KUNIT_ASSERT_EQ(test, srn_parse(skb), SRN_PARSE_OK);
	KUNIT_EXPECT_EQ(test, pkt->opcode, RC_SEND_ONLY);
	KUNIT_EXPECT_EQ(test, pkt->qpn, QPN);
	KUNIT_EXPECT_EQ(test, pkt->psn, PSN);
	KUNIT_EXPECT_EQ(test, pkt->pkey, PKEY);
	KUNIT_EXPECT_EQ(test, pkt->flags, 0);
	KUNIT_EXPECT_EQ(test, srn_pkt_payload(skb), 8 + 12);
	KUNIT_EXPECT_PTR_EQ(test, srn_pkt_info(skb), &srn_opcodes[RC_SEND_ONLY]);
}

/* Of four values one is a mark. The ICRC does not cover them. */
static void srn_parse_mark_test(struct kunit *test)
{
	struct spec spec = { .opcode = RC_SEND_ONLY, .room = 8 };
	struct sk_buff *skb;
	u8 ecn;

	for (ecn = 0; ecn < 8; ecn++) {
		spec.is_v6 = ecn & 4;
		skb = make(test, &spec);
		if (spec.is_v6)
			ipv6_change_dsfield(ipv6_hdr(skb), 0, 0x28 | (ecn & 3));
		else
			ip_hdr(skb)->tos = 0x28 | (ecn & 3);
		KUNIT_ASSERT_EQ(test, srn_parse(skb), SRN_PARSE_OK);
		KUNIT_EXPECT_EQ(test, srn_parse_icrc(skb), SRN_PARSE_OK);
		KUNIT_EXPECT_EQ(test, !!(srn_pkt(skb)->flags & SRN_PKT_CE), (ecn & 3) == 3);
	}
}

static void set_se(struct sk_buff *skb)
{
	bth(skb)->flags |= SRN_BTH_SE;
}

static void set_ackreq(struct sk_buff *skb)
{
	bth(skb)->apsn |= cpu_to_be32(0x80000000);
}

static void set_ecn_and_reserved(struct sk_buff *skb)
{
	bth(skb)->dqpn |= cpu_to_be32(0xff000000);
	bth(skb)->apsn |= cpu_to_be32(0x7f000000);
}

static void clear_migreq(struct sk_buff *skb)
{
	bth(skb)->flags &= ~SRN_BTH_MIGREQ;
}

static const struct flag_row {
	const char *desc;
	void (*set)(struct sk_buff *skb);
	u8 flags;
} flag_rows[] = {
	{ "solicited event", set_se, SRN_PKT_SE },
	{ "AckReq", set_ackreq, SRN_PKT_ACKREQ },
	{ "FECN, BECN and reserved bits are ignored", set_ecn_and_reserved, 0 },
	{ "MigReq may be 0", clear_migreq, 0 },
};

KUNIT_ARRAY_PARAM_DESC(flag, flag_rows, desc);

static void srn_parse_flag_test(struct kunit *test)
{
	const struct flag_row *row = test->param_value;
	struct sk_buff *skb = make(test, &(struct spec){ .opcode = RC_SEND_ONLY, .is_v6 = true });

	row->set(skb);

	KUNIT_ASSERT_EQ(test, srn_parse(skb), SRN_PARSE_OK);
	KUNIT_EXPECT_EQ(test, srn_pkt(skb)->flags, row->flags | SRN_PKT_V6);
	KUNIT_EXPECT_EQ(test, srn_pkt(skb)->qpn, QPN);
	KUNIT_EXPECT_EQ(test, srn_pkt(skb)->psn, PSN);
}

/* DSCP and ECN are the network's. */
static void srn_parse_ecn_test(struct kunit *test)
{
	u8 ecn;

	for (ecn = 0; ecn < 4; ecn++) {
		struct sk_buff *four = make(test, &(struct spec){ .opcode = RC_SEND_ONLY });
		struct sk_buff *six = make(test, &(struct spec){ .opcode = RC_SEND_ONLY,
								 .is_v6 = true });

		v4(four)->tos = 0xa8 | ecn;
		v6(six)->priority = 0xa;
		v6(six)->flow_lbl[0] = 0x8f | ecn << 4;

		KUNIT_EXPECT_EQ(test, srn_parse(four), SRN_PARSE_OK);
		KUNIT_EXPECT_EQ(test, srn_parse(six), SRN_PARSE_OK);
	}
}

/* make() numbers the bytes behind the BTH 12, 13, 14, ... */
static u32 numbered(u8 first)
{
	return first << 24 | (first + 1) << 16 | (first + 2) << 8 | (first + 3);
}

static void srn_parse_extensions_test(struct kunit *test)
{
	unsigned int opcode;

	for (opcode = 0; opcode < 256; opcode++) {
		const struct srn_opcode *info = &srn_opcodes[opcode];
		struct sk_buff *skb;

		if (!info->hdrs)
			continue;
		skb = make(test, &(struct spec){ .opcode = opcode });
		KUNIT_ASSERT_EQ(test, srn_parse(skb), SRN_PARSE_OK);

		if (info->hdrs & SRN_HDR_DETH) {
			KUNIT_EXPECT_EQ(test, be32_to_cpu(srn_pkt_deth(skb)->qkey), numbered(12));
			KUNIT_EXPECT_EQ(test, be32_to_cpu(srn_pkt_deth(skb)->sqpn), numbered(16));
		}
		if (info->hdrs & SRN_HDR_RETH) {
			KUNIT_EXPECT_EQ(test, be32_to_cpu(srn_pkt_reth(skb)->rkey), numbered(20));
			KUNIT_EXPECT_EQ(test, be32_to_cpu(srn_pkt_reth(skb)->len), numbered(24));
		}
		if (info->hdrs & SRN_HDR_ATOMIC)
			KUNIT_EXPECT_EQ(test, be32_to_cpu(srn_pkt_atomic(skb)->rkey), numbered(20));
		if (info->hdrs & SRN_HDR_AETH)
			KUNIT_EXPECT_EQ(test, be32_to_cpu(srn_pkt_aeth(skb)->smsn), numbered(12));
		if (info->hdrs & SRN_HDR_ATOMIC_ACK)
			KUNIT_EXPECT_EQ(test, be64_to_cpu(srn_pkt_atomic_ack(skb)->orig),
					0x1011121314151617ULL);
		if (info->hdrs & (SRN_HDR_IMM | SRN_HDR_IETH))
			KUNIT_EXPECT_EQ_MSG(test, be32_to_cpu(srn_pkt_imm(skb)),
					    numbered(srn_opcode_hdr_len(opcode) - 4),
					    "opcode %#x", opcode);
	}
}

/* 3. Malformed */

static void udp_longer(struct sk_buff *skb)
{
	be16_add_cpu(&udp(skb)->len, 4);
}

static void udp_shorter(struct sk_buff *skb)
{
	be16_add_cpu(&udp(skb)->len, -4);
}

static void udp_zero(struct sk_buff *skb)
{
	udp(skb)->len = 0;
}

static void ip_longer(struct sk_buff *skb)
{
	if (is_v6(skb))
		be16_add_cpu(&v6(skb)->payload_len, 4);
	else
		be16_add_cpu(&v4(skb)->tot_len, 4);
}

static void ip_shorter(struct sk_buff *skb)
{
	if (is_v6(skb))
		be16_add_cpu(&v6(skb)->payload_len, -4);
	else
		be16_add_cpu(&v4(skb)->tot_len, -4);
}

static void ip_zero(struct sk_buff *skb)
{
	if (is_v6(skb))
		v6(skb)->payload_len = 0;
	else
		v4(skb)->tot_len = 0;
}

static void ip_version_0(struct sk_buff *skb)
{
	v4(skb)->version = 0;
}

static void ip_options(struct sk_buff *skb)
{
	v4(skb)->ihl = 6;
}

static void ip_no_header(struct sk_buff *skb)
{
	v4(skb)->ihl = 4;
}

static void ip_extension(struct sk_buff *skb)
{
	v6(skb)->nexthdr = IPPROTO_HOPOPTS;
}

static void ip_further_away(struct sk_buff *skb)
{
	skb->network_header -= 4;
	memmove(v4(skb), skb_network_header(skb) + 4, ip_len(false));
}

static void trailing_bytes(struct sk_buff *skb)
{
	skb_put_zero(skb, 4);
}

static void tver_1(struct sk_buff *skb)
{
	bth(skb)->flags |= 1;
}

static void tver_8(struct sk_buff *skb)
{
	bth(skb)->flags |= 8;
}

static const struct bad_row {
	const char *desc;
	struct spec spec;
	void (*spoil)(struct sk_buff *skb);
	enum srn_parse_result want;
} bad_rows[] = {
	{ "UDP longer than the packet", { .opcode = 4 }, udp_longer, SRN_PARSE_LENGTH },
	{ "UDP shorter than packet", { .opcode = 4, .room = 8 }, udp_shorter, SRN_PARSE_LENGTH },
	{ "UDP length 0", { .opcode = 4 }, udp_zero, SRN_PARSE_LENGTH },
	{ "IPv4 longer than UDP", { .opcode = 4 }, ip_longer, SRN_PARSE_LENGTH },
	{ "IPv4 shorter than UDP", { .opcode = 4, .room = 8 }, ip_shorter, SRN_PARSE_LENGTH },
	{ "IPv4 length 0", { .opcode = 4 }, ip_zero, SRN_PARSE_LENGTH },
	{ "IPv6 longer than UDP", { true, .opcode = 4 }, ip_longer, SRN_PARSE_LENGTH },
	{ "IPv6 shorter than UDP", { true, .opcode = 4, .room = 8 },
	  ip_shorter, SRN_PARSE_LENGTH },
	{ "IPv6 jumbogram", { true, .opcode = 4 }, ip_zero, SRN_PARSE_LENGTH },
	{ "IP version 0", { .opcode = 4 }, ip_version_0, SRN_PARSE_LENGTH },
	{ "IPv4 options", { .opcode = 4 }, ip_options, SRN_PARSE_LENGTH },
	{ "IPv4 header of 16 bytes", { .opcode = 4 }, ip_no_header, SRN_PARSE_LENGTH },
	{ "IPv4 header not before UDP", { .opcode = 4 }, ip_further_away, SRN_PARSE_LENGTH },
	{ "IPv6 extension header", { true, .opcode = 4 }, ip_extension, SRN_PARSE_LENGTH },
	{ "bytes behind the packet", { .opcode = 4 }, trailing_bytes, SRN_PARSE_LENGTH },

	{ "1 byte not padded", { .opcode = 4, .room = 1 }, NULL, SRN_PARSE_LENGTH },
	{ "2 bytes not padded", { .opcode = 4, .room = 2 }, NULL, SRN_PARSE_LENGTH },
	{ "3 bytes not padded", { .opcode = 4, .room = 3 }, NULL, SRN_PARSE_LENGTH },
	{ "pad and payload not a multiple of 4", { .opcode = 4, .room = 6, .pad = 2 },
	  NULL, SRN_PARSE_LENGTH },
	{ "READ request with payload", { .opcode = 0x0c, .room = 4 }, NULL, SRN_PARSE_LENGTH },
	{ "ACK with payload", { .opcode = 0x11, .room = 4 }, NULL, SRN_PARSE_LENGTH },
	{ "ACK with payload that is all pad but 1", { .opcode = 0x11, .room = 4, .pad = 3 },
	  NULL, SRN_PARSE_LENGTH },
	{ "atomic ACK with payload", { .opcode = 0x12, .room = 8 }, NULL, SRN_PARSE_LENGTH },
	{ "compare and swap with payload", { .opcode = 0x13, .room = 4 }, NULL, SRN_PARSE_LENGTH },
	{ "fetch and add with payload", { .opcode = 0x14, .room = 4 }, NULL, SRN_PARSE_LENGTH },
	{ "CNP without its reserved bytes", { .opcode = 0x81 }, NULL, SRN_PARSE_LENGTH },
	{ "CNP too short", { .opcode = 0x81, .room = 12 }, NULL, SRN_PARSE_LENGTH },
	{ "CNP too long", { .opcode = 0x81, .room = 20 }, NULL, SRN_PARSE_LENGTH },
	{ "more than twice the largest path MTU", { .opcode = 4, .room = 8196 },
	  NULL, SRN_PARSE_LENGTH },
	{ "the largest datagram", { true, .opcode = 0x64, .room = 65400 },
	  NULL, SRN_PARSE_LENGTH },
	{ "reserved opcode, too long", { .opcode = 0x15, .room = 9000 }, NULL, SRN_PARSE_LENGTH },
	{ "CNP with pad", { .opcode = 0x81, .room = 16, .pad = 1 }, NULL, SRN_PARSE_LENGTH },

	{ "pad 1 without payload", { .opcode = 4, .pad = 1 }, NULL, SRN_PARSE_PAD },
	{ "pad 3 without payload, IPv6", { true, .opcode = 4, .pad = 3 }, NULL, SRN_PARSE_PAD },
	{ "pad on an ACK", { .opcode = 0x11, .pad = 2 }, NULL, SRN_PARSE_PAD },

	{ "header version 1", { .opcode = 4 }, tver_1, SRN_PARSE_TVER },
	{ "header version 8", { true, .opcode = 4 }, tver_8, SRN_PARSE_TVER },

	{ "reserved RC opcode", { .opcode = 0x15 }, NULL, SRN_PARSE_OPCODE },
	{ "RC FLUSH", { .opcode = 0x1c, .room = 20 }, NULL, SRN_PARSE_OPCODE },
	{ "UC READ request", { .opcode = 0x2c, .room = 16 }, NULL, SRN_PARSE_OPCODE },
	{ "RD", { .opcode = 0x44, .room = 12 }, NULL, SRN_PARSE_OPCODE },
	{ "UD SEND FIRST", { true, .opcode = 0x60, .room = 8 }, NULL, SRN_PARSE_OPCODE },
	{ "native InfiniBand's CNP", { .opcode = 0x80, .room = 16 }, NULL, SRN_PARSE_OPCODE },
	{ "manufacturer's opcode", { .opcode = 0xc0, .room = 32 }, NULL, SRN_PARSE_OPCODE },
	{ "last opcode", { true, .opcode = 0xff }, NULL, SRN_PARSE_OPCODE },
	{ "reserved opcode, bad pad", { .opcode = 0x15, .pad = 1 }, NULL, SRN_PARSE_PAD },
	{ "reserved opcode, not padded", { .opcode = 0x15, .room = 1 }, NULL, SRN_PARSE_LENGTH },
};

KUNIT_ARRAY_PARAM_DESC(bad, bad_rows, desc);

static void srn_parse_bad_test(struct kunit *test)
{
	const struct bad_row *row = test->param_value;
	struct sk_buff *skb;

	/* Room for what trailing_bytes() and ip_further_away() do. */
	skb = make(test, &row->spec);
	KUNIT_ASSERT_EQ(test, pskb_expand_head(skb, 64, 64, GFP_KERNEL), 0);
	if (row->spoil)
		row->spoil(skb);

	KUNIT_EXPECT_EQ(test, srn_parse(skb), row->want);
}

static void srn_parse_cut_test(struct kunit *test)
{
	unsigned int opcode, len;

	for (opcode = 0; opcode < 256; opcode++) {
		struct spec spec = { .opcode = opcode, .is_v6 = opcode & 1 };
		unsigned int full = 8 + srn_opcode_hdr_len(opcode) + 4;

		if (!srn_opcodes[opcode].op)
			continue;
		for (len = 0; len < full; len++) {
			struct sk_buff *skb = make(test, &spec);

			cut_to(skb, len);
			KUNIT_EXPECT_EQ_MSG(test, srn_parse(skb), SRN_PARSE_SHORT,
					    "opcode %#x cut to %u", opcode, len);
		}
	}
}

/* A RC responder answers it, so what it needs must be there. */
static void srn_parse_reserved_test(struct kunit *test)
{
	struct sk_buff *skb = make(test, &(struct spec){ .opcode = 0x15, .room = 8, .pad = 3 });
	const struct srn_pkt *pkt = srn_pkt(skb);

	KUNIT_ASSERT_EQ(test, srn_parse(skb), SRN_PARSE_OPCODE);
	KUNIT_EXPECT_EQ(test, pkt->opcode, 0x15);
	KUNIT_EXPECT_EQ(test, pkt->qpn, QPN);
	KUNIT_EXPECT_EQ(test, pkt->psn, PSN);
	KUNIT_EXPECT_EQ(test, pkt->hdr_len, 12);
	KUNIT_EXPECT_EQ(test, pkt->len, 5);
	KUNIT_EXPECT_EQ(test, srn_parse_icrc(skb), SRN_PARSE_OK);
	skb->data[skb->len - 1] ^= 1;
	KUNIT_EXPECT_EQ(test, srn_parse_icrc(skb), SRN_PARSE_ICRC);
}

/* 4. Packets in pieces */

/* The same packet with all but its first @linear bytes in page frags of @size. */
static struct sk_buff *scatter(struct kunit *test, struct sk_buff *from,
			       unsigned int linear, unsigned int size)
{
	unsigned int ip = -skb_network_offset(from);
	struct sk_buff *skb = kunit_zalloc_skb(test, ip + from->len, GFP_KERNEL);
	unsigned int at;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_reset_network_header(skb);
	skb_put_data(skb, skb_network_header(from), ip);
	skb_pull(skb, ip);
	skb_put_data(skb, from->data, linear);

	for (at = linear; at < from->len; at += size) {
		unsigned int n = min(size, from->len - at);
		struct page *page = alloc_page(GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, page);
		memcpy(page_address(page) + 3, from->data + at, n);
		skb_add_rx_frag(skb, skb_shinfo(skb)->nr_frags, page, 3, n, PAGE_SIZE);
	}
	return skb;
}

static void srn_parse_scattered_test(struct kunit *test)
{
	struct spec spec = { .opcode = 0x0b, .room = 64, .pad = 3, .is_v6 = true };
	unsigned int linear;

	for (linear = 0; linear <= 8 + 32; linear++) {
		struct sk_buff *skb = scatter(test, make(test, &spec), linear, 11);

		KUNIT_ASSERT_TRUE(test, skb_is_nonlinear(skb));
		KUNIT_ASSERT_EQ_MSG(test, srn_parse(skb), SRN_PARSE_OK, "%u linear", linear);
		KUNIT_EXPECT_GE(test, skb_headlen(skb), 8 + 32);
		KUNIT_EXPECT_EQ(test, srn_pkt(skb)->qpn, QPN);
		KUNIT_EXPECT_EQ(test, srn_pkt(skb)->len, 61);
		KUNIT_EXPECT_EQ(test, be32_to_cpu(srn_pkt_imm(skb)), numbered(28));
		KUNIT_EXPECT_EQ(test, srn_parse_icrc(skb), SRN_PARSE_OK);
	}
}

static void srn_parse_scattered_cut_test(struct kunit *test)
{
	struct spec spec = { .opcode = RC_CMP_SWAP };
	struct sk_buff *whole = make(test, &spec);

	cut_to(whole, 8 + 40 + 4 - 1);
	KUNIT_EXPECT_EQ(test, srn_parse(scatter(test, whole, 0, 7)), SRN_PARSE_SHORT);
}

/* 5. ICRC */

static void srn_parse_icrc_flip_test(struct kunit *test)
{
	struct spec spec = { .opcode = RC_SEND_ONLY, .room = 300, .pad = 1 };
	struct sk_buff *skb = make(test, &spec);
	unsigned int at;

	KUNIT_ASSERT_EQ(test, srn_parse(skb), SRN_PARSE_OK);
	KUNIT_ASSERT_EQ(test, srn_parse_icrc(skb), SRN_PARSE_OK);

	for (at = 8 + 12; at < skb->len; at++) {
		skb->data[at] ^= 0x10;
		KUNIT_EXPECT_EQ_MSG(test, srn_parse_icrc(skb), SRN_PARSE_ICRC, "byte %u", at);
		skb->data[at] ^= 0x10;
	}
	KUNIT_EXPECT_EQ(test, srn_parse_icrc(skb), SRN_PARSE_OK);
}

/* cb holds the IP layer's notes when a packet comes in: none may show through. */
static void srn_parse_dirty_cb_test(struct kunit *test)
{
	struct sk_buff *skb = make(test, &(struct spec){ .opcode = RC_SEND_ONLY });

	memset(skb->cb, 0xff, sizeof(skb->cb));
	KUNIT_ASSERT_EQ(test, srn_parse(skb), SRN_PARSE_OK);
	KUNIT_EXPECT_EQ(test, srn_pkt(skb)->flags, 0);
	KUNIT_EXPECT_EQ(test, srn_pkt(skb)->len, 0);
}

static struct kunit_case srn_parse_cases[] = {
	KUNIT_CASE(srn_parse_every_opcode_test),
	KUNIT_CASE(srn_parse_fields_test),
	KUNIT_CASE(srn_parse_mark_test),
	KUNIT_CASE_PARAM(srn_parse_flag_test, flag_gen_params),
	KUNIT_CASE(srn_parse_ecn_test),
	KUNIT_CASE(srn_parse_extensions_test),
	KUNIT_CASE_PARAM(srn_parse_bad_test, bad_gen_params),
	KUNIT_CASE(srn_parse_cut_test),
	KUNIT_CASE(srn_parse_reserved_test),
	KUNIT_CASE(srn_parse_scattered_test),
	KUNIT_CASE(srn_parse_scattered_cut_test),
	KUNIT_CASE(srn_parse_icrc_flip_test),
	KUNIT_CASE(srn_parse_dirty_cb_test),
	{}
};

static struct kunit_suite srn_parse_suite = {
	.name = "srn_parse",
	.test_cases = srn_parse_cases,
};

kunit_test_suite(srn_parse_suite);
