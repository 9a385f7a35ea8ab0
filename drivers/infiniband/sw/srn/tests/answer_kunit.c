// SPDX-License-Identifier: GPL-2.0-only
/* Answers to READs over many rounds: where they run, what they hold, what they wait for. */
#include "../ack.h"
#include "../answer.h"
#include "../cut.h"
#include "../limits.h"
#include "../mem.h"
#include "../mw.h"
#include "../payer.h"
#include "../requester.h"
#include "../responder.h"
#include "../stats.h"
#include "fake_round.h"
#include "fake_route.h"

#include <kunit/test.h>
#include <linux/bottom_half.h>
#include <rdma/ib_pack.h>

static struct sk_buff *new_read(struct kunit *test, u32 psn, const struct srn_mem *mem, u32 len)
{
	struct sk_buff *skb = new_packet(test, IB_OPCODE_RC_RDMA_READ_REQUEST, psn);
	struct srn_reth *reth = (struct srn_reth *)srn_pkt_reth(skb);

	reth->va = cpu_to_be64(mem->map.iova);
	reth->rkey = cpu_to_be32(mem->key);
	reth->len = cpu_to_be32(len);
	return skb;
}

static struct sk_buff *new_send_inv(struct kunit *test, u32 psn, const struct srn_mem *mem)
{
	struct sk_buff *skb = new_packet(test, IB_OPCODE_RC_SEND_ONLY_WITH_INVALIDATE, psn);
	struct srn_ieth *ieth = srn_pkt_ext(skb);

	ieth->rkey = cpu_to_be32(mem->key);
	return skb;
}

static void free_slots(void *qp)
{
	srn_replay_resize(&((struct srn_qp *)qp)->resp.replay, 0);
}

#define MTU	256

/* A region that the peer may read; it has room for one READ, and may invalidate it. */
static struct srn_mem *give_memory(struct kunit *test, struct srn_qp *qp, u32 len)
{
	struct srn_mem *mem;

	qp->ibqp.pd = fake_pd(test, qp->dev);
	qp->who.pd = qp->ibqp.pd;
	srn_mw_owner_init(&qp->windows, &qp->who);
	qp->access = IB_ACCESS_REMOTE_READ;
	qp->mtu = MTU;
	KUNIT_ASSERT_EQ(test, 0, srn_replay_resize(&qp->resp.replay, 1));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, free_slots, qp));
	mem = fake_mr(test, qp->dev, qp->ibqp.pd, 0x10000, len, 0, IB_ACCESS_REMOTE_READ);
	mem->type = SRN_MEM_FRMR;
	return mem;
}

/* A READ of many rounds is not answered in the time of who received it. */
static void srn_answer_long_read_goes_away_test(struct kunit *test)
{
	struct owner *o = new_owner(test);
	struct srn_qp *qp = &o->qp;
	u32 len = 300 * MTU;
	struct srn_mem *mem = give_memory(test, qp, len);

	local_bh_disable();
	srn_round_rx(qp, new_read(test, 0, mem, len));
	KUNIT_EXPECT_LE(test, qp->resp.replay.slots[0].psn, SRN_ROUND_BUDGET);
	KUNIT_EXPECT_EQ(test, qp->resp.replay.open, 1);
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, wait_idle(qp));
	KUNIT_EXPECT_EQ(test, qp->resp.replay.open, 0);
	KUNIT_EXPECT_EQ(test, qp->resp.replay.slots[0].psn, 300);
}

/* What the stack was given, and the references on what was read meanwhile. */
static struct {
	const struct srn_mem *mem;
	unsigned int packets, skbs, refs;
} left;

static int leave(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	left.packets += max_t(unsigned int, skb_shinfo(skb)->gso_segs, 1);
	left.refs = max(left.refs, refcount_read(&left.mem->refs));
	kfree_skb(skb);
	return 0;
}

