// SPDX-License-Identifier: GPL-2.0-only
/* Pad, ICRC, UDP, IP, and out. */
#include "xmit.h"

#include <kunit/visibility.h>
#include <linux/cpumask.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/udp.h>

#include "device.h"
#include "head.h"
#include "icrc.h"
#include "opcode.h"
#include "path.h"
#include "payer.h"
#include "trace.h"
#include "wire.h"

/* Payload is padded to four bytes; the count stands in the BTH. */
static u8 set_pad(struct sk_buff *skb)
{
	struct srn_bth *bth = (struct srn_bth *)skb->data;
	u8 pad = -skb->len & 3;

	bth->flags |= u8_encode_bits(pad, SRN_BTH_PAD);
	return pad;
}

/* Pad and ICRC behind payload in page fragments: a fragment of their own. */
static void *trailer_frag(struct sk_buff *skb, unsigned int len)
{
	void *p;

	if (skb_shinfo(skb)->nr_frags == MAX_SKB_FRAGS)
		return NULL;
	p = srn_head_cut(SMP_CACHE_BYTES);
	if (!p)
		return NULL;
	skb_add_rx_frag(skb, skb_shinfo(skb)->nr_frags, virt_to_page(p), offset_in_page(p), len,
			SMP_CACHE_BYTES);
	return p;
}

void *srn_xmit_trailer(struct sk_buff *skb, unsigned int len)
{
	return skb_is_nonlinear(skb) ? trailer_frag(skb, len) : skb_put(skb, len);
}

static void put_udp(struct sk_buff *skb, const struct srn_path *path)
{
	struct udphdr *udp = udp_hdr(skb);

	udp->source = path->sport;
	udp->dest = htons(SRN_UDP_PORT);
	udp->len = htons(skb->len - skb_transport_offset(skb));
	udp->check = 0;		/* the ICRC covers more (annex A17.4.5.1) */
}

/* A packet alone has id 0: it is an atomic datagram (RFC 6864), never fragmented. In a
 * train the stack counts on from there.
 */
static void put_ip4(struct sk_buff *skb, const struct srn_path *path, u8 ecn, u16 id)
{
	struct iphdr *ip = ip_hdr(skb);

	*ip = path->v4;
	ip->tos |= ecn;
	ip->tot_len = htons(skb->len);
	ip->id = htons(id);
	skb->protocol = htons(ETH_P_IP);
}

static void put_ip6(struct sk_buff *skb, const struct srn_path *path, u8 ecn)
{
	struct ipv6hdr *ip = ipv6_hdr(skb);

	ip6_flow_hdr(ip, path->tos | ecn, path->flow_label);
	ip->payload_len = htons(skb->len - sizeof(*ip));
	ip->nexthdr = IPPROTO_UDP;
	ip->hop_limit = path->ttl;
	ip->saddr = path->v6.saddr;
	ip->daddr = path->v6.daddr;
	skb->protocol = htons(ETH_P_IPV6);
}

/* A mark is an order to send less data, so it is data that may be marked. CNPs and SACKs have
 * payload as well, but are no service's.
 */
static u8 ecn_of(const struct srn_path *path, u8 opcode)
{
	bool data = srn_opcodes[opcode].has_payload;

	return data && srn_opcode_svc(opcode) == SRN_SVC_RC ? path->ecn : 0;
}

void srn_xmit_wrap(const struct srn_path *path, struct sk_buff *skb, u16 id)
{
	u8 ecn = ecn_of(path, ((const struct srn_bth *)skb->data)->opcode);
	u32 ip_len = path->is_v6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);

	skb_push(skb, ip_len + sizeof(struct udphdr));
	skb_reset_network_header(skb);
	skb_set_transport_header(skb, ip_len);
	put_udp(skb, path);
	if (path->is_v6)
		put_ip6(skb, path, ecn);
	else
		put_ip4(skb, path, ecn, id);
}
EXPORT_SYMBOL_IF_KUNIT(srn_xmit_wrap);

