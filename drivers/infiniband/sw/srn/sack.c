// SPDX-License-Identifier: GPL-2.0-only
/* SACK packets. */
#include "sack.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/minmax.h>
#include <rdma/ib_pack.h>

#include "build.h"
#include "limits.h"
#include "opcode.h"
#include "parse.h"
#include "qp.h"
#include "stats.h"
#include "wire.h"
#include "xmit.h"

/* Bits in a word of the map, and words that are read. */
#define WORD		32u
#define WORDS_MAX	(SRN_PSNS / WORD)
/* And that are written: what has room in a head, where it takes no other memory. A packet of 1024 bytes has as many, one
 * of less has fewer: what is held behind them is not named until what is expected has moved.
 */
#define WORDS_TOLD	((u32)((SRN_BUILD_LINEAR - sizeof(struct srn_sack_fields)) / sizeof(__be32)))
static_assert(WORDS_TOLD * WORD >= SRN_HOLD_WIDE);
/* So many are read at once: beside the map of who asks (lost.c) no other is on the stack. */
#define READ_WORDS	32u

/* What a WRITE to this device names, whoever sends it, is one of its keys: none looks like a hello. */
static_assert((u64)SRN_SACK_MAGIC << 16 > ((u64)SRN_KEY_INDICES << 8 | U8_MAX));

static struct sk_buff *new_packet(struct srn_qp *qp, u8 syndrome, u32 psn, u32 len)
{
	struct sk_buff *skb = srn_build(SRN_OPCODE_SACK, SRN_BUILD_ALONE, qp->dest_qpn, psn, len);

	if (!skb) {
		srn_count(qp->dev, SRN_CNT_TX_NOMEM);
		return NULL;
	}
	srn_build_aeth(skb, syndrome, qp->resp.msg.msn);
	return skb;
}

static __be32 ahead_of(struct srn_qp *qp)
{
	u32 psns = srn_hold_ahead(qp->dev, &qp->resp.hold, qp->resp.msg.psn);

	return be32_encode_bits(psns, SRN_SACK_AHEAD_PSNS) |
	       be32_encode_bits(qp->cc != SRN_CC_OFF, SRN_SACK_AHEAD_TELLS) |
	       be32_encode_bits(true, SRN_SACK_AHEAD_PARTS);
}

static __be32 what_of(enum srn_sack_kind kind)
{
	return be32_encode_bits(SRN_SACK_MAGIC, SRN_SACK_WHAT_MAGIC) |
	       be32_encode_bits(SRN_SACK_VERSION, SRN_SACK_WHAT_VERSION) |
	       be32_encode_bits(kind, SRN_SACK_WHAT_KIND);
}

static void put_fields(struct srn_qp *qp, struct srn_sack_fields *fields, enum srn_sack_kind kind)
{
	fields->what = what_of(kind);
	fields->ahead = ahead_of(qp);
	fields->twice = cpu_to_be32(qp->resp.ack.twice);
}

bool srn_sack_hello(struct srn_qp *qp, u32 psn)
{
	struct sk_buff *skb = srn_build(IB_OPCODE_RC_RDMA_WRITE_ONLY, SRN_BUILD_ALONE,
					qp->dest_qpn, psn, 0);

	if (!skb) {
		srn_count(qp->dev, SRN_CNT_TX_NOMEM);
		return false;
	}
	srn_build_reth(skb, (u64)be32_to_cpu(ahead_of(qp)) << 32,
		       be32_to_cpu(what_of(SRN_SACK_HELLO)), 0);
	srn_xmit(&qp->path, skb, NULL);
	return true;
}

/* The syndrome is of a reserved class: to whoever takes the packet for an answer it is none. */
void srn_sack_answer(struct srn_qp *qp, u32 psn)
{
	struct sk_buff *skb = new_packet(qp, SRN_SYN_ANSWER, psn, sizeof(struct srn_sack_fields));

	if (!skb)
		return;
	put_fields(qp, srn_build_payload(skb, sizeof(struct srn_sack_fields)), SRN_SACK_ANSWER);
	srn_xmit(&qp->path, skb, NULL);
}

/* Words of the map: up to the highest PSN, as far as a packet of the path has room. */
static u32 words_of(const struct srn_qp *qp)
{
	const struct srn_hold *hold = &qp->resp.hold;
	u32 most = (qp->mtu - sizeof(struct srn_sack_fields)) / sizeof(__be32);

	if (!hold->held)
		return 0;
	return min3(DIV_ROUND_UP(srn_hold_span(hold, qp->resp.msg.psn), WORD), most, WORDS_TOLD);
}

