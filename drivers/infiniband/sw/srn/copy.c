// SPDX-License-Identifier: GPL-2.0-only
/* Long copies. What an x86-64 CPU is good at is known when the kernel has begun; elsewhere
 * memcpy() is what there is.
 *
 * With FSRM (Intel's since Ice Lake, AMD's since Zen 3) memcpy() is "rep movsb", and is taken:
 * there nothing is gained here. Without, as on older CPUs and in VMs that hide it, memcpy() takes
 * three instructions for each 8 bytes, since most copies of a kernel are short; but all x86-64
 * CPUs that are not the oldest have a fast "rep movsq" (REP_GOOD), which copy_page() takes, and
 * copy_to_user() where there is no ERMS either.
 */
#include "copy.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/kasan-checks.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/skbuff.h>
#include <linux/unaligned.h>

/* User-Mode Linux has it too, though nothing there calls it (takes_words()): for KUnit. */
#ifdef CONFIG_X86_64
/* Words at aligned addresses of the destination, then a word, or 1 to 7 bytes in their order: stores of
 * one string instruction may be seen in any, later ones are seen after all of it.
 */
void srn_copy_words(void *to, const void *from, size_t len)
{
	size_t skip = -(uintptr_t)to & (sizeof(u64) - 1), words;
	const u8 *src;
	u8 *dst;

	/* Nobody else looks at what assembly does. */
	kasan_check_read(from, len);
	kasan_check_write(to, len);
	if (skip) {
		put_unaligned(get_unaligned((const u64 *)from), (u64 *)to);
		to += skip;
		from += skip;
		len -= skip;
	}
	words = (len - 1) / sizeof(u64);
	len -= words * sizeof(u64);
	asm volatile("rep movsq" : "+D" (to), "+S" (from), "+c" (words) : : "memory");
	if (likely(len == sizeof(u64))) {	/* the address is still aligned */
		WRITE_ONCE(*(u64 *)to, get_unaligned((const u64 *)from));
		return;
	}
	for (src = from, dst = to; len; len--)
		WRITE_ONCE(*dst++, READ_ONCE(*src++));
}
EXPORT_SYMBOL_IF_KUNIT(srn_copy_words);
#endif

/* User-Mode Linux does not know its CPU; KMSAN could not see what assembly writes. */
#if defined(CONFIG_X86_64) && !defined(CONFIG_UML) && !defined(CONFIG_KMSAN)
static __always_inline bool takes_words(void)
{
	return static_cpu_has(X86_FEATURE_REP_GOOD) && !static_cpu_has(X86_FEATURE_FSRM);
}
#else
static inline bool takes_words(void)
{
	return false;
}
#endif

void srn_copy_long(void *to, const void *from, size_t len)
{
	if (takes_words())
		srn_copy_words(to, from, len);
	else
		memcpy(to, from, len);
}
EXPORT_SYMBOL_IF_KUNIT(srn_copy_long);

/* @from is behind the head of @skb, which has all of it. */
static void copy_frags(const struct sk_buff *skb, u32 from, void *to, u32 len)
{
	const skb_frag_t *frag = skb_shinfo(skb)->frags;
	u32 here;

	for (; len; frag++) {
		if (from >= skb_frag_size(frag)) {
			from -= skb_frag_size(frag);
			continue;
		}
		here = min(len, skb_frag_size(frag) - from);
		/* Each page has an address (mem.h). */
		srn_copy(to, skb_frag_address(frag) + from, here);
		from = 0;
		to += here;
		len -= here;
	}
}

/* What @skb has itself, all of it. */
static void copy_own(const struct sk_buff *skb, u32 from, void *to, u32 len)
{
	u32 head = skb_headlen(skb), here;

	if (from < head) {
		here = min(len, head - from);
		srn_copy(to, skb->data + from, here);
		from += here;
		to += here;
		len -= here;
	}
	if (len)
		copy_frags(skb, from - head, to, len);
}

static int copy_part(const struct sk_buff *part, u32 from, void *to, u32 len)
{
	if (unlikely(skb_has_frag_list(part) || !skb_frags_readable(part)))
		return skb_copy_bits(part, from, to, len);
	copy_own(part, from, to, len);
	return 0;
}

/* IP's fragments are such lists, and packets that a NAPI coupled. */
static int copy_list(const struct sk_buff *skb, u32 from, void *to, u32 len)
{
	u32 own = skb_pagelen(skb), here;
	const struct sk_buff *part;
	int err = 0;

	if (from < own) {
		here = min(len, own - from);
		copy_own(skb, from, to, here);
		from += here;
		to += here;
		len -= here;
	}
	from -= own;
	for (part = skb_shinfo(skb)->frag_list; part && len && !err; part = part->next) {
		if (from >= part->len) {
			from -= part->len;
			continue;
		}
		here = min(len, part->len - from);
		err = copy_part(part, from, to, here);
		from = 0;
		to += here;
		len -= here;
	}
	return unlikely(len && !err) ? -EFAULT : err;
}

int srn_copy_pages(const struct sk_buff *skb, u32 from, void *to, u32 len)
{
	if (unlikely(from > skb->len || len > skb->len - from))
		return -EFAULT;
	if (unlikely(!skb_frags_readable(skb)))
		return skb_copy_bits(skb, from, to, len);
	if (skb_has_frag_list(skb))
		return copy_list(skb, from, to, len);
	copy_own(skb, from, to, len);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_copy_pages);
