/* SPDX-License-Identifier: GPL-2.0-only */
/* The ring of a shared receive queue, and how the queue goes over to another. */
#ifndef SRN_SRQ_RING_H
#define SRN_SRQ_RING_H

#include <linux/types.h>
#include <rdma/srn-abi.h>

#include "shmem.h"
#include "srq.h"
#include "wqe.h"

static inline void *srn_srq_slot_in(const struct srn_shmem *mem, u32 entries, u32 stride, u32 index)
{
	return mem->addr + SRN_QUEUE_OFFSET + (size_t)(index & (entries - 1)) * stride;
}

/** srn_srq_slot() - where the receive of this index is. Lock held, or the only one who resizes. */
static inline struct srn_recv_wqe *srn_srq_slot(const struct srn_srq *srq, u32 index)
{
	return srn_srq_slot_in(&srq->mem, srq->entries, srq->stride, index);
}

/**
 * srn_srq_ring_alloc() - memory for @entries receives, a power of two, which a program may map
 * @udata: NULL for kernel users
 *
 * May sleep. Return: 0 or an errno of srn_shmem_create().
 */
int srn_srq_ring_alloc(const struct srn_srq *srq, struct srn_shmem *mem, u32 entries,
		       struct ib_udata *udata);

/**
 * srn_srq_resize() - IB_SRQ_MAX_WR (IBTA vol. 1, 11.2.3.3)
 * @attr: max_wr is what is wanted, and then what there is
 * @limit: the limit that comes with it; NULL to keep the one that is armed
 * @req: which step a program asks for
 *
 * Receives that are posted stay, in their order, and QPs go on taking. May sleep.
 * Return: 0; -EINVAL where they or the limit do not fit, or a program asks for no step that it is
 * at; -ENOMEM; -EFAULT; -EINTR for who is killed; -EAGAIN where they were posted too fast.
 */
int srn_srq_resize(struct srn_srq *srq, struct ib_srq_attr *attr, const u32 *limit,
		   const struct srn_modify_srq_req *req, struct ib_udata *udata);

/** srn_srq_drop_next() - let go of a ring that is not gone over to; resize_lock, or the last user */
void srn_srq_drop_next(struct srn_srq *srq);

#endif
