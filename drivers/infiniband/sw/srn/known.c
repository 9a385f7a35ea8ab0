// SPDX-License-Identifier: GPL-2.0-only
/* Who goes to the same address. */
#include "known.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/jhash.h>
#include <linux/ktime.h>
#include <linux/slab.h>
#include <net/ipv6.h>

#include "path.h"

void srn_known_init(struct srn_known *known)
{
	int i;

	mutex_init(&known->lock);
	for (i = 0; i < SRN_KNOWN_BUCKETS; i++)
		INIT_HLIST_HEAD(&known->buckets[i]);
}
EXPORT_SYMBOL_IF_KUNIT(srn_known_init);

static struct in6_addr address(const struct srn_path *path)
{
	struct in6_addr addr;

	if (path->is_v6)
		return path->v6.daddr;
	ipv6_addr_set_v4mapped(path->v4.daddr, &addr);
	return addr;
}

static struct srn_known_path *find(const struct hlist_head *bucket, const struct in6_addr *addr,
				   int oif)
{
	struct srn_known_path *p;

	hlist_for_each_entry(p, bucket, node)
		if (p->oif == oif && ipv6_addr_equal(&p->addr, addr))
			return p;
	return NULL;
}

static struct srn_known_path *new_path(struct srn_known *known, const struct in6_addr *addr,
				       int oif)
{
	struct srn_known_path *p = kzalloc(sizeof(*p), GFP_KERNEL_ACCOUNT);

	if (!p)
		return NULL;
	p->known = known;
	p->addr = *addr;
	p->oif = oif;
	spin_lock_init(&p->lock);
	spin_lock_init(&p->rota_lock);
	srn_rota_init(&p->rota);
	srn_lately_start(&p->took, ktime_get_ns());
	return p;
}

static struct srn_known_path *get(struct srn_known *known, const struct srn_path *path)
{
	struct in6_addr addr = address(path);
	u32 hash = jhash2((u32 *)&addr, sizeof(addr) / sizeof(u32), path->oif);
	struct hlist_head *bucket = &known->buckets[hash % SRN_KNOWN_BUCKETS];
	/* Not with the lock: who waits for memory may wait for another connection of the domain. */
	struct srn_known_path *new = new_path(known, &addr, path->oif), *p;

	if (!new)
		return NULL;
	mutex_lock(&known->lock);
	p = find(bucket, &addr, path->oif);
	if (!p) {
		hlist_add_head(&new->node, bucket);
		swap(p, new);
	}
	WRITE_ONCE(p->users, p->users + 1);
	mutex_unlock(&known->lock);
	kfree(new);
	return p;
}

static void put(struct srn_known_path *p)
{
	struct srn_known *known = p->known;

	mutex_lock(&known->lock);
	WRITE_ONCE(p->users, p->users - 1);
	if (!p->users) {
		hlist_del(&p->node);
		kfree(p);
	}
	mutex_unlock(&known->lock);
}

struct srn_known_user *srn_known_get(struct srn_known *known, const struct srn_path *path,
				     struct srn_turn *turn)
{
	struct srn_known_user *user = kzalloc(sizeof(*user), GFP_KERNEL_ACCOUNT);

	if (!user)
		return NULL;
	user->turn = turn;
	user->path = get(known, path);
	if (user->path)
		return user;
	kfree(user);
	return NULL;
}
EXPORT_SYMBOL_IF_KUNIT(srn_known_get);

void srn_known_put(struct srn_known_user *user)
{
	if (!user)
		return;
	put(user->path);
	kfree(user);
}
EXPORT_SYMBOL_IF_KUNIT(srn_known_put);

/* Whether an answer changes nothing of what is known, and *@least then: most are neither the
 * fastest one nor the first of a span, and many connections look here. Without the lock: what is
 * seen may be older than what another one has just brought, as if this one had come a moment before.
 */
static bool changes_nothing(const struct srn_known_path *p, u64 took_ns, u64 now_ns, u64 *least)
{
	/* Pairs with set(): who sees the new span sees all of it. */
	u64 since = smp_load_acquire(&p->took.since_ns);
	/* Likewise: who sees the least of the new span sees that of the one before it. */
	u64 newest = smp_load_acquire(&p->took.least_ns[0]);

	*least = min(newest, READ_ONCE(p->took.least_ns[1]));
	return took_ns >= newest && (now_ns < since || now_ns - since < SRN_LATELY_NS);
}

/* p->lock held. */
static void set(struct srn_known_path *p, const struct srn_lately *took)
{
	lockdep_assert_held(&p->lock);
	WRITE_ONCE(p->took.least_ns[1], took->least_ns[1]);
	/* Pair with changes_nothing(): the older first. */
	smp_store_release(&p->took.least_ns[0], took->least_ns[0]);
	smp_store_release(&p->took.since_ns, took->since_ns);
}

u64 srn_known_least(struct srn_known_path *p, u64 took_ns, u64 now_ns)
{
	struct srn_lately took;
	u64 least;

	if (likely(changes_nothing(p, took_ns, now_ns, &least)))
		return least;
	spin_lock(&p->lock);
	took = p->took;
	least = srn_lately_least(&took, took_ns, now_ns);
	set(p, &took);
	spin_unlock(&p->lock);
	return least;
}
EXPORT_SYMBOL_IF_KUNIT(srn_known_least);
