// SPDX-License-Identifier: GPL-2.0-only
/* What a NAPI coupled, where one packet of it is wrong: all before it is executed, and the NAK is for it. */
#include "../round.h"
#include "fake_target.h"

#include <net/inet_ecn.h>

static const struct shape middle = {
	"", IB_OPCODE_RC_RDMA_WRITE_MIDDLE, IB_OPCODE_RC_RDMA_WRITE_LAST, 5, 1024, 1000, SRN_PKT_ACKREQ,
};

static const struct shape told = {
	"", IB_OPCODE_RC_RDMA_WRITE_FIRST, IB_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE, 5, 1024, 1000,
	SRN_PKT_ACKREQ,
};

static const struct shape sent = {
	"", IB_OPCODE_RC_SEND_FIRST, IB_OPCODE_RC_SEND_LAST, 5, 1024, 1000, SRN_PKT_ACKREQ,
};

/* What has room for @num packets of @s, and half of another. */
static struct shape part_of(const struct shape *s, u32 num)
{
	struct shape part = *s;

	part.num = num + 1;
	part.tail = s->each / 2;
	return part;
}

static struct target new_each(struct kunit *test, const struct shape *s)
{
	struct target t = new_target(test, s);

	give_receives(test, t.r.qp, 4);
	srn_mw_owner_init(&t.r.qp->windows, &t.r.qp->who);
	return t;
}

/* A WRITE, of @len bytes to VA, of which nothing has come yet but its start. */
static void begin_write(const struct target *t, u32 len)
{
	t->r.qp->resp.msg = (struct srn_message){
		.op = SRN_OP_WRITE, .psn = PSN, .range = { .va = VA, .rkey = rkey, .len = len },
	};
}

static void fill(const struct target *t, struct srn_recv_wqe *slot, u32 len, u32 num_sge)
{
	struct ib_sge sge = { .addr = VA, .length = len, .lkey = t->r.mem->key };
	struct ib_recv_wr wr = { .wr_id = 7, .sg_list = &sge, .num_sge = 1 };

	srn_rwqe_store(&wr, 1, slot);
	slot->num_sge = num_sge;
}

static void post(const struct target *t, u32 len, u32 num_sge)
{
	struct srn_rq *rq = &t->r.qp->rq;

	fill(t, rq->slots + rq->tail * rq->stride, len, num_sge);
	rq->tail++;
}

/* Receives are those of a SRQ, in which a malformed WQE is followed by a good one. */
static void share(struct kunit *test, const struct target *t)
{
	struct srn_srq *srq = kunit_kzalloc(test, sizeof(*srq), GFP_KERNEL);
	struct srn_qp *qp = t->r.qp;

	KUNIT_ASSERT_NOT_NULL(test, srq);
	srq->max_sge = 1;
	srq->stride = srn_recv_stride(1);
	srq->entries = 2;
	srq->mem.addr = kunit_kzalloc(test, SRN_QUEUE_OFFSET + 2 * srq->stride, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, srq->mem.addr);
	srq->page = srq->mem.addr;
	srq->who = qp->who;
	spin_lock_init(&srq->lock);
	srq->ibsrq.device = &qp->dev->ibdev;
	fill(t, srq->mem.addr + SRN_QUEUE_OFFSET, 0, 2);
	fill(t, srq->mem.addr + SRN_QUEUE_OFFSET + srq->stride, 0, 1);
	srq->page->tail = 2;
	qp->srq = srq;
	qp->rq.entries = 0;
}

static void send_all(struct kunit *test, const struct target *t, const struct shape *s)
{
	struct sk_buff *packets[MAX_PACKETS];
	u32 i;

	make_packets(test, s, t->ref->qpn, packets);
	for (i = 0; i < s->num; i++)
		ip_hdr(packets[i])->tos |= INET_ECN_CE;
	take(test, t, packets, s);
}

static void expect_untouched(struct kunit *test, const struct srn_mem *mem, u32 from, u32 to)
{
	u32 i, wrong = 0;
	u64 here;

	for (i = from; i < to; i++)
		wrong += *(u8 *)srn_mem_span(mem, VA + i, &here);
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

/* @bad: which of the packets of @s was refused; @len: of the memory. */
static void expect_refused(struct kunit *test, const struct target *t, const struct shape *s, u32 bad,
			   enum srn_verdict v, u32 len)
{
	struct srn_qp *qp = t->r.qp;

	KUNIT_EXPECT_EQ(test, qp->state, IB_QPS_ERR);
	KUNIT_EXPECT_EQ(test, qp->last_error, v);
	KUNIT_EXPECT_EQ(test, qp->resp.msg.psn, srn_psn_add(PSN, bad));
	KUNIT_EXPECT_EQ(test, qp->resp.ack.psn, srn_psn_add(PSN, bad));
	KUNIT_EXPECT_EQ(test, qp->resp.ack.syndrome, srn_verdicts[v].nak);
	KUNIT_EXPECT_EQ(test, count(t, SRN_CNT_SENT_NAK), 1);
	KUNIT_EXPECT_EQ(test, count(t, SRN_CNT_RCVD_CONVOYS), 0);
	KUNIT_EXPECT_EQ(test, count(t, SRN_CNT_SPLIT_CONVOYS), 1);
	KUNIT_EXPECT_EQ(test, count(t, SRN_CNT_RX_BAD_STATE), s->num - 1 - bad);
	/* Each once, though they came to the responder twice. */
	KUNIT_EXPECT_EQ(test, count(t, SRN_CNT_RCVD_PKTS), s->num);
	KUNIT_EXPECT_EQ(test, count(t, SRN_CNT_CE_RCVD), s->num);
	expect_memory(test, t->r.mem, 0, bad * s->each);
	expect_untouched(test, t->r.mem, bad * s->each, len);
	KUNIT_EXPECT_EQ(test, atomic_read(&qp->rxq_bytes), 0);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&qp->dev->rxq_bytes), 0);
}