/* Memory can be taken back while its bytes are on their way, alone and in trains. */
static void srn_answer_holds_nothing_test(struct kunit *test)
{
	static const u32 npsns[] = { 1, 3, SRN_ROUND_BUDGET };
	struct owner *o = new_owner(test);
	struct srn_qp *qp = &o->qp;
	struct srn_mem *mem = give_memory(test, qp, SRN_ROUND_BUDGET * MTU);
	u32 psn = 0;
	int i;

	migrate_disable();
	fake_route(test, &qp->path, leave);
	for (i = 0; i < ARRAY_SIZE(npsns); i++) {
		memset(&left, 0, sizeof(left));
		left.mem = mem;
		local_bh_disable();
		srn_round_rx(qp, new_read(test, psn, mem, npsns[i] * MTU));
		local_bh_enable();
		KUNIT_EXPECT_EQ(test, left.packets, npsns[i]);
		KUNIT_EXPECT_EQ(test, left.refs, 1);
		psn += npsns[i];
	}
	migrate_enable();
}

#define ROUND_BYTES	(SRN_ROUND_BUDGET * 2048)	/* more than a round of small packets has */

#define WAITING		(40 * SRN_ROUND_BUDGET)	/* packets of an answer that takes many rounds */

/* A queue of this host that holds what it is given. */
static struct sk_buff_head held;

static int hold(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	__skb_queue_tail(&held, skb);
	return 0;
}

static u32 held_bytes(void)
{
	const struct sk_buff *skb;
	u32 bytes = 0;

	skb_queue_walk(&held, skb)
		bytes += skb->truesize;
	return bytes;
}

static void close_payer(void *qp)
{
	srn_payer_close(&((struct srn_qp *)qp)->resp.payer);
}

static void give_payer(struct kunit *test, struct srn_qp *qp)
{
	give_clock(test, qp);
	KUNIT_ASSERT_EQ(test, 0, srn_responder_alloc(qp, 1));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, close_payer, qp));
}

static int count_skb(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	left.skbs++;
	return leave(net, sk, skb);
}

/* On a kernel that takes from who paid when it cuts a train, answers leave one by one. */
static void srn_answer_unpaid_train_test(struct kunit *test)
{
	const bool paid = srn_cut_is_paid;
	struct srn_qp *qp = &new_owner(test)->qp;
	struct srn_mem *mem = give_memory(test, qp, 8 * MTU);
	struct socket *sock;
	int i;

	give_payer(test, qp);
	sock = qp->resp.payer.sock;
	migrate_disable();
	fake_route(test, &qp->path, count_skb);
	for (i = 0; i < 3; i++) {
		memset(&left, 0, sizeof(left));
		left.mem = mem;
		srn_cut_is_paid = i == 1;
		/* One who does not pay, as RC's requester. */
		qp->resp.payer.sock = i == 2 ? NULL : sock;
		local_bh_disable();
		srn_round_rx(qp, new_read(test, 8 * i, mem, 8 * MTU));
		local_bh_enable();
		KUNIT_EXPECT_EQ(test, left.packets, 8);
		/* FIRST and LAST, with an AETH, are longer than those in between. */
		KUNIT_EXPECT_EQ(test, left.skbs, i ? 3 : 8);
	}
	migrate_enable();
	qp->resp.payer.sock = sock;
	srn_cut_is_paid = paid;
}

/* However much a peer asks for in one READ: what fills the queues of this host stops, and
 * goes on by itself when they are empty.
 */
static void srn_answer_room_test(struct kunit *test)
{
	const u32 npsn = 40 * SRN_ROUND_BUDGET;
	struct owner *o = new_owner(test);
	struct srn_qp *qp = &o->qp;
	struct srn_mem *mem = give_memory(test, qp, npsn * MTU);
	u32 last = 0;
	int i;

	__skb_queue_head_init(&held);
	give_payer(test, qp);
	migrate_disable();
	fake_route(test, &qp->path, hold);
	local_bh_disable();
	srn_round_rx(qp, new_read(test, 0, mem, npsn * MTU));
	local_bh_enable();
	for (i = 0; i < 1000 && qp->resp.replay.open; i++) {
		KUNIT_EXPECT_TRUE(test, wait_idle(qp));
		KUNIT_EXPECT_LT(test, held_bytes(), (u32)SRN_UNSENT_BYTES + ROUND_BYTES);
		if (qp->resp.replay.slots[0].psn == last)
			msleep(1);
		last = qp->resp.replay.slots[0].psn;
		local_bh_disable();
		__skb_queue_purge(&held);
		local_bh_enable();
	}
	KUNIT_EXPECT_EQ(test, qp->resp.replay.slots[0].psn, npsn);
	KUNIT_EXPECT_GT(test, i, 5);
	migrate_enable();
	__skb_queue_purge(&held);
	/* A requester that ends leaves the answers their alarm. */
	srn_turn_own(&qp->turn);
	srn_clock_set(&qp->clock, SRN_ALARM_ROOM, NSEC_PER_SEC);
	srn_requester_reset(qp);
	KUNIT_EXPECT_TRUE(test, srn_clock_is_set(&qp->clock, SRN_ALARM_ROOM));
}

