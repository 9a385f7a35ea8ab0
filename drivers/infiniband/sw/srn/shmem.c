// SPDX-License-Identifier: GPL-2.0-only
/* Pages one by one, so that they are charged, are no burden on large orders, and
 * live on by their own references in mappings when the queue is gone.
 */
#include "shmem.h"

#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

struct srn_shmem_pages {
	struct rdma_user_mmap_entry entry;	/* without a context for kernel users */
	void *addr;
	unsigned long num;
	struct page *page[] __counted_by(num);
};

static void pages_free(struct srn_shmem_pages *p)
{
	unsigned long i;

	if (is_vmalloc_addr(p->addr))
		vunmap(p->addr);
	for (i = 0; i < p->num; i++) {
		put_page(p->page[i]);
		if (!(i % 1024))
			cond_resched();
	}
	kvfree(p);
}

static int pages_fill(struct srn_shmem_pages *p, unsigned long num)
{
	/* num counts what is there, so that a half-filled list can be freed. */
	while (p->num < num) {
		struct page *page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);

		if (!page)
			return -ENOMEM;
		p->num++;
		p->page[p->num - 1] = page;
		if (fatal_signal_pending(current))
			return -EINTR;
		if (!(p->num % 1024))
			cond_resched();
	}
	/* Most queues are small, and what the kernel maps anyway needs no area of its own, but where
	 * its guard page shall find who writes behind a queue (so it is the stock kernel's suites that
	 * run without one).
	 */
	if (num == 1 && !IS_ENABLED(CONFIG_KASAN))
		p->addr = page_address(p->page[0]);
	else
		p->addr = vmap(p->page, num, VM_MAP, PAGE_KERNEL);
	return p->addr ? 0 : -ENOMEM;
}

static struct srn_shmem_pages *pages_alloc(unsigned long num)
{
	struct srn_shmem_pages *p;
	int err;

	p = kvzalloc(struct_size(p, page, num), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!p)
		return ERR_PTR(-ENOMEM);
	err = pages_fill(p, num);
	if (err) {
		pages_free(p);
		return ERR_PTR(err);
	}
	return p;
}

int srn_shmem_create(struct srn_shmem *mem, struct ib_ucontext *uctx, size_t len)
{
	struct srn_shmem_pages *p;
	int err;

	if (!len || len > INT_MAX)
		return -EINVAL;
	p = pages_alloc(DIV_ROUND_UP(len, PAGE_SIZE));
	if (IS_ERR(p))
		return PTR_ERR(p);

	if (uctx) {
		/* One index of the context's table is enough to find the entry; its
		 * length is checked here and not by the core.
		 */
		err = rdma_user_mmap_entry_insert(uctx, &p->entry, PAGE_SIZE);
		if (err) {
			pages_free(p);
			return err;
		}
	}
	mem->pages = p;
	mem->addr = p->addr;
	return 0;
}

void srn_shmem_destroy(struct srn_shmem *mem)
{
	struct srn_shmem_pages *p = mem->pages;

	/* An mmap() under way may have to finish first; it ends in srn_mmap_free(). */
	if (p && p->entry.ucontext)
		rdma_user_mmap_entry_remove(&p->entry);
	else if (p)
		pages_free(p);
	memset(mem, 0, sizeof(*mem));
}

u64 srn_shmem_offset(const struct srn_shmem *mem)
{
	return rdma_user_mmap_get_offset(&mem->pages->entry);
}

size_t srn_shmem_len(const struct srn_shmem *mem)
{
	return mem->pages->num * PAGE_SIZE;
}

void srn_mmap_free(struct rdma_user_mmap_entry *entry)
{
	pages_free(container_of(entry, struct srn_shmem_pages, entry));
}

static int map_pages(struct srn_shmem_pages *p, struct vm_area_struct *vma)
{
	unsigned long left = vma_pages(vma);

	if (left > p->num)
		return -EINVAL;
	/* A child that inherited a ring would consume its parent's completions. */
	vm_flags_mod(vma, VM_DONTCOPY | VM_DONTEXPAND, VM_MAYEXEC);
	return vm_insert_pages(vma, vma->vm_start, p->page, &left);
}

int srn_mmap(struct ib_ucontext *uctx, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry;
	int err;

	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	if (vma->vm_flags & VM_EXEC)
		return -EPERM;
	entry = rdma_user_mmap_entry_get_pgoff(uctx, vma->vm_pgoff);
	if (!entry)
		return -EINVAL;
	err = map_pages(container_of(entry, struct srn_shmem_pages, entry), vma);
	rdma_user_mmap_entry_put(entry);
	return err;
}
