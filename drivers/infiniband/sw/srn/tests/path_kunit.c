// SPDX-License-Identifier: GPL-2.0-only
/* What a path says of the address vector that it was made of, and the route that it keeps. */
#include "../path.h"
#include "fake_route.h"

#include <kunit/test.h>
#include <linux/bottom_half.h>
#include <linux/string.h>

struct asked_row {
	const char *desc;
	bool is_v6;
	u8 dgid[16];
};

static const struct asked_row asked_rows[] = {
	{ "IPv4", false, { [10] = 0xff, 0xff, 192, 0, 2, 1 } },
	{ "IPv6", true, { 0x20, 0x01, 0x0d, 0xb8, [15] = 7 } },
};

KUNIT_ARRAY_PARAM_DESC(asked, asked_rows, desc);

static struct srn_path path_to(const struct asked_row *row, u32 flow_label)
{
	struct srn_path path = { .is_v6 = row->is_v6, .flow_label = htonl(flow_label) };

	if (row->is_v6)
		memcpy(&path.v6.daddr, row->dgid, sizeof(path.v6.daddr));
	else
		memcpy(&path.v4.daddr, row->dgid + 12, sizeof(path.v4.daddr));
	return path;
}

/* All of it, also what the path has in another form: no hop limit, a service level that is no
 * priority, bits for ECN.
 */
static void srn_path_query_test(struct kunit *test)
{
	const struct asked_row *row = test->param_value;
	struct rdma_ah_attr attr = { .type = RDMA_AH_ATTR_TYPE_ROCE }, got;
	struct srn_path path = path_to(row, 0xfedcb);
	struct srn_path_asked asked;

	rdma_ah_set_grh(&attr, NULL, 0xfedcb, 9, 0, 0x23);
	memcpy(attr.grh.dgid.raw, row->dgid, sizeof(row->dgid));
	rdma_ah_set_sl(&attr, 15);
	rdma_ah_set_static_rate(&attr, IB_RATE_2_5_GBPS);
	rdma_ah_set_port_num(&attr, 1);
	srn_path_ask(&asked, &attr);
	memset(&got, 0xff, sizeof(got));
	srn_path_query(&path, &asked, &got);
	KUNIT_EXPECT_EQ(test, (int)got.type, (int)attr.type);
	KUNIT_EXPECT_EQ(test, got.ah_flags, IB_AH_GRH);
	KUNIT_EXPECT_EQ(test, got.port_num, attr.port_num);
	KUNIT_EXPECT_EQ(test, got.sl, attr.sl);
	KUNIT_EXPECT_EQ(test, got.static_rate, attr.static_rate);
	KUNIT_EXPECT_EQ(test, got.grh.flow_label, attr.grh.flow_label);
	KUNIT_EXPECT_EQ(test, got.grh.sgid_index, attr.grh.sgid_index);
	KUNIT_EXPECT_EQ(test, got.grh.hop_limit, attr.grh.hop_limit);
	KUNIT_EXPECT_EQ(test, got.grh.traffic_class, attr.grh.traffic_class);
	KUNIT_EXPECT_MEMEQ(test, got.grh.dgid.raw, row->dgid, sizeof(row->dgid));
	KUNIT_EXPECT_NULL(test, got.grh.sgid_attr);
}

static int no_output(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	kfree_skb(skb);
	return 0;
}

/* Kept until the test's own end, which takes its route from it. */
static struct srn_path *new_path(struct kunit *test)
{
	struct srn_path *path = kunit_kzalloc(test, sizeof(*path), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, path);
	path->dev = fake_dev(test);
	path->dev->net = &init_net;
	return path;
}

static struct dst_entry *look(struct srn_path *path)
{
	struct dst_entry *dst;

	local_bh_disable();
	dst = srn_path_dst(path);
	local_bh_enable();
	return dst;
}

/* Lent to who asks, who counts nothing: the one reference is the path's, until the stack says that it is of no use. */
static void srn_path_route_test(struct kunit *test)
{
	struct srn_path *path = new_path(test);
	struct dst_entry *dst, *got;
	unsigned int refs;

	fake_route(test, path, no_output);
	dst = path->route.dst;
	refs = rcuref_read(&dst->__rcuref);
	KUNIT_EXPECT_PTR_EQ(test, look(path), dst);
	KUNIT_EXPECT_EQ(test, rcuref_read(&dst->__rcuref), refs);
	dst->obsolete = DST_OBSOLETE_DEAD;
	got = look(path);
	KUNIT_EXPECT_PTR_NE(test, got, dst);
	KUNIT_EXPECT_PTR_EQ(test, path->route.dst, got);
	KUNIT_EXPECT_EQ(test, rcuref_read(&dst->__rcuref), refs - 1);
}

/* Who ends it gives its route back. */
static void srn_path_end_test(struct kunit *test)
{
	struct srn_path *path = new_path(test);
	struct dst_entry *dst;
	unsigned int refs;

	fake_route(test, path, no_output);
	dst = path->route.dst;
	refs = rcuref_read(&dst->__rcuref);
	srn_path_destroy(path);
	KUNIT_EXPECT_EQ(test, rcuref_read(&dst->__rcuref), refs - 1);
	KUNIT_EXPECT_NULL(test, path->route.dst);
}

/* An AH's is not of one CPU: nothing of it is in the path. */
static void srn_path_shared_test(struct kunit *test)
{
	struct rtable *rt = rt_dst_alloc(init_net.loopback_dev, 0, RTN_LOCAL, true);
	struct srn_path *path = new_path(test);
	struct dst_entry *got;
	unsigned int refs;

	KUNIT_ASSERT_NOT_NULL(test, rt);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, fake_free_route, &rt->dst));
	KUNIT_ASSERT_EQ(test, 0, srn_path_share(path, GFP_KERNEL));
	KUNIT_EXPECT_TRUE(test, path->is_shared);
	refs = rcuref_read(&rt->dst.__rcuref);
	local_bh_disable();
	/* The cache believes what was put there after a look in vain, which is new. */
	path->cache.reset_ts--;
	dst_cache_get(&path->cache);
	dst_cache_set_ip4(&path->cache, &rt->dst, 0);
	got = srn_path_dst(path);
	local_bh_enable();
	KUNIT_EXPECT_PTR_EQ(test, got, &rt->dst);
	KUNIT_EXPECT_EQ(test, rcuref_read(&rt->dst.__rcuref), refs + 1);
	srn_path_destroy(path);
}

static struct kunit_case srn_path_cases[] = {
	KUNIT_CASE(srn_path_route_test),
	KUNIT_CASE(srn_path_end_test),
	KUNIT_CASE(srn_path_shared_test),
	KUNIT_CASE_PARAM(srn_path_query_test, asked_gen_params),
	{}
};

static struct kunit_suite srn_path_suite = {
	.name = "srn_path",
	.test_cases = srn_path_cases,
};

kunit_test_suite(srn_path_suite);
