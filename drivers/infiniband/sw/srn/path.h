/* SPDX-License-Identifier: GPL-2.0-only */
/* Where packets of a QP or AH go: addresses, ports, traffic class, cached route. */
#ifndef SRN_PATH_H
#define SRN_PATH_H

#include <linux/if_ether.h>
#include <linux/in6.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/dst_cache.h>
#include <rdma/ib_verbs.h>

struct srn_dev;

/* What an address vector says and a path has in another form, or not at all: for who asks for it. */
struct srn_path_asked {
	u8 sgid_index;
	u8 hop_limit;
	u8 traffic_class;
	u8 sl;
	u8 static_rate;
};

/* One that the stack gave. */
struct srn_route {
	struct dst_entry *dst;	/* NULL: none was asked for, or it is of no use any more */
	u32 cookie;		/* the stack's, for whether it is still good */
};

struct srn_path {
	struct srn_dev *dev;
	bool is_v6;
	u8 tos;			/* DSCP as the user asked: traffic class of the AH */
	u8 ecn;			/* of RC packets with payload: INET_ECN_*; of others it is 0 */
	u8 ttl;			/* hop limit */
	u8 prio;		/* skb->priority from the service level */
	bool is_shared;		/* by several who may send at once, of an AH: it has a cache, not a route */
	__be16 sport;		/* UDP source port, host entropy (rdma_get_udp_sport) */
	__be32 flow_label;	/* IPv6, 20 bits */
	int oif;		/* ifindex of the GID's netdev (VLAN or other upper included) */
	union {
		struct iphdr v4;	/* as it leaves, but for length, id, ECN, checksum: srn_path_set_ip4() */
		struct {
			struct in6_addr saddr;
			struct in6_addr daddr;
		} v6;
	};
	union {
		struct dst_cache cache;		/* what is shared has a route for each CPU */
		struct srn_route route;		/* of a QP's own: the owner of its turn */
	};
};

/**
 * srn_path_init() - resolve an address vector
 * @path: zeroed or destroyed
 * @dev: device
 * @attr: with grh and sgid_attr (rdma_ah_set/rdma_move semantics: not kept)
 * @sport: UDP source port to use
 *
 * For one user at a time. 0, or -EINVAL for an attribute that RoCEv2 cannot carry.
 */
int srn_path_init(struct srn_path *path, struct srn_dev *dev, const struct rdma_ah_attr *attr,
		  u16 sport);

/** srn_path_set_ip4() - what the IPv4 headers of all packets have; addresses, tos and ttl are set, and stay. IPv6: nothing */
void srn_path_set_ip4(struct srn_path *path);

/**
 * srn_path_share() - let several use it at once
 * @path: just initialized
 * @gfp: GFP_KERNEL, or GFP_ATOMIC where the caller may not sleep
 *
 * 0 or -ENOMEM.
 */
int srn_path_share(struct srn_path *path, gfp_t gfp);

/** srn_path_destroy() - nobody uses it any more */
void srn_path_destroy(struct srn_path *path);

/** srn_path_ask() - keep what @attr asked for, that srn_path_query() can say it */
void srn_path_ask(struct srn_path_asked *asked, const struct rdma_ah_attr *attr);

/** srn_path_query() - the address vector that led to @path; @attr holds no reference */
void srn_path_query(const struct srn_path *path, const struct srn_path_asked *asked,
		    struct rdma_ah_attr *attr);

/**
 * srn_path_dst() - the route now
 *
 * BH disabled; the only user now, unless it is shared. Lent until BH are enabled, for srn_path_put_on(): many QPs, on
 * several CPUs, may have the same one, whose count of references would be the one thing that they all write. NULL: no
 * route (counted by the caller, treated as loss).
 */
struct dst_entry *srn_path_dst(struct srn_path *path);

/**
 * srn_path_put_on() - @skb goes by @dst
 * @dst: of srn_path_dst(), with BH disabled since
 *
 * Return: false if there is no such way any more; @skb is the caller's as before.
 */
bool srn_path_put_on(struct srn_path *path, struct sk_buff *skb, struct dst_entry *dst);

/** srn_path_overhead() - bytes of a frame in front of the BTH, as a netdev counts them */
static inline u32 srn_path_overhead(const struct srn_path *path)
{
	return ETH_HLEN + sizeof(struct udphdr) +
	       (path->is_v6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr));
}

/** srn_path_from() - whether @skb (network header set) came from the path's peer to its source */
bool srn_path_from(const struct srn_path *path, const struct sk_buff *skb);

/** srn_path_meets() - whether one leads where the other begins, and back; neither changes meanwhile */
bool srn_path_meets(const struct srn_path *path, const struct srn_path *other);

#endif
