// SPDX-License-Identifier: GPL-2.0-only
/* Answers to a READ that come before their turn: where their bytes go, what is known of them then,
 * and what is asked for again.
 */
#include "../completer.h"
#include "../board.h"
#include "../gaps.h"
#include "../lost.h"
#include "../stats.h"
#include "fake_round.h"
#include "fake_rx.h"

#include <kunit/test.h>
#include <linux/bottom_half.h>
#include <linux/ktime.h>
#include <rdma/ib_pack.h>

/* Less than any path's, so that packets fit where their headers do. */
#define MTU	64
#define NUM	3u
#define POISON	0xa5

struct reader {
	struct srn_qp *qp;
	u8 *bytes;
};

static void stop(void *qp)
{
	srn_lost_stop(qp);
	srn_gaps_stop(qp);
	srn_early_free(&((struct srn_qp *)qp)->early);
}

/* A kernel user's READ of NUM packets is in flight. */
static struct reader new_reader(struct kunit *test, bool parts)
{
	struct srn_qp *qp = &new_owner(test)->qp;
	u8 *bytes = kunit_kmalloc(test, NUM * MTU, GFP_KERNEL);
	struct srn_wqe *wqe;

	KUNIT_ASSERT_NOT_NULL(test, bytes);
	memset(bytes, POISON, NUM * MTU);
	qp->state = IB_QPS_RTS;
	qp->mtu = MTU;
	qp->recovery = parts ? SRN_RECOVERY_SACK : SRN_RECOVERY_HOLD;
	qp->peer = (struct srn_peer){ .sacks = parts, .parts = parts };
	give_clock(test, qp);
	know_path(qp);
	give_sends(test, qp, 1);
	qp->sq.fetched = 1;
	wqe = srn_sq_wqe(&qp->sq, 0);
	wqe->opcode = IB_WR_RDMA_READ;
	wqe->length = NUM * MTU;
	wqe->num_sge = 1;
	wqe->sge[0] = (struct ib_sge){ .addr = (uintptr_t)bytes, .length = NUM * MTU,
				       .lkey = SRN_LOCAL_DMA_LKEY };
	srn_sq_start(wqe, 0, NUM, NUM);
	srn_window_sent(&qp->window, NUM, true, true);
	qp->window.at.index = 1;
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_SQ));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, stop, qp));
	return (struct reader){ .qp = qp, .bytes = bytes };
}

static u8 value(u32 psn)
{
	return psn + 1;
}

static struct sk_buff *new_answer(struct kunit *test, u32 psn)
{
	static const u8 opcodes[NUM] = {
		IB_OPCODE_RC_RDMA_READ_RESPONSE_FIRST, IB_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE,
		IB_OPCODE_RC_RDMA_READ_RESPONSE_LAST,
	};
	struct sk_buff *skb = new_packet(test, opcodes[psn], psn);

	memset(skb_put(skb, MTU), value(psn), MTU);
	srn_pkt(skb)->len = MTU;
	return skb;
}

static void answer(struct kunit *test, const struct reader *r, u32 psn)
{
	struct sk_buff *skb = new_answer(test, psn);

	rx_answer(r->qp, skb);
}

static void expect_bytes(struct kunit *test, const struct reader *r, u32 psn, u8 want)
{
	KUNIT_EXPECT_NULL_MSG(test, memchr_inv(r->bytes + psn * MTU, want, MTU), "packet %u", psn);
}

static void expect_early(struct kunit *test, const struct reader *r, u32 num)
{
	KUNIT_EXPECT_EQ(test, srn_stats_sum(r->qp->dev, SRN_CNT_EARLY), num);
	KUNIT_EXPECT_EQ(test, r->qp->early.any, num > 0);
}

/* What is missing, [0, @num), is asked for; of a peer that does not say that it answers parts all
 * from there on is.
 */
static void expect_asked(struct kunit *test, const struct reader *r, u32 num)
{
	u32 psn = U32_MAX;

	if (r->qp->peer.parts) {
		KUNIT_EXPECT_EQ(test, srn_gaps_next(r->qp, ktime_get_ns(), &psn), num);
		KUNIT_EXPECT_EQ(test, psn, 0);
		return;
	}
	KUNIT_EXPECT_TRUE(test, r->qp->resend.ask);
	KUNIT_EXPECT_EQ(test, r->qp->resend.ask_psn, 0);
}

