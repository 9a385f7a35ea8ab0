// SPDX-License-Identifier: GPL-2.0-only
/* Which request packet may follow which, and how long each may be. */
#include "../arrival.h"
#include "../opcode.h"

#include <kunit/test.h>

#define MTU	1024

/* The table of the standard, opcode by opcode: what may come in which state. */
static bool slow_may_follow(u8 cur_op, const struct srn_opcode *info)
{
	switch (info->pos) {
	case SRN_POS_FIRST:
	case SRN_POS_ONLY:
		return cur_op == SRN_OP_NONE;
	default:
		return (cur_op == SRN_OP_SEND && info->op == SRN_OP_SEND) ||
		       (cur_op == SRN_OP_WRITE && info->op == SRN_OP_WRITE);
	}
}

static void srn_arrival_sequence_test(struct kunit *test)
{
	static const u8 states[] = { SRN_OP_NONE, SRN_OP_SEND, SRN_OP_WRITE };
	unsigned int opcode, i;

	for (opcode = 0; opcode < ARRAY_SIZE(srn_opcodes); opcode++) {
		const struct srn_opcode *info = &srn_opcodes[opcode];

		for (i = 0; i < ARRAY_SIZE(states); i++) {
			bool want = info->op != SRN_OP_NONE && slow_may_follow(states[i], info);

			KUNIT_EXPECT_EQ_MSG(test, want,
					    srn_arrival_may_follow(states[i], info->op,
							   info->pos),
					    "opcode %#x in state %u", opcode, states[i]);
		}
	}
}

struct len_row {
	const char *desc;
	u8 pos;
	u32 len;
	bool want;
};

static const struct len_row len_rows[] = {
	{ "FIRST of a packet", SRN_POS_FIRST, MTU, true },
	{ "FIRST too short", SRN_POS_FIRST, MTU - 1, false },
	{ "FIRST too long", SRN_POS_FIRST, MTU + 1, false },
	{ "MIDDLE of a packet", SRN_POS_MIDDLE, MTU, true },
	{ "MIDDLE too short", SRN_POS_MIDDLE, MTU - 4, false },
	{ "MIDDLE of nothing", SRN_POS_MIDDLE, 0, false },
	{ "LAST of a byte", SRN_POS_LAST, 1, true },
	{ "LAST of a packet", SRN_POS_LAST, MTU, true },
	{ "LAST of nothing", SRN_POS_LAST, 0, false },
	{ "LAST too long", SRN_POS_LAST, MTU + 1, false },
	{ "ONLY of nothing", SRN_POS_ONLY, 0, true },
	{ "ONLY of a packet", SRN_POS_ONLY, MTU, true },
	{ "ONLY too long", SRN_POS_ONLY, MTU + 1, false },
};

KUNIT_ARRAY_PARAM_DESC(len, len_rows, desc);

static void srn_arrival_len_test(struct kunit *test)
{
	const struct len_row *row = test->param_value;

	KUNIT_EXPECT_EQ(test, srn_arrival_len_fits(row->pos, row->len, MTU), row->want);
}

static struct kunit_case srn_arrival_cases[] = {
	KUNIT_CASE(srn_arrival_sequence_test),
	KUNIT_CASE_PARAM(srn_arrival_len_test, len_gen_params),
	{}
};

static struct kunit_suite srn_arrival_suite = {
	.name = "srn_arrival",
	.test_cases = srn_arrival_cases,
};

kunit_test_suite(srn_arrival_suite);
