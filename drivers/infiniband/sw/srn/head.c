// SPDX-License-Identifier: GPL-2.0-only
/* What packets are made of: heads, and trailers behind payload in pages, are cut from pages,
 * one after the other, as NICs do it for what they receive; payload has a page of its own. A
 * packet of a train needs more than the stack's cache of small heads has, and kmalloc() would
 * clear a KiB for it. Single pages, not the larger ones of page_frag_alloc(): a packet that
 * waits somewhere keeps the whole page, and is charged for its part.
 *
 * A page that all packets have given back is used again. On a short way that is nearly always
 * so, and to allocate, clear and free it each time was a tenth of what a READ cost.
 */
#include "head.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/gfp.h>
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/sizes.h>

/* Each of a CPU's pages has one reference of ours. BH disabled. */
#define STOCK	(SZ_512K / PAGE_SIZE)

struct stock {
	struct page *sheet;		/* heads are cut from it; or NULL */
	u32 used;			/* bytes of it */
	struct page *pages[STOCK];	/* others; as many as were under way at a time */
	u32 num, next;			/* of them; which is looked at next, about the oldest */
};

/* Not a static one: modules share few bytes for those. */
static struct stock __percpu *stocks;

static struct page *new_page(void)
{
	return alloc_page(GFP_ATOMIC | __GFP_NOWARN);
}

/* Only our reference is left. What the others did with the page was before that. */
static bool is_back(struct page *page)
{
	if (page_ref_count(page) != 1 || page_is_pfmemalloc(page))
		return false;
	smp_acquire__after_ctrl_dep();
	return true;
}

/* The place of a page that is back; NULL: make a new one, and keep() it. */
static struct page **find_back(struct stock *stock)
{
	struct page **place = &stock->pages[stock->next];

	if (!stock->num || !is_back(*place))
		return NULL;
	stock->next = (stock->next + 1) % stock->num;
	return place;
}

/* In the place of one that is away for long, if there is none left. */
static void keep(struct stock *stock, struct page *page)
{
	if (page_is_pfmemalloc(page)) {		/* back to the emergency reserve */
		put_page(page);
	} else if (stock->num < STOCK) {
		stock->pages[stock->num++] = page;
	} else {
		put_page(stock->pages[stock->next]);
		stock->pages[stock->next] = page;
		stock->next = (stock->next + 1) % STOCK;
	}
}

/* What stands there goes, and the last one comes in its place. */
static void drop(struct stock *stock, struct page **place)
{
	put_page(*place);
	*place = stock->pages[--stock->num];
	if (stock->next >= stock->num)
		stock->next = 0;
}

static bool new_sheet(struct stock *stock)
{
	struct page **place, *page;

	if (stock->sheet) {
		place = is_back(stock->sheet) ? &stock->sheet : find_back(stock);
		if (place) {
			swap(stock->sheet, *place);
			if (page_is_pfmemalloc(*place))
				drop(stock, place);
			stock->used = 0;
			return true;
		}
	}
	page = new_page();
	if (!page)
		return false;
	if (stock->sheet)
		keep(stock, stock->sheet);
	stock->sheet = page;
	stock->used = 0;
	return true;
}

void *srn_head_cut(u32 size)
{
	struct stock *stock = this_cpu_ptr(stocks);

	lockdep_assert_in_softirq();
	if ((!stock->sheet || stock->used + size > PAGE_SIZE) && !new_sheet(stock))
		return NULL;
	get_page(stock->sheet);
	stock->used += size;
	return page_address(stock->sheet) + stock->used - size;
}
EXPORT_SYMBOL_IF_KUNIT(srn_head_cut);

static struct page *from_stock(struct stock *stock)
{
	struct page **place = find_back(stock);
	struct page *page = place ? *place : new_page();

	if (!page)
		return NULL;
	get_page(page);
	if (!place)
		keep(stock, page);
	return page;
}

/* With KASAN each is freed, so that who still uses it is seen. */
bool srn_head_again __read_mostly = !IS_ENABLED(CONFIG_KASAN);
EXPORT_SYMBOL_IF_KUNIT(srn_head_again);

struct page *srn_head_page(void)
{
	lockdep_assert_in_softirq();
	if (!srn_head_again)
		return new_page();
	return from_stock(this_cpu_ptr(stocks));
}
EXPORT_SYMBOL_IF_KUNIT(srn_head_page);

void *srn_head_add_page(struct sk_buff *skb, u32 len, u32 *here)
{
	struct page *page = srn_head_page();

	if (!page)
		return NULL;
	*here = min_t(u32, len, PAGE_SIZE);
	skb_add_rx_frag(skb, skb_shinfo(skb)->nr_frags, page, 0, *here, PAGE_SIZE);
	return page_address(page);
}

static struct sk_buff *from_page(u32 size)
{
	u32 whole = SKB_HEAD_ALIGN(size);
	void *data = srn_head_cut(whole);
	struct sk_buff *skb;

	if (!data)
		return NULL;
	skb = napi_build_skb(data, whole);
	if (!skb)
		page_frag_free(data);
	return skb;
}

/* With KASAN each has an end that is watched. */
struct sk_buff *srn_head_alloc(u32 size)
{
	lockdep_assert_in_softirq();
	if (IS_ENABLED(CONFIG_KASAN))
		return alloc_skb(size, GFP_ATOMIC | __GFP_NOWARN);
	return from_page(size);
}

static void clear(struct stock *stock)
{
	if (stock->sheet)
		put_page(stock->sheet);
	while (stock->num)
		put_page(stock->pages[--stock->num]);
}

int srn_head_init(void)
{
	stocks = alloc_percpu(struct stock);
	return stocks ? 0 : -ENOMEM;
}

void srn_head_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		clear(per_cpu_ptr(stocks, cpu));
	free_percpu(stocks);
}