/* What left, and the NAK if there was one. Takes the memory back after the first round. */
static struct {
	struct srn_mem *mem;
	struct srn_replay *again;	/* whose answers are repeats */
	unsigned int packets, naks;
	u32 psn;
	u8 syndrome;
} refused;

static int refuse_next(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	const struct srn_bth *bth = (void *)(skb_transport_header(skb) + sizeof(struct udphdr));
	const struct srn_aeth *aeth = (void *)(bth + 1);
	int i;

	WRITE_ONCE(refused.mem->state, SRN_MEM_FREE);
	for (i = 0; refused.again && i < refused.again->num; i++)
		refused.again->slots[i].again = true;
	if (bth->opcode == IB_OPCODE_RC_ACKNOWLEDGE) {
		refused.naks++;
		refused.psn = be32_to_cpu(bth->apsn) & SRN_PSN_MASK;
		refused.syndrome = be32_get_bits(aeth->smsn, SRN_AETH_SYNDROME);
	} else {
		refused.packets += max_t(unsigned int, skb_shinfo(skb)->gso_segs, 1);
	}
	kfree_skb(skb);
	return 0;
}

/* Two READs, with the memory gone between two rounds of the first one's answer. */
static struct srn_qp *answer_in_vain(struct kunit *test, bool again)
{
	const u32 npsn = 3 * SRN_ROUND_BUDGET;
	struct srn_qp *qp = &new_owner(test)->qp;
	struct srn_mem *mem = give_memory(test, qp, npsn * MTU);

	KUNIT_ASSERT_EQ(test, 0, srn_replay_resize(&qp->resp.replay, 2));
	give_cq(test, qp);
	memset(&refused, 0, sizeof(refused));
	refused.mem = mem;
	refused.again = again ? &qp->resp.replay : NULL;
	migrate_disable();
	fake_route(test, &qp->path, refuse_next);
	local_bh_disable();
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_RX));
	srn_round_rx(qp, new_read(test, 0, mem, npsn * MTU));
	srn_round_rx(qp, new_read(test, npsn, mem, MTU));
	srn_turn_run(&qp->turn);
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, wait_idle(qp));
	migrate_enable();
	KUNIT_EXPECT_EQ(test, refused.packets, SRN_ROUND_BUDGET);
	KUNIT_EXPECT_EQ(test, qp->resp.replay.open, 0);
	return qp;
}

/* The rest is refused where it would begin, and what was asked for behind it is not answered
 * (9.7.5.1.3, 9.7.5.2).
 */
static void srn_answer_refused_midway_test(struct kunit *test)
{
	struct srn_qp *qp = answer_in_vain(test, false);

	KUNIT_EXPECT_EQ(test, refused.naks, 1);
	KUNIT_EXPECT_EQ(test, refused.psn, SRN_ROUND_BUDGET);
	KUNIT_EXPECT_EQ(test, refused.syndrome, SRN_SYN_NAK_ACCESS);
	KUNIT_EXPECT_EQ(test, qp->state, IB_QPS_ERR);
}

/* READ, and behind it without a fence a SEND that invalidates what is read: both are at
 * hand before the first answer leaves.
 */
static void srn_answer_before_invalidate_test(struct kunit *test)
{
	struct owner *o = new_owner(test);
	struct srn_qp *qp = &o->qp;
	struct srn_mem *mem = give_memory(test, qp, 3 * MTU);

	give_cq(test, qp);
	qp->rq.open = true;
	local_bh_disable();
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_RX));
	srn_round_rx(qp, new_read(test, 0, mem, 3 * MTU));
	srn_round_rx(qp, new_send_inv(test, 3, mem));
	srn_turn_run(&qp->turn);
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, wait_idle(qp));
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_SENT_NAK), 0);
	KUNIT_EXPECT_EQ(test, qp->state, IB_QPS_RTR);
	KUNIT_EXPECT_EQ(test, qp->resp.replay.slots[0].psn, 3);
	KUNIT_EXPECT_EQ(test, qp->resp.msg.psn, 4);
	KUNIT_EXPECT_EQ(test, mem->state, SRN_MEM_FREE);
	KUNIT_EXPECT_EQ(test, qp->rcq->prod, 1);
}

