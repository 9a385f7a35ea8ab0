// SPDX-License-Identifier: GPL-2.0-only
/* Scatter lists against a flat model: the message is the concatenation of its
 * elements, whatever pages and boundaries they lie on.
 */
#include "../sgl.h"
#include "fake.h"

#include <linux/prandom.h>
#include <linux/skbuff.h>

#define REGION	(5 * PAGE_SIZE)
#define BASE	0x10000010ULL
#define ROUNDS	300

struct ctx {
	struct srn_dev *dev;
	struct ib_pd *pd;
	struct srn_mem *mr;
	struct rnd_state rnd;
	struct ib_sge sge[SRN_MAX_SGE];
	struct srn_who who;
	struct srn_sgl sgl;
	u32 total;
	u8 *flat;		/* the message, by the model */
	u8 *buf;
};

static int copy_test_init(struct kunit *test)
{
	struct ctx *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, c);
	c->dev = fake_dev(test);
	c->pd = fake_pd(test, c->dev);
	c->mr = fake_mr(test, c->dev, c->pd, BASE, REGION, 0x10, IB_ACCESS_LOCAL_WRITE);
	c->flat = kunit_kzalloc(test, REGION, GFP_KERNEL);
	c->buf = kunit_kzalloc(test, REGION, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, c->flat);
	KUNIT_ASSERT_NOT_NULL(test, c->buf);
	/* The same on each run: a failure can be looked at again. */
	prandom_seed_state(&c->rnd, 4791);
	c->who = fake_who(c->dev, c->pd, 0);
	c->sgl = (struct srn_sgl) { .sge = c->sge, .who = &c->who };
	test->priv = c;
	return 0;
}

static u32 below(struct ctx *c, u32 n)
{
	return prandom_u32_state(&c->rnd) % n;
}

static u8 *byte_at(struct ctx *c, u64 addr)
{
	u64 pos = addr - BASE + 0x10;

	return c->mr->map.blocks[pos / PAGE_SIZE] + pos % PAGE_SIZE;
}

/* Elements that do not overlap, in a random order of sizes, some of no bytes. */
static void random_list(struct ctx *c)
{
	u64 addr = BASE;
	u32 i;

	c->sgl.num = 1 + below(c, SRN_MAX_SGE);
	c->total = 0;
	for (i = 0; i < c->sgl.num; i++) {
		u32 left = BASE + REGION - addr, len = below(c, 4) ? below(c, 1200) : 0;
		u32 gap = below(c, 64);

		len = min(len, left);
		c->sge[i] = (struct ib_sge) { .addr = addr, .length = len, .lkey = c->mr->key };
		/* No byte is looked at, so no key either. */
		if (!len)
			c->sge[i].lkey = 0xdead00;
		c->total += len;
		addr += len + min(gap, left - len);
	}
}

/* Fills memory with noise and takes the message out of it by the byte. */
static void model_gather(struct ctx *c)
{
	u32 i, n, at = 0;

	for (i = 0; i < c->mr->map.nblocks; i++)
		prandom_bytes_state(&c->rnd, c->mr->map.blocks[i], PAGE_SIZE);
	for (i = 0; i < c->sgl.num; i++)
		for (n = 0; n < c->sge[i].length; n++)
			c->flat[at++] = *byte_at(c, c->sge[i].addr + n);
}

static void random_range(struct ctx *c, u32 *offset, u32 *len)
{
	*offset = c->total ? below(c, c->total) : 0;
	*len = c->total > *offset ? 1 + below(c, c->total - *offset) : 0;
}

static void srn_copy_read_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	u32 round, offset, len;

	for (round = 0; round < ROUNDS; round++) {
		random_list(c);
		model_gather(c);
		random_range(c, &offset, &len);
		KUNIT_ASSERT_EQ(test, srn_sgl_read(&c->sgl, offset, c->buf, len), SRN_OK);
		KUNIT_ASSERT_MEMEQ(test, c->buf, c->flat + offset, len);
		KUNIT_ASSERT_EQ(test, refcount_read(&c->mr->refs), 1);
	}
}

/* What @write placed must be in the range and nowhere else. */
static void check_placed(struct kunit *test, u32 offset, u32 len, const u8 *want)
{
	struct ctx *c = test->priv;
	u32 i, n, at = 0;

	memcpy(c->flat + offset, want, len);
	for (i = 0; i < c->sgl.num; i++)
		for (n = 0; n < c->sge[i].length; n++, at++)
			KUNIT_ASSERT_EQ(test, *byte_at(c, c->sge[i].addr + n), c->flat[at]);
}