bool srn_xmit_seal(struct srn_path *path, struct sk_buff *skb, u16 id)
{
	unsigned int trailer = set_pad(skb) + SRN_ICRC_SIZE;
	__le32 crc;
	u8 *end;

	trace_srn_tx(path->dev, skb, 1);
	end = srn_xmit_trailer(skb, trailer);
	if (!end) {
		srn_count(path->dev, SRN_CNT_TX_NOMEM);
		return false;
	}
	memset(end, 0, SRN_ICRC_SIZE);	/* the pad, of 3 bytes at most */
	srn_xmit_wrap(path, skb, id);
	/* Last: the headers are final now. */
	crc = srn_icrc_packet(skb, skb_network_header(skb), skb_transport_header(skb), path->is_v6);
	memcpy(end + trailer - SRN_ICRC_SIZE, &crc, SRN_ICRC_SIZE);
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(srn_xmit_seal);

void srn_xmit_steer(struct sk_buff *skb, u32 hash)
{
	__skb_set_sw_hash(skb, hash, true);
#ifdef CONFIG_XPS
	skb->sender_cpu = reciprocal_scale(hash, nr_cpu_ids) + 1;
#endif
}
EXPORT_SYMBOL_IF_KUNIT(srn_xmit_steer);

/* Each packet of it, where a route or netdev has become narrower than the path MTU of the connection.
 * The stack would refuse them as well, and tell this host by ICMP; which keeps to what it is told for
 * ten minutes, for all its sockets, if that is a route's own MTU or less than IPv4's 552 bytes. What fits the least
 * MTU of IPv4 fits IPv6's as well: a route narrower than that is one that somebody made so by hand.
 */
static bool fits(const struct sk_buff *skb, const struct dst_entry *dst)
{
	unsigned int mtu;

	if (skb->len <= IPV4_MIN_MTU)
		return true;
	mtu = dst_mtu(dst);
	return skb_is_gso(skb) ? skb_gso_validate_network_len(skb, mtu) : skb->len <= mtu;
}

static int send_ip(struct srn_path *path, struct sk_buff *skb)
{
	struct net *net = path->dev->net;

	/* The stack's own errors and the qdisc's NET_XMIT_* alike. */
	if (path->is_v6)
		return ip6_local_out(net, NULL, skb);
	return ip_local_out(net, NULL, skb);
}

void srn_xmit_routed(struct srn_path *path, struct sk_buff *skb, struct dst_entry *dst,
		     struct srn_payer *payer, unsigned int num, unsigned int bytes)
{
	struct srn_dev *dev = path->dev;

	if (!fits(skb, dst) || !srn_path_put_on(path, skb, dst)) {
		srn_count_add(dev, SRN_CNT_SEND_ERR, num);
		kfree_skb(skb);
		return;
	}
	if (payer)
		srn_payer_charge(payer, skb);
	skb->dev = skb_dst(skb)->dev;
	skb->priority = path->prio;
	srn_xmit_steer(skb, (__force u32)path->sport * 0x9e3779b1u);
	srn_count_packets(dev, SRN_CNT_SENT_PKTS, num, bytes);
	if (send_ip(path, skb))
		srn_count_add(dev, SRN_CNT_SEND_ERR, num);
}

void srn_xmit_sealed(struct srn_path *path, struct sk_buff *skb, struct srn_payer *payer,
		     unsigned int num, unsigned int bytes)
{
	struct dst_entry *dst = srn_path_dst(path);

	if (dst) {
		srn_xmit_routed(path, skb, dst, payer, num, bytes);
		return;
	}
	srn_count(path->dev, SRN_CNT_NO_ROUTE);
	kfree_skb(skb);
}

void srn_xmit(struct srn_path *path, struct sk_buff *skb, struct srn_payer *payer)
{
	unsigned int bytes;

	if (!srn_xmit_seal(path, skb, 0)) {
		kfree_skb(skb);
		return;
	}
	bytes = skb->len - skb_transport_offset(skb) - sizeof(struct udphdr);
	srn_xmit_sealed(path, skb, payer, 1, bytes);
}
EXPORT_SYMBOL_IF_KUNIT(srn_xmit);
