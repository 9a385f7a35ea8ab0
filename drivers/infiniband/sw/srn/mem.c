// SPDX-License-Identifier: GPL-2.0-only
/* The key table: finding what a key names, proving an access, and taking a key
 * away while packets use it.
 *
 * An access takes a reference, then looks at the state. Who invalidates sets the
 * state, then waits until the references are gone. Both have a full barrier
 * between their two steps, so that either the access sees the new state or the
 * invalidation sees the reference.
 */
#include "device.h"
#include "mem.h"

#include <kunit/visibility.h>
#include <linux/mm.h>
#include <linux/random.h>

#define KEY_INDEX(key)	((key) >> 8)

/* Registrations so far, of all devices. */
static atomic64_t serials = ATOMIC64_INIT(0);

/* Where a CPU found keys lately: whoever moves bytes uses a few of them again and again. An access
 * writes a slot while it has a reference. When the last one is gone the key is forgotten on all
 * CPUs, and only then a grace period begins that ends with its memory; BH is off in an access.
 */
#define RECENT	16	/* a power of two */

static DEFINE_PER_CPU(struct srn_mem *[RECENT], recent);

/* Devices hand out the same keys. */
static unsigned int slot_of(const struct srn_dev *dev, u32 key)
{
	return (KEY_INDEX(key) + dev->ibdev.index) & (RECENT - 1);
}

static void forget(struct srn_mem *mem)
{
	unsigned int i = slot_of(mem->dev, mem->key);
	struct srn_mem **slot;
	int cpu;

	for_each_possible_cpu(cpu) {
		slot = per_cpu(recent, cpu) + i;
		/* Not what another key has put there meanwhile. */
		if (READ_ONCE(*slot) == mem)
			cmpxchg(slot, mem, NULL);
	}
}

void srn_mem_init(struct srn_mem *mem, struct srn_dev *dev, struct ib_pd *pd,
		  enum srn_mem_type type)
{
	mem->dev = dev;
	mem->pd = pd;
	mem->type = type;
	mem->state = SRN_MEM_INVALID;
	refcount_set(&mem->refs, 1);
	init_completion(&mem->released);
	spin_lock_init(&mem->lock);
	atomic_set(&mem->windows, 0);
	INIT_LIST_HEAD(&mem->bound);
}
EXPORT_SYMBOL_IF_KUNIT(srn_mem_init);

void srn_mem_table_init(struct srn_mem_table *t)
{
	xa_init_flags(&t->mems, XA_FLAGS_ALLOC);
	t->next[false] = 1;
	t->next[true] = 1;

	srn_mem_init(&t->dma, NULL, NULL, SRN_MEM_DMA);
	t->dma.permanent = true;
	t->dma.key = SRN_LOCAL_DMA_LKEY;
	t->dma.state = SRN_MEM_VALID;
}
EXPORT_SYMBOL_IF_KUNIT(srn_mem_table_init);

void srn_mem_table_destroy(struct srn_mem_table *t)
{
	WARN_ON(!xa_empty(&t->mems));
	xa_destroy(&t->mems);
}

int srn_mem_insert(struct srn_mem *mem)
{
	bool user = mem->pd && mem->pd->uobject;
	u32 max = user ? SRN_MAX_MR : SRN_KEY_INDICES, index;
	struct srn_mem_table *t = &mem->dev->mems;
	int err;

	/* Cyclic: a key that was given back names nothing for long. */
	err = xa_alloc_cyclic(&t->mems, &index, mem, XA_LIMIT(1, max), &t->next[user],
			      GFP_KERNEL);
	if (err < 0)
		return err == -EBUSY ? -ENOMEM : err;
	mem->key = index << 8 | get_random_u8();
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_mem_insert);

