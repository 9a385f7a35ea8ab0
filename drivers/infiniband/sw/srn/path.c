// SPDX-License-Identifier: GPL-2.0-only
/* Address vectors to routes. A route is kept, per CPU where several send by it, and looked
 * up again when the stack says that it has changed.
 */
#include "path.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <net/inet_dscp.h>
#include <net/ip.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/ipv6_stubs.h>
#include <net/route.h>
#include <rdma/ib_cache.h>

#include "device.h"
#include "net.h"
#include "wire.h"

/* "Unset" in most programs, and 0 would not leave this host. */
#define DEFAULT_TTL	64

static bool is_v4(const union ib_gid *gid)
{
	return ipv6_addr_v4mapped((const struct in6_addr *)gid);
}

static __be32 v4_of(const union ib_gid *gid)
{
	return ((const struct in6_addr *)gid)->s6_addr32[3];
}

/* Ethernet has eight priorities; those of the kernel's own above them are not for programs. A
 * greater service level is, more often than not, the network type that a completion has in its
 * place, and that ibv_init_ah_from_wc() takes from there.
 */
static u8 priority_of(u8 sl)
{
	return sl < 8 ? sl : 0;
}

static int set_addresses(struct srn_path *path, const union ib_gid *sgid,
			 const union ib_gid *dgid)
{
	if (rdma_is_zero_gid(sgid) || rdma_is_zero_gid(dgid))
		return -EINVAL;
	if (is_v4(sgid) != is_v4(dgid))
		return -EINVAL;	/* no packet has addresses of both families */

	path->is_v6 = !is_v4(sgid);
	if (path->is_v6) {
		memcpy(&path->v6.saddr, sgid, sizeof(path->v6.saddr));
		memcpy(&path->v6.daddr, dgid, sizeof(path->v6.daddr));
	} else {
		path->v4.saddr = v4_of(sgid);
		path->v4.daddr = v4_of(dgid);
	}
	return 0;
}

void srn_path_set_ip4(struct srn_path *path)
{
	if (path->is_v6)
		return;
	path->v4.version = 4;
	path->v4.ihl = sizeof(path->v4) / 4;
	path->v4.tos = path->tos;
	path->v4.frag_off = htons(IP_DF);
	path->v4.ttl = path->ttl;
	path->v4.protocol = IPPROTO_UDP;
	path->v4.check = 0;	/* ip_local_out() fills it in; not covered by the ICRC */
}
EXPORT_SYMBOL_IF_KUNIT(srn_path_set_ip4);

/* The netdev that owns the source address; it may be an upper of the device's. */
static int set_oif(struct srn_path *path, const struct ib_gid_attr *sgid)
{
	struct net_device *ndev;
	int err = 0;

	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(sgid);
	if (IS_ERR(ndev))
		err = -EINVAL;	/* the address has just gone */
	else if (!net_eq(dev_net(ndev), path->dev->net))
		err = -EINVAL;	/* of another namespace: see gid.c */
	else
		path->oif = ndev->ifindex;
	rcu_read_unlock();
	return err;
}

int srn_path_init(struct srn_path *path, struct srn_dev *dev, const struct rdma_ah_attr *attr,
		  u16 sport)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(attr);
	int err;

	/* RoCEv2 has no other addresses than those of the GRH. */
	if (!(rdma_ah_get_ah_flags(attr) & IB_AH_GRH) || !grh->sgid_attr)
		return -EINVAL;
	if (rdma_ah_get_sl(attr) > 15)
		return -EINVAL;

	memset(path, 0, sizeof(*path));
	path->dev = dev;
	/* ECN is the transport's, which answers to marks or not; CE is for routers. */
	path->tos = grh->traffic_class & INET_DSCP_MASK;
	path->ttl = grh->hop_limit ?: DEFAULT_TTL;
	path->prio = priority_of(rdma_ah_get_sl(attr));
	path->sport = htons(sport);
	path->flow_label = htonl(grh->flow_label & IB_GRH_FLOWLABEL_MASK);
	err = set_addresses(path, &grh->sgid_attr->gid, &grh->dgid);
	if (err)
		return err;
	srn_path_set_ip4(path);
	return set_oif(path, grh->sgid_attr);
}

