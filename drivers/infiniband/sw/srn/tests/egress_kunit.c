// SPDX-License-Identifier: GPL-2.0-only
/* Where packets leave as one skb, and where each has its own. */
#include "../build.h"
#include "../egress.h"
#include "../train.h"
#include "../wire.h"
#include "fake_route.h"
#include "fake_train.h"

#include <kunit/test.h>
#include <linux/bottom_half.h>
#include <linux/hashtable.h>
#include <linux/if_ether.h>
#include <net/dst.h>
#include <net/lwtunnel.h>
#include <net/sch_generic.h>
#include <rdma/ib_pack.h>

#define LEN	(sizeof(struct srn_bth) + SRN_ICRC_SIZE)

struct route_row {
	const char *desc;
	bool gso, lwt;
	u16 needed, header;
	bool fits;
	/* Where segmentation is off: what the netdev could do, what is to be on, and what else is. */
	u64 could, wanted, has;
};

#define GSO	NETIF_F_GSO
#define SG	NETIF_F_SG

static const struct route_row route_rows[] = {
	{ "plain", true, false, 0, 0, true },
	{ "segmentation is off", false, false, 0, 0, false, GSO | SG, SG },
	{ "gathering is off", false, false, 0, 0, false, GSO | SG, GSO },
	{ "nothing is gathered", false, false, 0, 0, true, GSO, GSO },
	{ "nothing is gathered below", false, false, 0, 0, true, GSO | SG, GSO | SG },
	{ "nothing is gathered below, but lists", false, false, 0, 0, false, GSO | SG, GSO | SG, NETIF_F_FRAGLIST },
	{ "nothing is gathered, and segmentation is off", false, false, 0, 0, false, GSO, 0 },
	{ "nothing is gathered, and headers are long", false, false, 600, 0, false, GSO, GSO },
	{ "a tunnel", true, false, 100, 0, true },
	{ "a light-weight tunnel", true, true, 0, 0, false },
	{ "a netdev with long headers", true, false, 600, 0, false },
	{ "a route with long headers", true, false, 0, 600, false },
};

KUNIT_ARRAY_PARAM_DESC(route, route_rows, desc);

static void srn_egress_fits_test(struct kunit *test)
{
	const struct route_row *row = test->param_value;
	struct net_device *dev = kunit_kzalloc(test, sizeof(*dev), GFP_KERNEL);
	struct lwtunnel_state lwt = {};
	struct dst_entry dst = { .dev = dev };

	KUNIT_ASSERT_NOT_NULL(test, dev);
	dev->hard_header_len = ETH_HLEN;
	dev->features = row->gso ? NETIF_F_GSO : row->has;
	dev->hw_features = row->could;
	dev->wanted_features = row->wanted;
	dev->needed_headroom = row->needed;
	dst.header_len = row->header;
	dst.lwtstate = row->lwt ? &lwt : NULL;
	KUNIT_EXPECT_EQ(test, srn_egress_fits(&dst), row->fits);
}

static const struct Qdisc_class_ops classes;
static struct Qdisc_ops netem_ops = { .id = "netem", .cl_ops = &classes };
/* One that only begins so. */
static struct Qdisc_ops other_ops = { .id = "netem2", .cl_ops = &classes };
static struct Qdisc_ops prio_ops = { .id = "prio", .cl_ops = &classes };
static struct Qdisc_ops fifo_ops = { .id = "pfifo" };

static const struct couples_row {
	const char *desc;
	struct Qdisc_ops *root, *below;
	u32 segs;
	bool couples;
} couples_rows[] = {
	{ "no queue", NULL, NULL, 65535, .couples = true },
	{ "two", NULL, NULL, 2, .couples = true },
	{ "one segment", NULL, NULL, 1 },
	{ "none", NULL, NULL, 0 },
	{ "a queue", &fifo_ops, NULL, 65535, .couples = true },
	{ "netem", &netem_ops, NULL, 65535 },
	{ "something else", &other_ops, NULL, 65535, .couples = true },
	{ "bands", &prio_ops, &fifo_ops, 65535, .couples = true },
	{ "netem in a band", &prio_ops, &netem_ops, 65535 },
};

KUNIT_ARRAY_PARAM_DESC(couples, couples_rows, desc);

static void back_to_lo(void *dst)
{
	((struct dst_entry *)dst)->dev = init_net.loopback_dev;
}

static int leave(struct net *net, struct sock *sk, struct sk_buff *skb);

