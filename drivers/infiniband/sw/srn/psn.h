/* SPDX-License-Identifier: GPL-2.0-only */
/* Packet sequence numbers: 24-bit serial arithmetic (IBTA vol. 1, 9.7.2). */
#ifndef SRN_PSN_H
#define SRN_PSN_H

#include <linux/types.h>

#define SRN_PSN_MASK	0x00ffffffu

/**
 * srn_psn_add() - the PSN that lies @n after @psn
 * @psn: a PSN
 * @n: distance, may be negative
 */
static inline u32 srn_psn_add(u32 psn, s32 n)
{
	return (psn + (u32)n) & SRN_PSN_MASK;
}

/**
 * srn_psn_diff() - signed distance from @b to @a
 * @a: a PSN
 * @b: a PSN
 *
 * Return: a - b, in [-2^23, 2^23): negative when @a is older than @b.
 */
static inline s32 srn_psn_diff(u32 a, u32 b)
{
	return (s32)((a - b) << 8) >> 8;
}

#endif
