// SPDX-License-Identifier: GPL-2.0-only
/* CRC-32 by carry-less multiplication, after V. Gopal and others, "Fast CRC Computation for
 * Generic Polynomials Using PCLMULQDQ Instruction" (Intel, 2009): 16 bytes are moved n bits
 * towards the end by two products, one for each half, with the remainders of x^(n + 32) and of
 * x^(n - 32), and added to what stands there. Eight such accumulators are under way at a time,
 * since a product takes several cycles. The kernel's driver has four, of two-operand instructions.
 * Newer CPUs make two products by one instruction: there each accumulator is two, side by side.
 *
 * Bit 0 of a byte is its first on the wire. A product of two such words is one bit short, hence
 * the constants are a bit further to the left.
 */
#include "crc.h"

#include <kunit/visibility.h>
#include <linux/cache.h>
#include <linux/crc32.h>
#include <linux/export.h>
#include <linux/kasan-checks.h>
#include <linux/math.h>
#include <linux/preempt.h>

/* KMSAN could not see what assembly reads. */
#if defined(CONFIG_X86_64) && !defined(CONFIG_KMSAN)

#include <asm/cpufeature.h>
#ifndef CONFIG_UML
#include <asm/fpu/api.h>
#endif

#define LANE	16			/* bytes of an accumulator */
#define ROUND	SRN_CRC_CLMUL_MIN	/* of eight */
#define PAIR	(2 * LANE)		/* where one product is of two lanes: VPCLMULQDQ */
#define WIDE	(8 * PAIR)		/* a round of these */
#define WIDE_MIN (2 * WIDE)		/* what that pays for */

/* For the lower half and for the upper, by how many lanes. */
static const u64 by_sixteen[2] __aligned(LANE) = { 0x11542778a, 0x1322d1430 };
static const u64 by_eight[2] __aligned(LANE) = { 0x1e88ef372, 0x14a7fe880 };
static const u64 by_four[2] __aligned(LANE) = { 0x154442bd4, 0x1c6e41596 };
static const u64 by_two[2] __aligned(LANE) = { 0x0f1da05aa, 0x15a546366 };
static const u64 by_one[2] __aligned(LANE) = { 0x1751997d0, 0x0ccaa009e };
/* x^64, and a mask of 32 bits. */
static const u64 by_half[2] __aligned(LANE) = { 0x163cd6124, 0xffffffff };
/* The polynomial, and the quotient of x^64 by it. */
static const u64 barrett[2] __aligned(LANE) = { 0x1db710641, 0x1f7011641 };

/* The compiler does not know of these registers: it keeps nothing in them, and what one asm leaves
 * there the next finds.
 */
#define X(n)			"%%xmm" #n
#define LOAD(at, n)		"vmovdqu " #at "(%[p]), " X(n) "\n\t"
/* Accumulator @n moves; @tmp is overwritten. The factors are in xmm15. */
#define MOVE(n, tmp)							\
	"vpclmulqdq $0x11, " X(15) ", " X(n) ", " X(tmp) "\n\t"		\
	"vpclmulqdq $0x00, " X(15) ", " X(n) ", " X(n) "\n\t"		\
	"vpxor " X(tmp) ", " X(n) ", " X(n) "\n\t"
/* What is in memory, or in another accumulator, to it. */
#define ADD(at, n)		"vpxor " #at "(%[p]), " X(n) ", " X(n) "\n\t"
#define ADD_BEHIND(at, n)	"vpxor " #at "+%c[skip](%[p]), " X(n) ", " X(n) "\n\t"
#define JOIN(n, to)		"vpxor " X(n) ", " X(to) ", " X(to) "\n\t"

/* The same for pairs. */
#define Y(n)			"%%ymm" #n
#define LOAD_PAIR(at, n)	"vmovdqu " #at "(%[p]), " Y(n) "\n\t"
#define MOVE_PAIR(n, tmp)						\
	"vpclmulqdq $0x11, " Y(15) ", " Y(n) ", " Y(tmp) "\n\t"		\
	"vpclmulqdq $0x00, " Y(15) ", " Y(n) ", " Y(n) "\n\t"		\
	"vpxor " Y(tmp) ", " Y(n) ", " Y(n) "\n\t"
#define ADD_PAIR(at, n)		"vpxor " #at "(%[p]), " Y(n) ", " Y(n) "\n\t"
#define JOIN_PAIR(n, to)	"vpxor " Y(n) ", " Y(to) ", " Y(to) "\n\t"