/* Its route leaves by a netdev that takes all. */
static struct srn_path *new_path(struct kunit *test)
{
	struct net_device *dev = kunit_kzalloc(test, sizeof(*dev), GFP_KERNEL);
	struct srn_path *path = kunit_kzalloc(test, sizeof(*path), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, dev);
	KUNIT_ASSERT_NOT_NULL(test, path);
	dev->mtu = 1500;
	dev->features = NETIF_F_GSO;
	dev->gso_max_segs = GSO_MAX_SEGS;
	dev->gso_max_size = GSO_LEGACY_MAX_SIZE;
	dev->gso_ipv4_max_size = GSO_LEGACY_MAX_SIZE;
	RCU_INIT_POINTER(dev->qdisc, &noop_qdisc);
	dev_net_set(dev, &init_net);
	path->dev = fake_dev(test);
	path->ttl = 64;
	fake_route(test, path, leave);
	path->route.dst->dev = dev;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, back_to_lo, path->route.dst));
	return path;
}

static bool couples(struct srn_path *path, const struct dst_entry *dst)
{
	bool ret;

	local_bh_disable();
	ret = srn_egress_couples(path->dev, dst);
	local_bh_enable();
	return ret;
}

static struct Qdisc *new_qdisc(struct kunit *test, const struct Qdisc_ops *ops)
{
	struct Qdisc *qdisc = kunit_kzalloc(test, sizeof(*qdisc), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, qdisc);
	qdisc->ops = ops;
	return qdisc;
}

static void srn_egress_couples_test(struct kunit *test)
{
	const struct couples_row *row = test->param_value;
	struct srn_path *path = new_path(test);
	struct dst_entry *dst = path->route.dst;
	struct net_device *dev = dst->dev;

	if (row->root)
		RCU_INIT_POINTER(dev->qdisc, new_qdisc(test, row->root));
	if (row->below)
		hash_add_rcu(dev->qdisc_hash, &new_qdisc(test, row->below)->hash, 1);
	dev->gso_max_segs = row->segs;
	KUNIT_EXPECT_EQ(test, couples(path, dst), row->couples);
}

/* What a device knows of the netdev that a path leaves by. */
static u64 *seen(struct srn_path *path)
{
	return &path->dev->egress_seen[path->route.dst->dev->ifindex % SRN_EGRESS_SEEN];
}

/* What is below a root is looked at in another tick, the root each time. */
static void srn_egress_again_test(struct kunit *test)
{
	struct srn_path *path = new_path(test);
	struct dst_entry *dst = path->route.dst;
	struct net_device *dev = dst->dev;
	struct Qdisc *below = new_qdisc(test, &netem_ops);

	RCU_INIT_POINTER(dev->qdisc, new_qdisc(test, &prio_ops));
	KUNIT_EXPECT_TRUE(test, couples(path, dst));
	hash_add_rcu(dev->qdisc_hash, &below->hash, 1);
	*seen(path) -= 2;
	KUNIT_EXPECT_FALSE(test, couples(path, dst));
	hash_del_rcu(&below->hash);
	*seen(path) -= 2;
	KUNIT_EXPECT_TRUE(test, couples(path, dst));
	RCU_INIT_POINTER(dev->qdisc, new_qdisc(test, &netem_ops));
	KUNIT_EXPECT_FALSE(test, couples(path, dst));
	RCU_INIT_POINTER(dev->qdisc, &noop_qdisc);
	KUNIT_EXPECT_TRUE(test, couples(path, dst));
}

static const struct other_row {
	const char *desc;
	int further;
	bool kept;
} other_rows[] = {
	{ "the next", 1, true },
	{ "one that takes its place", SRN_EGRESS_SEEN, false },
};

KUNIT_ARRAY_PARAM_DESC(other, other_rows, desc);

/* What was seen below the root of one is not said of another, in the same tick, and neither looks again. */
static void srn_egress_other_test(struct kunit *test)
{
	const struct other_row *row = test->param_value;
	struct srn_path *path = new_path(test), *other = new_path(test);
	struct net_device *dev = path->route.dst->dev;
	u64 of_path;

	RCU_INIT_POINTER(dev->qdisc, new_qdisc(test, &prio_ops));
	RCU_INIT_POINTER(other->route.dst->dev->qdisc, new_qdisc(test, &prio_ops));
	other->route.dst->dev->ifindex = dev->ifindex + row->further;
	hash_add_rcu(dev->qdisc_hash, &new_qdisc(test, &netem_ops)->hash, 1);
	other->dev = path->dev;
	KUNIT_EXPECT_FALSE(test, couples(path, path->route.dst));
	of_path = *seen(path);
	KUNIT_EXPECT_TRUE(test, couples(other, other->route.dst));
	KUNIT_EXPECT_EQ(test, *seen(path) == of_path, row->kept);
	KUNIT_EXPECT_FALSE(test, couples(path, path->route.dst));
}

