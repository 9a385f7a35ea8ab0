// SPDX-License-Identifier: GPL-2.0-only
#include "../cut.h"

#include <kunit/test.h>
#include <linux/err.h>
#include <linux/skbuff.h>

/* As kernels did it that lose what the others hold. */
static struct sk_buff *cut_and_lose(struct sk_buff *skb, netdev_features_t features,
				    unsigned int offset)
{
	unsigned int part = skb_shinfo(skb)->frag_list->truesize;
	struct sk_buff *segments = skb_segment_list(skb, features, offset);

	if (!IS_ERR(segments))
		skb->truesize -= part;
	return segments;
}

static struct sk_buff *cut_in_vain(struct sk_buff *skb, netdev_features_t features,
				   unsigned int offset)
{
	return ERR_PTR(-ENOMEM);
}

static void srn_cut_keeps_test(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, srn_cut_keeps(cut_in_vain));
	KUNIT_EXPECT_EQ(test, srn_cut_keeps(skb_segment_list), srn_cut_is_paid);
	if (srn_cut_is_paid)
		KUNIT_EXPECT_FALSE(test, srn_cut_keeps(cut_and_lose));
	else
		kunit_info(test, "this kernel takes from who paid");
}

static struct kunit_case srn_cut_cases[] = {
	KUNIT_CASE(srn_cut_keeps_test),
	{}
};

static struct kunit_suite srn_cut_suite = {
	.name = "srn_cut",
	.test_cases = srn_cut_cases,
};

kunit_test_suite(srn_cut_suite);
