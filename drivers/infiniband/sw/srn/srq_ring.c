// SPDX-License-Identifier: GPL-2.0-only
/* The ring of a shared receive queue, and how the queue goes over to another. */
#include "srq_ring.h"

#include <linux/log2.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <rdma/uverbs_ioctl.h>

#include "fault.h"
#include "ucontext.h"

int srn_srq_ring_alloc(const struct srn_srq *srq, struct srn_shmem *mem, u32 entries,
		       struct ib_udata *udata)
{
	struct ib_ucontext *uctx = NULL;

	if (udata)
		uctx = &rdma_udata_to_drv_context(udata, struct srn_ucontext, ibuc)->ibuc;
	return srn_shmem_create(mem, uctx, SRN_QUEUE_OFFSET + array_size(entries, srq->stride));
}

/* Bytes of receives that are copied with interrupts off, and receives with one scheduling. */
#define COPY_LOCKED	8192
#define COPY_BULK	4096
/* Looks at a queue that fills while it is copied. Copying is much the faster of both. */
#define COPY_TRIES	1000

/* Bytes, which a program may change under us: they are proven when they are fetched. */
static void copy_slots(const struct srn_srq *srq, struct srn_srq_ring *to, u32 tail)
{
	for (; to->copied != tail; to->copied++)
		memcpy(srn_srq_slot_in(&to->mem, to->entries, srq->stride, to->copied),
		       srn_srq_slot(srq, to->copied), srq->stride);
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

/* The last receives, and the change; lock held. @to has the old ring's memory then, to be dropped. */
static void switch_ring(struct srn_srq *srq, struct srn_srq_ring *to, u32 tail, u32 limit)
{
	struct srn_srq_page *page = to->mem.addr;

	lockdep_assert_held(&srq->lock);
	copy_slots(srq, to, tail);
	page->head = srq->head;
	page->tail = tail;
	WRITE_ONCE(srq->page->gone, 1);
	swap(srq->mem, to->mem);
	WRITE_ONCE(srq->entries, to->entries);
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

void srn_srq_drop_next(struct srn_srq *srq)
{
	srn_shmem_destroy(&srq->next.mem);
	srq->next.entries = 0;
}

/* One that was made before, and not gone over to, is let go of first: there are two at most. */
static int make_next(struct srn_srq *srq, u32 entries, struct ib_udata *udata)
{
	int err;

	srn_srq_drop_next(srq);
	err = srn_srq_ring_alloc(srq, &srq->next.mem, entries, udata);
	if (!err)
		srq->next.entries = entries;
	return err;
}

static int go_over(struct srn_srq *srq, u32 entries, const u32 *limit)
{
	int err = srq->next.entries == entries ? move_ring(srq, &srq->next, limit) : -EINVAL;

	/* Moved, it is the old ring by now; else the new one. */
	srn_srq_drop_next(srq);
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
		srn_srq_drop_next(srq);
	return err;
}

static int resize_kernel(struct srn_srq *srq, u32 entries, const u32 *limit)
{
	return make_next(srq, entries, NULL) ?: go_over(srq, entries, limit);
}

int srn_srq_resize(struct srn_srq *srq, struct ib_srq_attr *attr, const u32 *limit,
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