#define PAIR_FACTORS(by) asm volatile("vbroadcasti128 %0, %%ymm15" : : "m" (by))
#define WIDE_OF(p)	[p] "r" (p), "m" (*(const u8 (*)[WIDE])(p))
#define FACTORS(by)	asm volatile("vmovdqa %0, %%xmm15" : : "m" (by))
#define ROUND_OF(p)	[p] "r" (p), "m" (*(const u8 (*)[ROUND])(p))
#define ROUND_BEHIND(p, skip) [p] "r" (p), [skip] "i" (skip), "m" (*(const u8 (*)[ROUND])((p) + (skip)))
#define LANE_OF(p)	[p] "r" (p), "m" (*(const u8 (*)[LANE])(p))

/* To the first lane, from before it: a state; or what is in xmm7, moved, the factors being by_one's. */
static __always_inline void due_state(u32 crc)
{
	asm volatile("vmovd %[crc], %%xmm8" : : [crc] "r" (crc));
}

static __always_inline void due_lanes(void)
{
	asm volatile(MOVE(7, 8) "vmovdqa " X(7) ", " X(8) : : );
}

static __always_inline void begin(const void *p)
{
	asm volatile(LOAD(0, 0) LOAD(16, 1) LOAD(32, 2) LOAD(48, 3)
		     LOAD(64, 4) LOAD(80, 5) LOAD(96, 6) LOAD(112, 7)
		     JOIN(8, 0) : : ROUND_OF(p));
}

static __always_inline void begin_lane(const void *p)
{
	asm volatile("vpxor (%[p]), " X(8) ", " X(7) : : LANE_OF(p));
}

/* That which is @skip bytes behind @p. */
static __always_inline void fold_round(const void *p, const size_t skip)
{
	asm volatile(MOVE(0, 8) MOVE(1, 9) MOVE(2, 10) MOVE(3, 11)
		     ADD_BEHIND(0, 0) ADD_BEHIND(16, 1) ADD_BEHIND(32, 2) ADD_BEHIND(48, 3)
		     MOVE(4, 8) MOVE(5, 9) MOVE(6, 10) MOVE(7, 11)
		     ADD_BEHIND(64, 4) ADD_BEHIND(80, 5) ADD_BEHIND(96, 6) ADD_BEHIND(112, 7)
		     : : ROUND_BEHIND(p, skip));
}

/* Eight to one: xmm7. */
static __always_inline void fold_lanes(void)
{
	FACTORS(by_four);
	asm volatile(MOVE(0, 8) MOVE(1, 9) MOVE(2, 10) MOVE(3, 11)
		     JOIN(0, 4) JOIN(1, 5) JOIN(2, 6) JOIN(3, 7) : : );
	FACTORS(by_two);
	asm volatile(MOVE(4, 8) MOVE(5, 9) JOIN(4, 6) JOIN(5, 7) : : );
	FACTORS(by_one);
	asm volatile(MOVE(6, 8) JOIN(6, 7) : : );
}

static __always_inline void fold_lane(const void *p)
{
	asm volatile(MOVE(7, 8) ADD(0, 7) : : LANE_OF(p));
}

/* 128 bits to 96, with 32 of zero behind them, to 64, to the state. xmm15 moves by one lane. */
static __always_inline u32 reduce(void)
{
	u32 crc;

	asm volatile("vpclmulqdq $0x01, %%xmm7, %%xmm15, %%xmm0\n\t"
		     "vpsrldq $8, %%xmm7, %%xmm7\n\t"
		     "vpxor %%xmm0, %%xmm7, %%xmm7\n\t"
		     "vmovdqa %[half], %%xmm1\n\t"
		     "vpsrldq $8, %%xmm1, %%xmm2\n\t"
		     "vpsrldq $4, %%xmm7, %%xmm0\n\t"
		     "vpand %%xmm2, %%xmm7, %%xmm7\n\t"
		     "vpclmulqdq $0x00, %%xmm1, %%xmm7, %%xmm7\n\t"
		     "vpxor %%xmm0, %%xmm7, %%xmm7\n\t"
		     "vmovdqa %[barrett], %%xmm1\n\t"
		     "vpand %%xmm2, %%xmm7, %%xmm0\n\t"
		     "vpclmulqdq $0x10, %%xmm1, %%xmm0, %%xmm0\n\t"
		     "vpand %%xmm2, %%xmm0, %%xmm0\n\t"
		     "vpclmulqdq $0x00, %%xmm1, %%xmm0, %%xmm0\n\t"
		     "vpxor %%xmm0, %%xmm7, %%xmm7\n\t"
		     "vpextrd $1, %%xmm7, %[crc]"
		     : [crc] "=r" (crc) : [half] "m" (by_half), [barrett] "m" (barrett));
	return crc;
}

