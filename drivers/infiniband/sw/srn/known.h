/* SPDX-License-Identifier: GPL-2.0-only */
/* How long paths are: the fastest answers that any connection of a protection domain had from an
 * address lately. One that begins behind a queue that others keep full never sees how long the way
 * is without. Not more widely shared: what one program's connections are told must not slow those of
 * another one.
 */
#ifndef SRN_KNOWN_H
#define SRN_KNOWN_H

#include <linux/in6.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "lately.h"
#include "rota.h"

#define SRN_KNOWN_BUCKETS	16

struct srn_path;
struct srn_turn;

/* What is known of one address, for as long as a connection has it. */
struct srn_known_path {
	struct hlist_node node;
	struct srn_known *known;
	unsigned int users;	/* under known->lock, as node is; read without it, too */
	struct in6_addr addr;	/* of IPv4 as IPv6 maps it, */
	int oif;		/* by this netdev */
	spinlock_t lock;	/* of who changes took, which is read without it */
	struct srn_lately took;
	spinlock_t rota_lock;	/* of rota, and of what its members' shifts have of it; in it, turns are given */
	struct srn_rota rota;	/* of those that use it */
};

/* A connection that has it. */
struct srn_known_user {
	struct srn_known_path *path;
	struct srn_turn *turn;	/* of who is to be told when it may go on */
	struct srn_shift shift;
};

struct srn_known {
	struct mutex lock;	/* the buckets, and who uses what is in them */
	struct hlist_head buckets[SRN_KNOWN_BUCKETS];
};

/** srn_known_init() - there are no connections */
void srn_known_init(struct srn_known *known);

/**
 * srn_known_get() - a connection goes over @path
 * @turn: its own
 *
 * May sleep. Return: its part in what is known of that, for srn_known_put(); NULL without memory.
 */
struct srn_known_user *srn_known_get(struct srn_known *known, const struct srn_path *path,
				     struct srn_turn *turn);

/** srn_known_put() - it does no more, and takes no part in turns; @user may be NULL. May sleep */
void srn_known_put(struct srn_known_user *user);

/** srn_known_users() - how many connections have it, about */
static inline unsigned int srn_known_users(const struct srn_known_path *p)
{
	return READ_ONCE(p->users);
}

/**
 * srn_known_least() - an answer over it took @took_ns, and came at @now_ns, ktime
 *
 * BH disabled.
 * Return: the least that one took lately, ns.
 */
u64 srn_known_least(struct srn_known_path *p, u64 took_ns, u64 now_ns);

/**
 * srn_known_look() - behind srn_known_least(): what its connection knows of the path by now is @crowd
 * @when: turns are taken on this device; where they are not, only an answer that makes the path a shorter one matters
 *
 * BH disabled.
 */
static inline void srn_known_look(struct srn_known_path *p, const struct srn_crowd *crowd, enum srn_rota_when when)
{
	if (likely(!srn_rota_may_see(&p->rota, crowd, when)))
		return;
	spin_lock(&p->rota_lock);
	if (when == SRN_ROTA_LOSSY)
		srn_rota_calm(&p->rota, crowd->now_ns);
	srn_rota_look(&p->rota, crowd);
	spin_unlock(&p->rota_lock);
}

/** srn_known_look_again() - likewise, but what was answered had gone more than once: nobody knows how long it took */
static inline void srn_known_look_again(struct srn_known_path *p, enum srn_rota_when when)
{
	if (likely(when == SRN_ROTA_OFF || srn_rota_is_near(&p->rota)))
		return;
	spin_lock(&p->rota_lock);
	srn_rota_look_again(&p->rota);
	spin_unlock(&p->rota_lock);
}

/**
 * srn_known_lost() - at @now_ns, ktime, a connection that knows @crowd of the path by now found something lost
 *
 * If that was by a queue, and they are more than have a place each, they take turns for some time; where nobody is to that is
 * noted all the same.
 * BH disabled.
 */
static inline void srn_known_lost(struct srn_known_user *known, const struct srn_crowd *crowd, u64 now_ns)
{
	struct srn_known_path *p;

	if (!known)
		return;
	p = known->path;
	if (srn_known_users(p) <= SRN_ROTA_PLACES || !srn_rota_is_news(&p->rota, crowd, now_ns))
		return;
	spin_lock(&p->rota_lock);
	srn_rota_lost(&p->rota, now_ns);
	spin_unlock(&p->rota_lock);
}

#endif
