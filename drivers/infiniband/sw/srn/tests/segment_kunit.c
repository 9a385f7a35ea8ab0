// SPDX-License-Identifier: GPL-2.0-only
#include "../segment.h"

#include <kunit/test.h>
#include <rdma/ib_pack.h>

#include "../psn.h"
#include "../service.h"
#include "../wqe.h"

#define CHUNK	64

struct npsn_row {
	const char *desc;
	u8 opcode;
	u32 length;
	u32 mtu;
	u32 want;
};

static const struct npsn_row npsn_rows[] = {
	{ "an empty message is one packet", IB_WR_SEND, 0, 1024, 1 },
	{ "one byte", IB_WR_SEND, 1, 1024, 1 },
	{ "exactly the MTU", IB_WR_SEND, 1024, 1024, 1 },
	{ "one byte more", IB_WR_SEND, 1025, 1024, 2 },
	{ "many whole packets", IB_WR_RDMA_WRITE, 1 << 20, 4096, 256 },
	{ "the largest message at the smallest MTU", IB_WR_RDMA_WRITE, 1u << 31, 256, 1 << 23 },
	{ "a READ takes a PSN per response", IB_WR_RDMA_READ, 4097, 4096, 2 },
	{ "an empty READ takes one", IB_WR_RDMA_READ, 0, 4096, 1 },
	{ "an atomic takes one", IB_WR_ATOMIC_FETCH_AND_ADD, 8, 256, 1 },
	{ "an atomic write takes one", IB_WR_ATOMIC_WRITE, 8, 256, 1 },
};

KUNIT_ARRAY_PARAM_DESC(npsn, npsn_rows, desc);

static void srn_segment_npsn_test(struct kunit *test)
{
	const struct npsn_row *row = test->param_value;
	struct srn_wqe wqe = { .opcode = row->opcode, .length = row->length };

	KUNIT_EXPECT_EQ(test, srn_wqe_npsn(&wqe, row->mtu), row->want);
}

struct shape_row {
	const char *desc;
	u8 opcode;
	enum ib_qp_type type;
	u8 only, first, middle, last;
};

static const struct shape_row shape_rows[] = {
	{ "RC SEND", IB_WR_SEND, IB_QPT_RC, 0x04, 0x00, 0x01, 0x02 },
	{ "RC SEND with immediate", IB_WR_SEND_WITH_IMM, IB_QPT_RC, 0x05, 0x00, 0x01, 0x03 },
	{ "RC SEND with invalidate", IB_WR_SEND_WITH_INV, IB_QPT_RC, 0x17, 0x00, 0x01, 0x16 },
	{ "RC WRITE", IB_WR_RDMA_WRITE, IB_QPT_RC, 0x0a, 0x06, 0x07, 0x08 },
	{ "RC WRITE with immediate", IB_WR_RDMA_WRITE_WITH_IMM, IB_QPT_RC, 0x0b, 0x06, 0x07, 0x09 },
	{ "UC SEND", IB_WR_SEND, IB_QPT_UC, 0x24, 0x20, 0x21, 0x22 },
	{ "UC SEND with immediate", IB_WR_SEND_WITH_IMM, IB_QPT_UC, 0x25, 0x20, 0x21, 0x23 },
	{ "UC WRITE", IB_WR_RDMA_WRITE, IB_QPT_UC, 0x2a, 0x26, 0x27, 0x28 },
	{ "UC WRITE with immediate", IB_WR_RDMA_WRITE_WITH_IMM, IB_QPT_UC, 0x2b, 0x26, 0x27, 0x29 },
};

KUNIT_ARRAY_PARAM_DESC(shape, shape_rows, desc);

static void start_wqe(struct srn_wqe *wqe, u8 opcode, u32 length, u32 mtu, u32 psn)
{
	*wqe = (struct srn_wqe){
		.opcode = opcode, .length = length, .first_psn = psn, .chunk = CHUNK,
	};
	wqe->last_psn = srn_psn_add(psn, srn_wqe_npsn(wqe, mtu) - 1);
}

/* Opcodes of messages of one to four packets, over the end of the PSN space. */
static void srn_segment_shape_test(struct kunit *test)
{
	const struct shape_row *row = test->param_value;
	struct srn_plan plan;
	struct srn_wqe wqe;
	u32 n, i, sent;

	for (n = 1; n <= 4; n++) {
		start_wqe(&wqe, row->opcode, n * 256 - 3, 256, 0xfffffe);
		for (i = 0, sent = 0; i < n; i++) {
			u8 want = n == 1 ? row->only : i == 0 ? row->first :
				  i == n - 1 ? row->last : row->middle;

			srn_segment(&wqe, srn_service_of(row->type), 256,
				    srn_psn_add(0xfffffe, i), &plan);
			KUNIT_EXPECT_EQ(test, plan.opcode, want);
			KUNIT_EXPECT_EQ(test, plan.first, i == 0);
			KUNIT_EXPECT_EQ(test, plan.last, i == n - 1);
			KUNIT_EXPECT_EQ(test, plan.npsn, 1u);
			KUNIT_EXPECT_EQ(test, plan.offset, sent);
			KUNIT_EXPECT_EQ(test, plan.len, i == n - 1 ? 253u : 256u);
			sent += plan.len;
		}
		KUNIT_EXPECT_EQ(test, sent, wqe.length);
	}
}

