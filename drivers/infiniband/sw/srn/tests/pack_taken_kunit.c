// SPDX-License-Identifier: GPL-2.0-only
/* Packs at the QP that they are for: each message is executed where it is, until one is not simply
 * executed; what comes behind that, and a pack that is not the next, goes as packets.
 */
#include "../psn.h"
#include "../stats.h"
#include "fake_pack.h"
#include "fake_receiver.h"
#include "fake_rx.h"

#define ASKS		SRN_PKT_ACKREQ

#define RECVS		16

/* A receive where message @i of the packs has its place. */
static void post(struct kunit *test, const struct receiver *r, u32 i)
{
	struct ib_sge sge = { .addr = VA + i * STRIDE, .length = STRIDE, .lkey = r->mem->key };
	struct ib_recv_wr wr = { .wr_id = i, .sg_list = &sge, .num_sge = 1 };
	struct srn_rq *rq = &r->qp->rq;

	KUNIT_ASSERT_EQ(test, 0, srn_rwqe_store(&wr, 1, rq->slots + rq->tail * rq->stride));
	rq->tail++;
}

static struct receiver new_receiver(struct kunit *test)
{
	struct receiver r = new_receiver_of(test, 1024, SRN_RUN_MAX * STRIDE);

	srn_mw_owner_init(&r.qp->windows, &r.qp->who);
	give_receives(test, r.qp, RECVS);
	bad_key_at = U32_MAX;
	bad_len_at = U32_MAX;
	return r;
}

static struct sk_buff *arrived(struct kunit *test, const struct receiver *r, const struct msgs *m)
{
	return come(test, send_pack(test, r->path, m));
}

static void receive(struct kunit *test, const struct receiver *r, const struct msgs *m)
{
	receive_skb(test, r, arrived(test, r, m));
	KUNIT_EXPECT_EQ(test, atomic_read(&r->qp->rxq_bytes), 0);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&r->qp->dev->rxq_bytes), 0);
}

static u64 count(const struct receiver *r, enum srn_counter counter)
{
	return srn_stats_sum(r->qp->dev, counter);
}

/* Whether what message @i brings is in its place, and nothing behind it. */
static bool is_placed(const struct receiver *r, const struct msgs *m, u32 i)
{
	u32 at, wrong = 0;
	u64 here;

	for (at = 0; at < STRIDE; at++) {
		u8 byte = *(u8 *)srn_mem_span(r->mem, VA + i * STRIDE + at, &here);

		wrong += byte != (at < m->msg[i].len ? byte_at(i * STRIDE + at) : 0);
	}
	return !wrong;
}

static void expect_placed(struct kunit *test, const struct receiver *r, const struct msgs *m,
			  u32 num)
{
	u32 i;

	for (i = 0; i < m->num; i++)
		KUNIT_EXPECT_EQ_MSG(test, is_placed(r, m, i), i < num || !m->msg[i].len,
				    "message %u", i);
}

static const struct msgs mixed = {
	"", 6, {
		{ A_WRITE, 8 }, { A_SEND, 3, SRN_PKT_SE }, { A_WRITE_IMM, 100 }, { A_WRITE, 512 },
		{ A_SEND_IMM, 33 }, { A_WRITE, 5, ASKS },
	},
};

/* The receives that are taken, by the messages that take them. */
static void post_all(struct kunit *test, const struct receiver *r)
{
	post(test, r, 1);
	post(test, r, 2);
	post(test, r, 4);
}

static void expect_cqe(struct kunit *test, const struct receiver *r, u32 n, u32 i, u32 opcode,
		       u32 flags)
{
	const struct srn_cqe *cqe = &r->qp->rcq->cqes[n];

	KUNIT_EXPECT_EQ(test, cqe->wr_id, i);
	KUNIT_EXPECT_EQ(test, cqe->status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, cqe->opcode, opcode);
	KUNIT_EXPECT_EQ(test, cqe->byte_len, mixed.msg[i].len);
	KUNIT_EXPECT_EQ(test, cqe->wc_flags, flags);
	if (flags & SRN_WC_WITH_IMM)
		KUNIT_EXPECT_EQ(test, be32_to_cpu(cqe->imm), WORD + i);
}

