// SPDX-License-Identifier: GPL-2.0-only
/* Syndromes in numbers, so that no constant is shared with the table under test. */
#include "../verdict.h"

#include <kunit/test.h>
#include <linux/string.h>
#include <rdma/ib_verbs.h>

struct row {
	const char *desc;
	enum srn_verdict verdict;
	u8 nak;
	enum ib_wc_status wc;
	enum srn_effect effect;
};

static const struct row rows[] = {
	{ "success has no consequence", SRN_OK, 0, IB_WC_SUCCESS, SRN_EFF_NONE },
	{ "too long for the service", SRN_V_LOC_LEN, 0, IB_WC_LOC_LEN_ERR, SRN_EFF_SQ_ERROR },
	{ "own SGE not allowed", SRN_V_LOC_PROT, 0, IB_WC_LOC_PROT_ERR, SRN_EFF_SQ_ERROR },
	{ "malformed WQE", SRN_V_LOC_QP_OP, 0, IB_WC_LOC_QP_OP_ERR, SRN_EFF_SQ_ERROR },
	{ "bind refused", SRN_V_MW_BIND, 0, IB_WC_MW_BIND_ERR, SRN_EFF_SQ_ERROR },
	{ "gap: NAK 0, QP stays up", SRN_V_SEQ, 0x60, IB_WC_SUCCESS, SRN_EFF_NONE },
	{ "duplicate: no NAK", SRN_V_DUP, 0, IB_WC_SUCCESS, SRN_EFF_NONE },
	{ "RNR NAK, QP stays up", SRN_V_RNR, 0x20, IB_WC_SUCCESS, SRN_EFF_NONE },
	{ "behind an answer: no NAK", SRN_V_LATER, 0, IB_WC_SUCCESS, SRN_EFF_NONE },
	{ "invalid request: NAK 1", SRN_V_INV_REQ, 0x61, IB_WC_REM_INV_REQ_ERR, SRN_EFF_ERROR },
	{ "remote access: NAK 2", SRN_V_REM_ACCESS, 0x62, IB_WC_LOC_ACCESS_ERR, SRN_EFF_ERROR },
	{ "responder failure: NAK 3", SRN_V_REM_OP, 0x63, IB_WC_LOC_QP_OP_ERR, SRN_EFF_ERROR },
	{ "receive too short: NAK 1", SRN_V_RESP_LEN, 0x61, IB_WC_LOC_LEN_ERR, SRN_EFF_ERROR },
	{ "receive SGE bad: NAK 3", SRN_V_RESP_PROT, 0x63, IB_WC_LOC_PROT_ERR, SRN_EFF_ERROR },
	{ "told invalid request", SRN_V_NAK_INV_REQ, 0, IB_WC_REM_INV_REQ_ERR, SRN_EFF_ERROR },
	{ "told remote access", SRN_V_NAK_ACCESS, 0, IB_WC_REM_ACCESS_ERR, SRN_EFF_ERROR },
	{ "told remote operation", SRN_V_NAK_OP, 0, IB_WC_REM_OP_ERR, SRN_EFF_ERROR },
	{ "no answer", SRN_V_RETRY_EXC, 0, IB_WC_RETRY_EXC_ERR, SRN_EFF_ERROR },
	{ "never ready", SRN_V_RNR_EXC, 0, IB_WC_RNR_RETRY_EXC_ERR, SRN_EFF_ERROR },
	{ "answer does not fit", SRN_V_BAD_RESP, 0, IB_WC_BAD_RESP_ERR, SRN_EFF_ERROR },
	{ "flush of a QP that has stopped", SRN_V_FLUSH, 0, IB_WC_WR_FLUSH_ERR, SRN_EFF_NONE },
	{ "drop has no consequence", SRN_V_DROP, 0, IB_WC_SUCCESS, SRN_EFF_NONE },
	{ "lack of memory is a lost packet", SRN_V_AGAIN, 0, IB_WC_SUCCESS, SRN_EFF_NONE },
	{ "one of several: no NAK yet", SRN_V_EACH, 0, IB_WC_SUCCESS, SRN_EFF_NONE },
};

KUNIT_ARRAY_PARAM_DESC(row, rows, desc);

static void srn_verdict_row_test(struct kunit *test)
{
	const struct row *row = test->param_value;
	const struct srn_verdict_row *got = &srn_verdicts[row->verdict];

	KUNIT_EXPECT_EQ(test, got->nak, row->nak);
	KUNIT_EXPECT_EQ(test, got->wc, row->wc);
	KUNIT_EXPECT_EQ(test, got->effect, row->effect);
}