void srn_mem_set_state(struct srn_mem *mem, enum srn_mem_state state)
{
	if (state == SRN_MEM_VALID)
		mem->serial = atomic64_inc_return(&serials);
	/* Pairs with the acquire in get_valid(): bounds and rights before validity. */
	smp_store_release(&mem->state, state);
}
EXPORT_SYMBOL_IF_KUNIT(srn_mem_set_state);

void srn_mem_quiesce(struct srn_mem *mem, enum srn_mem_state state)
{
	WRITE_ONCE(mem->state, state);
	/* Pairs with the barrier in get_valid(). */
	smp_mb();
	while (refcount_read(&mem->refs) > 1)
		cpu_relax();
	/* What the last access read is read before what the caller writes now. */
	smp_acquire__after_ctrl_dep();
}

void srn_mem_remove(struct srn_mem *mem)
{
	/* A find that raced, without a reference, must see the state under its lock. */
	spin_lock_bh(&mem->lock);
	srn_mem_set_state(mem, SRN_MEM_INVALID);
	spin_unlock_bh(&mem->lock);

	xa_erase(&mem->dev->mems.mems, KEY_INDEX(mem->key));
	srn_mem_put(mem);
	wait_for_completion(&mem->released);
	forget(mem);
}
EXPORT_SYMBOL_IF_KUNIT(srn_mem_remove);

struct srn_mem *srn_mem_find(struct srn_dev *dev, u32 key)
{
	return xa_load(&dev->mems.mems, KEY_INDEX(key));
}

/* Takes a reference if it is valid now, and what @key names. */
static __always_inline bool get_if_valid(struct srn_mem *mem, u32 key)
{
	if (!refcount_inc_not_zero(&mem->refs))
		return false;
	/* Pairs with the barrier in srn_mem_quiesce(). */
	smp_mb__after_atomic();
	/* Pairs with the release in srn_mem_set_state(). */
	if (likely(smp_load_acquire(&mem->state) == SRN_MEM_VALID && mem->key == key))
		return true;
	srn_mem_put(mem);
	return false;
}

/* Any CPU's will do. */
static struct srn_mem **recent_of(const struct srn_dev *dev, u32 key)
{
	return *raw_cpu_ptr(&recent) + slot_of(dev, key);
}

/* Apart, so that who finds a key at once saves no registers for this. */
static noinline struct srn_mem *look_up(struct srn_dev *dev, u32 key)
{
	struct srn_mem *mem;

	rcu_read_lock();
	mem = xa_load(&dev->mems.mems, KEY_INDEX(key));
	if (mem && !get_if_valid(mem, key))
		mem = NULL;
	rcu_read_unlock();
	/* With the reference, which who takes the key away waits for. BH is disabled: who reads it is on this CPU, but for
	 * forget(), which compares.
	 */
	if (mem)
		WRITE_ONCE(*recent_of(dev, key), mem);
	return mem;
}

/* A reference to what @key names if it is valid now, else NULL. Where it was found is remembered,
 * and nothing else: all is proven each time, and what is not there any more is looked for.
 */
static struct srn_mem *get_valid(struct srn_dev *dev, u32 key)
{
	struct srn_mem *mem = READ_ONCE(*recent_of(dev, key));

	if (likely(mem && mem->dev == dev && READ_ONCE(mem->key) == key && get_if_valid(mem, key)))
		return mem;
	return look_up(dev, key);
}

/* For one PD, too. */
static struct srn_mem *get_own(const struct srn_who *who, u32 key)
{
	struct srn_mem *mem = get_valid(who->dev, key);

	if (likely(mem && mem->pd == who->pd))
		return mem;
	if (mem)
		srn_mem_put(mem);
	return NULL;
}

struct srn_mem *srn_mem_get_same(struct srn_dev *dev, u32 key, u64 serial)
{
	struct srn_mem *mem = get_valid(dev, key);

	if (likely(mem && mem->serial == serial))
		return mem;
	if (mem)
		srn_mem_put(mem);
	return NULL;
}
EXPORT_SYMBOL_IF_KUNIT(srn_mem_get_same);

