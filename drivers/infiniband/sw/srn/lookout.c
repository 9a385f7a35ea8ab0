// SPDX-License-Identifier: GPL-2.0-only
/* What a poller looks at: each QP that its program's doorbell reaches. */
#include "lookout.h"

#include <linux/err.h>
#include <linux/sched/signal.h>
#include <linux/xarray.h>

#include "bell.h"
#include "doorbell.h"
#include "poller.h"
#include "round.h"
#include "ucontext.h"

static enum srn_heard forget(struct srn_qp *qp)
{
	srn_bell_forget(qp);
	return SRN_HEARD_BUSY;
}

/* Who has the turn of a QP in error is not waited for: other QPs have posts, too. Returns whether there
 * was anything that could be served.
 */
static bool serve_post(struct srn_doorbell *db, unsigned long index)
{
	enum srn_heard heard = srn_doorbell_ring_to_end(db, index, srn_round_poll);

	if (unlikely(heard == SRN_HEARD_BUSY))
		srn_doorbell_ring(db, index, forget);
	return heard != SRN_HEARD_NO_POST && heard != SRN_HEARD_BUSY;
}

/* Each QP of the context, in turn; what is posted to one while another is served is found by the next
 * look.
 */
static bool serve_posts(void *arg)
{
	struct srn_doorbell *db = arg;
	struct srn_qp_ref *ref;
	unsigned long index;
	bool found = false;

	xa_for_each(&db->links, index, ref) {
		found |= serve_post(db, index);
		/* Of a program that is stopped or frozen it is the threads that are waited for. */
		if (signal_pending(current))
			break;
		cond_resched_tasks_rcu_qs();
	}
	return found;
}

static enum srn_heard look_at(struct srn_qp *qp)
{
	return srn_bell_is_due(qp) ? SRN_HEARD : SRN_HEARD_NO_POST;
}

static bool find_posts(void *arg)
{
	struct srn_doorbell *db = arg;
	struct srn_qp_ref *ref;
	unsigned long index;

	xa_for_each(&db->links, index, ref) {
		if (srn_doorbell_ring(db, index, look_at) == SRN_HEARD || signal_pending(current))
			return true;
		/* Not a sleep, whatever the state: there may be many. */
		cond_resched();
	}
	return false;
}

static void count_sleep(void *arg)
{
	srn_doorbell_count(arg, SRN_CNT_POLLER_SLEEPS);
}

static void release_poller(void *arg)
{
	srn_doorbell_put(arg);
}

static const struct srn_poller_ops poller_ops = {
	.serve = serve_posts,
	.posted = find_posts,
	.sleeps = count_sleep,
	.release = release_poller,
};

int srn_lookout_start(struct srn_ucontext *uc)
{
	struct srn_poller *poller;

	srn_doorbell_get(uc->db);
	poller = srn_poller_start(&uc->ibuc, &poller_ops, uc->db);
	if (IS_ERR(poller)) {
		srn_doorbell_put(uc->db);
		return PTR_ERR(poller);
	}
	uc->poller = poller;
	srn_doorbell_set_poller(uc->db, poller);
	return 0;
}

void srn_lookout_stop(struct srn_ucontext *uc)
{
	if (!uc->poller)
		return;
	srn_doorbell_set_poller(uc->db, NULL);
	srn_poller_stop(uc->poller);
	uc->poller = NULL;
}
