/* SPDX-License-Identifier: GPL-2.0-only */
/* The ring of a CQ, for the files that a CQ is made of: cq, cq_event, cq_resize. */
#ifndef SRN_CQ_RING_H
#define SRN_CQ_RING_H

#include <rdma/uverbs_ioctl.h>

#include "cq.h"
#include "ucontext.h"

static inline struct srn_cqe *srn_cq_slot(struct srn_cqe *cqes, u32 entries, u32 index)
{
	return &cqes[index & (entries - 1)];
}

/* A resize takes the page away: nobody looks at it without the lock, but who destroys the CQ. */
static inline struct srn_cq_page *srn_cq_page_of(const struct srn_cq *cq)
{
	lockdep_assert_held(&cq->lock);
	return cq->page;
}

/* CQEs that wait to be polled. A program's index is believed as far as it harms
 * nobody: an impossible one gives more than entries, which counts as full.
 */
static inline u32 srn_cq_unconsumed(const struct srn_cq *cq)
{
	/* Acquire: the program has read the slots that it gives back. */
	u32 cons = cq->kernel ? cq->cons : smp_load_acquire(&srn_cq_page_of(cq)->cons);

	return cq->prod - cons;
}

static inline struct ib_ucontext *srn_cq_ucontext(struct ib_udata *udata)
{
	return &rdma_udata_to_drv_context(udata, struct srn_ucontext, ibuc)->ibuc;
}

static inline int srn_cq_ring_create(struct srn_shmem *mem, struct ib_ucontext *uctx, u32 entries)
{
	return srn_shmem_create(mem, uctx, SRN_QUEUE_OFFSET +
				array_size(entries, sizeof(struct srn_cqe)));
}

static inline void srn_cq_set_ring(struct srn_cq *cq)
{
	cq->page = cq->mem.addr;
	cq->cqes = cq->mem.addr + SRN_QUEUE_OFFSET;
}

#endif
