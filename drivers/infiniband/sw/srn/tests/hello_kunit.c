// SPDX-License-Identifier: GPL-2.0-only
/* Hellos: when one leaves, and what follows from its answer. */
#include "../build.h"
#include "../completer.h"
#include "../hello.h"
#include "../requester.h"
#include "../retry.h"
#include "../sack.h"
#include "../stats.h"
#include "../wire.h"
#include "fake_round.h"
#include "fake_route.h"

#include <kunit/test.h>
#include <linux/bottom_half.h>
#include <linux/udp.h>
#include <linux/unaligned.h>
#include <rdma/ib_pack.h>

#define MTU	1024
/* So many PSNs behind the expected one it is heard no more. */
#define FAR	(2 * SRN_HOLD_AHEAD)
#define HELLO	(SRN_SACK_MAGIC << 16 | SRN_SACK_VERSION << 8 | 1)

/* What the wire was given: BTHs of the first packets, and what the last hello says. */
static struct {
	struct srn_bth bths[8];
	struct srn_hello_fields hello;
	u32 num;
} left;

static void note(const void *bth)
{
	if (left.num < ARRAY_SIZE(left.bths))
		memcpy(&left.bths[left.num++], bth, sizeof(struct srn_bth));
}

static int leave(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	const struct sk_buff *part;
	const struct srn_bth *bth = (void *)(skb_transport_header(skb) + sizeof(struct udphdr));

	note(bth);
	if (bth->opcode == IB_OPCODE_RC_RDMA_WRITE_ONLY)
		memcpy(&left.hello, bth + 1, sizeof(left.hello));
	for (part = skb_shinfo(skb)->frag_list; part; part = part->next)
		note(part->data);
	kfree_skb(skb);
	return 0;
}

static void expect_left(struct kunit *test, u32 i, u8 opcode, u32 psn)
{
	KUNIT_ASSERT_LT(test, i, left.num);
	KUNIT_EXPECT_EQ(test, left.bths[i].opcode, opcode);
	KUNIT_EXPECT_EQ(test, be32_get_bits(left.bths[i].apsn, SRN_BTH_PSN), psn);
}

/* Its SENDs have not begun; the turn is the test's until stop(). */
static struct srn_qp *start(struct kunit *test, u32 num)
{
	struct srn_qp *qp = &new_owner(test)->qp;

	memset(&left, 0, sizeof(left));
	migrate_disable();
	qp->state = IB_QPS_RTS;
	qp->mtu = MTU;
	qp->timeout = 20;
	qp->sq_psn = SRN_PSN_MASK;
	qp->recovery = SRN_RECOVERY_SACK;
	srn_hello_start(qp);
	give_sends(test, qp, num);
	give_clock(test, qp);
	srn_requester_start(qp);
	fake_route(test, &qp->path, leave);
	local_bh_disable();
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_SQ));
	return qp;
}

static void stop(void)
{
	local_bh_enable();
	migrate_enable();
}

/* One packet in a round, so that none are packed. */
static void run(struct srn_qp *qp, int num)
{
	int budget;

	while (num--) {
		budget = 1;
		srn_requester_run(qp, &budget);
	}
}

static void ack(struct kunit *test, struct srn_qp *qp, u32 psn)
{
	srn_completer_rx(qp, new_packet(test, IB_OPCODE_RC_ACKNOWLEDGE, psn));
}