static void expect_completions(struct kunit *test, const struct receiver *r)
{
	KUNIT_EXPECT_EQ(test, r->qp->rcq->prod, 3);
	expect_cqe(test, r, 0, 1, IB_WC_RECV, 0);
	expect_cqe(test, r, 1, 2, IB_WC_RECV_RDMA_WITH_IMM, SRN_WC_WITH_IMM);
	expect_cqe(test, r, 2, 4, IB_WC_RECV, SRN_WC_WITH_IMM);
}

static void expect_progress(struct kunit *test, const struct receiver *r, u32 num)
{
	KUNIT_EXPECT_EQ(test, r->qp->resp.msg.psn, srn_psn_add(PSN, num));
	KUNIT_EXPECT_EQ(test, r->qp->resp.msg.msn, num);
}

/* Each is executed, and all acknowledged at once; a second time they are that many duplicates. */
static void srn_pack_next_test(struct kunit *test)
{
	struct receiver r;

	migrate_disable();
	r = new_receiver(test);
	post_all(test, &r);
	receive(test, &r, &mixed);
	expect_progress(test, &r, mixed.num);
	expect_placed(test, &r, &mixed, mixed.num);
	expect_completions(test, &r);
	KUNIT_EXPECT_EQ(test, r.qp->resp.ack.done_psn, srn_psn_add(PSN, mixed.num - 1));
	KUNIT_EXPECT_EQ(test, count(&r, SRN_CNT_SENT_ACK), 1);
	KUNIT_EXPECT_EQ(test, count(&r, SRN_CNT_RDMA_RECVS), 3);
	KUNIT_EXPECT_EQ(test, count(&r, SRN_CNT_RCVD_RUNS), 1);
	KUNIT_EXPECT_EQ(test, count(&r, SRN_CNT_SPLIT_RUNS), 0);
	KUNIT_EXPECT_EQ(test, count(&r, SRN_CNT_RCVD_PKTS), mixed.num);
	KUNIT_EXPECT_EQ(test, count(&r, SRN_CNT_RCVD_BYTES),
			srn_stats_sum(r.path->dev, SRN_CNT_SENT_BYTES));
	post_all(test, &r);
	receive(test, &r, &mixed);
	migrate_enable();
	expect_progress(test, &r, mixed.num);
	KUNIT_EXPECT_EQ(test, r.qp->rcq->prod, 3);
	KUNIT_EXPECT_EQ(test, count(&r, SRN_CNT_SPLIT_RUNS), 1);
	KUNIT_EXPECT_EQ(test, count(&r, SRN_CNT_DUP_REQUEST), mixed.num);
	KUNIT_EXPECT_EQ(test, count(&r, SRN_CNT_SENT_ACK), 2);
}

/* A mark is that of each packet, told once; of what is split behind the second, too. */
static void srn_pack_marked_taken_test(struct kunit *test)
{
	struct receiver r;
	struct sk_buff *skb;
	int round;

	migrate_disable();
	r = new_receiver(test);
	r.qp->cc = SRN_CC_DCQCN;
	post(test, &r, 1);
	for (round = 0; round < 2; round++) {
		skb = arrived(test, &r, &mixed);
		srn_pkt(skb)->flags |= SRN_PKT_CE;
		receive_skb(test, &r, skb);
		KUNIT_EXPECT_EQ(test, count(&r, SRN_CNT_CE_RCVD), (round + 1) * mixed.num);
		KUNIT_EXPECT_EQ(test, count(&r, SRN_CNT_CNP_SENT), 1);
		r.qp->cnp_next_ns = U64_MAX;
	}
	migrate_enable();
	KUNIT_EXPECT_EQ(test, count(&r, SRN_CNT_SPLIT_RUNS), 2);
	srn_hold_purge(r.qp->dev, &r.qp->resp.hold);
}

