/* SPDX-License-Identifier: GPL-2.0-only */
/* From payload to the IP stack. */
#ifndef SRN_XMIT_H
#define SRN_XMIT_H

#include <linux/skbuff.h>

struct dst_entry;
struct srn_path;
struct srn_payer;

/**
 * srn_xmit() - finish a packet and send it
 * @path: where to
 * @skb: from srn_build(), payload complete; consumed
 * @payer: who is charged until it is gone; NULL: nobody
 *
 * Adds pad (and its count to the BTH), ICRC, UDP and IP headers. Everything that
 * goes wrong from here on (no route, qdisc full, netfilter) is counted and is
 * loss: the transport repeats it. BH disabled.
 */
void srn_xmit(struct srn_path *path, struct sk_buff *skb, struct srn_payer *payer);

/**
 * srn_xmit_seal() - make a built packet a datagram: pad, ICRC, UDP and IP headers
 * @id: IPv4 id
 *
 * Return: false without memory; counted, @skb is the caller's.
 */
bool srn_xmit_seal(struct srn_path *path, struct sk_buff *skb, u16 id);

/** srn_xmit_trailer() - @len bytes behind the payload, for pad and ICRC; NULL without memory */
void *srn_xmit_trailer(struct sk_buff *skb, unsigned int len);

/** srn_xmit_wrap() - UDP and IP headers, final, in front of the BTH; @id as in srn_xmit_seal() */
void srn_xmit_wrap(const struct srn_path *path, struct sk_buff *skb, u16 id);

/**
 * srn_xmit_sealed() - send what srn_xmit_seal() made, one packet or a train of @num
 * @skb: consumed
 * @payer: as in srn_xmit()
 * @bytes: from BTH to ICRC, of all packets
 *
 * What goes wrong is loss, as in srn_xmit(). BH disabled.
 */
void srn_xmit_sealed(struct srn_path *path, struct sk_buff *skb, struct srn_payer *payer,
		     unsigned int num, unsigned int bytes);

/**
 * srn_xmit_routed() - as srn_xmit_sealed(), by a route that is known
 * @dst: from srn_path_dst()
 */
void srn_xmit_routed(struct srn_path *path, struct sk_buff *skb, struct dst_entry *dst,
		     struct srn_payer *payer, unsigned int num, unsigned int bytes);

/**
 * srn_xmit_steer() - the queue that a flow takes, by its @hash
 *
 * Spreads QPs over queues and CPUs without dissecting the packet again. XPS goes by the
 * sending CPU, and a turn moves between CPUs: as far as XPS is told, a flow has one CPU,
 * so that its packets do not overtake each other.
 */
void srn_xmit_steer(struct sk_buff *skb, u32 hash);

#endif
