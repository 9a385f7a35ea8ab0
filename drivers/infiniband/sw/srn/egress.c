// SPDX-License-Identifier: GPL-2.0-only
/* What the administrator says of a netdev's segmentation, and which queues it has. */
#include "egress.h"

#include <kunit/visibility.h>
#include <linux/hashtable.h>
#include <linux/jiffies.h>
#include <linux/netdevice.h>
#include <linux/string.h>
#include <net/dst.h>
#include <net/sch_generic.h>

#include "build.h"
#include "device.h"

/* In front of the payload, at most: all layers, and what says how it is cut. */
#define HEADERS	256

#define QDISCS	1024

/* Whoever has turned segmentation offload off wants to see packets, and so does who has turned gathering off, without
 * which the kernel takes segmentation away. But that a netdev can't gather is nobody's wish: virtio can't without
 * VIRTIO_NET_F_CSUM (QEMU's sockets and user networks), and neither can a VLAN on it. The stack cuts what comes there
 * all the same, into packets of one piece; but not what has a list, where the netdev says that it takes lists.
 */
static bool wants_packets(const struct net_device *ndev)
{
	bool may_gather;

	if (likely(ndev->features & NETIF_F_GSO))
		return false;
	may_gather = !(ndev->hw_features & NETIF_F_SG) || ndev->wanted_features & NETIF_F_SG;
	return !may_gather || !(ndev->wanted_features & NETIF_F_GSO) || ndev->features & NETIF_F_FRAGLIST;
}

/* And what the route puts in front of each must fit (see SRN_BUILD_LOWER): of transformations and light-weight
 * tunnels it does not say how much that is.
 */
bool srn_egress_fits(const struct dst_entry *dst)
{
	if (wants_packets(dst->dev) || dst->lwtstate || dst_xfrm(dst))
		return false;
	return LL_RESERVED_SPACE(dst->dev) + dst->header_len <= SRN_BUILD_LOWER;
}
EXPORT_SYMBOL_IF_KUNIT(srn_egress_fits);

static bool is_netem(const struct Qdisc *qdisc)
{
	return !memcmp(qdisc->ops->id, "netem", sizeof("netem"));
}

/* All but the root. Whoever owns the netdev makes as many as he likes: behind the most that are looked at there may
 * be one, and single packets are right in any case.
 */
static bool some_is_netem(const struct net_device *ndev)
{
#ifdef CONFIG_NET_SCHED
	const struct Qdisc *qdisc;
	unsigned int i, num = 0;

	hash_for_each_rcu(ndev->qdisc_hash, i, qdisc, hash)
		if (is_netem(qdisc) || ++num > QDISCS)
			return true;
#endif
	return false;
}

/* There may be as many as the netdev has rings, so they are not looked at for each skb, but once in a tick for all
 * QPs of a device. These mostly leave by one netdev, or by few (VLANs, macvlans, several routes), which were often
 * made one after the other.
 */
static bool some_was_netem(struct srn_dev *dev, const struct net_device *ndev)
{
	u64 *slot = &dev->egress_seen[ndev->ifindex % SRN_EGRESS_SEEN];
	u64 now = (u64)ndev->ifindex << 32 | (u32)jiffies << 1, seen = READ_ONCE(*slot);

	if ((seen & ~1ull) != now) {
		seen = now | some_is_netem(ndev);
		WRITE_ONCE(*slot, seen);
	}
	return seen & 1;
}

/* What netem loses, damages, doubles or delays is an skb: a packet, as on the wire that it stands
 * for. Who has no classes is no netem and has none below: what stands for no queue, as on lo, veth and most upper
 * netdevs, pfifo, fq. But mq, which most NICs have, and fq_codel do.
 */
static bool emulates(struct srn_dev *dev, const struct net_device *ndev)
{
	const struct Qdisc *root = rcu_dereference_bh(ndev->qdisc);

	return root->ops->cl_ops && (is_netem(root) || some_was_netem(dev, ndev));
}

bool srn_egress_couples(struct srn_dev *dev, const struct dst_entry *dst)
{
	return srn_egress_fits(dst) && srn_egress_packets(dst) > 1 && !emulates(dev, dst->dev);
}
EXPORT_SYMBOL_IF_KUNIT(srn_egress_couples);

u32 srn_egress_packets(const struct dst_entry *dst)
{
	return max(READ_ONCE(dst->dev->gso_max_segs), 1u);
}

u32 srn_egress_room(const struct dst_entry *dst, bool is_v6, bool uncut_by_mtu)
{
	const struct net_device *ndev = dst->dev;
	u32 most = is_v6 ? READ_ONCE(ndev->gso_max_size) : READ_ONCE(ndev->gso_ipv4_max_size);

	if (uncut_by_mtu)
		most = min(most, dst_mtu(dst));
	return most - min_t(u32, most, HEADERS);
}
EXPORT_SYMBOL_IF_KUNIT(srn_egress_room);