struct event_row {
	const char *desc;
	enum srn_verdict verdict;
	enum ib_event_type event;
	bool own_fault;
};

/* 11.6.3: the affiliated events of a responder, and whose fault it is. */
static const struct event_row event_rows[] = {
	{ "invalid request", SRN_V_INV_REQ, IB_EVENT_QP_REQ_ERR, false },
	{ "remote access", SRN_V_REM_ACCESS, IB_EVENT_QP_ACCESS_ERR, false },
	{ "malformed receive WQE", SRN_V_REM_OP, IB_EVENT_QP_FATAL, true },
	{ "receive too short", SRN_V_RESP_LEN, IB_EVENT_QP_FATAL, false },
	{ "receive SGE bad", SRN_V_RESP_PROT, IB_EVENT_QP_FATAL, true },
};

KUNIT_ARRAY_PARAM_DESC(event, event_rows, desc);

static void srn_verdict_event_test(struct kunit *test)
{
	const struct event_row *row = test->param_value;
	const struct srn_verdict_row *got = &srn_verdicts[row->verdict];

	KUNIT_EXPECT_EQ(test, got->event, row->event);
	KUNIT_EXPECT_EQ(test, got->own_fault, row->own_fault);
}

static void srn_verdict_complete_test(struct kunit *test)
{
	unsigned int seen[SRN_V_MAX] = {};
	unsigned int v, i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		seen[rows[i].verdict]++;
	for (v = 0; v < SRN_V_MAX; v++) {
		KUNIT_EXPECT_EQ_MSG(test, seen[v], 1, "rows for verdict %u", v);
		KUNIT_ASSERT_NOT_NULL_MSG(test, srn_verdict_name(v), "verdict %u", v);
		KUNIT_EXPECT_NE_MSG(test, strlen(srn_verdict_name(v)), 0, "verdict %u", v);
	}
}

static void srn_verdict_names_differ_test(struct kunit *test)
{
	unsigned int v, w;

	for (v = 0; v < SRN_V_MAX; v++)
		for (w = 0; w < v; w++)
			KUNIT_EXPECT_STRNEQ(test, srn_verdict_name(v), srn_verdict_name(w));
}

/* Rules that hold for rows yet to come, too. */
static void srn_verdict_consistent_test(struct kunit *test)
{
	unsigned int v;

	for (v = 0; v < SRN_V_MAX; v++) {
		const struct srn_verdict_row *row = &srn_verdicts[v];
		bool is_fatal_nak = row->nak > 0x60;

		/* Who refuses a peer for good has an event for its owner. */
		KUNIT_EXPECT_EQ_MSG(test, row->event != 0, is_fatal_nak, "verdict %u", v);
		KUNIT_EXPECT_LE_MSG(test, row->nak, 0x64, "verdict %u", v);
		/* A peer that is refused for good meets a QP that has stopped. */
		if (is_fatal_nak)
			KUNIT_EXPECT_EQ_MSG(test, row->effect, SRN_EFF_ERROR, "verdict %u", v);
		/* A retryable NAK completes nothing and stops nothing. */
		if (row->nak && !is_fatal_nak) {
			KUNIT_EXPECT_EQ_MSG(test, row->effect, SRN_EFF_NONE, "verdict %u", v);
			KUNIT_EXPECT_EQ_MSG(test, row->wc, IB_WC_SUCCESS, "verdict %u", v);
		}
		/* No QP stops without a WR that says why. */
		if (row->effect != SRN_EFF_NONE)
			KUNIT_EXPECT_NE_MSG(test, row->wc, IB_WC_SUCCESS, "verdict %u", v);
	}
}

static struct kunit_case srn_verdict_cases[] = {
	KUNIT_CASE_PARAM(srn_verdict_row_test, row_gen_params),
	KUNIT_CASE_PARAM(srn_verdict_event_test, event_gen_params),
	KUNIT_CASE(srn_verdict_complete_test),
	KUNIT_CASE(srn_verdict_names_differ_test),
	KUNIT_CASE(srn_verdict_consistent_test),
	{}
};

static struct kunit_suite srn_verdict_suite = {
	.name = "srn_verdict",
	.test_cases = srn_verdict_cases,
};

kunit_test_suite(srn_verdict_suite);