u32 srn_sack_held(struct srn_qp *qp, u8 syndrome)
{
	u32 psn = qp->resp.msg.psn, words = words_of(qp), i;
	u32 len = sizeof(struct srn_sack_fields) + words * sizeof(__be32);
	struct sk_buff *skb = new_packet(qp, syndrome, psn, len);
	struct srn_sack_fields *fields;
	__be32 *map;

	if (!skb)
		return words;
	fields = srn_build_payload(skb, len);
	put_fields(qp, fields, SRN_SACK_HELD);
	map = (__be32 *)(fields + 1);
	for (i = 0; i < words; i++)
		map[i] = cpu_to_be32(srn_psns_word(qp->resp.hold.held,
						   srn_psn_add(psn, 1 + i * WORD)));
	srn_count(qp->dev, SRN_CNT_SENT_SACK);
	srn_xmit(&qp->path, skb, NULL);
	return words;
}

static bool is_ours(__be32 what)
{
	return be32_get_bits(what, SRN_SACK_WHAT_MAGIC) == SRN_SACK_MAGIC &&
	       be32_get_bits(what, SRN_SACK_WHAT_VERSION) == SRN_SACK_VERSION;
}

static bool read_fields(struct sk_buff *skb, struct srn_sack_fields *fields)
{
	return srn_pkt(skb)->len >= sizeof(*fields) &&
	       !skb_copy_bits(skb, srn_pkt_payload(skb), fields, sizeof(*fields)) &&
	       is_ours(fields->what);
}

unsigned int srn_sack_kind(struct sk_buff *skb)
{
	struct srn_sack_fields fields;

	return read_fields(skb, &fields) ? be32_get_bits(fields.what, SRN_SACK_WHAT_KIND) : 0;
}

static void put_word(unsigned long *bits, u32 n, u32 word)
{
	bits[BIT_WORD(n * WORD)] |= (unsigned long)word << n * WORD % BITS_PER_LONG;
}

/* What does not fill a word, or is more than a map has, is not looked at. */
bool srn_sack_read_map(struct sk_buff *skb, struct srn_sack_map *map)
{
	u32 len = srn_pkt(skb)->len - sizeof(struct srn_sack_fields), i;
	u32 from = srn_pkt_payload(skb) + sizeof(struct srn_sack_fields);
	u32 words = min(len / (u32)sizeof(__be32), WORDS_MAX);
	__be32 some[READ_WORDS];

	map->num = words * WORD;
	bitmap_zero(map->bits, map->num);
	for (i = 0; i < words; i++) {
		if (i % READ_WORDS == 0 &&
		    skb_copy_bits(skb, from + i * sizeof(*some), some,
				  min(words - i, READ_WORDS) * sizeof(*some)))
			return false;
		put_word(map->bits, i, be32_to_cpu(some[i % READ_WORDS]));
	}
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(srn_sack_read_map);

static void understand(const struct srn_sack_fields *fields, struct srn_sack *sack)
{
	sack->kind = be32_get_bits(fields->what, SRN_SACK_WHAT_KIND);
	sack->tells = be32_get_bits(fields->ahead, SRN_SACK_AHEAD_TELLS);
	sack->parts = be32_get_bits(fields->ahead, SRN_SACK_AHEAD_PARTS);
	sack->ahead = be32_get_bits(fields->ahead, SRN_SACK_AHEAD_PSNS);
	sack->twice = be32_to_cpu(fields->twice);
}

bool srn_sack_read(struct sk_buff *skb, struct srn_sack *sack)
{
	struct srn_sack_fields fields;

	if (!read_fields(skb, &fields))
		return false;
	understand(&fields, sack);
	return true;
}

bool srn_sack_read_hello(struct sk_buff *skb, struct srn_sack *sack)
{
	const struct srn_hello_fields *hello = srn_pkt_ext(skb);
	const struct srn_sack_fields fields = {
		.what = hello->what, .ahead = hello->ahead,
	};

	if (srn_pkt(skb)->len || hello->len || !is_ours(fields.what))
		return false;
	understand(&fields, sack);
	return sack->kind == SRN_SACK_HELLO;
}
