// SPDX-License-Identifier: GPL-2.0-only
/* One list for all devices: what is short is the memory of the host. */
#include "holders.h"

#include <linux/slab.h>
#include <linux/spinlock.h>

/* First is who has held something for longest and was not asked. */
static LIST_HEAD(holders);
/* On the way of the data only where a QP begins to hold something, and where it ends. */
static DEFINE_SPINLOCK(lock);

struct srn_holder *srn_holders_add(struct srn_hold *hold)
{
	struct srn_holder *holder = kzalloc(sizeof(*holder), GFP_ATOMIC | __GFP_NOWARN);

	if (!holder)
		return NULL;
	holder->hold = hold;
	spin_lock_bh(&lock);
	list_add_tail(&holder->node, &holders);
	spin_unlock_bh(&lock);
	return holder;
}

void srn_holders_del(struct srn_holder *holder)
{
	spin_lock_bh(&lock);
	list_del(&holder->node);
	spin_unlock_bh(&lock);
	kfree(holder);
}

unsigned long srn_holders_ask(unsigned long pages,
			      unsigned long (*ask)(struct srn_holder *holder, unsigned long pages))
{
	struct srn_holder *holder, *first = NULL;
	unsigned long asked = 0, looks = pages;

	spin_lock_bh(&lock);
	while (asked < pages && looks--) {
		holder = list_first_entry_or_null(&holders, struct srn_holder, node);
		if (!holder || holder == first)
			break;
		first = first ?: holder;
		list_move_tail(&holder->node, &holders);
		asked += ask(holder, pages - asked);
	}
	spin_unlock_bh(&lock);
	return asked;
}