/* A message of four packets, all of them in flight, whose answer is due soon. */
static void give_in_flight(struct kunit *test, struct srn_qp *qp)
{
	struct srn_wqe *wqe;

	give_sends(test, qp, 1);
	qp->sq.fetched = 1;
	wqe = srn_sq_wqe(&qp->sq, 0);
	wqe->started = true;
	wqe->last_psn = 3;
	srn_window_start(&qp->window, 0, MTU);
	qp->window.at = (struct srn_cursor){ .index = 1, .psn = 4 };
	qp->window.end = 4;
	qp->timeout = 20;
	srn_clock_set(&qp->clock, SRN_ALARM_ACK, 10 * NSEC_PER_MSEC);
}

/* What waits goes with its QP, and its bytes are nobody's then. */
static void end_waiting(struct kunit *test, struct srn_qp *qp)
{
	srn_turn_own(&qp->turn);
	srn_clock_stop(&qp->clock);
	srn_round_purge(qp);
	KUNIT_EXPECT_EQ(test, atomic_read(&qp->rxq_bytes), 0);
	srn_turn_disown(&qp->turn);
	__skb_queue_purge(&held);
}

/* What an answer needs that this host's queues do not take, and what waits for it. */
static struct srn_mem *give_waiting(struct kunit *test, struct srn_qp *qp)
{
	__skb_queue_head_init(&held);
	give_payer(test, qp);
	give_cq(test, qp);
	qp->rq.open = true;
	return give_memory(test, qp, WAITING * MTU);
}

/* A READ, and a SEND that invalidates what is read. */
static void ask_and_wait(struct kunit *test, struct srn_qp *qp, struct srn_mem *mem)
{
	srn_round_rx(qp, new_read(test, 0, mem, WAITING * MTU));
	srn_round_rx(qp, new_send_inv(test, WAITING, mem));
}

/* A packet that waits for answers which this host's queues do not take: it keeps no CPU busy,
 * and what answers this side's own requests is heard behind it before they are called lost.
 */
static void srn_answer_held_test(struct kunit *test)
{
	struct srn_qp *qp = &new_owner(test)->qp;
	struct srn_mem *mem = give_waiting(test, qp);
	int i;

	qp->state = IB_QPS_RTS;
	give_in_flight(test, qp);
	migrate_disable();
	fake_route(test, &qp->path, hold);
	local_bh_disable();
	ask_and_wait(test, qp, mem);
	srn_round_rx(qp, new_packet(test, IB_OPCODE_RC_ACKNOWLEDGE, 1));
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, wait_idle(qp));
	for (i = 0; i < 1000 && READ_ONCE(qp->window.una) != 2; i++)
		msleep(1);
	KUNIT_EXPECT_LT(test, i, 1000);
	KUNIT_EXPECT_TRUE(test, wait_idle(qp));
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_TIMEOUT), 0);
	KUNIT_EXPECT_EQ(test, qp->window.at.psn, 4);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&qp->rxq), 1);
	/* What waits is counted, after it was looked at and put back, too. */
	KUNIT_EXPECT_GT(test, atomic_read(&qp->rxq_bytes), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&qp->rxq_bytes), atomic_long_read(&qp->dev->rxq_bytes));
	KUNIT_EXPECT_EQ(test, mem->state, SRN_MEM_VALID);
	migrate_enable();
	end_waiting(test, qp);
}

/* A peer's congestion notifications do not wait behind what waits for the answers that they slow
 * down: not where they come, nor where somebody else has the turn.
 */