static bool covers(const struct srn_mem *mem, u64 addr, u64 len)
{
	const struct srn_mem_map *map = &mem->map;

	return addr >= map->iova && len <= map->length &&
	       addr - map->iova <= map->length - len;
}

/* What its own side may do with it. */
static bool grants_local(const struct srn_mem *mem, const struct ib_sge *sge, int access)
{
	return mem->type != SRN_MEM_MW && (mem->access & access) == access &&
	       covers(mem, sge->addr, sge->length);
}

/* What a peer may. */
static bool grants_remote(const struct srn_who *who, const struct srn_mem *mem, u64 addr, u64 len,
			  int access)
{
	if ((mem->access & access) != access || !covers(mem, addr, len))
		return false;
	/* C10-72: a window of type 2 is for the QP it was bound on. */
	return mem->type != SRN_MEM_MW || mem->mw_type != IB_MW_TYPE_2 || mem->qpn == who->qpn;
}

/* Whether @key, of the same PD, names what is held still. While it is held no other can take its place. */
static bool is_same(const struct srn_who *who, const struct srn_mem *mem, u32 key)
{
	return smp_load_acquire(&mem->state) == SRN_MEM_VALID && mem->key == key &&
	       mem->pd == who->pd;
}

enum srn_verdict srn_mem_get_local(const struct srn_who *who, const struct ib_sge *sge,
				   int access, struct srn_mem **res)
{
	struct srn_mem *mem;

	if (who->kernel && sge->lkey == SRN_LOCAL_DMA_LKEY) {
		*res = &who->dev->mems.dma;
		return SRN_OK;
	}

	mem = get_own(who, sge->lkey);
	if (unlikely(!mem))
		return SRN_V_LOC_PROT;
	if (unlikely(!grants_local(mem, sge, access))) {
		srn_mem_put(mem);
		return SRN_V_LOC_PROT;
	}
	*res = mem;
	return SRN_OK;
}
EXPORT_SYMBOL_IF_KUNIT(srn_mem_get_local);

enum srn_verdict srn_mem_get_remote(const struct srn_who *who, u32 rkey, u64 addr, u64 len,
				    int access, struct srn_mem **res)
{
	struct srn_mem *mem = get_own(who, rkey);

	if (unlikely(!mem))
		return SRN_V_REM_ACCESS;
	if (unlikely(!grants_remote(who, mem, addr, len, access))) {
		srn_mem_put(mem);
		return SRN_V_REM_ACCESS;
	}
	*res = mem;
	return SRN_OK;
}
EXPORT_SYMBOL_IF_KUNIT(srn_mem_get_remote);

enum srn_verdict srn_mem_hold_local(const struct srn_who *who, const struct ib_sge *sge, int access,
				    struct srn_mem **held)
{
	if (likely(*held && is_same(who, *held, sge->lkey) && grants_local(*held, sge, access)))
		return SRN_OK;
	srn_mem_let_go(held);
	return srn_mem_get_local(who, sge, access, held);
}
EXPORT_SYMBOL_IF_KUNIT(srn_mem_hold_local);

enum srn_verdict srn_mem_hold_remote(const struct srn_who *who, u32 rkey, u64 addr, u64 len,
				     int access, struct srn_mem **held)
{
	if (likely(*held && is_same(who, *held, rkey) &&
		   grants_remote(who, *held, addr, len, access)))
		return SRN_OK;
	srn_mem_let_go(held);
	return srn_mem_get_remote(who, rkey, addr, len, access, held);
}
EXPORT_SYMBOL_IF_KUNIT(srn_mem_hold_remote);

struct page *srn_mem_page(const struct srn_mem *mem, u64 addr, unsigned int *off)
{
	u64 len;
	void *p = srn_mem_span(mem, addr, &len);

	*off = offset_in_page(p);
	return virt_to_page(p);
}
EXPORT_SYMBOL_IF_KUNIT(srn_mem_page);
