// SPDX-License-Identifier: GPL-2.0-only
/* Memory regions: registered pages of a process, lists of kernel pages that a
 * ULP registers with a work request, and all of the kernel's memory.
 */
#include "device.h"
#include "mr.h"
#include "udata.h"

#include <kunit/visibility.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>
#include <rdma/iter.h>

/* Optional bits are hints that may be ignored; so is the one for huge pages,
 * which are found without it.
 */
#define MR_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | \
			 IB_ACCESS_REMOTE_ATOMIC | IB_ACCESS_MW_BIND | IB_ZERO_BASED | \
			 IB_ACCESS_HUGETLB | IB_ACCESS_OPTIONAL)

static struct srn_mr *to_srn_mr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct srn_mr, ibmr);
}

static struct srn_mr *mr_new(struct ib_pd *pd, enum srn_mem_type type, int access)
{
	struct srn_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL_ACCOUNT);

	if (!mr)
		return NULL;
	srn_mem_init(&mr->mem, to_srn_dev(pd->device), pd, type);
	mr->mem.access = access;
	return mr;
}

/* Gives the key, which names the memory from here on if @state is valid. */
static int mr_publish(struct srn_mr *mr, enum srn_mem_state state)
{
	int err = srn_mem_insert(&mr->mem);

	if (err)
		return err;
	mr->ibmr.lkey = mr->mem.key;
	mr->ibmr.rkey = mr->mem.key;
	srn_mem_set_state(&mr->mem, state);
	return 0;
}

struct ib_mr *srn_get_dma_mr(struct ib_pd *pd, int access)
{
	struct srn_mr *mr = mr_new(pd, SRN_MEM_DMA, access);
	int err;

	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->mem.map.length = U64_MAX;
	err = mr_publish(mr, SRN_MEM_VALID);
	if (err) {
		kfree(mr);
		return ERR_PTR(err);
	}
	return &mr->ibmr;
}

/* Block addresses of pinned pages: few where the pages are huge or adjacent. */
static int map_umem(struct srn_mem_map *map, struct ib_umem *umem, u64 iova)
{
	struct ib_block_iter iter;
	unsigned long pgsz;
	u32 n = 0;

	/* By the user's address, not by @iova: that is the one that shares its low
	 * bits with the pages. 1 GiB is the largest page there is.
	 */
	pgsz = ib_umem_find_best_pgsz(umem, GENMASK(30, PAGE_SHIFT), umem->address);
	if (!pgsz)
		return -EINVAL;

	map->iova = iova;
	map->length = umem->length;
	map->block_shift = ilog2(pgsz);
	map->offset = umem->address & (pgsz - 1);
	map->nblocks = ib_umem_num_dma_blocks(umem, pgsz);
	map->blocks = kvmalloc_array(map->nblocks, sizeof(*map->blocks),
				     GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!map->blocks)
		return -ENOMEM;

	/* Without a DMA device, DMA addresses are kernel addresses. */
	rdma_umem_for_each_dma_block(umem, &iter, pgsz)
		map->blocks[n++] = ib_virt_dma_to_ptr(rdma_block_iter_dma_address(&iter));
	return 0;
}

/* Pins and maps; on success the caller owns *umem and map->blocks, both NULL where there
 * is nothing to pin.
 */
static int pin(struct ib_device *ibdev, u64 start, u64 length, u64 iova, int access,
	       struct ib_umem **umem, struct srn_mem_map *map)
{
	u64 last;
	int err;

	/* Before the address is dropped: a rereg may bring it back. */
	if (length && check_add_overflow(iova, length - 1, &last))
		return -EINVAL;
	if (access & IB_ZERO_BASED)
		iova = 0;
	if (!length) {	/* a key and no bytes */
		map->iova = iova;
		map->block_shift = PAGE_SHIFT;
		return 0;
	}
	/* Not silently another range where addresses are short. */
	if (start != (unsigned long)start || length != (size_t)length)
		return -EINVAL;

	*umem = ib_umem_get(ibdev, start, length, access);
	if (IS_ERR(*umem)) {
		err = PTR_ERR(*umem);
		*umem = NULL;
		return err;
	}
	err = map_umem(map, *umem, iova);
	if (err) {
		ib_umem_release(*umem);
		*umem = NULL;
	}
	return err;
}

