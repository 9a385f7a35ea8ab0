// SPDX-License-Identifier: GPL-2.0-only
/* UD and GSI messages: one packet, one receive WQE, and the address of the sender
 * in front of the payload.
 */
#include "ud.h"

#include <linux/ip.h>
#include <linux/ipv6.h>

#include "device.h"
#include "gid.h"
#include "limits.h"
#include "parse.h"
#include "qp.h"
#include "responder.h"
#include "rq.h"
#include "sgl.h"
#include "stats.h"
#include "trace.h"

static_assert(sizeof(union rdma_network_hdr) == SRN_GRH_SIZE);
static_assert(sizeof(struct ipv6hdr) == SRN_GRH_SIZE);

static bool qkey_matches(const struct srn_qp *qp, struct sk_buff *skb)
{
	u32 qkey = be32_to_cpu(srn_pkt_deth(skb)->qkey);

	return qkey == (qp->svc->is_gsi ? SRN_GSI_QKEY : qp->qkey);
}

/* IPv6's header has the shape of a GRH; IPv4's stands at the end of its room. */
static void make_grh(const struct sk_buff *skb, bool v6, union rdma_network_hdr *grh)
{
	memset(grh, 0, sizeof(*grh));
	if (v6)
		memcpy(grh, ipv6_hdr(skb), sizeof(struct ipv6hdr));
	else
		memcpy(&grh->roce4grh, ip_hdr(skb), sizeof(struct iphdr));
}

static enum srn_verdict place(struct srn_qp *qp, struct sk_buff *skb)
{
	struct srn_sgl sgl = srn_rq_sgl(qp);
	const struct srn_pkt *pkt = srn_pkt(skb);
	union rdma_network_hdr grh;
	enum srn_verdict v;

	make_grh(skb, pkt->flags & SRN_PKT_V6, &grh);
	v = srn_sgl_write(&sgl, 0, &grh, sizeof(grh));
	if (!v && pkt->len)
		v = srn_sgl_write_skb(&sgl, sizeof(grh), skb, srn_pkt_payload(skb), pkt->len);
	return v ? SRN_V_RESP_PROT : SRN_OK;
}

/* The core looks the address of a MAD's receiver up by VLAN. */
static void note_vlan(struct srn_qp *qp, struct sk_buff *skb, struct srn_cqe *cqe)
{
	struct in6_addr addr;
	int vlan;

	srn_pkt_daddr(skb, &addr);
	rcu_read_lock();
	vlan = srn_dev_gid_vlan(qp->dev, &addr, skb->skb_iif);
	rcu_read_unlock();
	if (vlan < 0)
		return;
	cqe->vlan_id = vlan;
	cqe->wc_flags |= SRN_WC_WITH_VLAN;
}

static void complete_receive(struct srn_qp *qp, struct sk_buff *skb)
{
	const struct srn_pkt *pkt = srn_pkt(skb);
	struct srn_cqe cqe;

	srn_rq_cqe(qp, &cqe);
	cqe.byte_len = SRN_GRH_SIZE + pkt->len;
	cqe.src_qp = be32_get_bits(srn_pkt_deth(skb)->sqpn, SRN_BTH_QPN);
	cqe.wc_flags = SRN_WC_GRH;
	cqe.network_hdr_type = pkt->flags & SRN_PKT_V6 ? RDMA_NETWORK_IPV6 : RDMA_NETWORK_IPV4;
	if (srn_pkt_info(skb)->hdrs & SRN_HDR_IMM) {
		cqe.imm = srn_pkt_imm(skb);
		cqe.wc_flags |= SRN_WC_WITH_IMM;
	}
	if (qp->svc->is_gsi)
		note_vlan(qp, skb, &cqe);
	srn_rq_complete(qp, &cqe, pkt->flags & SRN_PKT_SE);
}

/* Returns the counter of a refusal, SRN_CNT_MAX for none. Nothing that a stranger
 * sends may cost the QP more than a look: a message longer than the receive
 * buffer is dropped, as the standard has it for datagrams (9.9.3, class D), and
 * the WQE serves the next one. Only a WQE that is bad itself stops the QP.
 */
static enum srn_counter receive(struct srn_qp *qp, struct sk_buff *skb)
{
	const struct srn_pkt *pkt = srn_pkt(skb);
	enum srn_verdict v;

	if (!qkey_matches(qp, skb))
		return SRN_CNT_RX_BAD_QKEY;
	if (pkt->len > SRN_MAX_PAYLOAD)
		return SRN_CNT_RX_UD_LENGTH;
	v = srn_rq_open(qp);
	if (v == SRN_V_RNR)
		return SRN_CNT_RX_NO_RECV;
	if (!v && pkt->len + SRN_GRH_SIZE > qp->rq.wqe->length)
		return SRN_CNT_RX_UD_LENGTH;
	v = v ?: place(qp, skb);
	if (v)
		srn_responder_fail(qp, v, pkt->psn);
	else
		complete_receive(qp, skb);
	return SRN_CNT_MAX;
}

void srn_ud_rx(struct srn_qp *qp, struct sk_buff *skb)
{
	enum srn_counter refused = SRN_CNT_RX_BAD_STATE;

	srn_turn_assert_owned(&qp->turn);
	if (srn_responder_receives(qp))
		refused = receive(qp, skb);
	if (refused == SRN_CNT_MAX) {
		napi_consume_skb(skb, 1);
		return;
	}
	srn_count(qp->dev, refused);
	kfree_skb(skb);
}
