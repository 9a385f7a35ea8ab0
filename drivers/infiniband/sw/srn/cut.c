// SPDX-License-Identifier: GPL-2.0-only
/* How this kernel cuts trains. One without "net: fix memory leak in skb_segment_list for GRO
 * packets" takes what the others hold off the head when it cuts, so that who paid for all gets
 * back only the head's part, and has no room any more after some trains. That can be found out:
 * by cutting one.
 */
#include "cut.h"

#include <kunit/visibility.h>
#include <linux/err.h>
#include <linux/skbuff.h>
#include <net/gso.h>

bool srn_cut_is_paid __read_mostly;
EXPORT_SYMBOL_IF_KUNIT(srn_cut_is_paid);

static struct sk_buff *trial_part(void)
{
	struct sk_buff *skb = alloc_skb(64, GFP_KERNEL);

	if (!skb)
		return NULL;
	skb_put_zero(skb, 32);
	skb_reset_mac_header(skb);
	skb_reset_network_header(skb);
	skb_reset_transport_header(skb);
	return skb;
}

/* A train of two that nobody has paid for. */
static struct sk_buff *trial(void)
{
	struct sk_buff *head = trial_part(), *part = trial_part();

	if (!head || !part) {
		kfree_skb(head);
		kfree_skb(part);
		return NULL;
	}
	skb_shinfo(head)->frag_list = part;
	skb_shinfo(head)->gso_type = SKB_GSO_UDP_L4 | SKB_GSO_FRAGLIST;
	skb_shinfo(head)->gso_size = 32;
	head->len += part->len;
	head->data_len += part->len;
	head->truesize += part->truesize;
	SKB_GSO_CB(head)->mac_offset = skb_headroom(head);
	return head;
}

bool srn_cut_keeps(struct sk_buff *(*cut)(struct sk_buff *, netdev_features_t, unsigned int))
{
	struct sk_buff *head = trial(), *segments;
	unsigned int paid;
	bool keeps;

	if (!head)
		return false;
	paid = head->truesize;
	segments = cut(head, NETIF_F_SG | NETIF_F_FRAGLIST, 0);
	keeps = !IS_ERR(segments) && head->truesize == paid;
	if (!IS_ERR(segments))
		kfree_skb_list(segments);
	consume_skb(head);
	return keeps;
}
EXPORT_SYMBOL_IF_KUNIT(srn_cut_keeps);

void srn_cut_init(void)
{
	srn_cut_is_paid = srn_cut_keeps(skb_segment_list);
}