/* What is due to the first lane is in xmm8; to xmm7. The factors are by_one's then. */
static __always_inline void fold_rounds(const void *p, size_t len)
{
	const void *end = p + len;

	begin(p);
	FACTORS(by_eight);
	for (p += ROUND; end - p >= 4 * ROUND; p += 4 * ROUND) {
		fold_round(p, 0);
		fold_round(p, ROUND);
		fold_round(p, 2 * ROUND);
		fold_round(p, 3 * ROUND);
	}
	for (; end - p >= ROUND; p += ROUND)
		fold_round(p, 0);
	fold_lanes();
	for (; p < end; p += LANE)
		fold_lane(p);
}

/* The same in pairs. What is due to the first lane has nothing above it: what writes xmm8 as due_state() and
 * due_lanes() do, by an instruction that begins with v, clears ymm8's upper half.
 */
static __always_inline void begin_wide(const void *p)
{
	asm volatile(LOAD_PAIR(0, 0) LOAD_PAIR(32, 1) LOAD_PAIR(64, 2) LOAD_PAIR(96, 3)
		     LOAD_PAIR(128, 4) LOAD_PAIR(160, 5) LOAD_PAIR(192, 6) LOAD_PAIR(224, 7)
		     JOIN_PAIR(8, 0) : : WIDE_OF(p));
}

static __always_inline void fold_wide(const void *p)
{
	asm volatile(MOVE_PAIR(0, 8) MOVE_PAIR(1, 9) MOVE_PAIR(2, 10) MOVE_PAIR(3, 11)
		     ADD_PAIR(0, 0) ADD_PAIR(32, 1) ADD_PAIR(64, 2) ADD_PAIR(96, 3)
		     MOVE_PAIR(4, 8) MOVE_PAIR(5, 9) MOVE_PAIR(6, 10) MOVE_PAIR(7, 11)
		     ADD_PAIR(128, 4) ADD_PAIR(160, 5) ADD_PAIR(192, 6) ADD_PAIR(224, 7)
		     : : WIDE_OF(p));
}

/* Eight pairs to one, that to xmm7, and nothing stays above the lower halves. */
static __always_inline void fold_pairs(void)
{
	PAIR_FACTORS(by_eight);
	asm volatile(MOVE_PAIR(0, 8) MOVE_PAIR(1, 9) MOVE_PAIR(2, 10) MOVE_PAIR(3, 11)
		     JOIN_PAIR(0, 4) JOIN_PAIR(1, 5) JOIN_PAIR(2, 6) JOIN_PAIR(3, 7) : : );
	PAIR_FACTORS(by_four);
	asm volatile(MOVE_PAIR(4, 8) MOVE_PAIR(5, 9) JOIN_PAIR(4, 6) JOIN_PAIR(5, 7) : : );
	PAIR_FACTORS(by_two);
	asm volatile(MOVE_PAIR(6, 8) JOIN_PAIR(6, 7)
		     "vextracti128 $1, " Y(7) ", " X(6) "\n\t"
		     "vzeroupper" : : );
	FACTORS(by_one);
	asm volatile(MOVE(7, 8) JOIN(6, 7) : : );
}

/* As fold_rounds(), of WIDE_MIN bytes and more. */
static __always_inline void fold_wides(const void *p, size_t len)
{
	const void *end = p + len;

	begin_wide(p);
	PAIR_FACTORS(by_sixteen);
	for (p += WIDE; end - p >= WIDE; p += WIDE)
		fold_wide(p);
	fold_pairs();
	for (; p < end; p += LANE)
		fold_lane(p);
}

static __always_inline void fold_few(const void *p, size_t len)
{
	const void *end = p + len;

	begin_lane(p);
	FACTORS(by_one);
	for (p += LANE; p < end; p += LANE)
		fold_lane(p);
}

/* Whether pairs are taken. */
static bool wide __read_mostly;

