// SPDX-License-Identifier: GPL-2.0-only
/* Counters of QPs. The core adds what they count to what the device says that it counted
 * itself, and goes on doing so when they have gone: so each thing is counted here and, as
 * counted here, at the device, which takes it off again (stats.c).
 */
#include "tally.h"

#include <kunit/visibility.h>
#include <linux/gfp.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_counter.h>

#include "device.h"
#include "qp.h"
#include "stats.h"

/* With a number of its own, by which the core and programs know it. */
static struct srn_tally *new_tally(struct srn_dev *dev, u32 *id)
{
	struct srn_tally *tally = kzalloc(sizeof(*tally), GFP_KERNEL_ACCOUNT);
	int err;

	if (!tally)
		return ERR_PTR(-ENOMEM);
	tally->dev = dev;
	tally->counts = alloc_percpu_gfp(struct srn_counts, GFP_KERNEL_ACCOUNT);
	if (!tally->counts) {
		err = -ENOMEM;
		goto err_free;
	}
	err = xa_alloc(&dev->tallies, id, tally, xa_limit_31b, GFP_KERNEL);
	if (err)
		goto err_free_counts;
	return tally;

err_free_counts:
	free_percpu(tally->counts);
err_free:
	kfree(tally);
	return ERR_PTR(err);
}

static void free_tally(struct srn_tally *tally)
{
	free_percpu(tally->counts);
	kfree(tally);
}

struct rdma_hw_stats *srn_tally_alloc_stats(struct rdma_counter *counter)
{
	/* All of the device's, as the core goes by the place; only some are shown. */
	struct rdma_hw_stats *stats = srn_stats_alloc(counter->device, counter->port);
	unsigned int c;

	if (!stats)
		return NULL;
	for (c = 0; c < SRN_CNT_MAX; c++)
		if (!srn_stats_of_qp(c))
			__set_bit(c, stats->is_disabled);
	return stats;
}
EXPORT_SYMBOL_IF_KUNIT(srn_tally_alloc_stats);

int srn_tally_bind(struct rdma_counter *counter, struct ib_qp *ibqp)
{
	struct srn_dev *dev = to_srn_dev(ibqp->device);
	bool is_new = !counter->id;
	struct srn_tally *tally;

	lockdep_assert_held(&counter->lock);
	tally = is_new ? new_tally(dev, &counter->id) : xa_load(&dev->tallies, counter->id);
	if (IS_ERR(tally))
		return PTR_ERR(tally);
	if (tally->num_qps >= SRN_TALLY_QPS)
		return -ENOSPC;
	/* The core has looked, but under the lock of this counter only. */
	if (cmpxchg(&ibqp->counter, NULL, counter)) {
		if (is_new) {
			free_tally(xa_erase(&dev->tallies, counter->id));
			counter->id = 0;
		}
		return -EBUSY;
	}
	tally->num_qps++;
	tally->settled = false;
	rcu_assign_pointer(to_srn_qp(ibqp)->tally, tally);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_tally_bind);

/* The QP's turn may be running, here or on another CPU, and count for a while yet: srn_tally_dealloc()
 * waits for that. Not here: the counter's lock is held, for which all who read counters wait.
 */
int srn_tally_unbind(struct ib_qp *ibqp)
{
	struct srn_qp *qp = to_srn_qp(ibqp);
	struct srn_tally *tally = rcu_replace_pointer(qp->tally, NULL, true);

	if (!tally)
		return -EINVAL;
	WRITE_ONCE(ibqp->counter, NULL);
	tally->num_qps--;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_tally_unbind);

int srn_tally_update(struct rdma_counter *counter)
{
	struct srn_tally *tally = xa_load(&to_srn_dev(counter->device)->tallies, counter->id);
	unsigned int c;

	if (!tally)
		return -ENOENT;
	if (tally->settled)
		return 0;
	for (c = 0; c < SRN_CNT_MAX; c++)
		if (srn_stats_of_qp(c))
			counter->stats->value[c] = srn_stats_sum_of(&tally->counts->cnt[c]);
	tally->settled = !tally->num_qps;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_tally_update);

/* What came after the core had read the counter for the last time is the device's alone. */
static void give_back(const struct srn_tally *tally, const struct rdma_hw_stats *stats)
{
	unsigned int c;

	for (c = 0; c < SRN_CNT_MAX; c++)
		if (srn_stats_of_qp(c))
			this_cpu_sub(tally->dev->stats->tallied.cnt[c],
				     srn_stats_sum_of(&tally->counts->cnt[c]) - stats->value[c]);
}

/* Not every 6.12 has made sure that nobody reads it: who does has the lock. */
int srn_tally_dealloc(struct rdma_counter *counter)
{
	struct srn_tally *tally;

	mutex_lock(&counter->lock);
	tally = xa_erase(&to_srn_dev(counter->device)->tallies, counter->id);
	mutex_unlock(&counter->lock);
	if (!tally)
		return 0;
	synchronize_rcu();
	give_back(tally, counter->stats);
	free_tally(tally);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_tally_dealloc);
