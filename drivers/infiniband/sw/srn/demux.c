// SPDX-License-Identifier: GPL-2.0-only
/* From a parsed packet to the QP that may have it. Nothing is answered here but
 * dropped: what does not belong to a QP must not be able to harm it.
 */
#include "demux.h"

#include <linux/build_bug.h>
#include <linux/rculist.h>
#include <net/net_namespace.h>

#include "convoy.h"
#include "device.h"
#include "gid.h"
#include "net.h"
#include "parse.h"
#include "path.h"
#include "qp.h"
#include "qpn.h"
#include "round.h"
#include "stats.h"
#include "trace.h"

/* Checks return the counter of their refusal. The first counter counts packets
 * sent, so that its number is free to say that there is nothing to refuse.
 */
#define PASS	0
static_assert(SRN_CNT_SENT_PKTS == PASS);

#define QPN_GSI	1

/* Every device has a QP1, so only the address tells whose is meant. */
static struct srn_qp_ref *get_gsi(struct srn_net *snet, struct sk_buff *skb)
{
	struct srn_dev *dev = srn_net_find_dev(snet, skb);
	struct srn_qp_ref *ref;

	if (!dev)
		return NULL;
	ref = rcu_dereference(dev->gsi);
	return ref && srn_qp_ref_get(ref) ? ref : NULL;
}

static struct srn_qp_ref *get_ref(struct srn_net *snet, struct sk_buff *skb)
{
	u32 qpn = srn_pkt(skb)->qpn;

	return qpn == QPN_GSI ? get_gsi(snet, skb) : srn_qpn_get(qpn);
}

/* QPNs are unique over all namespaces; that must not lead from one to another. */
static int check_namespace(const struct srn_qp *qp, const struct srn_net *snet)
{
	return net_eq(qp->dev->net, snet->net) ? PASS : SRN_CNT_RX_NO_QP;
}

/* What was never cut has none: it did not leave the host. */
static int check_icrc(struct sk_buff *skb)
{
	if (srn_pkt_is_run(skb))
		return PASS;
	return srn_parse_icrc(skb) ? SRN_CNT_RX_ICRC : PASS;
}

/* Congestion notifications are for QPs of each service, SACKs for who has them; of the reserved
 * opcodes those of a reliable one are let in, since they draw a NAK.
 */
static int check_service(const struct srn_qp *qp, const struct srn_pkt *pkt)
{
	bool fits = srn_opcode_svc(pkt->opcode) == qp->svc->code;
	u8 op = srn_opcodes[pkt->opcode].op;

	if (op == SRN_OP_CNP)
		return PASS;
	if (op == SRN_OP_SACK)
		return READ_ONCE(qp->recovery) == SRN_RECOVERY_SACK ? PASS : SRN_CNT_RX_OPCODE;
	if (op == SRN_OP_NONE)
		return fits && qp->svc->reliable ? PASS : SRN_CNT_RX_OPCODE;
	return fits ? PASS : SRN_CNT_RX_NO_QP;
}

/* The table holds the default key with full membership, which matches
 * both memberships of the peer; RoCE demands no other key.
 */
static int check_pkey(const struct srn_pkt *pkt)
{
	return (pkt->pkey & 0x7fff) == (SRN_PKEY_DEFAULT & 0x7fff) ? PASS : SRN_CNT_RX_BAD_PKEY;
}

/* Requests are taken from RTR on, answers only where requests may have gone out. What is
 * neither is as good as a request: a reserved opcode, a CNP for the answers of this side, the
 * answer to a hello.
 */
static int check_state(const struct srn_qp *qp, const struct srn_opcode *info)
{
	bool answer = info->op != SRN_OP_NONE && info->op != SRN_OP_CNP &&
		      info->op != SRN_OP_SACK && !info->is_request;

	/* Pairs with the release in srn_qp_set_state(): the path was set before. */
	switch (smp_load_acquire(&qp->state)) {
	case IB_QPS_RTR:
		return answer ? SRN_CNT_RX_BAD_STATE : PASS;
	case IB_QPS_RTS:
	case IB_QPS_SQD:
	case IB_QPS_SQE:
		return PASS;
	default:
		return SRN_CNT_RX_BAD_STATE;
	}
}

/* Of two devices with one address a packet is for that on whose netdev it came. If none has
 * the address there, the host takes it for any netdev's, and so do we.
 */
static bool is_for_device(struct srn_dev *dev, struct srn_net *snet, struct sk_buff *skb)
{
	struct srn_dev *found;
	struct in6_addr addr;

	srn_pkt_daddr(skb, &addr);
	if (srn_dev_match_gid(dev, &addr, skb->skb_iif) == SRN_GID_HERE)
		return true;
	found = srn_net_find_dev(snet, skb);
	return !found || found == dev ||
	       srn_dev_match_gid(found, &addr, skb->skb_iif) != SRN_GID_HERE;
}