/* In front of the first packet that leaves behind an ACK. */
static void srn_hello_behind_ack_test(struct kunit *test)
{
	struct srn_qp *qp = start(test, 4);

	run(qp, 1);
	KUNIT_EXPECT_EQ(test, left.num, 1);
	ack(test, qp, SRN_PSN_MASK);
	KUNIT_EXPECT_EQ(test, left.num, 1);
	run(qp, 2);
	stop();
	KUNIT_EXPECT_EQ(test, left.num, 4);
	expect_left(test, 1, IB_OPCODE_RC_RDMA_WRITE_ONLY, SRN_PSN_MASK);
	KUNIT_EXPECT_EQ(test, be32_get_bits(left.bths[1].apsn, SRN_BTH_ACKREQ), 0);
	expect_left(test, 2, IB_OPCODE_RC_SEND_ONLY, 0);
	expect_left(test, 3, IB_OPCODE_RC_SEND_ONLY, 1);
	/* It takes no place in the window. */
	KUNIT_EXPECT_EQ(test, srn_window_inflight(&qp->window), 2);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_RETRANS), 0);
}

/* Behind the answer of a READ none may leave, nor with what goes a second time. */
static void srn_hello_waits_test(struct kunit *test)
{
	struct srn_qp *qp = start(test, 4);

	run(qp, 2);
	/* As of a READ: no ACK said it. */
	srn_window_acked(&qp->window, 0);
	run(qp, 1);
	KUNIT_EXPECT_EQ(test, left.num, 3);
	srn_hello_after_ack(&qp->peer, 0);
	qp->window.at = (struct srn_cursor){ .index = 1, .psn = 0 };
	run(qp, 2);
	stop();
	KUNIT_EXPECT_EQ(test, left.num, 5);
	expect_left(test, 3, IB_OPCODE_RC_SEND_ONLY, 0);
	expect_left(test, 4, IB_OPCODE_RC_SEND_ONLY, 1);
	KUNIT_EXPECT_TRUE(test, qp->peer.due);
}

/* Nor where an ACK came all PSNs ago. */
static void srn_hello_behind_read_test(struct kunit *test)
{
	struct srn_qp *qp = start(test, 2);

	srn_sq_wqe(&qp->sq, 0)->opcode = IB_WR_RDMA_READ;
	qp->max_rd_atomic = 1;
	srn_hello_after_ack(&qp->peer, 0);
	run(qp, 1);
	srn_completer_rx(qp, new_packet(test, IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY, SRN_PSN_MASK));
	KUNIT_EXPECT_EQ(test, qp->window.una, 0);
	run(qp, 1);
	stop();
	KUNIT_EXPECT_EQ(test, left.num, 2);
	expect_left(test, 0, IB_OPCODE_RC_RDMA_READ_REQUEST, SRN_PSN_MASK);
	expect_left(test, 1, IB_OPCODE_RC_SEND_ONLY, 0);
	KUNIT_EXPECT_TRUE(test, qp->peer.due);
}

/* A SACK packet of the peer's, which holds so many PSNs. */
static struct sk_buff *new_word(struct kunit *test, enum srn_sack_kind kind, u32 psn, u32 ahead)
{
	struct sk_buff *skb = new_packet(test, SRN_OPCODE_SACK, psn);
	struct srn_sack_fields *fields = skb_put_zero(skb, sizeof(*fields));

	put_unaligned_be32(HELLO - SRN_SACK_HELLO + kind, &fields->what);
	put_unaligned_be32(ahead, &fields->ahead);
	srn_pkt(skb)->len = sizeof(*fields);
	return skb;
}

static void answer_read(struct kunit *test, struct srn_qp *qp, u32 psn)
{
	srn_completer_rx(qp, new_packet(test, IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY, psn));
}

/* READs, and a SEND behind them. */
static struct srn_qp *start_reads(struct kunit *test, u32 num)
{
	struct srn_qp *qp = start(test, num + 1);
	u32 i;

	qp->max_rd_atomic = 4;
	for (i = 0; i < num; i++)
		srn_sq_wqe(&qp->sq, i)->opcode = IB_WR_RDMA_READ;
	return qp;
}

