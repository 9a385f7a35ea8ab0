// SPDX-License-Identifier: GPL-2.0-only
#include "../payer.h"
#include "../limits.h"
#include "../service.h"

#include <kunit/test.h>
#include <linux/skbuff.h>
#include <net/net_namespace.h>

static struct sk_buff *charged(struct kunit *test, struct srn_payer *payer)
{
	struct sk_buff *skb = alloc_skb(1024, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	srn_payer_charge(payer, skb);
	return skb;
}

/* One that is full leaves another's room alone, and has room once packets have gone. */
static void srn_payer_room_test(struct kunit *test)
{
	struct srn_payer full = {}, other = {};
	struct sk_buff_head waiting;
	int n;

	KUNIT_ASSERT_EQ(test, srn_payer_open(&full, &init_net), 0);
	KUNIT_ASSERT_EQ(test, srn_payer_open(&other, &init_net), 0);
	skb_queue_head_init(&waiting);
	for (n = 0; n < SRN_UNSENT_BYTES / 1024 && srn_payer_has_room(&full); n++)
		__skb_queue_tail(&waiting, charged(test, &full));
	KUNIT_EXPECT_FALSE(test, srn_payer_has_room(&full));
	KUNIT_EXPECT_TRUE(test, srn_payer_has_room(&other));
	kfree_skb(__skb_dequeue(&waiting));
	KUNIT_EXPECT_TRUE(test, srn_payer_has_room(&full));
	/* Packets may be there longer than who paid. */
	srn_payer_close(&full);
	srn_payer_close(&other);
	__skb_queue_purge(&waiting);
}

/* Each look in vain makes the next wait longer, up to a bound; room makes it short. */
static void srn_payer_wait_test(struct kunit *test)
{
	struct srn_payer payer = {};
	u32 last = 0;
	int i;

	KUNIT_ASSERT_EQ(test, srn_payer_open(&payer, &init_net), 0);
	for (i = 0; i < 20; i++) {
		u32 wait = srn_payer_wait(&payer);

		KUNIT_EXPECT_GE(test, wait, last);
		KUNIT_EXPECT_LE(test, wait, SRN_UNSENT_WAIT_MAX_NS);
		last = wait;
	}
	KUNIT_EXPECT_EQ(test, last, SRN_UNSENT_WAIT_MAX_NS);
	KUNIT_EXPECT_TRUE(test, srn_payer_has_room(&payer));
	KUNIT_EXPECT_EQ(test, srn_payer_wait(&payer), SRN_UNSENT_WAIT_NS);
	srn_payer_close(&payer);
}

/* Nobody connects without the GSI: a full queue elsewhere must not stop it. */
static void srn_payer_services_test(struct kunit *test)
{
	struct srn_payer nobody = {};

	KUNIT_EXPECT_TRUE(test, srn_service_of(IB_QPT_UC)->paced);
	KUNIT_EXPECT_TRUE(test, srn_service_of(IB_QPT_UD)->paced);
	KUNIT_EXPECT_FALSE(test, srn_service_of(IB_QPT_GSI)->paced);
	KUNIT_EXPECT_TRUE(test, srn_payer_has_room(&nobody));
}

static struct kunit_case srn_payer_cases[] = {
	KUNIT_CASE(srn_payer_room_test),
	KUNIT_CASE(srn_payer_wait_test),
	KUNIT_CASE(srn_payer_services_test),
	{}
};

static struct kunit_suite srn_payer_suite = {
	.name = "srn_payer",
	.test_cases = srn_payer_cases,
};

kunit_test_suite(srn_payer_suite);
