// SPDX-License-Identifier: GPL-2.0-only
/* What is known of a peer before the first packet. */
#include "../ece.h"
#include "fake_hello.h"

#include <kunit/test.h>
#include <net/inet_ecn.h>

#define ALL	(SRN_ECE_SACK | SRN_ECE_TELLS | SRN_ECE_PARTS)

#define PEER_Q	0x123456
#define OF(qpn)	((qpn) << SRN_ECE_QPN_SHIFT)

/* On its way to RTR, with what both have. */
static struct srn_qp *new_qp(struct kunit *test, u8 both)
{
	struct srn_qp *qp = start(test, 1);

	stop();
	qp->ece = ALL;
	qp->notifies = false;
	srn_ece_begin(qp, both);
	srn_hello_start(qp);
	srn_ece_meet(qp, both);
	return qp;
}

static void srn_ece_offer_test(struct kunit *test)
{
	struct srn_qp *qp = new_qp(test, 0);

	KUNIT_EXPECT_EQ(test, srn_ece_offer(qp), ALL);
	qp->svc = srn_service_of(IB_QPT_UC);
	KUNIT_EXPECT_EQ(test, srn_ece_offer(qp), 0);
	qp->svc = srn_service_of(IB_QPT_UD);
	KUNIT_EXPECT_EQ(test, srn_ece_offer(qp), 0);
}

static void srn_ece_both_test(struct kunit *test)
{
	struct srn_qp *qp = new_qp(test, 0);

	KUNIT_EXPECT_EQ(test, srn_ece_both(qp, OF(PEER_Q) | SRN_ECE_FLAGS, PEER_Q), ALL);
	KUNIT_EXPECT_EQ(test, srn_ece_both(qp, OF(PEER_Q) | SRN_ECE_SACK, PEER_Q), SRN_ECE_SACK);
	/* Of another QP, of nobody, and without what all else is for. */
	KUNIT_EXPECT_EQ(test, srn_ece_both(qp, OF(PEER_Q + 1) | ALL, PEER_Q), 0);
	KUNIT_EXPECT_EQ(test, srn_ece_both(qp, ALL, PEER_Q), 0);
	KUNIT_EXPECT_EQ(test, srn_ece_both(qp, OF(PEER_Q) | SRN_ECE_TELLS | SRN_ECE_PARTS, PEER_Q), 0);
	qp->ece = SRN_ECE_SACK;
	KUNIT_EXPECT_EQ(test, srn_ece_both(qp, OF(PEER_Q) | ALL, PEER_Q), SRN_ECE_SACK);
	qp->ece = 0;
	KUNIT_EXPECT_EQ(test, srn_ece_both(qp, OF(PEER_Q) | ALL, PEER_Q), 0);
}

static void srn_ece_meet_test(struct kunit *test)
{
	struct srn_qp *qp = new_qp(test, ALL);

	KUNIT_EXPECT_TRUE(test, qp->peer.sacks);
	KUNIT_EXPECT_TRUE(test, qp->peer.parts);
	KUNIT_EXPECT_TRUE(test, qp->notifies);
	KUNIT_EXPECT_EQ(test, qp->path.ecn, INET_ECN_ECT_0);
	KUNIT_EXPECT_EQ(test, qp->resp.hold.mtu, MTU);
	/* That it has heard of us is not known; it is asked where that matters. */
	KUNIT_EXPECT_FALSE(test, qp->peer.knows);
	KUNIT_EXPECT_FALSE(test, qp->peer.due);
	KUNIT_EXPECT_EQ(test, qp->peer.ahead, SRN_HOLD_AHEAD);
	srn_hello_again(&qp->peer);
	KUNIT_EXPECT_TRUE(test, qp->peer.due);

	qp = new_qp(test, SRN_ECE_SACK);
	KUNIT_EXPECT_TRUE(test, qp->peer.sacks);
	KUNIT_EXPECT_FALSE(test, qp->peer.parts);
	KUNIT_EXPECT_FALSE(test, qp->notifies);

	qp = new_qp(test, 0);
	KUNIT_EXPECT_FALSE(test, qp->peer.sacks);
	KUNIT_EXPECT_TRUE(test, qp->peer.due);
}

/* What both have decides, where the parameters, or the service, would say otherwise. */
static void srn_ece_begin_test(struct kunit *test)
{
	struct srn_qp *qp = new_qp(test, 0);

	qp->svc = srn_service_of(IB_QPT_UC);
	srn_ece_begin(qp, 0);
	KUNIT_EXPECT_EQ(test, qp->recovery, SRN_RECOVERY_GBN);
	srn_ece_begin(qp, SRN_ECE_SACK);
	KUNIT_EXPECT_EQ(test, qp->recovery, SRN_RECOVERY_SACK);
	KUNIT_EXPECT_EQ(test, qp->cc, SRN_CC_DCQCN);
}

static struct kunit_case srn_ece_cases[] = {
	KUNIT_CASE(srn_ece_offer_test),
	KUNIT_CASE(srn_ece_both_test),
	KUNIT_CASE(srn_ece_meet_test),
	KUNIT_CASE(srn_ece_begin_test),
	{}
};

static struct kunit_suite srn_ece_suite = {
	.name = "srn_ece",
	.test_cases = srn_ece_cases,
};
kunit_test_suite(srn_ece_suite);
