/* SPDX-License-Identifier: GPL-2.0-only */
/* Counters by cause: per CPU, bumped where the decision falls, shown as
 * hw_counters (sysfs, `rdma statistic`).
 */
#ifndef SRN_STATS_H
#define SRN_STATS_H

#include <linux/percpu.h>
#include <linux/types.h>

enum srn_counter {
	SRN_CNT_SENT_PKTS,		/* packets handed to the IP stack, */
	SRN_CNT_SENT_BYTES,		/* and their UDP payload */
	SRN_CNT_SENT_TRAINS,		/* skbs that carried several of them */
	SRN_CNT_SENT_RUNS,		/* of these, uncut messages (run.h) */
	SRN_CNT_SENT_BARE,		/* of these, without payload, which is placed (straight.h) */
	SRN_CNT_RCVD_PKTS,		/* packets that reached a QP, */
	SRN_CNT_RCVD_BYTES,		/* likewise */
	SRN_CNT_RCVD_RUNS,		/* several of these at once, uncut (run.h) */
	SRN_CNT_SPLIT_RUNS,		/* and cut here, since one of them was not what was expected */
	SRN_CNT_RCVD_CONVOYS,		/* several packets that a NAPI received together, taken as one */
	SRN_CNT_SPLIT_CONVOYS,		/* taken one by one: one was not what was expected, or there was no room */
	SRN_CNT_DUP_REQUEST,		/* request with a PSN behind the expected one */
	SRN_CNT_PARTS_FULL,		/* READ or atomic to be answered again; too many were */
	SRN_CNT_OUT_OF_SEQ,		/* request with a PSN ahead: a gap */
	SRN_CNT_HELD,			/* and it was kept */
	SRN_CNT_HOLD_FULL,		/* and it was not, for want of room or memory */
	SRN_CNT_HOLD_SHED,		/* kept, and let go of: the host was short of memory */
	SRN_CNT_SEND_RNR,		/* RNR NAKs sent */
	SRN_CNT_RCVD_RNR,		/* RNR NAKs received */
	SRN_CNT_SENT_NAK,		/* other NAKs sent */
	SRN_CNT_RCVD_SEQ_ERR,		/* NAK sequence error received */
	SRN_CNT_RCVD_NAK,		/* fatal NAKs received */
	SRN_CNT_IMPLIED_NAK,		/* READ or atomic response missing */
	SRN_CNT_EARLY,			/* and later ones taken before it */
	SRN_CNT_STALE_ANSWERS,		/* READ answers lost since their region went before they came */
	SRN_CNT_UNPLACED,		/* READ answers without payload whose bytes are not in their place */
	SRN_CNT_SENT_ACK,
	SRN_CNT_ACK_DEFERRED,		/* ACKs merged into a later one */
	SRN_CNT_TIMEOUT,		/* local ACK timeouts */
	SRN_CNT_LATE,			/* answers so late that the window was halved */
	SRN_CNT_PROBES,			/* packets sent again before a timeout, to hear something */
	SRN_CNT_RETRANS,		/* request packets sent again */
	SRN_CNT_SENT_SACK,		/* SACKs, in place of NAKs of gaps */
	SRN_CNT_RCVD_SACK,
	SRN_CNT_SACK_RETRANS,		/* of the packets sent again, those that SACKs showed to be lost */
	SRN_CNT_VAIN,			/* and of those, what the peer had seen */
	SRN_CNT_LIMITED,		/* requests begun without a credit of the peer's */
	SRN_CNT_SHIFT_WAITS,		/* times that a QP waited for a place among those that have data out */
	SRN_CNT_SHIFT_STALLS,		/* places given up: the peer was silent, or others waited too long */
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
	SRN_CNT_RX_BAD_STATE,		/* the QP does not receive in its state, or not any more */
	SRN_CNT_RX_BAD_ADDR,		/* source or destination is not the QP's */
	SRN_CNT_RX_BAD_PKEY,
	SRN_CNT_RX_BAD_QKEY,
	SRN_CNT_RX_UD_LENGTH,		/* UD message larger than the MTU or the buffer */
	SRN_CNT_RX_NO_RECV,		/* UC or UD message without a receive WQE */
	SRN_CNT_UC_LOST,		/* UC messages given up for a missing packet */
	SRN_CNT_UC_REFUSED,		/* UC messages dropped for their length or rights */
	SRN_CNT_CQ_OVERRUN,
	SRN_CNT_DOORBELLS,		/* system calls */
	SRN_CNT_GATHERINGS,		/* posts of a program that streams were left to be more */
	SRN_CNT_POLLED,			/* doorbells that a poller spared a program */
	SRN_CNT_POLLER_SLEEPS,
	SRN_CNT_PACED,			/* what a QP has to send was left for its rate */
	SRN_CNT_LINK_DOWNED,
	SRN_CNT_RDMA_SENDS,		/* SENDs posted and transmitted */
	SRN_CNT_RDMA_RECVS,		/* messages received into receive WQEs */
	SRN_CNT_CNP_HANDLED,		/* and the QP slows down, or measures what it sends */
	SRN_CNT_CNP_IGNORED,		/* by a QP that no CNP slows down */
	SRN_CNT_CE_RCVD,		/* packets that reached a QP with a mark */
	SRN_CNT_CNP_SENT,
	SRN_CNT_MAX,
};

