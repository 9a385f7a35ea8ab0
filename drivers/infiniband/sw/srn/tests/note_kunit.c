// SPDX-License-Identifier: GPL-2.0-only
/* The last of each kind is kept, with its time, until RESET. */
#include "../note.h"
#include "../qp.h"

#include <kunit/test.h>
#include <linux/ktime.h>

static const struct {
	u8 syndrome;
	const char *reason;
} rows[] = {
	{ 0x20, "rnr" }, { 0x3f, "rnr" }, { 0x60, "sequence" }, { 0x61, "invalid-request" },
	{ 0x62, "access" }, { 0x63, "operation" }, { 0x64, "reserved" }, { 0x7f, "reserved" },
	{ 0x00, "reserved" }, { 0x42, "reserved" },
};

static void srn_note_reason_test(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		KUNIT_EXPECT_STREQ_MSG(test, srn_note_reason(rows[i].syndrome), rows[i].reason,
				       "%#x", rows[i].syndrome);
}

static void expect_nak(struct kunit *test, const struct srn_note_nak *nak, u8 syndrome, u32 psn,
		       u64 since_ns)
{
	KUNIT_EXPECT_EQ(test, nak->syndrome, syndrome);
	KUNIT_EXPECT_EQ(test, nak->psn, psn);
	KUNIT_EXPECT_GE(test, nak->at_ns, since_ns);
	KUNIT_EXPECT_LE(test, nak->at_ns, ktime_get_ns());
}

static void srn_note_last_test(struct kunit *test)
{
	struct srn_qp *qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);
	u64 now = ktime_get_ns();

	KUNIT_ASSERT_NOT_NULL(test, qp);
	srn_note_sent(qp, 0x2c, 0xffffff);
	srn_note_rcvd(qp, 0x60, 7);
	expect_nak(test, &qp->notes.sent, 0x2c, 0xffffff, now);
	expect_nak(test, &qp->notes.rcvd, 0x60, 7, now);
	KUNIT_EXPECT_EQ(test, qp->notes.timeout_ns, 0);
	srn_note_timeout(qp);
	KUNIT_EXPECT_GE(test, qp->notes.timeout_ns, now);
	srn_note_sent(qp, 0x62, 9);
	expect_nak(test, &qp->notes.sent, 0x62, 9, now);
	srn_note_reset(qp);
	KUNIT_EXPECT_EQ(test, qp->notes.sent.at_ns, 0);
	KUNIT_EXPECT_EQ(test, qp->notes.rcvd.at_ns, 0);
	KUNIT_EXPECT_EQ(test, qp->notes.timeout_ns, 0);
}

static struct kunit_case srn_note_cases[] = {
	KUNIT_CASE(srn_note_reason_test),
	KUNIT_CASE(srn_note_last_test),
	{}
};

static struct kunit_suite srn_note_suite = {
	.name = "srn_note",
	.test_cases = srn_note_cases,
};

kunit_test_suite(srn_note_suite);
