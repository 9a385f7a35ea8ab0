// SPDX-License-Identifier: GPL-2.0-only
/* Answers to READs of who is on this host: what goes to its place at once, what does not, and what of it is
 * believed when it arrives.
 */
#include "../completer.h"
#include "../psn.h"
#include "../qpn.h"
#include "../stats.h"
#include "../straight.h"
#include "fake_round.h"
#include "fake_rx.h"

#include <kunit/test.h>
#include <linux/bottom_half.h>
#include <linux/delay.h>
#include <rdma/ib_pack.h>

#define MTU	64
#define NUM	4u
#define FIRST	0xfffffe	/* PSNs wrap within it */
#define VA	0x40000ff0	/* and the region's pages do not follow each other */
#define POISON	0xa5

/* Who answers, its region, who asked, and where the bytes are to go. */
struct both {
	struct srn_qp *qp;
	struct srn_qp *peer;
	struct srn_mem *mem;
	struct srn_wqe *wqe;
	u8 *bytes;
};

static void unpublish(void *ref)
{
	srn_qp_ref_unpublish(ref);
	srn_qp_ref_destroy(ref);
}

static u32 publish(struct kunit *test, struct srn_qp *qp)
{
	struct srn_qp_ref *ref = srn_qp_ref_create(qp, 0);

	KUNIT_ASSERT_FALSE(test, IS_ERR(ref));
	srn_qp_ref_publish(ref);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, unpublish, ref));
	return ref->qpn;
}

static u8 byte_at(u32 at)
{
	return at * 3 + 1;
}

static struct srn_mem *new_region(struct kunit *test, struct srn_qp *qp)
{
	struct srn_mem *mem = fake_mr(test, qp->dev, fake_pd(test, qp->dev), VA, NUM * MTU, VA & ~PAGE_MASK,
				      IB_ACCESS_REMOTE_READ);
	u64 here;
	u32 i;

	for (i = 0; i < NUM * MTU; i++)
		*(u8 *)srn_mem_span(mem, VA + i, &here) = byte_at(i);
	return mem;
}

/* A kernel user's READ of NUM packets, the last one shorter, is in flight. */
static struct srn_wqe *post_read(struct kunit *test, struct srn_qp *qp, u8 *bytes)
{
	const u32 len = NUM * MTU - 8;
	struct srn_wqe *wqe;

	give_sends(test, qp, 1);
	qp->sq.fetched = 1;
	wqe = srn_sq_wqe(&qp->sq, 0);
	wqe->opcode = IB_WR_RDMA_READ;
	wqe->length = len;
	wqe->num_sge = 1;
	wqe->sge[0] = (struct ib_sge){ .addr = (uintptr_t)bytes, .length = len, .lkey = SRN_LOCAL_DMA_LKEY };
	srn_sq_start(wqe, FIRST, NUM, NUM);
	srn_window_sent(&qp->window, NUM, true, true);
	qp->window.at.index = 1;
	return wqe;
}

static struct both new_both(struct kunit *test)
{
	struct both b = { .qp = &new_owner(test)->qp, .peer = &new_owner(test)->qp };

	b.bytes = kunit_kmalloc(test, NUM * MTU, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, b.bytes);
	memset(b.bytes, POISON, NUM * MTU);
	b.qp->mtu = MTU;
	b.peer->mtu = MTU;
	b.peer->state = IB_QPS_RTS;
	swap(b.peer->path.v4.saddr, b.peer->path.v4.daddr);
	b.qp->who.qpn = publish(test, b.qp);
	b.peer->who.qpn = publish(test, b.peer);
	b.qp->dest_qpn = b.peer->who.qpn;
	b.peer->dest_qpn = b.qp->who.qpn;
	b.qp->resp.carried_psn = FIRST;
	give_clock(test, b.peer);
	srn_window_start(&b.peer->window, FIRST, MTU);
	b.wqe = post_read(test, b.peer, b.bytes);
	b.mem = new_region(test, b.qp);
	return b;
}

/* @num packets, from the READ's packet @from on. */
static bool place(const struct both *b, u32 from, u32 num)
{
	bool placed;

	local_bh_disable();
	placed = srn_straight_place(b->qp, srn_psn_add(FIRST, from), num, b->mem, VA + from * MTU,
				    min(num * MTU, NUM * MTU - 8 - from * MTU));
	local_bh_enable();
	return placed;
}

