// SPDX-License-Identifier: GPL-2.0-only
/* What is kept for duplicates, and how answers are cut. */
#include "../answer.h"
#include "../psn.h"
#include "../wire.h"
#include "fake_responder.h"

#include <kunit/test.h>
#include <rdma/ib_pack.h>

static void add_atomic(struct srn_qp *qp, u8 op, u32 psn, u64 orig)
{
	srn_replay_add_atomic(&qp->resp.replay, op, psn, 0, orig);
}

struct npsn_row {
	const char *desc;
	u32 len;
	u32 mtu;
	u32 want;
};

static const struct npsn_row npsn_rows[] = {
	{ "nothing takes one", 0, 1024, 1 },
	{ "one byte", 1, 1024, 1 },
	{ "one packet", 1024, 1024, 1 },
	{ "one byte more", 1025, 1024, 2 },
	{ "the longest message in the smallest packets", 1u << 31, 256, 1u << 23 },
	{ "the longest message but one byte", (1u << 31) - 1, 256, 1u << 23 },
};

KUNIT_ARRAY_PARAM_DESC(npsn, npsn_rows, desc);

static void srn_replay_npsn_test(struct kunit *test)
{
	const struct npsn_row *row = test->param_value;

	KUNIT_EXPECT_EQ(test, srn_replay_npsn(row->len, row->mtu), row->want);
}

/* A READ whose PSNs go over the end: 0xfffffe, 0xffffff, 0, 1, 2; the last packet
 * has 100 bytes.
 */
#define READ_PSN	0xfffffe
#define READ_LEN	(4 * MTU + 100)

struct part_row {
	const char *desc;
	u32 psn;
	struct srn_range range;
	bool want;
};

static const struct part_row part_rows[] = {
	{ "all of it", READ_PSN, { VA, RKEY, READ_LEN }, true },
	{ "from the packet after the wrap to the end", 0, { VA + 2 * MTU, RKEY, 2 * MTU + 100 }, true },
	{ "the last packet", 2, { VA + 4 * MTU, RKEY, 100 }, true },
	{ "one in the middle", 0xffffff, { VA + MTU, RKEY, MTU }, true },
	{ "part of one", 1, { VA + 3 * MTU, RKEY, 8 }, true },
	{ "the first one only", READ_PSN, { VA, RKEY, MTU }, true },
	{ "a byte too long", READ_PSN, { VA, RKEY, READ_LEN + 1 }, false },
	{ "a tail that is a byte too long", 2, { VA + 4 * MTU, RKEY, 101 }, false },
	{ "address of another packet", 0, { VA + MTU, RKEY, MTU }, false },
	{ "address inside the packet", 0, { VA + 2 * MTU + 4, RKEY, MTU }, false },
	{ "another key", READ_PSN, { VA, RKEY + 1, READ_LEN }, false },
	{ "nothing of something", 0, { VA + 2 * MTU, RKEY, 0 }, false },
};

KUNIT_ARRAY_PARAM_DESC(part, part_rows, desc);

static void srn_replay_part_test(struct kunit *test)
{
	const struct part_row *row = test->param_value;
	struct srn_qp *qp = fake_qp(test, 1);
	struct srn_replay_slot *slot;

	add_read(qp, READ_PSN, READ_LEN);
	slot = srn_replay_find(&qp->resp.replay, row->psn);
	KUNIT_ASSERT_NOT_NULL(test, slot);
	KUNIT_EXPECT_EQ(test, srn_replay_part(slot, MTU, row->psn, &row->range), row->want);
}

static void srn_replay_reads_test(struct kunit *test)
{
	struct srn_qp *qp = fake_qp(test, 2);
	struct srn_replay *replay = &qp->resp.replay;

	KUNIT_EXPECT_FALSE(test, srn_replay_reads(replay, RKEY));
	add_atomic(qp, SRN_OP_FETCH_ADD, 1, 0);
	KUNIT_EXPECT_FALSE(test, srn_replay_reads(replay, RKEY));
	add_read(qp, 2, 2 * MTU);
	KUNIT_EXPECT_TRUE(test, srn_replay_reads(replay, RKEY));
	KUNIT_EXPECT_FALSE(test, srn_replay_reads(replay, RKEY + 1));
	srn_replay_abandon(replay);
	KUNIT_EXPECT_FALSE(test, srn_replay_reads(replay, RKEY));
}

