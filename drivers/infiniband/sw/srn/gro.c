// SPDX-License-Identifier: GPL-2.0-only
/* What may wait for others, which of them it is coupled with, and when all of them go on. Packets
 * of one message of a RC QP are, each as it came: nothing is cut off, and nothing is believed.
 * Whoever looks at them behind the stack looks at each.
 *
 * To the stack it is what GRO makes of a UDP flow that it may not merge, a list of whole
 * datagrams. So what filters, marks, captures or sends elsewhere knows it, and can part it. Only
 * what is for an address of a device here is coupled: who forwards has no part in it.
 */
#include "gro.h"

#include <kunit/visibility.h>
#include <linux/etherdevice.h>
#include <linux/export.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/moduleparam.h>
#include <linux/udp.h>
#include <net/gro.h>
#include <net/sock.h>

#include "convoy.h"
#include "limits.h"
#include "net.h"
#include "opcode.h"
#include "psn.h"
#include "run.h"
#include "wire.h"

bool srn_gro_wanted = true;
EXPORT_SYMBOL_IF_KUNIT(srn_gro_wanted);
module_param_named(gro, srn_gro_wanted, bool, 0644);
MODULE_PARM_DESC(gro, "take packets that a NAPI received together as one (default: yes)");

/* The longest datagram. */
#define MAX_BYTES	65535

/* Bits of apsn that are no PSN. */
#define APSN_REST	(~SRN_BTH_PSN)

static const struct srn_bth *bth_of(const struct sk_buff *skb, const struct sk_buff *like)
{
	return (const void *)skb->data + skb_gro_offset(like);
}

/* Between headers and ICRC; with pad. Less than 0: it is shorter than its headers. */
static int payload_of(u8 opcode, unsigned int len)
{
	return (int)len - (int)srn_opcode_hdr_len(opcode) - SRN_ICRC_SIZE;
}

/* SENDs, WRITEs and the answers to READs, where a message has several packets. */
static bool is_part(u8 opcode)
{
	const struct srn_opcode *info = &srn_opcodes[opcode];

	return srn_opcode_svc(opcode) == SRN_SVC_RC && info->pos != SRN_POS_ONLY &&
	       (info->is_stream || info->op == SRN_OP_READ_RESP);
}

/* It shall not wait for what comes behind it. */
static bool is_end(const struct srn_bth *bth)
{
	return srn_opcodes[bth->opcode].pos == SRN_POS_LAST || bth->flags & SRN_BTH_SE ||
	       be32_get_bits(bth->apsn, SRN_BTH_ACKREQ);
}

/* In no tunnel, and behind no VLAN's header: where its IP header is, is where the stack looks for
 * it.
 */
static bool is_plain_ip(const struct sk_buff *skb)
{
	int udp = skb_gro_offset(skb) - sizeof(struct udphdr);

	if (NAPI_GRO_CB(skb)->network_offset || skb->encapsulation)
		return false;
	if (skb->protocol == htons(ETH_P_IP))
		/* Else the stack would refuse to part it with the ids that it has. */
		return udp == sizeof(struct iphdr) &&
		       ((const struct iphdr *)skb->data)->frag_off == htons(IP_DF);
	return skb->protocol == htons(ETH_P_IPV6) && udp == sizeof(struct ipv6hdr);
}

/* A checksum would have to be made again. RoCEv2 has none. */
static bool is_plain_udp(const struct sk_buff *skb)
{
	const struct udphdr *udp = (const void *)bth_of(skb, skb) - sizeof(*udp);

	return !udp->check && skb->ip_summed != CHECKSUM_PARTIAL &&
	       ntohs(udp->len) == skb_gro_len(skb) + sizeof(*udp);
}

static bool is_plain(struct sk_buff *skb)
{
	return pskb_may_pull(skb, skb_gro_offset(skb) + sizeof(struct srn_bth)) && is_plain_ip(skb);
}

static bool is_bare(const struct sk_buff *skb)
{
	return !skb->_skb_refdst && !skb_get_nfct(skb) && !skb_has_extensions((struct sk_buff *)skb) &&
	       !skb_metadata_len(skb);
}

/* Whether anything may be coupled with it. What the stack has flushed is a fragment, has another
 * length than it says, or is several already. What IPsec or a filter says of one is not said of others.
 */
static bool is_fit(const struct sk_buff *skb)
{
	return !NAPI_GRO_CB(skb)->flush && (!skb->slow_gro || is_bare(skb)) && is_plain_udp(skb) &&
	       is_part(bth_of(skb, skb)->opcode);
}