void srn_crc32_add(struct srn_crc *crc, const void *p, size_t len)
{
	size_t lanes = round_down(len, LANE);

	/* Nobody else looks at what assembly does. */
	kasan_check_read(p, len);
	if (likely(lanes)) {
		if (crc->lanes)
			due_lanes();
		else
			due_state(crc->state);
		if (lanes >= WIDE_MIN && wide)
			fold_wides(p, lanes);
		else if (lanes >= ROUND)
			fold_rounds(p, lanes);
		else
			fold_few(p, lanes);
		crc->lanes = true;
	}
	if (len > lanes)
		crc->state = crc32_le(srn_crc32_state(crc), p + lanes, len - lanes);
}
EXPORT_SYMBOL_IF_KUNIT(srn_crc32_add);

u32 srn_crc32_state(struct srn_crc *crc)
{
	if (crc->lanes)
		crc->state = reduce();
	crc->lanes = false;
	return crc->state;
}
EXPORT_SYMBOL_IF_KUNIT(srn_crc32_state);

#ifdef CONFIG_UML
/* A process with one CPU: its host keeps the registers, those of what a signal interrupts too. A
 * section is what tests make it.
 */
static bool in_section;

static bool has_registers(void)
{
	return true;
}

bool srn_crc32_fpu_begin(void)
{
	preempt_disable();
	if (!in_section) {
		in_section = true;
		return true;
	}
	preempt_enable();
	return false;
}

void srn_crc32_fpu_end(void)
{
	in_section = false;
	preempt_enable();
}
#else
static bool has_registers(void)
{
	return cpu_has_xfeatures(XFEATURE_MASK_SSE | XFEATURE_MASK_YMM, NULL);
}

bool srn_crc32_fpu_begin(void)
{
	if (!irq_fpu_usable())
		return false;
	kernel_fpu_begin();
	return true;
}

void srn_crc32_fpu_end(void)
{
	kernel_fpu_end();
}
#endif
EXPORT_SYMBOL_IF_KUNIT(srn_crc32_fpu_begin);
EXPORT_SYMBOL_IF_KUNIT(srn_crc32_fpu_end);

static bool found __read_mostly;

bool srn_crc32_find_clmul(void)
{
	found = boot_cpu_has(X86_FEATURE_PCLMULQDQ) && boot_cpu_has(X86_FEATURE_AVX) &&
		has_registers();
	return found;
}
EXPORT_SYMBOL_IF_KUNIT(srn_crc32_find_clmul);

bool srn_crc32_find_wide(void)
{
	return srn_crc32_find_clmul() && boot_cpu_has(X86_FEATURE_AVX2) &&
		boot_cpu_has(X86_FEATURE_VPCLMULQDQ);
}
EXPORT_SYMBOL_IF_KUNIT(srn_crc32_find_wide);

bool srn_crc32_use_wide(bool yes)
{
	bool before = wide;

	wide = yes;
	return before;
}
EXPORT_SYMBOL_IF_KUNIT(srn_crc32_use_wide);

bool srn_crc32_clmul(u32 *crc, const void *p, size_t len)
{
	struct srn_crc sum = { .state = *crc };

	if (!found || !srn_crc32_fpu_begin())
		return false;
	srn_crc32_add(&sum, p, len);
	*crc = srn_crc32_state(&sum);
	srn_crc32_fpu_end();
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(srn_crc32_clmul);

#else

void srn_crc32_add(struct srn_crc *crc, const void *p, size_t len)
{
	crc->state = crc32_le(crc->state, p, len);
}
EXPORT_SYMBOL_IF_KUNIT(srn_crc32_add);

u32 srn_crc32_state(struct srn_crc *crc)
{
	return crc->state;
}
EXPORT_SYMBOL_IF_KUNIT(srn_crc32_state);

bool srn_crc32_fpu_begin(void)
{
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(srn_crc32_fpu_begin);

void srn_crc32_fpu_end(void)
{
}
EXPORT_SYMBOL_IF_KUNIT(srn_crc32_fpu_end);

bool srn_crc32_find_clmul(void)
{
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(srn_crc32_find_clmul);

bool srn_crc32_find_wide(void)
{
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(srn_crc32_find_wide);

bool srn_crc32_use_wide(bool yes)
{
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(srn_crc32_use_wide);

bool srn_crc32_clmul(u32 *crc, const void *p, size_t len)
{
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(srn_crc32_clmul);

#endif