static void srn_copy_write_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	u32 round, offset, len;

	for (round = 0; round < ROUNDS / 10; round++) {
		random_list(c);
		model_gather(c);
		random_range(c, &offset, &len);
		prandom_bytes_state(&c->rnd, c->buf, len);
		KUNIT_ASSERT_EQ(test, srn_sgl_write(&c->sgl, offset, c->buf, len), SRN_OK);
		check_placed(test, offset, len, c->buf);
	}
}

/* Bytes of a region, one by one. */
static void fill(const struct srn_mem *mem, u64 addr, const u8 *from, u32 len)
{
	u64 here;
	u32 i;

	for (i = 0; i < len; i++)
		*(u8 *)srn_mem_span(mem, addr + i, &here) = from[i];
}

static void take(const struct srn_mem *mem, u64 addr, u8 *to, u32 len)
{
	u64 here;
	u32 i;

	for (i = 0; i < len; i++)
		to[i] = *(u8 *)srn_mem_span(mem, addr + i, &here);
}

/* Another region's bytes, whose pages break elsewhere. */
static void srn_copy_write_mem_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	const u64 from = BASE + 0x123;
	struct srn_mem *mem = fake_mr(test, c->dev, c->pd, from, REGION, 0x345, IB_ACCESS_REMOTE_READ);
	u32 round, offset, len;

	for (round = 0; round < ROUNDS / 10; round++) {
		random_list(c);
		model_gather(c);
		random_range(c, &offset, &len);
		prandom_bytes_state(&c->rnd, c->buf, len);
		fill(mem, from + round, c->buf, len);
		KUNIT_ASSERT_EQ(test, srn_sgl_write_mem(&c->sgl, offset, mem, from + round, len), SRN_OK);
		check_placed(test, offset, len, c->buf);
		KUNIT_ASSERT_EQ(test, refcount_read(&c->mr->refs), 1);
	}
}

/* Of memory that is both it is as memmove() has it, within a page. */
static void srn_copy_write_mem_overlap_test(struct kunit *test)
{
	struct ctx *c = test->priv;

	c->sge[0] = (struct ib_sge) { BASE + 100, 1000, c->mr->key };
	c->sgl.num = 1;
	c->total = 1000;
	model_gather(c);
	take(c->mr, BASE, c->buf, 1000);
	KUNIT_EXPECT_EQ(test, srn_sgl_write_mem(&c->sgl, 0, c->mr, BASE, 1000), SRN_OK);
	check_placed(test, 0, 1000, c->buf);
}

static void srn_copy_write_mem_refused_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	u32 i;

	/* All is proven before the first byte moves. */
	c->sge[0] = (struct ib_sge) { BASE, 100, c->mr->key };
	c->sge[1] = (struct ib_sge) { BASE + 100, 100, c->mr->key + 1 };
	c->sgl.num = 2;
	c->total = 200;
	model_gather(c);
	KUNIT_EXPECT_EQ(test, srn_sgl_write_mem(&c->sgl, 50, c->mr, BASE + 1000, 100), SRN_V_LOC_PROT);
	KUNIT_EXPECT_EQ(test, srn_sgl_write_mem(&c->sgl, 50, c->mr, BASE + 1000, 200), SRN_V_LOC_PROT);
	KUNIT_EXPECT_EQ(test, srn_sgl_write_mem(&c->sgl, 190, c->mr, BASE + 1000, 20), SRN_V_LOC_PROT);
	c->sgl.num = 1;
	KUNIT_EXPECT_EQ(test, srn_sgl_write_mem(&c->sgl, 50, c->mr, BASE + 1000, 100), SRN_V_LOC_LEN);
	c->mr->access = 0;
	KUNIT_EXPECT_EQ(test, srn_sgl_write_mem(&c->sgl, 0, c->mr, BASE + 1000, 100), SRN_V_LOC_PROT);
	for (i = 0; i < 200; i++)
		KUNIT_ASSERT_EQ(test, *byte_at(c, BASE + i), c->flat[i]);
	KUNIT_EXPECT_EQ(test, refcount_read(&c->mr->refs), 1);
}

/* A packet whose payload is partly linear, partly in fragments. */
static struct sk_buff *make_packet(struct kunit *test, u32 head, const u8 *payload, u32 len)
{
	u32 linear = min(len, 100u);
	struct sk_buff *skb = alloc_skb(head + linear, GFP_KERNEL);
	u32 done = linear;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_put(skb, head);
	skb_put_data(skb, payload, linear);
	while (done < len) {
		u32 here = min_t(u32, len - done, PAGE_SIZE);
		struct page *page = alloc_page(GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, page);
		memcpy(page_address(page), payload + done, here);
		skb_add_rx_frag(skb, skb_shinfo(skb)->nr_frags, page, 0, here, PAGE_SIZE);
		done += here;
	}
	return skb;
}