static void srn_replay_part_of_nothing_test(struct kunit *test)
{
	struct srn_range range = { .va = VA, .rkey = RKEY };
	struct srn_qp *qp = fake_qp(test, 1);
	struct srn_replay_slot *slot;

	add_read(qp, 7, 0);
	slot = srn_replay_find(&qp->resp.replay, 7);
	KUNIT_ASSERT_NOT_NULL(test, slot);
	KUNIT_EXPECT_TRUE(test, srn_replay_part(slot, MTU, 7, &range));
	range.len = 1;
	KUNIT_EXPECT_FALSE(test, srn_replay_part(slot, MTU, 7, &range));
}

/* The slow model of an answer: byte ranges one after the other. */
static void walk(struct kunit *test, struct srn_replay_slot *slot, u32 psn, u64 va, u32 len)
{
	struct srn_read_packet pkt;
	u32 done = 0, n = 0;
	bool last;

	slot->start_psn = psn;
	slot->psn = psn;
	slot->answer_len = len;
	do {
		u32 want = min_t(u32, MTU, len - done);
		u8 opcode;

		last = done + want == len;
		opcode = n ? (last ? IB_OPCODE_RC_RDMA_READ_RESPONSE_LAST :
				     IB_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE) :
			     (last ? IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY :
				     IB_OPCODE_RC_RDMA_READ_RESPONSE_FIRST);
		srn_replay_packet(slot, MTU, &pkt);
		KUNIT_EXPECT_EQ(test, pkt.opcode, opcode);
		KUNIT_EXPECT_EQ(test, pkt.aeth, n == 0 || last);
		KUNIT_EXPECT_EQ(test, pkt.last, last);
		KUNIT_EXPECT_EQ(test, pkt.len, want);
		KUNIT_EXPECT_EQ(test, pkt.left, len - done);
		if (want)
			KUNIT_EXPECT_EQ(test, pkt.va, va + done);
		done += want;
		n++;
		slot->psn = srn_psn_add(slot->psn, 1);
	} while (!last);
	KUNIT_EXPECT_EQ(test, n, srn_replay_npsn(len, MTU));
}

static void srn_replay_packet_test(struct kunit *test)
{
	static const u32 lens[] = { 0, 1, MTU - 1, MTU, MTU + 1, 2 * MTU, READ_LEN };
	struct srn_qp *qp = fake_qp(test, 1);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		add_read(qp, READ_PSN, lens[i]);
		walk(test, &qp->resp.replay.slots[0], READ_PSN, VA, lens[i]);
	}
}

/* Each part of a READ is an answer of its own. */
static void srn_replay_partial_packet_test(struct kunit *test)
{
	struct srn_qp *qp = fake_qp(test, 1);
	u32 i, n = srn_replay_npsn(READ_LEN, MTU);
	struct srn_replay_slot *slot;

	add_read(qp, READ_PSN, READ_LEN);
	slot = &qp->resp.replay.slots[0];
	for (i = 0; i < n; i++) {
		u32 psn = srn_psn_add(READ_PSN, i), left = READ_LEN - i * MTU;

		walk(test, slot, psn, VA + i * MTU, left);
		walk(test, slot, psn, VA + i * MTU, min_t(u32, left, MTU));
	}
}