static void srn_answer_notice_test(struct kunit *test)
{
	struct srn_qp *qp = &new_owner(test)->qp;
	struct srn_mem *mem = give_waiting(test, qp);
	int i;

	qp->cc = SRN_CC_DCQCN;
	migrate_disable();
	fake_route(test, &qp->path, hold);
	local_bh_disable();
	ask_and_wait(test, qp, mem);
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, wait_idle(qp));
	KUNIT_EXPECT_EQ(test, skb_queue_len(&qp->rxq), 1);
	local_bh_disable();
	srn_round_rx(qp, new_packet(test, SRN_OPCODE_CNP, 0));
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_CNP_HANDLED), 1);
	KUNIT_EXPECT_TRUE(test, wait_idle(qp));
	/* More than a round takes are there when the turn is given back. */
	srn_turn_own(&qp->turn);
	local_bh_disable();
	for (i = 0; i < 2 * SRN_ROUND_BUDGET; i++)
		srn_round_rx(qp, new_packet(test, SRN_OPCODE_CNP, 0));
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_CNP_HANDLED), 1);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&qp->noticeq), 2 * SRN_ROUND_BUDGET);
	srn_turn_disown(&qp->turn);
	KUNIT_EXPECT_TRUE(test, wait_idle(qp));
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_CNP_HANDLED), 2 * SRN_ROUND_BUDGET + 1);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&qp->rxq), 1);
	KUNIT_EXPECT_EQ(test, mem->state, SRN_MEM_VALID);
	migrate_enable();
	end_waiting(test, qp);
}

/* In RTS, with requests in flight; the test has its turn. */
static struct srn_qp *new_asking(struct kunit *test)
{
	struct srn_qp *qp = &new_owner(test)->qp;

	qp->state = IB_QPS_RTS;
	qp->resp.msg.psn = 1000;
	give_cq(test, qp);
	give_clock(test, qp);
	give_in_flight(test, qp);
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_RX));
	return qp;
}

/* More requests than a round takes stand before the answer. They are of the past, so that each
 * is looked at and nothing comes of it; their order stays.
 */
static void srn_answer_behind_many_test(struct kunit *test)
{
	struct srn_qp *qp = new_asking(test);
	int i;

	local_bh_disable();
	for (i = 0; i < 2 * SRN_ROUND_BUDGET; i++)
		srn_round_rx(qp, new_packet(test, IB_OPCODE_RC_RDMA_WRITE_MIDDLE, i));
	srn_round_rx(qp, new_packet(test, IB_OPCODE_RC_ACKNOWLEDGE, 1));
	srn_clock_set(&qp->clock, SRN_ALARM_ACK, 0);
	qp->turn.run(&qp->turn, SRN_TURN_RX | SRN_TURN_TIMER);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, qp->window.una, 2);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_TIMEOUT), 0);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&qp->rxq), SRN_ROUND_BUDGET);
	KUNIT_EXPECT_EQ(test, srn_pkt(skb_peek(&qp->rxq))->psn, SRN_ROUND_BUDGET);
	KUNIT_EXPECT_EQ(test, srn_pkt(skb_peek_tail(&qp->rxq))->psn, 2 * SRN_ROUND_BUDGET - 1);
	srn_round_purge(qp);
	srn_turn_disown(&qp->turn);
}

/* The way to a NAK is the NAPI's: who gives the turn of a QP in error back, or takes it from
 * there to ring, is not kept by what the peer has asked for.
 */
static void srn_answer_fatal_is_not_mine_test(struct kunit *test)
{
	const u32 npsn = 40 * SRN_ROUND_BUDGET;
	struct srn_qp *qp = &new_owner(test)->qp;
	struct srn_mem *mem = give_memory(test, qp, npsn * MTU);

	give_cq(test, qp);
	local_bh_disable();
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_RX));
	srn_round_rx(qp, new_read(test, 0, mem, npsn * MTU));
	/* The QP allows no atomics: a NAK, behind the answer. */
	srn_round_rx(qp, new_packet(test, IB_OPCODE_RC_FETCH_ADD, npsn));
	KUNIT_EXPECT_FALSE(test, srn_turn_run_here(&qp->turn));
	KUNIT_EXPECT_EQ(test, qp->state, IB_QPS_ERR);
	KUNIT_EXPECT_LE(test, qp->resp.replay.slots[0].psn, SRN_ROUND_BUDGET);
	KUNIT_EXPECT_EQ(test, srn_round_doorbell(qp), SRN_HEARD);
	KUNIT_EXPECT_LE(test, qp->resp.replay.slots[0].psn, 2 * SRN_ROUND_BUDGET);
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, wait_idle(qp));
	KUNIT_EXPECT_EQ(test, qp->resp.replay.slots[0].psn, npsn);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_SENT_NAK), 1);
}