/* What comes early is held as packets, and executed when what is missing is here. */
static void srn_pack_early_test(struct kunit *test)
{
	struct receiver r;

	migrate_disable();
	r = new_receiver(test);
	r.qp->resp.msg.psn = srn_psn_add(PSN, -1);
	post_all(test, &r);
	receive(test, &r, &mixed);
	KUNIT_EXPECT_EQ(test, count(&r, SRN_CNT_HELD), mixed.num);
	KUNIT_EXPECT_EQ(test, count(&r, SRN_CNT_SENT_NAK), 1);
	KUNIT_EXPECT_EQ(test, r.qp->rcq->prod, 0);
	receive_missing(test, &r);
	migrate_enable();
	KUNIT_EXPECT_EQ(test, r.qp->resp.msg.psn, srn_psn_add(PSN, mixed.num));
	KUNIT_EXPECT_EQ(test, r.qp->resp.msg.msn, mixed.num + 1);
	expect_placed(test, &r, &mixed, mixed.num);
	expect_completions(test, &r);
	srn_hold_purge(r.qp->dev, &r.qp->resp.hold);
}

/* The third finds no receive: what was before it is done, what comes behind it is held, and done when
 * the peer has sent it again.
 */
static void srn_pack_rnr_test(struct kunit *test)
{
	struct receiver r;

	migrate_disable();
	r = new_receiver(test);
	post(test, &r, 1);
	receive(test, &r, &mixed);
	expect_progress(test, &r, 2);
	expect_placed(test, &r, &mixed, 2);
	KUNIT_EXPECT_EQ(test, r.qp->rcq->prod, 1);
	KUNIT_EXPECT_EQ(test, count(&r, SRN_CNT_SEND_RNR), 1);
	KUNIT_EXPECT_EQ(test, count(&r, SRN_CNT_SENT_ACK), 0);
	KUNIT_EXPECT_EQ(test, count(&r, SRN_CNT_HELD), mixed.num - 3);
	KUNIT_EXPECT_EQ(test, count(&r, SRN_CNT_SPLIT_RUNS), 1);
	post(test, &r, 2);
	post(test, &r, 4);
	receive(test, &r, &mixed);
	migrate_enable();
	expect_progress(test, &r, mixed.num);
	expect_placed(test, &r, &mixed, mixed.num);
	expect_completions(test, &r);
	KUNIT_EXPECT_EQ(test, count(&r, SRN_CNT_DUP_REQUEST), 2 + 3);
	KUNIT_EXPECT_TRUE(test, srn_hold_is_empty(&r.qp->resp.hold));
}

/* One that is refused is the end of the QP: none behind it is executed. */
static void expect_refused(struct kunit *test, struct receiver *r, const struct msgs *m, u32 at)
{
	post_all(test, r);
	receive(test, r, m);
	expect_progress(test, r, at);
	expect_placed(test, r, m, at);
	KUNIT_EXPECT_EQ(test, r->qp->state, IB_QPS_ERR);
	KUNIT_EXPECT_EQ(test, count(r, SRN_CNT_SENT_NAK), 1);
	KUNIT_EXPECT_EQ(test, count(r, SRN_CNT_SENT_ACK), 0);
	KUNIT_EXPECT_EQ(test, count(r, SRN_CNT_RX_BAD_STATE), m->num - at - 1);
	srn_rxq_purge(r->qp);
}

static void expect_bad_key(struct kunit *test, u32 at)
{
	struct receiver r;

	migrate_disable();
	r = new_receiver(test);
	bad_key_at = at;
	expect_refused(test, &r, &mixed, at);
	migrate_enable();
}

static void srn_pack_bad_key_test(struct kunit *test)
{
	expect_bad_key(test, 3);
}

