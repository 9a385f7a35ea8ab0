/* SPDX-License-Identifier: GPL-2.0-only */
/* Packets that follow each other are coupled by the NAPI that received them: what comes from a
 * wire packet by packet passes the stack as one. convoy.c takes it apart.
 */
#ifndef SRN_GRO_H
#define SRN_GRO_H

#include <linux/types.h>

struct list_head;
struct sk_buff;
struct sock;

/* The module's parameter gro. */
extern bool srn_gro_wanted;

/**
 * srn_gro_receive() - srn_net_gro_fn: couple a packet with those before it
 * @sk: socket of the namespace
 * @held: packets that wait, some of the same flow
 * @skb: at the IP header, its GRO offset at the BTH
 *
 * Nothing in it is proven. Softirq, RCU read side. Return: what shall not wait any longer, or
 * NULL.
 */
struct sk_buff *srn_gro_receive(struct sock *sk, struct list_head *held, struct sk_buff *skb);

#endif