/* A connection is between two addresses; a datagram QP is at each of its device's. */
static int check_address(const struct srn_qp *qp, struct srn_net *snet, struct sk_buff *skb)
{
	struct in6_addr addr;
	bool ours;

	if (qp->svc->connected) {
		ours = srn_path_from(&qp->path, skb) &&
		       (likely(qp->path.oif == skb->skb_iif) ||
			is_for_device(qp->dev, snet, skb));
	} else {
		srn_pkt_daddr(skb, &addr);
		ours = srn_dev_has_gid(qp->dev, &addr) && is_for_device(qp->dev, snet, skb);
	}
	return ours ? PASS : SRN_CNT_RX_BAD_ADDR;
}

static int check_peer(const struct srn_qp *qp, struct srn_net *snet, struct sk_buff *skb)
{
	const struct srn_opcode *info = srn_pkt_info(skb);
	const struct srn_pkt *pkt = srn_pkt(skb);

	return check_namespace(qp, snet) ?:
	       check_service(qp, pkt) ?:
	       check_pkey(pkt) ?:
	       check_state(qp, info) ?:
	       check_address(qp, snet, skb);
}

/* The ICRC last: it reads all of the packet, and who is no peer shall not make us do that. */
static int check(const struct srn_qp *qp, struct srn_net *snet, struct sk_buff *skb)
{
	return check_peer(qp, snet, skb) ?: check_icrc(skb);
}

/* A packet for no QP, or for one of another namespace, counts for the device with the
 * address that it was sent to, or for the namespace's first: somebody should see it.
 */
static void refuse(struct srn_net *snet, struct srn_qp *qp, struct sk_buff *skb, int counter)
{
	struct srn_dev *dev = qp && !check_namespace(qp, snet) ? qp->dev :
		srn_net_find_dev(snet, skb) ?:
		list_first_or_null_rcu(&snet->devs, struct srn_dev, node);

	if (dev) {
		srn_count_add(dev, counter, srn_pkt_num(skb));
		trace_srn_drop(dev, counter);
	}
	kfree_skb(skb);
}

void srn_demux(struct srn_net *snet, struct sk_buff *skb)
{
	struct srn_qp_ref *ref = get_ref(snet, skb);
	struct srn_qp *qp;
	int refused;

	if (!ref) {
		refuse(snet, NULL, skb, SRN_CNT_RX_NO_QP);
		return;
	}
	qp = ref->qp;
	refused = check(qp, snet, skb);
	if (refused) {
		refuse(snet, qp, skb, refused);
	} else {
		if (srn_pkt_info(skb)->op == SRN_OP_NONE)
			srn_count(qp->dev, SRN_CNT_RX_OPCODE);
		srn_round_rx(qp, skb);
	}
	srn_qp_ref_put(ref);
}

static void refuse_all(struct srn_net *snet, struct srn_qp *qp, struct sk_buff_head *parts, int counter)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(parts)))
		refuse(snet, qp, skb, counter);
}

static void hand_over(struct srn_qp *qp, struct sk_buff_head *good)
{
	if (!skb_queue_empty(good))
		srn_round_rx(qp, srn_convoy_join(good));
}

/* One that was damaged is lost, and those behind it are another run. */
static void take_good(struct srn_net *snet, struct srn_qp *qp, struct sk_buff_head *parts)
{
	struct sk_buff_head good;
	struct sk_buff *skb;

	__skb_queue_head_init(&good);
	srn_parse_icrcs(parts);
	while ((skb = __skb_dequeue(parts))) {
		if (likely(!(srn_pkt(skb)->flags & SRN_PKT_DAMAGED))) {
			__skb_queue_tail(&good, skb);
			continue;
		}
		hand_over(qp, &good);
		refuse(snet, qp, skb, SRN_CNT_RX_ICRC);
	}
	hand_over(qp, &good);
}

void srn_demux_convoy(struct srn_net *snet, struct sk_buff_head *parts)
{
	struct srn_qp_ref *ref = get_ref(snet, skb_peek(parts));
	struct srn_qp *qp;
	int refused;

	if (!ref) {
		refuse_all(snet, NULL, parts, SRN_CNT_RX_NO_QP);
		return;
	}
	qp = ref->qp;
	refused = check_peer(qp, snet, skb_peek(parts));
	if (refused)
		refuse_all(snet, qp, parts, refused);
	else
		take_good(snet, qp, parts);
	srn_qp_ref_put(ref);
}