/* Of a READ that is answered once more nobody depends: silence, and the QP stays. */
static void srn_answer_again_in_vain_test(struct kunit *test)
{
	struct srn_qp *qp = answer_in_vain(test, true);

	KUNIT_EXPECT_EQ(test, refused.naks, 0);
	KUNIT_EXPECT_EQ(test, qp->state, IB_QPS_RTR);
}

/* A peer that reads without end leaves half of each round to this side's own requests (C10). */
static void srn_answer_half_a_round_test(struct kunit *test)
{
	struct srn_qp *qp = &new_owner(test)->qp;
	struct srn_mem *mem = give_memory(test, qp, 4 * SRN_ROUND_BUDGET * MTU);
	u32 answered, sent;

	give_cq(test, qp);
	give_clock(test, qp);
	give_sends(test, qp, 1);
	srn_window_start(&qp->window, 0, MTU);
	qp->state = IB_QPS_RTS;
	migrate_disable();
	memset(&left, 0, sizeof(left));
	left.mem = mem;
	fake_route(test, &qp->path, leave);
	local_bh_disable();
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_RX));
	srn_round_rx(qp, new_read(test, 0, mem, 4 * SRN_ROUND_BUDGET * MTU));
	qp->turn.run(&qp->turn, SRN_TURN_RX | SRN_TURN_SQ);
	answered = qp->resp.replay.slots[0].psn;
	sent = qp->window.at.psn;
	srn_turn_run(&qp->turn);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, answered, SRN_ROUND_BUDGET / 2);
	KUNIT_EXPECT_EQ(test, sent, 1);
	KUNIT_EXPECT_TRUE(test, wait_idle(qp));
	migrate_enable();
}

/* A WRITE that asks, and a READ behind it, both at hand: the answer is the ACK. */
static void srn_answer_says_it_test(struct kunit *test)
{
	struct srn_qp *qp = &new_owner(test)->qp;
	struct srn_mem *mem = give_memory(test, qp, MTU);

	memset(&left, 0, sizeof(left));
	left.mem = mem;
	qp->resp.msg.psn = 1;
	migrate_disable();
	fake_route(test, &qp->path, leave);
	local_bh_disable();
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_RX));
	srn_ack_done(qp, 0, true);
	srn_round_rx(qp, new_read(test, 1, mem, MTU));
	srn_turn_run(&qp->turn);
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, wait_idle(qp));
	migrate_enable();
	KUNIT_EXPECT_EQ(test, left.packets, 1);
	KUNIT_EXPECT_FALSE(test, qp->resp.ack.pending);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_SENT_ACK), 0);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_ACK_DEFERRED), 1);
}

/* More answers than are taken before their time stand between requests: what is behind them
 * keeps its place.
 */
static void srn_answer_many_between_test(struct kunit *test)
{
	struct srn_qp *qp = new_asking(test);
	int i;

	local_bh_disable();
	/* One more than a round looks at, before. */
	for (i = 0; i <= SRN_ROUND_BUDGET; i++)
		srn_round_rx(qp, new_packet(test, IB_OPCODE_RC_RDMA_WRITE_MIDDLE, i));
	for (i = 0; i <= SRN_ROUND_BUDGET; i++)
		srn_round_rx(qp, new_packet(test, IB_OPCODE_RC_ACKNOWLEDGE, 1));
	srn_round_rx(qp, new_packet(test, IB_OPCODE_RC_RDMA_WRITE_MIDDLE, SRN_ROUND_BUDGET + 1));
	srn_clock_set(&qp->clock, SRN_ALARM_ACK, 0);
	qp->turn.run(&qp->turn, SRN_TURN_RX | SRN_TURN_TIMER);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, qp->window.una, 2);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&qp->rxq), 3);
	KUNIT_EXPECT_EQ(test, srn_pkt(skb_peek(&qp->rxq))->psn, SRN_ROUND_BUDGET);
	KUNIT_EXPECT_EQ(test, srn_pkt(skb_peek_tail(&qp->rxq))->psn, SRN_ROUND_BUDGET + 1);
	srn_round_purge(qp);
	KUNIT_EXPECT_EQ(test, atomic_read(&qp->rxq_bytes), 0);
	srn_turn_disown(&qp->turn);
}

#define MANY	(SRN_REPLAY_PARTS + 50)

/* Of a READ that was answered a peer asks for each packet again, more often than there is room. The
 * turn is the test's.
 */
