// SPDX-License-Identifier: GPL-2.0-only
/* Counters: sums over the CPUs, and what the core shows of them. */
#include "stats.h"

#include <kunit/visibility.h>
#include <linux/netdevice.h>
#include <rdma/ib_verbs.h>

#include "device.h"

#define NAME(c, n)	[SRN_CNT_##c].name = n,

static const struct rdma_stat_desc names[] = {
	SRN_COUNTER_NAMES(NAME)
};

static_assert(ARRAY_SIZE(names) == SRN_CNT_MAX);

void srn_count(struct srn_dev *dev, enum srn_counter c)
{
	this_cpu_inc(dev->stats->cnt[c]);
}

void srn_count_add(struct srn_dev *dev, enum srn_counter c, u64 n)
{
	this_cpu_add(dev->stats->cnt[c], n);
}

u64 srn_stats_sum(struct srn_dev *dev, enum srn_counter c)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(dev->stats, cpu)->cnt[c]);
	return sum;
}
EXPORT_SYMBOL_IF_KUNIT(srn_stats_sum);

struct rdma_hw_stats *srn_stats_alloc(struct ib_device *ibdev, u32 port)
{
	return rdma_alloc_hw_stats_struct(names, SRN_CNT_MAX, RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

int srn_stats_get(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port, int index)
{
	unsigned int c;

	if (!port || !stats)
		return -EINVAL;
	for (c = 0; c < SRN_CNT_MAX; c++)
		stats->value[c] = srn_stats_sum(to_srn_dev(ibdev), c);
	return SRN_CNT_MAX;
}
