/* SPDX-License-Identifier: GPL-2.0-only */
/* The way of a packet from the socket to srn_demux(): nothing passes unproven. */
#ifndef SRN_RECV_H
#define SRN_RECV_H

struct sk_buff;
struct sock;

/** srn_recv() - srn_net_rx_fn: parse, hand over or count and drop */
int srn_recv(struct sock *sk, struct sk_buff *skb);

#endif