/* Every run of a message of four packets: what its first and its last are, and its bytes. */
static void srn_segment_run_test(struct kunit *test)
{
	const struct shape_row *row = test->param_value;
	struct srn_plan plan;
	struct srn_wqe wqe;
	u32 i, num;

	start_wqe(&wqe, row->opcode, 4 * 256 - 3, 256, 0xfffffe);
	for (i = 0; i < 3; i++) {
		for (num = 2; num <= 4 - i; num++) {
			bool last = i + num == 4;

			srn_segment(&wqe, srn_service_of(row->type), 256,
				    srn_psn_add(0xfffffe, i), &plan);
			KUNIT_EXPECT_EQ(test, srn_segment_left(&wqe, &plan), 4 - i);
			KUNIT_EXPECT_EQ(test, srn_segment_requests(&wqe), 1);
			KUNIT_EXPECT_EQ(test, plan.num, 1);
			KUNIT_EXPECT_EQ(test, plan.end, plan.opcode);
			srn_segment_run(&wqe, 256, num, &plan);
			KUNIT_EXPECT_EQ(test, plan.opcode, i ? row->middle : row->first);
			KUNIT_EXPECT_EQ(test, plan.end, last ? row->last : row->middle);
			KUNIT_EXPECT_EQ(test, plan.last, last);
			KUNIT_EXPECT_EQ(test, plan.num, num);
			KUNIT_EXPECT_EQ(test, plan.npsn, num);
			KUNIT_EXPECT_EQ(test, plan.offset, i * 256);
			KUNIT_EXPECT_EQ(test, plan.len, num * 256 - (last ? 3 : 0));
		}
	}
}

static void srn_segment_ud_test(struct kunit *test)
{
	struct srn_plan plan;
	struct srn_wqe wqe;

	start_wqe(&wqe, IB_WR_SEND, 100, 1024, 5);
	srn_segment(&wqe, srn_service_of(IB_QPT_UD), 1024, 5, &plan);
	KUNIT_EXPECT_EQ(test, plan.opcode, 0x64);
	wqe.opcode = IB_WR_SEND_WITH_IMM;
	srn_segment(&wqe, srn_service_of(IB_QPT_GSI), 1024, 5, &plan);
	KUNIT_EXPECT_EQ(test, plan.opcode, 0x65);
}

/* A READ is asked for in chunks; each starts where the last one ended. */
static void srn_segment_read_test(struct kunit *test)
{
	const u32 npsn = 2 * CHUNK + 5, length = npsn * 256 - 7;
	const struct srn_service *rc = srn_service_of(IB_QPT_RC);
	u32 psn = 0xffffff, asked = 0, npsns = 0, requests = 0;
	struct srn_plan plan;
	struct srn_wqe wqe;

	start_wqe(&wqe, IB_WR_RDMA_READ, length, 256, psn);
	do {
		srn_segment(&wqe, rc, 256, psn, &plan);
		KUNIT_EXPECT_EQ(test, plan.opcode, 0x0c);
		KUNIT_EXPECT_TRUE(test, plan.first);
		KUNIT_EXPECT_EQ(test, plan.offset, asked);
		KUNIT_EXPECT_LE(test, plan.npsn, (u32)CHUNK);
		KUNIT_EXPECT_EQ(test, srn_segment_left(&wqe, &plan), 1);
		asked += plan.len;
		npsns += plan.npsn;
		requests++;
		psn = srn_psn_add(psn, plan.npsn);
	} while (!plan.last && npsns < 2 * npsn);
	KUNIT_EXPECT_EQ(test, asked, length);
	KUNIT_EXPECT_EQ(test, npsns, npsn);
	KUNIT_EXPECT_EQ(test, requests, srn_segment_requests(&wqe));

	/* From a hole in the middle: aligned with the packets of the first answer. */
	srn_segment(&wqe, rc, 256, srn_psn_add(0xffffff, 7), &plan);
	KUNIT_EXPECT_EQ(test, plan.offset, 7u * 256);
	/* And up to the end of what was asked then. */
	KUNIT_EXPECT_EQ(test, plan.npsn, (u32)CHUNK - 7);
}

static void srn_segment_single_test(struct kunit *test)
{
	static const struct { u8 wr, opcode, len; } rows[] = {
		{ IB_WR_ATOMIC_CMP_AND_SWP, 0x13, 0 },
		{ IB_WR_ATOMIC_FETCH_AND_ADD, 0x14, 0 },
		{ IB_WR_ATOMIC_WRITE, 0x1d, 8 },
	};
	struct srn_plan plan;
	struct srn_wqe wqe;
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		start_wqe(&wqe, rows[i].wr, 8, 256, 0);
		srn_segment(&wqe, srn_service_of(IB_QPT_RC), 256, 0, &plan);
		KUNIT_EXPECT_EQ(test, plan.opcode, rows[i].opcode);
		KUNIT_EXPECT_EQ(test, plan.len, (u32)rows[i].len);
		KUNIT_EXPECT_EQ(test, srn_segment_left(&wqe, &plan), 1);
		KUNIT_EXPECT_EQ(test, srn_segment_requests(&wqe), 1);
		KUNIT_EXPECT_TRUE(test, plan.first && plan.last);
	}
}

static struct kunit_case srn_segment_cases[] = {
	KUNIT_CASE_PARAM(srn_segment_npsn_test, npsn_gen_params),
	KUNIT_CASE_PARAM(srn_segment_shape_test, shape_gen_params),
	KUNIT_CASE_PARAM(srn_segment_run_test, shape_gen_params),
	KUNIT_CASE(srn_segment_ud_test),
	KUNIT_CASE(srn_segment_read_test),
	KUNIT_CASE(srn_segment_single_test),
	{}
};

static struct kunit_suite srn_segment_suite = {
	.name = "srn_segment",
	.test_cases = srn_segment_cases,
};

kunit_test_suite(srn_segment_suite);