/* Who has more of them than are looked at gets single packets. */
static void srn_egress_many_test(struct kunit *test)
{
	struct srn_path *path = new_path(test);
	struct net_device *dev = path->route.dst->dev;
	u32 i;

	RCU_INIT_POINTER(dev->qdisc, new_qdisc(test, &prio_ops));
	for (i = 0; i < 1024; i++)
		hash_add_rcu(dev->qdisc_hash, &new_qdisc(test, &fifo_ops)->hash, 1);
	KUNIT_EXPECT_TRUE(test, couples(path, path->route.dst));
	hash_add_rcu(dev->qdisc_hash, &new_qdisc(test, &fifo_ops)->hash, 1);
	*seen(path) -= 2;
	KUNIT_EXPECT_FALSE(test, couples(path, path->route.dst));
}

static const struct room_row {
	const char *desc;
	u32 size4, size6, mtu, room;
	bool is_v6, uncut_by_mtu;
} room_rows[] = {
	{ "IPv4", 30000, 60000, 1500, 30000 - 256 },
	{ "IPv6", 30000, 60000, 1500, 60000 - 256, .is_v6 = true },
	{ "uncut by the MTU", 30000, 60000, 20000, 20000 - 256, .uncut_by_mtu = true },
	{ "uncut by the MTU, and little", 30000, 60000, 65536, 30000 - 256, .uncut_by_mtu = true },
	{ "nothing", 100, 100, 1500, 0 },
};

KUNIT_ARRAY_PARAM_DESC(room, room_rows, desc);

static void srn_egress_room_test(struct kunit *test)
{
	const struct room_row *row = test->param_value;
	struct srn_path *path = new_path(test);
	struct dst_entry *dst = path->route.dst;

	dst->dev->gso_ipv4_max_size = row->size4;
	dst->dev->gso_max_size = row->size6;
	dst->dev->mtu = row->mtu;
	KUNIT_EXPECT_EQ(test, srn_egress_room(dst, row->is_v6, row->uncut_by_mtu), row->room);
}

/* How many packets the skbs had that were handed to the route. */
static struct {
	u32 num, packets[8];
} left;

static int leave(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	if (left.num < ARRAY_SIZE(left.packets))
		left.packets[left.num] = skb_is_gso(skb) ? skb_shinfo(skb)->gso_segs : 1;
	left.num++;
	kfree_skb(skb);
	return 0;
}

static const struct train_row {
	const char *desc;
	u32 segs, size;
	u32 num, packets[8];
} train_rows[] = {
	{ "all", 65535, 65536, 5, { 5 } },
	{ "two each", 2, 65536, 5, { 2, 2, 1 } },
	{ "one each", 1, 65536, 3, { 1, 1, 1 } },
	{ "short ones", 65535, 256 + 3 * LEN, 5, { 3, 2 } },
	{ "too short for two", 65535, 256 + 2 * LEN - 1, 3, { 1, 1, 1 } },
};

KUNIT_ARRAY_PARAM_DESC(train, train_rows, desc);

/* A train is what the netdev was told to take, and no more. */
static void srn_egress_train_test(struct kunit *test)
{
	const struct train_row *row = test->param_value;
	struct srn_train train = {};
	struct srn_path *path;
	u32 i;

	memset(&left, 0, sizeof(left));
	migrate_disable();
	path = new_path(test);
	path->route.dst->dev->gso_max_segs = row->segs;
	path->route.dst->dev->gso_ipv4_max_size = row->size;
	add_packets(&train, path, row->num);
	migrate_enable();
	KUNIT_EXPECT_NULL(test, train.head);
	for (i = 0; i < ARRAY_SIZE(left.packets); i++)
		KUNIT_EXPECT_EQ(test, left.packets[i], row->packets[i]);
}

static struct kunit_case srn_egress_cases[] = {
	KUNIT_CASE_PARAM(srn_egress_fits_test, route_gen_params),
	KUNIT_CASE_PARAM(srn_egress_couples_test, couples_gen_params),
	KUNIT_CASE(srn_egress_again_test),
	KUNIT_CASE_PARAM(srn_egress_other_test, other_gen_params),
	KUNIT_CASE(srn_egress_many_test),
	KUNIT_CASE_PARAM(srn_egress_room_test, room_gen_params),
	KUNIT_CASE_PARAM(srn_egress_train_test, train_gen_params),
	{}
};

static struct kunit_suite srn_egress_suite = {
	.name = "srn_egress",
	.test_cases = srn_egress_cases,
};

kunit_test_suite(srn_egress_suite);