static void srn_copy_write_skb_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	u32 round, offset, len;

	for (round = 0; round < ROUNDS / 10; round++) {
		struct sk_buff *skb;
		enum srn_verdict v;

		random_list(c);
		model_gather(c);
		random_range(c, &offset, &len);
		prandom_bytes_state(&c->rnd, c->buf, len);
		skb = make_packet(test, 28, c->buf, len);
		v = srn_sgl_write_skb(&c->sgl, offset, skb, 28, len);
		kfree_skb(skb);
		KUNIT_ASSERT_EQ(test, v, SRN_OK);
		check_placed(test, offset, len, c->buf);
	}
}

static void srn_copy_attach_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	u32 round, offset, len, attached = 0;

	for (round = 0; round < ROUNDS; round++) {
		struct sk_buff *skb = alloc_skb(64, GFP_KERNEL);
		unsigned int truesize;
		enum srn_verdict v;

		KUNIT_ASSERT_NOT_NULL(test, skb);
		skb_put(skb, 40);
		truesize = skb->truesize;
		random_list(c);
		model_gather(c);
		random_range(c, &offset, &len);
		v = srn_sgl_attach(&c->sgl, offset, skb, len);
		KUNIT_ASSERT_EQ(test, refcount_read(&c->mr->refs), 1);
		if (v == SRN_OK) {
			attached++;
			KUNIT_ASSERT_EQ(test, skb->len, 40 + len);
			KUNIT_ASSERT_EQ(test, skb->data_len, len);
			KUNIT_ASSERT_EQ(test, skb->truesize, truesize + len);
			KUNIT_ASSERT_EQ(test, skb_copy_bits(skb, 40, c->buf, len), 0);
			KUNIT_ASSERT_MEMEQ(test, c->buf, c->flat + offset, len);
			KUNIT_ASSERT_TRUE(test, !len || skb_has_shared_frag(skb));
		} else {
			/* Only where there are more pieces than fragments. */
			KUNIT_ASSERT_EQ(test, v, SRN_V_AGAIN);
			KUNIT_ASSERT_EQ(test, skb_shinfo(skb)->nr_frags, MAX_SKB_FRAGS - 1);
		}
		kfree_skb(skb);
	}
	KUNIT_EXPECT_GT(test, attached, ROUNDS / 2);
}

/* The packet's references, not the region's, keep the pages. */
static void srn_copy_attach_refs_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct sk_buff *skb = alloc_skb(64, GFP_KERNEL);
	struct page *page = virt_to_page(c->mr->map.blocks[0]);
	int before = page_count(page);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	c->sge[0] = (struct ib_sge) { BASE, 100, c->mr->key };
	c->sge[1] = (struct ib_sge) { BASE + 100, 100, c->mr->key };
	c->sgl.num = 2;
	set_page_pfmemalloc(page);
	KUNIT_EXPECT_EQ(test, srn_sgl_attach(&c->sgl, 0, skb, 200), SRN_OK);
	/* Neighbours in memory are one fragment with one reference. */
	KUNIT_EXPECT_EQ(test, skb_shinfo(skb)->nr_frags, 1);
	KUNIT_EXPECT_EQ(test, page_count(page), before + 1);
	/* A program's page from a reserve: most sockets would not take the packet. */
	KUNIT_EXPECT_FALSE(test, skb->pfmemalloc);
	clear_page_pfmemalloc(page);
	kfree_skb(skb);
	KUNIT_EXPECT_EQ(test, page_count(page), before);
}

/* Pages that happen to lie side by side, and are two: each needs a reference. */
static void srn_copy_attach_neighbours_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct sk_buff *skb = alloc_skb(64, GFP_KERNEL);
	struct page *pages = alloc_pages(GFP_KERNEL, 1);
	u64 border = BASE + PAGE_SIZE - c->mr->map.offset;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	KUNIT_ASSERT_NOT_NULL(test, pages);
	split_page(pages, 1);
	c->mr->map.blocks[0] = page_address(pages);
	c->mr->map.blocks[1] = page_address(pages + 1);
	c->sge[0] = (struct ib_sge) { border - 100, 200, c->mr->key };
	c->sgl.num = 1;
	KUNIT_EXPECT_EQ(test, srn_sgl_attach(&c->sgl, 0, skb, 200), SRN_OK);
	KUNIT_EXPECT_EQ(test, skb_shinfo(skb)->nr_frags, 2);
	KUNIT_EXPECT_EQ(test, page_count(pages), 2);
	KUNIT_EXPECT_EQ(test, page_count(pages + 1), 2);
	kfree_skb(skb);
	__free_page(pages);
	__free_page(pages + 1);
}

