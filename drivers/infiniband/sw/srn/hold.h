/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests that came before their turn: copied, in the order of their PSNs, until what is
 * missing in front of them is here. Nothing is looked at but the PSN, and nothing is done for
 * them: they are checked and executed in their turn, as if they came then. Owner of the turn
 * only.
 */
#ifndef SRN_HOLD_H
#define SRN_HOLD_H

#include <linux/rbtree.h>
#include <linux/types.h>

#include "psns.h"

struct sk_buff;
struct srn_dev;
struct srn_holder;

struct srn_hold {
	struct rb_root tree;
	struct rb_node *last;	/* the highest PSN, where most of what comes early belongs */
	struct srn_holder *holder;	/* while something is held, or was taken to be executed */
	u16 num;
	u16 mtu;		/* the path's, bytes: it is wide; or 0 */
	u32 bytes;		/* truesize; up to SRN_HOLD_BYTES and one packet, or, if it is wide,
				 * SRN_HOLD_WIDE_EACH, and more while all of the device have less than
				 * SRN_HOLD_WIDE_BYTES
				 */
	struct srn_psns *held;	/* if it is wide: PSNs of what is held, while something is */
};

/* What became of an early request. */
enum srn_held {
	SRN_HELD_NOT,		/* no room, no memory, or too far ahead: it has to come again */
	SRN_HELD_NEW,
	SRN_HELD_AGAIN,		/* one with its PSN is held already, and stays */
};

/**
 * srn_hold_add() - keep a copy of a request
 * @skb: as the parser left it; the caller's
 * @expected: the PSN that is missing; that of @skb is ahead of it
 *
 * A copy, since its pages may be the sender's own, or a driver's, who needs them back.
 * BH disabled.
 */
enum srn_held srn_hold_add(struct srn_dev *dev, struct srn_hold *hold, struct sk_buff *skb,
			   u32 expected);

/**
 * srn_hold_widen() - of a peer with a path MTU of @mtu bytes that can be told what is held, of what
 * is held already, too; 0: it can't, and nothing is held
 */
void srn_hold_widen(struct srn_dev *dev, struct srn_hold *hold, u32 mtu);

/**
 * srn_hold_take_room() - @bytes of memory, that something is known of what a peer holds, are
 * charged to the device as what is held is; false: there is no room
 */
bool srn_hold_take_room(struct srn_dev *dev, u32 bytes);

/** srn_hold_give_back() - and not any more */
void srn_hold_give_back(struct srn_dev *dev, u32 bytes);

/**
 * srn_hold_note_scarce() - the host is short of memory; any context
 *
 * For a second no QP of any device begins to hold more than SRN_HOLD_SCARCE_BYTES: what was let go of
 * is not to be taken again at once.
 */
void srn_hold_note_scarce(void);

/** srn_hold_span() - PSNs up to the highest that is held, behind @expected; 0: nothing is held */
u32 srn_hold_span(const struct srn_hold *hold, u32 expected);

/**
 * srn_hold_ahead() - so many PSNs, from @expected on, would be kept now
 *
 * SRN_HOLD_WIDE, or where there is not memory for as many SRN_HOLD_WIDE_EACH_PSNS; where it is full, up to the highest
 * that is held.
 */
u32 srn_hold_ahead(const struct srn_dev *dev, const struct srn_hold *hold, u32 expected);

/** srn_hold_is_empty() - whether nothing is held */
static inline bool srn_hold_is_empty(const struct srn_hold *hold)
{
	return RB_EMPTY_ROOT(&hold->tree);
}

/** srn_hold_is_single() - whether one request is held */
bool srn_hold_is_single(const struct srn_hold *hold);

/** srn_hold_has_passed() - whether one is held that is behind @expected: srn_hold_drop_behind() is not done */
bool srn_hold_has_passed(const struct srn_hold *hold, u32 expected);

/** srn_hold_is_due() - whether what is held first has the PSN @expected, or one behind that */
bool srn_hold_is_due(const struct srn_hold *hold, u32 expected);

/**
 * srn_hold_drop_behind() - what a copy that came later was executed for, or its PSN used up
 * @budget: how many may be dropped, decremented: one READ may use up the PSNs of thousands
 *
 * Until all of it is gone nothing is to be held, and the peer not to be told what is: PSNs that are behind stand for
 * others that are ahead. Return: false if some are left.
 */
bool srn_hold_drop_behind(struct srn_dev *dev, struct srn_hold *hold, u32 expected, int *budget);

/**
 * srn_hold_take() - the request with the PSN @expected, which is the caller's then
 *
 * Nothing behind it is held. If it was the last one, srn_hold_put_back() or srn_hold_drop_behind() is to follow in
 * the same round. Return: NULL if it is not held.
 */
struct sk_buff *srn_hold_take(struct srn_dev *dev, struct srn_hold *hold, u32 expected);

/**
 * srn_hold_put_back() - what srn_hold_take() gave cannot be executed yet; behind that, and nothing else
 *
 * Takes no memory: the peer, which may have been told that it is here, would not send it again by itself.
 */
void srn_hold_put_back(struct srn_dev *dev, struct srn_hold *hold, struct sk_buff *skb);

/** srn_hold_last() - the PSN of the request that is farthest ahead; something is held */
u32 srn_hold_last(const struct srn_hold *hold);

/**
 * srn_hold_shed() - let go of @bytes or somewhat more, or of all that can be: of what is farthest
 * ahead first
 * @expected: what is held from this PSN on without a gap is due, and stays; or NULL: nothing stays
 * @first: the PSN that is nearest of those let go of; set if there are any
 *
 * What is nearest is executed first, when what is missing has come. Return: how many packets.
 */
u32 srn_hold_shed(struct srn_dev *dev, struct srn_hold *hold, const u32 *expected, u32 bytes,
		  u32 *first);

/** srn_hold_drop() - at most @budget of all, which is decremented; false if some are left */
bool srn_hold_drop(struct srn_dev *dev, struct srn_hold *hold, int *budget);

/** srn_hold_purge() - hold nothing, however much that is; it is not wide any more. Process context, or few */
void srn_hold_purge(struct srn_dev *dev, struct srn_hold *hold);

#endif
