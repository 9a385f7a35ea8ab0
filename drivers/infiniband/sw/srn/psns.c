// SPDX-License-Identifier: GPL-2.0-only
/* Sets of PSNs, as bits in a ring. */
#include "psns.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/minmax.h>

/* The part of @len PSNs from @psn on in front of the end of the ring; the rest begins at bit 0. */
static u32 straight(u32 psn, u32 len)
{
	return min_t(u32, len, SRN_PSNS - psn % SRN_PSNS);
}

/* Of the word of @first those bits that are before @end. */
static unsigned long mask(u32 first, u32 end)
{
	u32 last = min_t(u32, end - 1, first | (BITS_PER_LONG - 1));

	return GENMASK(last % BITS_PER_LONG, first % BITS_PER_LONG);
}

static u32 count_part(const struct srn_psns *set, u32 first, u32 len)
{
	u32 end = first + len, at, num = 0;

	for (at = first; at < end; at = (at | (BITS_PER_LONG - 1)) + 1)
		num += hweight_long(set->bits[BIT_WORD(at)] & mask(at, end));
	return num;
}

static u32 count(const struct srn_psns *set, u32 psn, u32 len)
{
	u32 part = straight(psn, len);

	return count_part(set, psn % SRN_PSNS, part) + count_part(set, 0, len - part);
}

u32 srn_psns_add(struct srn_psns *set, u32 psn, u32 len)
{
	u32 part = straight(psn, len), added = len - count(set, psn, len);

	bitmap_set(set->bits, psn % SRN_PSNS, part);
	bitmap_set(set->bits, 0, len - part);
	set->num += added;
	return added;
}
EXPORT_SYMBOL_IF_KUNIT(srn_psns_add);

static u32 add_word(struct srn_psns *set, u32 index, unsigned long word)
{
	unsigned long *to = set->bits + index % BITS_TO_LONGS(SRN_PSNS);
	u32 added = hweight_long(word & ~*to);

	*to |= word;
	return added;
}

u32 srn_psns_add_map(struct srn_psns *set, u32 psn, const unsigned long *map, u32 num)
{
	u32 first = BIT_WORD(psn % SRN_PSNS), shift = psn % BITS_PER_LONG, added = 0, at, i;
	unsigned long word;

	for (at = 0; at < num; at += BITS_PER_LONG) {
		i = BIT_WORD(at);
		word = map[i] & mask(at, num);
		added += add_word(set, first + i, word << shift);
		if (shift)
			added += add_word(set, first + i + 1, word >> (BITS_PER_LONG - shift));
	}
	set->num += added;
	return added;
}
EXPORT_SYMBOL_IF_KUNIT(srn_psns_add_map);

u32 srn_psns_word(const struct srn_psns *set, u32 psn)
{
	u32 index = BIT_WORD(psn % SRN_PSNS), shift = psn % BITS_PER_LONG;
	u32 word = set->bits[index] >> shift, low = BITS_PER_LONG - shift;

	if (low < 32)
		word |= (u32)set->bits[(index + 1) % BITS_TO_LONGS(SRN_PSNS)] << low;
	return word;
}
EXPORT_SYMBOL_IF_KUNIT(srn_psns_word);

u32 srn_psns_drop(struct srn_psns *set, u32 psn, u32 len)
{
	u32 part = straight(psn, len), had = set->num ? count(set, psn, len) : 0;

	if (!had)
		return 0;
	bitmap_clear(set->bits, psn % SRN_PSNS, part);
	bitmap_clear(set->bits, 0, len - part);
	set->num -= had;
	return had;
}
EXPORT_SYMBOL_IF_KUNIT(srn_psns_drop);

static u32 find(const struct srn_psns *set, u32 first, u32 len, bool hole)
{
	u32 end = first + len;

	return (hole ? find_next_zero_bit(set->bits, end, first) :
		       find_next_bit(set->bits, end, first)) - first;
}

static u32 next(const struct srn_psns *set, u32 from, u32 end, bool hole)
{
	s32 len = srn_psn_diff(end, from);
	u32 part, at;

	if (len <= 0)
		return end;
	part = straight(from, len);
	at = find(set, from % SRN_PSNS, part, hole);
	if (at == part)
		at += find(set, 0, len - part, hole);
	return srn_psn_add(from, at);
}

u32 srn_psns_next(const struct srn_psns *set, u32 from, u32 end)
{
	return next(set, from, end, false);
}
EXPORT_SYMBOL_IF_KUNIT(srn_psns_next);

u32 srn_psns_next_hole(const struct srn_psns *set, u32 from, u32 end)
{
	return next(set, from, end, true);
}
EXPORT_SYMBOL_IF_KUNIT(srn_psns_next_hole);

u32 srn_psns_holes(const struct srn_psns *set, u32 from, u32 end)
{
	s32 len = srn_psn_diff(end, from);

	return len > 0 ? len - count(set, from, len) : 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_psns_holes);
