// SPDX-License-Identifier: GPL-2.0-only
/* Pad, ICRC, UDP, IP, and out. */
#include "xmit.h"

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/udp.h>

#include "device.h"
#include "icrc.h"
#include "limits.h"
#include "path.h"
#include "recv.h"
#include "trace.h"
#include "wire.h"

/* Payload is padded to four bytes; the count stands in the BTH. */
static u8 set_pad(struct srn_bth *bth, unsigned int len)
{
	u8 pad = -len & 3;

	bth->flags |= u8_encode_bits(pad, SRN_BTH_PAD);
	return pad;
}

/* Pad and ICRC behind payload in page fragments: a fragment of their own. */
static void *trailer_frag(struct sk_buff *skb, unsigned int len)
{
	struct page *page;
	void *p;

	if (skb_shinfo(skb)->nr_frags == MAX_SKB_FRAGS)
		return NULL;
	p = napi_alloc_frag(SMP_CACHE_BYTES);
	if (!p)
		return NULL;
	page = virt_to_head_page(p);
	skb_add_rx_frag(skb, skb_shinfo(skb)->nr_frags, page, p - page_address(page), len,
			SMP_CACHE_BYTES);
	return p;
}

static void *add_trailer(struct sk_buff *skb, unsigned int len)
{
	return skb_is_nonlinear(skb) ? trailer_frag(skb, len) : skb_put(skb, len);
}

static void set_udp(struct udphdr *udp, const struct srn_path *path, unsigned int len)
{
	udp->source = path->sport;
	udp->dest = htons(SRN_UDP_PORT);
	udp->len = htons(len);
	udp->check = 0;		/* the ICRC covers more (annex A17.4.5.1) */
}

/* A packet alone has id 0: it is an atomic datagram (RFC 6864), never fragmented. In a
 * train the stack counts on from there.
 */
static void set_ip4(struct iphdr *ip, const struct srn_path *path, unsigned int len, u16 id)
{
	ip->version = 4;
	ip->ihl = sizeof(*ip) / 4;
	ip->tos = path->tos;
	ip->tot_len = htons(len);
	ip->id = htons(id);
	ip->frag_off = htons(IP_DF);
	ip->ttl = path->ttl;
	ip->protocol = IPPROTO_UDP;
	ip->check = 0;		/* ip_local_out() fills it in; not covered by the ICRC */
	ip->saddr = path->v4.saddr;
	ip->daddr = path->v4.daddr;
}

static void set_ip6(struct ipv6hdr *ip, const struct srn_path *path, unsigned int len)
{
	ip6_flow_hdr(ip, path->tos, path->flow_label);
	ip->payload_len = htons(len - sizeof(*ip));
	ip->nexthdr = IPPROTO_UDP;
	ip->hop_limit = path->ttl;
	ip->saddr = path->v6.saddr;
	ip->daddr = path->v6.daddr;
}

/* CRC state over the headers that a packet of @len bytes from the BTH on will have. */
static u32 crc_headers(const struct srn_path *path, const struct srn_bth *bth,
		       unsigned int len, u16 id)
{
	struct {
		struct udphdr udp;
		struct srn_bth bth;
	} rest;
	union {
		struct iphdr v4;
		struct ipv6hdr v6;
	} ip;

	static_assert(sizeof(rest) == sizeof(rest.udp) + sizeof(rest.bth));
	len += sizeof(rest.udp);
	set_udp(&rest.udp, path, len);
	rest.bth = *bth;
	if (path->is_v6)
		set_ip6(&ip.v6, path, sizeof(ip.v6) + len);
	else
		set_ip4(&ip.v4, path, sizeof(ip.v4) + len, id);
	return srn_icrc_hdr(&ip, &rest, path->is_v6);
}

static void push_headers(struct sk_buff *skb, const struct srn_path *path, u16 id)
{
	skb_push(skb, sizeof(struct udphdr));
	skb_reset_transport_header(skb);
	set_udp(udp_hdr(skb), path, skb->len);
	skb_push(skb, path->is_v6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr));
	skb_reset_network_header(skb);
	if (path->is_v6)
		set_ip6(ipv6_hdr(skb), path, skb->len);
	else
		set_ip4(ip_hdr(skb), path, skb->len, id);
	skb->protocol = path->is_v6 ? htons(ETH_P_IPV6) : htons(ETH_P_IP);
}

bool srn_xmit_seal(struct srn_path *path, struct sk_buff *skb, u16 id)
{
	struct srn_bth *bth = (void *)skb->data;
	unsigned int pad;
	__le32 crc;
	u8 *end;

	pad = set_pad(bth, skb->len);
	trace_srn_tx(path->dev, skb);
	end = add_trailer(skb, pad + SRN_ICRC_SIZE);
	if (!end) {
		srn_count(path->dev, SRN_CNT_TX_NOMEM);
		return false;
	}
	memset(end, 0, pad);
	crc = srn_icrc_final(srn_icrc_skb(crc_headers(path, bth, skb->len, id), skb, sizeof(*bth),
					  skb->len - sizeof(*bth) - SRN_ICRC_SIZE));
	memcpy(end + pad, &crc, SRN_ICRC_SIZE);
	push_headers(skb, path, id);
	return true;
}

static int send_ip(struct srn_path *path, struct sk_buff *skb)
{
	struct net *net = path->dev->net;

	/* The stack's own errors and the qdisc's NET_XMIT_* alike. */
	if (path->is_v6)
		return ip6_local_out(net, NULL, skb);
	return ip_local_out(net, NULL, skb);
}

static struct sock *owner(const struct srn_path *path)
{
	const struct srn_net *snet = path->dev->snet;

	return (path->is_v6 && snet->sock6 ? snet->sock6 : snet->sock4)->sk;
}

bool srn_xmit_has_room(const struct srn_path *path)
{
	return refcount_read(&owner(path)->sk_wmem_alloc) < SRN_UNSENT_BYTES;
}

void srn_xmit_sealed(struct srn_path *path, struct sk_buff *skb, unsigned int num,
		     unsigned int bytes)
{
	struct dst_entry *dst = srn_path_dst(path);
	struct srn_dev *dev = path->dev;

	if (!dst) {
		srn_count(dev, SRN_CNT_NO_ROUTE);
		kfree_skb(skb);
		return;
	}
	skb_dst_set(skb, dst);
	/* By the core's code, not ours: the packet may outlive this module. */
	if (path->paced)
		skb_set_owner_w(skb, owner(path));
	skb->dev = dst->dev;
	skb->priority = path->prio;
	/* Spreads QPs over queues and CPUs without dissecting the packet again. */
	__skb_set_sw_hash(skb, (__force u32)path->sport * 0x9e3779b1u, true);
	srn_count_add(dev, SRN_CNT_SENT_PKTS, num);
	srn_count_add(dev, SRN_CNT_SENT_BYTES, bytes);
	if (send_ip(path, skb))
		srn_count(dev, SRN_CNT_SEND_ERR);
}

void srn_xmit(struct srn_path *path, struct sk_buff *skb)
{
	unsigned int bytes;

	if (!srn_xmit_seal(path, skb, 0)) {
		kfree_skb(skb);
		return;
	}
	bytes = skb->len - skb_transport_offset(skb) - sizeof(struct udphdr);
	srn_xmit_sealed(path, skb, 1, bytes);
}
