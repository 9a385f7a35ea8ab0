// SPDX-License-Identifier: GPL-2.0-only
/* Packs as they are made. */
#include "pack.h"

#include <kunit/visibility.h>
#include <linux/align.h>
#include <linux/minmax.h>

#include "parse.h"

/* Of a message behind the first. */
static u32 part_len(u8 opcode, u32 len)
{
	return sizeof(struct srn_pack_part) + srn_opcode_hdr_len(opcode) - sizeof(struct srn_bth) +
	       ALIGN(len, 4);
}

u32 srn_pack_size(u8 opcode, u32 len, u32 num)
{
	u32 part = part_len(opcode, len), all = SRN_PACK_BYTES / part;

	return min_t(u32, SRN_PACK_BYTES, sizeof(struct srn_bth) + min(num, all) * part +
					  sizeof(struct srn_pack_tail));
}
EXPORT_SYMBOL_IF_KUNIT(srn_pack_size);

/* Of @num messages. */
static bool has_room(const struct srn_pack *pack, u32 num, u32 bytes)
{
	return pack->num + num <= pack->most &&
	       ALIGN(pack->skb->len, 4) + bytes + sizeof(struct srn_pack_tail) <= pack->end;
}

bool srn_pack_has_room(const struct srn_pack *pack, u8 opcode, u32 len)
{
	return has_room(pack, 1, part_len(opcode, len));
}
EXPORT_SYMBOL_IF_KUNIT(srn_pack_has_room);

bool srn_pack_has_room_for(const struct srn_pack *pack, u8 opcode, u32 len, u32 next)
{
	return has_room(pack, 2, part_len(opcode, len) + part_len(opcode, next));
}
EXPORT_SYMBOL_IF_KUNIT(srn_pack_has_room_for);

u32 srn_pack_alike(const struct srn_pack *pack, u8 opcode, u32 len)
{
	u32 used = ALIGN(pack->skb->len, 4) + sizeof(struct srn_pack_tail);
	u32 more = (pack->end - min(pack->end, used)) / part_len(opcode, len);

	return min(pack->most, pack->num + more);
}
EXPORT_SYMBOL_IF_KUNIT(srn_pack_alike);

static void count(struct srn_pack *pack, u8 opcode, u32 len)
{
	u32 bytes = srn_pack_wire_len(opcode, len);

	pack->num++;
	pack->bytes += bytes;
	pack->longest = max(pack->longest, bytes);
}

void srn_pack_begin(struct srn_pack *pack, struct sk_buff *skb, u32 len, u32 size, u32 most)
{
	*pack = (struct srn_pack){ .skb = skb, .most = most, .end = size, .len = len };
	count(pack, ((const struct srn_bth *)skb->data)->opcode, len);
}
EXPORT_SYMBOL_IF_KUNIT(srn_pack_begin);

static void pad(struct sk_buff *skb)
{
	u32 rest = -skb->len & 3;

	if (rest)
		skb_put_zero(skb, rest);
}

/* With room for @follow bytes behind it. */
static void *put_part(struct srn_pack *pack, u8 opcode, u8 flags, u32 len, u32 follow)
{
	struct srn_pack_part *part;

	pad(pack->skb);
	part = skb_put(pack->skb, sizeof(*part) + follow);
	part->opcode = opcode;
	part->flags = flags;
	part->len = len;
	return part + 1;
}

void srn_pack_add(struct srn_pack *pack, u8 opcode, u8 flags, u32 len)
{
	put_part(pack, opcode, flags, len, 0);
}
EXPORT_SYMBOL_IF_KUNIT(srn_pack_add);

void *srn_pack_next(struct srn_pack *pack, u8 opcode, u8 flags, u32 len)
{
	u32 ext = srn_opcode_hdr_len(opcode) - sizeof(struct srn_bth);

	if (!srn_pack_has_room(pack, opcode, len))
		return NULL;
	return put_part(pack, opcode, flags, len, ext + len);
}

void srn_pack_added(struct srn_pack *pack, u8 opcode, u32 len)
{
	count(pack, opcode, len);
}
EXPORT_SYMBOL_IF_KUNIT(srn_pack_added);

struct sk_buff *srn_pack_end(struct srn_pack *pack, bool is_v6)
{
	struct sk_buff *skb = pack->skb;
	struct srn_pack_tail *tail;

	pack->skb = NULL;
	if (pack->num < 2)
		return skb;
	pad(skb);
	tail = skb_put(skb, sizeof(*tail));
	tail->magic = SRN_PACK_MAGIC;
	tail->num = pack->num;
	tail->flags = is_v6 ? SRN_PKT_V6 : 0;
	tail->len = pack->len;
	return skb;
}
EXPORT_SYMBOL_IF_KUNIT(srn_pack_end);
