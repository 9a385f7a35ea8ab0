// SPDX-License-Identifier: GPL-2.0-only
/* The shrinker. */
#include "shed.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/shrinker.h>

#include "ack.h"
#include "device.h"
#include "hold.h"
#include "holders.h"
#include "qp.h"
#include "stats.h"
#include "trace.h"
#include "turn.h"

static struct shrinker *shrinker;

/* Under the lock of the holders: the QP can't go. Where its turn is another's, or sleeps, it comes
 * to it when that is over; nobody waits for it here.
 */
static unsigned long ask(struct srn_holder *holder, unsigned long pages)
{
	struct srn_qp *qp = container_of(holder->hold, struct srn_qp, resp.hold);
	u32 bytes = min_t(u64, READ_ONCE(qp->resp.hold.bytes), (u64)pages << PAGE_SHIFT);

	if (!bytes || atomic_cmpxchg(&holder->asked, 0, bytes))
		return 0;
	srn_turn_defer(&qp->turn, SRN_TURN_SHED);
	return DIV_ROUND_UP(bytes, PAGE_SIZE);
}

unsigned long srn_shed_ask(unsigned long pages)
{
	unsigned long asked = srn_holders_ask(pages, ask);

	if (asked)
		srn_hold_note_scarce();
	return asked;
}
EXPORT_SYMBOL_IF_KUNIT(srn_shed_ask);

/* The peer may have been told that it is here. So it is asked for when its turn comes, unless it
 * has come again by then. What is due already is about to be executed, which gives as much back:
 * but not where the answer to a READ is open, for which it may have to wait, as long as the peer
 * likes.
 */
void srn_shed_run(struct srn_qp *qp)
{
	struct srn_hold *hold = &qp->resp.hold;
	const u32 *due = qp->resp.replay.open ? NULL : &qp->resp.msg.psn;
	u32 bytes, first, last, num;

	srn_turn_assert_owned(&qp->turn);
	if (srn_hold_is_empty(hold))
		return;
	bytes = atomic_xchg(&hold->holder->asked, 0);
	if (!bytes)
		return;
	last = srn_hold_last(hold);
	num = srn_hold_shed(qp->dev, hold, due, bytes, &first);
	if (!num)
		return;
	srn_ack_shed(qp, first, last);
	srn_count_add(qp->dev, SRN_CNT_HOLD_SHED, num);
	trace_srn_hold_shed(qp, num);
}
EXPORT_SYMBOL_IF_KUNIT(srn_shed_run);

static unsigned long count(struct shrinker *s, struct shrink_control *sc)
{
	return DIV_ROUND_UP(srn_dev_sum_held(), PAGE_SIZE);
}

/* What is asked for is most often given when this returns: to leave the lock is to run the NAPI. If
 * all were asked before, to ask again is of no use.
 */
static unsigned long scan(struct shrinker *s, struct shrink_control *sc)
{
	return srn_shed_ask(sc->nr_to_scan) ?: SHRINK_STOP;
}

int srn_shed_setup(void)
{
	shrinker = shrinker_alloc(0, "srn");
	if (!shrinker)
		return -ENOMEM;
	shrinker->count_objects = count;
	shrinker->scan_objects = scan;
	shrinker_register(shrinker);
	return 0;
}

void srn_shed_teardown(void)
{
	shrinker_free(shrinker);
}
