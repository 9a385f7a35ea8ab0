/* SPDX-License-Identifier: GPL-2.0-only */
/* Who holds requests that came early (hold.h), of all devices: one by one they can be asked to let
 * go of some.
 */
#ifndef SRN_HOLDERS_H
#define SRN_HOLDERS_H

#include <linux/atomic.h>
#include <linux/list.h>

struct srn_hold;

/* There while something is held: in a QP, which has nothing most of the time, it would take room. */
struct srn_holder {
	struct list_head node;	/* under the lock of all of them */
	struct srn_hold *hold;
	atomic_t asked;	/* bytes to be let go of; who asks sets it, the owner of the turn takes it */
};

/**
 * srn_holders_add() - @hold has something from now on, or is about to
 *
 * Any context but interrupts. Return: its own, or NULL without memory.
 */
struct srn_holder *srn_holders_add(struct srn_hold *hold);

/** srn_holders_del() - it has nothing any more, and when this returns nobody asks it; likewise */
void srn_holders_del(struct srn_holder *holder);

/**
 * srn_holders_ask() - ask for @pages, those first that have held something for longest
 * @ask: returns how many pages it asked one for, no more than it is told; 0: it was asked before
 *	and has not come to it. BH disabled, under a lock that no holder can go away in.
 *
 * Who was asked stands behind the others then. None is looked at twice, nor are more than @pages.
 * Any context but interrupts. Return: how many pages were asked for.
 */
unsigned long srn_holders_ask(unsigned long pages,
			      unsigned long (*ask)(struct srn_holder *holder,
						   unsigned long pages));

#endif
