// SPDX-License-Identifier: GPL-2.0-only
/* Runs at the QP that they are for: what is next is taken as one, all else as the packets it is. */
#include "../psn.h"
#include "../stats.h"
#include "fake_receiver.h"

#include <net/inet_ecn.h>

static const struct shape write = {
	"", IB_OPCODE_RC_RDMA_WRITE_FIRST, IB_OPCODE_RC_RDMA_WRITE_LAST, 5, 1024, 7, SRN_PKT_ACKREQ,
};

static struct receiver new_receiver(struct kunit *test)
{
	return new_receiver_of(test, write.each, payload_len(&write));
}

/* The WRITE as it arrives, whole, with these bits of ECN. */
static struct sk_buff *new_run(struct kunit *test, const struct receiver *r, u8 ecn)
{
	struct sk_buff *skb = send(test, r->path, &write, NULL);

	ip_hdr(skb)->tos |= ecn;
	return come(test, skb);
}

static void receive_with(struct kunit *test, const struct receiver *r, u8 ecn)
{
	receive_skb(test, r, new_run(test, r, ecn));
}

static void receive(struct kunit *test, const struct receiver *r)
{
	receive_with(test, r, INET_ECN_NOT_ECT);
}

/* With a router's mark, at a QP that tells its peer of it. */
static void receive_marked(struct kunit *test, const struct receiver *r)
{
	r->qp->cc = SRN_CC_DCQCN;
	receive_with(test, r, INET_ECN_CE);
}

static void expect_memory(struct kunit *test, const struct srn_mem *mem)
{
	u32 i, wrong = 0;
	u64 here;

	for (i = 0; i < payload_len(&write); i++)
		wrong += *(u8 *)srn_mem_span(mem, VA + i, &here) != byte_at(i);
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

static u64 count(const struct srn_qp *qp, enum srn_counter counter)
{
	return srn_stats_sum(qp->dev, counter);
}

/* What is next is executed as one, and acknowledged once; a second time it is that many
 * duplicates.
 */
static void srn_run_next_test(struct kunit *test)
{
	struct receiver r;

	migrate_disable();
	r = new_receiver(test);
	receive(test, &r);
	KUNIT_EXPECT_EQ(test, r.qp->resp.msg.psn, srn_psn_add(PSN, write.num));
	KUNIT_EXPECT_EQ(test, r.qp->resp.msg.msn, 1);
	KUNIT_EXPECT_EQ(test, r.qp->resp.ack.done_psn, srn_psn_add(PSN, write.num - 1));
	KUNIT_EXPECT_EQ(test, count(r.qp, SRN_CNT_SENT_ACK), 1);
	KUNIT_EXPECT_EQ(test, count(r.qp, SRN_CNT_RCVD_RUNS), 1);
	KUNIT_EXPECT_EQ(test, count(r.qp, SRN_CNT_SPLIT_RUNS), 0);
	KUNIT_EXPECT_EQ(test, count(r.qp, SRN_CNT_RCVD_PKTS), write.num);
	KUNIT_EXPECT_EQ(test, count(r.qp, SRN_CNT_RCVD_BYTES),
			srn_stats_sum(r.path->dev, SRN_CNT_SENT_BYTES));
	expect_memory(test, r.mem);
	receive(test, &r);
	migrate_enable();
	KUNIT_EXPECT_EQ(test, r.qp->resp.msg.psn, srn_psn_add(PSN, write.num));
	KUNIT_EXPECT_EQ(test, count(r.qp, SRN_CNT_SPLIT_RUNS), 1);
	KUNIT_EXPECT_EQ(test, count(r.qp, SRN_CNT_DUP_REQUEST), write.num);
	KUNIT_EXPECT_EQ(test, count(r.qp, SRN_CNT_SENT_ACK), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&r.qp->rxq_bytes), 0);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&r.qp->dev->rxq_bytes), 0);
}

/* What comes early is held as packets, and executed when what is missing is here. */
static void srn_run_early_test(struct kunit *test)
{
	struct receiver r;

	migrate_disable();
	r = new_receiver(test);
	r.qp->resp.msg.psn = srn_psn_add(PSN, -1);
	receive(test, &r);
	KUNIT_EXPECT_EQ(test, count(r.qp, SRN_CNT_HELD), write.num);
	KUNIT_EXPECT_EQ(test, count(r.qp, SRN_CNT_SENT_NAK), 1);
	receive_missing(test, &r);
	migrate_enable();
	KUNIT_EXPECT_EQ(test, r.qp->resp.msg.psn, srn_psn_add(PSN, write.num));
	KUNIT_EXPECT_EQ(test, r.qp->resp.msg.msn, 2);
	/* All of them in one go. */
	KUNIT_EXPECT_EQ(test, count(r.qp, SRN_CNT_SENT_ACK), 1);
	expect_memory(test, r.mem);
	srn_hold_purge(r.qp->dev, &r.qp->resp.hold);
}

