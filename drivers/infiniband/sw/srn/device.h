/* SPDX-License-Identifier: GPL-2.0-only */
/* A link: one ib_device on one netdev. */
#ifndef SRN_DEVICE_H
#define SRN_DEVICE_H

#include <linux/list.h>
#include <linux/netdevice.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include <rdma/srn-abi.h>

#include "limits.h"
#include "mem.h"
#include "stats.h"

struct srn_net;
struct srn_qp_ref;

/* The addresses of a device, for packets that must be matched without the core's table lock. */
struct srn_gid {
	union ib_gid gid;		/* all zeros: unused */
	int ifindex;			/* of the netdev that has the address */
	u16 vlan;			/* of that netdev; 0xffff: none */
	unsigned long id;		/* unique in the device */
};

struct srn_gid_table {
	struct rcu_head rcu;
	unsigned int num;
	struct srn_gid gids[];
};

struct srn_dev {
	struct ib_device ibdev;
	struct net_device *ndev;	/* valid until the device is unregistered */
	struct net *net;		/* netns of ndev; a device does not outlive it */
	struct srn_net *snet;		/* sockets */
	struct list_head node;		/* in snet->devs, RCU */
	struct srn_stats __percpu *stats;
	struct srn_mem_table mems;
	struct xarray avs;		/* index -> struct srn_av, RCU */
	u32 av_next;
	struct srn_gid_table __rcu *gids;
	struct mutex gid_lock;		/* writers of gids and gid_next */
	unsigned long gid_next;
	struct srn_qp_ref __rcu *gsi;	/* QP1 */
	atomic_t num_qps;
	atomic_t num_cqs;
	atomic_t num_srqs;
	u32 srqn_next;
	struct list_head link;		/* in the list of all links, RCU */
	netdevice_tracker ndev_tracker;
	bool port_up;			/* as last announced; RTNL */
};

static inline struct srn_dev *to_srn_dev(struct ib_device *ibdev)
{
	return container_of(ibdev, struct srn_dev, ibdev);
}

/** srn_dev_has_gid() - whether @addr is one of the device's; IPv4 as ::ffff:a.b.c.d; any context */
bool srn_dev_has_gid(struct srn_dev *dev, const struct in6_addr *addr);

/** srn_dev_has_gid_on() - whether the netdev with index @ifindex has @addr as the device's; RCU */
bool srn_dev_has_gid_on(struct srn_dev *dev, const struct in6_addr *addr, int ifindex);

/**
 * srn_dev_gid_vlan() - VLAN of the netdev that has an address
 * @addr: one of the device's
 * @iif: netdev to prefer where several have it
 *
 * Return: VLAN id, or -1 where the netdev is none. RCU.
 */
int srn_dev_gid_vlan(struct srn_dev *dev, const struct in6_addr *addr, int iif);

/** srn_dev_mtu() - largest path MTU (enum ib_mtu) that the netdev's MTU carries */
enum ib_mtu srn_dev_mtu(const struct net_device *ndev);

/** srn_dev_put() - ib_device_ops.dealloc_driver: all that srn_dev_add() took */
void srn_dev_put(struct ib_device *ibdev);

/** srn_dev_port_is_up() - whether packets can leave: administratively up, with carrier */
bool srn_dev_port_is_up(const struct net_device *ndev);

/** srn_dev_update_port() - announce the port's state if it changed; RTNL */
void srn_dev_update_port(struct srn_dev *dev);

/* The core's GID table tells us what it holds: ib_device_ops, gid.c. */
int srn_add_gid(const struct ib_gid_attr *attr, void **context);
int srn_del_gid(const struct ib_gid_attr *attr, void **context);

/* Netdev events: netdev.c. */
int srn_netdev_init(void);
void srn_netdev_exit(void);

/** srn_dev_get_by_netdev() - the registered link of a netdev, or NULL; ib_device_put() it */
struct srn_dev *srn_dev_get_by_netdev(const struct net_device *ndev);

/**
 * srn_dev_add() - make and register a link
 * @name: of the device, as the user wants it
 * @ndev: netdev to use
 *
 * May sleep; RTNL not held. 0, -EEXIST where the netdev has a link already,
 * -EOPNOTSUPP where it carries no IP, -EADDRINUSE (see srn_net_get()), -ENODEV
 * where it is just going, or what registration failed with.
 */
int srn_dev_add(const char *name, struct net_device *ndev);

#endif
