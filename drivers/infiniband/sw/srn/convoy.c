// SPDX-License-Identifier: GPL-2.0-only
/* Convoys: parted, joined, split. Who coupled them is no proof of anything (gro.c): what they are
 * joined by is what the parser found in each.
 */
#include "convoy.h"

#include <kunit/visibility.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff_ref.h>
#include <linux/udp.h>
#include <net/ipv6.h>

#include "opcode.h"
#include "psn.h"
#include "wire.h"

/* What a tunnel to our port carries may have the same types, but is encapsulated: it is refused as any other
 * GSO, and is no reason to couple nothing any more (srn_net_rest_gro()).
 */
bool srn_convoy_arrived(const struct sk_buff *skb)
{
	return (skb_shinfo(skb)->gso_type & ~SKB_GSO_TCP_FIXEDID) == SRN_CONVOY_TYPE &&
	       !skb->encapsulation;
}
EXPORT_SYMBOL_IF_KUNIT(srn_convoy_arrived);

/* Its head says how long all are; in front of the others is what they came with. */
static void set_lengths(struct sk_buff *skb)
{
	udp_hdr(skb)->len = htons(skb->len);
	if (ip_hdr(skb)->version == 6)
		ipv6_hdr(skb)->payload_len = htons(skb->len);
	else
		ip_hdr(skb)->tot_len = htons(skb->len - skb_network_offset(skb));
}

/* Who captures has a part in the first one's bytes, and with it in all others, and in how they
 * follow each other. What is left behind is not touched.
 */
static struct sk_buff *make_own(struct sk_buff *skb)
{
	struct sk_buff *own = skb;

	if (skb_shared(skb)) {
		own = skb_clone(skb, GFP_ATOMIC | __GFP_NOWARN);
		consume_skb(skb);
	}
	if (own && skb_unclone(own, GFP_ATOMIC)) {
		kfree_skb(own);
		return NULL;
	}
	return own;
}

/* NAT on this host has changed the first, and would have changed each. */
static void readdress(struct sk_buff *skb, const struct sk_buff *first)
{
	if (ip_hdr(first)->version == 6)
		ipv6_hdr(skb)->addrs = ipv6_hdr(first)->addrs;
	else
		ip_hdr(skb)->addrs = ip_hdr(first)->addrs;
	udp_hdr(skb)->source = udp_hdr(first)->source;
	udp_hdr(skb)->dest = udp_hdr(first)->dest;
}

/* As it would have come to the socket by itself. */
static void come(struct sk_buff *skb, const struct sk_buff *first)
{
	__skb_push(skb, sizeof(struct udphdr));
	readdress(skb, first);
	skb->skb_iif = first->skb_iif;
	nf_reset_ct(skb);
	skb_ext_reset(skb);
	skb_dst_drop(skb);
	skb->dev = NULL;
}

static u32 lose(struct sk_buff *skb)
{
	struct sk_buff *next = skb;
	u32 num = 0;

	for (; next; next = next->next)
		num++;
	kfree_skb_list(skb);
	return num;
}

/* Without memory those behind are lost, as on a wire. Returns how many. */
static u32 add_rest(struct sk_buff *next, const struct sk_buff *first, struct sk_buff_head *parts)
{
	struct sk_buff *skb;

	while (next) {
		skb = next;
		next = skb->next;
		skb = make_own(skb);
		if (unlikely(!skb))
			return 1 + lose(next);
		skb_mark_not_on_list(skb);
		come(skb, first);
		__skb_queue_tail(parts, skb);
	}
	return 0;
}

enum srn_parse_result srn_convoy_part(struct sk_buff *skb, struct sk_buff_head *parts, u32 *lost)
{
	u32 own = skb_pagelen(skb);
	struct sk_buff *part;

	/* Whoever put it into one piece has lost the headers between. */
	if (!skb_has_frag_list(skb) ||
	    own != sizeof(struct udphdr) + skb_shinfo(skb)->gso_size || skb_transport_offset(skb))
		return SRN_PARSE_LENGTH;
	if (skb_unclone(skb, GFP_ATOMIC))
		return SRN_PARSE_NOMEM;
	skb_walk_frags(skb, part)
		skb->truesize -= part->truesize;
	part = skb_shinfo(skb)->frag_list;
	skb_shinfo(skb)->frag_list = NULL;
	skb_gso_reset(skb);
	skb->data_len -= skb->len - own;
	skb->len = own;
	set_lengths(skb);
	__skb_queue_tail(parts, skb);
	*lost = add_rest(part, skb, parts);
	return SRN_PARSE_OK;
}
EXPORT_SYMBOL_IF_KUNIT(srn_convoy_part);

/* Of a message: the first, or one in the middle, of which others come behind. What a run says of
 * its last packet alone the others do not have.
 */
static bool may_be_followed(const struct srn_pkt *pkt, const struct srn_opcode *info)
{
	return srn_opcode_svc(pkt->opcode) == SRN_SVC_RC &&
	       (info->is_stream || info->op == SRN_OP_READ_RESP) &&
	       (info->pos == SRN_POS_FIRST || info->pos == SRN_POS_MIDDLE) &&
	       !(pkt->flags & (SRN_PKT_SE | SRN_PKT_ACKREQ)) && pkt->len && !(pkt->len % 4);
}