static void srn_replay_find_test(struct kunit *test)
{
	struct srn_qp *qp = fake_qp(test, 3);
	struct srn_replay *replay = &qp->resp.replay;
	struct srn_replay_slot *slot;
	u32 psn;

	KUNIT_EXPECT_NULL(test, srn_replay_find(replay, 0));
	add_read(qp, READ_PSN, READ_LEN);
	for (psn = READ_PSN; psn != 3; psn = srn_psn_add(psn, 1))
		KUNIT_EXPECT_PTR_EQ(test, srn_replay_find(replay, psn), &replay->slots[0]);
	KUNIT_EXPECT_NULL(test, srn_replay_find(replay, 3));
	KUNIT_EXPECT_NULL(test, srn_replay_find(replay, READ_PSN - 1));

	add_atomic(qp, SRN_OP_FETCH_ADD, 3, 42);
	slot = srn_replay_find(replay, 3);
	KUNIT_ASSERT_NOT_NULL(test, slot);
	KUNIT_EXPECT_EQ(test, slot->op, SRN_OP_FETCH_ADD);
	KUNIT_EXPECT_EQ(test, slot->orig, 42);
}

/* The PSNs came round: what was asked last is meant. */
static void srn_replay_find_newest_test(struct kunit *test)
{
	struct srn_qp *qp = fake_qp(test, 3);
	struct srn_replay_slot *slot;

	add_atomic(qp, SRN_OP_FETCH_ADD, 5, 1);
	add_atomic(qp, SRN_OP_FETCH_ADD, 5, 2);
	slot = srn_replay_find(&qp->resp.replay, 5);
	KUNIT_ASSERT_NOT_NULL(test, slot);
	KUNIT_EXPECT_EQ(test, slot->orig, 2);
}

static void set_all_answered(struct srn_replay *replay)
{
	srn_replay_abandon(replay);
}

static void srn_replay_oldest_goes_test(struct kunit *test)
{
	struct srn_qp *qp = fake_qp(test, 3);
	struct srn_replay *replay = &qp->resp.replay;
	u32 psn;

	for (psn = 0; psn < 7; psn++) {
		KUNIT_EXPECT_TRUE(test, srn_replay_has_room(replay));
		add_atomic(qp, SRN_OP_CMP_SWAP, psn, psn);
		set_all_answered(replay);
	}
	for (psn = 0; psn < 4; psn++)
		KUNIT_EXPECT_NULL(test, srn_replay_find(replay, psn));
	for (; psn < 7; psn++)
		KUNIT_EXPECT_NOT_NULL(test, srn_replay_find(replay, psn));
}

static void srn_replay_room_test(struct kunit *test)
{
	struct srn_qp *qp = fake_qp(test, 2), *none = fake_qp(test, 0);
	struct srn_replay *replay = &qp->resp.replay;

	KUNIT_EXPECT_FALSE(test, srn_replay_has_room(&none->resp.replay));
	add_atomic(qp, SRN_OP_CMP_SWAP, 1, 0);
	add_read(qp, 2, 1);
	KUNIT_EXPECT_EQ(test, replay->open, 2);
	KUNIT_EXPECT_FALSE(test, srn_replay_has_room(replay));

	/* One that is only being answered again gives way. */
	set_all_answered(replay);
	KUNIT_EXPECT_EQ(test, replay->open, 0);
	srn_answer_again_atomic(qp, SRN_OP_CMP_SWAP, 1);
	KUNIT_EXPECT_EQ(test, replay->open, 1);
	KUNIT_EXPECT_TRUE(test, srn_replay_has_room(replay));
	add_atomic(qp, SRN_OP_CMP_SWAP, 3, 0);
	KUNIT_EXPECT_EQ(test, replay->open, 1);
}

/* Until its first answer has left, a READ owes a NAK when its memory goes. */
static void srn_replay_again_is_the_second_answer_test(struct kunit *test)
{
	struct srn_qp *qp = fake_qp(test, 1);
	struct srn_replay *replay = &qp->resp.replay;
	struct srn_replay_slot *slot = &replay->slots[0];

	add_read(qp, 1, 2 * MTU);
	srn_replay_again(replay, slot, 1, 2 * MTU);
	KUNIT_EXPECT_FALSE(test, slot->again);
	KUNIT_EXPECT_FALSE(test, srn_replay_has_room(replay));
	set_all_answered(replay);
	srn_replay_again(replay, slot, 1, 2 * MTU);
	KUNIT_EXPECT_TRUE(test, slot->again);
	srn_replay_again(replay, slot, 2, MTU);
	KUNIT_EXPECT_TRUE(test, slot->again);
	KUNIT_EXPECT_EQ(test, replay->open, 1);
}