/* Slab memory has no page references: the caller copies. */
static void srn_copy_attach_slab_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct sk_buff *skb = alloc_skb(64, GFP_KERNEL);
	u8 *obj = kunit_kzalloc(test, 64, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	KUNIT_ASSERT_NOT_NULL(test, obj);
	c->sge[0] = (struct ib_sge) { (uintptr_t)obj, 64, SRN_LOCAL_DMA_LKEY };
	c->sgl.num = 1;
	c->who.kernel = true;
	KUNIT_EXPECT_EQ(test, srn_sgl_attach(&c->sgl, 0, skb, 64), SRN_V_AGAIN);
	obj[63] = 7;
	KUNIT_EXPECT_EQ(test, srn_sgl_read(&c->sgl, 63, c->buf, 1), SRN_OK);
	KUNIT_EXPECT_EQ(test, c->buf[0], 7);
	kfree_skb(skb);
}

/* The last element is bad: nothing may have moved before that was found. */
static void srn_copy_proves_first_test(struct kunit *test)
{
	struct ctx *c = test->priv;

	c->sge[0] = (struct ib_sge) { BASE, 8, c->mr->key };
	c->sge[1] = (struct ib_sge) { BASE + REGION - 4, 8, c->mr->key };
	c->sgl.num = 2;
	memset(c->buf, 0x5a, 16);
	KUNIT_EXPECT_EQ(test, srn_sgl_write(&c->sgl, 0, c->buf, 16), SRN_V_LOC_PROT);
	KUNIT_EXPECT_EQ(test, *byte_at(c, BASE), 0);
	KUNIT_EXPECT_EQ(test, srn_sgl_read(&c->sgl, 0, c->buf, 16), SRN_V_LOC_PROT);
	KUNIT_EXPECT_EQ(test, c->buf[0], 0x5a);
	KUNIT_EXPECT_EQ(test, refcount_read(&c->mr->refs), 1);
	/* What of it is good may be used. */
	KUNIT_EXPECT_EQ(test, srn_sgl_write(&c->sgl, 0, c->buf, 12), SRN_OK);
}

static void srn_copy_list_too_short_test(struct kunit *test)
{
	struct ctx *c = test->priv;

	c->sge[0] = (struct ib_sge) { BASE, 8, c->mr->key };
	c->sgl.num = 1;
	KUNIT_EXPECT_EQ(test, srn_sgl_read(&c->sgl, 0, c->buf, 9), SRN_V_LOC_LEN);
	KUNIT_EXPECT_EQ(test, srn_sgl_read(&c->sgl, 8, c->buf, 1), SRN_V_LOC_LEN);
	KUNIT_EXPECT_EQ(test, srn_sgl_read(&c->sgl, U64_MAX, c->buf, 1), SRN_V_LOC_LEN);
	KUNIT_EXPECT_EQ(test, srn_sgl_read(&c->sgl, 8, c->buf, 0), SRN_OK);
	c->sgl.num = 0;
	KUNIT_EXPECT_EQ(test, srn_sgl_read(&c->sgl, 0, c->buf, 0), SRN_OK);
	KUNIT_EXPECT_EQ(test, srn_sgl_read(&c->sgl, 0, c->buf, 1), SRN_V_LOC_LEN);
	KUNIT_EXPECT_EQ(test, refcount_read(&c->mr->refs), 1);
}

/* An element whose end is past the address space must not come out at address 0. */
static void srn_copy_address_wraps_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct srn_mem *low = fake_mr(test, c->dev, c->pd, 0, PAGE_SIZE, 0, IB_ACCESS_LOCAL_WRITE);

	c->sge[0] = (struct ib_sge) { U64_MAX - 7, 64, low->key };
	c->sgl.num = 1;
	KUNIT_EXPECT_EQ(test, srn_sgl_read(&c->sgl, 8, c->buf, 8), SRN_V_LOC_PROT);
}

static struct kunit_case copy_cases[] = {
	KUNIT_CASE(srn_copy_read_test),
	KUNIT_CASE(srn_copy_write_test),
	KUNIT_CASE(srn_copy_write_mem_test),
	KUNIT_CASE(srn_copy_write_mem_overlap_test),
	KUNIT_CASE(srn_copy_write_mem_refused_test),
	KUNIT_CASE(srn_copy_write_skb_test),
	KUNIT_CASE(srn_copy_attach_test),
	KUNIT_CASE(srn_copy_attach_refs_test),
	KUNIT_CASE(srn_copy_attach_neighbours_test),
	KUNIT_CASE(srn_copy_attach_slab_test),
	KUNIT_CASE(srn_copy_proves_first_test),
	KUNIT_CASE(srn_copy_list_too_short_test),
	KUNIT_CASE(srn_copy_address_wraps_test),
	{}
};

static struct kunit_suite sgl_suite = {
	.name = "srn_sgl",
	.init = copy_test_init,
	.test_cases = copy_cases,
};

kunit_test_suite(sgl_suite);
