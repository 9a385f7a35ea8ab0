// SPDX-License-Identifier: GPL-2.0-only
/* CRCs of several pieces, and of several packets, in one section of the FPU. */
#include "../crc.h"
#include "../icrc.h"
#include "../parse.h"
#include "../wire.h"
#include "slow_crc.h"

#include <kunit/skbuff.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/udp.h>

#define SEED	0x89abcdefu

/* Of nothing, less than a lane, lanes, rounds of eight, and bytes behind each. */
static const u32 lens[] = { 0, 1, 4, 15, 16, 17, 32, 44, 112, 127, 128, 129, 144, 256, 300 };

static bool begin(struct kunit *test)
{
	return srn_crc32_find_clmul() && srn_crc32_fpu_begin();
}

static u32 sum_of(const u8 *p, u32 a, u32 b, u32 c)
{
	struct srn_crc crc = { .state = SEED };

	srn_crc32_add(&crc, p, a);
	srn_crc32_add(&crc, p + a, b);
	srn_crc32_add(&crc, p + a + b, c);
	return srn_crc32_state(&crc);
}

/* Returns for how many threes of @num lengths, the longest last, the CRC is wrong; in a section. */
static u32 wrong_pieces(const u8 *bytes, const u32 *lens, u32 num)
{
	u32 i, k, l, wrong = 0;

	for (i = 0; i < num; i++)
		for (k = 0; k < num; k++)
			for (l = 0; l < num; l++)
				wrong += sum_of(bytes + 1, lens[i], lens[k], lens[l]) !=
					 slow_crc(SEED, bytes + 1, lens[i] + lens[k] + lens[l]);
	return wrong;
}

/* In a section of its own, by @impl. */
static void expect_pieces(struct kunit *test, enum srn_crc_impl impl, const u32 *lens, u32 num)
{
	const u8 *bytes = filled(test, 3 * lens[num - 1] + 1);
	enum srn_crc_impl before = srn_crc32_use(impl);
	bool begun = begin(test);
	u32 wrong = 0;

	if (begun) {
		wrong = wrong_pieces(bytes, lens, num);
		srn_crc32_fpu_end();
	}
	srn_crc32_use(before);
	if (!begun)
		kunit_skip(test, "this CPU has no carry-less multiplication");
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

static void srn_crc_pieces_test(struct kunit *test)
{
	expect_pieces(test, SRN_CRC_CLMUL, lens, ARRAY_SIZE(lens));
}

/* What is taken in pairs of lanes, where the CPU can, goes on from, and to, what is not. */
static void srn_crc_wide_pieces_test(struct kunit *test)
{
	static const u32 wide[] = { 0, 5, 16, 128, 511, 512, 785, 1024 };

	expect_pieces(test, srn_crc32_find_wide() ? SRN_CRC_WIDE : SRN_CRC_CLMUL, wide, ARRAY_SIZE(wide));
}

/* A packet, and the same in one piece. */
struct packet {
	struct sk_buff *skb;
	u8 *ip, *udp;	/* in it */
	u8 *flat;
	u32 len;	/* from the IP header to the ICRC */
	bool is_v6;
};

static u32 front_len(bool is_v6)
{
	return (is_v6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr)) + sizeof(struct udphdr) +
	       sizeof(struct srn_bth);
}

static void add_frag(struct kunit *test, struct sk_buff *skb, const u8 *bytes, u32 offset, u32 len)
{
	struct page *page = alloc_pages(GFP_KERNEL | __GFP_COMP, 1);

	KUNIT_ASSERT_NOT_NULL(test, page);
	memcpy(page_address(page) + offset, bytes, len);
	skb_add_rx_frag(skb, skb_shinfo(skb)->nr_frags, page, offset, len, PAGE_SIZE << 1);
}

/* With @linear bytes behind its BTH, @paged in a fragment that crosses a page, and its ICRC, which is made
 * by the model, behind them. @from: where skb->data stands, from the UDP header.
 */
static struct packet make(struct kunit *test, bool is_v6, u32 linear, u32 paged, u32 from)
{
	u32 front = front_len(is_v6), body = front + linear + paged, icrc;
	struct packet p = { .is_v6 = is_v6, .len = body + SRN_ICRC_SIZE };
	u8 *udp;

	p.flat = filled(test, p.len);
	udp = p.flat + front - sizeof(struct udphdr) - sizeof(struct srn_bth);
	p.flat[0] = is_v6 ? 0x60 : 0x45;
	icrc = slow_crc(srn_icrc_hdr(p.flat, udp, is_v6), p.flat + front, linear + paged);
	*(__le32 *)memset(p.flat + body, 0, SRN_ICRC_SIZE) = srn_icrc_final(icrc);

	p.skb = kunit_zalloc_skb(test, front + linear + SRN_ICRC_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, p.skb);
	skb_trim(p.skb, 0);
	skb_put_data(p.skb, p.flat, front + linear + (paged ? 0 : SRN_ICRC_SIZE));
	p.ip = p.skb->data;
	p.udp = p.ip + (udp - p.flat);
	if (paged)
		add_frag(test, p.skb, p.flat + front + linear, PAGE_SIZE - 100, paged + SRN_ICRC_SIZE);
	__skb_pull(p.skb, udp - p.flat + from);
	return p;
}

