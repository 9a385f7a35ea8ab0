// SPDX-License-Identifier: GPL-2.0-only
/* Cutting packs. A pack is only read: others may have clones of it. */
#include "pack_cut.h"

#include <kunit/visibility.h>
#include <linux/align.h>

#include "parse.h"

/* Pad and ICRC. */
#define TRAILER_MAX	(3 + SRN_ICRC_SIZE)
#define FLAGS		(SRN_PKT_SE | SRN_PKT_ACKREQ)

/* Behind the BTH of the message. */
static u32 ext_len(const struct srn_pack_msg *msg)
{
	return srn_opcode_hdr_len(msg->opcode) - sizeof(struct srn_bth);
}

/* Where the message ends, with its pad. */
static u32 end_of(const struct srn_pack_msg *msg)
{
	return msg->at + ext_len(msg) + ALIGN(msg->len, 4);
}

static bool is_sound(const struct srn_pack_cut *cut, const struct srn_pack_msg *msg)
{
	return srn_pack_may_have(msg->opcode) && msg->len <= SRN_PACK_PAYLOAD &&
	       !(msg->flags & ~FLAGS) && end_of(msg) <= cut->end;
}

static bool read_next(struct srn_pack_cut *cut)
{
	struct srn_pack_part buf;
	const struct srn_pack_part *part;
	u32 at = end_of(&cut->msg);

	if (at + sizeof(*part) > cut->end)
		return false;
	part = skb_header_pointer(cut->skb, at, sizeof(buf), &buf);
	if (!part)
		return false;
	cut->msg = (struct srn_pack_msg){
		.opcode = part->opcode, .flags = part->flags, .len = part->len,
		.at = at + sizeof(*part),
	};
	return true;
}

static void read_first(struct srn_pack_cut *cut, u32 start)
{
	const struct srn_bth *bth = &cut->bth;

	cut->first = (struct srn_pack_msg){
		.opcode = bth->opcode,
		.flags = (bth->flags & SRN_BTH_SE ? SRN_PKT_SE : 0) |
			 (be32_get_bits(bth->apsn, SRN_BTH_ACKREQ) ? SRN_PKT_ACKREQ : 0),
		.len = cut->tail.len,
		.at = start + sizeof(*bth),
	};
	cut->msg = cut->first;
}

/* All of them, and nothing else. */
static bool walk(struct srn_pack_cut *cut)
{
	u32 num = 1;

	if (!is_sound(cut, &cut->msg))
		return false;
	while (end_of(&cut->msg) != cut->end) {
		if (!read_next(cut) || !is_sound(cut, &cut->msg) || ++num > cut->tail.num)
			return false;
	}
	return num == cut->tail.num;
}

bool srn_pack_cut_begin(struct srn_pack_cut *cut, const struct sk_buff *skb, u32 start)
{
	const u32 least = start + sizeof(cut->bth) + sizeof(cut->tail);

	if (skb->len < least || skb->len - start > SRN_PACK_BYTES)
		return false;
	cut->skb = skb;
	cut->end = skb->len - sizeof(cut->tail);
	if (skb_copy_bits(skb, start, &cut->bth, sizeof(cut->bth)) ||
	    skb_copy_bits(skb, cut->end, &cut->tail, sizeof(cut->tail)))
		return false;
	if (cut->tail.magic != SRN_PACK_MAGIC || cut->tail.num < 2 ||
	    cut->tail.num > SRN_PACK_MAX || cut->tail.flags & ~SRN_PKT_V6)
		return false;
	read_first(cut, start);
	if (!walk(cut))
		return false;
	cut->msg = cut->first;
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(srn_pack_cut_begin);

bool srn_pack_cut_next(struct srn_pack_cut *cut)
{
	return read_next(cut);
}
EXPORT_SYMBOL_IF_KUNIT(srn_pack_cut_next);

static void put_bth(struct sk_buff *skb, const struct srn_pack_cut *cut, u32 psn)
{
	struct srn_bth *bth = skb_put_data(skb, &cut->bth, sizeof(*bth));

	bth->opcode = cut->msg.opcode;
	bth->flags &= ~(SRN_BTH_SE | SRN_BTH_PAD);
	if (cut->msg.flags & SRN_PKT_SE)
		bth->flags |= SRN_BTH_SE;
	if (cut->msg.flags & SRN_PKT_ACKREQ)
		psn |= SRN_BTH_ACKREQ;
	bth->apsn = cpu_to_be32(psn);
}

struct sk_buff *srn_pack_cut_packet(const struct srn_pack_cut *cut, u32 psn, u32 headroom)
{
	u32 rest = ext_len(&cut->msg) + cut->msg.len;
	struct sk_buff *skb;

	skb = alloc_skb(headroom + sizeof(struct srn_bth) + rest + TRAILER_MAX,
			GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return NULL;
	skb_reserve(skb, headroom);
	put_bth(skb, cut, psn);
	skb_copy_bits(cut->skb, cut->msg.at, skb_put(skb, rest), rest);
	return skb;
}
