/* SPDX-License-Identifier: GPL-2.0-only */
/* A route that ends in a function of the test. */
#ifndef SRN_TESTS_FAKE_ROUTE_H
#define SRN_TESTS_FAKE_ROUTE_H

#include "../path.h"
#include "fake.h"

#include <net/net_namespace.h>
#include <net/route.h>

static inline void fake_free_path(void *path)
{
	srn_path_destroy(path);
}

static inline void fake_free_route(void *dst)
{
	dst_release(dst);
}

/* What @path sends is given to @output. The caller has set is_v6, tos and ttl. */
static inline void fake_route(struct kunit *test, struct srn_path *path,
			      int (*output)(struct net *, struct sock *, struct sk_buff *))
{
	struct rtable *rt = rt_dst_alloc(init_net.loopback_dev, 0, RTN_LOCAL, true);

	KUNIT_ASSERT_NOT_NULL(test, rt);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, fake_free_route, &rt->dst));
	rt->dst.output = output;
	dst_hold(&rt->dst);
	path->route.dst = &rt->dst;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, fake_free_path, path));
	path->dev->net = &init_net;
	srn_path_set_ip4(path);
}

#endif
