// SPDX-License-Identifier: GPL-2.0-only
/* Shared receive queues: many QPs take from one ring, under its lock. */
#include "device.h"
#include "fault.h"
#include "srq.h"
#include "ucontext.h"
#include "udata.h"
#include "wqe.h"

#include <kunit/visibility.h>
#include <linux/log2.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <rdma/uverbs_ioctl.h>

static_assert(sizeof(struct srn_srq_page) <= SRN_QUEUE_OFFSET);

static void *slot_in(const struct srn_shmem *mem, u32 entries, u32 stride, u32 index)
{
	return mem->addr + SRN_QUEUE_OFFSET + (size_t)(index & (entries - 1)) * stride;
}

static struct srn_recv_wqe *slot_of(const struct srn_srq *srq, u32 index)
{
	return slot_in(&srq->mem, srq->entries, srq->stride, index);
}

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
	enum srn_verdict v = srn_rwqe_fetch(slot_of(srq, srq->head), srq->max_sge, rwqe);

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
		      srn_rwqe_store(wr, srq->max_sge, slot_of(srq, tail)) : -ENOMEM;
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

static int ring_alloc(const struct srn_srq *srq, struct srn_shmem *mem, u32 entries,
		      struct ib_udata *udata)
{
	struct ib_ucontext *uctx = NULL;

	if (udata)
		uctx = &rdma_udata_to_drv_context(udata, struct srn_ucontext, ibuc)->ibuc;
	return srn_shmem_create(mem, uctx, SRN_QUEUE_OFFSET + array_size(entries, srq->stride));
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
	err = ring_alloc(srq, &srq->mem, srq->entries, udata);
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
	srq->max_wr = srq->entries;
	srq->max_sge = attr->attr.max_sge;
	srq->stride = srn_recv_stride(srq->max_sge);
	srq->limit = 0;		/* whatever @attr says: srn_modify_srq() arms */
	srq->srqn = next_srqn(dev);
	err = ring_create(srq, udata);
	if (err) {
		atomic_dec(&dev->num_srqs);
		return err;
	}
	attr->attr.max_wr = srq->max_wr;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_create_srq);

/* Bytes of receives that are copied with interrupts off, and receives with one scheduling. */
#define COPY_LOCKED	8192
#define COPY_BULK	4096
/* Looks at a queue that fills while it is copied. Copying is much the faster of both. */
#define COPY_TRIES	1000

/* Bytes, which a program may change under us: they are proven when they are fetched. */
static void copy_slots(const struct srn_srq *srq, struct srn_srq_ring *to, u32 tail)
{
	for (; to->copied != tail; to->copied++)
		memcpy(slot_in(&to->mem, to->entries, srq->stride, to->copied),
		       slot_of(srq, to->copied), srq->stride);
}

/* Up to 32 MiB, with the lock free. What is taken meanwhile may be overwritten below the copy, and
 * does not count any more.
 */
static void copy_bulk(const struct srn_srq *srq, struct srn_srq_ring *to, u32 tail)
{
	while (tail - to->copied > COPY_BULK) {
		copy_slots(srq, to, to->copied + COPY_BULK);
		cond_resched();
	}
	copy_slots(srq, to, tail);
	srn_delay(SRN_DELAY_SRQ_COPIED);
}

/* How many of those before @tail are to be copied; lock held. -EINVAL where they, or the limit, do
 * not fit. A tail that goes back, as a program's may, has all copied again.
 */
static int to_copy(const struct srn_srq *srq, struct srn_srq_ring *to, u32 tail, u32 limit)
{
	u32 count = tail - srq->head;

	lockdep_assert_held(&srq->lock);
	if (count > srq->entries || count > to->entries || limit > to->entries)
		return -EINVAL;
	if (tail - to->copied > count)
		to->copied = srq->head;
	return tail - to->copied;
}

/* The last receives, and the change; lock held. @to has the old ring then. */
static void switch_ring(struct srn_srq *srq, struct srn_srq_ring *to, u32 tail, u32 limit)
{
	struct srn_srq_page *page = to->mem.addr;

	lockdep_assert_held(&srq->lock);
	copy_slots(srq, to, tail);
	page->head = srq->head;
	page->tail = tail;
	WRITE_ONCE(srq->page->gone, 1);
	swap(srq->mem, to->mem);
	swap(srq->entries, to->entries);
	WRITE_ONCE(srq->max_wr, srq->entries);
	srq->limit = limit;
	srq->page = page;
}

static bool is_little(const struct srn_srq *srq, int left)
{
	return left >= 0 && left <= max_t(int, 1, COPY_LOCKED / srq->stride);
}