static bool len_fits(u8 pos, u32 len, u32 each)
{
	return pos == SRN_POS_MIDDLE ? len == each : len && len <= each;
}

bool srn_convoy_follows(struct sk_buff *last, struct sk_buff *skb)
{
	const struct srn_opcode *a = srn_pkt_info(last), *b = srn_pkt_info(skb);
	const struct srn_pkt *p = srn_pkt(last), *q = srn_pkt(skb);

	return may_be_followed(p, a) && a->op == b->op &&
	       srn_opcode_svc(q->opcode) == SRN_SVC_RC &&
	       (b->pos == SRN_POS_MIDDLE || b->pos == SRN_POS_LAST) &&
	       q->psn == srn_psn_add(p->psn, 1) && p->qpn == q->qpn && p->pkey == q->pkey &&
	       !((p->flags ^ q->flags) & (SRN_PKT_V6 | SRN_PKT_CE)) &&
	       len_fits(b->pos, q->len, p->len);
}
EXPORT_SYMBOL_IF_KUNIT(srn_convoy_follows);

/* Whether its last @len bytes are in one fragment. */
static bool ends_in_one_frag(const struct sk_buff *skb, u32 len)
{
	return skb_shinfo(skb)->nr_frags && !skb_has_frag_list(skb) &&
	       skb_frag_size(&skb_shinfo(skb)->frags[skb_shinfo(skb)->nr_frags - 1]) >= len;
}

static void strip_frag(struct sk_buff *skb, u32 len)
{
	struct skb_shared_info *info = skb_shinfo(skb);
	skb_frag_t *last = &info->frags[info->nr_frags - 1];

	skb_frag_size_sub(last, len);
	if (!skb_frag_size(last))
		skb_frag_unref(skb, --info->nr_frags);
	skb->len -= len;
	skb->data_len -= len;
}

/* Behind its payload. Nobody else has a part in it: srn_convoy_part(). */
static void strip(struct sk_buff *skb)
{
	u32 end = srn_pkt_payload(skb) + srn_pkt(skb)->len, len = skb->len - end;

	if (likely(ends_in_one_frag(skb, len)))
		strip_frag(skb, len);
	else
		WARN_ON_ONCE(pskb_trim(skb, end));
}

static void append(struct sk_buff *run, struct sk_buff *skb)
{
	__skb_pull(skb, srn_pkt_payload(skb));
	run->len += skb->len;
	run->data_len += skb->len;
	run->truesize += skb->truesize;
	srn_pkt(run)->len += skb->len;
	srn_pkt(run)->more++;
}

/* What a run has of its last packet. @skb is at its payload. */
static void end(struct srn_pkt *run, const struct srn_pkt *pkt, const struct sk_buff *skb)
{
	run->last = pkt->opcode;
	run->flags |= (pkt->flags & (SRN_PKT_SE | SRN_PKT_ACKREQ)) | SRN_PKT_JOINED;
	if (pkt->hdr_len > sizeof(struct srn_bth))
		memcpy(&run->word, skb->data - pkt->hdr_len + sizeof(struct srn_bth),
		       sizeof(run->word));
}

struct sk_buff *srn_convoy_join(struct sk_buff_head *parts)
{
	struct sk_buff *run = __skb_dequeue(parts), **next = &skb_shinfo(run)->frag_list, *skb;

	if (skb_queue_empty(parts))
		return run;
	strip(run);
	srn_pkt(run)->each = srn_pkt(run)->len;
	while ((skb = __skb_dequeue(parts))) {
		strip(skb);
		append(run, skb);
		*next = skb;
		next = &skb->next;
		if (skb_queue_empty(parts))
			end(srn_pkt(run), srn_pkt(skb), skb);
	}
	return run;
}
EXPORT_SYMBOL_IF_KUNIT(srn_convoy_join);

/* As the parser left it, but for a mark that was told of: that was the mark of all. */
static void forget_mark(struct srn_pkt *pkt, const struct srn_pkt *run)
{
	pkt->flags &= run->flags | ~SRN_PKT_CE;
}

/* As the parser left it. */
static void back_to_packet(struct sk_buff *run)
{
	struct srn_pkt *pkt = srn_pkt(run);
	struct sk_buff *skb;

	skb_walk_frags(run, skb) {
		run->len -= skb->len;
		run->data_len -= skb->len;
		run->truesize -= skb->truesize;
	}
	skb_shinfo(run)->frag_list = NULL;
	pkt->len = pkt->each;
	pkt->more = 0;
	pkt->flags &= ~(SRN_PKT_SE | SRN_PKT_ACKREQ | SRN_PKT_JOINED);
}

void srn_convoy_split(struct sk_buff *run, struct sk_buff_head *parts)
{
	struct sk_buff *next = skb_shinfo(run)->frag_list, *skb;

	back_to_packet(run);
	__skb_queue_tail(parts, run);
	while (next) {
		skb = next;
		next = skb->next;
		skb_mark_not_on_list(skb);
		__skb_push(skb, srn_pkt_payload(skb));
		forget_mark(srn_pkt(skb), srn_pkt(run));
		__skb_queue_tail(parts, skb);
	}
}
EXPORT_SYMBOL_IF_KUNIT(srn_convoy_split);