static void srn_replay_again_other_op_test(struct kunit *test)
{
	struct srn_range range = { .va = VA, .rkey = RKEY };
	struct srn_qp *qp = fake_qp(test, 2);

	add_atomic(qp, SRN_OP_CMP_SWAP, 1, 0);
	set_all_answered(&qp->resp.replay);
	srn_answer_again_atomic(qp, SRN_OP_FETCH_ADD, 1);
	srn_answer_again_read(qp, 1, &range);
	srn_answer_again_atomic(qp, SRN_OP_CMP_SWAP, 2);
	KUNIT_EXPECT_EQ(test, qp->resp.replay.open, 0);
}

static void srn_replay_resize_test(struct kunit *test)
{
	struct srn_qp *qp = fake_qp(test, 3);
	struct srn_replay *replay = &qp->resp.replay;
	u32 psn;

	for (psn = 0; psn < 5; psn++) {
		add_atomic(qp, SRN_OP_CMP_SWAP, psn, psn);
		set_all_answered(replay);
	}
	srn_answer_again_atomic(qp, SRN_OP_CMP_SWAP, 4);
	KUNIT_ASSERT_EQ(test, 0, srn_replay_resize(replay, 5));
	KUNIT_EXPECT_EQ(test, replay->open, 1);
	for (psn = 2; psn < 5; psn++)
		KUNIT_EXPECT_NOT_NULL(test, srn_replay_find(replay, psn));

	/* The free slots are used before the newest are overwritten. */
	for (psn = 5; psn < 7; psn++)
		add_atomic(qp, SRN_OP_CMP_SWAP, psn, psn);
	for (psn = 2; psn < 7; psn++)
		KUNIT_EXPECT_NOT_NULL(test, srn_replay_find(replay, psn));

	KUNIT_ASSERT_EQ(test, 0, srn_replay_resize(replay, 2));
	KUNIT_EXPECT_NULL(test, srn_replay_find(replay, 4));
	KUNIT_EXPECT_NOT_NULL(test, srn_replay_find(replay, 5));
	KUNIT_EXPECT_NOT_NULL(test, srn_replay_find(replay, 6));
}

/* A new life owes nothing of the former one. */
static void srn_replay_clear_test(struct kunit *test)
{
	struct srn_qp *qp = fake_qp(test, 2);
	struct srn_replay *replay = &qp->resp.replay;

	add_read(qp, READ_PSN, READ_LEN);
	add_atomic(qp, SRN_OP_FETCH_ADD, 3, 42);
	add_read(qp, 4, MTU);
	srn_replay_clear(replay);
	KUNIT_EXPECT_EQ(test, replay->open, 0);
	KUNIT_EXPECT_EQ(test, replay->head, 0);
	KUNIT_EXPECT_NULL(test, srn_replay_find(replay, 3));
	KUNIT_EXPECT_NULL(test, srn_replay_find(replay, 4));
	KUNIT_EXPECT_TRUE(test, srn_replay_has_room(replay));
}

/* Takes the part that goes next, all of it. */
static void take_part(struct kunit *test, struct srn_replay *replay, u32 psn, u32 len)
{
	struct srn_replay_slot as;

	KUNIT_ASSERT_GT(test, replay->num_parts, 0);
	KUNIT_ASSERT_TRUE(test, srn_replay_first_part(replay, &as));
	KUNIT_EXPECT_EQ(test, as.start_psn, psn);
	KUNIT_EXPECT_EQ(test, as.psn, psn);
	KUNIT_EXPECT_EQ(test, as.answer_len, len);
	KUNIT_EXPECT_TRUE(test, as.again);
	srn_replay_done(replay, &as);
	srn_replay_part_sent(replay, &as);
}

/* A READ and an atomic behind it, of which both were answered. */
static struct srn_replay_slot *answer_both(struct srn_qp *qp)
{
	add_read(qp, READ_PSN, READ_LEN);
	add_atomic(qp, SRN_OP_FETCH_ADD, 3, 42);
	set_all_answered(&qp->resp.replay);
	return srn_replay_find(&qp->resp.replay, READ_PSN);
}

