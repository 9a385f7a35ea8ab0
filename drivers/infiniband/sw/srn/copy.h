/* SPDX-License-Identifier: GPL-2.0-only */
/* Bytes of messages, from memory to memory. A long copy takes what the CPU has for it; memcpy()
 * does so on CPUs with FSRM only (copy.c).
 */
#ifndef SRN_COPY_H
#define SRN_COPY_H

#include <linux/skbuff.h>
#include <linux/string.h>
#include <linux/types.h>

/* From so many bytes on a string instruction is worth what it takes to begin, some tens of cycles,
 * on each CPU that has it fast.
 */
#define SRN_COPY_LONG	512

/* For srn_copy(). @len is SRN_COPY_LONG or more. */
void srn_copy_long(void *to, const void *from, size_t len);

/**
 * srn_copy() - as memcpy(), for what may be long
 *
 * Any context. Where memcpy() is not taken the last byte is written behind all others, and by
 * itself: programs poll on it. Else that is as the CPU and memcpy() have it.
 */
static inline void srn_copy(void *to, const void *from, size_t len)
{
	if (len < SRN_COPY_LONG)
		memcpy(to, from, len);
	else
		srn_copy_long(to, from, len);
}

/* For srn_copy_skb(): what is not all in its head. */
int srn_copy_pages(const struct sk_buff *skb, u32 from, void *to, u32 len);

/**
 * srn_copy_skb() - as skb_copy_bits(), with srn_copy()
 * @from: offset from skb->data
 *
 * Return: 0, or -EFAULT where @skb does not have these bytes.
 */
static inline int srn_copy_skb(const struct sk_buff *skb, u32 from, void *to, u32 len)
{
	u32 head = skb_headlen(skb);

	if (from > head || len > head - from)
		return srn_copy_pages(skb, from, to, len);
	srn_copy(to, skb->data + from, len);
	return 0;
}

/* Of x86-64 alone, for srn_copy_long() and for tests. From the first byte to the last; @len is 16
 * or more.
 */
void srn_copy_words(void *to, const void *from, size_t len);

#endif
