// SPDX-License-Identifier: GPL-2.0-only
/* The expectations are written from table 35 of IBTA vol. 1 in numbers, so that
 * they share no constant with the table under test.
 */
#include "../opcode.h"
#include "../wire.h"

#include <kunit/test.h>
#include <linux/bitops.h>
#include <linux/string.h>
#include <rdma/ib_verbs.h>

struct row {
	const char *desc;
	u8 opcode;
	u8 hdr_len;
	enum srn_op op;
	enum srn_pos pos;
	u16 hdrs;
	bool is_request;
	bool has_payload;
};

#define D	SRN_HDR_DETH
#define R	SRN_HDR_RETH
#define A	SRN_HDR_AETH
#define I	SRN_HDR_IMM
#define K	SRN_HDR_IETH

static const struct row rows[] = {
	{ "RC_SEND_FIRST", 0x00, 12, SRN_OP_SEND, SRN_POS_FIRST, 0, true, true },
	{ "RC_SEND_MIDDLE", 0x01, 12, SRN_OP_SEND, SRN_POS_MIDDLE, 0, true, true },
	{ "RC_SEND_LAST", 0x02, 12, SRN_OP_SEND, SRN_POS_LAST, 0, true, true },
	{ "RC_SEND_LAST_WITH_IMMEDIATE", 0x03, 16, SRN_OP_SEND, SRN_POS_LAST, I, true, true },
	{ "RC_SEND_ONLY", 0x04, 12, SRN_OP_SEND, SRN_POS_ONLY, 0, true, true },
	{ "RC_SEND_ONLY_WITH_IMMEDIATE", 0x05, 16, SRN_OP_SEND, SRN_POS_ONLY, I, true, true },
	{ "RC_RDMA_WRITE_FIRST", 0x06, 28, SRN_OP_WRITE, SRN_POS_FIRST, R, true, true },
	{ "RC_RDMA_WRITE_MIDDLE", 0x07, 12, SRN_OP_WRITE, SRN_POS_MIDDLE, 0, true, true },
	{ "RC_RDMA_WRITE_LAST", 0x08, 12, SRN_OP_WRITE, SRN_POS_LAST, 0, true, true },
	{ "RC_RDMA_WRITE_LAST_WITH_IMMEDIATE", 0x09, 16, SRN_OP_WRITE, SRN_POS_LAST,
	  I, true, true },
	{ "RC_RDMA_WRITE_ONLY", 0x0a, 28, SRN_OP_WRITE, SRN_POS_ONLY, R, true, true },
	{ "RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE", 0x0b, 32, SRN_OP_WRITE, SRN_POS_ONLY,
	  R | I, true, true },
	{ "RC_RDMA_READ_REQUEST", 0x0c, 28, SRN_OP_READ_REQ, SRN_POS_ONLY, R, true, false },
	{ "RC_RDMA_READ_RESPONSE_FIRST", 0x0d, 16, SRN_OP_READ_RESP, SRN_POS_FIRST,
	  A, false, true },
	{ "RC_RDMA_READ_RESPONSE_MIDDLE", 0x0e, 12, SRN_OP_READ_RESP, SRN_POS_MIDDLE,
	  0, false, true },
	{ "RC_RDMA_READ_RESPONSE_LAST", 0x0f, 16, SRN_OP_READ_RESP, SRN_POS_LAST, A, false, true },
	{ "RC_RDMA_READ_RESPONSE_ONLY", 0x10, 16, SRN_OP_READ_RESP, SRN_POS_ONLY, A, false, true },
	{ "RC_ACKNOWLEDGE", 0x11, 16, SRN_OP_ACK, SRN_POS_ONLY, A, false, false },
	{ "RC_ATOMIC_ACKNOWLEDGE", 0x12, 24, SRN_OP_ATOMIC_ACK, SRN_POS_ONLY,
	  A | SRN_HDR_ATOMIC_ACK, false, false },
	{ "RC_COMPARE_SWAP", 0x13, 40, SRN_OP_CMP_SWAP, SRN_POS_ONLY, SRN_HDR_ATOMIC, true, false },
	{ "RC_FETCH_ADD", 0x14, 40, SRN_OP_FETCH_ADD, SRN_POS_ONLY, SRN_HDR_ATOMIC, true, false },
	{ "RC_SEND_LAST_WITH_INVALIDATE", 0x16, 16, SRN_OP_SEND, SRN_POS_LAST, K, true, true },
	{ "RC_SEND_ONLY_WITH_INVALIDATE", 0x17, 16, SRN_OP_SEND, SRN_POS_ONLY, K, true, true },
	{ "RC_ATOMIC_WRITE", 0x1d, 28, SRN_OP_ATOMIC_WRITE, SRN_POS_ONLY, R, true, true },

	{ "UC_SEND_FIRST", 0x20, 12, SRN_OP_SEND, SRN_POS_FIRST, 0, true, true },
	{ "UC_SEND_MIDDLE", 0x21, 12, SRN_OP_SEND, SRN_POS_MIDDLE, 0, true, true },
	{ "UC_SEND_LAST", 0x22, 12, SRN_OP_SEND, SRN_POS_LAST, 0, true, true },
	{ "UC_SEND_LAST_WITH_IMMEDIATE", 0x23, 16, SRN_OP_SEND, SRN_POS_LAST, I, true, true },
	{ "UC_SEND_ONLY", 0x24, 12, SRN_OP_SEND, SRN_POS_ONLY, 0, true, true },
	{ "UC_SEND_ONLY_WITH_IMMEDIATE", 0x25, 16, SRN_OP_SEND, SRN_POS_ONLY, I, true, true },
	{ "UC_RDMA_WRITE_FIRST", 0x26, 28, SRN_OP_WRITE, SRN_POS_FIRST, R, true, true },
	{ "UC_RDMA_WRITE_MIDDLE", 0x27, 12, SRN_OP_WRITE, SRN_POS_MIDDLE, 0, true, true },
	{ "UC_RDMA_WRITE_LAST", 0x28, 12, SRN_OP_WRITE, SRN_POS_LAST, 0, true, true },
	{ "UC_RDMA_WRITE_LAST_WITH_IMMEDIATE", 0x29, 16, SRN_OP_WRITE, SRN_POS_LAST,
	  I, true, true },
	{ "UC_RDMA_WRITE_ONLY", 0x2a, 28, SRN_OP_WRITE, SRN_POS_ONLY, R, true, true },
	{ "UC_RDMA_WRITE_ONLY_WITH_IMMEDIATE", 0x2b, 32, SRN_OP_WRITE, SRN_POS_ONLY,
	  R | I, true, true },

	{ "UD_SEND_ONLY", 0x64, 20, SRN_OP_SEND, SRN_POS_ONLY, D, true, true },
	{ "UD_SEND_ONLY_WITH_IMMEDIATE", 0x65, 24, SRN_OP_SEND, SRN_POS_ONLY, D | I, true, true },

	{ "CNP", 0x81, 12, SRN_OP_CNP, SRN_POS_ONLY, 0, false, true },
	{ "SACK", 0xc7, 16, SRN_OP_SACK, SRN_POS_ONLY, SRN_HDR_AETH, false, true },
};

