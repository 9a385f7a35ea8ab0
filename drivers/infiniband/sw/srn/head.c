// SPDX-License-Identifier: GPL-2.0-only
/* Packet heads are cut from pages, one after the other, as NICs do it for what they receive:
 * a packet of a train needs more than the stack's cache of small heads has, and kmalloc()
 * would clear a KiB for it. Measured: 2 to 3 % of all instructions for a small packet.
 */
#include "head.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/gfp.h>
#include <linux/percpu.h>

static DEFINE_PER_CPU(struct page_frag_cache, heads);

static struct sk_buff *cut(u32 size)
{
	u32 whole = SKB_HEAD_ALIGN(size);
	void *data = page_frag_alloc(this_cpu_ptr(&heads), whole, GFP_ATOMIC | __GFP_NOWARN);
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
	if (IS_ENABLED(CONFIG_KASAN))
		return alloc_skb(size, GFP_ATOMIC | __GFP_NOWARN);
	return cut(size);
}
EXPORT_SYMBOL_IF_KUNIT(srn_head_alloc);

void srn_head_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		page_frag_cache_drain(per_cpu_ptr(&heads, cpu));
}