/* Copies until so little is left that it may be done under the lock. @limit: NULL to keep it. */
static int move_ring(struct srn_srq *srq, struct srn_srq_ring *to, const u32 *limit)
{
	int tries = COPY_TRIES, left;
	u32 tail, new_limit;

	to->copied = READ_ONCE(srq->head);
	do {
		spin_lock_irq(&srq->lock);
		/* Acquire: the slots before it are written. */
		tail = smp_load_acquire(&srq->page->tail);
		new_limit = limit ? *limit : srq->limit;
		left = to_copy(srq, to, tail, new_limit);
		if (is_little(srq, left))
			switch_ring(srq, to, tail, new_limit);
		spin_unlock_irq(&srq->lock);
		if (left < 0)
			return left;
		if (is_little(srq, left))
			return 0;
		copy_bulk(srq, to, tail);
		if (fatal_signal_pending(current))
			return -EINTR;
	} while (--tries);
	return -EAGAIN;
}

static void drop_next(struct srn_srq *srq)
{
	srn_shmem_destroy(&srq->next.mem);
	srq->next.entries = 0;
}

/* One that was made before, and not gone over to, is let go of first: there are two at most. */
static int make_next(struct srn_srq *srq, u32 entries, struct ib_udata *udata)
{
	int err;

	drop_next(srq);
	err = ring_alloc(srq, &srq->next.mem, entries, udata);
	if (!err)
		srq->next.entries = entries;
	return err;
}

static int go_over(struct srn_srq *srq, u32 entries, const u32 *limit)
{
	int err = srq->next.entries == entries ? move_ring(srq, &srq->next, limit) : -EINVAL;

	/* Moved, it is the old ring by now; else the new one. */
	drop_next(srq);
	return err;
}

static int tell_next(const struct srn_srq *srq, const struct srn_modify_srq_req *req)
{
	struct srn_modify_srq_resp resp = {
		.entries = srq->next.entries,
		.mmap_offset = srn_shmem_offset(&srq->next.mem),
		.mmap_len = srn_shmem_len(&srq->next.mem),
	};
	size_t len = min_t(size_t, req->resp_len, sizeof(resp));

	return copy_to_user(u64_to_user_ptr(req->resp_addr), &resp, len) ? -EFAULT : 0;
}

/* A program maps the new ring before anything changes: from there on nothing can fail that would
 * leave it without one. One that asks for neither step, as it does not know of them, would go on in
 * the old ring.
 */
static int resize_user(struct srn_srq *srq, u32 entries, const u32 *limit,
		       const struct srn_modify_srq_req *req, struct ib_udata *udata)
{
	int err;

	if (req->comp_mask == SRN_MODIFY_SRQ_MOVE)
		return go_over(srq, entries, limit);
	if (req->comp_mask != SRN_MODIFY_SRQ_RING)
		return -EINVAL;
	err = make_next(srq, entries, udata);
	if (err)
		return err;
	err = tell_next(srq, req);
	if (err)
		drop_next(srq);
	return err;
}

static int resize_kernel(struct srn_srq *srq, u32 entries, const u32 *limit)
{
	return make_next(srq, entries, NULL) ?: go_over(srq, entries, limit);
}

static int resize(struct srn_srq *srq, struct ib_srq_attr *attr, const u32 *limit,
		  const struct srn_modify_srq_req *req, struct ib_udata *udata)
{
	u32 entries;
	int err;

	if (!attr->max_wr || attr->max_wr > SRN_MAX_SRQ_WR)
		return -EINVAL;
	entries = roundup_pow_of_two(attr->max_wr);
	if (limit && *limit > entries)
		return -EINVAL;
	/* Killable: who holds it tells a program of its ring, where that may never answer. */
	if (mutex_lock_killable(&srq->resize_lock))
		return -EINTR;
	err = srq->who.kernel ? resize_kernel(srq, entries, limit) :
				resize_user(srq, entries, limit, req, udata);
	mutex_unlock(&srq->resize_lock);
	if (!err)
		attr->max_wr = entries;
	return err;
}

static int set_limit(struct srn_srq *srq, u32 limit)
{
	unsigned long flags;
	int err = -EINVAL;

	spin_lock_irqsave(&srq->lock, flags);
	if (limit <= srq->max_wr) {
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
		return resize(srq, attr, limit, &req, udata);
	if (req.comp_mask)
		return -EINVAL;
	return limit ? set_limit(srq, *limit) : 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_modify_srq);

int srn_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	struct srn_srq *srq = to_srn_srq(ibsrq);

	attr->max_wr = READ_ONCE(srq->max_wr);
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
	drop_next(srq);
	srn_shmem_destroy(&srq->mem);
	mutex_destroy(&srq->resize_lock);
	atomic_dec(&to_srn_dev(ibsrq->device)->num_srqs);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_destroy_srq);
