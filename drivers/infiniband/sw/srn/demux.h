/* SPDX-License-Identifier: GPL-2.0-only */
/* From a parsed packet to the QP that may have it. */
#ifndef SRN_DEMUX_H
#define SRN_DEMUX_H

struct sk_buff;
struct sk_buff_head;
struct srn_net;

/**
 * srn_demux() - find the QP of a parsed packet, check that it may have it, queue it, run the QP
 * @snet: namespace that it arrived in
 * @skb: parsed; consumed. Its ICRC is looked at if there is a QP. A reserved opcode arrives here too
 *	(srn_pkt_info()->op is SRN_OP_NONE), for the NAK that a RC peer is owed.
 *
 * Softirq, RCU read side. skb->dev is NULL; skb->skb_iif tells where it came in.
 */
void srn_demux(struct srn_net *snet, struct sk_buff *skb);

/**
 * srn_demux_convoy() - the same with packets that follow each other: what is that of all is looked at once
 * @parts: parsed, each follows that before it (srn_convoy_follows()), SRN_RUN_MAX at most; one at least;
 *	none is left
 *
 * The ICRC of each is looked at.
 */
void srn_demux_convoy(struct srn_net *snet, struct sk_buff_head *parts);

#endif
