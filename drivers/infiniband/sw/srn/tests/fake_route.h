/* SPDX-License-Identifier: GPL-2.0-only */
/* A route that ends in a function of the test. */
#ifndef SRN_TESTS_FAKE_ROUTE_H
#define SRN_TESTS_FAKE_ROUTE_H

#include "../path.h"
#include "fake.h"

#include <linux/bottom_half.h>
#include <net/dst_cache.h>
#include <net/net_namespace.h>
#include <net/route.h>

static inline void fake_free_cache(void *path)
{
	dst_cache_destroy(&((struct srn_path *)path)->cache);
}

static inline void fake_free_route(void *dst)
{
	dst_release(dst);
}

/* What @path sends from this CPU is given to @output: until it has left, the caller stays
 * here (migrate_disable()).
 */
static inline void fake_route(struct kunit *test, struct srn_path *path,
			      int (*output)(struct net *, struct sock *, struct sk_buff *))
{
	struct rtable *rt = rt_dst_alloc(init_net.loopback_dev, 0, RTN_LOCAL, true);

	KUNIT_ASSERT_NOT_NULL(test, rt);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, fake_free_route, &rt->dst));
	rt->dst.output = output;
	KUNIT_ASSERT_EQ(test, dst_cache_init(&path->cache, GFP_KERNEL), 0);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, fake_free_cache, path));
	path->dev->net = &init_net;
	local_bh_disable();
	/* The cache believes what was put there after a look in vain, which is new. */
	path->cache.reset_ts--;
	dst_cache_get(&path->cache);
	dst_cache_set_ip4(&path->cache, &rt->dst, 0);
	local_bh_enable();
}

#endif