static void expect_placed(struct kunit *test, const struct both *b, u32 from, u32 to)
{
	u32 i, wrong = 0;

	for (i = 0; i < NUM * MTU; i++)
		wrong += b->bytes[i] != (i >= from && i < to ? byte_at(i) : POISON);
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

/* It is all there at once, and nothing is held; the peer's turn is free again. */
static void srn_straight_places_test(struct kunit *test)
{
	struct both b = new_both(test);

	KUNIT_EXPECT_TRUE(test, place(&b, 0, NUM));
	expect_placed(test, &b, 0, NUM * MTU - 8);
	KUNIT_EXPECT_EQ(test, b.wqe->placed_psn, srn_psn_add(FIRST, NUM));
	KUNIT_EXPECT_EQ(test, b.peer->window.una, FIRST);
	KUNIT_EXPECT_EQ(test, atomic_read(&b.peer->turn.bits), 0);
	KUNIT_EXPECT_EQ(test, refcount_read(&b.mem->refs), 1);
}

/* What was carried last, long ago, does not seem to be ahead one day. */
static void srn_straight_long_ago_test(struct kunit *test)
{
	struct both b = new_both(test);

	b.qp->resp.carried_psn = srn_psn_add(FIRST, -0x7fffff);
	KUNIT_EXPECT_TRUE(test, place(&b, 0, NUM));
	KUNIT_EXPECT_EQ(test, b.qp->resp.carried_psn, FIRST);
}

/* In parts, of which one comes again. */
static void srn_straight_parts_test(struct kunit *test)
{
	struct both b = new_both(test);

	KUNIT_EXPECT_TRUE(test, place(&b, 0, 1));
	expect_placed(test, &b, 0, MTU);
	KUNIT_EXPECT_TRUE(test, place(&b, 1, 2));
	expect_placed(test, &b, 0, 3 * MTU);
	memset(b.bytes, POISON, MTU);
	KUNIT_EXPECT_TRUE(test, place(&b, 0, 1));
	KUNIT_EXPECT_EQ(test, b.wqe->placed_psn, srn_psn_add(FIRST, 3));
	expect_placed(test, &b, 0, 3 * MTU);
}

/* What came with its bytes is as good as placed. */
static void srn_straight_behind_packets_test(struct kunit *test)
{
	struct both b = new_both(test);

	b.wqe->done_psn = srn_psn_add(FIRST, 2);
	b.peer->window.una = b.wqe->done_psn;
	KUNIT_EXPECT_FALSE(test, place(&b, 1, 2));
	KUNIT_EXPECT_FALSE(test, place(&b, 3, 1));
	KUNIT_EXPECT_TRUE(test, place(&b, 2, 2));
	expect_placed(test, &b, 2 * MTU, NUM * MTU - 8);
}

/* Who answers a request that was forged, of another length, places nothing. */
static void srn_straight_length_test(struct kunit *test)
{
	struct both b = new_both(test);
	u32 len;

	local_bh_disable();
	for (len = NUM * MTU - 9; len <= NUM * MTU - 7; len++)
		KUNIT_EXPECT_EQ(test, srn_straight_place(b.qp, FIRST, NUM, b.mem, VA, len), len == NUM * MTU - 8);
	local_bh_enable();
	expect_placed(test, &b, 0, NUM * MTU - 8);
}

static struct srn_turn *ran_first;

static enum srn_left note_first(struct srn_turn *turn, unsigned int bits)
{
	if (!ran_first)
		ran_first = turn;
	return SRN_LEFT_NOTHING;
}

/* Who waits for the NAPI keeps his place there, whoever says that he talks to him. */
static void srn_straight_stranger_test(struct kunit *test)
{
	struct both b = new_both(test);
	struct srn_turn *other = kunit_kzalloc(test, sizeof(*other), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, other);
	b.peer->dest_qpn++;
	b.peer->turn.run = note_first;
	srn_turn_init(other, note_first);
	ran_first = NULL;
	local_bh_disable();
	srn_turn_defer(&b.peer->turn, SRN_TURN_SQ);
	srn_turn_defer(other, SRN_TURN_SQ);
	KUNIT_EXPECT_FALSE(test, place(&b, 0, NUM));
	local_bh_enable();
	for (i = 0; i < 1000 && (atomic_read(&other->bits) || atomic_read(&b.peer->turn.bits)); i++)
		msleep(1);
	KUNIT_EXPECT_PTR_EQ(test, ran_first, &b.peer->turn);
	expect_placed(test, &b, 0, 0);
}

/* Nothing is written behind what was answered, though nobody has said so yet. */
static void srn_straight_answered_test(struct kunit *test)
{
	struct both b = new_both(test);

	b.wqe->done_psn = srn_psn_add(FIRST, 2);
	KUNIT_EXPECT_FALSE(test, place(&b, 1, 3));
	expect_placed(test, &b, 0, 0);
}

/* Why the bytes have to be sent. */
struct reason {
	const char *desc;
	void (*make)(struct both *b);
};

#define REASON(_name, _what)		\
static void _name(struct both *b)	\
{					\
	_what;				\
}

REASON(nobody, b->qp->dest_qpn++)
REASON(another_peer, b->peer->dest_qpn++)
REASON(another_address, b->peer->path.v4.daddr ^= htonl(1))
REASON(another_source, b->peer->path.v4.saddr ^= htonl(1))
REASON(another_version, b->qp->path.is_v6 = true)
REASON(another_namespace, b->peer->dev->net = NULL)
REASON(another_type, b->peer->svc = srn_service_of(IB_QPT_UC))
REASON(another_mtu, b->peer->mtu *= 2)
REASON(in_rtr, b->peer->state = IB_QPS_RTR)
REASON(in_error, b->peer->state = IB_QPS_ERR)
REASON(no_read, b->wqe->opcode = IB_WR_RDMA_WRITE)
REASON(not_begun, b->wqe->started = false)
REASON(not_asked, b->peer->window.end = FIRST)
REASON(shorter, b->wqe->last_psn = srn_psn_add(FIRST, NUM - 2))
REASON(not_posted, b->peer->sq.fetched = 0)
REASON(no_key, b->wqe->sge[0].lkey++)
REASON(no_room, b->wqe->sge[0].length -= 1)
REASON(carried_ahead, b->qp->resp.carried_psn = srn_psn_add(FIRST, 1))
REASON(asked_in_part, b->peer->window.end = srn_psn_add(FIRST, NUM - 1))
REASON(asked_in_two, b->wqe->chunk = 2)
REASON(gap, b->wqe->placed_psn = b->wqe->done_psn = srn_psn_add(FIRST, -1))

#define FOR(_f)	{ #_f, _f }

static const struct reason reasons[] = {
	FOR(nobody), FOR(another_peer), FOR(another_address), FOR(another_source), FOR(another_version),
	FOR(another_namespace), FOR(another_type), FOR(another_mtu), FOR(in_rtr), FOR(in_error), FOR(no_read),
	FOR(not_begun), FOR(not_asked), FOR(shorter), FOR(not_posted), FOR(no_key), FOR(no_room),
	FOR(carried_ahead), FOR(asked_in_part), FOR(asked_in_two), FOR(gap),
};

KUNIT_ARRAY_PARAM_DESC(reason, reasons, desc);

static void srn_straight_refused_test(struct kunit *test)
{
	const struct reason *reason = test->param_value;
	struct both b = new_both(test);

	reason->make(&b);
	KUNIT_EXPECT_FALSE(test, place(&b, 0, NUM));
	expect_placed(test, &b, 0, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&b.peer->turn.bits), 0);
}

