/* SPDX-License-Identifier: GPL-2.0-only */
/* From payload to the IP stack. */
#ifndef SRN_XMIT_H
#define SRN_XMIT_H

#include <linux/skbuff.h>

struct srn_path;

/**
 * srn_xmit() - finish a packet and send it
 * @path: where to
 * @skb: from srn_build(), payload complete; consumed
 *
 * Adds pad (and its count to the BTH), ICRC, UDP and IP headers. Everything that
 * goes wrong from here on (no route, qdisc full, netfilter) is counted and is
 * loss: the transport repeats it. BH disabled.
 */
void srn_xmit(struct srn_path *path, struct sk_buff *skb);

#endif