/* With the PSN in front of the first, which no READ has; not with what leaves first. */
static void srn_hello_reader_test(struct kunit *test)
{
	struct srn_qp *qp = start_reads(test, 4);

	run(qp, 2);
	KUNIT_EXPECT_EQ(test, left.num, 2);
	answer_read(test, qp, SRN_PSN_MASK);
	run(qp, 2);
	stop();
	KUNIT_EXPECT_EQ(test, left.num, 5);
	expect_left(test, 2, IB_OPCODE_RC_RDMA_WRITE_ONLY, SRN_PSN_MASK - 1);
	KUNIT_EXPECT_EQ(test, be32_get_bits(left.bths[2].apsn, SRN_BTH_ACKREQ), 0);
	expect_left(test, 3, IB_OPCODE_RC_RDMA_READ_REQUEST, 1);
	expect_left(test, 4, IB_OPCODE_RC_RDMA_READ_REQUEST, 2);
	KUNIT_EXPECT_FALSE(test, qp->peer.due);
}

/* A peer that has executed nothing else may answer it with any PSN, as rxe does: of READs no ACK
 * says anything, and until they are answered nothing leaves that one would complete.
 */
static void srn_hello_nonsense_test(struct kunit *test)
{
	struct srn_qp *qp = start_reads(test, 2);

	run(qp, 1);
	answer_read(test, qp, SRN_PSN_MASK);
	run(qp, 2);
	KUNIT_EXPECT_EQ(test, left.num, 3);
	expect_left(test, 1, IB_OPCODE_RC_RDMA_WRITE_ONLY, SRN_PSN_MASK - 1);
	expect_left(test, 2, IB_OPCODE_RC_RDMA_READ_REQUEST, 0);
	ack(test, qp, 0);
	KUNIT_EXPECT_EQ(test, qp->window.una, 0);
	answer_read(test, qp, 0);
	KUNIT_EXPECT_EQ(test, qp->window.una, 1);
	run(qp, 1);
	stop();
	expect_left(test, left.num - 1, IB_OPCODE_RC_SEND_ONLY, 1);
	KUNIT_EXPECT_FALSE(test, qp->peer.fence);
}

/* Who has met us answers with sense. */
static void srn_hello_met_reader_test(struct kunit *test)
{
	struct srn_qp *qp = start_reads(test, 2);
	struct sk_buff *skb;

	run(qp, 1);
	answer_read(test, qp, SRN_PSN_MASK);
	run(qp, 1);
	KUNIT_EXPECT_TRUE(test, qp->peer.fence);
	skb = new_word(test, SRN_SACK_ANSWER, SRN_PSN_MASK - 1, SRN_HOLD_WIDE);
	srn_hello_rx(qp, skb);
	kfree_skb(skb);
	KUNIT_EXPECT_TRUE(test, qp->peer.sacks);
	run(qp, 1);
	stop();
	KUNIT_EXPECT_EQ(test, left.num, 4);
	expect_left(test, 3, IB_OPCODE_RC_SEND_ONLY, 1);
}

struct reader_row {
	const char *desc;
	u32 una, end;		/* PSNs from the first one on */
	bool read, asks;
};

static const struct reader_row reader_rows[] = {
	{ "nothing was answered", 0, 1, true },
	{ "a READ was", 1, 2, true, true },
	{ "something else has begun", 1, 2, false },
	{ "as far as the peer hears it", 1, FAR - 2, true, true },
	{ "farther", 1, FAR - 1, true },
};

KUNIT_ARRAY_PARAM_DESC(reader, reader_rows, desc);

static void srn_hello_when_reader_test(struct kunit *test)
{
	const struct reader_row *row = test->param_value;
	struct srn_qp *qp = start(test, 1);

	srn_hello_begin(&qp->peer, row->read);
	qp->window.una = srn_psn_add(qp->sq_psn, row->una);
	qp->window.end = srn_psn_add(qp->sq_psn, row->end);
	srn_hello_send(qp);
	stop();
	KUNIT_EXPECT_EQ(test, left.num, row->asks);
	KUNIT_EXPECT_EQ(test, qp->peer.fence, row->asks);
	KUNIT_EXPECT_EQ(test, qp->peer.due, !row->asks);
}

