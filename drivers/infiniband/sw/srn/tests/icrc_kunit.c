// SPDX-License-Identifier: GPL-2.0-only
#include "../crc.h"
#include "../icrc.h"
#include "../wire.h"
#include "slow_crc.h"

#include <crypto/hash.h>
#include <kunit/skbuff.h>
#include <kunit/test.h>
#include <linux/hex.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/string.h>
#include <linux/udp.h>
#include <linux/unaligned.h>
#ifdef CONFIG_X86_64
#include <asm/cpufeature.h>
#endif

/* Packets of others, from the IP header to the ICRC: a header, the payload, the
 * trailer in each part.
 */
struct vector {
	const char *desc;
	const char *parts[6];
};

static const struct vector vectors[] = {
	{ "scapy: UC SEND ONLY, pad 2, IPv4", {
		"45010040047840004011b4d5c0a80007c0a80007",
		"c00012b7002caca2",
		"2460ffff000000d300cf1710",
		"4630818be28935d90e9a95505401be885e500000",
		"78f353f3",
	} },
	{ "ConnectX-4 Lx: CNP, IPv4", {
		"45c2003c718c4000401191610a0011010a001201",
		"000012b700280000",
		"8100ffff4000011800000000",
		"00000000000000000000000000000000",
		"82fd002a",
	} },
	{ "rxe: RC SEND ONLY, pad 3, IPv4", {
		"4500003423434000401103740a0000010a000002",
		"c12112b700200000",
		"0430ffff00000011803db66c",
		"7b7b7b7b7b000000",
		"30bcd09e",
	} },
	{ "rxe: RC ACKNOWLEDGE, IPv4", {
		"45000030a21a4000401184a00a0000020a000001",
		"c12112b7001c0000",
		"1100ffff00000011003db66c",
		"1f000001",
		"3c36292b",
	} },
	{ "rxe: RC SEND ONLY, pad 3, IPv6", {
		"6000000000201140fe80000000000000000000fffe00000afe80000000000000000000fffe00000b",
		"c14412b700200000",
		"0430ffff000000128004dcd1",
		"7b7b7b7b7b000000",
		"02b7f498",
	} },
	{ "rxe: RC ACKNOWLEDGE, IPv6", {
		"60000000001c1140fe80000000000000000000fffe00000bfe80000000000000000000fffe00000a",
		"c14412b7001c0000",
		"1100ffff000000120004dcd1",
		"1f000001",
		"22b3a28a",
	} },
};

KUNIT_ARRAY_PARAM_DESC(vector, vectors, desc);

/* A packet in one piece. */
struct flat {
	u8 bytes[256];
	unsigned int len;
	unsigned int ip_len;
	bool is_v6;
};

static void flat_from(struct kunit *test, struct flat *to, const struct vector *from)
{
	const char *const *part;

	to->len = 0;
	for (part = from->parts; *part; part++) {
		unsigned int n = strlen(*part) / 2;

		KUNIT_ASSERT_LE(test, to->len + n, sizeof(to->bytes));
		KUNIT_ASSERT_EQ(test, hex2bin(to->bytes + to->len, *part, n), 0);
		to->len += n;
	}
	to->is_v6 = to->bytes[0] >> 4 == 6;
	to->ip_len = to->is_v6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);
}

static u32 flat_icrc(const struct flat *p)
{
	const u8 *udp = p->bytes + p->ip_len;
	unsigned int covered = sizeof(struct udphdr) + sizeof(struct srn_bth);
	u32 crc = srn_icrc_hdr(p->bytes, udp, p->is_v6);

	crc = srn_crc32(crc, udp + covered, p->len - p->ip_len - covered - SRN_ICRC_SIZE);
	return le32_to_cpu(srn_icrc_final(crc));
}

static u32 flat_trailer(const struct flat *p)
{
	return get_unaligned_le32(p->bytes + p->len - SRN_ICRC_SIZE);
}

static void srn_icrc_vector_test(struct kunit *test)
{
	const struct vector *vector = test->param_value;
	struct flat packet;

	flat_from(test, &packet, vector);

	KUNIT_EXPECT_EQ(test, flat_icrc(&packet), flat_trailer(&packet));
}

static void srn_icrc_unaligned_test(struct kunit *test)
{
	const struct vector *vector = test->param_value;
	struct flat packet;
	u8 *copy;
	u32 crc;

	flat_from(test, &packet, vector);
	copy = kunit_kmalloc(test, packet.len + 1, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, copy);
	memcpy(copy + 1, packet.bytes, packet.len);

	crc = srn_icrc_hdr(copy + 1, copy + 1 + packet.ip_len, packet.is_v6);
	KUNIT_EXPECT_EQ(test, crc, srn_icrc_hdr(packet.bytes, packet.bytes + packet.ip_len,
						packet.is_v6));
}

