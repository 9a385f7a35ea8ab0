// SPDX-License-Identifier: GPL-2.0-only
/* The gate: a packet passes with all its lengths proven, or it is counted by cause and
 * dropped. The ICRC, which is dear, is looked at when the packet has a QP (demux.c).
 */
#include "recv.h"

#include <linux/skbuff.h>
#include <net/sock.h>

#include "demux.h"
#include "device.h"
#include "fate.h"
#include "net.h"
#include "parse.h"
#include "run.h"

static const enum srn_counter parse_counters[SRN_PARSE_MAX] = {
	[SRN_PARSE_SHORT]	= SRN_CNT_RX_SHORT,
	[SRN_PARSE_LENGTH]	= SRN_CNT_RX_LENGTH,
	[SRN_PARSE_TVER]	= SRN_CNT_RX_TVER,
	[SRN_PARSE_PAD]		= SRN_CNT_RX_PAD,
	[SRN_PARSE_NOMEM]	= SRN_CNT_RX_NOMEM,
};

/* A packet for none of our addresses is not ours to count. */
static void count_refused(struct srn_net *snet, const struct sk_buff *skb,
			  enum srn_parse_result res)
{
	struct srn_dev *dev = srn_net_find_dev(snet, skb);

	if (dev)
		srn_count(dev, parse_counters[res]);
}

/* The packet may wait for its QP's turn. It must not hold the sender's socket
 * buffer, a connection or a route meanwhile, nor point to a netdev that goes.
 */
static void leave_stack(struct sk_buff *skb)
{
	skb_orphan(skb);
	nf_reset_ct(skb);
	skb_ext_reset(skb);
	skb_dst_drop(skb);
	skb->dev = NULL;
}

static void judge(struct srn_net *snet, struct sk_buff *skb, enum srn_parse_result res)
{
	if (res && res != SRN_PARSE_OPCODE) {	/* a reserved one may draw a NAK */
		count_refused(snet, skb, res);
		kfree_skb(skb);
		return;
	}
	srn_demux(snet, skb);
}

static void prove(struct srn_net *snet, struct sk_buff *skb)
{
	judge(snet, skb, srn_parse(skb));
}

/* Of what the stack left uncut nothing but a run is known here. */
static void prove_uncut(struct srn_net *snet, struct sk_buff *skb, bool run)
{
	judge(snet, skb, run ? srn_run_parse(skb) : SRN_PARSE_LENGTH);
}

int srn_recv(struct sock *sk, struct sk_buff *skb)
{
	struct srn_net *snet = rcu_dereference_sk_user_data(sk);
	bool run;

	skb = skb_share_check(skb, GFP_ATOMIC);
	if (!skb)
		return 0;
	if (!snet) {	/* the last device is just going */
		kfree_skb(skb);
		return 0;
	}
	leave_stack(skb);
	run = srn_run_arrived(skb);
	if (run || skb_is_gso(skb))
		prove_uncut(snet, skb, run);
	else
		srn_fate(snet, skb, prove);
	return 0;
}
