// SPDX-License-Identifier: GPL-2.0-only
/* Copies: each byte in its place and none beside it, whatever lengths and addresses; the last one
 * behind all others; and of a skb any range of head, fragments and list, or nothing.
 */
#include "../copy.h"

#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/prandom.h>
#include <linux/skbuff.h>
#include <linux/sizes.h>
#include <linux/unaligned.h>

#define ROOM	(SZ_64K + 64)
#define GUARD	16
#define POISON	0xa5

struct ctx {
	u8 *from, *to, *want;
};

/* Noise, the same on each run. */
static int copy_test_init(struct kunit *test)
{
	struct ctx *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);
	struct rnd_state rnd;

	KUNIT_ASSERT_NOT_NULL(test, c);
	c->from = kunit_kmalloc(test, ROOM, GFP_KERNEL);
	c->to = kunit_kmalloc(test, ROOM, GFP_KERNEL);
	c->want = kunit_kmalloc(test, ROOM, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, c->from);
	KUNIT_ASSERT_NOT_NULL(test, c->to);
	KUNIT_ASSERT_NOT_NULL(test, c->want);
	prandom_seed_state(&rnd, 9);
	prandom_bytes_state(&rnd, c->from, ROOM);
	test->priv = c;
	return 0;
}

/* Between two guards. */
static void expect_copy(struct kunit *test, void (*copy)(void *, const void *, size_t),
			u32 to, u32 from, u32 len)
{
	struct ctx *c = test->priv;

	memset(c->to, POISON, to + GUARD + len + GUARD);
	memset(c->want, POISON, to + GUARD + len + GUARD);
	memcpy(c->want + to + GUARD, c->from + from, len);
	copy(c->to + to + GUARD, c->from + from, len);
	KUNIT_ASSERT_EQ_MSG(test, 0, memcmp(c->to, c->want, to + GUARD + len + GUARD),
			    "%u bytes from %u to %u", len, from, to);
}

static void expect_copies(struct kunit *test, void (*copy)(void *, const void *, size_t),
			  u32 first, u32 last)
{
	u32 len, to, from;

	for (len = first; len <= last; len++)
		for (to = 0; to < 9; to++)
			for (from = 0; from < 9; from++)
				expect_copy(test, copy, to, from, len);
}

/* An inline function has no address to be called by. */
static void any(void *to, const void *from, size_t len)
{
	srn_copy(to, from, len);
}

static void srn_copy_lengths_test(struct kunit *test)
{
	expect_copies(test, any, 0, 40);
	expect_copies(test, any, SRN_COPY_LONG - 10, SRN_COPY_LONG + 10);
	expect_copies(test, srn_copy_long, SRN_COPY_LONG, SRN_COPY_LONG + 10);
	expect_copies(test, any, 4095, 4097);
	expect_copy(test, any, 3, 1, SZ_64K - 4);
	expect_copy(test, any, 0, 0, SZ_64K);
}

#ifdef CONFIG_X86_64
/* Also where the CPU, or what is not known of it, lets srn_copy() do otherwise. */
static void srn_copy_words_test(struct kunit *test)
{
	expect_copies(test, srn_copy_words, 16, 80);
	expect_copies(test, srn_copy_words, SRN_COPY_LONG - 10, SRN_COPY_LONG + 10);
	expect_copies(test, srn_copy_words, 4095, 4097);
	expect_copy(test, srn_copy_words, 3, 1, SZ_64K - 4);
	expect_copy(test, srn_copy_words, 0, 0, SZ_64K);
}

/* As srn_copy_words() promises. */
static void in_order(u8 *to, const u8 *from, u32 len)
{
	u32 skip = -(uintptr_t)to & 7;

	if (skip) {
		put_unaligned(get_unaligned((const u64 *)from), (u64 *)to);
		to += skip;
		from += skip;
		len -= skip;
	}
	for (; len >= 8; len -= 8, to += 8, from += 8)
		put_unaligned(get_unaligned((const u64 *)from), (u64 *)to);
	while (len--)
		WRITE_ONCE(*to++, READ_ONCE(*from++));
}

/* Where the destination begins within the source what is read tells what was written before it. */
static void srn_copy_order_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	u32 len, at, shift;

	for (len = 100; len < 117; len++)
		for (at = 0; at < 8; at++)
			for (shift = 1; shift < 24; shift++) {
				memcpy(c->to, c->from, 160);
				memcpy(c->want, c->from, 160);
				srn_copy_words(c->to + at + shift, c->to + at, len);
				in_order(c->want + at + shift, c->want + at, len);
				KUNIT_ASSERT_EQ_MSG(test, 0, memcmp(c->to, c->want, 160),
						    "%u bytes at %u by %u", len, at, shift);
			}
}
#endif

