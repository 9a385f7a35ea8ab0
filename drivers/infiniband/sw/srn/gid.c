// SPDX-License-Identifier: GPL-2.0-only
/* The addresses of a device: a copy of the core's GID table that softirqs read
 * without its lock.
 */
#include "gid.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/if_vlan.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <rdma/ib_cache.h>

#include "device.h"

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

/* Fills what the softirqs need; false for an address of another namespace, as a
 * VLAN that was moved there has: its packets do not come by our sockets.
 */
static bool describe(const struct srn_dev *dev, const struct ib_gid_attr *attr,
		     struct srn_gid *g)
{
	struct net_device *ndev;
	bool ours;

	g->gid = attr->gid;
	rcu_read_lock();
	ndev = rcu_dereference(attr->ndev);
	ours = ndev && net_eq(dev_net(ndev), dev->net);
	if (ours)
		g->ifindex = ndev->ifindex;
	rcu_read_unlock();
	return ours && !rdma_read_gid_l2_fields(attr, &g->vlan, NULL);
}

/* @context tells the entries apart: several uppers may have one address. */
static int add_entry(struct srn_dev *dev, const struct srn_gid *g, void **context)
{
	struct srn_gid_table *old = current_table(dev), *new = copy_table(old);
	struct srn_gid *entry;

	if (!new)
		return -ENOMEM;
	entry = &new->gids[new->num++];
	*entry = *g;
	entry->id = ++dev->gid_next;
	*context = (void *)entry->id;
	rcu_assign_pointer(dev->gids, new);
	if (old)
		kfree_rcu(old, rcu);
	return 0;
}

int srn_add_gid(const struct ib_gid_attr *attr, void **context)
{
	struct srn_dev *dev = to_srn_dev(attr->device);
	struct srn_gid g = {};
	int err;

	*context = NULL;
	if (!describe(dev, attr, &g))
		return 0;
	mutex_lock(&dev->gid_lock);
	err = add_entry(dev, &g, context);
	mutex_unlock(&dev->gid_lock);
	return err;
}

int srn_del_gid(const struct ib_gid_attr *attr, void **context)
{
	struct srn_dev *dev = to_srn_dev(attr->device);
	struct srn_gid_table *table;
	unsigned int i;

	mutex_lock(&dev->gid_lock);
	table = current_table(dev);
	/* In place, so that it cannot fail. A reader that sees half of it takes
	 * an address for unknown, or one that nobody has for known; the next
	 * addition closes the hole.
	 */
	for (i = 0; *context && table && i < table->num; i++)
		if (table->gids[i].id == (unsigned long)*context)
			memset(&table->gids[i].gid, 0, sizeof(table->gids[i].gid));
	mutex_unlock(&dev->gid_lock);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_del_gid);

/* The entry of an address, preferably that of netdev @iif. RCU read side. */
static const struct srn_gid *find(struct srn_dev *dev, const struct in6_addr *addr, int iif)
{
	const struct srn_gid_table *table = rcu_dereference(dev->gids);
	const struct srn_gid *found = NULL;
	unsigned int i;

	if (!table || ipv6_addr_any(addr))
		return NULL;
	for (i = 0; i < table->num; i++) {
		const struct srn_gid *g = &table->gids[i];

		if (!ipv6_addr_equal((const struct in6_addr *)&g->gid, addr))
			continue;
		if (g->ifindex == iif)
			return g;
		found = found ?: g;
	}
	return found;
}

bool srn_dev_has_gid(struct srn_dev *dev, const struct in6_addr *addr)
{
	bool found;

	rcu_read_lock();
	found = find(dev, addr, 0);
	rcu_read_unlock();
	return found;
}
EXPORT_SYMBOL_IF_KUNIT(srn_dev_has_gid);

enum srn_gid_match srn_dev_match_gid(struct srn_dev *dev, const struct in6_addr *addr,
				     int ifindex)
{
	const struct srn_gid *g = find(dev, addr, ifindex);

	if (!g)
		return SRN_GID_NONE;
	return g->ifindex == ifindex ? SRN_GID_HERE : SRN_GID_KNOWN;
}
EXPORT_SYMBOL_IF_KUNIT(srn_dev_match_gid);

int srn_dev_gid_vlan(struct srn_dev *dev, const struct in6_addr *addr, int iif)
{
	const struct srn_gid *g = find(dev, addr, iif);

	return g && g->vlan < VLAN_N_VID ? g->vlan : -1;
}
EXPORT_SYMBOL_IF_KUNIT(srn_dev_gid_vlan);
