// SPDX-License-Identifier: GPL-2.0-only
/* Which way packets take. */
#include "../xmit.h"

#include <kunit/test.h>
#include <linux/skbuff.h>

/* The same for all packets of a flow, whoever sends them. */
static void srn_xmit_steer_test(struct kunit *test)
{
	static const u32 hashes[] = { 0, 1, 0x9e3779b1, U32_MAX };
	struct sk_buff *skb = alloc_skb(64, GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	for (i = 0; i < ARRAY_SIZE(hashes); i++) {
		srn_xmit_steer(skb, hashes[i]);
		KUNIT_EXPECT_EQ(test, skb_get_hash_raw(skb), hashes[i]);
#ifdef CONFIG_XPS
		/* 0 and what is beyond the CPUs would have the stack take the sender's. */
		KUNIT_EXPECT_GT(test, skb->sender_cpu, 0);
		KUNIT_EXPECT_LE(test, skb->sender_cpu, nr_cpu_ids);
#endif
	}
	kfree_skb(skb);
}

static struct kunit_case srn_build_cases[] = {
	KUNIT_CASE(srn_xmit_steer_test),
	{}
};

static struct kunit_suite srn_build_suite = {
	.name = "srn_build",
	.test_cases = srn_build_cases,
};

kunit_test_suite(srn_build_suite);
