/* SPDX-License-Identifier: GPL-2.0-only */
/* A link: one ib_device on one netdev. */
#ifndef SRN_DEVICE_H
#define SRN_DEVICE_H

#include <linux/list.h>
#include <linux/netdevice.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include <rdma/srn-abi.h>

#include "cc.h"
#include "limits.h"
#include "mem.h"
#include "stats.h"
#include "vector.h"

struct srn_gid_table;
struct srn_net;
struct srn_qp_ref;

struct srn_dev {
	struct ib_device ibdev;
	struct net_device *ndev;	/* valid until the device is unregistered */
	struct net *net;		/* netns of ndev; a device does not outlive it */
	struct srn_net *snet;		/* sockets */
	struct list_head node;		/* in snet->devs, RCU */
	struct srn_stats __percpu *stats;
	struct srn_cc_params cc;	/* written at any time (knob.c) */
	struct srn_mem_table mems;
	struct xarray avs;		/* index -> struct srn_av, RCU */
	u32 av_next[2];
	struct xarray tallies;		/* counter's id -> struct srn_tally */
	struct srn_gid_table __rcu *gids;
	struct mutex gid_lock;		/* writers of gids and gid_next */
	unsigned long gid_next;
	struct srn_qp_ref __rcu *gsi;	/* QP1 */
	atomic_long_t rxq_bytes;	/* truesize of what waits for QPs; at most SRN_DEV_RXQ_BYTES */
	atomic_long_t hold_bytes;	/* truesize of what is held; see limits.h */
	atomic_long_t known_bytes;	/* of these, of what is known of what peers hold: nobody lets go of it */
	struct srn_vectors vectors;
	atomic_t num_qps;
	atomic_t num_cqs;
	atomic_t num_srqs;
	u32 srqn_next;
	u64 egress_seen[SRN_EGRESS_SEEN];	/* egress.c: which netdevs' queues, when, and what they are */
	u32 mbps;			/* of the netdev, as query_port found it last; 0: unknown */
	struct list_head link;		/* in the list of all links, RCU */
	netdevice_tracker ndev_tracker;
	u8 rota;			/* enum srn_rota_when (rota.h); written at any time (knob.c) */
	bool spread;			/* very long paths (spread.h), likewise */
	bool port_up;			/* as last announced; RTNL */
};

static inline struct srn_dev *to_srn_dev(struct ib_device *ibdev)
{
	return container_of(ibdev, struct srn_dev, ibdev);
}

/* Bytes of a device's memory that QPs share. */
struct srn_share {
	long all;		/* of the device */
	long full;		/* of a QP, */
	long scarce;		/* where half of @all is taken, */
	long most;		/* and, at most and at least, where all is */
	long least;
};

/**
 * srn_dev_share() - how much a QP may take while all together have taken @taken
 *
 * A few QPs can't take all, and a program that has many gets no more than the device has twice:
 * where all is taken each has its part of as much again, so that it is not refused for what
 * others hold.
 */
long srn_dev_share(const struct srn_dev *dev, const struct srn_share *share, long taken);

/** srn_dev_sum_held() - bytes of requests that are held, of all devices */
long srn_dev_sum_held(void);

/** srn_dev_mtu() - largest path MTU (enum ib_mtu) that the netdev's MTU carries */
enum ib_mtu srn_dev_mtu(const struct net_device *ndev);

/** srn_dev_put() - ib_device_ops.dealloc_driver: all that srn_dev_add() took */
void srn_dev_put(struct ib_device *ibdev);

/** srn_dev_enabled() - ib_device_ops.enable_driver: the core shows the device, or shows it again */
int srn_dev_enabled(struct ib_device *ibdev);

/** srn_dev_port_is_up() - whether packets can leave: administratively up, with carrier */
bool srn_dev_port_is_up(const struct net_device *ndev);

/** srn_dev_update_port() - announce the port's state if it changed; RTNL */
void srn_dev_update_port(struct srn_dev *dev);

/** srn_dev_get_by_netdev() - the enabled link of a netdev, or NULL; ib_device_put() it */
struct srn_dev *srn_dev_get_by_netdev(const struct net_device *ndev);

/** srn_dev_find() - the link with this ib_device.index, or NULL; RCU read side */
struct srn_dev *srn_dev_find(u32 index);

/**
 * srn_dev_init() - once, before the first link
 * @ops: verbs of each device
 */
void srn_dev_init(const struct ib_device_ops *ops);

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
