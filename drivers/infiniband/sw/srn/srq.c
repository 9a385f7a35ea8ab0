// SPDX-License-Identifier: GPL-2.0-only
/* Shared receive queues: many QPs take from one ring, under its lock. */
#include "device.h"
#include "srq.h"
#include "srq_ring.h"
#include "udata.h"
#include "wqe.h"

#include <kunit/visibility.h>
#include <linux/log2.h>

static_assert(sizeof(struct srn_srq_page) <= SRN_QUEUE_OFFSET);

static void raise(struct srn_srq *srq, enum ib_event_type type)
{
	struct ib_event event = {
		.device = srq->ibsrq.device,
		.element.srq = &srq->ibsrq,
		.event = type,
	};

	if (srq->ibsrq.event_handler)
		srq->ibsrq.event_handler(&event, srq->ibsrq.srq_context);
}

/* @count slots are posted. */
static enum srn_verdict take(struct srn_srq *srq, struct srn_rwqe *rwqe, u32 count, bool *below)
{
	enum srn_verdict v = srn_rwqe_fetch(srn_srq_slot(srq, srq->head), srq->max_sge, rwqe);

	lockdep_assert_held(&srq->lock);
	WRITE_ONCE(srq->head, srq->head + 1);
	/* Pairs with the acquire of who posts: the slot has been read. */
	smp_store_release(&srq->page->head, srq->head);
	*below = count - 1 < srq->limit;
	if (*below)
		srq->limit = 0;		/* one event for each arming */
	return v;
}

enum srn_verdict srn_srq_fetch(struct srn_srq *srq, struct srn_rwqe *rwqe)
{
	bool below = false, broken = false;
	enum srn_verdict v;
	unsigned long flags;
	u32 count;

	spin_lock_irqsave(&srq->lock, flags);
	/* Acquire: the slots before the tail are written. */
	count = smp_load_acquire(&srq->page->tail) - srq->head;
	if (count > srq->entries) {
		broken = !srq->error;
		srq->error = true;
		rwqe->wr_id = 0;
		v = SRN_V_LOC_QP_OP;
	} else if (!count) {
		v = SRN_V_RNR;
	} else {
		v = take(srq, rwqe, count, &below);
	}
	spin_unlock_irqrestore(&srq->lock, flags);

	if (unlikely(below))
		raise(srq, IB_EVENT_SRQ_LIMIT_REACHED);
	if (unlikely(broken))
		raise(srq, IB_EVENT_SRQ_ERR);
	return v;
}
EXPORT_SYMBOL_IF_KUNIT(srn_srq_fetch);

bool srn_srq_is_empty(struct srn_srq *srq)
{
	unsigned long flags;
	bool is_empty;

	spin_lock_irqsave(&srq->lock, flags);
	is_empty = READ_ONCE(srq->page->tail) == srq->head;
	spin_unlock_irqrestore(&srq->lock, flags);
	return is_empty;
}

