// SPDX-License-Identifier: GPL-2.0-only
/* Counters: names in the order of enum srn_counter, whose comments say what
 * each means. Where rxe counts the same thing, the name is the same.
 */
#include "stats.h"

#include <kunit/visibility.h>
#include <linux/netdevice.h>
#include <rdma/ib_verbs.h>

#include "device.h"

static const struct rdma_stat_desc names[] = {
	[SRN_CNT_SENT_PKTS].name	= "sent_pkts",
	[SRN_CNT_SENT_TRAINS].name	= "sent_trains",
	[SRN_CNT_SENT_BYTES].name	= "sent_bytes",
	[SRN_CNT_RCVD_PKTS].name	= "rcvd_pkts",
	[SRN_CNT_RCVD_BYTES].name	= "rcvd_bytes",
	[SRN_CNT_DUP_REQUEST].name	= "duplicate_request",
	[SRN_CNT_OUT_OF_SEQ].name	= "out_of_seq_request",
	[SRN_CNT_SEND_RNR].name		= "send_rnr_err",
	[SRN_CNT_RCVD_RNR].name		= "rcvd_rnr_err",
	[SRN_CNT_SENT_NAK].name		= "sent_nak",
	[SRN_CNT_RCVD_SEQ_ERR].name	= "rcvd_seq_err",
	[SRN_CNT_RCVD_NAK].name		= "rcvd_nak",
	[SRN_CNT_IMPLIED_NAK].name	= "implied_nak",
	[SRN_CNT_SENT_ACK].name		= "sent_ack",
	[SRN_CNT_ACK_DEFERRED].name	= "ack_deferred",
	[SRN_CNT_TIMEOUT].name		= "completer_retry_err",
	[SRN_CNT_RETRANS].name		= "retransmitted_pkts",
	[SRN_CNT_RETRY_EXCEEDED].name	= "retry_exceeded_err",
	[SRN_CNT_RNR_EXCEEDED].name	= "retry_rnr_exceeded_err",
	[SRN_CNT_BAD_RESPONSE].name	= "rcvd_bad_response",
	[SRN_CNT_SEND_ERR].name		= "send_err",
	[SRN_CNT_NO_ROUTE].name		= "send_no_route",
	[SRN_CNT_TX_NOMEM].name		= "send_no_memory",
	[SRN_CNT_RX_NOMEM].name		= "rcvd_no_memory",
	[SRN_CNT_RX_OVERFLOW].name	= "rcvd_queue_full",
	[SRN_CNT_RX_SHORT].name		= "rcvd_too_short",
	[SRN_CNT_RX_LENGTH].name	= "rcvd_bad_length",
	[SRN_CNT_RX_TVER].name		= "rcvd_bad_version",
	[SRN_CNT_RX_OPCODE].name	= "rcvd_bad_opcode",
	[SRN_CNT_RX_PAD].name		= "rcvd_bad_pad",
	[SRN_CNT_RX_ICRC].name		= "rcvd_bad_icrc",
	[SRN_CNT_RX_NO_QP].name		= "rcvd_no_qp",
	[SRN_CNT_RX_BAD_STATE].name	= "rcvd_bad_qp_state",
	[SRN_CNT_RX_BAD_ADDR].name	= "rcvd_bad_address",
	[SRN_CNT_RX_BAD_PKEY].name	= "rcvd_bad_pkey",
	[SRN_CNT_RX_BAD_QKEY].name	= "rcvd_bad_qkey",
	[SRN_CNT_RX_UD_LENGTH].name	= "rcvd_ud_too_long",
	[SRN_CNT_RX_NO_RECV].name	= "rcvd_no_recv_wqe",
	[SRN_CNT_UC_LOST].name		= "uc_messages_lost",
	[SRN_CNT_UC_REFUSED].name	= "uc_messages_refused",
	[SRN_CNT_CQ_OVERRUN].name	= "cq_overruns",
	[SRN_CNT_DOORBELLS].name	= "doorbells",
	[SRN_CNT_LINK_DOWNED].name	= "link_downed",
	[SRN_CNT_RDMA_SENDS].name	= "rdma_sends",
	[SRN_CNT_RDMA_RECVS].name	= "rdma_recvs",
	[SRN_CNT_CNP_RCVD].name		= "rcvd_cnp",
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