static void srn_pack_bad_key_first_test(struct kunit *test)
{
	expect_bad_key(test, 0);
}

static void srn_pack_bad_key_last_test(struct kunit *test)
{
	expect_bad_key(test, 5);
}

/* A key that the peer may not invalidate. */
static void srn_pack_bad_invalidate_test(struct kunit *test)
{
	static const struct msgs m = { "", 3, { { A_WRITE, 8 }, { A_SEND_INV, 0 }, { A_WRITE, 8, ASKS } } };
	struct receiver r;

	migrate_disable();
	r = new_receiver(test);
	expect_refused(test, &r, &m, 1);
	migrate_enable();
}

/* Longer than the path MTU: no packet of this connection. */
static void srn_pack_long_message_test(struct kunit *test)
{
	static const struct msgs m = { "", 3, { { A_WRITE, 256 }, { A_WRITE, 257 }, { A_WRITE, 8, ASKS } } };
	struct receiver r;

	migrate_disable();
	r = new_receiver(test);
	r.qp->mtu = 256;
	expect_refused(test, &r, &m, 1);
	migrate_enable();
}

/* A completion that is lost puts the QP into error, though its message was executed. */
static void srn_pack_overrun_test(struct kunit *test)
{
	struct receiver r;

	migrate_disable();
	r = new_receiver(test);
	r.qp->rcq->entries = 1;
	post_all(test, &r);
	receive(test, &r, &mixed);
	migrate_enable();
	KUNIT_EXPECT_EQ(test, r.qp->state, IB_QPS_ERR);
	/* The bytes of the one that found no room are there, but it does not count. */
	expect_progress(test, &r, 2);
	expect_placed(test, &r, &mixed, 3);
	KUNIT_EXPECT_EQ(test, count(&r, SRN_CNT_RX_BAD_STATE), mixed.num - 3);
	KUNIT_EXPECT_EQ(test, count(&r, SRN_CNT_SPLIT_RUNS), 0);
	srn_rxq_purge(r.qp);
}

/* One that is to invalidate the key of a READ which is being answered waits, with all behind it. */
static void srn_pack_later_test(struct kunit *test)
{
	static const struct msgs m = { "", 3, { { A_WRITE, 8 }, { A_SEND_INV, 4 }, { A_WRITE, 8, ASKS } } };
	struct srn_range range = { .va = VA, .rkey = WORD + 1, .len = 8 };
	struct sk_buff *skb;
	struct receiver r;

	migrate_disable();
	r = new_receiver(test);
	KUNIT_ASSERT_EQ(test, 0, srn_replay_resize(&r.qp->resp.replay, 1));
	srn_replay_add_read(&r.qp->resp.replay, srn_psn_add(PSN, -1), 1, 0, &range);
	skb = arrived(test, &r, &m);
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&r.qp->turn, SRN_TURN_RX));
	KUNIT_EXPECT_FALSE(test, rx_pack(r.qp, skb));
	migrate_enable();
	expect_progress(test, &r, 1);
	expect_placed(test, &r, &m, 1);
	KUNIT_EXPECT_EQ(test, srn_pkt(skb)->psn, srn_psn_add(PSN, 1));
	KUNIT_EXPECT_EQ(test, srn_pkt(skb)->opcode, A_SEND_INV);
	KUNIT_EXPECT_EQ(test, srn_pkt_num(skb), 2);
	kfree_skb(skb);
	srn_turn_disown(&r.qp->turn);
	srn_replay_resize(&r.qp->resp.replay, 0);
}

/* A QP that does not receive any more drops each of them. */
static void srn_pack_too_late_test(struct kunit *test)
{
	struct receiver r;

	migrate_disable();
	r = new_receiver(test);
	post_all(test, &r);
	r.qp->state = IB_QPS_ERR;
	receive(test, &r, &mixed);
	migrate_enable();
	expect_progress(test, &r, 0);
	expect_placed(test, &r, &mixed, 0);
	KUNIT_EXPECT_EQ(test, count(&r, SRN_CNT_RX_BAD_STATE), mixed.num);
	KUNIT_EXPECT_EQ(test, count(&r, SRN_CNT_SPLIT_RUNS), 0);
}

