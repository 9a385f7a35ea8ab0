// SPDX-License-Identifier: GPL-2.0-only
/* The gate: whatever passes here has consistent lengths, and nothing behind it
 * checks them again. Checks run from the outside in, and the first that fails
 * decides.
 */
#include "icrc.h"
#include "limits.h"
#include "parse.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>

#define BTH_OFFSET	(sizeof(struct udphdr))
#define MIN_LEN		(BTH_OFFSET + sizeof(struct srn_bth) + SRN_ICRC_SIZE)

static enum srn_parse_result pull(struct sk_buff *skb, unsigned int len)
{
	return pskb_may_pull(skb, len) ? SRN_PARSE_OK : SRN_PARSE_NOMEM;
}

/* Options would move the UDP header away from where the ICRC's pseudo header
 * expects it, and RoCEv2 knows none.
 */
static bool ipv4_is_sound(const struct sk_buff *skb, struct srn_pkt *pkt)
{
	const struct iphdr *ip = ip_hdr(skb);

	if (INET_ECN_is_ce(ip->tos))
		pkt->flags |= SRN_PKT_CE;
	return ip->ihl == 5 &&
	       skb_network_offset(skb) == -(int)sizeof(*ip) &&
	       ntohs(ip->tot_len) == sizeof(*ip) + skb->len;
}

/* Likewise: no extension header between IPv6 and UDP. A jumbogram has length 0
 * and cannot match.
 */
static bool ipv6_is_sound(const struct sk_buff *skb, struct srn_pkt *pkt)
{
	const struct ipv6hdr *ip = ipv6_hdr(skb);

	pkt->flags |= SRN_PKT_V6;
	if (INET_ECN_is_ce(ipv6_get_dsfield(ip)))
		pkt->flags |= SRN_PKT_CE;
	return ip->nexthdr == IPPROTO_UDP &&
	       skb_network_offset(skb) == -(int)sizeof(*ip) &&
	       ntohs(ip->payload_len) == skb->len;
}

bool srn_parse_lengths(struct sk_buff *skb)
{
	struct srn_pkt *pkt = srn_pkt(skb);
	const struct udphdr *uh = (const struct udphdr *)skb->data;

	if (ntohs(uh->len) != skb->len)
		return false;
	switch (ip_hdr(skb)->version) {
	case 4:
		return ipv4_is_sound(skb, pkt);
	case 6:
		return ipv6_is_sound(skb, pkt);
	default:
		return false;
	}
}

static void read_bth(struct srn_pkt *pkt, const struct srn_bth *bth)
{
	pkt->opcode = bth->opcode;
	pkt->pkey = be16_to_cpu(bth->pkey);
	pkt->qpn = be32_get_bits(bth->dqpn, SRN_BTH_QPN);
	pkt->psn = be32_get_bits(bth->apsn, SRN_BTH_PSN);
	if (bth->flags & SRN_BTH_SE)
		pkt->flags |= SRN_PKT_SE;
	if (be32_get_bits(bth->apsn, SRN_BTH_ACKREQ))
		pkt->flags |= SRN_PKT_ACKREQ;
}

/* @room: bytes between the headers and the ICRC. */
static enum srn_parse_result check_payload(struct srn_pkt *pkt,
					   unsigned int room, unsigned int pad)
{
	const struct srn_opcode *info = &srn_opcodes[pkt->opcode];

	/* C9-12: headers are multiples of four, so is the padded payload. */
	if (room % 4)
		return SRN_PARSE_LENGTH;
	if (pad > room)
		return SRN_PARSE_PAD;
	pkt->len = room - pad;
	/* A little too long is a connection's affair (it draws a NAK); this is a datagram of
	 * 64 KiB, and nobody shall make us compute its ICRC.
	 */
	if (pkt->len > 2 * SRN_MAX_PAYLOAD)
		return SRN_PARSE_LENGTH;
	if (info->op == SRN_OP_CNP && pkt->len != SRN_CNP_RESERVED)
		return SRN_PARSE_LENGTH;
	if (info->op != SRN_OP_NONE && !info->has_payload && room)
		return SRN_PARSE_LENGTH;
	return SRN_PARSE_OK;
}

static enum srn_parse_result parse_bth(struct sk_buff *skb, struct srn_pkt *pkt)
{
	const struct srn_bth *bth = (void *)skb->data + BTH_OFFSET;
	unsigned int pad = FIELD_GET(SRN_BTH_PAD, bth->flags);
	unsigned int fixed;
	enum srn_parse_result res;

	if (bth->flags & SRN_BTH_TVER)
		return SRN_PARSE_TVER;
	read_bth(pkt, bth);
	pkt->bth = BTH_OFFSET;
	pkt->hdr_len = srn_opcode_hdr_len(pkt->opcode) ?: sizeof(*bth);

	fixed = BTH_OFFSET + pkt->hdr_len + SRN_ICRC_SIZE;
	if (skb->len < fixed)
		return SRN_PARSE_SHORT;
	res = check_payload(pkt, skb->len - fixed, pad);
	if (res)
		return res;
	return pull(skb, BTH_OFFSET + pkt->hdr_len);	/* bth is stale from here */
}

enum srn_parse_result srn_parse(struct sk_buff *skb)
{
	struct srn_pkt *pkt = srn_pkt(skb);
	enum srn_parse_result res;

	if (skb->len < MIN_LEN)
		return SRN_PARSE_SHORT;
	res = pull(skb, BTH_OFFSET + sizeof(struct srn_bth));
	if (res)
		return res;

	/* The lower layer's cb has served its purpose. */
	memset(pkt, 0, sizeof(*pkt));
	if (!srn_parse_lengths(skb))
		return SRN_PARSE_LENGTH;
	res = parse_bth(skb, pkt);
	if (res)
		return res;
	return srn_opcodes[pkt->opcode].op ? SRN_PARSE_OK : SRN_PARSE_OPCODE;
}
EXPORT_SYMBOL_IF_KUNIT(srn_parse);

enum srn_parse_result srn_parse_icrc(struct sk_buff *skb)
{
	bool good = srn_icrc_is_good(skb, skb_network_header(skb), skb->data, srn_pkt(skb)->flags & SRN_PKT_V6);

	return good ? SRN_PARSE_OK : SRN_PARSE_ICRC;
}
EXPORT_SYMBOL_IF_KUNIT(srn_parse_icrc);

void srn_parse_icrcs(struct sk_buff_head *packets)
{
	/* They are of about one length. */
	bool section = srn_icrc_begin(skb_queue_len(packets) * skb_peek(packets)->len);
	struct sk_buff *skb;

	skb_queue_walk(packets, skb)
		if (unlikely(!srn_icrc_is_good_in(section, skb, skb_network_header(skb), skb->data,
						  srn_pkt(skb)->flags & SRN_PKT_V6)))
			srn_pkt(skb)->flags |= SRN_PKT_DAMAGED;
	srn_icrc_end(section);
}
EXPORT_SYMBOL_IF_KUNIT(srn_parse_icrcs);
