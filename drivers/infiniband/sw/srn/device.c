// SPDX-License-Identifier: GPL-2.0-only
/* Links: making an ib_device on a netdev, and taking it down. */
#include "device.h"

#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/inetdevice.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>

#include "net.h"
#include "rota.h"
#include "wire.h"

static const struct ib_device_ops *dev_ops;

/* One netdev, one link: covers the question and the deed. */
static DEFINE_MUTEX(link_lock);

/* All links, registered or just not so yet or any more. */
static LIST_HEAD(links);
static DEFINE_SPINLOCK(links_lock);

/* RoCEv2 needs what UDP needs: a netdev that IP runs on. Others, as CAN, get a
 * clear answer here instead of a link that carries nothing.
 */
static bool carries_ip(const struct net_device *ndev)
{
	switch (ndev->type) {
	case ARPHRD_ETHER:
	case ARPHRD_LOOPBACK:
	case ARPHRD_NONE:
	case ARPHRD_RAWIP:
	case ARPHRD_PPP:
	case ARPHRD_TUNNEL:
	case ARPHRD_TUNNEL6:
	case ARPHRD_SIT:
	case ARPHRD_IPGRE:
	case ARPHRD_IP6GRE:
		return true;
	default:
		return false;
	}
}

long srn_dev_share(const struct srn_dev *dev, const struct srn_share *share, long taken)
{
	if (taken > share->all)
		return clamp(share->all / max(atomic_read(&dev->num_qps), 1), share->least,
			     share->most);
	return taken > share->all / 2 ? share->scarce : share->full;
}

long srn_dev_sum_held(void)
{
	const struct srn_dev *dev;
	long sum = 0;

	rcu_read_lock();
	list_for_each_entry_rcu(dev, &links, link)
		sum += max(atomic_long_read(&dev->hold_bytes) -
			   atomic_long_read(&dev->known_bytes), 0l);
	rcu_read_unlock();
	return sum;
}

enum ib_mtu srn_dev_mtu(const struct net_device *ndev)
{
	/* IPv6 has the larger header, and a path may use either; a WRITE with
	 * immediate has the most headers of those with payload.
	 */
	int room = (int)READ_ONCE(ndev->mtu) -
		   (int)(sizeof(struct ipv6hdr) + sizeof(struct udphdr) + sizeof(struct srn_bth) +
			 sizeof(struct srn_reth) + sizeof(struct srn_imm) + SRN_ICRC_SIZE);

	return ib_mtu_int_to_enum(room);	/* the largest not above, but at least 256 */
}

void srn_dev_init(const struct ib_device_ops *ops)
{
	dev_ops = ops;
}

bool srn_dev_port_is_up(const struct net_device *ndev)
{
	return netif_running(ndev) && netif_carrier_ok(ndev);
}

void srn_dev_update_port(struct srn_dev *dev)
{
	struct ib_event event = {
		.device = &dev->ibdev,
		.element.port_num = 1,
	};
	bool up = srn_dev_port_is_up(dev->ndev);

	if (up == dev->port_up)
		return;
	dev->port_up = up;
	if (!up)
		srn_count(dev, SRN_CNT_LINK_DOWNED);
	event.event = up ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR;
	ib_dispatch_event(&event);
}

/* EUI-64 of the MAC; a netdev without one gets a number for the life of the link. */
static __be64 make_guid(const struct net_device *ndev)
{
	__be64 guid = 0;

	if (ndev->addr_len == ETH_ALEN && !is_zero_ether_addr(ndev->dev_addr)) {
		addrconf_addr_eui48((u8 *)&guid, ndev->dev_addr);
		return guid;
	}
	do {
		guid = cpu_to_be64(get_random_u64());
	} while (!guid);
	return guid;
}

static void set_attributes(struct srn_dev *dev)
{
	struct ib_device *ibdev = &dev->ibdev;

	ibdev->node_type = RDMA_NODE_IB_CA;
	ibdev->phys_port_cnt = 1;
	ibdev->num_comp_vectors = dev->vectors.num;
	ibdev->local_dma_lkey = SRN_LOCAL_DMA_LKEY;
	ibdev->node_guid = make_guid(dev->ndev);
	strscpy(ibdev->node_desc, "srn", sizeof(ibdev->node_desc));

	/* No parent, as the other soft devices of the kernel: udev renames what
	 * hangs below a PCI device after its slot, and programs would take the
	 * NIC for an RDMA adapter. The mark tells rdma-core 53 and later that
	 * the name is the user's.
	 */
	ib_mark_name_assigned_by_user(ibdev);

	/* Where RDMA devices are private to a namespace, this one belongs to its
	 * netdev's. In shared mode the core keeps all of them in init_net.
	 */
	if (!rdma_dev_access_netns(ibdev, dev->net))
		write_pnet(&ibdev->coredev.rdma_net, dev->net);
}

static int node_of(const struct net_device *ndev)
{
	return ndev->dev.parent ? dev_to_node(ndev->dev.parent) : NUMA_NO_NODE;
}

static int init_tables(struct srn_dev *dev, const struct net_device *ndev)
{
	int err = srn_vectors_init(&dev->vectors, node_of(ndev));

	if (err)
		return err;
	dev->stats = alloc_percpu(struct srn_stats);
	if (!dev->stats)
		return -ENOMEM;
	srn_mem_table_init(&dev->mems);
	xa_init_flags(&dev->avs, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_IRQ);
	xa_init_flags(&dev->tallies, XA_FLAGS_ALLOC1);
	mutex_init(&dev->gid_lock);
	return 0;
}

