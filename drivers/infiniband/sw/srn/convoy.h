/* SPDX-License-Identifier: GPL-2.0-only */
/* Convoys: packets that a NAPI received together, and coupled (gro.c). They are parted, each is
 * proven by itself, ICRC and all, and those that follow each other are joined, without what stands
 * between their payloads: as a run (run.h).
 */
#ifndef SRN_CONVOY_H
#define SRN_CONVOY_H

#include <linux/skbuff.h>
#include <linux/types.h>

#include "parse.h"

/* What it is to the stack. With SKB_GSO_TCP_FIXEDID, over IPv4, each keeps its id, which its ICRC
 * covers, where the stack parts them.
 */
#define SRN_CONVOY_TYPE	(SKB_GSO_UDP_TUNNEL | SKB_GSO_UDP_L4 | SKB_GSO_FRAGLIST)

/** srn_convoy_arrived() - whether an skb from the stack is a convoy */
bool srn_convoy_arrived(const struct sk_buff *skb);

/**
 * srn_convoy_part() - make packets of it, as if each had come by itself
 * @skb: at the UDP header, for which srn_convoy_arrived() holds; it is the first of them then
 * @parts: they are added at its end
 * @lost: how many of those behind the first were lost for want of memory
 *
 * Filters of this host saw the first alone, in front of all: addresses and ports that they gave it are
 * given to all. Softirq. Return: SRN_PARSE_OK; SRN_PARSE_LENGTH if somebody changed what it is made of
 * and SRN_PARSE_NOMEM without memory: @skb and all behind it are the caller's then, to be freed.
 */
enum srn_parse_result srn_convoy_part(struct sk_buff *skb, struct sk_buff_head *parts, u32 *lost);

/**
 * srn_convoy_follows() - whether a packet may be joined with those before it
 * @last: of those, parsed
 * @skb: behind it in the convoy, parsed
 */
bool srn_convoy_follows(struct sk_buff *last, struct sk_buff *skb);

/**
 * srn_convoy_join() - make a run of packets
 * @parts: parsed, of which each follows that before it, SRN_RUN_MAX at most, their ICRCs proven;
 *	none is left. One by itself stays what it is.
 *
 * BH disabled. Return: the run.
 */
struct sk_buff *srn_convoy_join(struct sk_buff_head *parts);

/** srn_pkt_is_joined() - whether it is a run that came in packets */
static inline bool srn_pkt_is_joined(struct sk_buff *skb)
{
	return srn_pkt(skb)->flags & SRN_PKT_JOINED;
}

/**
 * srn_convoy_split() - make the packets of it that it was joined from
 * @skb: what srn_pkt_is_joined() says; the first of them then
 * @parts: they, parsed, without trailers, are added at its end
 *
 * Takes no memory. BH disabled.
 */
void srn_convoy_split(struct sk_buff *skb, struct sk_buff_head *parts);

#endif