/* Nor is a peer waited for that is busy, or whose news nobody has looked at. */
static void srn_straight_busy_test(struct kunit *test)
{
	struct both b = new_both(test);
	bool listed;

	local_bh_disable();
	KUNIT_EXPECT_TRUE(test, srn_turn_borrow(&b.peer->turn, &listed));
	KUNIT_EXPECT_FALSE(test, place(&b, 0, NUM));
	srn_turn_return(&b.peer->turn, listed);
	atomic_set(&b.peer->turn.bits, SRN_TURN_SQ);
	KUNIT_EXPECT_FALSE(test, place(&b, 0, NUM));
	atomic_set(&b.peer->turn.bits, 0);
	local_bh_enable();
	expect_placed(test, &b, 0, 0);
}

/* A QP that talks to itself has its turn already. */
static void srn_straight_itself_test(struct kunit *test)
{
	struct both b = new_both(test);
	bool listed;

	b.peer->dest_qpn = b.peer->who.qpn;
	b.peer->path.v4.daddr = b.peer->path.v4.saddr;
	b.peer->resp.carried_psn = FIRST;
	b.qp = b.peer;
	local_bh_disable();
	KUNIT_ASSERT_TRUE(test, srn_turn_borrow(&b.peer->turn, &listed));
	KUNIT_EXPECT_FALSE(test, place(&b, 0, NUM));
	srn_turn_return(&b.peer->turn, listed);
	local_bh_enable();
	expect_placed(test, &b, 0, 0);
}

