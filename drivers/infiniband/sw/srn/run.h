/* SPDX-License-Identifier: GPL-2.0-only */
/* Runs: packets of one message that follow each other cross the stack uncut, as one skb that has
 * their payload once and the headers of the first. Packets and ICRCs are made where something
 * can't take it, and nowhere if nothing is in the way: what does not leave the host is neither
 * cut nor sealed, and is proven, matched and copied as one.
 *
 * To the stack it is a UDP tunnel's datagram with an Ethernet type of its own inside, whose
 * segmentation is ours (run_cut.c): format F3 of the measurements.
 */
#ifndef SRN_RUN_H
#define SRN_RUN_H

#include <linux/skbuff.h>
#include <linux/types.h>

#include "parse.h"

struct srn_mem;
struct srn_pack;
struct srn_path;
struct srn_payer;
struct srn_train;

#define SRN_RUN_MAX	64	/* packets: as many as the stack takes from a program */
#define SRN_RUN_BYTES	61440	/* of payload: a datagram has less than 64 KiB */

/* In the linear part, behind the headers of the first packet, what the payload follows, or, with
 * SRN_PKT_LENT, a struct srn_lease and then the payload, or, with SRN_PKT_BARE, nothing. Never on a
 * wire, hence as the CPU has it.
 */
struct srn_run {
	u32 magic;
	u16 num;		/* packets, two at least */
	u16 each;		/* bytes of payload, of the last at most as many; a multiple of four */
	u8 opcode;		/* of the last packet */
	u8 flags;		/* of the last packet: SRN_PKT_SE, SRN_PKT_ACKREQ; SRN_PKT_V6, _LENT, _BARE */
	u16 rest;		/* of a bare one: bytes of payload that the last packet stands for; else 0 */
	__be32 word;		/* of the last packet: what stands behind its BTH, if anything does */
};

static_assert(sizeof(struct srn_run) == 16);

/* While fate.c has rules: a run would be one packet to them. */
extern bool srn_run_stopped;

/**
 * srn_run_packets() - how many packets of @each bytes of payload may be one run on @path
 * @num: as many as there are
 * @whole: where it is one, whether nothing on this host has to cut it, as far as its route tells; else false
 *
 * What cuts them may be in front of the path's netdev. Return: 1 where the path takes no runs. BH disabled.
 */
u32 srn_run_packets(struct srn_path *path, u32 num, u32 each, bool *whole);

/**
 * srn_run_is_whole() - whether there are such runs on @path, and nothing on this host has to cut them, as far
 * as its route tells
 * @num: as srn_run_packets()
 * @each: as srn_run_packets()
 *
 * BH disabled.
 */
bool srn_run_is_whole(struct srn_path *path, u32 num, u32 each);

/**
 * srn_run_bare_packets() - how many packets may be one run without payload on @path
 * @num: as many as there are
 *
 * Nobody looks at what is in it between here and who takes it, on this host. Return: 1 where somebody
 * may. BH disabled.
 */
u32 srn_run_bare_packets(struct srn_path *path, u32 num);

/**
 * srn_run_put() - what stands behind the headers of the first packet; the lease, if it has one, and
 * the payload come next
 * @skb: from srn_build(), with room for it
 * @run: filled but for the magic and the version of IP
 *
 * Any context.
 */
void srn_run_put(struct sk_buff *skb, const struct srn_path *path, const struct srn_run *run);

/** srn_run_is_built() - whether an skb that was built, and not sent yet, is a run */
static inline bool srn_run_is_built(const struct sk_buff *skb)
{
	return skb_shinfo(skb)->gso_segs > 1;
}

/**
 * srn_run_xmit() - send a run
 * @skb: from srn_build(), with headers, srn_run_put() and payload; consumed
 *
 * What goes wrong is loss, as in srn_xmit(). BH disabled. Return: bytes from BTH to ICRC, of all
 * packets; 0 if nothing left.
 */
u32 srn_run_xmit(struct srn_path *path, struct sk_buff *skb, struct srn_payer *payer);

/**
 * srn_run_messages() - how many messages may be one pack on @path
 *
 * Return: 1 where the path takes no packs. BH disabled.
 */
u32 srn_run_messages(struct srn_path *path);

/**
 * srn_run_leave_pack() - send a pack that was begun, behind the train that waits
 *
 * Its messages were charged to the pace one by one: srn_train_charge(). BH disabled.
 */
void srn_run_leave_pack(struct srn_pack *pack, struct srn_train *train, struct srn_path *path);

/**
 * srn_run_or_train() - send what was built: a run at once, behind the train that waits; a packet
 * with srn_train_add()
 * @skb: consumed
 * @follows: as in srn_train_add()
 *
 * BH disabled.
 */
void srn_run_or_train(struct srn_train *train, struct srn_path *path, struct sk_buff *skb,
		      bool follows);

/** srn_run_arrived() - whether an skb from the stack is a run: see srn_run_parse() */
bool srn_run_arrived(const struct sk_buff *skb);

/**
 * srn_run_parse() - prove a run or a pack and fill srn_pkt(skb), as srn_parse() does with a packet
 * @skb: at the UDP header, for which srn_run_arrived() holds
 *
 * Whoever may send anything on this host may have made it. Softirq. Return: SRN_PARSE_OK, or
 * why it is to be dropped.
 */
enum srn_parse_result srn_run_parse(struct sk_buff *skb);

/**
 * srn_run_hold() - before the payload of a run that arrived is read
 * @skb: what srn_run_parse() proved, or a packet
 * @mem: what the caller puts when it was read; NULL: nothing
 *
 * BH disabled until then. Return: false if the payload may not be read any more: the run is lost.
 */
bool srn_run_hold(struct sk_buff *skb, struct srn_mem **mem);

/**
 * srn_run_advance() - a pack's message was taken: srn_pkt(skb) says all of the next from here on
 * @skb: a pack that srn_run_parse() proved, with a message behind
 *
 * Owner of the turn.
 */
void srn_run_advance(struct sk_buff *skb);

/**
 * srn_run_split() - make packets of a run that arrived, or of what is left of a pack, as if it had
 * come in packets
 * @skb: what srn_run_parse() proved; the caller's
 * @parts: the packets, parsed, without trailers, are added at its end
 *
 * Those for which there is no memory are lost. BH disabled. Return: how many were lost. A run that
 * may not be read any more (srn_run_hold()) has no parts.
 */
unsigned int srn_run_split(struct sk_buff *skb, struct sk_buff_head *parts);

/**
 * srn_run_bytes() - from BTH to ICRC, of all packets on a wire
 * @skb: a run or a pack as it arrived, parsed, none of it taken
 */
u32 srn_run_bytes(struct sk_buff *skb);

/** srn_run_init() - from here on the stack can cut runs; may sleep */
void srn_run_init(void);
/** srn_run_exit() - nobody sends any more; runs that are on their way are lost; may sleep */
void srn_run_exit(void);

#endif