int srn_path_share(struct srn_path *path, gfp_t gfp)
{
	int err = dst_cache_init(&path->cache, gfp);

	path->is_shared = !err;
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(srn_path_share);

void srn_path_ask(struct srn_path_asked *asked, const struct rdma_ah_attr *attr)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(attr);

	*asked = (struct srn_path_asked){
		.sgid_index = grh->sgid_index,
		.hop_limit = grh->hop_limit,
		.traffic_class = grh->traffic_class,
		.sl = rdma_ah_get_sl(attr),
		.static_rate = rdma_ah_get_static_rate(attr),
	};
}
EXPORT_SYMBOL_IF_KUNIT(srn_path_ask);

static void get_dgid(const struct srn_path *path, union ib_gid *gid)
{
	struct in6_addr *addr = (struct in6_addr *)gid;

	if (path->is_v6)
		*addr = path->v6.daddr;
	else
		ipv6_addr_set_v4mapped(path->v4.daddr, addr);
}

void srn_path_query(const struct srn_path *path, const struct srn_path_asked *asked,
		    struct rdma_ah_attr *attr)
{
	union ib_gid dgid;

	memset(attr, 0, sizeof(*attr));
	get_dgid(path, &dgid);
	attr->type = RDMA_AH_ATTR_TYPE_ROCE;
	rdma_ah_set_grh(attr, &dgid, ntohl(path->flow_label), asked->sgid_index, asked->hop_limit,
			asked->traffic_class);
	rdma_ah_set_sl(attr, asked->sl);
	rdma_ah_set_static_rate(attr, asked->static_rate);
	rdma_ah_set_port_num(attr, 1);
}
EXPORT_SYMBOL_IF_KUNIT(srn_path_query);

static void forget(struct srn_route *route)
{
	dst_release(route->dst);
	route->dst = NULL;
}

void srn_path_destroy(struct srn_path *path)
{
	if (path->is_shared)
		dst_cache_destroy(&path->cache);
	else
		forget(&path->route);
}
EXPORT_SYMBOL_IF_KUNIT(srn_path_destroy);

/* Whoever still looks at a route, or holds a reference to it, does that with BH disabled: it is freed after that. */
static struct dst_entry *lend(struct dst_entry *dst)
{
	dst_release(dst);
	return dst;
}

/* What was kept, if it is still good. As dst_cache_get() has it. */
static struct dst_entry *kept(struct srn_path *path)
{
	struct srn_route *route = &path->route;
	struct dst_entry *dst = route->dst;

	if (path->is_shared)
		return lend(dst_cache_get(&path->cache));
	if (!dst)
		return NULL;
	if (unlikely(READ_ONCE(dst->obsolete) && !dst->ops->check(dst, route->cookie))) {
		forget(route);
		return NULL;
	}
	return dst;
}

static struct dst_entry *look_up4(struct srn_path *path)
{
	struct flowi4 fl4 = {
		.flowi4_oif = path->oif,
		.flowi4_tos = path->tos,
		.flowi4_proto = IPPROTO_UDP,
		.saddr = path->v4.saddr,
		.daddr = path->v4.daddr,
		.fl4_sport = path->sport,
		.fl4_dport = htons(SRN_UDP_PORT),
	};
	struct rtable *rt = ip_route_output_key(path->dev->net, &fl4);

	return IS_ERR(rt) ? NULL : &rt->dst;
}

#if IS_ENABLED(CONFIG_IPV6)
static struct dst_entry *look_up6(struct srn_path *path)
{
	struct flowi6 fl6 = {
		.flowi6_oif = path->oif,
		.flowlabel = ip6_make_flowinfo(path->tos, path->flow_label),
		.flowi6_proto = IPPROTO_UDP,
		.saddr = path->v6.saddr,
		.daddr = path->v6.daddr,
		.fl6_sport = path->sport,
		.fl6_dport = htons(SRN_UDP_PORT),
	};
	struct srn_net *snet = path->dev->snet;
	struct dst_entry *dst;

