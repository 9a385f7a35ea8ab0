// SPDX-License-Identifier: GPL-2.0-only
/* The table of RNR timer codes. */
#include "rnr.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/time64.h>

/* Hundredths of a millisecond of each code. */
static const u32 rnr_10us[32] = {
	65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192,
	256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288,
	16384, 24576, 32768, 49152,
};

u64 srn_rnr_ns(u8 code)
{
	return (u64)rnr_10us[code & 31] * 10 * NSEC_PER_USEC;
}
EXPORT_SYMBOL_IF_KUNIT(srn_rnr_ns);