static const struct msgs writes = {
	"", 6, { { A_WRITE, 8 }, { A_WRITE, 7 }, { A_WRITE, 512 }, { A_WRITE, 1 }, { A_WRITE, 4 }, { A_WRITE, 8, ASKS } },
};

/* Those of WRITEs that follow each other are as good as any by itself. */
static void expect_bad_write(struct kunit *test, u32 bad_key, u32 bad_len)
{
	struct receiver r;

	migrate_disable();
	r = new_receiver(test);
	bad_key_at = bad_key;
	bad_len_at = bad_len;
	expect_refused(test, &r, &writes, min(bad_key, bad_len));
	migrate_enable();
	KUNIT_EXPECT_EQ(test, refcount_read(&r.mem->refs), 1);
}

static void srn_pack_writes_bad_key_test(struct kunit *test)
{
	expect_bad_write(test, 2, U32_MAX);
}

static void srn_pack_writes_bad_length_test(struct kunit *test)
{
	expect_bad_write(test, U32_MAX, 3);
}

static void srn_pack_writes_not_allowed_test(struct kunit *test)
{
	struct receiver r;

	migrate_disable();
	r = new_receiver(test);
	r.qp->access = IB_ACCESS_REMOTE_READ;
	expect_refused(test, &r, &writes, 0);
	migrate_enable();
}

/* The second writes where it is said whether the key is valid, as who takes it away does on another CPU. */
static void srn_pack_writes_key_gone_test(struct kunit *test)
{
	static const struct msgs m = { "", 4, { { A_WRITE, 8 }, { A_WRITE, 4 }, { A_WRITE, 8 }, { A_WRITE, 8, ASKS } } };
	struct receiver r;
	void *blocks[4];
	u32 i;

	static_assert(sizeof(r.mem->state) == 4);
	migrate_disable();
	r = new_receiver(test);
	for (i = 0; i < ARRAY_SIZE(blocks); i++)
		blocks[i] = i == 1 ? (void *)&r.mem->state : fake_page(test);
	r.mem->map = (struct srn_mem_map){
		.iova = VA, .length = sizeof(blocks) / sizeof(void *) * STRIDE,
		.block_shift = ilog2(STRIDE), .nblocks = ARRAY_SIZE(blocks), .blocks = blocks,
	};
	receive(test, &r, &m);
	migrate_enable();
	expect_progress(test, &r, 2);
	KUNIT_EXPECT_EQ(test, r.qp->state, IB_QPS_ERR);
	KUNIT_EXPECT_EQ(test, *(u64 *)blocks[2], 0);
	KUNIT_EXPECT_EQ(test, refcount_read(&r.mem->refs), 1);
	srn_rxq_purge(r.qp);
}

/* Of those that ask each but the first finds an ACK that waits, and so does the first if there is one. */
static void srn_pack_writes_asked_test(struct kunit *test)
{
	struct msgs m = writes;
	struct receiver r;
	u32 asks;

	migrate_disable();
	for (asks = 0; asks < BIT(6); asks++) {
		u32 i, num = hweight32(asks);

		for (i = 0; i < m.num; i++)
			m.msg[i].flags = asks & BIT(i) ? ASKS : 0;
		r = new_receiver(test);
		receive(test, &r, &m);
		expect_progress(test, &r, m.num);
		KUNIT_EXPECT_EQ(test, count(&r, SRN_CNT_SENT_ACK), !!num);
		KUNIT_EXPECT_EQ(test, count(&r, SRN_CNT_ACK_DEFERRED), num - !!num);
		KUNIT_EXPECT_EQ(test, r.qp->resp.ack.done_psn, srn_psn_add(PSN, m.num - 1));
	}
	migrate_enable();
}

