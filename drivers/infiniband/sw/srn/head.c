// SPDX-License-Identifier: GPL-2.0-only
/* Packet heads, and trailers behind payload in pages, are cut from pages, one after the other, as NICs do it for what they receive:
 * a packet of a train needs more than the stack's cache of small heads has, and kmalloc()
 * would clear a KiB for it. Single pages, not the larger ones of page_frag_alloc(): a packet
 * that waits somewhere keeps the whole page, and is charged for its part.
 */
#include "head.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/gfp.h>
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/percpu.h>

/* A CPU's page with a reference of its own. BH disabled. */
struct sheet {
	struct page *page;	/* or NULL */
	u32 used;
};

static DEFINE_PER_CPU(struct sheet, sheets);

static void leave(struct sheet *sheet)
{
	if (sheet->page)
		put_page(sheet->page);
	sheet->page = NULL;
}

void *srn_head_cut(u32 size)
{
	struct sheet *sheet = this_cpu_ptr(&sheets);

	lockdep_assert_in_softirq();
	if (!sheet->page || sheet->used + size > PAGE_SIZE) {
		leave(sheet);
		sheet->page = alloc_page(GFP_ATOMIC | __GFP_NOWARN);
		sheet->used = 0;
		if (!sheet->page)
			return NULL;
	}
	get_page(sheet->page);
	sheet->used += size;
	return page_address(sheet->page) + sheet->used - size;
}
EXPORT_SYMBOL_IF_KUNIT(srn_head_cut);

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
EXPORT_SYMBOL_IF_KUNIT(srn_head_alloc);

void srn_head_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		leave(per_cpu_ptr(&sheets, cpu));
}
