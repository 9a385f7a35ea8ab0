// SPDX-License-Identifier: GPL-2.0-only
/* Runs and packs on their way out. */
#include "run.h"

#include <kunit/visibility.h>
#include <linux/if_ether.h>
#include <linux/moduleparam.h>
#include <linux/netdevice.h>
#include <linux/udp.h>
#include <net/dst.h>
#include <net/sch_generic.h>

#include "egress.h"
#include "icrc.h"
#include "opcode.h"
#include "pack.h"
#include "path.h"
#include "run_cut.h"
#include "stats.h"
#include "trace.h"
#include "train.h"
#include "xmit.h"

bool srn_run_stopped;
EXPORT_SYMBOL_IF_KUNIT(srn_run_stopped);

static bool runs = true;
module_param(runs, bool, 0644);
MODULE_PARM_DESC(runs, "send a message as one skb where the netdev takes it, or where the stack would cut it anyway (default: yes)");

/* What takes it whole. */
#define NEEDS	(NETIF_F_SG | NETIF_F_GSO_UDP_TUNNEL | NETIF_F_GSO_FRAGLIST)

/* lo cuts each tunnel's datagram, but a datagram by itself may be as long as a run is. So there a
 * run has none of what the stack cuts by, and is known by the rest (srn_run_arrived()).
 */
static bool is_lo(const struct dst_entry *dst)
{
	return dst->dev->flags & IFF_LOOPBACK;
}

/* Filters and actions, clsact's and BPF's. */
static bool has_hooks(const struct net_device *ndev)
{
#ifdef CONFIG_NET_XGRESS
	return rcu_access_pointer(ndev->tcx_ingress) || rcu_access_pointer(ndev->tcx_egress);
#else
	return false;
#endif
}

/* What stands in a queue's place there, or in front of it, could damage a run, which nobody cuts
 * any more and which has no ICRC.
 */
static bool passes_whole(const struct net_device *ndev)
{
	return !rcu_dereference_bh(netdev_get_tx_queue(ndev, 0)->qdisc)->enqueue &&
	       !has_hooks(ndev);
}

static bool route_takes_whole(struct srn_path *path, const struct dst_entry *dst)
{
	const struct net_device *ndev = dst->dev;

	if (!srn_egress_couples(path->dev, dst))
		return false;
	return is_lo(dst) ? passes_whole(ndev) :
			    (ndev->features & ndev->hw_enc_features & NEEDS) == NEEDS;
}

/* What takes no list of packets, as no NIC's driver does, nor do some netdevs of tunnels: the stack would cut
 * a train in front of it, too, and until then a run is one skb. But a train's ICRCs were made in its sender's
 * time, and those of a run are in that of who has the queue: where that takes long, others wait.
 */
static bool route_cuts(struct srn_path *path, const struct dst_entry *dst)
{
	return !(dst->dev->features & NETIF_F_GSO_FRAGLIST) && srn_egress_couples(path->dev, dst) &&
	       !is_lo(dst) && srn_icrc_has_sections();
}

/* For payload, of what the netdev takes at once. */
static u32 room(const struct dst_entry *dst, bool is_v6)
{
	return min_t(u32, SRN_RUN_BYTES, srn_egress_room(dst, is_v6, is_lo(dst)));
}

/* Runs of one length: 16 packets are two of eight, not one of 15 and a packet alone. */
static u32 share(u32 num, u32 most)
{
	return DIV_ROUND_UP(num, DIV_ROUND_UP(num, most));
}

static bool is_wanted(void)
{
	return READ_ONCE(runs) && !READ_ONCE(srn_run_stopped);
}

/* The route is looked up once: it may have gone by the next time. */
u32 srn_run_packets(struct srn_path *path, u32 num, u32 each, bool *whole)
{
	const struct dst_entry *dst;
	u32 most = 1;
	bool takes_whole;

	*whole = false;
	if (num < 2 || !is_wanted())
		return 1;
	dst = srn_path_dst(path);
	if (!dst)
		return 1;
	takes_whole = route_takes_whole(path, dst);
	if (takes_whole || route_cuts(path, dst))
		most = min3(room(dst, path->is_v6) / each, (u32)SRN_RUN_MAX, srn_egress_packets(dst));
	most = share(num, max(most, 1u));
	*whole = takes_whole && most > 1;
	return most;
}
EXPORT_SYMBOL_IF_KUNIT(srn_run_packets);

