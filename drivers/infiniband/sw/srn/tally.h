/* SPDX-License-Identifier: GPL-2.0-only */
/* Counters of QPs (`rdma statistic qp`): what a QP's turn counts for the device, the tally
 * of the counter that the QP is bound to counts, too. One counter may have many QPs.
 *
 * Which tally it is, is known by the CPU (stats.h) and not by whoever counts: so nobody below the
 * turn needs to know whose packet or route it has in hand.
 */
#ifndef SRN_TALLY_H
#define SRN_TALLY_H

/* QPs of one counter: the core tells of them all in one message, or not at all. */
#define SRN_TALLY_QPS	128

struct ib_qp;
struct rdma_counter;
struct rdma_hw_stats;

/* ib_device_ops.counter_*: process context, may sleep, the counter's lock held but for the
 * first and the last.
 */
struct rdma_hw_stats *srn_tally_alloc_stats(struct rdma_counter *counter);
int srn_tally_bind(struct rdma_counter *counter, struct ib_qp *ibqp);
int srn_tally_unbind(struct ib_qp *ibqp);
int srn_tally_update(struct rdma_counter *counter);
int srn_tally_dealloc(struct rdma_counter *counter);

#endif