int srn_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
		      const struct ib_recv_wr **bad_wr)
{
	struct srn_srq *srq = to_srn_srq(ibsrq);
	unsigned long flags;
	int err = 0;
	u32 tail;

	if (!srq->who.kernel)	/* programs post in their mapping */
		return -EOPNOTSUPP;
	spin_lock_irqsave(&srq->lock, flags);
	tail = srq->page->tail;
	for (; wr; wr = wr->next) {
		err = tail - srq->head < srq->entries ?
		      srn_rwqe_store(wr, srq->max_sge, srn_srq_slot(srq, tail)) : -ENOMEM;
		if (err) {
			*bad_wr = wr;
			break;
		}
		tail++;
	}
	/* Pairs with the acquire in srn_srq_fetch(). */
	smp_store_release(&srq->page->tail, tail);
	spin_unlock_irqrestore(&srq->lock, flags);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(srn_post_srq_recv);

static int check_attr(const struct ib_srq_init_attr *attr)
{
	if (attr->srq_type != IB_SRQT_BASIC)
		return -EOPNOTSUPP;
	if (!attr->attr.max_wr || attr->attr.max_wr > SRN_MAX_SRQ_WR ||
	    !attr->attr.max_sge || attr->attr.max_sge > SRN_MAX_SGE)
		return -EINVAL;
	return 0;
}

static int send_response(struct srn_srq *srq, struct ib_udata *udata)
{
	struct srn_create_srq_resp resp = {
		.srqn = srq->srqn,
		.mmap_offset = srn_shmem_offset(&srq->mem),
		.mmap_len = srn_shmem_len(&srq->mem),
		.entries = srq->entries,
		.stride = srq->stride,
	};

	return srn_udata_out(udata, &resp, sizeof(resp));
}

static int ring_create(struct srn_srq *srq, struct ib_udata *udata)
{
	struct srn_create_srq_req req;
	int err;

	err = srn_udata_in(udata, &req, sizeof(req));
	if (err)
		return err;
	if (req.comp_mask || req.reserved)
		return -EOPNOTSUPP;
	err = srn_srq_ring_alloc(srq, &srq->mem, srq->entries, udata);
	if (err)
		return err;
	srq->page = srq->mem.addr;
	if (udata)
		err = send_response(srq, udata);
	if (err)
		srn_shmem_destroy(&srq->mem);
	return err;
}

/* Numbers are for humans (and XRC, one day); they need not be dense. */
static u32 next_srqn(struct srn_dev *dev)
{
	u32 n = READ_ONCE(dev->srqn_next);

	while (!try_cmpxchg(&dev->srqn_next, &n, n + 1))
		;
	return n;
}

int srn_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *attr, struct ib_udata *udata)
{
	struct srn_dev *dev = to_srn_dev(ibsrq->device);
	struct srn_srq *srq = to_srn_srq(ibsrq);
	int err;

	err = check_attr(attr);
	if (err)
		return err;
	if (atomic_inc_return(&dev->num_srqs) > SRN_MAX_SRQ + (udata ? 0 : SRN_KERNEL_OBJECTS)) {
		atomic_dec(&dev->num_srqs);
		return -ENOMEM;
	}

	spin_lock_init(&srq->lock);
	mutex_init(&srq->resize_lock);
	srq->who = (struct srn_who){ .dev = dev, .pd = ibsrq->pd, .kernel = !udata };
	srq->entries = roundup_pow_of_two(attr->attr.max_wr);
	srq->max_sge = attr->attr.max_sge;
	srq->stride = srn_recv_stride(srq->max_sge);
	srq->limit = 0;		/* whatever @attr says: srn_modify_srq() arms */
	srq->srqn = next_srqn(dev);
	err = ring_create(srq, udata);
	if (err) {
		atomic_dec(&dev->num_srqs);
		return err;
	}
	attr->attr.max_wr = srq->entries;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_create_srq);

static int set_limit(struct srn_srq *srq, u32 limit)
{
	unsigned long flags;
	int err = -EINVAL;

	spin_lock_irqsave(&srq->lock, flags);
	if (limit <= srq->entries) {
		srq->limit = limit;
		err = 0;
	}
	spin_unlock_irqrestore(&srq->lock, flags);
	return err;
}

int srn_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
		   struct ib_udata *udata)
{
	const u32 *limit = mask & IB_SRQ_LIMIT ? &attr->srq_limit : NULL;
	struct srn_srq *srq = to_srn_srq(ibsrq);
	struct srn_modify_srq_req req;
	int err;

	err = srn_udata_in(udata, &req, sizeof(req));
	if (err)
		return err;
	if (req.comp_mask & ~(SRN_MODIFY_SRQ_RING | SRN_MODIFY_SRQ_MOVE))
		return -EOPNOTSUPP;
	if (!(req.comp_mask & SRN_MODIFY_SRQ_RING) && (req.resp_len || req.resp_addr))
		return -EOPNOTSUPP;
	if (mask & ~(IB_SRQ_MAX_WR | IB_SRQ_LIMIT))
		return -EINVAL;
	if (mask & IB_SRQ_MAX_WR)
		return srn_srq_resize(srq, attr, limit, &req, udata);
	if (req.comp_mask)
		return -EINVAL;
	return limit ? set_limit(srq, *limit) : 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_modify_srq);

int srn_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	struct srn_srq *srq = to_srn_srq(ibsrq);

	attr->max_wr = READ_ONCE(srq->entries);
	attr->max_sge = srq->max_sge;
	attr->srq_limit = READ_ONCE(srq->limit);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_query_srq);

int srn_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	struct srn_srq *srq = to_srn_srq(ibsrq);

	WRITE_ONCE(srq->page->gone, 1);
	spin_lock_irq(&srq->lock);
	srq->page = NULL;	/* as in srn_destroy_cq() */
	spin_unlock_irq(&srq->lock);
	srn_srq_drop_next(srq);
	srn_shmem_destroy(&srq->mem);
	mutex_destroy(&srq->resize_lock);
	atomic_dec(&to_srn_dev(ibsrq->device)->num_srqs);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_destroy_srq);
