// SPDX-License-Identifier: GPL-2.0-only
/* CRC-32 without tables and without SIMD, after S. Russell's idea (arXiv
 * 2412.16398): find a sparse multiple of the CRC's polynomial P and divide by
 * that.
 *
 * P divides x^300 + x^155 + x^117 + x^89 + 1. Adding a multiple of P to a message
 * does not change its remainder, so a set bit may be cleared if the four bits 145,
 * 183, 211 and 300 places behind it are flipped. Done for 64 bits at once this is
 * a few shifts and XORs per word; every word is read once, and what is due to the
 * next five words stays in registers. The last words are left to crc32_le().
 *
 * Why not SIMD: it needs a FPU section, which costs more than the CRC of a small
 * packet and cannot be had in every context. Why not tables: each byte costs a
 * load, which an emulator makes ten times as dear as an XOR.
 */
#include "crc.h"

#include <linux/crc32.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#define WORDS		5			/* a round, and the reach of a word */
#define ROUND		(WORDS * sizeof(u64))

/* Clears word @y and flips what that takes in the words 2, 3, 4 and 5 behind it.
 * Bit 0 of a word is its first on the wire, so "behind" is a shift to the left:
 * 145 = 2 * 64 + 17, 183 = 2 * 64 + 55, 211 = 3 * 64 + 19, 300 = 4 * 64 + 44.
 */
static __always_inline void spread(u64 y, u64 *w2, u64 *w3, u64 *w4, u64 *w5)
{
	*w2 ^= y << 17 ^ y << 55;
	*w3 ^= y >> (64 - 17) ^ y >> (64 - 55) ^ y << 19;
	*w4 ^= y >> (64 - 19) ^ y << 44;
	*w5 = y >> (64 - 44);
}

static void add_to_word(void *p, u64 x)
{
	put_unaligned_le64(get_unaligned_le64(p) ^ x, p);
}

u32 srn_crc32_fold(u32 crc, const void *buf, size_t len)
{
	u64 a0 = crc, a1 = 0, a2 = 0, a3 = 0, a4 = 0;	/* due to this round's words */
	u64 b0, b1, b2, b3, b4;				/* due to the next round's */
	u8 rest[2 * ROUND];
	const u8 *p = buf;

	/* Leaves at least one round of bytes, which can take what is due. */
	for (; len >= 2 * ROUND; p += ROUND, len -= ROUND) {
		spread(a0 ^ get_unaligned_le64(p), &a2, &a3, &a4, &b0);
		spread(a1 ^ get_unaligned_le64(p + 8), &a3, &a4, &b0, &b1);
		spread(a2 ^ get_unaligned_le64(p + 16), &a4, &b0, &b1, &b2);
		spread(a3 ^ get_unaligned_le64(p + 24), &b0, &b1, &b2, &b3);
		spread(a4 ^ get_unaligned_le64(p + 32), &b1, &b2, &b3, &b4);
		a0 = b0;
		a1 = b1;
		a2 = b2;
		a3 = b3;
		a4 = b4;
	}

	memcpy(rest, p, len);
	add_to_word(rest, a0);
	add_to_word(rest + 8, a1);
	add_to_word(rest + 16, a2);
	add_to_word(rest + 24, a3);
	add_to_word(rest + 32, a4);
	return crc32_le(0, rest, len);
}
