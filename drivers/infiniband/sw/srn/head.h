/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory for the packets that leave: heads, trailers, and pages of payload. */
#ifndef SRN_HEAD_H
#define SRN_HEAD_H

#include <linux/skbuff.h>

/**
 * srn_head_alloc() - an empty skb with room for @size bytes
 *
 * @size is below 3 KiB. BH disabled. NULL without memory; no log line says so.
 */
struct sk_buff *srn_head_alloc(u32 size);

/**
 * srn_head_cut() - @size bytes of a page, with a reference to it, for a packet's trailer
 *
 * @size is a multiple of SMP_CACHE_BYTES and at most a page. BH disabled. NULL without memory.
 */
void *srn_head_cut(u32 size);

/**
 * srn_head_page() - a page for payload, with a reference
 *
 * What is in it is to be overwritten. BH disabled. NULL without memory.
 */
struct page *srn_head_page(void);
extern bool srn_head_again;	/* whether such pages are used again; KUnit sets it */

/**
 * srn_head_add_page() - one of these to @skb, for @len bytes of payload or as many as it takes
 * @here: set to how many, which the caller writes
 *
 * BH disabled. Return: where to; NULL without memory.
 */
void *srn_head_add_page(struct sk_buff *skb, u32 len, u32 *here);

int srn_head_init(void);
/** srn_head_exit() - nobody allocates any more; packets on their way keep what they have */
void srn_head_exit(void);

#endif
