// SPDX-License-Identifier: GPL-2.0-only
/* Completion queues get another ring, while completions come. */
#include "cq_ring.h"

#include <linux/log2.h>
#include <linux/sched/signal.h>

#include "fault.h"
#include "udata.h"

struct new_ring {
	struct srn_shmem mem;
	u32 entries;
	u32 copied;		/* CQEs before this index are there */
};

/* CQEs that are copied with interrupts off, and with one scheduling. */
#define COPY_LOCKED	64
#define COPY_BULK	4096
/* Looks at a CQ that fills while it is copied. Copying is much the faster of both. */
#define COPY_TRIES	1000

static void copy_cqes(const struct srn_cq *cq, struct new_ring *new, u32 to)
{
	struct srn_cqe *cqes = new->mem.addr + SRN_QUEUE_OFFSET;

	for (; new->copied != to; new->copied++)
		*srn_cq_slot(cqes, new->entries, new->copied) =
			*srn_cq_slot(cq->cqes, cq->entries, new->copied);
}

/* How many CQEs are to be copied: those that the program consumed meanwhile are not; cq->lock
 * held. -EINVAL where they do not fit.
 */
static int to_copy(const struct srn_cq *cq, struct new_ring *new)
{
	u32 count = srn_cq_unconsumed(cq);

	lockdep_assert_held(&cq->lock);
	if (count > cq->entries || count > new->entries)
		return -EINVAL;
	if (cq->prod - new->copied > count)
		new->copied = cq->prod - count;
	return cq->prod - new->copied;
}

/* Most of the CQEs, with the lock free: up to 256 MiB. What the program consumes
 * meanwhile may be overwritten below the copy, and does not count any more.
 */
static void copy_bulk(struct srn_cq *cq, struct new_ring *new, u32 to)
{
	while (to - new->copied > COPY_BULK) {
		copy_cqes(cq, new, new->copied + COPY_BULK);
		cond_resched();
	}
	copy_cqes(cq, new, to);
	srn_delay(SRN_DELAY_CQ_COPIED);
}

/* The last CQEs, and the change to the new ring; cq->lock held. */
static void switch_ring(struct srn_cq *cq, struct new_ring *new, u32 count)
{
	struct srn_cq_page *page = new->mem.addr;

	lockdep_assert_held(&cq->lock);
	copy_cqes(cq, new, cq->prod);
	page->cons = cq->prod - count;
	page->prod = cq->prod;
	page->arm = READ_ONCE(srn_cq_page_of(cq)->arm);
	page->dead = cq->overrun ? SRN_CQ_OVERRUN : 0;
	swap(cq->mem, new->mem);
	srn_cq_set_ring(cq);
	cq->entries = new->entries;
	cq->ibcq.cqe = new->entries;
}

/* Copies until so little is left that it may be done under the lock. */
static int move_ring(struct srn_cq *cq, struct new_ring *new)
{
	int tries = COPY_TRIES, left;
	u32 prod;

	new->copied = READ_ONCE(cq->prod) - cq->entries;	/* nothing, whatever waits */
	do {
		spin_lock_irq(&cq->lock);
		left = to_copy(cq, new);
		prod = cq->prod;
		if (left >= 0 && left <= COPY_LOCKED)
			switch_ring(cq, new, srn_cq_unconsumed(cq));
		spin_unlock_irq(&cq->lock);
		if (left <= COPY_LOCKED)
			return min(left, 0);
		copy_bulk(cq, new, prod);
	} while (--tries && !fatal_signal_pending(current));
	return -EAGAIN;
}

static int resize(struct srn_cq *cq, u32 entries, struct ib_udata *udata)
{
	struct srn_resize_cq_resp resp = {};
	struct new_ring new = { .entries = entries };
	int err;

	err = srn_cq_ring_create(&new.mem, srn_cq_ucontext(udata), entries);
	if (err)
		return err;
	resp.entries = entries;
	resp.mmap_offset = srn_shmem_offset(&new.mem);
	resp.mmap_len = srn_shmem_len(&new.mem);
	/* Told first: the change can't be undone, and to tell may take as long as the
	 * program likes, while completions come.
	 */
	err = srn_udata_out(udata, &resp, sizeof(resp)) ?: move_ring(cq, &new);
	/* The old ring, or the new one if it was not taken. */
	srn_shmem_destroy(&new.mem);
	return err;
}

int srn_resize_cq(struct ib_cq *ibcq, int cqe, struct ib_udata *udata)
{
	struct srn_cq *cq = to_srn_cq(ibcq);
	int err;

	if (cq->kernel || !udata)
		return -EOPNOTSUPP;
	if (cqe < 1 || cqe > SRN_MAX_CQE)
		return -EINVAL;
	err = srn_udata_in(udata, NULL, 0);
	if (err)
		return err;
	/* Killable: who holds it tells a program of its ring, where that may never answer. */
	if (mutex_lock_killable(&cq->resize_lock))
		return -EINTR;
	err = resize(cq, roundup_pow_of_two(cqe), udata);
	mutex_unlock(&cq->resize_lock);
	return err;
}
