// SPDX-License-Identifier: GPL-2.0-only
/* Runs and packs that arrived: proven, and made packets again where they can't be taken as one. */
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
	pkt->bth = sizeof(struct udphdr);
}

static void fill_run(struct srn_pkt *pkt, const struct srn_run_cut *cut)
{
	pkt->hdr_len = cut->payload - cut->start;
	pkt->len = cut->len;
	pkt->flags |= cut->run.flags & (SRN_PKT_SE | SRN_PKT_ACKREQ | SRN_PKT_LENT |
					 SRN_PKT_BARE);
	pkt->more = cut->run.num - 1;
	pkt->last = cut->run.opcode;
	pkt->each = cut->run.each;
	pkt->word = cut->run.word;
}

/* The first message is that which it has come to: srn_run_advance(). */
static void fill_pack(struct srn_pkt *pkt, const struct srn_run_cut *cut)
{
	pkt->hdr_len = srn_opcode_hdr_len(pkt->opcode);
	pkt->len = srn_run_cut_len(cut);
	pkt->flags |= srn_run_cut_flags(cut);
	pkt->behind = cut->run.num - 1;
}

static bool pull_headers(struct sk_buff *skb)
{
	const struct srn_run *run;
	const struct srn_bth *bth;
	u32 len = sizeof(struct udphdr);

	if (!pskb_may_pull(skb, len + sizeof(*bth)))
		return false;
	bth = (void *)skb->data + len;
	/* It is executed where it is. More than it may have will be refused. */
	if (srn_pack_may_have(bth->opcode))
		return pskb_may_pull(skb, min_t(u32, skb->len, len + SRN_PACK_BYTES));
	len += srn_opcode_hdr_len(bth->opcode) + sizeof(*run);
	if (!pskb_may_pull(skb, len))
		return false;
	run = (void *)skb->data + len - sizeof(*run);
	return !(run->flags & SRN_PKT_LENT) || pskb_may_pull(skb, len + sizeof(struct srn_lease));
}

enum srn_parse_result srn_run_parse(struct sk_buff *skb)
{
	struct srn_pkt *pkt = srn_pkt(skb);
	struct srn_run_cut cut __uninitialized;

	memset(pkt, 0, sizeof(*pkt));
	/* What is proven then stays as it is. */
	if (!pull_headers(skb) || !srn_parse_lengths(skb) ||
	    !srn_run_cut_begin(&cut, skb, sizeof(struct udphdr)))
		return SRN_PARSE_LENGTH;
	if (cut.bth.flags & SRN_BTH_TVER)
		return SRN_PARSE_TVER;
	fill(pkt, &cut);
	if (cut.packed)
		fill_pack(pkt, &cut);
	else
		fill_run(pkt, &cut);
	return SRN_PARSE_OK;
}
EXPORT_SYMBOL_IF_KUNIT(srn_run_parse);

/* What was proven when it arrived. */
void srn_run_advance(struct sk_buff *skb)
{
	u32 at = srn_pkt_payload(skb) + ALIGN(srn_pkt(skb)->len, 4);
	const struct srn_pack_part *part = (void *)skb->data + at;
	struct srn_pkt *pkt = srn_pkt(skb);

	pkt->behind--;
	pkt->psn = srn_psn_add(pkt->psn, 1);
	pkt->opcode = part->opcode;
	pkt->flags = (pkt->flags & ~(SRN_PKT_SE | SRN_PKT_ACKREQ)) | part->flags;
	pkt->len = part->len;
	pkt->hdr_len = srn_opcode_hdr_len(part->opcode);
	/* It has none; its extension headers are where they would be behind one. */
	pkt->bth = at + sizeof(*part) - sizeof(struct srn_bth);
}
EXPORT_SYMBOL_IF_KUNIT(srn_run_advance);

/* As the parser would have left it, IP and UDP of the whole, @outer bytes, being its own. */
static void fill_part(struct sk_buff *part, struct sk_buff *skb, const struct srn_run_cut *cut,
		      u32 outer)
{
	const struct srn_pkt *all = srn_pkt(skb);
	struct srn_pkt *pkt = srn_pkt(part);

	memcpy(part->data - outer, skb_network_header(skb), outer);
	__skb_push(part, sizeof(struct udphdr));
	skb_set_network_header(part, (int)sizeof(struct udphdr) - (int)outer);
	skb_reset_transport_header(part);
	part->skb_iif = skb->skb_iif;
	*pkt = *all;
	pkt->bth = sizeof(struct udphdr);
	pkt->opcode = srn_run_cut_opcode(cut);
	pkt->hdr_len = srn_opcode_hdr_len(pkt->opcode);
	pkt->psn = srn_run_cut_psn(cut);
	pkt->len = srn_run_cut_len(cut);
	pkt->more = 0;
	pkt->behind = 0;
	pkt->flags &= ~(SRN_PKT_LENT | SRN_PKT_SE | SRN_PKT_ACKREQ);
	pkt->flags |= srn_run_cut_flags(cut);
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

static struct sk_buff *make_part(struct sk_buff *skb, const struct srn_run_cut *cut)
{
	u32 outer = skb->data + sizeof(struct udphdr) - skb_network_header(skb);
	struct sk_buff *part = srn_run_cut_packet(cut, outer, true);

	if (part)
		fill_part(part, skb, cut, outer);
	return part;
}

/* All but those of a pack that were taken. Returns how many there was no memory for. */
static unsigned int make_parts(struct sk_buff *skb, struct srn_run_cut *cut,
			       struct sk_buff_head *parts)
{
	u32 taken = cut->run.num - srn_pkt_num(skb);
	unsigned int lost = 0;
	struct sk_buff *part;

	do {
		if (cut->i < taken)
			continue;
		part = make_part(skb, cut);
		if (part)
			__skb_queue_tail(parts, part);
		else
			lost++;
	} while (srn_run_cut_next(cut));
	return lost;
}

unsigned int srn_run_split(struct sk_buff *skb, struct sk_buff_head *parts)
{
	unsigned int lost = 0;
	struct srn_run_cut cut __uninitialized;

	/* It was proven once; nobody writes what is linear. */
	if (WARN_ON_ONCE(!srn_run_cut_begin(&cut, skb, sizeof(struct udphdr))))
		return srn_pkt_num(skb);
	if (srn_run_cut_hold(&cut))
		lost = make_parts(skb, &cut, parts);
	srn_run_cut_release(&cut);
	return lost;
}
EXPORT_SYMBOL_IF_KUNIT(srn_run_split);

/* Of what has a part each message but the first has that in place of a BTH; and all have an ICRC. */
static u32 pack_bytes(struct sk_buff *skb)
{
	u32 num = srn_pkt_num(skb);

	return skb->len - sizeof(struct udphdr) - sizeof(struct srn_pack_tail) + num * SRN_ICRC_SIZE +
	       (num - 1) * (sizeof(struct srn_bth) - sizeof(struct srn_pack_part));
}

u32 srn_run_bytes(struct sk_buff *skb)
{
	const struct srn_pkt *pkt = srn_pkt(skb);

	if (srn_pkt_is_pack(skb))
		return pack_bytes(skb);
	return srn_run_cut_bytes(pkt->opcode, pkt->last, srn_pkt_num(skb), pkt->len);
}
EXPORT_SYMBOL_IF_KUNIT(srn_run_bytes);