KUNIT_ARRAY_PARAM_DESC(row, rows, desc);

static void srn_opcode_row_test(struct kunit *test)
{
	const struct row *row = test->param_value;
	const struct srn_opcode *got = &srn_opcodes[row->opcode];

	KUNIT_EXPECT_EQ(test, got->op, row->op);
	KUNIT_EXPECT_EQ(test, got->pos, row->pos);
	KUNIT_EXPECT_EQ(test, got->hdrs, row->hdrs);
	KUNIT_EXPECT_EQ(test, got->is_request, row->is_request);
	KUNIT_EXPECT_EQ(test, got->has_payload, row->has_payload);
	KUNIT_EXPECT_EQ(test, srn_opcode_hdr_len(row->opcode), row->hdr_len);
}

struct request_row {
	const char *desc;
	u8 opcode;
	int access;
	bool is_stream;
	bool is_atomic;
};

static const struct request_row request_rows[] = {
	{ "a SEND needs no right", 0x04, 0, true, false },
	{ "a SEND that invalidates neither", 0x17, 0, true, false },
	{ "each packet of a WRITE", 0x07, IB_ACCESS_REMOTE_WRITE, true, false },
	{ "a WRITE of one", 0x0b, IB_ACCESS_REMOTE_WRITE, true, false },
	{ "a WRITE over UC", 0x26, IB_ACCESS_REMOTE_WRITE, true, false },
	{ "a READ", 0x0c, IB_ACCESS_REMOTE_READ, false, false },
	{ "compare and swap", 0x13, IB_ACCESS_REMOTE_ATOMIC, false, true },
	{ "fetch and add", 0x14, IB_ACCESS_REMOTE_ATOMIC, false, true },
	{ "an atomic write is a write", 0x1d, IB_ACCESS_REMOTE_WRITE, false, true },
	{ "an answer", 0x10, 0, false, false },
	{ "a reserved opcode", 0x18, 0, false, false },
};