static __le32 icrc_of(const struct packet *p)
{
	__le32 icrc;

	memcpy(&icrc, p->flat + p->len - SRN_ICRC_SIZE, sizeof(icrc));
	return icrc;
}

/* Returns how many of three are wrong: the ICRC that is made, and whether it is found to be right, and wrong. */
static u32 errors(bool section, const struct packet *p)
{
	u32 wrong = srn_icrc_packet_in(section, p->skb, p->ip, p->udp, p->is_v6) != icrc_of(p);

	wrong += !srn_icrc_is_good_in(section, p->skb, p->ip, p->udp, p->is_v6);
	p->udp[sizeof(struct udphdr)] ^= 1;
	wrong += srn_icrc_is_good_in(section, p->skb, p->ip, p->udp, p->is_v6);
	p->udp[sizeof(struct udphdr)] ^= 1;
	return wrong;
}

static void expect_icrc(struct kunit *test, bool is_v6, u32 linear, u32 paged, u32 from)
{
	struct packet p = make(test, is_v6, linear, paged, from);
	bool section = begin(test);
	u32 within = errors(section, &p);

	srn_icrc_end(section);
	KUNIT_EXPECT_EQ_MSG(test, within, 0, "v6 %u, %u + %u bytes from %u", is_v6, linear, paged, from);
	KUNIT_EXPECT_EQ_MSG(test, errors(false, &p), 0, "v6 %u, %u + %u bytes from %u", is_v6, linear,
			    paged, from);
	KUNIT_EXPECT_EQ(test, srn_icrc_packet(p.skb, p.ip, p.udp, is_v6), icrc_of(&p));
	KUNIT_EXPECT_TRUE(test, srn_icrc_is_good(p.skb, p.ip, p.udp, is_v6));
}

/* Whatever is linear behind the headers, and whatever is not. */
static void srn_icrc_section_test(struct kunit *test)
{
	static const u32 paged[] = { 0, 4, 16, 300, 1024, 1028 };
	u32 linear, i;

	for (linear = 0; linear <= 64; linear++) {
		for (i = 0; i < ARRAY_SIZE(paged); i++) {
			expect_icrc(test, false, linear, paged[i], 0);
			expect_icrc(test, true, linear, paged[i], 0);
		}
		expect_icrc(test, linear & 1, linear, 1024, sizeof(struct udphdr));
		expect_icrc(test, linear & 1, linear, 1024, sizeof(struct udphdr) + sizeof(struct srn_bth));
	}
	expect_icrc(test, false, 1000, 0, 0);
	expect_icrc(test, true, 1003, 0, 0);
}

/* Which bits of a byte routers and switches may change, from the IP header on. */
static u8 mutable_bits(bool is_v6, u32 at)
{
	u32 udp = is_v6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);

	if (at == udp + 6 || at == udp + 7)		/* UDP's checksum */
		return 0xff;
	if (at == udp + sizeof(struct udphdr) + offsetof(struct srn_bth, dqpn))	/* FECN, BECN */
		return 0xff;
	if (is_v6)	/* traffic class and flow label, hop limit */
		return !at ? 0x0f : at <= 3 || at == 7 ? 0xff : 0;
	return at == 1 || at == 8 || at == 10 || at == 11 ? 0xff : 0;	/* TOS, TTL, checksum */
}

/* How many of a byte's bits are not what they are to be: what matters, or @free, what does not. */
static u32 misjudged(bool section, const struct packet *p, u8 *byte, u8 free)
{
	u32 bit, wrong = 0;

	for (bit = 0; bit < 8; bit++) {
		*byte ^= BIT(bit);
		wrong += srn_icrc_is_good_in(section, p->skb, p->ip, p->udp, p->is_v6) != !!(free & BIT(bit));
		*byte ^= BIT(bit);
	}
	return wrong;
}

/* All bits, from the IP header to the ICRC. */
static u32 misjudged_in_all(bool section, const struct packet *p)
{
	const skb_frag_t *frag = &skb_shinfo(p->skb)->frags[0];
	u8 *end = skb_tail_pointer(p->skb), *at;
	u32 wrong = 0;

	for (at = p->ip; at < end; at++)
		wrong += misjudged(section, p, at, mutable_bits(p->is_v6, at - p->ip));
	at = skb_frag_address(frag);
	for (end = at + skb_frag_size(frag); at < end; at++)
		wrong += misjudged(section, p, at, 0);
	return wrong;
}

static void srn_icrc_flip_test(struct kunit *test)
{
	struct packet p;
	u32 is_v6, wrong;
	bool section;

	for (is_v6 = 0; is_v6 < 2; is_v6++) {
		p = make(test, is_v6, 16, 100, 0);
		section = begin(test);
		wrong = misjudged_in_all(section, &p);
		srn_icrc_end(section);
		KUNIT_EXPECT_EQ(test, wrong, 0);
		KUNIT_EXPECT_EQ(test, misjudged_in_all(false, &p), 0);
	}
}

