/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory behind keys, whatever made them (mr.c, mw.c).
 * Every access goes key -> srn_mem_get_*() (rights, bounds, PD proven, reference
 * taken) -> sgl.h or atomic.h -> srn_mem_put(). References are held while bytes are copied
 * or their pages referenced, of messages that are one pack from the first to the last
 * (srn_mem_hold_*()), never while a packet leaves, so that who takes a key away waits
 * for nobody else.
 */
#ifndef SRN_MEM_H
#define SRN_MEM_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#include "verdict.h"

struct srn_dev;
struct srn_mw_owner;

/* Who asks: a QP, or a SRQ for its WQEs. What a key or an address handle is looked up with,
 * and proven for. Set when the QP is made.
 */
struct srn_who {
	struct srn_dev *dev;
	struct ib_pd *pd;
	u32 qpn;		/* windows of type 2 are bound to one; a SRQ has none */
	bool kernel;		/* not a program: may use the local DMA lkey */
};

enum srn_mem_type {
	SRN_MEM_USER,		/* pinned pages of a process */
	SRN_MEM_DMA,		/* all kernel addresses */
	SRN_MEM_FRMR,		/* page list set by map_mr_sg, validated by REG_MR */
	SRN_MEM_MW,		/* window on a USER or FRMR mem */
};

enum srn_mem_state {
	SRN_MEM_INVALID,	/* key names nothing now */
	SRN_MEM_FREE,		/* FRMR or MW 2 that may be bound */
	SRN_MEM_VALID,
};

/* Where the bytes are. All blocks have 1 << block_shift bytes that follow each
 * other in the kernel's address space; byte n of the region is byte n + offset
 * of the blocks. (Devices without a DMA device exist on kernels without highmem
 * only, so that each page has a kernel address.)
 */
struct srn_mem_map {
	u64 iova;			/* address of byte 0 for the key's user */
	u64 length;
	u64 offset;
	u32 nblocks;
	u8 block_shift;
	void **blocks;
};

struct srn_mem {
	struct srn_dev *dev;
	struct ib_pd *pd;
	enum srn_mem_type type;
	enum srn_mem_state state;	/* store release, load acquire: guards the next fields */
	u32 key;			/* index << 8 | key byte; lkey == rkey */
	u64 serial;			/* of this registration: no other has had it, or will */
	int access;			/* IB_ACCESS_* */
	bool permanent;			/* the local DMA lkey: not counted */
	struct srn_mem_map map;		/* of a window: a part of its MR's, whose blocks these are */
	refcount_t refs;
	struct completion released;
	struct rcu_head rcu;
	spinlock_t lock;		/* state changes; a window's before its MR's; BH disabled */
	atomic_t windows;		/* windows bound on this MR */
	struct ib_umem *umem;		/* USER */
	/* FRMR: what map_mr_sg made, until REG_MR takes it. The region it replaces
	 * may still be valid then: rdma_rw maps before the LOCAL_INV ran.
	 */
	struct srn_mem_map next;
	bool mapped;			/* @next is newer than @map */
	u32 max_blocks;
	/* Window only, under its lock. */
	struct srn_mem *parent;		/* holds a count in parent->windows */
	u32 qpn;			/* type 2: the QP it is bound on */
	enum ib_mw_type mw_type;
	struct srn_mw_owner *owner;	/* type 2: that QP's windows, while bound */
	struct list_head bound;		/* in owner->bound, under its lock */
};

/* Key table of a device: xarray index = key >> 8. Embedded in struct srn_dev. */
struct srn_mem_table {
	struct xarray mems;
	u32 next[2];			/* xa_alloc_cyclic: kernel's, programs' */
	struct srn_mem dma;		/* what the local DMA lkey names */
};

void srn_mem_table_init(struct srn_mem_table *t);
void srn_mem_table_destroy(struct srn_mem_table *t);

/* For mr.c and mw.c. A mem is made with its fields set and not yet valid. */

/** srn_mem_init() - before the first use of a zeroed mem: one reference, no key, not valid */
void srn_mem_init(struct srn_mem *mem, struct srn_dev *dev, struct ib_pd *pd,
		  enum srn_mem_type type);
/** srn_mem_insert() - give a key; the creator's reference is the table's. Sleeps. 0 or -errno */
int srn_mem_insert(struct srn_mem *mem);
/** srn_mem_remove() - take the key away and wait until the last access ended. May sleep. */
void srn_mem_remove(struct srn_mem *mem);
/**
 * srn_mem_set_state() - with release semantics: what the state guards is set before
 *
 * Each time that a key becomes valid it is another registration, with a serial of its own.
 */
