// SPDX-License-Identifier: GPL-2.0-only
/* The gate: a packet passes with all its lengths proven, or it is counted by cause and
 * dropped. The ICRC, which is dear, is looked at when the packet has a QP (demux.c).
 */
#include "recv.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/skbuff.h>
#include <net/sock.h>

#include "convoy.h"
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
			  enum srn_parse_result res, u32 num)
{
	struct srn_dev *dev = srn_net_find_dev(snet, skb);

	if (dev)
		srn_count_add(dev, parse_counters[res], num);
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
		count_refused(snet, skb, res, 1);
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

/* As far as they follow each other they are looked up, and taken, as one. */
static void prove_parts(struct srn_net *snet, struct sk_buff_head *parts)
{
	struct sk_buff_head group;
	enum srn_parse_result res;
	struct sk_buff *skb;

	__skb_queue_head_init(&group);
	while ((skb = __skb_dequeue(parts))) {
		res = srn_parse(skb);
		if (!skb_queue_empty(&group) &&
		    (res || skb_queue_len(&group) == SRN_RUN_MAX ||
		     !srn_convoy_follows(skb_peek_tail(&group), skb)))
			srn_demux_convoy(snet, &group);
		if (likely(!res))
			__skb_queue_tail(&group, skb);
		else
			judge(snet, skb, res);
	}
	if (!skb_queue_empty(&group))
		srn_demux_convoy(snet, &group);
}

/* What can't be parted any more is lost, once: a filter of somebody's put it into one piece, and
 * would do so with what is sent again.
 */
static void refuse_convoy(struct srn_net *snet, struct sk_buff *skb, enum srn_parse_result res, u32 num)
{
	if (res == SRN_PARSE_LENGTH)
		srn_net_rest_gro(snet);
	count_refused(snet, skb, res, num);
	kfree_skb(skb);
}

static void prove_convoy(struct srn_net *snet, struct sk_buff *skb)
{
	u32 num = skb_shinfo(skb)->gso_segs, lost;
	struct sk_buff_head parts;
	enum srn_parse_result res;

	__skb_queue_head_init(&parts);
	res = srn_convoy_part(skb, &parts, &lost);
	if (unlikely(res)) {
		refuse_convoy(snet, skb, res, num);
		return;
	}
	if (unlikely(lost))
		count_refused(snet, skb, SRN_PARSE_NOMEM, lost);
	if (!srn_fate_is_on()) {
		prove_parts(snet, &parts);
		return;
	}
	while ((skb = __skb_dequeue(&parts)))
		srn_fate(snet, skb, prove);
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
	if (srn_convoy_arrived(skb)) {
		prove_convoy(snet, skb);
		return 0;
	}
	run = srn_run_arrived(skb);
	if (run || skb_is_gso(skb))
		prove_uncut(snet, skb, run);
	else
		srn_fate(snet, skb, prove);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_recv);
