// SPDX-License-Identifier: GPL-2.0-only
/* The masked headers are their own key: a state is taken for one only if each bit is the same that counts.
 * So whoever sends what nobody has sent before, on this host or from elsewhere, costs a look.
 */
#include "front.h"

#include <kunit/visibility.h>
#include <linux/bitops.h>
#include <linux/cache.h>
#include <linux/export.h>
#include <linux/hash.h>
#include <linux/percpu.h>
#include <linux/preempt.h>

#include "crc.h"

/* State after ~0 was fed the eight 0xff bytes that stand for the LRH. */
#define CRC_AFTER_LRH	0xdebb20e3u

/* Packets and answers of a hundred queue pairs that take turns: 14 KiB for each CPU that may be. */
#define KNOWN_BITS	8

/* One for which nothing is kept yet is all zeros, which no header is. */
struct known {
	struct srn_front front;
	u32 crc;
};

struct table {
	struct known known[1 << KNOWN_BITS];
};

/* BH disabled, which with PREEMPT_RT takes a lock of the CPU's, and no interrupt comes here. Not a static one:
 * modules share few bytes for those.
 */
static struct table __percpu *tables __read_mostly;

static u32 sum(const struct srn_front *front, bool is_v6)
{
	return srn_crc32(CRC_AFTER_LRH, front->words, is_v6 ? SRN_FRONT_V6 : SRN_FRONT_V4);
}

/* The version is among the bits, and so is the length of IPv4's header, which is 5 (parse.c, run_cut.c), where
 * IPv6 has ones: one of them is none of the other, whatever is behind it.
 */
static bool is_same(const struct srn_front *a, const struct srn_front *b, bool is_v6)
{
	u64 other = (a->words[0] ^ b->words[0]) | (a->words[1] ^ b->words[1]) |
		    (a->words[2] ^ b->words[2]) | (a->words[3] ^ b->words[3]);

	if (is_v6)
		other |= (a->words[4] ^ b->words[4]) | (a->words[5] ^ b->words[5]);
	return !other;
}

/* Lengths, ports and addresses differ. Of a packet and its answer each address is the other's: one of them
 * is turned, lest these two take one place.
 */
static struct known *place_of(const struct srn_front *front, bool is_v6)
{
	u64 mixed = front->words[0] ^ front->words[1] ^ front->words[2] ^ rol64(front->words[3], 7);

	if (is_v6)
		mixed ^= rol64(front->words[4], 7) ^ front->words[5];
	return &this_cpu_ptr(tables)->known[hash_64(mixed, KNOWN_BITS)];
}

static u32 look_up(const struct srn_front *front, bool is_v6)
{
	struct known *known = place_of(front, is_v6);

	if (unlikely(!is_same(&known->front, front, is_v6))) {
		known->crc = sum(front, is_v6);
		known->front = *front;
	}
	return known->crc;
}

u32 srn_front_crc(const void *ip, const void *udp, bool is_v6)
{
	struct srn_front front __uninitialized;

	srn_front_mask(&front, ip, udp, is_v6);
	return likely(tables && in_softirq()) ? look_up(&front, is_v6) : sum(&front, is_v6);
}
EXPORT_SYMBOL_IF_KUNIT(srn_front_crc);

int srn_front_init(void)
{
	tables = alloc_percpu(struct table);
	return tables ? 0 : -ENOMEM;
}

void srn_front_exit(void)
{
	free_percpu(tables);
	tables = NULL;
}