bool srn_run_is_whole(struct srn_path *path, u32 num, u32 each)
{
	bool whole;

	srn_run_packets(path, num, each, &whole);
	return whole;
}
EXPORT_SYMBOL_IF_KUNIT(srn_run_is_whole);

u32 srn_run_messages(struct srn_path *path)
{
	struct dst_entry *dst = is_wanted() ? srn_path_dst(path) : NULL;
	u32 most = 1;

	if (!dst)
		return 1;
	if (route_takes_whole(path, dst) && room(dst, path->is_v6) >= SRN_PACK_BYTES)
		most = min_t(u32, srn_egress_packets(dst), SRN_PACK_MAX);
	return most;
}

/* nft's chains at the netdev, which may copy it elsewhere. */
static bool has_chains(const struct net_device *ndev)
{
	bool ingress = false, egress = false;

#ifdef CONFIG_NETFILTER_INGRESS
	ingress = rcu_access_pointer(ndev->nf_hooks_ingress);
#endif
#ifdef CONFIG_NETFILTER_EGRESS
	egress = rcu_access_pointer(ndev->nf_hooks_egress);
#endif
	return ingress || egress;
}

/* Captures, which are to show what is said. One that begins while it is on its way sees its headers. */
static bool is_watched(struct net_device *ndev)
{
	return dev_nit_active(ndev) || !list_empty(&ndev->ptype_specific) ||
	       rcu_access_pointer(ndev->xdp_prog) || has_chains(ndev);
}

u32 srn_run_bare_packets(struct srn_path *path, u32 num)
{
	struct dst_entry *dst;

	if (num < 2 || !is_wanted())
		return 1;
	dst = srn_path_dst(path);
	if (!dst || !is_lo(dst) || !route_takes_whole(path, dst) || is_watched(dst->dev))
		return 1;
	return share(num, min_t(u32, SRN_RUN_MAX, srn_egress_packets(dst)));
}
EXPORT_SYMBOL_IF_KUNIT(srn_run_bare_packets);

void srn_run_put(struct sk_buff *skb, const struct srn_path *path, const struct srn_run *run)
{
	struct srn_run *to = skb_put_data(skb, run, sizeof(*run));

	to->magic = SRN_RUN_MAGIC;
	to->flags |= path->is_v6 ? SRN_PKT_V6 : 0;
	skb_shinfo(skb)->gso_segs = run->num;
}
EXPORT_SYMBOL_IF_KUNIT(srn_run_put);

/* Inside of the datagram begins at the BTH, whatever the stack calls that. A qdisc takes it for what
 * it is and, for each packet but the first, the headers up to the inner transport header. @missing:
 * more of each than IP and UDP are not there yet.
 */
static void set_inner(struct sk_buff *skb, u32 missing)
{
	skb->encapsulation = 1;
	skb_set_inner_protocol(skb, htons(ETH_P_IBOE));
	skb_reset_inner_mac_header(skb);
	skb_reset_inner_network_header(skb);
	skb_set_inner_transport_header(skb, missing);
}

/* From BTH to ICRC, of the packet that has most: the first, or a last one with a word more. */
static u32 longest(const struct srn_run_cut *cut)
{
	u32 last = cut->len - (cut->run.num - 1) * cut->run.each;

	return max(cut->hdr_len + cut->run.each,
		   srn_opcode_hdr_len(cut->run.opcode) + ALIGN(last, 4)) + SRN_ICRC_SIZE;
}

/* How the stack cuts it, or, on lo, that it has nothing to cut. */
static void set_gso(struct sk_buff *skb, u32 num, u32 size, bool on_lo)
{
	struct skb_shared_info *info = skb_shinfo(skb);

	info->gso_type = on_lo ? 0 : SRN_RUN_GSO_TYPE;
	info->gso_size = on_lo ? 0 : size;
	info->gso_segs = on_lo ? 0 : num;
}