static bool is_ours(struct sock *sk, const struct sk_buff *skb)
{
	struct srn_net *snet = rcu_dereference_sk_user_data(sk);

	return snet && !srn_net_gro_rests(snet) && srn_net_find_dev(snet, skb);
}

/* The first of several. It has what the others have, no pad, and is no end. */
static bool may_begin(struct sock *sk, const struct sk_buff *skb)
{
	const struct srn_bth *bth = bth_of(skb, skb);
	int payload = payload_of(bth->opcode, skb_gro_len(skb));

	return !is_end(bth) && !(bth->flags & (SRN_BTH_PAD | SRN_BTH_TVER)) &&
	       payload > 0 && payload <= SRN_MAX_PAYLOAD && !(payload % 4) && is_ours(sk, skb);
}

/* A router's mark, and how far it came, is that of all. */
static bool has_ip_of(const struct sk_buff *first, const struct sk_buff *skb)
{
	const struct ipv6hdr *a6 = (const void *)first->data, *b6 = (const void *)skb->data;
	const struct iphdr *a4 = (const void *)first->data, *b4 = (const void *)skb->data;

	if (skb->protocol == htons(ETH_P_IP))
		return a4->tos == b4->tos && a4->ttl == b4->ttl;
	return *(const __be32 *)a6 == *(const __be32 *)b6 && a6->hop_limit == b6->hop_limit;
}

static bool has_bth_of(const struct srn_bth *first, const struct srn_bth *bth, u32 num)
{
	u32 apsn = be32_to_cpu(first->apsn), other = be32_to_cpu(bth->apsn) & ~SRN_BTH_ACKREQ;

	return srn_opcodes[first->opcode].op == srn_opcodes[bth->opcode].op &&
	       srn_opcodes[bth->opcode].pos != SRN_POS_FIRST &&
	       !((first->flags ^ bth->flags) & ~(SRN_BTH_SE | SRN_BTH_PAD)) &&
	       first->pkey == bth->pkey && first->dqpn == bth->dqpn &&
	       (apsn & APSN_REST) == (other & APSN_REST) &&
	       srn_psn_add(apsn & SRN_BTH_PSN, num) == (other & SRN_BTH_PSN);
}

/* As much payload as the first; the last one up to as much. None is longer than the first in all,
 * or what parts them would take it for one that fits where it does not.
 */
static bool has_len_of(const struct sk_buff *first, const struct srn_bth *bth, u8 opcode, u32 len)
{
	u32 longest = skb_shinfo(first)->gso_size;
	int payload = payload_of(bth->opcode, len), each = payload_of(opcode, longest);

	if (srn_opcodes[bth->opcode].pos == SRN_POS_LAST)
		return payload > 0 && payload <= each && len <= longest;
	return payload == each && !(bth->flags & SRN_BTH_PAD);
}

/* It waits since before there was a socket: another's, and its BTH may be anywhere. */
static bool is_foreign(const struct sk_buff *first, const struct sk_buff *skb)
{
	return !NAPI_GRO_CB(first)->is_flist ||
	       skb_headlen(first) < skb_gro_offset(skb) + sizeof(struct srn_bth);
}

static bool is_from_same(const struct sk_buff *p, const struct sk_buff *skb)
{
	int udp = skb_gro_offset(skb) - sizeof(struct udphdr);
	const struct iphdr *a = (const void *)p->data, *b = (const void *)skb->data;

	if (!NAPI_GRO_CB(p)->is_flist || p->dev != skb->dev || p->protocol != skb->protocol ||
	    *(const u32 *)(p->data + udp) != *(const u32 *)(skb->data + udp))
		return false;
	if (skb->protocol == htons(ETH_P_IP))
		return a->saddr == b->saddr && a->daddr == b->daddr;
	return !memcmp(&ipv6_hdr(p)->saddr, &ipv6_hdr(skb)->saddr, 2 * sizeof(struct in6_addr));
}

static bool is_udp(const struct sk_buff *p)
{
	if (p->protocol == htons(ETH_P_IP))
		return ((const struct iphdr *)p->data)->protocol == IPPROTO_UDP;
	return ((const struct ipv6hdr *)p->data)->nexthdr == IPPROTO_UDP;
}

/* All that the stack compares, but who paid. */
static bool is_of_flow(const struct sk_buff *p, const struct sk_buff *skb)
{
	const struct udphdr *udp = (const void *)bth_of(p, skb) - sizeof(*udp);

	return is_from_same(p, skb) && is_udp(p) && !udp->check && is_bare(p) && is_bare(skb) &&
	       skb_get_hash_raw(p) == skb_get_hash_raw(skb) && p->vlan_all == skb->vlan_all &&
	       skb->dev->hard_header_len == ETH_HLEN &&
	       !compare_ether_header(skb_mac_header(p), skb_mac_header(skb));
}

