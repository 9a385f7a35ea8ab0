// SPDX-License-Identifier: GPL-2.0-only
/* Answers to READs over many rounds: what they hold, what they wait for, how they end in vain. */
#include "../answer.h"
#include "../cut.h"
#include "../limits.h"
#include "../mem.h"
#include "../requester.h"
#include "../stats.h"
#include "fake_reads.h"

#include <kunit/test.h>
#include <linux/bottom_half.h>
#include <rdma/ib_pack.h>

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
	struct sock *sk;
	int i;

	give_payer(test, qp);
	sk = qp->payer.sk;
	migrate_disable();
	fake_route(test, &qp->path, count_skb);
	for (i = 0; i < 3; i++) {
		memset(&left, 0, sizeof(left));
		left.mem = mem;
		srn_cut_is_paid = i == 1;
		/* One who does not pay, as RC's requester. */
		qp->payer.sk = i == 2 ? NULL : sk;
		local_bh_disable();
		srn_round_rx(qp, new_read(test, 8 * i, mem, 8 * MTU));
		local_bh_enable();
		KUNIT_EXPECT_EQ(test, left.packets, 8);
		/* FIRST and LAST, with an AETH, are longer than those in between. */
		KUNIT_EXPECT_EQ(test, left.skbs, i ? 3 : 8);
	}
	migrate_enable();
	qp->payer.sk = sk;
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

	skb_queue_head_init(&held);
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
		skb_queue_purge(&held);
		local_bh_enable();
	}
	KUNIT_EXPECT_EQ(test, qp->resp.replay.slots[0].psn, npsn);
	KUNIT_EXPECT_GT(test, i, 5);
	migrate_enable();
	skb_queue_purge(&held);
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

/* Of a READ that is answered once more nobody depends: silence, and the QP stays. */
static void srn_answer_again_in_vain_test(struct kunit *test)
{
	struct srn_qp *qp = answer_in_vain(test, true);

	KUNIT_EXPECT_EQ(test, refused.naks, 0);
	KUNIT_EXPECT_EQ(test, qp->state, IB_QPS_RTR);
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
	KUNIT_CASE(srn_answer_parts_test),
	KUNIT_CASE(srn_answer_parts_in_vain_test),
	{}
};

static struct kunit_suite srn_answer_suite = {
	.name = "srn_answer",
	.test_cases = srn_answer_cases,
};

kunit_test_suite(srn_answer_suite);
