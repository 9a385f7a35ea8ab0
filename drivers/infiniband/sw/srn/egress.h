/* SPDX-License-Identifier: GPL-2.0-only */
/* What the netdev that a route leaves by takes as one skb: several packets, or one by one. */
#ifndef SRN_EGRESS_H
#define SRN_EGRESS_H

#include <linux/types.h>

struct dst_entry;
struct srn_dev;

/** srn_egress_fits() - whether the stack may cut what leaves by @dst, as far as the route tells; for tests */
bool srn_egress_fits(const struct dst_entry *dst);

/**
 * srn_egress_couples() - whether packets may leave by @dst as one skb
 * @dev: whose packets
 * @dst: of srn_path_dst(), with BH disabled since
 *
 * Not where it is switched off (gso off, gso_max_segs 1), nor where a netem waits for packets: at
 * the root of the netdev's queues, which is looked at each time, or below it, as it was a tick ago
 * at most.
 */
bool srn_egress_couples(struct srn_dev *dev, const struct dst_entry *dst);

/** srn_egress_packets() - how many of them at most, as the netdev was told */
u32 srn_egress_packets(const struct dst_entry *dst);

/**
 * srn_egress_room() - for what is behind the headers, of what the netdev takes at once
 * @uncut_by_mtu: nobody cuts it, so that the MTU is a limit, too
 */
u32 srn_egress_room(const struct dst_entry *dst, bool is_v6, bool uncut_by_mtu);

#endif
