// SPDX-License-Identifier: GPL-2.0-only
/* Pieces and pages that packets are made of: whose they are, and when they are used again. */
#include "../head.h"

#include <kunit/test.h>
#include <linux/bottom_half.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/sizes.h>

#define MANY	300	/* more than are kept */
#define KEPT	((int)(SZ_512K / PAGE_SIZE))
#define PIECE	512

/* What was given back is used again, whole. */
static void srn_head_again_test(struct kunit *test)
{
	unsigned long page = 0, other = 0;
	int i;

	local_bh_disable();
	for (i = 0; i < 4 * (int)(PAGE_SIZE / PIECE); i++) {
		void *p = srn_head_cut(PIECE);

		if (!p)
			break;
		if (i >= (int)(PAGE_SIZE / PIECE))
			other += ((unsigned long)p & PAGE_MASK) != page;
		else
			page = (unsigned long)p & PAGE_MASK;
		page_frag_free(p);
	}
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, i, 4 * (int)(PAGE_SIZE / PIECE));
	/* The first may have come in the middle of an older one. */
	KUNIT_EXPECT_LE(test, other, PAGE_SIZE / PIECE);
}

static u8 *cut_held(void)
{
	u8 *held = srn_head_cut(PIECE);

	if (held)
		memset(held, 1, PIECE);
	return held;
}

/* Something else for others, who give it back. */
static bool cut_others(u32 size)
{
	void *p = srn_head_cut(size);

	if (!p)
		return false;
	memset(p, 2, size);
	page_frag_free(p);
	return true;
}

static void expect_held(struct kunit *test, u8 *held)
{
	KUNIT_ASSERT_NOT_NULL(test, held);
	KUNIT_EXPECT_NULL(test, memchr_inv(held, 1, PIECE));
	page_frag_free(held);
}

/* What a packet has is its own, however many others come and go. */
static void srn_head_held_test(struct kunit *test)
{
	u8 *held;
	int i;

	local_bh_disable();
	held = cut_held();
	for (i = 0; i < MANY && cut_others(PAGE_SIZE); i++)
		;
	local_bh_enable();
	expect_held(test, held);
	KUNIT_EXPECT_EQ(test, i, MANY);
}

/* A head that waits while payload comes and goes keeps its place, until all are back. */
static void srn_head_held_beside_pages_test(struct kunit *test)
{
	int i, taken;
	u8 *held;

	local_bh_disable();
	held = cut_held();
	for (taken = 0; taken < MANY; taken++) {
		struct page *page = srn_head_page();

		if (!page)
			break;
		put_page(page);
	}
	for (i = 0; i < 4 * (int)(PAGE_SIZE / PIECE) && cut_others(PIECE); i++)
		;
	local_bh_enable();
	expect_held(test, held);
	KUNIT_EXPECT_EQ(test, taken, MANY);
	KUNIT_EXPECT_EQ(test, i, 4 * (int)(PAGE_SIZE / PIECE));
}

static void take(struct page **pages)
{
	int i;

	local_bh_disable();
	for (i = 0; i < MANY; i++) {
		pages[i] = srn_head_page();
		if (pages[i])
			*(int *)page_address(pages[i]) = i;
	}
	local_bh_enable();
}

/* No page is given to two, with more under way than are kept, and with some of them back. */
static void srn_head_page_once_test(struct kunit *test)
{
	struct page **pages = kunit_kcalloc(test, MANY, sizeof(*pages), GFP_KERNEL);
	int i, round;

	KUNIT_ASSERT_NOT_NULL(test, pages);
	for (round = 0; round < 3; round++) {
		take(pages);
		for (i = 0; i < MANY; i++) {
			KUNIT_ASSERT_NOT_NULL(test, pages[i]);
			KUNIT_EXPECT_EQ(test, *(int *)page_address(pages[i]), i);
		}
		for (i = 0; i < MANY; i++)
			put_page(pages[i]);
	}
}

/* Pages that were under way are used again, about the oldest first. */
static void srn_head_page_again_test(struct kunit *test)
{
	struct page **pages = kunit_kcalloc(test, MANY, sizeof(*pages), GFP_KERNEL);
	int i, same = 0;

	KUNIT_ASSERT_NOT_NULL(test, pages);
	migrate_disable();
	take(pages);
	for (i = 0; i < MANY; i++)
		if (pages[i])
			put_page(pages[i]);
	local_bh_disable();
	for (i = 0; i < 2 * KEPT; i++) {
		pages[i] = srn_head_page();
		if (!pages[i])
			break;
		put_page(pages[i]);
		same += i >= KEPT && pages[i] == pages[i - KEPT];
	}
	local_bh_enable();
	migrate_enable();
	KUNIT_EXPECT_EQ(test, same, KEPT);
}

/* A page of the emergency reserve goes back, and the stock is asked all the same. */
static void srn_head_reserve_test(struct kunit *test)
{
	struct page *reserve = NULL, *page, *next = NULL;
	int refs = 0;
	u8 *held, *p;

	migrate_disable();
	local_bh_disable();
	page = srn_head_page();
	if (page)
		put_page(page);
	held = srn_head_cut(PAGE_SIZE);
	if (held) {
		reserve = virt_to_page(held);
		set_page_pfmemalloc(reserve);
		p = srn_head_cut(PIECE);
		next = p ? virt_to_page(p) : NULL;
		if (p)
			page_frag_free(p);
		clear_page_pfmemalloc(reserve);
		refs = page_ref_count(reserve);
		page_frag_free(held);
	}
	local_bh_enable();
	migrate_enable();
	KUNIT_ASSERT_NOT_NULL(test, held);
	KUNIT_EXPECT_NOT_NULL(test, next);
	KUNIT_EXPECT_PTR_NE(test, next, reserve);
	KUNIT_EXPECT_EQ(test, refs, 1);
}

static struct kunit_case srn_head_cases[] = {
	KUNIT_CASE(srn_head_again_test),
	KUNIT_CASE(srn_head_held_test),
	KUNIT_CASE(srn_head_held_beside_pages_test),
	KUNIT_CASE(srn_head_page_once_test),
	KUNIT_CASE(srn_head_page_again_test),
	KUNIT_CASE(srn_head_reserve_test),
	{}
};

static int head_suite_init(struct kunit_suite *suite)
{
	srn_head_again = true;
	return 0;
}

static void head_suite_exit(struct kunit_suite *suite)
{
	srn_head_again = !IS_ENABLED(CONFIG_KASAN);
}

/* With KASAN as without, or make check would not run them. */
static struct kunit_suite srn_head_suite = {
	.name = "srn_head",
	.suite_init = head_suite_init,
	.suite_exit = head_suite_exit,
	.test_cases = srn_head_cases,
};

kunit_test_suite(srn_head_suite);
