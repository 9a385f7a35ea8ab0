/* SPDX-License-Identifier: GPL-2.0-only */
/* Responder resources: READs being answered, and what atomics returned, kept so
 * that a duplicate is answered again and never executed again. Slots and arithmetic,
 * which know nothing of the QP; answer.c sends. Owner of the turn only.
 */
#ifndef SRN_REPLAY_H
#define SRN_REPLAY_H

#include <linux/types.h>

#include "parse.h"
#include "psn.h"

/* One READ, atomic or atomic write that was accepted. */
struct srn_replay_slot {
	u8 op;			/* enum srn_op; SRN_OP_NONE: free */
	bool todo;		/* (rest of) the answer is to be sent */
	bool again;		/* the answer has left, and was asked for a second time */
	u32 first_psn;
	u32 last_psn;
	u32 msn;		/* as it was after the request; in each AETH of the answer */
	struct srn_range range;	/* READ: what was asked for */
	/* The (possibly partial) answer under way */
	u32 start_psn;		/* FIRST or ONLY */
	u32 answer_len;		/* bytes from there on */
	u32 psn;		/* next response packet */
	/* atomics */
	u64 orig;
};

/* A requester of this kind asks for so many gaps at once, or somewhat fewer (gaps.c). Where a gap is of several
 * requests there may be more: those that find no room are asked for again.
 */
#define SRN_REPLAY_PARTS	128

/* A part of an answer that was asked for again: of a READ, or an atomic's. */
struct srn_replay_part {
	u32 start_psn;
	u32 psn;		/* next response packet */
	u32 len;		/* bytes from start_psn on */
	u32 rkey;		/* of a READ; 0, which is no key: an atomic's */
};

/* Written by replay.c only. */
struct srn_replay {
	struct srn_replay_slot *slots;
	u32 num;		/* max_dest_rd_atomic */
	u32 head;		/* slot to use next, the oldest: below num */
	u32 open;		/* slots that are todo, and parts */
	struct srn_replay_part *parts;	/* of SRN_REPLAY_PARTS; NULL: none was asked for yet */
	u32 first_part;		/* the oldest, below SRN_REPLAY_PARTS */
	u32 num_parts;
};

/* One packet of the answer to a READ. */
struct srn_read_packet {
	u8 opcode;
	bool aeth;		/* FIRST, LAST and ONLY carry one */
	bool last;
	u64 va;
	u32 len;
	u32 left;		/* bytes of the answer from this packet on */
};

/* Arithmetic, without side effects. */

/** srn_replay_npsn() - PSNs that a READ of @len bytes uses up */
u32 srn_replay_npsn(u32 len, u32 mtu);
/** srn_replay_find() - the newest slot whose PSNs include @psn, or NULL */
struct srn_replay_slot *srn_replay_find(const struct srn_replay *replay, u32 psn);
/** srn_replay_after() - the oldest slot whose PSNs all come after @psn, or NULL */
const struct srn_replay_slot *srn_replay_after(const struct srn_replay *replay, u32 psn);
/**
 * srn_replay_reads() - whether a READ of @rkey is yet to be answered
 *
 * A peer may have it asked for each packet that it sends: one look at each slot and each part.
 */
bool srn_replay_reads(const struct srn_replay *replay, u32 rkey);
/**
 * srn_replay_part() - whether a READ request is a part, or all, of one that @slot holds
 * @psn: its PSN, which the slot includes
 *
 * A repeated READ may ask for less, but only for bytes that its PSNs stood for the
 * first time.
 */
bool srn_replay_part(const struct srn_replay_slot *slot, u32 mtu, u32 psn,
		     const struct srn_range *range);
/** srn_replay_packet() - the packet of the answer that goes next */
void srn_replay_packet(const struct srn_replay_slot *slot, u32 mtu, struct srn_read_packet *pkt);

/** srn_replay_resize() - for @num requests, keeping the newest of those held; may sleep */
int srn_replay_resize(struct srn_replay *replay, u32 num);
/** srn_replay_clear() - hold nothing; the slots remain */
void srn_replay_clear(struct srn_replay *replay);
/** srn_replay_abandon() - nothing more is to be answered */
void srn_replay_abandon(struct srn_replay *replay);

/**
 * srn_replay_has_room() - whether one more request may be accepted
 *
 * A slot that is only being answered again gives way: the peer would not ask for
 * more if it had not got the first answer after all.
 */
static inline bool srn_replay_has_room(const struct srn_replay *replay)
{
	const struct srn_replay_slot *slot = &replay->slots[replay->head];

	return replay->num && (!slot->todo || slot->again);
}

/* Accept a request (there is room); its answer is to be sent. */

/** srn_replay_add_read() - a READ that takes @npsn PSNs from @psn on */
void srn_replay_add_read(struct srn_replay *replay, u32 psn, u32 npsn, u32 msn,
			 const struct srn_range *range);
/** srn_replay_add_atomic() - @op was executed and found @orig */
void srn_replay_add_atomic(struct srn_replay *replay, u8 op, u32 psn, u32 msn, u64 orig);

/** srn_replay_again() - the answer, of a READ the part of @len bytes from @psn on, is to be sent again */
void srn_replay_again(struct srn_replay *replay, struct srn_replay_slot *slot, u32 psn, u32 len);
/**
 * srn_replay_next() - the next request with something to be sent, or NULL
 * @age: cursor from the oldest request to the newest; 0 to begin with
 */
struct srn_replay_slot *srn_replay_next(const struct srn_replay *replay, u32 *age);
/** srn_replay_advance() - @num packets from slot->psn on, of a READ's answer, were built */
static inline void srn_replay_advance(struct srn_replay_slot *slot, u32 num)
{
	slot->psn = srn_psn_add(slot->psn, num);
}

/** srn_replay_done() - nothing more of @slot is to be sent */
void srn_replay_done(struct srn_replay *replay, struct srn_replay_slot *slot);

/* Parts, for a peer that is told so: each is answered, in the order in which they were asked for. */

/**
 * srn_replay_add_part() - @len bytes of the answer of @slot, from @psn on, are to be sent again
 *
 * What its first answer has yet to come to is not sent twice for it, nor what is to be sent again
 * anyway.
 *
 * BH disabled. Return: false if there is no room, and it is forgotten: the peer asks again.
 */
bool srn_replay_add_part(struct srn_replay *replay, const struct srn_replay_slot *slot, u32 psn,
			 u32 len, u32 mtu);
/**
 * srn_replay_first_part() - the part that goes next, as a slot of its own; there is one
 *
 * Return: false if its slot has been taken for another request since, and the part is gone.
 */
bool srn_replay_first_part(struct srn_replay *replay, struct srn_replay_slot *as);
/** srn_replay_part_sent() - what was given by that went as far as @as says */
void srn_replay_part_sent(struct srn_replay *replay, const struct srn_replay_slot *as);

#endif