struct ib_mr *srn_reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 iova, int access,
			      struct ib_udata *udata)
{
	struct srn_mr *mr;
	int err;

	err = srn_udata_in(udata, NULL, 0);
	if (err)
		return ERR_PTR(err);
	if (access & ~MR_ACCESS)
		return ERR_PTR(-EOPNOTSUPP);

	mr = mr_new(pd, SRN_MEM_USER, access);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	err = pin(pd->device, start, length, iova, access, &mr->mem.umem, &mr->mem.map);
	if (err)
		goto err_free;
	err = mr_publish(mr, SRN_MEM_VALID);
	if (err)
		goto err_unpin;
	return &mr->ibmr;

err_unpin:
	kvfree(mr->mem.map.blocks);
	ib_umem_release(mr->mem.umem);
err_free:
	kfree(mr);
	return ERR_PTR(err);
}

/* Makes a valid MR unreachable for a change; not while windows show it. */
static int rereg_begin(struct srn_mem *mem)
{
	int err = 0;

	spin_lock_bh(&mem->lock);
	if (atomic_read(&mem->windows))
		err = -EBUSY;
	else
		srn_mem_quiesce(mem, SRN_MEM_INVALID);
	spin_unlock_bh(&mem->lock);
	return err;
}

/* Rights that the pages were not pinned for need new pages as well. */
static bool needs_repin(const struct srn_mem *mem, int flags, int access)
{
	if (flags & IB_MR_REREG_TRANS)
		return true;
	return mem->umem && (flags & IB_MR_REREG_ACCESS) && ib_access_writable(access) &&
	       !mem->umem->writable;
}

struct ib_mr *srn_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start, u64 length, u64 iova,
				int access, struct ib_pd *pd, struct ib_udata *udata)
{
	struct srn_mem *mem = &to_srn_mr(ibmr)->mem;
	struct srn_mem_map map = {}, old = {};
	struct ib_umem *umem = NULL;
	bool repin;
	int err;

	err = srn_udata_in(udata, NULL, 0);
	if (err)
		return ERR_PTR(err);
	if (mem->type != SRN_MEM_USER)
		return ERR_PTR(-EINVAL);
	if (!(flags & IB_MR_REREG_ACCESS))
		access = mem->access;
	if (access & ~MR_ACCESS)
		return ERR_PTR(-EOPNOTSUPP);

	/* All that can fail comes before the MR is touched: IBTA would let it be
	 * destroyed by a failed attempt, users do not expect that.
	 */
	repin = needs_repin(mem, flags, access);
	if (repin) {
		if (!(flags & IB_MR_REREG_TRANS)) {
			if (mem->umem->owning_mm != current->mm)
				return ERR_PTR(-EACCES);
			start = mem->umem->address;
			length = mem->umem->length;
			iova = ibmr->iova;
		}
		err = pin(ibmr->device, start, length, iova, access, &umem, &map);
		if (err)
			return ERR_PTR(err);
	}

	err = rereg_begin(mem);
	if (err) {
		kvfree(map.blocks);
		ib_umem_release(umem);
		return ERR_PTR(err);
	}
	if (repin) {
		swap(umem, mem->umem);
		old = mem->map;
		mem->map = map;
	} else if ((flags & IB_MR_REREG_ACCESS) && (access ^ mem->access) & IB_ZERO_BASED) {
		mem->map.iova = access & IB_ZERO_BASED ? 0 : ibmr->iova;
	}
	if (flags & IB_MR_REREG_PD)
		mem->pd = pd;
	mem->access = access;
	srn_mem_set_state(mem, SRN_MEM_VALID);

	kvfree(old.blocks);
	ib_umem_release(umem);
	return NULL;	/* the same MR, changed */
}

struct ib_mr *srn_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 max_sg)
{
	struct srn_mr *mr;
	int err = -ENOMEM;

	if (type != IB_MR_TYPE_MEM_REG)
		return ERR_PTR(-EOPNOTSUPP);
	if (!max_sg || max_sg > SRN_MAX_FRMR_PAGES)
		return ERR_PTR(-EINVAL);

