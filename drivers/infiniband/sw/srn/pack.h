/* SPDX-License-Identifier: GPL-2.0-only */
/* Packs: small messages of one QP that follow each other cross the stack as one skb, as a run does
 * (run.h), whose packets are of one message. Each is whole: its packet's headers and payload, padded,
 * one behind the other. Packets and ICRCs are made where something can't take it.
 *
 * It begins as the packet of the first message would, so that one to which no other came is that
 * packet. The others have, in place of a BTH, what of it is not that of all. What is behind the last
 * message says that it is a pack.
 */
#ifndef SRN_PACK_H
#define SRN_PACK_H

#include <linux/skbuff.h>
#include <linux/types.h>

#include "opcode.h"
#include "wire.h"

#define SRN_PACK_MAGIC		0x53724e50	/* no proof of anything */
/* From the first BTH to the end: linear, cut from a page with the headers in front. */
#define SRN_PACK_BYTES		2048
#define SRN_PACK_MAX		64	/* messages */
#define SRN_PACK_PAYLOAD	512	/* of a message: what is longer is referenced, or a run */

/* Never on a wire, hence as the CPU has it. */
struct srn_pack_part {
	u8 opcode;
	u8 flags;		/* SRN_PKT_SE, SRN_PKT_ACKREQ */
	u16 len;		/* of the payload, without pad */
};

static_assert(sizeof(struct srn_pack_part) == 4);

struct srn_pack_tail {
	u32 magic;
	u8 num;			/* messages, two at least */
	u8 flags;		/* SRN_PKT_V6 */
	u16 len;		/* of the first one's payload */
};

static_assert(sizeof(struct srn_pack_tail) == 8);

/* A pack that is being made. Owner of the turn only; none between rounds. */
struct srn_pack {
	struct sk_buff *skb;	/* NULL: none */
	u32 num;		/* messages */
	u32 most;		/* it may have */
	u32 end;		/* bytes that it may have */
	u32 bytes;		/* from BTH to ICRC, of all packets, on a wire */
	u32 longest;		/* packet of these */
	u16 len;		/* of the first one's payload */
};

/** srn_pack_may_have() - whether packets of an opcode may be in packs: of RC, messages in themselves */
static inline bool srn_pack_may_have(u8 opcode)
{
	return srn_opcode_svc(opcode) == SRN_SVC_RC && srn_opcodes[opcode].is_stream &&
	       srn_opcodes[opcode].pos == SRN_POS_ONLY;
}

/** srn_pack_wire_len() - from BTH to ICRC, of the packet with @len bytes of payload */
static inline u32 srn_pack_wire_len(u8 opcode, u32 len)
{
	return srn_opcode_hdr_len(opcode) + ALIGN(len, 4) + SRN_ICRC_SIZE;
}

/** srn_pack_size() - bytes of a pack of @num messages like this one, or as many as there may be */
u32 srn_pack_size(u8 opcode, u32 len, u32 num);

/** srn_pack_has_room() - whether one more message fits */
bool srn_pack_has_room(const struct srn_pack *pack, u8 opcode, u32 len);

/** srn_pack_has_room_for() - whether one more fits, and one of @next bytes of payload behind it */
bool srn_pack_has_room_for(const struct srn_pack *pack, u8 opcode, u32 len, u32 next);

/** srn_pack_alike() - how many messages it will have if all that follow are like this one; at least as many as it has */
u32 srn_pack_alike(const struct srn_pack *pack, u8 opcode, u32 len);

/**
 * srn_pack_begin() - a pack of one message
 * @skb: its packet, as it would go by itself, from srn_build() with room for @size bytes
 * @most: messages that it may have; 2 to SRN_PACK_MAX
 */
void srn_pack_begin(struct srn_pack *pack, struct sk_buff *skb, u32 len, u32 size, u32 most);

/**
 * srn_pack_add() - one more, for which there is room; its extension headers and payload follow
 *
 * Who can't add these takes it back by trimming the skb to what it was.
 */
void srn_pack_add(struct srn_pack *pack, u8 opcode, u8 flags, u32 len);

/**
 * srn_pack_next() - the same with the bytes that follow, if there is room
 *
 * Return: where the extension headers are to be written, and the payload behind them; or NULL.
 */
void *srn_pack_next(struct srn_pack *pack, u8 opcode, u8 flags, u32 len);

/** srn_pack_added() - they are there */
void srn_pack_added(struct srn_pack *pack, u8 opcode, u32 len);

/** srn_pack_end() - nothing follows: the skb, a pack if it has more than one message */
struct sk_buff *srn_pack_end(struct srn_pack *pack, bool is_v6);

#endif
