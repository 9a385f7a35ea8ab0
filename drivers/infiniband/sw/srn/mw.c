// SPDX-License-Identifier: GPL-2.0-only
/* Memory windows, and the invalidation of keys. A window has rights and bounds
 * of its own on a part of an MR; while it is bound the MR may not go away or
 * change. Type 1 is bound again and again by anyone of its PD; type 2 (2B)
 * belongs to the QP it was bound on until it is invalidated.
 */
#include "device.h"
#include "mw.h"
#include "udata.h"

#include <kunit/visibility.h>
#include <linux/slab.h>

#define MW_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | \
			 IB_ACCESS_REMOTE_ATOMIC | IB_ZERO_BASED)

/* What of a key the consumer chooses. */
#define KEY_BYTE	0xffu

static struct srn_mw *to_srn_mw(struct ib_mw *ibmw)
{
	return container_of(ibmw, struct srn_mw, ibmw);
}

int srn_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata)
{
	struct srn_dev *dev = to_srn_dev(ibmw->device);
	struct srn_mem *mem;
	int err;

	err = srn_udata_in(udata, NULL, 0);
	if (err)
		return err;
	if (ibmw->type != IB_MW_TYPE_1 && ibmw->type != IB_MW_TYPE_2)
		return -EINVAL;

	mem = kzalloc(sizeof(*mem), GFP_KERNEL_ACCOUNT);
	if (!mem)
		return -ENOMEM;
	srn_mem_init(mem, dev, ibmw->pd, SRN_MEM_MW);
	mem->mw_type = ibmw->type;
	err = srn_mem_insert(mem);
	if (err) {
		kfree(mem);
		return err;
	}
	ibmw->rkey = mem->key;
	to_srn_mw(ibmw)->mem = mem;
	srn_mem_set_state(mem, SRN_MEM_FREE);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_alloc_mw);

void srn_mw_owner_init(struct srn_mw_owner *owner, const struct srn_who *who)
{
	owner->who = who;
	spin_lock_init(&owner->lock);
	INIT_LIST_HEAD(&owner->bound);
}
EXPORT_SYMBOL_IF_KUNIT(srn_mw_owner_init);

static void own(struct srn_mem *mw, struct srn_mw_owner *owner)
{
	mw->qpn = owner->who->qpn;
	mw->owner = owner;
	spin_lock(&owner->lock);
	list_add(&mw->bound, &owner->bound);
	spin_unlock(&owner->lock);
}

static void disown(struct srn_mem *mw)
{
	struct srn_mw_owner *owner = mw->owner;

	if (!owner)
		return;
	mw->owner = NULL;
	/* Its QP waits until the list is empty: the last look at @owner is the unlock. */
	spin_lock(&owner->lock);
	list_del_init(&mw->bound);
	spin_unlock(&owner->lock);
}

/* The window's lock held. After it no access through the window goes on. */
static void unbind(struct srn_mem *mw, enum srn_mem_state state)
{
	srn_mem_quiesce(mw, state);
	disown(mw);
	if (mw->parent)
		atomic_dec(&mw->parent->windows);
	mw->parent = NULL;
}

int srn_dealloc_mw(struct ib_mw *ibmw)
{
	struct srn_mem *mem = to_srn_mw(ibmw)->mem;

	spin_lock_bh(&mem->lock);
	unbind(mem, SRN_MEM_INVALID);
	spin_unlock_bh(&mem->lock);

	srn_mem_remove(mem);
	kfree_rcu(mem, rcu);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_dealloc_mw);

/* Counts a window on the MR, which keeps it as it is; NULL if it may not be bound. */
static struct srn_mem *parent_get(const struct srn_who *who, const struct srn_mw_bind *bind)
{
	struct srn_mem *mr = srn_mem_find(who->dev, bind->mr_lkey);
	const struct srn_mem_map *map;
	bool ok;

	if (!mr || (mr->type != SRN_MEM_USER && mr->type != SRN_MEM_FRMR))
		return NULL;
	map = &mr->map;
	spin_lock_nested(&mr->lock, SINGLE_DEPTH_NESTING);	/* below the window's */
	/* Pairs with the release of srn_mem_set_state(): rereg writes the map unlocked. */
	ok = smp_load_acquire(&mr->state) == SRN_MEM_VALID && mr->key == bind->mr_lkey &&
	     mr->pd == who->pd &&
	     /* C10-73 and o10-36: windows are allowed, and addresses are the MR's. */
	     (mr->access & IB_ACCESS_MW_BIND) && !(mr->access & IB_ZERO_BASED) &&
	     /* C10-74: no writing through a window to what may not be written. */
	     (!(bind->access & (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC)) ||
	      (mr->access & IB_ACCESS_LOCAL_WRITE)) &&
	     /* C10-75 */
	     bind->addr >= map->iova && bind->length <= map->length &&
	     bind->addr - map->iova <= map->length - bind->length;
	if (ok)
		atomic_inc(&mr->windows);
	spin_unlock(&mr->lock);
	return ok ? mr : NULL;
}

/* The window's lock held: what the window itself must fulfil. It was found by the index in
 * its key; the byte of the key that goes is not asked for, since a program need not know it.
 */
static bool may_bind(const struct srn_mem *mw, struct ib_pd *pd, const struct srn_mw_bind *bind)
{
	if (mw->pd != pd || bind->access & ~MW_ACCESS)
		return false;
	if (mw->mw_type == IB_MW_TYPE_1)
		return !(bind->access & IB_ZERO_BASED) &&
		       (mw->state == SRN_MEM_FREE || mw->state == SRN_MEM_VALID);
	/* Type 2 is invalidated, not bound again, and not by binding no bytes. */
	return mw->state == SRN_MEM_FREE && bind->length;
}