static void expect_done(struct kunit *test, const struct reader *r)
{
	u32 psn;

	KUNIT_EXPECT_EQ(test, r->qp->window.una, NUM);
	KUNIT_EXPECT_EQ(test, r->qp->sq.una, 1);
	for (psn = 0; psn < NUM; psn++)
		expect_bytes(test, r, psn, value(psn));
}

static void peer_desc(const bool *parts, char *desc)
{
	const char *is = *parts ? "answers each part" : "as the standard has it";

	strscpy(desc, is, KUNIT_PARAM_DESC_SIZE);
}

static const bool peers[] = { false, true };

KUNIT_ARRAY_PARAM(peer, peers, peer_desc);

/* Placed at once, and taken when its turn comes. */
static void srn_completer_early_test(struct kunit *test)
{
	struct reader r = new_reader(test, *(const bool *)test->param_value);

	answer(test, &r, 1);
	expect_bytes(test, &r, 1, value(1));
	expect_early(test, &r, 1);
	answer(test, &r, 2);
	expect_early(test, &r, 2);
	expect_asked(test, &r, 1);
	KUNIT_EXPECT_EQ(test, r.qp->window.una, 0);
	answer(test, &r, 0);
	expect_done(test, &r);
}

/* The second of three requests was lost, as a SACK said, and went again: its answer, before its turn,
 * says that it came.
 */
static void srn_completer_early_says_request_came_test(struct kunit *test)
{
	struct reader r = new_reader(test, true);
	struct srn_score *s = srn_board_get(r.qp, &r.qp->score);
	struct srn_score_wait wait = srn_board_wait(r.qp);
	DECLARE_BITMAP(third, 1) = { 1 };
	u64 now = ktime_get_ns();
	u32 psn = U32_MAX;

	KUNIT_ASSERT_NOT_NULL(test, s);
	KUNIT_EXPECT_EQ(test, srn_score_heard(s, 1, third, 1, &wait, now), 2);
	KUNIT_EXPECT_EQ(test, srn_lost_next(r.qp, now, &psn), 1);
	KUNIT_EXPECT_EQ(test, psn, 1);
	srn_lost_sent(r.qp, now, 1, 1);
	answer(test, &r, 1);
	expect_early(test, &r, 1);
	KUNIT_EXPECT_EQ(test, s->out, 0);
	KUNIT_EXPECT_EQ(test, srn_lost_next(r.qp, now + 10 * NSEC_PER_SEC, &psn), 0);
	/* A peer that misses the oldest one has not let go of it. */
	srn_lost_missed(r.qp);
	KUNIT_EXPECT_PTR_EQ(test, r.qp->score, s);
}

#ifdef CONFIG_FAILSLAB
static void answer_poorly(struct kunit *test, const struct reader *r, u32 psn)
{
	struct sk_buff *skb = new_answer(test, psn);
	unsigned int unmet;

	local_bh_disable();
	current->fail_nth = 1;
	rx_answer(r->qp, skb);
	unmet = current->fail_nth;
	current->fail_nth = 0;
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, unmet, 0);
}

/* Where there is no memory to remember it, it is as if it had been lost: none of its bytes is there,
 * and it is asked for again, though those behind it are taken.
 */
static void srn_completer_early_without_memory_test(struct kunit *test)
{
	struct reader r = new_reader(test, *(const bool *)test->param_value);

	/* Then all of the memory that there is for it. */
	KUNIT_EXPECT_EQ(test, srn_gaps_reached(r.qp, 0), r.qp->peer.parts);
	answer_poorly(test, &r, 1);
	expect_bytes(test, &r, 1, POISON);
	expect_early(test, &r, 0);
	answer(test, &r, 2);
	expect_bytes(test, &r, 1, POISON);
	expect_early(test, &r, 1);
	expect_asked(test, &r, 2);
	answer(test, &r, 0);
	KUNIT_EXPECT_EQ(test, r.qp->window.una, 1);
	answer(test, &r, 1);
	expect_done(test, &r);
}
#endif

static struct kunit_case srn_completer_cases[] = {
	KUNIT_CASE_PARAM(srn_completer_early_test, peer_gen_params),
	KUNIT_CASE(srn_completer_early_says_request_came_test),
#ifdef CONFIG_FAILSLAB
	KUNIT_CASE_PARAM(srn_completer_early_without_memory_test, peer_gen_params),
#endif
	{}
};

static struct kunit_suite srn_completer_suite = {
	.name = "srn_completer",
	.test_cases = srn_completer_cases,
};
kunit_test_suite(srn_completer_suite);
