// SPDX-License-Identifier: GPL-2.0-only
/* Runs that arrived: proven, and made packets again where they can't be taken as one. */
#include "run.h"

#include <kunit/visibility.h>
#include <linux/if_ether.h>
#include <linux/udp.h>

#include "lease.h"
#include "opcode.h"
#include "psn.h"
#include "run_cut.h"

bool srn_run_arrived(const struct sk_buff *skb)
{
	/* An outer tunnel writes its own into what else the stack knows a run by, and its end may say
	 * that it is in none any more.
	 */
	if (skb_is_gso(skb))
		return srn_run_is_type(skb);
	/* From lo of this namespace, which no tunnel's datagram crosses whole. From elsewhere one could
	 * come that says the same (bareudp).
	 */
	return skb->skb_iif == LOOPBACK_IFINDEX && skb->encapsulation &&
	       skb->inner_protocol_type == ENCAP_TYPE_ETHER &&
	       skb->inner_protocol == htons(ETH_P_IBOE);
}
EXPORT_SYMBOL_IF_KUNIT(srn_run_arrived);

/* What of the first packet's BTH is that of all. */
static void fill(struct srn_pkt *pkt, const struct srn_run_cut *cut)
{
	pkt->opcode = cut->bth.opcode;
	pkt->pkey = be16_to_cpu(cut->bth.pkey);
	pkt->qpn = be32_get_bits(cut->bth.dqpn, SRN_BTH_QPN);
	pkt->psn = cut->psn;
	pkt->bth = cut->start;
	pkt->hdr_len = cut->payload - cut->start;
	pkt->len = cut->len;
	pkt->flags |= cut->run.flags & (SRN_PKT_SE | SRN_PKT_ACKREQ | SRN_PKT_LENT);
	pkt->more = cut->run.num - 1;
	pkt->last = cut->run.opcode;
	pkt->each = cut->run.each;
	pkt->word = cut->run.word;
}

static bool pull_headers(struct sk_buff *skb)
{
	const struct srn_run *run;
	const struct srn_bth *bth;
	u32 len = sizeof(struct udphdr);

	if (!pskb_may_pull(skb, len + sizeof(*bth)))
		return false;
	bth = (void *)skb->data + len;
	len += srn_opcode_hdr_len(bth->opcode) + sizeof(*run);
	if (!pskb_may_pull(skb, len))
		return false;
	run = (void *)skb->data + len - sizeof(*run);
	return !(run->flags & SRN_PKT_LENT) || pskb_may_pull(skb, len + sizeof(struct srn_lease));
}

enum srn_parse_result srn_run_parse(struct sk_buff *skb)
{
	struct srn_pkt *pkt = srn_pkt(skb);
	struct srn_run_cut cut;

	memset(pkt, 0, sizeof(*pkt));
	/* What is proven then stays as it is. */
	if (!pull_headers(skb) || !srn_parse_lengths(skb) ||
	    !srn_run_cut_begin(&cut, skb, sizeof(struct udphdr)))
		return SRN_PARSE_LENGTH;
	if (cut.bth.flags & SRN_BTH_TVER)
		return SRN_PARSE_TVER;
	fill(pkt, &cut);
	return SRN_PARSE_OK;
}
EXPORT_SYMBOL_IF_KUNIT(srn_run_parse);

/* As the parser would have left it, IP and UDP of the whole, @outer bytes, being its own. */
static void fill_part(struct sk_buff *part, struct sk_buff *skb, const struct srn_run_cut *cut,
		      u32 i, u32 outer)
{
	const struct srn_pkt *all = srn_pkt(skb);
	struct srn_pkt *pkt = srn_pkt(part);

	memcpy(part->data - outer, skb_network_header(skb), outer);
	__skb_push(part, cut->start);
	skb_set_network_header(part, (int)cut->start - (int)outer);
	skb_reset_transport_header(part);
	part->skb_iif = skb->skb_iif;
	*pkt = *all;
	pkt->opcode = srn_run_cut_opcode(cut, i);
	pkt->hdr_len = srn_opcode_hdr_len(pkt->opcode);
	pkt->psn = srn_psn_add(all->psn, i);
	pkt->len = srn_run_cut_len(cut, i);
	pkt->more = 0;
	pkt->flags &= ~SRN_PKT_LENT;
	if (i + 1 < cut->run.num)
		pkt->flags &= ~(SRN_PKT_SE | SRN_PKT_ACKREQ);
}

bool srn_run_hold(struct sk_buff *skb, struct srn_mem **mem)
{
	struct srn_lease lease;

	*mem = NULL;
	if (!(srn_pkt(skb)->flags & SRN_PKT_LENT))
		return true;
	memcpy(&lease, skb->data + srn_pkt_payload(skb) - sizeof(lease), sizeof(lease));
	*mem = srn_lease_get(&lease);
	return *mem;
}
EXPORT_SYMBOL_IF_KUNIT(srn_run_hold);

/* Returns how many there was no memory for. */
static unsigned int make_parts(struct sk_buff *skb, const struct srn_run_cut *cut,
			       struct sk_buff_head *parts)
{
	u32 outer = skb->data + cut->start - skb_network_header(skb), i;
	unsigned int lost = 0;
	struct sk_buff *part;

	for (i = 0; i < cut->run.num; i++) {
		part = srn_run_cut_packet(cut, i, outer, true);
		if (!part) {
			lost++;
			continue;
		}
		fill_part(part, skb, cut, i, outer);
		__skb_queue_tail(parts, part);
	}
	return lost;
}

unsigned int srn_run_split(struct sk_buff *skb, struct sk_buff_head *parts)
{
	unsigned int lost = 0;
	struct srn_run_cut cut;

	/* It was proven once; nobody writes what is linear. */
	if (WARN_ON_ONCE(!srn_run_cut_begin(&cut, skb, srn_pkt(skb)->bth)))
		return srn_pkt_num(skb);
	if (srn_run_cut_hold(&cut))
		lost = make_parts(skb, &cut, parts);
	srn_run_cut_release(&cut);
	return lost;
}
EXPORT_SYMBOL_IF_KUNIT(srn_run_split);

u32 srn_run_bytes(struct sk_buff *skb)
{
	const struct srn_pkt *pkt = srn_pkt(skb);

	return srn_run_cut_bytes(pkt->opcode, pkt->last, srn_pkt_num(skb), pkt->len);
}
EXPORT_SYMBOL_IF_KUNIT(srn_run_bytes);
