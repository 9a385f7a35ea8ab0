/* SPDX-License-Identifier: GPL-2.0-only */
/* UDP sockets on port 4791, one pair per network namespace, and the devices there. */
#ifndef SRN_NET_H
#define SRN_NET_H

#include <linux/atomic.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/net.h>
#include <linux/skbuff.h>
#include <net/net_namespace.h>

struct sock;
struct srn_dev;

struct srn_net {
	struct net *net;
	struct socket *sock4;
	struct socket *sock6;		/* NULL where IPv6 is off */
	struct list_head devs;		/* struct srn_dev.node, RCU */
	unsigned int users;
	atomic64_t gro_from;		/* jiffies: no packets are coupled before */
};

/**
 * srn_net_get() - the namespace's sockets, opened for its first device
 *
 * May sleep. ERR_PTR(-EADDRINUSE) where something else, as rdma_rxe, holds the
 * port: the reason is in the kernel log (netlink's extended ack does not come this far).
 */
struct srn_net *srn_net_get(struct net *net);
/** srn_net_put() - closes the sockets after the last device; may sleep */
void srn_net_put(struct srn_net *snet);

/** srn_net_sock() - who sends, to security modules; NULL of no namespace */
static inline const struct sock *srn_net_sock(const struct srn_net *snet)
{
	return snet ? snet->sock4->sk : NULL;
}

/** srn_net_add_dev() - its packets are looked for from here on */
void srn_net_add_dev(struct srn_net *snet, struct srn_dev *dev);
/** srn_net_del_dev() - after it returns no packet sees the device through @snet; may sleep */
void srn_net_del_dev(struct srn_net *snet, struct srn_dev *dev);

/**
 * srn_net_find_dev() - the device that a packet is addressed to
 * @skb: network header set
 *
 * NULL where the address is none of ours. RCU read side.
 */
struct srn_dev *srn_net_find_dev(struct srn_net *snet, const struct sk_buff *skb);

/**
 * typedef srn_net_rx_fn - takes what arrives on the sockets
 * @sk: socket; its user data is the struct srn_net, or NULL once that closes
 * @skb: at the UDP header, whose checksum, if any, is verified; consumed
 *
 * Softirq, RCU read side. Return: 0.
 */
typedef int (*srn_net_rx_fn)(struct sock *sk, struct sk_buff *skb);

/**
 * typedef srn_net_gro_fn - couples what a NAPI received for the sockets
 *
 * As struct udp_tunnel_sock_cfg has it.
 */
typedef struct sk_buff *(*srn_net_gro_fn)(struct sock *sk, struct list_head *held,
					  struct sk_buff *skb);

/** srn_net_rest_gro() - for ten seconds no packets are coupled; any context */
static inline void srn_net_rest_gro(struct srn_net *snet)
{
	atomic64_set(&snet->gro_from, get_jiffies_64() + 10 * HZ);
}

/** srn_net_gro_rests() - whether that is so; any context */
static inline bool srn_net_gro_rests(const struct srn_net *snet)
{
	return time_before64(get_jiffies_64(), (u64)atomic64_read(&snet->gro_from));
}

/** srn_net_init() - once, before the first device; may sleep; 0 or -errno */
int srn_net_init(srn_net_rx_fn rx, srn_net_gro_fn gro);
void srn_net_exit(void);

#endif
