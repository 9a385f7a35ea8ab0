/* SPDX-License-Identifier: GPL-2.0-only */
/* CRC-32 (IEEE 802.3, bit-reflected) as fast as this CPU can. */
#ifndef SRN_CRC_H
#define SRN_CRC_H

#include <linux/types.h>

/* The candidates. The first wins where the clock is too coarse to tell. */
enum srn_crc_impl {
	SRN_CRC_FOLD,		/* crc_fold.c */
	SRN_CRC_TABLE,		/* the kernel's crc32_le() */
	SRN_CRC_CRYPTO,		/* the best "crc32" of the crypto API, SIMD on many CPUs */
	SRN_CRC_CLMUL,		/* crc_clmul.c */
	SRN_CRC_WIDE,		/* the same, by VPCLMULQDQ */
	SRN_CRC_IMPLS,
};

/**
 * srn_crc32() - feed bytes into a CRC state
 * @crc: state; ~0 at the start of a message
 * @p: bytes, any alignment
 * @len: how many
 *
 * Any context. Return: the new state, not complemented.
 */
u32 srn_crc32(u32 crc, const void *p, size_t len);

/**
 * srn_crc32_by() - same, by a candidate of the caller's choice
 * @impl: candidate; where it cannot run (short data, no such algorithm, another CPU, no FPU
 *	section to be had here) the next simpler one does
 * @crc: state
 * @p: bytes, any alignment
 * @len: how many
 *
 * For the measurement and for tests.
 */
u32 srn_crc32_by(enum srn_crc_impl impl, u32 crc, const void *p, size_t len);

/* The shortest run of bytes that crc_fold.c improves on. */
#define SRN_CRC_FOLD_MIN	128

/**
 * srn_crc32_fold() - CRC-32 by shifts and XORs alone
 * @crc: state
 * @p: bytes, any alignment
 * @len: how many, at least SRN_CRC_FOLD_MIN
 *
 * Any context. Return: the new state.
 */
u32 srn_crc32_fold(u32 crc, const void *p, size_t len);

/* The shortest run of bytes that crc_clmul.c takes. */
#define SRN_CRC_CLMUL_MIN	128

/** srn_crc32_find_clmul() - find out whether this CPU has what srn_crc32_clmul() takes; any context */
bool srn_crc32_find_clmul(void);

/**
 * srn_crc32_clmul() - CRC-32 by carry-less multiplication, in a FPU section of its own
 * @crc: state; the new one
 * @p: bytes, any alignment
 * @len: how many, at least SRN_CRC_CLMUL_MIN
 *
 * Any context. Return: false, and nothing done, on a CPU without, before srn_crc32_find_clmul(), and
 * where the FPU is another's: in a softirq that interrupted its section.
 */
bool srn_crc32_clmul(u32 *crc, const void *p, size_t len);

/** srn_crc32_find_wide() - whether it has VPCLMULQDQ, too, for srn_crc32_use_wide(); any context */
bool srn_crc32_find_wide(void);

/**
 * srn_crc32_use_wide() - have crc_clmul.c take two lanes by one instruction, or not
 * @yes: only where srn_crc32_find_wide() is true
 *
 * Any context, but nobody may be in a section. Return: what it did before.
 */
bool srn_crc32_use_wide(bool yes);

/* For crc.c and for tests: a FPU section, or false where there is none to be had. */
bool srn_crc32_fpu_begin(void);
void srn_crc32_fpu_end(void);

/**
 * struct srn_crc - of pieces, one behind the other, within a section
 *
 * One at a time: a part of it is in the CPU's registers.
 */
struct srn_crc {
	u32 state;	/* before the first piece; of all so far, unless @lanes */
	bool lanes;
};

/**
 * srn_crc32_begin() - a section in which srn_crc32_add() may be called
 * @len: bytes that are about to be fed, of all packets
 *
 * Any context; what is between here and srn_crc32_end() is not preempted, does not sleep, and uses no
 * FPU. Return: false, and no section, where another way than crc_clmul.c's was found to be faster, where
 * it can't be taken, and for so few bytes that a section would take longer than they do.
 */
bool srn_crc32_begin(size_t len);
void srn_crc32_end(void);
/** srn_crc32_has_sections() - whether one of crc_clmul.c's ways was found to be the fastest; any context */
bool srn_crc32_has_sections(void);

/** srn_crc32_add() - feed bytes, any number from any address; in a section */
void srn_crc32_add(struct srn_crc *crc, const void *p, size_t len);

/** srn_crc32_state() - the state after all that was fed, which is not complemented; in a section */
u32 srn_crc32_state(struct srn_crc *crc);

/**
 * srn_crc32_init() - measure the candidates and use the fastest from now on
 *
 * May sleep. Return: 0 or -errno.
 */
int srn_crc32_init(void);

/** srn_crc32_use() - for tests: take a candidate, whatever is the fastest. Return: the one before */
enum srn_crc_impl srn_crc32_use(enum srn_crc_impl impl);

/** srn_crc32_exit() - undoes srn_crc32_init(); nobody may be in srn_crc32() */
void srn_crc32_exit(void);

#endif
