// SPDX-License-Identifier: GPL-2.0-only
/* Who may, and who waits. */
#include "rota.h"

#include <kunit/visibility.h>
#include <linux/compiler.h>
#include <linux/export.h>

void srn_rota_init(struct srn_rota *rota)
{
	*rota = (struct srn_rota){};
	INIT_LIST_HEAD(&rota->waiting);
}
EXPORT_SYMBOL_IF_KUNIT(srn_rota_init);

/* Pairs with the acquire of who looks without the lock: what is said before is true for it. */
static void begin(struct srn_shift *shift)
{
	shift->sent = 0;
	shift->due = false;
	shift->wanted_ns = 0;
	shift->begins = true;
	smp_store_release(&shift->on, true);
}

/* Behind begin(), if it is given a place: at each moment it waits or has one. */
static void dequeue(struct srn_rota *rota, struct srn_shift *shift)
{
	list_del(&shift->node);
	smp_store_release(&shift->waits, false);
	WRITE_ONCE(rota->num_waiting, rota->num_waiting - 1);
}

static void enqueue(struct srn_rota *rota, struct srn_shift *shift)
{
	list_add_tail(&shift->node, &rota->waiting);
	WRITE_ONCE(shift->waits, true);
	WRITE_ONCE(rota->num_waiting, rota->num_waiting + 1);
}

bool srn_rota_ask(struct srn_rota *rota, struct srn_shift *shift)
{
	if (shift->on || shift->waits)
		return shift->on;
	if (rota->taken >= SRN_ROTA_PLACES) {
		enqueue(rota, shift);
		return false;
	}
	rota->taken++;
	begin(shift);
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(srn_rota_ask);

struct srn_shift *srn_rota_yield(struct srn_rota *rota, struct srn_shift *shift)
{
	struct srn_shift *next;

	if (shift->waits)
		dequeue(rota, shift);
	if (!shift->on)
		return NULL;
	shift->begins = false;
	WRITE_ONCE(shift->on, false);
	next = list_first_entry_or_null(&rota->waiting, struct srn_shift, node);
	if (!next) {
		rota->taken--;
		return NULL;
	}
	begin(next);
	dequeue(rota, next);
	return next;
}
EXPORT_SYMBOL_IF_KUNIT(srn_rota_yield);