	mr = mr_new(pd, SRN_MEM_FRMR, 0);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->mem.max_blocks = max_sg;
	mr->mem.map.blocks = kvcalloc(max_sg, sizeof(void *), GFP_KERNEL);
	mr->mem.next.blocks = kvcalloc(max_sg, sizeof(void *), GFP_KERNEL);
	if (!mr->mem.map.blocks || !mr->mem.next.blocks)
		goto err_free;
	err = mr_publish(mr, SRN_MEM_FREE);
	if (err)
		goto err_free;
	return &mr->ibmr;

err_free:
	kvfree(mr->mem.next.blocks);
	kvfree(mr->mem.map.blocks);
	kfree(mr);
	return ERR_PTR(err);
}
EXPORT_SYMBOL_IF_KUNIT(srn_alloc_mr);

static int add_block(struct ib_mr *ibmr, u64 addr)
{
	struct srn_mem *mem = &to_srn_mr(ibmr)->mem;

	if (mem->next.nblocks == mem->max_blocks)
		return -ENOMEM;
	mem->next.blocks[mem->next.nblocks++] = ib_virt_dma_to_ptr(addr);
	return 0;
}

int srn_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int nents, unsigned int *offset)
{
	struct srn_mem *mem = &to_srn_mr(ibmr)->mem;
	int n;

	if (mem->type != SRN_MEM_FRMR)
		return -EINVAL;
	mem->next.nblocks = 0;
	n = ib_sg_to_pages(ibmr, sg, nents, offset, add_block);
	if (n <= 0)
		return n;

	mem->next.length = ibmr->length;
	mem->next.block_shift = ilog2(ibmr->page_size);
	/* What ib_sg_to_pages() put there is the address in memory; the user of the MR
	 * may overwrite it until REG_MR is posted.
	 */
	mem->next.offset = ibmr->iova & (ibmr->page_size - 1);
	mem->mapped = true;
	return n;
}
EXPORT_SYMBOL_IF_KUNIT(srn_map_mr_sg);

enum srn_verdict srn_mem_fast_reg(const struct srn_who *who, struct ib_mr *ibmr, u64 iova, u32 key,
				  int access)
{
	struct srn_mem *mem = &to_srn_mr(ibmr)->mem;
	enum srn_verdict v = SRN_V_MW_BIND;

	if (mem->dev != who->dev || mem->type != SRN_MEM_FRMR || access & ~MR_ACCESS ||
	    access & IB_ZERO_BASED)
		return SRN_V_MW_BIND;

	spin_lock_bh(&mem->lock);
	/* The consumer chooses the key byte only. Not free: LOCAL_INV is missing. */
	if (mem->pd != who->pd || mem->state != SRN_MEM_FREE || (key ^ mem->key) >> 8)
		goto unlock;
	/* Nobody reads map while the state is not valid. The same list may be
	 * registered again after an invalidation.
	 */
	if (mem->mapped) {
		swap(mem->map, mem->next);
		mem->mapped = false;
	}
	if (!mem->map.nblocks)
		goto unlock;
	mem->map.iova = iova;
	/* Read in any state, by who guesses (mem.c). */
	WRITE_ONCE(mem->key, key);
	mem->access = access;
	srn_mem_set_state(mem, SRN_MEM_VALID);
	v = SRN_OK;
unlock:
	spin_unlock_bh(&mem->lock);
	return v;
}
EXPORT_SYMBOL_IF_KUNIT(srn_mem_fast_reg);

int srn_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct srn_mr *mr = to_srn_mr(ibmr);
	struct srn_mem *mem = &mr->mem;
	bool bound;

	spin_lock_bh(&mem->lock);
	bound = atomic_read(&mem->windows);
	if (!bound)	/* from here on no window can be bound */
		srn_mem_set_state(mem, SRN_MEM_INVALID);
	spin_unlock_bh(&mem->lock);
	if (bound)
		return -EBUSY;

	srn_mem_remove(mem);
	kvfree(mem->next.blocks);
	kvfree(mem->map.blocks);
	ib_umem_release(mem->umem);
	/* A reader that found the mem before it left the table may still look at refs. */
	kfree_rcu(mr, mem.rcu);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_dereg_mr);