/* Which bits of a byte in IP, UDP and BTH routers and switches may change. */
static u8 mutable_bits(const struct flat *p, unsigned int at)
{
	if (at == p->ip_len + 6 || at == p->ip_len + 7)		/* UDP checksum */
		return 0xff;
	if (at == p->ip_len + 8 + 4)				/* BTH: FECN, BECN */
		return 0xff;
	if (p->is_v6)	/* traffic class and flow label, hop limit */
		return at == 0 ? 0x0f : at <= 3 || at == 7 ? 0xff : 0;
	/* TOS, TTL, checksum */
	return at == 1 || at == 8 || at == 10 || at == 11 ? 0xff : 0;
}

static void srn_icrc_mutable_test(struct kunit *test)
{
	const struct vector *vector = test->param_value;
	unsigned int covered, at, bit;
	struct flat packet;
	u32 want;

	flat_from(test, &packet, vector);
	want = flat_icrc(&packet);
	covered = packet.ip_len + sizeof(struct udphdr) + sizeof(struct srn_bth);

	for (at = 0; at < covered; at++) {
		for (bit = 0; bit < 8; bit++) {
			packet.bytes[at] ^= BIT(bit);
			KUNIT_EXPECT_EQ_MSG(test, flat_icrc(&packet) == want,
					    !!(mutable_bits(&packet, at) & BIT(bit)),
					    "byte %u bit %u", at, bit);
			packet.bytes[at] ^= BIT(bit);
		}
	}
}

static const struct impl_row {
	const char *desc;
	enum srn_crc_impl impl;
} impls[] = {
	{ "table", SRN_CRC_TABLE },
	{ "fold", SRN_CRC_FOLD },
	{ "crypto", SRN_CRC_CRYPTO },
	{ "clmul", SRN_CRC_CLMUL },
	{ "vpclmul", SRN_CRC_WIDE },
};

KUNIT_ARRAY_PARAM_DESC(impl, impls, desc);

/* Whether it goes in pairs of lanes is nothing that each call is told; where the CPU can't, it does not. */
static enum srn_crc_impl take(enum srn_crc_impl impl)
{
	return srn_crc32_use(impl == SRN_CRC_WIDE && !srn_crc32_find_wide() ? SRN_CRC_CLMUL : impl);
}

static void srn_crc_model_test(struct kunit *test)
{
	const struct impl_row *row = test->param_value;
	unsigned int len, shift, wrong = 0;
	const u32 seed = 0x89abcdef;
	enum srn_crc_impl before;
	const u8 *bytes;

	if (row->impl == SRN_CRC_CRYPTO && !crypto_has_shash("crc32", 0, 0))
		kunit_skip(test, "this kernel's crypto API has no crc32");
	bytes = filled(test, 1024);

	before = take(row->impl);
	for (len = 0; len <= 700; len++)
		for (shift = 0; shift < 9; shift++)
			wrong += srn_crc32_by(row->impl, seed, bytes + shift, len) !=
				 slow_crc(seed, bytes + shift, len);
	srn_crc32_use(before);
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

static void srn_crc_long_test(struct kunit *test)
{
	const struct impl_row *row = test->param_value;
	static const size_t lens[] = { 4092, 4096, 4097, 65535, 100000 };
	const u8 *bytes = filled(test, 100000);
	enum srn_crc_impl before = take(row->impl);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lens); i++)
		KUNIT_EXPECT_EQ(test, srn_crc32_by(row->impl, ~0, bytes, lens[i]),
				slow_crc(~0, bytes, lens[i]));
	srn_crc32_use(before);
}

/* Directly: where srn_crc32_by() leaves it for a simpler one, nothing would be tested. From each
 * offset, and each number of rounds, lanes and bytes behind them.
 */