static struct srn_mem *ask_for_many(struct kunit *test, struct srn_qp *qp)
{
	struct srn_mem *mem = give_memory(test, qp, MANY * MTU);
	struct srn_range part = { .va = mem->map.iova, .rkey = mem->key, .len = MTU };
	u32 i;

	qp->peer.sacks = true;
	left.mem = mem;
	fake_route(test, &qp->path, leave);
	local_bh_disable();
	srn_round_rx(qp, new_read(test, 0, mem, MANY * MTU));
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, wait_idle(qp));
	srn_turn_own(&qp->turn);
	for (i = 0; i < MANY; i++, part.va += MTU)
		srn_answer_again_read(qp, i, &part);
	memset(&left, 0, sizeof(left));
	left.mem = mem;
	return mem;
}

static void send_some(struct srn_qp *qp, int *budget)
{
	u32 psn;

	local_bh_disable();
	srn_answer_send(qp, budget, &psn);
	local_bh_enable();
}

/* What is too much is as if it were lost; the others are answered, a budget of them at a time. */
static void srn_answer_parts_test(struct kunit *test)
{
	struct srn_qp *qp = &new_owner(test)->qp;
	int budget = SRN_ROUND_BUDGET;

	migrate_disable();
	ask_for_many(test, qp);
	KUNIT_EXPECT_EQ(test, qp->resp.replay.num_parts, SRN_REPLAY_PARTS);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_PARTS_FULL), MANY - SRN_REPLAY_PARTS);
	send_some(qp, &budget);
	KUNIT_EXPECT_EQ(test, budget, 0);
	KUNIT_EXPECT_EQ(test, left.packets, SRN_ROUND_BUDGET);
	srn_turn_disown(&qp->turn);
	KUNIT_EXPECT_TRUE(test, wait_idle(qp));
	budget = SRN_REPLAY_PARTS;
	srn_turn_own(&qp->turn);
	send_some(qp, &budget);
	KUNIT_EXPECT_EQ(test, left.packets, SRN_REPLAY_PARTS);
	KUNIT_EXPECT_EQ(test, qp->resp.replay.open, 0);
	srn_turn_disown(&qp->turn);
	migrate_enable();
}

/* Those whose memory has been taken back take of the budget, too, and draw no NAK. */
static void srn_answer_parts_in_vain_test(struct kunit *test)
{
	struct srn_qp *qp = &new_owner(test)->qp;
	int budget = SRN_ROUND_BUDGET;
	struct srn_mem *mem;

	migrate_disable();
	mem = ask_for_many(test, qp);
	WRITE_ONCE(mem->state, SRN_MEM_FREE);
	send_some(qp, &budget);
	KUNIT_EXPECT_EQ(test, budget, 0);
	KUNIT_EXPECT_EQ(test, qp->resp.replay.num_parts, SRN_REPLAY_PARTS - SRN_ROUND_BUDGET);
	KUNIT_EXPECT_EQ(test, left.packets, 0);
	KUNIT_EXPECT_EQ(test, qp->state, IB_QPS_RTR);
	srn_replay_clear(&qp->resp.replay);
	srn_turn_disown(&qp->turn);
	migrate_enable();
}

static struct kunit_case srn_answer_cases[] = {
	KUNIT_CASE(srn_answer_long_read_goes_away_test),
	KUNIT_CASE(srn_answer_holds_nothing_test),
	KUNIT_CASE(srn_answer_unpaid_train_test),
	KUNIT_CASE(srn_answer_room_test),
	KUNIT_CASE(srn_answer_before_invalidate_test),
	KUNIT_CASE(srn_answer_refused_midway_test),
	KUNIT_CASE(srn_answer_again_in_vain_test),
	KUNIT_CASE(srn_answer_half_a_round_test),
	KUNIT_CASE(srn_answer_held_test),
	KUNIT_CASE(srn_answer_notice_test),
	KUNIT_CASE(srn_answer_behind_many_test),
	KUNIT_CASE(srn_answer_fatal_is_not_mine_test),
	KUNIT_CASE(srn_answer_says_it_test),
	KUNIT_CASE(srn_answer_many_between_test),
	KUNIT_CASE(srn_answer_parts_test),
	KUNIT_CASE(srn_answer_parts_in_vain_test),
	{}
};

static struct kunit_suite srn_answer_suite = {
	.name = "srn_answer",
	.test_cases = srn_answer_cases,
};

kunit_test_suite(srn_answer_suite);