/* The checksum is 0 and stays it: level 1, since UDP takes one off. */
static void set_summed(struct sk_buff *skb)
{
	skb_shinfo(skb)->flags |= SKBFL_SHARED_FRAG;
	skb->ip_summed = CHECKSUM_UNNECESSARY;
	skb->csum_level = 1;
}

static u32 bytes_of(const struct srn_run_cut *cut)
{
	return srn_run_cut_bytes(cut->bth.opcode, cut->run.opcode, cut->run.num, cut->len);
}

/* Of @num packets, on a wire: the longest, and all. */
struct lengths {
	u32 num;
	u32 longest;
	u32 bytes;
	u32 missing;	/* of each but the first, bytes of BTH and ICRC (of a pack: its BTH) that the skb has not */
};

/* Returns false if it had no way to go. */
static bool leave(struct srn_path *path, struct sk_buff *skb, const struct lengths *lengths,
		  struct srn_payer *payer)
{
	struct dst_entry *dst = srn_path_dst(path);

	if (!dst) {
		srn_count(path->dev, SRN_CNT_NO_ROUTE);
		kfree_skb(skb);
		return false;
	}
	trace_srn_tx(path->dev, skb, lengths->num);
	set_inner(skb, lengths->missing);
	set_summed(skb);
	/* Up to the inner transport header they are headers, and not of this length. */
	set_gso(skb, lengths->num, lengths->longest - lengths->missing, is_lo(dst));
	srn_xmit_wrap(path, skb, 0);
	srn_count(path->dev, SRN_CNT_SENT_TRAINS);
	srn_count(path->dev, SRN_CNT_SENT_RUNS);
	srn_xmit_routed(path, skb, dst, payer, lengths->num, lengths->bytes);
	return true;
}

u32 srn_run_xmit(struct srn_path *path, struct sk_buff *skb, struct srn_payer *payer)
{
	struct lengths lengths;
	struct srn_run_cut cut __uninitialized;

	if (WARN_ON_ONCE(!srn_run_cut_begin(&cut, skb, 0))) {
		kfree_skb(skb);
		return 0;
	}
	lengths = (struct lengths){
		.num = cut.run.num, .longest = longest(&cut), .bytes = bytes_of(&cut),
		.missing = sizeof(struct srn_bth) + SRN_ICRC_SIZE,
	};
	if (!leave(path, skb, &lengths, payer))
		return 0;
	if (srn_run_cut_is_bare(&cut))
		srn_count(path->dev, SRN_CNT_SENT_BARE);
	return lengths.bytes;
}
EXPORT_SYMBOL_IF_KUNIT(srn_run_xmit);

void srn_run_leave_pack(struct srn_pack *pack, struct srn_train *train, struct srn_path *path)
{
	struct lengths lengths = {
		.num = pack->num, .longest = pack->longest, .bytes = pack->bytes,
		.missing = sizeof(struct srn_bth),
	};
	struct sk_buff *skb;

	srn_train_leave(train, path);
	skb = srn_pack_end(pack, path->is_v6);
	if (lengths.num > 1)
		leave(path, skb, &lengths, train->payer);
	else
		srn_xmit(path, skb, train->payer);
}
EXPORT_SYMBOL_IF_KUNIT(srn_run_leave_pack);

void srn_run_or_train(struct srn_train *train, struct srn_path *path, struct sk_buff *skb,
		      bool follows)
{
	u32 num, bytes;

	if (!srn_run_is_built(skb)) {
		srn_train_add(train, path, skb, follows);
		return;
	}
	num = skb_shinfo(skb)->gso_segs;
	srn_train_leave(train, path);
	bytes = srn_run_xmit(path, skb, train->payer);
	if (bytes)
		srn_train_charge(train, path, num, bytes);
}

static struct packet_offload offload __read_mostly = {
	.type = htons(ETH_P_IBOE),
	.callbacks = {
		.gso_segment = srn_run_segment,
	},
};

void srn_run_init(void)
{
	dev_add_offload(&offload);
}

/* Waits for those that are in it. */
void srn_run_exit(void)
{
	dev_remove_offload(&offload);
}