void srn_mem_set_state(struct srn_mem *mem, enum srn_mem_state state);
/**
 * srn_mem_quiesce() - leave the valid state and wait for accesses on other CPUs
 *
 * Any context, also under @mem's lock: those who hold a reference run with BH
 * disabled, wait for nothing and end soon. The caller holds none itself.
 */
void srn_mem_quiesce(struct srn_mem *mem, enum srn_mem_state state);
/** srn_mem_find() - by index, whatever its state; RCU read side, no reference */
struct srn_mem *srn_mem_find(struct srn_dev *dev, u32 key);

/**
 * srn_mem_get_local() - prove and reference what an SGE names
 * @who: the QP, or the SRQ, that the SGE was posted on
 * @sge: address, length and lkey
 * @access: 0 to read, IB_ACCESS_LOCAL_WRITE to write
 * @mem: set on SRN_OK
 *
 * BH disabled. SRN_OK or SRN_V_LOC_PROT. The caller puts @mem.
 */
enum srn_verdict srn_mem_get_local(const struct srn_who *who, const struct ib_sge *sge,
				   int access, struct srn_mem **mem);

/**
 * srn_mem_get_remote() - prove and reference what a RETH or AtomicETH names
 * @who: the local QP
 * @access: IB_ACCESS_REMOTE_{READ,WRITE,ATOMIC}
 *
 * A window is checked by its own bounds and rights; @mem then leads to the
 * memory of the MR below it. @len 0 proves nothing and must not be asked. BH disabled.
 * SRN_OK or SRN_V_REM_ACCESS. The caller puts @mem.
 */
enum srn_verdict srn_mem_get_remote(const struct srn_who *who, u32 rkey, u64 addr, u64 len,
				    int access, struct srn_mem **mem);

/**
 * srn_mem_get_same() - a reference to what @key names, if it is the registration with @serial
 *
 * BH disabled. NULL if it is not, or not valid; else the caller puts it.
 */
struct srn_mem *srn_mem_get_same(struct srn_dev *dev, u32 key, u64 serial);

static inline void srn_mem_put(struct srn_mem *mem)
{
	if (!mem->permanent && refcount_dec_and_test(&mem->refs))
		complete(&mem->released);
}

/** srn_mem_let_go() - put what is held, if anything is */
static inline void srn_mem_let_go(struct srn_mem **held)
{
	if (*held)
		srn_mem_put(*held);
	*held = NULL;
}

/**
 * srn_mem_hold_local() - as srn_mem_get_local(), for one access behind the other
 * @held: NULL, or what the last one was granted; what this one is, NULL where it is refused
 *
 * All is proven as if nothing were held: what lost its validity meanwhile is refused. Who takes its
 * key away waits for srn_mem_let_go(), so the owner of what is held can't be the one who does, and is
 * done soon: nothing is invalidated or bound, nobody told of a completion, and no packet sent before.
 */
enum srn_verdict srn_mem_hold_local(const struct srn_who *who, const struct ib_sge *sge, int access,
				    struct srn_mem **held);

/** srn_mem_hold_remote() - the same as srn_mem_get_remote() */
enum srn_verdict srn_mem_hold_remote(const struct srn_who *who, u32 rkey, u64 addr, u64 len,
				     int access, struct srn_mem **held);

/**
 * srn_mem_page() - the page behind an address
 * @mem: a referenced mem, @addr within its bounds
 * @addr: address as the key's user names it
 * @off: set to the offset in the page
 *
 * Return: the page; bytes up to the end of that page may be used.
 */
struct page *srn_mem_page(const struct srn_mem *mem, u64 addr, unsigned int *off);

/**
 * srn_mem_span() - kernel address of a byte
 * @mem: a referenced mem, @addr within its bounds
 * @addr: address as the key's user names it
 * @len: set to the number of bytes that follow without a break
 */
static inline void *srn_mem_span(const struct srn_mem *mem, u64 addr, u64 *len)
{
	const struct srn_mem_map *map = &mem->map;
	u64 pos, in_block;

	if (mem->type == SRN_MEM_DMA) {
		*len = U64_MAX;
		return (void *)(uintptr_t)addr;
	}
	pos = addr - map->iova + map->offset;
	in_block = pos & (BIT_ULL(map->block_shift) - 1);
	*len = BIT_ULL(map->block_shift) - in_block;
	return map->blocks[pos >> map->block_shift] + in_block;
}

/* ib_device.local_dma_lkey: index 0, never handed out by the table. */
#define SRN_LOCAL_DMA_LKEY	0x5a

#endif