#define HEAD	700
#define FRAG	900

static void add_frag(struct kunit *test, struct sk_buff *skb, const u8 *bytes)
{
	struct page *page = alloc_page(GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, page);
	memcpy(page_address(page) + 100, bytes, FRAG);
	skb_add_rx_frag(skb, skb_shinfo(skb)->nr_frags, page, 100, FRAG, PAGE_SIZE);
}

/* HEAD bytes, then two fragments; with @list a packet behind them, as IP leaves what it puts
 * together.
 */
static struct sk_buff *make_packet(struct kunit *test, bool list)
{
	struct sk_buff *skb = alloc_skb(HEAD, GFP_KERNEL), *more;
	struct ctx *c = test->priv;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_put_data(skb, c->from, HEAD);
	add_frag(test, skb, c->from + HEAD);
	add_frag(test, skb, c->from + HEAD + FRAG);
	if (!list)
		return skb;
	more = alloc_skb(FRAG, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, more);
	skb_put_data(more, c->from + HEAD + 2 * FRAG, FRAG);
	skb_shinfo(skb)->frag_list = more;
	skb->len += FRAG;
	skb->data_len += FRAG;
	return skb;
}

static void expect_range(struct kunit *test, const struct sk_buff *skb, u32 from, u32 end)
{
	struct ctx *c = test->priv;
	u32 len = end - from;

	memset(c->to, POISON, len + GUARD);
	KUNIT_ASSERT_EQ(test, 0, srn_copy_skb(skb, from, c->to, len));
	KUNIT_ASSERT_EQ_MSG(test, 0, memcmp(c->to, c->from + from, len), "%u to %u", from, end);
	KUNIT_ASSERT_EQ(test, c->to[len], POISON);
}

/* Each range that begins and ends at one of these, or a byte beside it. */
static void expect_ranges(struct kunit *test, const struct sk_buff *skb)
{
	const u32 ends[] = { 1, 100, HEAD, HEAD + 600, HEAD + FRAG, HEAD + 2 * FRAG, skb->len - 1 };
	u32 i, k, from, end;

	for (i = 0; i < 3 * ARRAY_SIZE(ends); i++)
		for (k = 0; k < 3 * ARRAY_SIZE(ends); k++) {
			from = ends[i / 3] + i % 3 - 1;
			end = ends[k / 3] + k % 3 - 1;
			if (from <= end && end <= skb->len)
				expect_range(test, skb, from, end);
		}
}

static void srn_copy_skb_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct sk_buff *skb;
	int list;

	for (list = 0; list < 2; list++) {
		skb = make_packet(test, list);
		expect_ranges(test, skb);
		KUNIT_EXPECT_EQ(test, 0, srn_copy_skb(skb, skb->len, c->to, 0));
		memset(c->to, POISON, 8);
		KUNIT_EXPECT_EQ(test, -EFAULT, srn_copy_skb(skb, skb->len - 7, c->to, 8));
		KUNIT_EXPECT_EQ(test, -EFAULT, srn_copy_skb(skb, skb->len + 1, c->to, 0));
		KUNIT_EXPECT_EQ(test, -EFAULT, srn_copy_skb(skb, 8, c->to, U32_MAX));
		KUNIT_EXPECT_EQ(test, c->to[0], POISON);
		kfree_skb(skb);
	}
}

/* A list that has less than the packet says. */
static void srn_copy_short_list_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct sk_buff *skb = make_packet(test, true);

	skb->len += 8;
	skb->data_len += 8;
	KUNIT_EXPECT_EQ(test, -EFAULT, srn_copy_skb(skb, 0, c->to, skb->len));
	KUNIT_EXPECT_EQ(test, -EFAULT, srn_copy_skb(skb, skb->len - 4, c->to, 4));
	KUNIT_EXPECT_EQ(test, 0, srn_copy_skb(skb, skb->len - 12, c->to, 4));
	kfree_skb(skb);
}

static struct kunit_case copy_cases[] = {
	KUNIT_CASE(srn_copy_lengths_test),
#ifdef CONFIG_X86_64
	KUNIT_CASE(srn_copy_words_test),
	KUNIT_CASE(srn_copy_order_test),
#endif
	KUNIT_CASE(srn_copy_skb_test),
	KUNIT_CASE(srn_copy_short_list_test),
	{}
};

static struct kunit_suite copy_suite = {
	.name = "srn_copy",
	.init = copy_test_init,
	.test_cases = copy_cases,
};

kunit_test_suite(copy_suite);
