// SPDX-License-Identifier: GPL-2.0-only
/* Congestion notification packets (annex A17.9): whom, how often, and what they look like. */
#include "notify.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/ktime.h>
#include <linux/random.h>
#include <linux/udp.h>
#include <net/dsfield.h>

#include "build.h"
#include "cc.h"
#include "parse.h"
#include "path.h"
#include "qp.h"
#include "responder.h"
#include "stats.h"
#include "wire.h"
#include "xmit.h"

static struct sk_buff *build_cnp(const struct srn_qp *qp)
{
	struct sk_buff *skb = srn_build(SRN_OPCODE_CNP, SRN_BUILD_ALONE, qp->dest_qpn, 0,
					SRN_CNP_RESERVED);
	struct srn_bth *bth;

	if (!skb)
		return NULL;
	bth = (struct srn_bth *)skb->data;
	bth->flags = 0;		/* not even MigReq */
	bth->dqpn |= cpu_to_be32(SRN_BTH_BECN);
	memset(srn_build_payload(skb, SRN_CNP_RESERVED), 0, SRN_CNP_RESERVED);
	return skb;
}

/* The ICRC does not cover it, and the IPv4 checksum comes later. */
static void set_dscp(struct sk_buff *skb, bool is_v6, u8 dscp)
{
	if (is_v6)
		ipv6_change_dsfield(ipv6_hdr(skb), 0, dscp << 2);
	else
		ip_hdr(skb)->tos = dscp << 2;
}

/* By the route of the QP's own data, but with a DSCP and a priority of its own: a CNP that waits
 * behind data comes too late. One that does not leave is as one that is lost: a later mark tells
 * as much.
 */
static void send_cnp(struct srn_qp *qp)
{
	struct sk_buff *skb = build_cnp(qp);
	struct srn_path *path = &qp->path;	/* not a copy: its route has one reference */
	const struct srn_cc_params *p = &qp->dev->cc;
	u8 prio = path->prio;
	unsigned int bytes;

	if (!skb) {
		srn_count(qp->dev, SRN_CNT_TX_NOMEM);
		return;
	}
	if (!srn_xmit_seal(path, skb, 0)) {
		kfree_skb(skb);
		return;
	}
	set_dscp(skb, path->is_v6, READ_ONCE(p->np_cnp_dscp));
	path->prio = READ_ONCE(p->np_cnp_prio);
	bytes = skb->len - skb_transport_offset(skb) - sizeof(struct udphdr);
	srn_count(qp->dev, SRN_CNT_CNP_SENT);
	srn_xmit_sealed(path, skb, NULL, 1, bytes);
	path->prio = prio;
}

/* Who is told sends less data, so only marked data draw a CNP. The payload of a SACK or a CNP is
 * none, and CNPs for CNPs would go on for ever.
 */
static bool is_told(const struct srn_qp *qp, struct sk_buff *skb)
{
	const struct srn_opcode *info = srn_pkt_info(skb);

	return qp->cc != SRN_CC_OFF && qp->svc->connected && info->has_payload &&
	       info->op != SRN_OP_CNP && info->op != SRN_OP_SACK && srn_responder_receives(qp);
}

static u64 pause_of(const struct srn_qp *qp)
{
	return READ_ONCE(qp->dev->cc.np_min_time_between_cnps) * (u64)NSEC_PER_USEC;
}

/* What was told of so long ago is another congestion, and its first mark is told of at once. */
#define OLD_NS	(50 * NSEC_PER_MSEC)

/* Of frames, which is what the peer's pace counts. */
static bool is_much(struct srn_qp *qp, struct sk_buff *skb, u64 now)
{
	u32 overhead = srn_path_overhead(&qp->path);

	return now >= qp->cnp_next_ns + OLD_NS ||
	       srn_notify_is_much(skb->len - srn_pkt(skb)->bth + overhead,
				  sizeof(struct srn_bth) + qp->mtu + SRN_ICRC_SIZE + overhead,
				  get_random_u32());
}

void srn_notify_mark(struct srn_qp *qp, struct sk_buff *skb)
{
	u64 now = ktime_get_ns();

	srn_turn_assert_owned(&qp->turn);
	srn_pkt(skb)->flags &= ~SRN_PKT_CE;
	srn_count_add(qp->dev, SRN_CNT_CE_RCVD, srn_pkt_num(skb));
	if (is_told(qp, skb) && is_much(qp, skb, now) &&
	    srn_notify_is_time(&qp->cnp_next_ns, now, pause_of(qp)))
		send_cnp(qp);
}
EXPORT_SYMBOL_IF_KUNIT(srn_notify_mark);