/* Once the window was too far ahead, that PSN is a READ's when it comes round. */
static void srn_hello_of_reader_once_round_test(struct kunit *test)
{
	struct srn_qp *qp = start(test, 1);

	srn_hello_begin(&qp->peer, true);
	qp->window.una = srn_psn_add(qp->sq_psn, 1);
	qp->window.end = srn_psn_add(qp->sq_psn, FAR - 1);
	srn_hello_send(qp);
	qp->window.end = srn_psn_add(qp->sq_psn, 2);
	srn_hello_send(qp);
	KUNIT_EXPECT_EQ(test, left.num, 0);
	/* With that of a WRITE one may leave all the same. */
	srn_hello_after_ack(&qp->peer, qp->window.una);
	srn_hello_send(qp);
	stop();
	KUNIT_EXPECT_EQ(test, left.num, 1);
}

/* What it has no use for is 0, and not how many packets came twice. */
static void srn_hello_says_test(struct kunit *test)
{
	struct srn_qp *qp = start(test, 1);

	qp->resp.ack.twice = 5;
	qp->cc = SRN_CC_DCQCN;
	srn_hello_after_ack(&qp->peer, qp->window.una);
	srn_hello_send(qp);
	stop();
	KUNIT_EXPECT_EQ(test, left.num, 1);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(left.hello.ahead), BIT(31) | BIT(30) | SRN_HOLD_WIDE);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(left.hello.zero), 0);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(left.hello.what), HELLO);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(left.hello.len), 0);
}

#ifdef CONFIG_FAILSLAB
/* More than a CPU has at hand. */
#define AT_HAND	1000

/* One allocation of @qp's requester fails: all that is at hand is taken before. */
static void send_poorly(struct kunit *test, struct srn_qp *qp)
{
	struct sk_buff_head taken;
	struct sk_buff *skb;

	__skb_queue_head_init(&taken);
	do {
		current->fail_nth = 1;
		skb = srn_build(IB_OPCODE_RC_SEND_ONLY, SRN_BUILD_ALONE, 0, 0, 0);
		if (skb)
			__skb_queue_tail(&taken, skb);
	} while (skb && skb_queue_len(&taken) < AT_HAND);
	current->fail_nth = 1;
	srn_hello_send(qp);
	KUNIT_EXPECT_EQ(test, current->fail_nth, 0);
	current->fail_nth = 0;
	while ((skb = __skb_dequeue(&taken)))
		kfree_skb(skb);
}

/* Without memory it is not spent. */
static void srn_hello_without_memory_test(struct kunit *test)
{
	struct srn_qp *qp = start(test, 1);
	u8 few = qp->peer.left;

	srn_hello_after_ack(&qp->peer, qp->window.una);
	send_poorly(test, qp);
	KUNIT_EXPECT_EQ(test, left.num, 0);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_TX_NOMEM), 1);
	KUNIT_EXPECT_EQ(test, qp->peer.left, few);
	KUNIT_EXPECT_TRUE(test, qp->peer.due);
	srn_hello_send(qp);
	stop();
	KUNIT_EXPECT_EQ(test, left.num, 1);
	KUNIT_EXPECT_EQ(test, qp->peer.left, few - 1);
	KUNIT_EXPECT_FALSE(test, qp->peer.due);
}
#endif

/* A few, and none where nobody is asked. */
static void srn_hello_few_test(struct kunit *test)
{
	struct srn_qp *qp = start(test, 1);
	int i;

	for (i = 0; i < 10; i++) {
		srn_hello_later(&qp->peer);
		if (!qp->peer.due)
			break;
		srn_hello_after_ack(&qp->peer, qp->window.una);
		srn_hello_send(qp);
	}
	KUNIT_EXPECT_EQ(test, i, 4);
	KUNIT_EXPECT_EQ(test, left.num, 4);
	qp->recovery = SRN_RECOVERY_HOLD;
	srn_hello_start(qp);
	srn_hello_later(&qp->peer);
	KUNIT_EXPECT_FALSE(test, qp->peer.due);
	stop();
}

