/* SPDX-License-Identifier: GPL-2.0-only */
/* The addresses of a device, for packets that must be matched without the core's table lock. */
#ifndef SRN_GID_H
#define SRN_GID_H

#include <rdma/ib_verbs.h>

struct in6_addr;
struct srn_dev;

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

/** srn_dev_has_gid() - whether @addr is one of the device's; IPv4 as ::ffff:a.b.c.d; any context */
bool srn_dev_has_gid(struct srn_dev *dev, const struct in6_addr *addr);

/* What srn_dev_match_gid() finds. */
enum srn_gid_match {
	SRN_GID_NONE,
	SRN_GID_KNOWN,
	SRN_GID_HERE,		/* the netdev in question has it */
};

/** srn_dev_match_gid() - whether the device has @addr, and by netdev @ifindex; RCU */
enum srn_gid_match srn_dev_match_gid(struct srn_dev *dev, const struct in6_addr *addr,
				     int ifindex);

/**
 * srn_dev_gid_vlan() - VLAN of the netdev that has an address
 * @addr: one of the device's
 * @iif: netdev to prefer where several have it
 *
 * Return: VLAN id, or -1 where the netdev is none. RCU.
 */
int srn_dev_gid_vlan(struct srn_dev *dev, const struct in6_addr *addr, int iif);

/* ib_device_ops: the core's GID table tells us what it holds. */
int srn_add_gid(const struct ib_gid_attr *attr, void **context);
int srn_del_gid(const struct ib_gid_attr *attr, void **context);

#endif