/* None takes the place of another that has more, or other packets. */
static void srn_replay_parts_test(struct kunit *test)
{
	struct srn_qp *qp = fake_qp(test, 2);
	struct srn_replay *replay = &qp->resp.replay;
	struct srn_replay_slot *slot = answer_both(qp), as;

	KUNIT_EXPECT_TRUE(test, srn_replay_add_part(replay, slot, 1, MTU, MTU));
	KUNIT_EXPECT_TRUE(test, srn_replay_add_part(replay, slot, READ_PSN, 3 * MTU, MTU));
	KUNIT_EXPECT_TRUE(test, srn_replay_add_part(replay, srn_replay_find(replay, 3), 3, 0, MTU));
	KUNIT_EXPECT_TRUE(test, srn_replay_add_part(replay, slot, 1, MTU + 100, MTU));
	KUNIT_EXPECT_EQ(test, replay->open, 4);
	KUNIT_EXPECT_TRUE(test, srn_replay_reads(replay, RKEY));
	take_part(test, replay, 1, MTU);
	take_part(test, replay, READ_PSN, 3 * MTU);
	KUNIT_ASSERT_TRUE(test, srn_replay_first_part(replay, &as));
	KUNIT_EXPECT_EQ(test, as.op, SRN_OP_FETCH_ADD);
	KUNIT_EXPECT_EQ(test, as.orig, 42);
	take_part(test, replay, 3, 0);
	take_part(test, replay, 1, MTU + 100);
	KUNIT_EXPECT_EQ(test, replay->open, 0);
	KUNIT_EXPECT_EQ(test, replay->num_parts, 0);
	KUNIT_EXPECT_FALSE(test, srn_replay_reads(replay, RKEY));
}

/* One of which not all has gone yet goes on, as the answer that it is. */
static void srn_replay_part_goes_on_test(struct kunit *test)
{
	struct srn_qp *qp = fake_qp(test, 2);
	struct srn_replay *replay = &qp->resp.replay;
	struct srn_replay_slot *slot = answer_both(qp), as;

	srn_replay_add_part(replay, slot, READ_PSN, 3 * MTU, MTU);
	KUNIT_ASSERT_TRUE(test, srn_replay_first_part(replay, &as));
	srn_replay_advance(&as, 2);
	srn_replay_part_sent(replay, &as);
	KUNIT_EXPECT_EQ(test, replay->open, 1);
	KUNIT_ASSERT_TRUE(test, srn_replay_first_part(replay, &as));
	KUNIT_EXPECT_EQ(test, as.start_psn, READ_PSN);
	KUNIT_EXPECT_EQ(test, as.psn, 0);
	KUNIT_EXPECT_EQ(test, as.answer_len, 3 * MTU);
}

/* Which key it reads is known without its slot, and for as long as it waits. */
static void srn_replay_part_reads_test(struct kunit *test)
{
	struct srn_qp *qp = fake_qp(test, 2);
	struct srn_replay *replay = &qp->resp.replay;
	struct srn_replay_slot *slot = answer_both(qp), as;

	KUNIT_EXPECT_TRUE(test, srn_replay_add_part(replay, srn_replay_find(replay, 3), 3, 0, MTU));
	KUNIT_EXPECT_FALSE(test, srn_replay_reads(replay, RKEY));
	KUNIT_EXPECT_TRUE(test, srn_replay_add_part(replay, slot, 1, MTU, MTU));
	add_atomic(qp, SRN_OP_FETCH_ADD, 4, 43);
	KUNIT_EXPECT_TRUE(test, srn_replay_reads(replay, RKEY));
	take_part(test, replay, 3, 0);
	KUNIT_EXPECT_FALSE(test, srn_replay_first_part(replay, &as));
	KUNIT_EXPECT_FALSE(test, srn_replay_reads(replay, RKEY));
}

