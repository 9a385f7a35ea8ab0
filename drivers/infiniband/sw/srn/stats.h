/* SPDX-License-Identifier: GPL-2.0-only */
/* Counters by cause: per CPU, bumped where the decision falls, shown as
 * hw_counters (sysfs, `rdma statistic`).
 */
#ifndef SRN_STATS_H
#define SRN_STATS_H

#include <linux/percpu.h>
#include <linux/types.h>

enum srn_counter {
	SRN_CNT_SENT_PKTS,		/* packets handed to the IP stack */
	SRN_CNT_SENT_TRAINS,		/* skbs that carried several of them */
	SRN_CNT_SENT_RUNS,		/* of these, uncut messages (run.h) */
	SRN_CNT_SENT_BYTES,		/* UDP payload of the packets */
	SRN_CNT_RCVD_PKTS,		/* packets that reached a QP */
	SRN_CNT_RCVD_BYTES,
	SRN_CNT_RCVD_RUNS,		/* several of these at once, uncut (run.h) */
	SRN_CNT_SPLIT_RUNS,		/* and cut here, since one of them was not what was expected */
	SRN_CNT_DUP_REQUEST,		/* request with a PSN behind the expected one */
	SRN_CNT_OUT_OF_SEQ,		/* request with a PSN ahead: a gap */
	SRN_CNT_HELD,			/* and it was kept */
	SRN_CNT_HOLD_FULL,		/* and it was not, for want of room or memory */
	SRN_CNT_SEND_RNR,		/* RNR NAKs sent */
	SRN_CNT_RCVD_RNR,		/* RNR NAKs received */
	SRN_CNT_SENT_NAK,		/* other NAKs sent */
	SRN_CNT_RCVD_SEQ_ERR,		/* NAK sequence error received */
	SRN_CNT_RCVD_NAK,		/* fatal NAKs received */
	SRN_CNT_IMPLIED_NAK,		/* READ or atomic response missing */
	SRN_CNT_EARLY,			/* and later ones taken before it */
	SRN_CNT_SENT_ACK,
	SRN_CNT_ACK_DEFERRED,		/* ACKs merged into a later one */
	SRN_CNT_TIMEOUT,		/* local ACK timeouts */
	SRN_CNT_LATE,			/* answers so late that the window was halved */
	SRN_CNT_PROBES,			/* packets sent again before a timeout, to hear something */
	SRN_CNT_RETRANS,		/* request packets sent again */
	SRN_CNT_RETRY_EXCEEDED,		/* WRs failed for it */
	SRN_CNT_RNR_EXCEEDED,
	SRN_CNT_BAD_RESPONSE,		/* response that no request of ours asked for */
	SRN_CNT_SEND_ERR,		/* the stack refused a packet (qdisc, netfilter) */
	SRN_CNT_NO_ROUTE,
	SRN_CNT_TX_NOMEM,
	SRN_CNT_RX_NOMEM,
	SRN_CNT_RX_OVERFLOW,		/* QP's packet queue full */
	SRN_CNT_RX_DEV_FULL,		/* the queues of all QPs together are full */
	SRN_CNT_RX_SHORT,		/* malformed, by cause (enum srn_parse_result) */
	SRN_CNT_RX_LENGTH,
	SRN_CNT_RX_TVER,
	SRN_CNT_RX_OPCODE,
	SRN_CNT_RX_PAD,
	SRN_CNT_RX_ICRC,
	SRN_CNT_RX_NO_QP,		/* no such QP, or its type does not take the opcode */
	SRN_CNT_RX_BAD_STATE,		/* the QP does not receive in its state */
	SRN_CNT_RX_BAD_ADDR,		/* source or destination is not the QP's */
	SRN_CNT_RX_BAD_PKEY,
	SRN_CNT_RX_BAD_QKEY,
	SRN_CNT_RX_UD_LENGTH,		/* UD message larger than the MTU or the buffer */
	SRN_CNT_RX_NO_RECV,		/* UC or UD message without a receive WQE */
	SRN_CNT_UC_LOST,		/* UC messages given up for a missing packet */
	SRN_CNT_UC_REFUSED,		/* UC messages dropped for their length or rights */
	SRN_CNT_CQ_OVERRUN,
	SRN_CNT_DOORBELLS,		/* system calls */
	SRN_CNT_LINK_DOWNED,
	SRN_CNT_RDMA_SENDS,		/* SENDs posted and transmitted */
	SRN_CNT_RDMA_RECVS,		/* messages received into receive WQEs */
	SRN_CNT_CNP_RCVD,
	SRN_CNT_MAX,
};

