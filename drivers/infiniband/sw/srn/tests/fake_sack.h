/* SPDX-License-Identifier: GPL-2.0-only */
/* SACKs with maps of any length. */
#ifndef SRN_TESTS_FAKE_SACK_H
#define SRN_TESTS_FAKE_SACK_H

#include "../sack.h"
#include "../wire.h"
#include "fake_round.h"

#include <linux/gfp.h>
#include <linux/unaligned.h>

/* So much of a map is in the head of its packet: it ends amid a word, and a long map goes on in a page. */
#define FAKE_SACK_HEAD	101u

/* The peer misses @expected, and of what is behind it has the first @num PSNs that are in @map; it holds @ahead. */
static inline struct sk_buff *new_told(struct kunit *test, u32 expected, u32 ahead,
				       const unsigned long *map, u32 num)
{
	struct sk_buff *skb = new_packet(test, SRN_OPCODE_SACK, expected);
	struct srn_sack_fields fields = {
		.what = be32_encode_bits(SRN_SACK_MAGIC, SRN_SACK_WHAT_MAGIC) |
			be32_encode_bits(SRN_SACK_VERSION, SRN_SACK_WHAT_VERSION) |
			be32_encode_bits(SRN_SACK_HELD, SRN_SACK_WHAT_KIND),
		.ahead = cpu_to_be32(ahead),
	};
	u32 len = DIV_ROUND_UP(num, 32) * sizeof(u32), head = min(len, FAKE_SACK_HEAD), i;
	struct page *page = alloc_page(GFP_ATOMIC);
	u32 *words;

	KUNIT_ASSERT_NOT_NULL(test, page);
	words = page_address(page);
	bitmap_to_arr32(words, map, num);
	for (i = 0; i < len / sizeof(u32); i++)
		put_unaligned_be32(words[i], words + i);
	skb_put_data(skb, &fields, sizeof(fields));
	skb_put_data(skb, words, head);
	skb_add_rx_frag(skb, 0, page, head, len - head, PAGE_SIZE);
	srn_pkt(skb)->len = sizeof(fields) + len;
	return skb;
}

#endif