/* The newest is one too many; there is room again when the oldest has gone. */
static void srn_replay_parts_bound_test(struct kunit *test)
{
	struct srn_qp *qp = fake_qp(test, 1);
	struct srn_replay *replay = &qp->resp.replay;
	struct srn_replay_slot *slot;
	u32 i;

	add_read(qp, 0, 2 * SRN_REPLAY_PARTS * MTU);
	set_all_answered(replay);
	slot = srn_replay_find(replay, 0);
	for (i = 0; i < SRN_REPLAY_PARTS; i++)
		KUNIT_EXPECT_TRUE(test, srn_replay_add_part(replay, slot, i, MTU, MTU));
	KUNIT_EXPECT_FALSE(test, srn_replay_add_part(replay, slot, i, MTU, MTU));
	KUNIT_EXPECT_EQ(test, replay->open, SRN_REPLAY_PARTS);
	take_part(test, replay, 0, MTU);
	KUNIT_EXPECT_TRUE(test, srn_replay_add_part(replay, slot, i, MTU, MTU));
	for (i = 1; i <= SRN_REPLAY_PARTS; i++)
		take_part(test, replay, i, MTU);
	KUNIT_EXPECT_EQ(test, replay->open, 0);
}

/* What its first answer has yet to come to comes with that. */
static void srn_replay_parts_to_come_test(struct kunit *test)
{
	struct srn_qp *qp = fake_qp(test, 1);
	struct srn_replay *replay = &qp->resp.replay;
	struct srn_replay_slot *slot = &replay->slots[0];

	add_read(qp, 0, 4 * MTU);
	srn_replay_advance(slot, 2);
	KUNIT_EXPECT_TRUE(test, srn_replay_add_part(replay, slot, 2, MTU, MTU));
	KUNIT_EXPECT_EQ(test, replay->num_parts, 0);
	KUNIT_EXPECT_TRUE(test, srn_replay_add_part(replay, slot, 1, MTU, MTU));
	KUNIT_EXPECT_EQ(test, replay->num_parts, 1);
	take_part(test, replay, 1, MTU);
	/* Of one that is of both sides only what has gone. */
	KUNIT_EXPECT_TRUE(test, srn_replay_add_part(replay, slot, 0, 4 * MTU, MTU));
	take_part(test, replay, 0, 2 * MTU);
	srn_replay_done(replay, slot);
	KUNIT_EXPECT_TRUE(test, srn_replay_add_part(replay, slot, 2, MTU, MTU));
	KUNIT_EXPECT_EQ(test, replay->num_parts, 1);
}

/* What waits to be sent again is not asked for once more. */
static void srn_replay_parts_once_test(struct kunit *test)
{
	struct srn_qp *qp = fake_qp(test, 2);
	struct srn_replay *replay = &qp->resp.replay;
	struct srn_replay_slot *slot = answer_both(qp), as;

	srn_replay_add_part(replay, slot, READ_PSN, 3 * MTU, MTU);
	srn_replay_add_part(replay, srn_replay_find(replay, 3), 3, 0, MTU);
	KUNIT_EXPECT_TRUE(test, srn_replay_add_part(replay, slot, READ_PSN, 3 * MTU, MTU));
	KUNIT_EXPECT_TRUE(test, srn_replay_add_part(replay, slot, 0, MTU, MTU));
	KUNIT_EXPECT_TRUE(test, srn_replay_add_part(replay, srn_replay_find(replay, 3), 3, 0, MTU));
	KUNIT_EXPECT_EQ(test, replay->num_parts, 2);
	/* Not all of it; and what has gone of it. */
	KUNIT_EXPECT_TRUE(test, srn_replay_add_part(replay, slot, 0, 2 * MTU, MTU));
	KUNIT_EXPECT_EQ(test, replay->num_parts, 3);
	KUNIT_ASSERT_TRUE(test, srn_replay_first_part(replay, &as));
	srn_replay_advance(&as, 1);
	srn_replay_part_sent(replay, &as);
	KUNIT_EXPECT_TRUE(test, srn_replay_add_part(replay, slot, READ_PSN, MTU, MTU));
	KUNIT_EXPECT_EQ(test, replay->num_parts, 4);
	KUNIT_EXPECT_EQ(test, replay->open, 4);
}