KUNIT_ARRAY_PARAM_DESC(request, request_rows, desc);

static void srn_opcode_request_test(struct kunit *test)
{
	const struct request_row *row = test->param_value;
	const struct srn_opcode *got = &srn_opcodes[row->opcode];

	KUNIT_EXPECT_EQ(test, got->access, row->access);
	KUNIT_EXPECT_EQ(test, got->is_stream, row->is_stream);
	KUNIT_EXPECT_EQ(test, got->is_atomic, row->is_atomic);
}

static bool is_expected(unsigned int opcode)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].opcode == opcode)
			return true;
	return false;
}

static void srn_opcode_nothing_else_test(struct kunit *test)
{
	static const struct srn_opcode none;
	unsigned int opcode;

	for (opcode = 0; opcode < 256; opcode++) {
		if (is_expected(opcode))
			continue;
		KUNIT_EXPECT_MEMEQ_MSG(test, &srn_opcodes[opcode], &none, sizeof(none),
				       "opcode %#x", opcode);
		KUNIT_EXPECT_EQ_MSG(test, srn_opcode_hdr_len(opcode), 0, "opcode %#x", opcode);
	}
}

static void srn_opcode_service_test(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, srn_opcode_svc(0x00), SRN_SVC_RC);
	KUNIT_EXPECT_EQ(test, srn_opcode_svc(0x1f), SRN_SVC_RC);
	KUNIT_EXPECT_EQ(test, srn_opcode_svc(0x20), SRN_SVC_UC);
	KUNIT_EXPECT_EQ(test, srn_opcode_svc(0x3f), SRN_SVC_UC);
	KUNIT_EXPECT_EQ(test, srn_opcode_svc(0x64), SRN_SVC_UD);
	KUNIT_EXPECT_EQ(test, srn_opcode_svc(0x81), SRN_SVC_CNP);
}

/* The accessors of parse.h find a header by what may stand before it. */
static void srn_opcode_layout_test(struct kunit *test)
{
	static const u16 first = SRN_HDR_DETH | SRN_HDR_RETH | SRN_HDR_ATOMIC | SRN_HDR_AETH;
	static const u16 last = SRN_HDR_IMM | SRN_HDR_IETH;
	unsigned int opcode;

	for (opcode = 0; opcode < 256; opcode++) {
		const u16 hdrs = srn_opcodes[opcode].hdrs;

		KUNIT_EXPECT_LE_MSG(test, hweight16(hdrs & first), 1, "opcode %#x", opcode);
		KUNIT_EXPECT_LE_MSG(test, hweight16(hdrs & last), 1, "opcode %#x", opcode);
		if (hdrs & SRN_HDR_ATOMIC_ACK)
			KUNIT_EXPECT_EQ_MSG(test, hdrs, SRN_HDR_AETH | SRN_HDR_ATOMIC_ACK,
					    "opcode %#x", opcode);
		KUNIT_EXPECT_LE_MSG(test, srn_opcode_hdr_len(opcode), SRN_MAX_HDR_LEN,
				    "opcode %#x", opcode);
	}
}

static struct kunit_case srn_opcode_cases[] = {
	KUNIT_CASE_PARAM(srn_opcode_row_test, row_gen_params),
	KUNIT_CASE_PARAM(srn_opcode_request_test, request_gen_params),
	KUNIT_CASE(srn_opcode_nothing_else_test),
	KUNIT_CASE(srn_opcode_service_test),
	KUNIT_CASE(srn_opcode_layout_test),
	{}
};

static struct kunit_suite srn_opcode_suite = {
	.name = "srn_opcode",
	.test_cases = srn_opcode_cases,
};

kunit_test_suite(srn_opcode_suite);