static void destroy_tables(struct srn_dev *dev)
{
	kfree(rcu_dereference_protected(dev->gids, true));
	mutex_destroy(&dev->gid_lock);
	WARN_ON_ONCE(!xa_empty(&dev->tallies));
	xa_destroy(&dev->tallies);
	WARN_ON_ONCE(!xa_empty(&dev->avs));
	xa_destroy(&dev->avs);
	srn_mem_table_destroy(&dev->mems);
	free_percpu(dev->stats);
}

/* A device with everything but its registration; srn_dev_put() undoes it. */
static struct srn_dev *create(struct net_device *ndev, struct net *net)
{
	struct srn_dev *dev = ib_alloc_device(srn_dev, ibdev);
	int err;

	if (!dev)
		return ERR_PTR(-ENOMEM);
	err = init_tables(dev, ndev);
	if (err)
		goto err_dealloc;
	dev->net = net;
	dev->snet = srn_net_get(net);
	if (IS_ERR(dev->snet)) {
		err = PTR_ERR(dev->snet);
		goto err_tables;
	}
	dev->ndev = ndev;
	netdev_hold(ndev, &dev->ndev_tracker, GFP_KERNEL);
	dev->cc = srn_cc_defaults;
	dev->rota = SRN_ROTA_LOSSY;
	set_attributes(dev);
	srn_net_add_dev(dev->snet, dev);
	spin_lock(&links_lock);
	list_add_tail_rcu(&dev->link, &links);
	spin_unlock(&links_lock);
	ib_set_device_ops(&dev->ibdev, dev_ops);
	return dev;

err_tables:
	destroy_tables(dev);
err_dealloc:
	ib_dealloc_device(&dev->ibdev);	/* no ops yet: frees the memory only */
	return ERR_PTR(err);
}

void srn_dev_put(struct ib_device *ibdev)
{
	struct srn_dev *dev = to_srn_dev(ibdev);

	spin_lock(&links_lock);
	list_del_rcu(&dev->link);
	spin_unlock(&links_lock);
	srn_net_del_dev(dev->snet, dev);	/* waits for all who saw the device */
	srn_net_put(dev->snet);
	destroy_tables(dev);
	/* Last: the netdev's removal, and with it that of its parent and of its
	 * namespace, waits for this reference.
	 */
	netdev_put(dev->ndev, &dev->ndev_tracker);
}

struct srn_dev *srn_dev_get_by_netdev(const struct net_device *ndev)
{
	struct srn_dev *dev, *found = NULL;

	rcu_read_lock();
	list_for_each_entry_rcu(dev, &links, link) {
		if (dev->ndev == ndev && ib_device_try_get(&dev->ibdev)) {
			found = dev;
			break;
		}
	}
	rcu_read_unlock();
	return found;
}

struct srn_dev *srn_dev_find(u32 index)
{
	struct srn_dev *dev;

	list_for_each_entry_rcu(dev, &links, link)
		if (dev->ibdev.index == index)
			return dev;
	return NULL;
}

/* Also one that the core has disabled: it may be about to enable it again. */
static bool has_link(const struct net_device *ndev)
{
	struct srn_dev *dev;
	bool found = false;

	rcu_read_lock();
	list_for_each_entry_rcu(dev, &links, link)
		found |= dev->ndev == ndev;
	rcu_read_unlock();
	return found;
}

/* Whose addresses the core puts into the GID table: it counts VLANs to the
 * netdev that they are on, so a link on a VLAN has to name that one. It gets the
 * addresses of its neighbours by that, and carries them as well.
 */
static struct net_device *gid_netdev(struct net_device *ndev)
{
	return is_vlan_dev(ndev) ? vlan_dev_real_dev(ndev) : ndev;
}

/* Notifications of a netdev find no link that the core has not enabled yet, or disables to
 * move it to another namespace; from here on they do. What they would have said is asked for.
 */
int srn_dev_enabled(struct ib_device *ibdev)
{
	struct srn_dev *dev = to_srn_dev(ibdev);
	struct net_device *ndev = dev->ndev;

	rtnl_lock();
	if (ndev->reg_state == NETREG_REGISTERED && net_eq(dev_net(ndev), dev->net))
		srn_dev_update_port(dev);
	else
		ib_unregister_device_queued(ibdev);	/* no error: after a move none helps */
	rtnl_unlock();
	return 0;
}

static int add_link(const char *name, struct net_device *ndev, struct net *net)
{
	struct srn_dev *dev;
	int err;

	if (has_link(ndev))
		return -EEXIST;
	dev = create(ndev, net);
	if (IS_ERR(dev))
		return PTR_ERR(dev);
	dev->port_up = srn_dev_port_is_up(ndev);
	err = ib_device_set_netdev(&dev->ibdev, gid_netdev(ndev), 1);
	if (!err)
		err = ib_register_device(&dev->ibdev, name, NULL);
	if (err)
		ib_dealloc_device(&dev->ibdev);
	return err;
}

/* The namespace that the netdev is in, referenced; NULL where it is on its way out. */
static struct net *get_netns(const struct net_device *ndev)
{
	struct net *net;

	rtnl_lock();
	net = maybe_get_net(dev_net(ndev));
	rtnl_unlock();
	return net;
}

int srn_dev_add(const char *name, struct net_device *ndev)
{
	struct net *net;
	int err;

	if (!carries_ip(ndev))
		return -EOPNOTSUPP;
	net = get_netns(ndev);
	if (!net)
		return -ENODEV;
	mutex_lock(&link_lock);
	err = add_link(name, ndev, net);
	mutex_unlock(&link_lock);
	put_net(net);
	return err;
}