/* The part of the MR that the window shows. The MR and its map stay as they are while
 * windows are bound.
 */
static void show(struct srn_mem *mw, const struct srn_mem *mr, const struct srn_mw_bind *bind)
{
	mw->map = mr->map;
	mw->map.offset += bind->addr - mr->map.iova;
	mw->map.iova = bind->access & IB_ZERO_BASED ? 0 : bind->addr;
	mw->map.length = bind->length;
}

/* The window's lock held, the window is free. @mr is counted; NULL leaves it unbound. */
static void do_bind(struct srn_mem *mw, struct srn_mem *mr, struct srn_mw_owner *owner,
		    const struct srn_mw_bind *bind)
{
	/* Read in any state, by who guesses (mem.c). */
	WRITE_ONCE(mw->key, (mw->key & ~KEY_BYTE) | (bind->new_rkey & KEY_BYTE));
	if (!mr)
		return;
	mw->parent = mr;
	mw->access = bind->access;
	show(mw, mr, bind);
	if (mw->mw_type == IB_MW_TYPE_2)
		own(mw, owner);
	srn_mem_set_state(mw, SRN_MEM_VALID);
}

/* The window's lock held. */
static bool try_bind(struct srn_mem *mw, struct srn_mw_owner *owner,
		     const struct srn_mw_bind *bind)
{
	struct srn_mem *mr = NULL;

	if (!may_bind(mw, owner->who->pd, bind))
		return false;
	if (bind->length) {
		mr = parent_get(owner->who, bind);
		if (!mr)
			return false;
	}
	unbind(mw, SRN_MEM_FREE);
	do_bind(mw, mr, owner, bind);
	return true;
}

enum srn_verdict srn_mem_bind(struct srn_mw_owner *owner, const struct srn_mw_bind *bind)
{
	struct srn_mem *mw;
	bool ok = false;

	rcu_read_lock();
	mw = srn_mem_find(owner->who->dev, bind->mw_rkey);
	if (mw && mw->type == SRN_MEM_MW) {
		spin_lock_bh(&mw->lock);
		ok = try_bind(mw, owner, bind);
		spin_unlock_bh(&mw->lock);
	}
	rcu_read_unlock();
	return ok ? SRN_OK : SRN_V_MW_BIND;
}
EXPORT_SYMBOL_IF_KUNIT(srn_mem_bind);

static bool invalidate_mw(struct srn_mem *mw, struct srn_mw_owner *owner, u32 rkey)
{
	bool ok;

	spin_lock_bh(&mw->lock);
	ok = mw->state == SRN_MEM_VALID && mw->key == rkey && mw->pd == owner->who->pd &&
	     mw->mw_type == IB_MW_TYPE_2 && mw->owner == owner;
	if (ok)
		unbind(mw, SRN_MEM_FREE);
	spin_unlock_bh(&mw->lock);
	return ok;
}

static bool invalidate_mr(struct srn_mem *mr, struct ib_pd *pd, u32 rkey, bool remote)
{
	bool ok;

	spin_lock_bh(&mr->lock);
	ok = mr->state == SRN_MEM_VALID && mr->key == rkey && mr->pd == pd &&
	     !atomic_read(&mr->windows);
	/* o10-37: a peer may invalidate what it may access, nothing else. */
	if (remote && !(mr->access & (IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE |
				      IB_ACCESS_REMOTE_ATOMIC)))
		ok = false;
	if (ok)
		srn_mem_quiesce(mr, SRN_MEM_FREE);
	spin_unlock_bh(&mr->lock);
	return ok;
}

enum srn_verdict srn_mem_invalidate(struct srn_mw_owner *owner, u32 rkey, bool remote)
{
	struct srn_mem *mem;
	bool ok = false;

	rcu_read_lock();
	mem = srn_mem_find(owner->who->dev, rkey);
	if (mem && mem->type == SRN_MEM_MW)
		ok = invalidate_mw(mem, owner, rkey);
	else if (mem && mem->type == SRN_MEM_FRMR)
		ok = invalidate_mr(mem, owner->who->pd, rkey, remote);
	rcu_read_unlock();
	if (ok)
		return SRN_OK;
	return remote ? SRN_V_REM_ACCESS : SRN_V_MW_BIND;
}
EXPORT_SYMBOL_IF_KUNIT(srn_mem_invalidate);

/* RCU read side: a window that is freed meanwhile is still there to be looked at. */
static struct srn_mem *first_bound(struct srn_mw_owner *owner)
{
	struct srn_mem *mw;

	spin_lock_bh(&owner->lock);
	mw = list_first_entry_or_null(&owner->bound, struct srn_mem, bound);
	spin_unlock_bh(&owner->lock);
	return mw;
}

static bool unbind_first(struct srn_mw_owner *owner)
{
	struct srn_mem *mw;

	rcu_read_lock();
	mw = first_bound(owner);
	if (mw) {
		spin_lock_bh(&mw->lock);
		if (mw->owner == owner)
			unbind(mw, SRN_MEM_FREE);
		spin_unlock_bh(&mw->lock);
	}
	rcu_read_unlock();
	return mw;
}

void srn_mem_unbind_qp(struct srn_mw_owner *owner)
{
	while (unbind_first(owner))
		cond_resched();
}
EXPORT_SYMBOL_IF_KUNIT(srn_mem_unbind_qp);