static u32 seed;

/* Below @num. */
static u32 any(u32 num)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % num;
}

static struct msg any_message(void)
{
	static const u8 opcodes[] = { A_SEND, A_SEND_IMM, A_WRITE_IMM };

	return (struct msg){
		.opcode = any(4) ? A_WRITE : opcodes[any(ARRAY_SIZE(opcodes))],
		.len = any(65),
		.flags = (any(3) ? 0 : SRN_PKT_ACKREQ) | (any(4) ? 0 : SRN_PKT_SE),
	};
}

/* @n numbers it. */
static void make_any(struct msgs *m, u32 n)
{
	u32 i;

	seed = n;
	m->num = 2 + any(15);
	for (i = 0; i < m->num; i++)
		m->msg[i] = any_message();
	if (!any(6))
		m->msg[any(m->num)].len = 300;
}

/* The same for the same n. */
static void make_ready(struct kunit *test, const struct receiver *r, u32 n)
{
	struct srn_ack *ack = &r->qp->resp.ack;
	u32 i, recvs;

	seed = ~n;
	rkey = r->mem->key;
	bad_key_at = any(2) ? U32_MAX : any(16);
	bad_len_at = any(4) ? U32_MAX : any(16);
	r->qp->mtu = any(2) ? 256 : 1024;
	r->qp->access = any(16) ? r->qp->access : 0;
	r->qp->resp.msg.op = any(16) ? SRN_OP_NONE : SRN_OP_SEND;
	r->qp->resp.msg.msn = SRN_AETH_MSN - any(8);
	recvs = any(RECVS);
	for (i = 0; i < recvs; i++)
		post(test, r, 20 + i);
	if (!any(4))
		srn_ack_done(r->qp, srn_psn_add(PSN, -1), 1);
	if (!any(8))
		srn_ack_gap(r->qp, srn_psn_add(PSN, any(20)), SRN_HELD_NOT);
	if (!any(8))
		ack->again_any = true;
	if (!any(8))
		ack->sacks = 1;
}

static void take_parts(struct srn_qp *qp, struct sk_buff *skb)
{
	struct sk_buff_head parts;
	struct sk_buff *part;

	__skb_queue_head_init(&parts);
	srn_run_split(skb, &parts);
	consume_skb(skb);
	while ((part = __skb_dequeue(&parts)))
		rx_request(qp, part);
}

/* As one, or as packets from the beginning; nothing is sent. */
static void take(struct kunit *test, const struct receiver *r, const struct msgs *m, bool whole)
{
	struct sk_buff *skb = arrived(test, r, m);

	KUNIT_ASSERT_TRUE(test, srn_turn_take(&r->qp->turn, SRN_TURN_RX));
	if (!whole || !rx_pack(r->qp, skb))
		take_parts(r->qp, skb);
	srn_turn_disown(&r->qp->turn);
	srn_hold_purge(r->qp->dev, &r->qp->resp.hold);
}

static bool same_bytes(const struct receiver *a, const struct receiver *b)
{
	u32 i;

	for (i = 0; i < a->mem->map.nblocks; i++) {
		if (memcmp(a->mem->map.blocks[i], b->mem->map.blocks[i], PAGE_SIZE))
			return false;
	}
	return true;
}

/* But for times: the second began later. */
static void expect_same_ack(struct kunit *test, struct srn_ack a, struct srn_ack b)
{
	KUNIT_EXPECT_EQ(test, !a.resumes_ns, !b.resumes_ns);
	a.resumes_ns = 0;
	b.resumes_ns = 0;
	a.tells_ns = 0;
	b.tells_ns = 0;
	KUNIT_EXPECT_MEMEQ(test, &a, &b, sizeof(a));
}