/* Where mlx5 counts the same thing, the name is its name, which tools know
 * (Prometheus' node_exporter for one); else that of rxe, where it does.
 */
#define SRN_COUNTER_NAMES(X)	\
	X(SENT_PKTS, "sent_pkts") \
	X(SENT_TRAINS, "sent_trains") \
	X(SENT_RUNS, "sent_runs") \
	X(SENT_BYTES, "sent_bytes") \
	X(RCVD_PKTS, "rcvd_pkts") \
	X(RCVD_BYTES, "rcvd_bytes") \
	X(RCVD_RUNS, "rcvd_runs") \
	X(SPLIT_RUNS, "split_runs") \
	X(DUP_REQUEST, "duplicate_request") \
	X(OUT_OF_SEQ, "out_of_sequence") \
	X(HELD, "rcvd_held") \
	X(HOLD_FULL, "rcvd_hold_full") \
	X(SEND_RNR, "send_rnr_err") \
	X(RCVD_RNR, "rnr_nak_retry_err") \
	X(SENT_NAK, "sent_nak") \
	X(RCVD_SEQ_ERR, "packet_seq_err") \
	X(RCVD_NAK, "rcvd_nak") \
	X(IMPLIED_NAK, "implied_nak_seq_err") \
	X(EARLY, "rcvd_early_responses") \
	X(SENT_ACK, "sent_ack") \
	X(ACK_DEFERRED, "ack_deferred") \
	X(TIMEOUT, "local_ack_timeout_err") \
	X(LATE, "late_answers") \
	X(PROBES, "sent_probes") \
	X(RETRANS, "retransmitted_pkts") \
	X(RETRY_EXCEEDED, "retry_exceeded_err") \
	X(RNR_EXCEEDED, "retry_rnr_exceeded_err") \
	X(BAD_RESPONSE, "rcvd_bad_response") \
	X(SEND_ERR, "send_err") \
	X(NO_ROUTE, "send_no_route") \
	X(TX_NOMEM, "send_no_memory") \
	X(RX_NOMEM, "rcvd_no_memory") \
	X(RX_OVERFLOW, "rcvd_queue_full") \
	X(RX_DEV_FULL, "rcvd_device_full") \
	X(RX_SHORT, "rcvd_too_short") \
	X(RX_LENGTH, "rcvd_bad_length") \
	X(RX_TVER, "rcvd_bad_version") \
	X(RX_OPCODE, "rcvd_bad_opcode") \
	X(RX_PAD, "rcvd_bad_pad") \
	X(RX_ICRC, "rx_icrc_encapsulated") \
	X(RX_NO_QP, "rcvd_no_qp") \
	X(RX_BAD_STATE, "rcvd_bad_qp_state") \
	X(RX_BAD_ADDR, "rcvd_bad_address") \
	X(RX_BAD_PKEY, "rcvd_bad_pkey") \
	X(RX_BAD_QKEY, "rcvd_bad_qkey") \
	X(RX_UD_LENGTH, "rcvd_ud_too_long") \
	X(RX_NO_RECV, "rcvd_no_recv_wqe") \
	X(UC_LOST, "uc_messages_lost") \
	X(UC_REFUSED, "uc_messages_refused") \
	X(CQ_OVERRUN, "cq_overruns") \
	X(DOORBELLS, "doorbells") \
	X(LINK_DOWNED, "link_downed") \
	X(RDMA_SENDS, "rdma_sends") \
	X(RDMA_RECVS, "rdma_recvs") \
	X(CNP_RCVD, "rp_cnp_ignored")

struct srn_stats {
	u64 cnt[SRN_CNT_MAX];
};

struct srn_dev;
struct ib_device;
struct rdma_hw_stats;

/* Any context. Lost increments of a racing interrupt are not tolerated: this_cpu ops. */
void srn_count(struct srn_dev *dev, enum srn_counter c);
void srn_count_add(struct srn_dev *dev, enum srn_counter c, u64 n);

/** srn_stats_sum() - one counter over all CPUs */
u64 srn_stats_sum(struct srn_dev *dev, enum srn_counter c);

struct rdma_hw_stats *srn_stats_alloc(struct ib_device *ibdev, u32 port);
int srn_stats_get(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port, int index);

#endif