/* Where mlx5 counts the same thing, the name is its name, which tools know
 * (Prometheus' node_exporter for one); else that of rxe, where it does.
 */
#define SRN_COUNTER_NAMES(X)	\
	X(SENT_PKTS, "sent_pkts") \
	X(SENT_TRAINS, "sent_trains") \
	X(SENT_RUNS, "sent_runs") \
	X(SENT_BARE, "sent_bare_runs") \
	X(SENT_BYTES, "sent_bytes") \
	X(RCVD_PKTS, "rcvd_pkts") \
	X(RCVD_BYTES, "rcvd_bytes") \
	X(RCVD_RUNS, "rcvd_runs") \
	X(SPLIT_RUNS, "split_runs") \
	X(RCVD_CONVOYS, "rcvd_convoys") \
	X(SPLIT_CONVOYS, "split_convoys") \
	X(DUP_REQUEST, "duplicate_request") \
	X(PARTS_FULL, "duplicate_read_full") \
	X(OUT_OF_SEQ, "out_of_sequence") \
	X(HELD, "rcvd_held") \
	X(HOLD_FULL, "rcvd_hold_full") \
	X(HOLD_SHED, "rcvd_hold_shed") \
	X(SEND_RNR, "send_rnr_err") \
	X(RCVD_RNR, "rnr_nak_retry_err") \
	X(SENT_NAK, "sent_nak") \
	X(RCVD_SEQ_ERR, "packet_seq_err") \
	X(RCVD_NAK, "rcvd_nak") \
	X(IMPLIED_NAK, "implied_nak_seq_err") \
	X(EARLY, "rcvd_early_responses") \
	X(STALE_ANSWERS, "stale_answers") \
	X(UNPLACED, "unplaced_answers") \
	X(SENT_ACK, "sent_ack") \
	X(ACK_DEFERRED, "ack_deferred") \
	X(TIMEOUT, "local_ack_timeout_err") \
	X(LATE, "late_answers") \
	X(PROBES, "sent_probes") \
	X(RETRANS, "retransmitted_pkts") \
	X(SENT_SACK, "sent_sack") \
	X(RCVD_SACK, "rcvd_sack") \
	X(SACK_RETRANS, "sack_retrans") \
	X(VAIN, "sack_retrans_spurious") \
	X(LIMITED, "sent_without_credit") \
	X(SHIFT_WAITS, "shift_waits") \
	X(SHIFT_STALLS, "shift_stalls") \
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
	X(GATHERINGS, "gatherings") \
	X(POLLED, "polled") \
	X(POLLER_SLEEPS, "poller_sleeps") \
	X(PACED, "paced") \
	X(LINK_DOWNED, "link_downed") \
	X(RDMA_SENDS, "rdma_sends") \
	X(RDMA_RECVS, "rdma_recvs") \
	X(CNP_HANDLED, "rp_cnp_handled") \
	X(CNP_IGNORED, "rp_cnp_ignored") \
	X(CE_RCVD, "np_ecn_marked_roce_packets") \
	X(CNP_SENT, "np_cnp_sent")

struct srn_counts {
	u64 cnt[SRN_CNT_MAX];
};

struct srn_stats {
	struct srn_counts all;
	struct srn_counts tallied;	/* of these, what counters of QPs have, too (tally.h) */
};

struct srn_dev;
struct ib_device;
struct rdma_hw_stats;

/* A counter of queue pairs; tally.c makes and binds it. */
struct srn_tally {
	struct srn_dev *dev;
	struct srn_counts __percpu *counts;
	u32 num_qps;			/* bound to it; under the counter's lock, as is: */
	bool settled;			/* no QP is left, and the core has what it counted */
};

/* What else counts what is counted on this CPU now; NULL: nothing does. BH disabled. */
DECLARE_PER_CPU(struct srn_tally *, srn_tally_now);

/**
 * srn_tally_swap() - from here on this CPU counts for @tally, too
 *
 * BH disabled, and so until what this returns, what it counted for before, is put back: some netdevs
 * hand a packet to its receiver while it is sent, so that one QP runs within the turn of another.
 */
static inline struct srn_tally *srn_tally_swap(struct srn_tally *tally)
{
	struct srn_tally *was = __this_cpu_read(srn_tally_now);

	__this_cpu_write(srn_tally_now, tally);
	return was;
}

/* Any context. Lost increments of a racing interrupt are not tolerated: this_cpu ops. */
void srn_count(struct srn_dev *dev, enum srn_counter c);
void srn_count_add(struct srn_dev *dev, enum srn_counter c, u64 n);

/** srn_count_packets() - @num more at SRN_CNT_SENT_PKTS or RCVD_PKTS, with @bytes at what follows that; any context */
void srn_count_packets(struct srn_dev *dev, enum srn_counter pkts, u64 num, u64 bytes);

/** srn_stats_sum_of() - a value over all CPUs, which may count on meanwhile */
u64 srn_stats_sum_of(const u64 __percpu *cnt);

/** srn_stats_sum() - one counter over all CPUs */
u64 srn_stats_sum(struct srn_dev *dev, enum srn_counter c);

/** srn_stats_of_qp() - whether counters of QPs have it, too: all of them is more than a message takes */
bool srn_stats_of_qp(enum srn_counter c);

struct rdma_hw_stats *srn_stats_alloc(struct ib_device *ibdev, u32 port);
int srn_stats_get(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port, int index);

#endif
