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

static const bool of_qp[SRN_CNT_MAX] = {
	[SRN_CNT_SENT_PKTS]		= true,
	[SRN_CNT_SENT_BYTES]		= true,
	[SRN_CNT_RCVD_PKTS]		= true,
	[SRN_CNT_RCVD_BYTES]		= true,
	[SRN_CNT_DUP_REQUEST]		= true,
	[SRN_CNT_OUT_OF_SEQ]		= true,
	[SRN_CNT_HELD]			= true,
	[SRN_CNT_HOLD_FULL]		= true,
	[SRN_CNT_SEND_RNR]		= true,
	[SRN_CNT_RCVD_RNR]		= true,
	[SRN_CNT_SENT_NAK]		= true,
	[SRN_CNT_RCVD_SEQ_ERR]		= true,
	[SRN_CNT_RCVD_NAK]		= true,
	[SRN_CNT_IMPLIED_NAK]		= true,
	[SRN_CNT_TIMEOUT]		= true,
	[SRN_CNT_LATE]			= true,
	[SRN_CNT_PROBES]		= true,
	[SRN_CNT_RETRANS]		= true,
	[SRN_CNT_RETRY_EXCEEDED]	= true,
	[SRN_CNT_RNR_EXCEEDED]		= true,
	[SRN_CNT_BAD_RESPONSE]		= true,
	[SRN_CNT_SEND_ERR]		= true,
	[SRN_CNT_RX_OVERFLOW]		= true,
	[SRN_CNT_RX_NO_RECV]		= true,
	[SRN_CNT_UC_LOST]		= true,
	[SRN_CNT_RDMA_SENDS]		= true,
	[SRN_CNT_RDMA_RECVS]		= true,
	[SRN_CNT_CE_RCVD]		= true,
	[SRN_CNT_CNP_SENT]		= true,
	[SRN_CNT_CNP_HANDLED]		= true,
	[SRN_CNT_CNP_IGNORED]		= true,
};

bool srn_stats_of_qp(enum srn_counter c)
{
	return of_qp[c];
}
EXPORT_SYMBOL_IF_KUNIT(srn_stats_of_qp);

DEFINE_PER_CPU(struct srn_tally *, srn_tally_now);
EXPORT_SYMBOL_IF_KUNIT(srn_tally_now);

/* With softirqs on it is the tally of a turn that PREEMPT_RT interrupted; and who is handed
 * a packet while it is sent may be of another device.
 */
static noinline void count_for_qp(struct srn_dev *dev, enum srn_counter c, u64 n)
{
	const struct srn_tally *tally = this_cpu_read(srn_tally_now);

	if (!softirq_count() || tally->dev != dev || !of_qp[c])
		return;
	this_cpu_add(tally->counts->cnt[c], n);
	this_cpu_add(dev->stats->tallied.cnt[c], n);
}

void srn_count_add(struct srn_dev *dev, enum srn_counter c, u64 n)
{
	this_cpu_add(dev->stats->all.cnt[c], n);
	if (unlikely(this_cpu_read(srn_tally_now)))
		count_for_qp(dev, c, n);
}

static_assert(SRN_CNT_SENT_BYTES == SRN_CNT_SENT_PKTS + 1);
static_assert(SRN_CNT_RCVD_BYTES == SRN_CNT_RCVD_PKTS + 1);

void srn_count_packets(struct srn_dev *dev, enum srn_counter pkts, u64 num, u64 bytes)
{
	this_cpu_add(dev->stats->all.cnt[pkts], num);
	this_cpu_add(dev->stats->all.cnt[pkts + 1], bytes);
	if (likely(!this_cpu_read(srn_tally_now)))
		return;
	count_for_qp(dev, pkts, num);
	count_for_qp(dev, pkts + 1, bytes);
}

void srn_count(struct srn_dev *dev, enum srn_counter c)
{
	srn_count_add(dev, c, 1);
}
EXPORT_SYMBOL_IF_KUNIT(srn_count);

u64 srn_stats_sum_of(const u64 __percpu *cnt)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*per_cpu_ptr(cnt, cpu));
	return sum;
}

u64 srn_stats_sum(struct srn_dev *dev, enum srn_counter c)
{
	return srn_stats_sum_of(&dev->stats->all.cnt[c]);
}
EXPORT_SYMBOL_IF_KUNIT(srn_stats_sum);

struct rdma_hw_stats *srn_stats_alloc(struct ib_device *ibdev, u32 port)
{
	return rdma_alloc_hw_stats_struct(names, SRN_CNT_MAX, RDMA_HW_STATS_DEFAULT_LIFESPAN);
}
EXPORT_SYMBOL_IF_KUNIT(srn_stats_alloc);

int srn_stats_get(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port, int index)
{
	struct srn_dev *dev = to_srn_dev(ibdev);
	unsigned int c;

	if (!port || !stats)
		return -EINVAL;
	/* The core adds what counters of QPs have, as of later than this: what is shown is short by
	 * what is counted meanwhile, and hardly ever too much (by what is between the two sums of
	 * count_for_qp(), or by a turn that outlives the last QP of a counter; it does not stay).
	 */
	for (c = 0; c < SRN_CNT_MAX; c++)
		stats->value[c] = srn_stats_sum(dev, c) -
				  srn_stats_sum_of(&dev->stats->tallied.cnt[c]);
	return SRN_CNT_MAX;
}
EXPORT_SYMBOL_IF_KUNIT(srn_stats_get);
