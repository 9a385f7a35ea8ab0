// SPDX-License-Identifier: GPL-2.0-only
/* The addresses of a device: a copy of the core's GID table that softirqs read
 * without its lock.
 */
#include "device.h"

#include <linux/if_vlan.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <rdma/ib_cache.h>

static struct srn_gid_table *current_table(struct srn_dev *dev)
{
	return rcu_dereference_protected(dev->gids, lockdep_is_held(&dev->gid_lock));
}

static bool is_used(const struct srn_gid *g)
{
	return !rdma_is_zero_gid(&g->gid);
}

/* A copy without holes, with room for one more. */
static struct srn_gid_table *copy_table(const struct srn_gid_table *old)
{
	unsigned int room = (old ? old->num : 0) + 1;
	struct srn_gid_table *new = kzalloc(struct_size(new, gids, room), GFP_KERNEL);
	unsigned int i;

	if (!new || !old)
		return new;
	for (i = 0; i < old->num; i++)
		if (is_used(&old->gids[i]))
			new->gids[new->num++] = old->gids[i];
	return new;
}

static int ifindex_of(const struct ib_gid_attr *attr)
{
	struct net_device *ndev;
	int ifindex;

	rcu_read_lock();
	ndev = rcu_dereference(attr->ndev);
	ifindex = ndev ? ndev->ifindex : 0;
	rcu_read_unlock();
	return ifindex;
}

int srn_add_gid(const struct ib_gid_attr *attr, void **context)
{
	struct srn_dev *dev = to_srn_dev(attr->device);
	struct srn_gid_table *old, *new;
	struct srn_gid *g;

	mutex_lock(&dev->gid_lock);
	old = current_table(dev);
	new = copy_table(old);
	if (!new) {
		mutex_unlock(&dev->gid_lock);
		return -ENOMEM;
	}
	g = &new->gids[new->num++];
	g->gid = attr->gid;
	g->ifindex = ifindex_of(attr);
	rcu_assign_pointer(dev->gids, new);
	mutex_unlock(&dev->gid_lock);
	if (old)
		kfree_rcu(old, rcu);
	return 0;
}

/* Several uppers may have the same address: the entry of this one goes. */
static struct srn_gid *find(struct srn_gid_table *table, const struct ib_gid_attr *attr)
{
	int ifindex = ifindex_of(attr);
	struct srn_gid *match = NULL;
	unsigned int i;

	for (i = 0; table && i < table->num; i++) {
		struct srn_gid *g = &table->gids[i];

		if (memcmp(&g->gid, &attr->gid, sizeof(g->gid)))
			continue;
		match = g;
		if (g->ifindex == ifindex)
			break;
	}
	return match;
}

int srn_del_gid(const struct ib_gid_attr *attr, void **context)
{
	struct srn_dev *dev = to_srn_dev(attr->device);
	struct srn_gid *g;

	mutex_lock(&dev->gid_lock);
	g = find(current_table(dev), attr);
	/* In place, so that it cannot fail. A reader that sees half of it takes
	 * an address for unknown, or one that nobody has for known; the next
	 * addition closes the hole.
	 */
	if (g)
		memset(&g->gid, 0, sizeof(g->gid));
	mutex_unlock(&dev->gid_lock);
	return 0;
}

bool srn_dev_has_gid(struct srn_dev *dev, const struct in6_addr *addr)
{
	const struct srn_gid_table *table;
	bool found = false;
	unsigned int i;

	if (ipv6_addr_any(addr))
		return false;
	rcu_read_lock();
	table = rcu_dereference(dev->gids);
	for (i = 0; table && i < table->num && !found; i++)
		found = ipv6_addr_equal((const struct in6_addr *)&table->gids[i].gid, addr);
	rcu_read_unlock();
	return found;
}

static int gid_ifindex(struct srn_dev *dev, const struct in6_addr *addr, int iif)
{
	const struct srn_gid_table *table = rcu_dereference(dev->gids);
	int ifindex = 0;
	unsigned int i;

	for (i = 0; table && i < table->num; i++) {
		const struct srn_gid *g = &table->gids[i];

		if (!ipv6_addr_equal((const struct in6_addr *)&g->gid, addr))
			continue;
		if (g->ifindex == iif)
			return iif;
		ifindex = ifindex ?: g->ifindex;
	}
	return ifindex;
}

int srn_dev_gid_vlan(struct srn_dev *dev, const struct in6_addr *addr, int iif)
{
	int ifindex = gid_ifindex(dev, addr, iif);
	struct net_device *ndev = dev_get_by_index_rcu(dev->net, ifindex);

	return ndev && is_vlan_dev(ndev) ? vlan_dev_vlan_id(ndev) : -1;
}