/* More than its RETH said. */
static void srn_convoy_each_reth_test(struct kunit *test)
{
	u32 bad;

	migrate_disable();
	for (bad = 0; bad < middle.num; bad++) {
		struct shape part = part_of(&middle, bad);
		struct target t = new_each(test, &middle);

		begin_write(&t, payload_len(&part));
		send_all(test, &t, &middle);
		expect_refused(test, &t, &middle, bad, SRN_V_INV_REQ, payload_len(&middle));
	}
	migrate_enable();
}

/* A region that has become shorter since the message began. */
static void srn_convoy_each_region_test(struct kunit *test)
{
	u32 bad;

	migrate_disable();
	for (bad = 0; bad < middle.num; bad++) {
		struct shape part = part_of(&middle, bad);
		struct target t = new_each(test, &part);

		begin_write(&t, payload_len(&middle));
		send_all(test, &t, &middle);
		expect_refused(test, &t, &middle, bad, SRN_V_REM_ACCESS, payload_len(&part));
	}
	migrate_enable();
}

static void srn_convoy_each_receive_short_test(struct kunit *test)
{
	u32 bad;

	migrate_disable();
	for (bad = 0; bad < sent.num; bad++) {
		struct shape part = part_of(&sent, bad);
		struct target t = new_each(test, &sent);

		post(&t, payload_len(&part), 1);
		send_all(test, &t, &sent);
		expect_refused(test, &t, &sent, bad, SRN_V_RESP_LEN, payload_len(&sent));
		KUNIT_EXPECT_EQ(test, t.r.qp->rcq->prod, 1);
		KUNIT_EXPECT_EQ(test, t.r.qp->rcq->cqes[0].status, IB_WC_LOC_LEN_ERR);
	}
	migrate_enable();
}

/* It is asked for twice, and is no better the second time. Only the last packet wants it. */
static void srn_convoy_each_receive_bad_test(struct kunit *test)
{
	struct target t;

	migrate_disable();
	t = new_each(test, &told);
	post(&t, 0, 2);
	post(&t, 0, 1);
	send_all(test, &t, &told);
	migrate_enable();
	expect_refused(test, &t, &told, told.num - 1, SRN_V_REM_OP, payload_len(&told));
	KUNIT_EXPECT_EQ(test, t.r.qp->rcq->prod, 2);
	KUNIT_EXPECT_EQ(test, t.r.qp->rcq->cqes[0].wr_id, 7);
	KUNIT_EXPECT_EQ(test, t.r.qp->rcq->cqes[0].status, IB_WC_LOC_QP_OP_ERR);
	KUNIT_EXPECT_EQ(test, t.r.qp->rcq->cqes[1].status, IB_WC_WR_FLUSH_ERR);
	/* A QP that is reset knows nothing of it. */
	srn_rq_reset(t.r.qp);
	KUNIT_EXPECT_FALSE(test, t.r.qp->rq.bad);
}

/* Nor is the next of a SRQ taken in its place. */
static void srn_convoy_each_shared_bad_test(struct kunit *test)
{
	struct target t;

	migrate_disable();
	t = new_each(test, &told);
	share(test, &t);
	send_all(test, &t, &told);
	migrate_enable();
	expect_refused(test, &t, &told, told.num - 1, SRN_V_REM_OP, payload_len(&told));
	KUNIT_EXPECT_EQ(test, t.r.qp->srq->head, 1);
	KUNIT_EXPECT_EQ(test, t.r.qp->rcq->prod, 0);
}

static struct kunit_case srn_convoy_each_cases[] = {
	KUNIT_CASE(srn_convoy_each_reth_test),
	KUNIT_CASE(srn_convoy_each_region_test),
	KUNIT_CASE(srn_convoy_each_receive_short_test),
	KUNIT_CASE(srn_convoy_each_receive_bad_test),
	KUNIT_CASE(srn_convoy_each_shared_bad_test),
	{}
};

static struct kunit_suite srn_convoy_each_suite = {
	.name = "srn_convoy_each",
	.init = srn_napi_init,
	.exit = srn_napi_exit,
	.test_cases = srn_convoy_each_cases,
};

kunit_test_suite(srn_convoy_each_suite);
