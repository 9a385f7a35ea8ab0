/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory for the heads and the trailers of the packets that leave. */
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

/** srn_head_exit() - nobody allocates any more; packets on their way keep what they have */
void srn_head_exit(void);

#endif