#ifdef CONFIG_FAILSLAB
/* When it is split there is no memory for the first of its packets. */
static void receive_poorly(struct kunit *test, const struct receiver *r)
{
	struct sk_buff *skb = new_run(test, r, INET_ECN_NOT_ECT);
	unsigned int unmet;

	local_bh_disable();
	current->fail_nth = 1;
	srn_round_rx(r->qp, skb);
	unmet = current->fail_nth;
	current->fail_nth = 0;
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, unmet, 0);
	KUNIT_EXPECT_TRUE(test, wait_idle(r->qp));
}

/* That one is lost and counted, the others are held, and it comes again. */
static void srn_run_without_memory_test(struct kunit *test)
{
	struct receiver r;

	migrate_disable();
	r = new_receiver(test);
	r.qp->resp.msg.psn = srn_psn_add(PSN, -1);
	receive_poorly(test, &r);
	KUNIT_EXPECT_EQ(test, count(r.qp, SRN_CNT_RX_NOMEM), 1);
	KUNIT_EXPECT_EQ(test, count(r.qp, SRN_CNT_HELD), write.num - 1);
	receive_missing(test, &r);
	KUNIT_EXPECT_EQ(test, r.qp->resp.msg.psn, PSN);
	receive(test, &r);
	migrate_enable();
	KUNIT_EXPECT_EQ(test, count(r.qp, SRN_CNT_RX_NOMEM), 1);
	KUNIT_EXPECT_EQ(test, r.qp->resp.msg.psn, srn_psn_add(PSN, write.num));
	KUNIT_EXPECT_EQ(test, r.qp->resp.msg.msn, 2);
	expect_memory(test, r.mem);
	KUNIT_EXPECT_EQ(test, atomic_read(&r.qp->rxq_bytes), 0);
	srn_hold_purge(r.qp->dev, &r.qp->resp.hold);
}
#endif

/* A mark is that of each packet: of what is taken as one, told once, */
static void srn_run_marked_test(struct kunit *test)
{
	struct receiver r;

	migrate_disable();
	r = new_receiver(test);
	receive_marked(test, &r);
	migrate_enable();
	KUNIT_EXPECT_EQ(test, r.qp->resp.msg.psn, srn_psn_add(PSN, write.num));
	KUNIT_EXPECT_EQ(test, count(r.qp, SRN_CNT_SPLIT_RUNS), 0);
	KUNIT_EXPECT_EQ(test, count(r.qp, SRN_CNT_CE_RCVD), write.num);
	KUNIT_EXPECT_EQ(test, count(r.qp, SRN_CNT_CNP_SENT), 1);
}

/* and of what is split; not again when the packets that were held have their turn. */
static void srn_run_marked_early_test(struct kunit *test)
{
	struct receiver r;

	migrate_disable();
	r = new_receiver(test);
	r.qp->resp.msg.psn = srn_psn_add(PSN, -1);
	r.qp->cnp_next_ns = U64_MAX;	/* how many are told of is a matter of time */
	receive_marked(test, &r);
	KUNIT_EXPECT_EQ(test, count(r.qp, SRN_CNT_SPLIT_RUNS), 1);
	KUNIT_EXPECT_EQ(test, count(r.qp, SRN_CNT_HELD), write.num);
	KUNIT_EXPECT_EQ(test, count(r.qp, SRN_CNT_CE_RCVD), write.num);
	receive_missing(test, &r);
	migrate_enable();
	KUNIT_EXPECT_EQ(test, r.qp->resp.msg.psn, srn_psn_add(PSN, write.num));
	KUNIT_EXPECT_EQ(test, count(r.qp, SRN_CNT_CE_RCVD), write.num);
	srn_hold_purge(r.qp->dev, &r.qp->resp.hold);
}

/* One whose packets are not of the path MTU is refused as those would be. */
static void srn_run_of_other_length_test(struct kunit *test)
{
	struct receiver r;

	migrate_disable();
	r = new_receiver(test);
	r.qp->mtu = 2048;
	receive(test, &r);
	migrate_enable();
	KUNIT_EXPECT_EQ(test, r.qp->state, IB_QPS_ERR);
	KUNIT_EXPECT_EQ(test, count(r.qp, SRN_CNT_SENT_NAK), 1);
	KUNIT_EXPECT_EQ(test, r.qp->resp.msg.psn, PSN);
	srn_rxq_purge(r.qp);
}
static struct kunit_case srn_run_taken_cases[] = {
	KUNIT_CASE(srn_run_next_test),
	KUNIT_CASE(srn_run_early_test),
#ifdef CONFIG_FAILSLAB
	KUNIT_CASE(srn_run_without_memory_test),
#endif
	KUNIT_CASE(srn_run_marked_test),
	KUNIT_CASE(srn_run_marked_early_test),
	KUNIT_CASE(srn_run_of_other_length_test),
	{}
};

static struct kunit_suite srn_run_taken_suite = {
	.name = "srn_run_taken",
	.test_cases = srn_run_taken_cases,
};
kunit_test_suite(srn_run_taken_suite);
