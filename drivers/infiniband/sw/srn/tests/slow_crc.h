/* SPDX-License-Identifier: GPL-2.0-only */
/* The CRC that all others are held to. */
#ifndef SRN_TESTS_SLOW_CRC_H
#define SRN_TESTS_SLOW_CRC_H

#include <kunit/test.h>
#include <linux/types.h>

#define CRC32_POLY_REFLECTED	0xedb88320u

/* The model: one bit at a time. */
static inline u32 slow_crc(u32 crc, const u8 *p, size_t len)
{
	int bit;

	while (len--) {
		crc ^= *p++;
		for (bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ CRC32_POLY_REFLECTED : crc >> 1;
	}
	return crc;
}

/* Bytes without a pattern that a wrong table could hide behind; always the same. */
static inline void fill(u8 *p, size_t len)
{
	u32 x = 1;

	while (len--) {
		x = x * 1664525 + 1013904223;
		*p++ = x >> 24;
	}
}

static inline void *filled(struct kunit *test, size_t len)
{
	u8 *p = kunit_kmalloc(test, len, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	fill(p, len);
	return p;
}

#endif