	if (!snet->sock6)
		return NULL;
	dst = ipv6_stub->ipv6_dst_lookup_flow(path->dev->net, snet->sock6->sk, &fl6, NULL);
	return IS_ERR(dst) ? NULL : dst;
}
#else
static struct dst_entry *look_up6(struct srn_path *path)
{
	return NULL;
}
#endif

/* With a reference. */
static struct dst_entry *look_up(struct srn_path *path)
{
	return path->is_v6 ? look_up6(path) : look_up4(path);
}

/* A route that transforms packets (IPsec) lets go of its netdev only when it is looked at again: kept by a QP that
 * sends nothing, it would keep a VLAN from going. The device's own netdev is no such case: all paths go with it. Nor
 * is one kept that only waits for keys (DST_XFRM_QUEUE): it would wait on when they have come.
 */
static bool may_keep(const struct srn_path *path, const struct dst_entry *dst)
{
	if (unlikely(dst->flags & DST_XFRM_QUEUE))
		return false;
	return !dst_xfrm(dst) || dst->dev == path->dev->ndev;
}

static void cache(struct srn_path *path, struct dst_entry *dst)
{
	if (path->is_v6)
		dst_cache_set_ip6(&path->cache, dst, &path->v6.saddr);
	else
		dst_cache_set_ip4(&path->cache, dst, path->v4.saddr);
}

/* Consumes the caller's reference; what it returns is lent. */
static struct dst_entry *keep(struct srn_path *path, struct dst_entry *dst)
{
	if (unlikely(!may_keep(path, dst)))
		return lend(dst);
	if (path->is_shared) {
		cache(path, dst);
		return lend(dst);
	}
	path->route = (struct srn_route){
		.dst = dst, .cookie = path->is_v6 ? rt6_get_cookie(dst_rt6_info(dst)) : 0,
	};
	return dst;
}

struct dst_entry *srn_path_dst(struct srn_path *path)
{
	struct dst_entry *dst = kept(path);

	if (likely(dst))
		return dst;
	dst = look_up(path);
	return dst ? keep(path, dst) : NULL;
}
EXPORT_SYMBOL_IF_KUNIT(srn_path_dst);

bool srn_path_put_on(struct srn_path *path, struct sk_buff *skb, struct dst_entry *dst)
{
	if (likely(may_keep(path, dst))) {
		skb_dst_set_noref(skb, dst);
		return true;
	}
	/* Nobody has it any more, and what is queued needs a reference. */
	dst = look_up(path);
	if (!dst)
		return false;
	skb_dst_set(skb, dst);
	return true;
}

bool srn_path_from(const struct srn_path *path, const struct sk_buff *skb)
{
	const struct iphdr *ip4 = ip_hdr(skb);
	const struct ipv6hdr *ip6;

	if (ip4->version != (path->is_v6 ? 6 : 4))
		return false;
	if (!path->is_v6)
		return ip4->saddr == path->v4.daddr && ip4->daddr == path->v4.saddr;
	ip6 = ipv6_hdr(skb);
	return ipv6_addr_equal(&ip6->saddr, &path->v6.daddr) &&
	       ipv6_addr_equal(&ip6->daddr, &path->v6.saddr);
}

bool srn_path_meets(const struct srn_path *path, const struct srn_path *other)
{
	if (path->is_v6 != other->is_v6)
		return false;
	if (!path->is_v6)
		return path->v4.saddr == other->v4.daddr && path->v4.daddr == other->v4.saddr;
	return ipv6_addr_equal(&path->v6.saddr, &other->v6.daddr) &&
	       ipv6_addr_equal(&path->v6.daddr, &other->v6.saddr);
}
