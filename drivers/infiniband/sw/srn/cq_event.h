/* SPDX-License-Identifier: GPL-2.0-only */
/* Events of a CQ: who is told of completions, when, and on which CPU. */
#ifndef SRN_CQ_EVENT_H
#define SRN_CQ_EVENT_H

#include "cq_ring.h"

/** srn_cq_event_init() - of a new CQ: nobody is told, and nothing put off */
void srn_cq_event_init(struct srn_cq *cq);

/** srn_cq_event_stop() - the CQ's QPs have gone: nobody is called any more; may sleep */
void srn_cq_event_stop(struct srn_cq *cq);

/** srn_cq_take_armed() - srn_cq_take_arm(), of a CQ that was seen to be armed */
bool srn_cq_take_armed(struct srn_cq *cq, u32 num, bool solicited);

/**
 * srn_cq_take_arm() - whether @num completions, which are in the ring, notify now; disarms if so
 * @solicited: one of them is a solicited one, or an error
 *
 * cq->lock held; srn_cq_notify_begin() is to follow.
 */
static inline bool srn_cq_take_arm(struct srn_cq *cq, u32 num, bool solicited)
{
	/* Pairs with the barrier of who arms: store arm, full barrier, load prod. */
	smp_mb();
	if (likely(READ_ONCE(srn_cq_page_of(cq)->arm) == SRN_CQ_DISARMED))
		return false;
	return srn_cq_take_armed(cq, num, solicited);
}

/**
 * srn_cq_notify_begin() - somebody is to be told
 *
 * cq->lock held. Whether that is done here, by srn_cq_notify() without the lock; else there is nobody, or who tells
 * already tells once more, or another CPU does, the one of the CQ's vector.
 */
bool srn_cq_notify_begin(struct srn_cq *cq);

/**
 * srn_cq_notify() - calls the event handler, which srn_cq_notify_begin() left to the caller
 *
 * Any context but hard interrupts, no lock held.
 */
void srn_cq_notify(struct srn_cq *cq);

#endif
