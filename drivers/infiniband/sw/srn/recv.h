/* SPDX-License-Identifier: GPL-2.0-only */
/* UDP sockets on port 4791, one pair per network namespace, and the way of a
 * packet from there to srn_demux().
 */
#ifndef SRN_RECV_H
#define SRN_RECV_H

#include <linux/list.h>
#include <linux/skbuff.h>
#include <net/net_namespace.h>

struct srn_dev;

struct srn_net {
	struct net *net;
	struct socket *sock4;
	struct socket *sock6;		/* NULL where IPv6 is off */
	struct list_head devs;		/* struct srn_dev.node, RCU */
	unsigned int users;
};

/**
 * srn_net_get() - the namespace's sockets, opened for its first device
 *
 * May sleep. ERR_PTR(-EADDRINUSE) where something else, as rdma_rxe, holds the
 * port: the reason is in the kernel log and the netlink extended ack if possible.
 */
struct srn_net *srn_net_get(struct net *net);
/** srn_net_put() - closes the sockets after the last device; may sleep */
void srn_net_put(struct srn_net *snet);

/** srn_net_add_dev() - counters of packets that reach no QP go by destination address */
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

int srn_recv_init(void);
void srn_recv_exit(void);

/**
 * srn_demux() - find the QP of a parsed packet, check that it may have it, queue it, run the QP
 * @snet: namespace that it arrived in
 * @skb: parsed, the ICRC is right; consumed. A reserved opcode arrives here too
 *	(srn_pkt_info()->op is SRN_OP_NONE), for the NAK that a RC peer is owed.
 *
 * Softirq, RCU read side. skb->dev is NULL; skb->skb_iif tells where it came in.
 */
void srn_demux(struct srn_net *snet, struct sk_buff *skb);

#endif