struct answer_row {
	const char *desc;
	enum ib_qp_state state;
	bool asked;
	s32 psn;		/* from the oldest on that is not acknowledged */
	bool believed;
};

static const struct answer_row answer_rows[] = {
	{ "answer", IB_QPS_RTS, true, -1, true },
	{ "near", IB_QPS_RTS, true, 1 - SRN_PSNS, true },
	{ "far", IB_QPS_RTS, true, -SRN_PSNS },
	{ "not asked for", IB_QPS_RTS, false, -1 },
	{ "in RTR", IB_QPS_RTR, false, -1 },
	{ "the oldest", IB_QPS_RTS, true, 0 },
	{ "ahead of una", IB_QPS_RTS, true, 1 },
};

KUNIT_ARRAY_PARAM_DESC(answer, answer_rows, desc);

/* A hello has a PSN that the peer is past, and so has its answer. */
static void srn_hello_believed_test(struct kunit *test)
{
	const struct answer_row *row = test->param_value;
	struct srn_qp *qp = &new_owner(test)->qp;
	u32 una = 5;

	qp->state = row->state;
	qp->recovery = SRN_RECOVERY_SACK;
	qp->mtu = MTU;
	srn_window_start(&qp->window, una, MTU);
	srn_hello_start(qp);
	qp->peer.left -= row->asked;
	local_bh_disable();
	srn_round_rx(qp, new_word(test, SRN_SACK_ANSWER, srn_psn_add(una, row->psn),
				  SRN_HOLD_WIDE));
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, wait_idle(qp));
	KUNIT_EXPECT_EQ(test, qp->peer.sacks, row->believed);
	KUNIT_EXPECT_EQ(test, qp->window.reach == SRN_HOLD_WIDE, row->believed);
}

/* A SACK says whether marks are told, too: the answer may be lost. */
static void srn_hello_sack_tells_test(struct kunit *test)
{
	u32 tells;

	for (tells = 0; tells < 2; tells++) {
		struct srn_qp *qp = start(test, 1);

		qp->cc = SRN_CC_DCQCN;
		run(qp, 1);
		srn_completer_rx(qp, new_word(test, SRN_SACK_HELD, SRN_PSN_MASK,
					      tells << 31 | SRN_HOLD_WIDE));
		stop();
		KUNIT_EXPECT_TRUE(test, qp->peer.sacks);
		KUNIT_EXPECT_EQ(test, qp->window.reach, SRN_HOLD_WIDE);
		KUNIT_EXPECT_EQ(test, qp->notifies, tells);
	}
}

static struct kunit_case srn_hello_cases[] = {
	KUNIT_CASE(srn_hello_behind_ack_test),
	KUNIT_CASE(srn_hello_waits_test),
	KUNIT_CASE(srn_hello_behind_read_test),
	KUNIT_CASE(srn_hello_reader_test),
	KUNIT_CASE(srn_hello_nonsense_test),
	KUNIT_CASE(srn_hello_met_reader_test),
	KUNIT_CASE_PARAM(srn_hello_when_reader_test, reader_gen_params),
	KUNIT_CASE(srn_hello_of_reader_once_round_test),
	KUNIT_CASE(srn_hello_says_test),
#ifdef CONFIG_FAILSLAB
	KUNIT_CASE(srn_hello_without_memory_test),
#endif
	KUNIT_CASE(srn_hello_few_test),
	KUNIT_CASE_PARAM(srn_hello_believed_test, answer_gen_params),
	KUNIT_CASE(srn_hello_sack_tells_test),
	{}
};

static struct kunit_suite srn_hello_suite = {
	.name = "srn_hello",
	.test_cases = srn_hello_cases,
};
kunit_test_suite(srn_hello_suite);