/* In a device's memory, which the CPU has no address of; a fragment of IP too. */
static void srn_icrc_unreadable_test(struct kunit *test)
{
	struct packet p = make(test, false, 16, 300, 0), whole = make(test, false, 16, 300, 0);

	p.skb->unreadable = 1;
	KUNIT_EXPECT_FALSE(test, srn_icrc_is_good(p.skb, p.ip, p.udp, false));
	p.skb->unreadable = 0;
	KUNIT_EXPECT_TRUE(test, srn_icrc_is_good(p.skb, p.ip, p.udp, false));
	skb_shinfo(whole.skb)->frag_list = p.skb;
	p.skb->unreadable = 1;
	KUNIT_EXPECT_FALSE(test, srn_icrc_is_good(whole.skb, whole.ip, whole.udp, false));
	p.skb->unreadable = 0;
	skb_shinfo(whole.skb)->frag_list = NULL;
}

/* What is short and alone takes no section, nor does any where another way is faster. */
static void srn_icrc_short_test(struct kunit *test)
{
	enum srn_crc_impl before;
	bool few, many, other;

	if (!srn_crc32_find_clmul())
		kunit_skip(test, "this CPU has no carry-less multiplication");
	before = srn_crc32_use(SRN_CRC_CLMUL);
	few = srn_icrc_begin(255);
	srn_icrc_end(few);
	many = srn_icrc_begin(256);
	srn_icrc_end(many);
	srn_crc32_use(SRN_CRC_FOLD);
	other = srn_icrc_begin(256);
	srn_icrc_end(other);
	srn_crc32_use(before);
	KUNIT_EXPECT_FALSE(test, few);
	KUNIT_EXPECT_TRUE(test, many);
	KUNIT_EXPECT_FALSE(test, other);
}

/* As in a softirq that interrupted who uses the FPU: there is none, and all is as it should be, whatever
 * was found to be the fastest.
 */
static void srn_icrc_within_test(struct kunit *test)
{
	struct packet p = make(test, false, 16, 1024, 0);
	enum srn_crc_impl before;
	bool section;
	__le32 icrc;
	u32 wrong;

	if (!begin(test))
		kunit_skip(test, "this CPU has no carry-less multiplication");
	before = srn_crc32_use(SRN_CRC_CLMUL);
	section = srn_icrc_begin(p.skb->len);
	wrong = errors(section, &p);
	icrc = srn_icrc_packet(p.skb, p.ip, p.udp, false);
	srn_icrc_end(section);
	srn_crc32_use(before);
	srn_crc32_fpu_end();
	KUNIT_EXPECT_FALSE(test, section);
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_EQ(test, icrc, icrc_of(&p));
}

/* Of those that are looked at together, the one that is wrong is found. */
static void srn_icrc_packets_test(struct kunit *test)
{
	struct sk_buff_head packets;
	struct packet p[5];
	u32 i;

	__skb_queue_head_init(&packets);
	for (i = 0; i < ARRAY_SIZE(p); i++) {
		p[i] = make(test, i & 1, 16, 1024, 0);
		skb_set_network_header(p[i].skb, p[i].ip - p[i].skb->data);
		memset(srn_pkt(p[i].skb), 0, sizeof(struct srn_pkt));
		srn_pkt(p[i].skb)->flags = SRN_PKT_ACKREQ | (i & 1 ? SRN_PKT_V6 : 0);
		__skb_queue_tail(&packets, p[i].skb);
	}
	p[2].udp[sizeof(struct udphdr)] ^= 1;
	local_bh_disable();
	srn_parse_icrcs(&packets);
	local_bh_enable();
	for (i = 0; i < ARRAY_SIZE(p); i++) {
		KUNIT_EXPECT_EQ(test, srn_pkt(p[i].skb)->flags,
				SRN_PKT_ACKREQ | (i & 1 ? SRN_PKT_V6 : 0) | (i == 2 ? SRN_PKT_DAMAGED : 0));
		__skb_unlink(p[i].skb, &packets);
	}
}

static struct kunit_case srn_icrc_section_cases[] = {
	KUNIT_CASE(srn_crc_pieces_test),
	KUNIT_CASE(srn_crc_wide_pieces_test),
	KUNIT_CASE(srn_icrc_section_test),
	KUNIT_CASE(srn_icrc_flip_test),
	KUNIT_CASE(srn_icrc_short_test),
	KUNIT_CASE(srn_icrc_unreadable_test),
	KUNIT_CASE(srn_icrc_within_test),
	KUNIT_CASE(srn_icrc_packets_test),
	{}
};

static struct kunit_suite srn_icrc_section_suite = {
	.name = "srn_icrc_section",
	.test_cases = srn_icrc_section_cases,
};

kunit_test_suite(srn_icrc_section_suite);
