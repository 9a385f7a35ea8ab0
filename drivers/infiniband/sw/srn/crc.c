// SPDX-License-Identifier: GPL-2.0-only
/* Which CRC-32 is fastest differs by an order of magnitude between CPUs with
 * carry-less multiplication, CPUs without, and emulators, which advertise it and
 * then are slower with it than with anything else. So it is measured, once.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "crc.h"

#include <crypto/hash.h>
#include <kunit/visibility.h>
#include <linux/crc32.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/sizes.h>
#include <linux/slab.h>

/* Below this a FPU section, and the crypto API's calls, are not worth it. */
#define SIMD_MIN	256

#define PROBE_SIZE	SZ_4K	/* the longest packet */
#define PROBE_REPEAT	8
#define PROBE_RUNS	5	/* the best counts: the others met an interrupt */

static const char *const impl_names[SRN_CRC_IMPLS] = {
	[SRN_CRC_FOLD] = "fold",
	[SRN_CRC_TABLE] = "table",
	[SRN_CRC_CRYPTO] = "crypto",
	[SRN_CRC_CLMUL] = "clmul",
	[SRN_CRC_WIDE] = "vpclmul",
};

static enum srn_crc_impl chosen __read_mostly = SRN_CRC_FOLD;
static struct crypto_shash *tfm __read_mostly;

/* The state of every "crc32" is one word in CPU order. Touching it directly
 * spares the calls that set a seed and fetch a digest.
 */
struct crc_desc {
	struct shash_desc shash;
	u32 state;	/* where shash_desc_ctx() points */
};

static_assert(offsetof(struct crc_desc, state) == offsetof(struct shash_desc, __ctx));

static u32 crypto_crc32(u32 crc, const void *p, size_t len)
{
	struct crc_desc desc = { .shash.tfm = tfm, .state = crc };

	crypto_shash_update(&desc.shash, p, len);
	return desc.state;
}

u32 srn_crc32_by(enum srn_crc_impl impl, u32 crc, const void *p, size_t len)
{
	if (len < SRN_CRC_FOLD_MIN)
		return crc32_le(crc, p, len);

	switch (impl) {
	case SRN_CRC_WIDE:
	case SRN_CRC_CLMUL:
		if (len >= SIMD_MIN && srn_crc32_clmul(&crc, p, len))
			return crc;
		return srn_crc32_fold(crc, p, len);
	case SRN_CRC_CRYPTO:
		if (tfm && len >= SIMD_MIN)
			return crypto_crc32(crc, p, len);
		fallthrough;
	case SRN_CRC_FOLD:
		return srn_crc32_fold(crc, p, len);
	default:
		return crc32_le(crc, p, len);
	}
}
EXPORT_SYMBOL_IF_KUNIT(srn_crc32_by);

u32 srn_crc32(u32 crc, const void *p, size_t len)
{
	return srn_crc32_by(chosen, crc, p, len);
}
EXPORT_SYMBOL_IF_KUNIT(srn_crc32);

bool srn_crc32_has_sections(void)
{
	return chosen == SRN_CRC_CLMUL || chosen == SRN_CRC_WIDE;
}

bool srn_crc32_begin(size_t len)
{
	return srn_crc32_has_sections() && len >= SIMD_MIN && srn_crc32_fpu_begin();
}

void srn_crc32_end(void)
{
	srn_crc32_fpu_end();
}

/* Nanoseconds for PROBE_REPEAT packets. */
static u64 probe(enum srn_crc_impl impl, const void *buf)
{
	u64 best = U64_MAX;
	unsigned int run, i;
	u32 crc = 0;

	for (run = 0; run < PROBE_RUNS; run++) {
		u64 start;

		preempt_disable();
		start = ktime_get_ns();
		for (i = 0; i < PROBE_REPEAT; i++)
			crc = srn_crc32_by(impl, crc, buf, PROBE_SIZE);
		best = min(best, ktime_get_ns() - start);
		preempt_enable();
		OPTIMIZER_HIDE_VAR(crc);
	}
	return max(best, 1ULL);
}

static bool has(enum srn_crc_impl impl)
{
	switch (impl) {
	case SRN_CRC_CRYPTO:
		return tfm;
	case SRN_CRC_CLMUL:
		return srn_crc32_find_clmul();
	case SRN_CRC_WIDE:
		return srn_crc32_find_wide();
	default:
		return true;
	}
}

static void choose(const void *buf)
{
	u64 best = U64_MAX, mbps[SRN_CRC_IMPLS] = {};
	enum srn_crc_impl impl;

	for (impl = 0; impl < SRN_CRC_IMPLS; impl++) {
		u64 ns;

		if (!has(impl))
			continue;
		srn_crc32_use_wide(impl == SRN_CRC_WIDE);
		ns = probe(impl, buf);
		mbps[impl] = PROBE_REPEAT * PROBE_SIZE * 1000ULL / ns;
		if (ns < best) {
			best = ns;
			chosen = impl;
		}
	}
	srn_crc32_use_wide(chosen == SRN_CRC_WIDE);
	pr_info("CRC-32 in MB/s: fold %llu, table %llu, crypto %llu, clmul %llu, vpclmul %llu: using %s\n",
		mbps[SRN_CRC_FOLD], mbps[SRN_CRC_TABLE], mbps[SRN_CRC_CRYPTO],
		mbps[SRN_CRC_CLMUL], mbps[SRN_CRC_WIDE], impl_names[chosen]);
}

/* NULL where there is none, or where its state is not the word we rely on. */
static struct crypto_shash *find_crypto(void)
{
	struct crypto_shash *found = crypto_alloc_shash("crc32", 0, 0);

	if (IS_ERR(found))
		return NULL;
	if (crypto_shash_descsize(found) == sizeof(u32))
		return found;
	crypto_free_shash(found);
	return NULL;
}

int srn_crc32_init(void)
{
	void *buf = kzalloc(PROBE_SIZE, GFP_KERNEL);

	if (!buf)
		return -ENOMEM;
	tfm = find_crypto();
	choose(buf);
	kfree(buf);
	return 0;
}

enum srn_crc_impl srn_crc32_use(enum srn_crc_impl impl)
{
	enum srn_crc_impl before = chosen;

	chosen = impl;
	srn_crc32_use_wide(impl == SRN_CRC_WIDE);
	return before;
}
EXPORT_SYMBOL_IF_KUNIT(srn_crc32_use);

void srn_crc32_exit(void)
{
	srn_crc32_use(SRN_CRC_FOLD);
	crypto_free_shash(tfm);
	tfm = NULL;
}