/* The answer's @num packets as one, without a byte. */
static void come_bare(struct kunit *test, const struct both *b, u32 num)
{
	struct sk_buff *skb = new_packet(test, IB_OPCODE_RC_RDMA_READ_RESPONSE_FIRST, FIRST);
	struct srn_pkt *pkt = srn_pkt(skb);
	bool listed;

	pkt->flags = SRN_PKT_BARE;
	pkt->more = num - 1;
	pkt->each = MTU;
	pkt->last = num == NUM ? IB_OPCODE_RC_RDMA_READ_RESPONSE_LAST : IB_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE;
	pkt->len = min(num * MTU, NUM * MTU - 8);
	local_bh_disable();
	KUNIT_ASSERT_TRUE(test, srn_turn_borrow(&b->peer->turn, &listed));
	rx_answer(b->peer, skb);
	srn_turn_return(&b->peer->turn, listed);
	local_bh_enable();
}

/* Then it is answered. */
static void srn_straight_taken_test(struct kunit *test)
{
	struct both b = new_both(test);

	KUNIT_EXPECT_TRUE(test, place(&b, 0, NUM));
	come_bare(test, &b, NUM);
	KUNIT_EXPECT_EQ(test, b.peer->window.una, srn_psn_add(FIRST, NUM));
	KUNIT_EXPECT_EQ(test, b.peer->sq.una, 1);
	expect_placed(test, &b, 0, NUM * MTU - 8);
}

/* What says so and is not true, as whoever may send on this host can do, is as if it had been lost. */
static void srn_straight_forged_test(struct kunit *test)
{
	struct both b = new_both(test);

	come_bare(test, &b, NUM);
	KUNIT_EXPECT_EQ(test, b.peer->window.una, FIRST);
	KUNIT_EXPECT_TRUE(test, place(&b, 0, 2));
	come_bare(test, &b, 3);
	KUNIT_EXPECT_EQ(test, b.peer->window.una, FIRST);
	KUNIT_EXPECT_EQ(test, b.peer->state, IB_QPS_RTS);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(b.peer->dev, SRN_CNT_UNPLACED), 2);
	come_bare(test, &b, 2);
	KUNIT_EXPECT_EQ(test, b.peer->window.una, srn_psn_add(FIRST, 2));
}

static struct kunit_case srn_straight_cases[] = {
	KUNIT_CASE(srn_straight_places_test),
	KUNIT_CASE(srn_straight_long_ago_test),
	KUNIT_CASE(srn_straight_parts_test),
	KUNIT_CASE(srn_straight_behind_packets_test),
	KUNIT_CASE(srn_straight_answered_test),
	KUNIT_CASE(srn_straight_length_test),
	KUNIT_CASE(srn_straight_stranger_test),
	KUNIT_CASE_PARAM(srn_straight_refused_test, reason_gen_params),
	KUNIT_CASE(srn_straight_busy_test),
	KUNIT_CASE(srn_straight_itself_test),
	KUNIT_CASE(srn_straight_taken_test),
	KUNIT_CASE(srn_straight_forged_test),
	{}
};

static struct kunit_suite srn_straight_suite = {
	.name = "srn_straight",
	.test_cases = srn_straight_cases,
};

kunit_test_suite(srn_straight_suite);
