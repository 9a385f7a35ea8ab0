// SPDX-License-Identifier: GPL-2.0-only
/* A train is what GRO makes of a flow that it may not merge: SKB_GSO_FRAGLIST. No
 * hardware offers to cut those, so that the IP ids are counted up from 0 by the stack
 * and the ICRCs, which cover them, hold.
 */
#include "train.h"

#include <kunit/visibility.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/dst.h>

#include "cut.h"
#include "egress.h"
#include "pace.h"
#include "path.h"
#include "payer.h"
#include "stats.h"
#include "wire.h"
#include "xmit.h"

#define TRAIN_MAX	64	/* packets: as many as the stack takes from a program */
#define TRAIN_BYTES	61440	/* a datagram has less than 64 KiB */

/* A tunnel's checksum over all behind it is wrong on each packet of a train, where the netdev
 * below the tunnel leaves checksums to the stack. So a train says that it is inside of a tunnel
 * already: veth, bridges and the like take that, no tunnel's netdev does, and the stack cuts it
 * in front of those. Neither does lo, behind which there are none.
 */
unsigned int srn_train_gso_type(const struct dst_entry *dst)
{
	unsigned int type = SKB_GSO_UDP_L4 | SKB_GSO_FRAGLIST;

	return dst->dev->flags & IFF_LOOPBACK ? type : type | SKB_GSO_IPXIP4;
}
EXPORT_SYMBOL_IF_KUNIT(srn_train_gso_type);

/* What the route takes; @limits, which are none, stay so if that is no trains. */
static void ask_route(struct srn_path *path, struct srn_train_limits *limits)
{
	struct dst_entry *dst = srn_path_dst(path);

	if (!dst || !srn_egress_couples(path->dev, dst))
		return;
	limits->gso_type = srn_train_gso_type(dst);
	limits->packets = min_t(u32, TRAIN_MAX, srn_egress_packets(dst));
	limits->bytes = min_t(u32, TRAIN_BYTES, srn_egress_room(dst, path->is_v6, false));
}

static bool may_charge(const struct srn_train *train)
{
	return likely(srn_cut_is_paid) || !srn_payer_pays(train->payer);
}

static void append(struct srn_train *train, struct sk_buff *skb)
{
	struct sk_buff *head = train->head;

	/* The headers stay in front; who cuts the train will need them again. */
	__skb_pull(skb, skb_transport_offset(skb) + sizeof(struct udphdr));
	if (train->last)
		train->last->next = skb;
	else
		skb_shinfo(head)->frag_list = skb;
	train->last = skb;
	head->len += skb->len;
	head->data_len += skb->len;
	head->truesize += skb->truesize;
}

/* One datagram, as long as all of them. The checksum is 0 and stays it: level 1, since
 * UDP takes one off.
 */
static void couple(struct srn_train *train, const struct srn_path *path)
{
	struct skb_shared_info *info = skb_shinfo(train->head);
	struct sk_buff *head = train->head;

	info->gso_type = train->limits.gso_type;
	info->gso_size = train->len;
	info->gso_segs = train->num;
	info->flags |= SKBFL_SHARED_FRAG;
	head->ip_summed = CHECKSUM_UNNECESSARY;
	head->csum_level = 1;
	udp_hdr(head)->len = htons(head->len - skb_transport_offset(head));
	if (path->is_v6)
		ipv6_hdr(head)->payload_len = htons(head->len - sizeof(struct ipv6hdr));
	else
		ip_hdr(head)->tot_len = htons(head->len);
	srn_count(path->dev, SRN_CNT_SENT_TRAINS);
}

void srn_train_leave(struct srn_train *train, struct srn_path *path)
{
	struct sk_buff *head = train->head;

	if (!head)
		return;
	if (train->num > 1)
		couple(train, path);
	train->head = NULL;
	srn_xmit_sealed(path, head, train->payer, train->num, train->bytes);
}

void srn_train_charge(struct srn_train *train, const struct srn_path *path, u32 num, u32 bytes)
{
	if (train->pace)
		srn_pace_sent(train->pace, bytes + num * srn_path_overhead(path));
}

static bool has_room(const struct srn_train *train, u32 len)
{
	return len <= train->len && train->num < train->limits.packets &&
	       train->bytes + len <= train->limits.bytes;
}

void srn_train_add(struct srn_train *train, struct srn_path *path, struct sk_buff *skb,
		   bool follows)
{
	u32 len = ALIGN(skb->len, 4) + SRN_ICRC_SIZE;
	struct srn_train_limits limits = {};

	srn_train_charge(train, path, 1, len);
	if (train->head && !has_room(train, len))
		srn_train_leave(train, path);
	if (!train->head) {
		if (follows && may_charge(train))
			ask_route(path, &limits);
		if (!limits.gso_type) {
			srn_xmit(path, skb, train->payer);
			return;
		}
	}
	if (!srn_xmit_seal(path, skb, train->head ? train->num : 0)) {
		kfree_skb(skb);
		return;
	}
	if (train->head) {
		append(train, skb);
		train->num++;
		train->bytes += len;
	} else {
		*train = (struct srn_train){
			.head = skb, .len = len, .num = 1, .bytes = len,
			.limits = limits, .payer = train->payer, .pace = train->pace,
		};
	}
	if (!follows || len < train->len)
		srn_train_leave(train, path);
}
EXPORT_SYMBOL_IF_KUNIT(srn_train_add);
