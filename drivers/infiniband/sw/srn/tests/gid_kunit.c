// SPDX-License-Identifier: GPL-2.0-only
/* Addresses that several netdevs have, and those that are gone. */
#include "../gid.h"
#include "fake.h"

#include <linux/in6.h>

#define NO_VLAN	0xffff

/* 2001:db8::@host (RFC 3849) */
static struct in6_addr address(u8 host)
{
	struct in6_addr addr = {};

	addr.s6_addr[0] = 0x20;
	addr.s6_addr[1] = 0x01;
	addr.s6_addr[2] = 0x0d;
	addr.s6_addr[3] = 0xb8;
	addr.s6_addr[15] = host;
	return addr;
}

/* A device of three netdevs, 7, 8 and 9, with one address, in VLANs 41, 42 and none. */
static struct srn_dev *new_dev(struct kunit *test)
{
	struct srn_gid_table *table;
	struct srn_dev *dev = fake_dev(test);
	struct in6_addr addr = address(1);
	unsigned int i;

	table = kunit_kzalloc(test, struct_size(table, gids, 3), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, table);
	table->num = 3;
	for (i = 0; i < 3; i++) {
		memcpy(&table->gids[i].gid, &addr, sizeof(addr));
		table->gids[i].ifindex = 7 + i;
		table->gids[i].vlan = i < 2 ? 41 + i : NO_VLAN;
		table->gids[i].id = 1 + i;
	}
	mutex_init(&dev->gid_lock);
	RCU_INIT_POINTER(dev->gids, table);
	return dev;
}

static int vlan_of(struct srn_dev *dev, int iif)
{
	struct in6_addr addr = address(1);
	int vlan;

	rcu_read_lock();
	vlan = srn_dev_gid_vlan(dev, &addr, iif);
	rcu_read_unlock();
	return vlan;
}

static enum srn_gid_match match_of(struct srn_dev *dev, u8 host, int iif)
{
	struct in6_addr addr = address(host);
	enum srn_gid_match match;

	rcu_read_lock();
	match = srn_dev_match_gid(dev, &addr, iif);
	rcu_read_unlock();
	return match;
}

/* The netdev that the packet came by decides; of others the oldest, as rdma_cm has it. */
static void srn_gid_of_netdev_test(struct kunit *test)
{
	struct srn_dev *dev = new_dev(test);

	KUNIT_EXPECT_EQ(test, vlan_of(dev, 7), 41);
	KUNIT_EXPECT_EQ(test, vlan_of(dev, 8), 42);
	KUNIT_EXPECT_EQ(test, vlan_of(dev, 9), -1);
	KUNIT_EXPECT_EQ(test, vlan_of(dev, 10), 41);
	KUNIT_EXPECT_EQ(test, match_of(dev, 1, 9), SRN_GID_HERE);
	KUNIT_EXPECT_EQ(test, match_of(dev, 1, 10), SRN_GID_KNOWN);
	KUNIT_EXPECT_EQ(test, match_of(dev, 2, 9), SRN_GID_NONE);
}

/* What one netdev loses the others keep, and what is left in its place is no address. */
static void srn_gid_deleted_test(struct kunit *test)
{
	struct srn_dev *dev = new_dev(test);
	const struct ib_gid_attr attr = { .device = &dev->ibdev };
	struct in6_addr addr = address(1), none = {};
	unsigned long id;
	void *context;

	context = NULL;
	KUNIT_EXPECT_EQ(test, srn_del_gid(&attr, &context), 0);
	for (id = 3; id; id--) {
		KUNIT_EXPECT_TRUE(test, srn_dev_has_gid(dev, &addr));
		KUNIT_EXPECT_EQ(test, match_of(dev, 1, 6 + id), SRN_GID_HERE);
		context = (void *)id;
		KUNIT_EXPECT_EQ(test, srn_del_gid(&attr, &context), 0);
		KUNIT_EXPECT_NE(test, match_of(dev, 1, 6 + id), SRN_GID_HERE);
		KUNIT_EXPECT_FALSE(test, srn_dev_has_gid(dev, &none));
	}
	KUNIT_EXPECT_FALSE(test, srn_dev_has_gid(dev, &addr));
}

static struct kunit_case srn_gid_cases[] = {
	KUNIT_CASE(srn_gid_of_netdev_test),
	KUNIT_CASE(srn_gid_deleted_test),
	{}
};

static struct kunit_suite srn_gid_suite = {
	.name = "srn_gid",
	.test_cases = srn_gid_cases,
};

kunit_test_suite(srn_gid_suite);