static bool follows(const struct sk_buff *first, const struct sk_buff *skb)
{
	const struct srn_bth *bth = bth_of(skb, skb), *begin = bth_of(first, skb);
	u32 len = skb_gro_len(skb);

	return !is_foreign(first, skb) && (NAPI_GRO_CB(first)->same_flow || is_of_flow(first, skb)) &&
	       first->protocol == skb->protocol && has_bth_of(begin, bth, NAPI_GRO_CB(first)->count) &&
	       has_len_of(first, bth, begin->opcode, len) && has_ip_of(first, skb) &&
	       first->ip_summed == skb->ip_summed && first->csum_level == skb->csum_level &&
	       skb_pfmemalloc(first) == skb_pfmemalloc(skb) && first->len + len <= MAX_BYTES;
}

/* The stack parts them by this, and the socket takes them uncut for it. It asks nobody when they
 * go on: the socket may be gone by then.
 */
static void set_type(struct sk_buff *first)
{
	skb_shinfo(first)->gso_type = SRN_CONVOY_TYPE;
	if (first->protocol == htons(ETH_P_IP))
		skb_shinfo(first)->gso_type |= SKB_GSO_TCP_FIXEDID;
}

/* Its headers stay in front of it. */
static void append(struct sk_buff *first, struct sk_buff *skb)
{
	skb_orphan(skb);
	__skb_pull(skb, skb_gro_offset(skb));
	if (NAPI_GRO_CB(first)->last == first)
		skb_shinfo(first)->frag_list = skb;
	else
		NAPI_GRO_CB(first)->last->next = skb;
	NAPI_GRO_CB(first)->last = skb;
	NAPI_GRO_CB(first)->count++;
	NAPI_GRO_CB(skb)->same_flow = 1;
	first->len += skb->len;
	first->data_len += skb->len;
	first->truesize += skb->truesize;
	skb_shinfo(first)->flags |= skb_shinfo(skb)->flags & SKBFL_SHARED_FRAG;
	set_type(first);
}

/* To the stack what a socket paid for, on this host, is of another flow than what none did: the first
 * of a train and those behind it, answers to READs and ACKs. It is of the same, and none shall overtake
 * the other.
 */
static struct sk_buff *find_flow(struct list_head *held, const struct sk_buff *skb, bool plain)
{
	struct sk_buff *p;

	list_for_each_entry(p, held, list) {
		if (NAPI_GRO_CB(p)->same_flow)
			return p;
		if (unlikely(p->slow_gro | skb->slow_gro) && plain && is_from_same(p, skb))
			return p;
	}
	return NULL;
}

/* What a NIC summed says nothing of a list, and there is no checksum to be compared with it. */
static void forget_sum(struct sk_buff *skb)
{
	if (skb->ip_summed != CHECKSUM_COMPLETE)
		return;
	skb->ip_summed = CHECKSUM_UNNECESSARY;
	skb->csum_level = 0;
}

/* Who paid for it has that back: it is for this host, whose stack would see to that next. */
static void hold(struct sk_buff *skb)
{
	skb_orphan(skb);
	NAPI_GRO_CB(skb)->is_flist = 1;
	NAPI_GRO_CB(skb)->encap_mark = 0;
}

/* @first: what waits, of its flow, and goes on before it then, in their order. */
static struct sk_buff *take_alone(struct sk_buff *skb, struct sk_buff *first)
{
	NAPI_GRO_CB(skb)->flush = 1;
	return first;
}

static struct sk_buff *receive(struct sock *sk, struct list_head *held, struct sk_buff *skb)
{
	bool plain = is_plain(skb), end;
	struct sk_buff *first = find_flow(held, skb, plain);

	if (!plain || !READ_ONCE(srn_gro_wanted) || !is_fit(skb))
		return take_alone(skb, first);
	forget_sum(skb);
	if (first && follows(first, skb)) {
		end = is_end(bth_of(skb, skb));
		append(first, skb);
		return end || NAPI_GRO_CB(first)->count == SRN_RUN_MAX ? first : NULL;
	}
	if (!may_begin(sk, skb))
		return take_alone(skb, first);
	hold(skb);
	return first;
}

/* Not wanted any more: what waits since before goes on in its order. */
struct sk_buff *srn_gro_receive(struct sock *sk, struct list_head *held, struct sk_buff *skb)
{
	if (!READ_ONCE(srn_gro_wanted) && list_empty(held))
		return take_alone(skb, NULL);
	return receive(sk, held, skb);
}
EXPORT_SYMBOL_IF_KUNIT(srn_gro_receive);