/* Their slot is another's by now. */
static void srn_replay_parts_of_nobody_test(struct kunit *test)
{
	struct srn_qp *qp = fake_qp(test, 1);
	struct srn_replay *replay = &qp->resp.replay;
	struct srn_replay_slot as;

	add_read(qp, 0, 2 * MTU);
	set_all_answered(replay);
	srn_replay_add_part(replay, &replay->slots[0], 0, MTU, MTU);
	KUNIT_EXPECT_TRUE(test, srn_replay_has_room(replay));
	add_read(qp, 2, MTU);
	KUNIT_EXPECT_EQ(test, replay->open, 2);
	KUNIT_EXPECT_FALSE(test, srn_replay_first_part(replay, &as));
	KUNIT_EXPECT_EQ(test, replay->open, 1);
	KUNIT_EXPECT_EQ(test, replay->num_parts, 0);
}

/* They are kept where slots are moved, and go with all that is to be answered. */
static void srn_replay_parts_go_test(struct kunit *test)
{
	struct srn_qp *qp = fake_qp(test, 1);
	struct srn_replay *replay = &qp->resp.replay;

	add_read(qp, 2, MTU);
	set_all_answered(replay);
	KUNIT_EXPECT_NULL(test, replay->parts);
	srn_replay_add_part(replay, &replay->slots[0], 2, MTU, MTU);
	srn_replay_abandon(replay);
	KUNIT_EXPECT_EQ(test, replay->open, 0);
	KUNIT_EXPECT_EQ(test, replay->num_parts, 0);
	srn_replay_add_part(replay, &replay->slots[0], 2, MTU, MTU);
	KUNIT_EXPECT_EQ(test, 0, srn_replay_resize(replay, 2));
	KUNIT_EXPECT_EQ(test, replay->open, 1);
	take_part(test, replay, 2, MTU);
	srn_replay_add_part(replay, srn_replay_find(replay, 2), 2, MTU, MTU);
	srn_replay_clear(replay);
	KUNIT_EXPECT_EQ(test, replay->open, 0);
	KUNIT_EXPECT_EQ(test, replay->num_parts, 0);
	KUNIT_EXPECT_EQ(test, 0, srn_replay_resize(replay, 0));
	KUNIT_EXPECT_NULL(test, replay->parts);
}

static struct kunit_case srn_replay_cases[] = {
	KUNIT_CASE_PARAM(srn_replay_npsn_test, npsn_gen_params),
	KUNIT_CASE_PARAM(srn_replay_part_test, part_gen_params),
	KUNIT_CASE(srn_replay_part_of_nothing_test),
	KUNIT_CASE(srn_replay_reads_test),
	KUNIT_CASE(srn_replay_packet_test),
	KUNIT_CASE(srn_replay_partial_packet_test),
	KUNIT_CASE(srn_replay_find_test),
	KUNIT_CASE(srn_replay_find_newest_test),
	KUNIT_CASE(srn_replay_oldest_goes_test),
	KUNIT_CASE(srn_replay_room_test),
	KUNIT_CASE(srn_replay_again_is_the_second_answer_test),
	KUNIT_CASE(srn_replay_again_other_op_test),
	KUNIT_CASE(srn_replay_resize_test),
	KUNIT_CASE(srn_replay_clear_test),
	KUNIT_CASE(srn_replay_parts_test),
	KUNIT_CASE(srn_replay_part_goes_on_test),
	KUNIT_CASE(srn_replay_part_reads_test),
	KUNIT_CASE(srn_replay_parts_bound_test),
	KUNIT_CASE(srn_replay_parts_to_come_test),
	KUNIT_CASE(srn_replay_parts_once_test),
	KUNIT_CASE(srn_replay_parts_of_nobody_test),
	KUNIT_CASE(srn_replay_parts_go_test),
	{}
};

static struct kunit_suite srn_replay_suite = {
	.name = "srn_replay",
	.test_cases = srn_replay_cases,
};

kunit_test_suite(srn_replay_suite);
