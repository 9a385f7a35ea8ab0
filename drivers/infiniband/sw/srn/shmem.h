/* SPDX-License-Identifier: GPL-2.0-only */
/* Zeroed pages that the kernel and a program see at once: control block and
 * slots of a queue. Charged to the creating process's memory cgroup.
 */
#ifndef SRN_SHMEM_H
#define SRN_SHMEM_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>

struct srn_shmem_pages;

struct srn_shmem {
	void *addr;			/* kernel mapping, page aligned */
	struct srn_shmem_pages *pages;	/* shmem.c only */
};

/**
 * srn_shmem_create() - allocate @len bytes, and offer them to mmap if @uctx
 * @mem: filled on success
 * @uctx: context of a user QP/CQ/SRQ; NULL for kernel users
 * @len: bytes; rounded up to pages
 *
 * May sleep. 0, -ENOMEM or -EINVAL.
 */
int srn_shmem_create(struct srn_shmem *mem, struct ib_ucontext *uctx, size_t len);

/**
 * srn_shmem_destroy() - give the kernel's reference up
 *
 * Pages that a program still has mapped live until it unmaps them. May sleep.
 */
void srn_shmem_destroy(struct srn_shmem *mem);

/** srn_shmem_offset() - the mmap offset to report to the program */
u64 srn_shmem_offset(const struct srn_shmem *mem);

/** srn_shmem_len() - bytes of it, whole pages */
size_t srn_shmem_len(const struct srn_shmem *mem);

/* ib_device_ops */
int srn_mmap(struct ib_ucontext *uctx, struct vm_area_struct *vma);
void srn_mmap_free(struct rdma_user_mmap_entry *entry);

#endif