static void expect_same(struct kunit *test, const struct receiver *a, const struct receiver *b)
{
	static const enum srn_counter counters[] = {
		SRN_CNT_ACK_DEFERRED, SRN_CNT_RDMA_RECVS, SRN_CNT_OUT_OF_SEQ, SRN_CNT_HELD,
		SRN_CNT_DUP_REQUEST, SRN_CNT_RX_BAD_STATE,
	};
	const struct srn_message *one = &a->qp->resp.msg, *other = &b->qp->resp.msg;
	u32 i;

	KUNIT_EXPECT_EQ(test, one->psn, other->psn);
	KUNIT_EXPECT_EQ(test, one->msn, other->msn);
	KUNIT_EXPECT_EQ(test, one->op, other->op);
	KUNIT_EXPECT_EQ(test, a->qp->state, b->qp->state);
	expect_same_ack(test, a->qp->resp.ack, b->qp->resp.ack);
	KUNIT_EXPECT_TRUE(test, same_bytes(a, b));
	KUNIT_EXPECT_EQ(test, a->qp->rcq->prod, b->qp->rcq->prod);
	KUNIT_EXPECT_MEMEQ(test, a->qp->rcq->cqes, b->qp->rcq->cqes,
			   RECVS * sizeof(struct srn_cqe));
	for (i = 0; i < ARRAY_SIZE(counters); i++)
		KUNIT_EXPECT_EQ_MSG(test, count(a, counters[i]), count(b, counters[i]), "counter %u", i);
	KUNIT_EXPECT_EQ(test, refcount_read(&a->mem->refs), 1);
}

/* Whatever messages they are, and whatever was before them: a pack does what its packets would. */
static void srn_pack_does_as_packets_test(struct kunit *test)
{
	struct receiver a, b;
	u32 n, done = 0;
	struct msgs *m;

	m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, m);
	migrate_disable();
	for (n = 0; n < 150; n++) {
		make_any(m, n);
		a = new_receiver(test);
		b = new_receiver(test);
		make_ready(test, &a, n);
		take(test, &a, m, true);
		make_ready(test, &b, n);
		take(test, &b, m, false);
		expect_same(test, &a, &b);
		done += a.qp->state != IB_QPS_ERR;
		if (test->status == KUNIT_FAILURE)
			break;
	}
	migrate_enable();
	KUNIT_EXPECT_EQ_MSG(test, n, 150, "the first that differs");
	/* Some of either kind. */
	KUNIT_EXPECT_GT(test, done, 20);
	KUNIT_EXPECT_LT(test, done, 130);
}

static struct kunit_case srn_pack_taken_cases[] = {
	KUNIT_CASE(srn_pack_next_test),
	KUNIT_CASE(srn_pack_marked_taken_test),
	KUNIT_CASE(srn_pack_early_test),
	KUNIT_CASE(srn_pack_rnr_test),
	KUNIT_CASE(srn_pack_bad_key_test),
	KUNIT_CASE(srn_pack_bad_key_first_test),
	KUNIT_CASE(srn_pack_bad_key_last_test),
	KUNIT_CASE(srn_pack_bad_invalidate_test),
	KUNIT_CASE(srn_pack_long_message_test),
	KUNIT_CASE(srn_pack_overrun_test),
	KUNIT_CASE(srn_pack_later_test),
	KUNIT_CASE(srn_pack_too_late_test),
	KUNIT_CASE(srn_pack_writes_bad_key_test),
	KUNIT_CASE(srn_pack_writes_bad_length_test),
	KUNIT_CASE(srn_pack_writes_not_allowed_test),
	KUNIT_CASE(srn_pack_writes_key_gone_test),
	KUNIT_CASE(srn_pack_writes_asked_test),
	KUNIT_CASE(srn_pack_does_as_packets_test),
	{}
};

static struct kunit_suite srn_pack_taken_suite = {
	.name = "srn_pack_taken",
	.test_cases = srn_pack_taken_cases,
};
kunit_test_suite(srn_pack_taken_suite);