static void srn_crc_clmul_test(struct kunit *test)
{
	const u8 *bytes = filled(test, 1024);
	unsigned int len, shift, wrong = 0;
	enum srn_crc_impl before;
	u32 crc;

	if (!srn_crc32_find_clmul())
		kunit_skip(test, "this CPU has no carry-less multiplication");
	before = srn_crc32_use(SRN_CRC_CLMUL);
	for (len = SRN_CRC_CLMUL_MIN; len <= 700; len++) {
		for (shift = 0; shift < 17; shift++) {
			crc = len * 0x9e3779b1u;
			wrong += !srn_crc32_clmul(&crc, bytes + shift, len);
			wrong += crc != slow_crc(len * 0x9e3779b1u, bytes + shift, len);
		}
	}
	srn_crc32_use(before);
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

static bool has_vpclmul(void)
{
#ifdef CONFIG_X86_64
	return boot_cpu_has(X86_FEATURE_AVX2) && boot_cpu_has(X86_FEATURE_VPCLMULQDQ);
#else
	return false;
#endif
}

/* By pairs of lanes: each number of rounds, lanes and bytes behind them. A CPU that can is found, and then
 * that is what is taken; another one is tested for not being found.
 */
static void srn_crc_clmul_wide_test(struct kunit *test)
{
	unsigned int len, shift, wrong = 0;
	bool narrow, wide, finds = srn_crc32_find_wide();
	enum srn_crc_impl before;
	const u8 *bytes;
	u32 crc;

	KUNIT_EXPECT_EQ(test, finds, srn_crc32_find_clmul() && has_vpclmul());
	if (!finds) {
		kunit_info(test, "this CPU has no VPCLMULQDQ: only that is tested");
		return;
	}
	bytes = filled(test, 2048);
	before = srn_crc32_use(SRN_CRC_CLMUL);
	narrow = srn_crc32_use_wide(false);
	srn_crc32_use(SRN_CRC_WIDE);
	wide = srn_crc32_use_wide(true);
	for (len = 480; len <= 1100; len += len % 16 == 1 ? 14 : 1) {
		for (shift = 0; shift < 48; shift += 17) {
			crc = len * 0x9e3779b1u;
			wrong += !srn_crc32_clmul(&crc, bytes + shift, len);
			wrong += crc != slow_crc(len * 0x9e3779b1u, bytes + shift, len);
		}
	}
	srn_crc32_use(before);
	KUNIT_EXPECT_FALSE(test, narrow);
	KUNIT_EXPECT_TRUE(test, wide);
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

/* As in a softirq that interrupted who uses the FPU. */
static void srn_crc_clmul_within_test(struct kunit *test)
{
	const u8 *bytes = filled(test, 1024);
	bool begun, done, again;
	u32 crc = ~0, by;

	if (!srn_crc32_find_clmul())
		kunit_skip(test, "this CPU has no carry-less multiplication");
	begun = srn_crc32_fpu_begin();
	done = srn_crc32_clmul(&crc, bytes, 1000);
	by = srn_crc32_by(SRN_CRC_CLMUL, ~0, bytes, 1000);
	if (begun)
		srn_crc32_fpu_end();
	KUNIT_EXPECT_TRUE(test, begun);
	KUNIT_EXPECT_FALSE(test, done);
	KUNIT_EXPECT_EQ(test, crc, ~0u);
	KUNIT_EXPECT_EQ(test, by, slow_crc(~0, bytes, 1000));
	again = srn_crc32_clmul(&crc, bytes, 1000);
	KUNIT_EXPECT_TRUE(test, again);
	KUNIT_EXPECT_EQ(test, crc, by);
}

static void srn_crc_check_value_test(struct kunit *test)
{
	/* The catalogue's check value of CRC-32: the digits 1 to 9. */
	KUNIT_EXPECT_EQ(test, ~srn_crc32(~0, "123456789", 9), 0xcbf43926);
}

/* What crc_fold.c rests on, by long division. */
static void srn_crc_fold_multiple_test(struct kunit *test)
{
	static const unsigned int exponents[] = { 300, 155, 117, 89, 0 };
	static const u64 poly = 0x104c11db7;
	u8 coeff[301] = {};
	unsigned int i, k;

	for (i = 0; i < ARRAY_SIZE(exponents); i++)
		coeff[exponents[i]] = 1;
	for (i = 300; i >= 32; i--) {
		if (!coeff[i])
			continue;
		for (k = 0; k <= 32; k++)
			coeff[i - 32 + k] ^= poly >> k & 1;
	}
	for (i = 0; i < 32; i++)
		KUNIT_EXPECT_EQ_MSG(test, coeff[i], 0, "x^%u", i);
}

static void srn_icrc_pieces_test(struct kunit *test)
{
	const size_t len = 1000;
	const u8 *bytes = filled(test, len);
	const u32 want = srn_crc32(~0, bytes, len);
	size_t cut;

	for (cut = 0; cut <= len; cut++) {
		u32 crc = srn_crc32(~0, bytes, cut);

		KUNIT_ASSERT_EQ(test, srn_crc32(crc, bytes + cut, len - cut), want);
	}
}

#define LINEAR		100
#define FRAG_ORDER	1			/* a frag that crosses a page */
#define FRAG_OFF	1000
#define FRAG_LEN	(PAGE_SIZE + 500)
#define MEMBER_LINEAR	77
#define SKB_LEN		(LINEAR + 2 * FRAG_LEN + MEMBER_LINEAR + FRAG_LEN + MEMBER_LINEAR)

static void add_frag(struct kunit *test, struct sk_buff *skb, const u8 *bytes)
{
	struct page *page = alloc_pages(GFP_KERNEL | __GFP_COMP, FRAG_ORDER);

	KUNIT_ASSERT_NOT_NULL(test, page);
	memcpy(page_address(page) + FRAG_OFF, bytes, FRAG_LEN);
	skb_add_rx_frag(skb, skb_shinfo(skb)->nr_frags, page, FRAG_OFF, FRAG_LEN,
			PAGE_SIZE << FRAG_ORDER);
}

/* Linear part, two frags, and a frag list of [linear + frag] and [linear]. */
static struct sk_buff *scattered(struct kunit *test, const u8 *bytes)
{
	struct sk_buff *skb = kunit_zalloc_skb(test, LINEAR, GFP_KERNEL);
	struct sk_buff *one = alloc_skb(MEMBER_LINEAR, GFP_KERNEL);
	struct sk_buff *two = alloc_skb(MEMBER_LINEAR, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	KUNIT_ASSERT_NOT_NULL(test, one);
	KUNIT_ASSERT_NOT_NULL(test, two);

	skb_trim(skb, 0);
	skb_put_data(skb, bytes, LINEAR);
	bytes += LINEAR;
	add_frag(test, skb, bytes);
	bytes += FRAG_LEN;
	add_frag(test, skb, bytes);
	bytes += FRAG_LEN;

	skb_put_data(one, bytes, MEMBER_LINEAR);
	bytes += MEMBER_LINEAR;
	add_frag(test, one, bytes);
	bytes += FRAG_LEN;
	skb_put_data(two, bytes, MEMBER_LINEAR);

	one->next = two;
	skb_shinfo(skb)->frag_list = one;
	skb->len += one->len + two->len;
	skb->data_len += one->len + two->len;
	return skb;
}

/* Every border between two pieces, and a byte to each side of it. */
static const unsigned int borders[] = {
	0,
	LINEAR,
	LINEAR + PAGE_SIZE - FRAG_OFF,
	LINEAR + FRAG_LEN,
	LINEAR + 2 * FRAG_LEN,
	LINEAR + 2 * FRAG_LEN + MEMBER_LINEAR,
	LINEAR + 3 * FRAG_LEN + MEMBER_LINEAR,
	SKB_LEN,
};

static void expect_window(struct kunit *test, const struct sk_buff *skb, const u8 *bytes,
			  int from, int to)
{
	if (from < 0 || to > (int)SKB_LEN || from > to)
		return;
	KUNIT_EXPECT_EQ_MSG(test, srn_icrc_skb(~0, skb, from, to - from),
			    slow_crc(~0, bytes + from, to - from), "[%d, %d)", from, to);
}

static void srn_icrc_skb_test(struct kunit *test)
{
	const u8 *bytes = filled(test, SKB_LEN);
	struct sk_buff *skb = scattered(test, bytes);
	unsigned int i, k;
	int a, b;

	KUNIT_ASSERT_EQ(test, skb->len, SKB_LEN);

	for (i = 0; i < ARRAY_SIZE(borders); i++)
		for (k = i; k < ARRAY_SIZE(borders); k++)
			for (a = -1; a <= 1; a++)
				for (b = -1; b <= 1; b++)
					expect_window(test, skb, bytes,
						      (int)borders[i] + a, (int)borders[k] + b);
}

static struct kunit_case srn_icrc_cases[] = {
	KUNIT_CASE_PARAM(srn_icrc_vector_test, vector_gen_params),
	KUNIT_CASE_PARAM(srn_icrc_unaligned_test, vector_gen_params),
	KUNIT_CASE_PARAM(srn_icrc_mutable_test, vector_gen_params),
	KUNIT_CASE_PARAM(srn_crc_model_test, impl_gen_params),
	KUNIT_CASE_PARAM(srn_crc_long_test, impl_gen_params),
	KUNIT_CASE(srn_crc_clmul_test),
	KUNIT_CASE(srn_crc_clmul_wide_test),
	KUNIT_CASE(srn_crc_clmul_within_test),
	KUNIT_CASE(srn_crc_check_value_test),
	KUNIT_CASE(srn_crc_fold_multiple_test),
	KUNIT_CASE(srn_icrc_pieces_test),
	KUNIT_CASE(srn_icrc_skb_test),
	{}
};

static struct kunit_suite srn_icrc_suite = {
	.name = "srn_icrc",
	.test_cases = srn_icrc_cases,
};

kunit_test_suite(srn_icrc_suite);
