/* SPDX-License-Identifier: GPL-2.0-only */
/* A set of PSNs of which no two are SRN_PSNS or more apart: what is held of a window, or was heard
 * of. Pure. Which part of the PSN space it is that the bits stand for its user knows.
 */
#ifndef SRN_PSNS_H
#define SRN_PSNS_H

#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/types.h>

#include "psn.h"

/* PSNs from the first one on; it divides the PSN space. */
#define SRN_PSNS	8192

struct srn_psns {
	DECLARE_BITMAP(bits, SRN_PSNS);
	u32 num;
};

/** srn_psns_has() - whether @psn is in the set */
static inline bool srn_psns_has(const struct srn_psns *set, u32 psn)
{
	return test_bit(psn % SRN_PSNS, set->bits);
}

/** srn_psns_add() - @len PSNs, SRN_PSNS at most, from @psn on; returns how many are new */
u32 srn_psns_add(struct srn_psns *set, u32 psn, u32 len);

/**
 * srn_psns_add_map() - the PSNs whose bits are set in @map, whose first bit stands for @psn
 * @num: bits of @map, SRN_PSNS at most; what else its last word has is not looked at
 *
 * Return: how many are new.
 */
u32 srn_psns_add_map(struct srn_psns *set, u32 psn, const unsigned long *map, u32 num);

/** srn_psns_word() - which of the 32 PSNs from @psn on are in the set, the lowest bit being @psn */
u32 srn_psns_word(const struct srn_psns *set, u32 psn);

/** srn_psns_drop() - as many less; returns how many there were */
u32 srn_psns_drop(struct srn_psns *set, u32 psn, u32 len);

/**
 * srn_psns_next() - the first PSN of [@from, @end) that is in the set, or @end
 * @end: SRN_PSNS behind @from at most
 */
u32 srn_psns_next(const struct srn_psns *set, u32 from, u32 end);

/** srn_psns_next_hole() - the first one that is not */
u32 srn_psns_next_hole(const struct srn_psns *set, u32 from, u32 end);

/** srn_psns_holes() - how many of [@from, @end) are not in the set; SRN_PSNS at most */
u32 srn_psns_holes(const struct srn_psns *set, u32 from, u32 end);

#endif
