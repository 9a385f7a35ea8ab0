// SPDX-License-Identifier: GPL-2.0-only
/* Completion queues. */
#include "cq.h"
#include "device.h"
#include "stats.h"
#include "ucontext.h"
#include "fault.h"
#include "udata.h"

#include <kunit/visibility.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>

static_assert(sizeof(struct srn_cqe) == 64);
static_assert(SRN_CQE_IPV4 == RDMA_NETWORK_IPV4 && SRN_CQE_IPV6 == RDMA_NETWORK_IPV6);
static_assert(sizeof(struct srn_cq_page) <= SRN_QUEUE_OFFSET);

static struct srn_cqe *slot_of(struct srn_cqe *cqes, u32 entries, u32 index)
{
	return &cqes[index & (entries - 1)];
}

/* A resize takes the page away: nobody looks at it without the lock, but who destroys the CQ. */
static struct srn_cq_page *page_of(const struct srn_cq *cq)
{
	lockdep_assert_held(&cq->lock);
	return cq->page;
}

/* CQEs that wait to be polled. A program's index is believed as far as it harms
 * nobody: an impossible one gives more than entries, which counts as full.
 */
static u32 unconsumed(const struct srn_cq *cq)
{
	/* Acquire: the program has read the slots that it gives back. */
	u32 cons = cq->kernel ? cq->cons : smp_load_acquire(&page_of(cq)->cons);

	return cq->prod - cons;
}

static bool disarm(struct srn_cq_page *page)
{
	return xchg(&page->arm, SRN_CQ_DISARMED) != SRN_CQ_DISARMED;
}

/* For what is put off. Moved lazily, as a QP's clock is: it stays where it would fire too early, finds
 * nothing that is due, and is set anew. So a CQ where events come by count pays for one in a period.
 */
static void set_timer(struct srn_cq *cq)
{
	ktime_t due = ns_to_ktime(cq->moderation.due_ns);

	lockdep_assert_held(&cq->lock);
	if (!hrtimer_is_queued(&cq->timer) || ktime_before(due, hrtimer_get_expires(&cq->timer)))
		hrtimer_start(&cq->timer, due, HRTIMER_MODE_ABS_SOFT);
}

/* Of a ring of which more than half waits to be polled nothing waits to be told: while who is told
 * wakes up, others need the rest.
 */
static u32 most_put_off(const struct srn_cq *cq)
{
	return unconsumed(cq) > cq->entries / 2 ? 0 : cq->entries / 2;
}

/* Whether @num completions, which would make an event, wait for more of them or for their time. Off
 * the way of CQs without moderation.
 */
static noinline bool put_off(struct srn_cq *cq, u32 num)
{
	if (srn_moderation_add(&cq->moderation, num, most_put_off(cq), ktime_get_ns()))
		return false;
	set_timer(cq);
	return true;
}

/* Whether @num completions notify now; disarms if so. Of those that are put off the CQ stays armed:
 * what comes is counted, and to arm it again is to arm it once. Who waits for solicited ones, and
 * errors, has asked for few events, which are not put off.
 */
static bool take_arm(struct srn_cq *cq, u32 num, bool solicited)
{
	struct srn_cq_page *page = page_of(cq);
	u32 arm;

	/* Pairs with the barrier of who arms: store arm, full barrier, load prod. */
	smp_mb();
	arm = READ_ONCE(page->arm);
	if (likely(arm == SRN_CQ_DISARMED))
		return false;
	if (arm == SRN_CQ_ARM_SOLICITED)
		return solicited && disarm(page);
	if (unlikely(srn_moderation_is_on(&cq->moderation)) && put_off(cq, num))
		return false;
	return disarm(page);
}

/* Calls of the event handler in one go. A program that arms without end, while others
 * add completions, shall not keep a softirq.
 */
#define NOTIFY_CALLS	8

/* Returns true if calls are left to be made; cq->notifying stays set. */
static bool call_handler(struct srn_cq *cq)
{
	int calls = NOTIFY_CALLS;
	unsigned long flags;
	bool again;

	do {
		cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
		spin_lock_irqsave(&cq->lock, flags);
		cq->num_calls++;
		again = cq->notify_again;
		cq->notify_again = false;
		cq->notifying = again;
		cq->notify_left = again && (cq->notify_left || calls == 1);
		spin_unlock_irqrestore(&cq->lock, flags);
	} while (again && --calls);
	return again;
}

/* Whether its events come on a CPU of their own, which is asked anew for each, since the core keeps CQs for its
 * users as long as there is the device. What is polled in a softirq has its vector chosen by who submits there, and
 * goes back to him anyway. Who is polled by a thread of the CPU, NFS, has any vector, and a program mostly the first
 * one: for these it is a way round, unless somebody asks for it. What the core hands to a thread on whatever
 * CPU, as MADs, gains nothing by it.
 */
static bool has_vector(const struct srn_cq *cq)
{
	enum srn_vectors_for whose = srn_vectors_for();

	if (!cq->kernel)
		return whose >= SRN_VECTORS_ALL;
	switch (cq->ibcq.poll_ctx) {
	case IB_POLL_SOFTIRQ:
		return whose >= SRN_VECTORS_SOFTIRQ;
	case IB_POLL_UNBOUND_WORKQUEUE:
		return false;
	default:
		return whose >= SRN_VECTORS_KERNEL;
	}
}

static struct srn_vector vector_of(const struct srn_cq *cq)
{
	return has_vector(cq) ? cq->vector : (struct srn_vector){};
}

static void go_on_notifying(struct work_struct *work)
{
	struct srn_cq *cq = container_of(work, struct srn_cq, notify_work);

	if (call_handler(cq))
		srn_vector_queue(vector_of(cq), work);
}

/* core_locking.rst: one event handler of a CQ at a time, and no lock held. Who
 * finds another context in the handler, or is called from it, leaves its event
 * to that one: false. cq->lock held.
 */
static bool begin_notifying(struct srn_cq *cq)
{
	bool busy = cq->notifying;

	lockdep_assert_held(&cq->lock);
	cq->notify_again |= busy;
	cq->notifying = true;
	return !busy;
}

/* The call is left to a softirq, on the CPU of the CQ's vector; cq->lock held. */
static void leave_call(struct srn_cq *cq)
{
	lockdep_assert_held(&cq->lock);
	cq->notify_left = true;
	srn_vector_queue(vector_of(cq), &cq->notify_work);
}

static void notify(struct srn_cq *cq)
{
	unsigned long flags;
	bool begins;

	if (!cq->ibcq.comp_handler)
		return;
	spin_lock_irqsave(&cq->lock, flags);
	begins = begin_notifying(cq);
	if (begins && srn_vector_is_elsewhere(vector_of(cq))) {
		leave_call(cq);
		begins = false;
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	if (begins && call_handler(cq))
		srn_vector_queue(vector_of(cq), &cq->notify_work);
}

/* What was put off is told of, if the CQ is still armed; cq->lock held. The call is left to a
 * softirq: handlers are used to that, and any number of timers may fire in one go.
 */
static void tell_put_off(struct srn_cq *cq)
{
	if (!srn_moderation_take(&cq->moderation) || !disarm(page_of(cq)))
		return;
	if (cq->ibcq.comp_handler && begin_notifying(cq))
		leave_call(cq);
}

static enum hrtimer_restart period_ends(struct hrtimer *timer)
{
	struct srn_cq *cq = container_of(timer, struct srn_cq, timer);
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	if (srn_moderation_is_due(&cq->moderation, ktime_get_ns()))
		tell_put_off(cq);
	else if (srn_moderation_waits(&cq->moderation))
		set_timer(cq);
	spin_unlock_irqrestore(&cq->lock, flags);
	return HRTIMER_NORESTART;	/* set_timer() has started it */
}

static void raise_overrun(struct srn_cq *cq)
{
	struct ib_event event = {
		.device = cq->ibcq.device,
		.element.cq = &cq->ibcq,
		.event = IB_EVENT_CQ_ERR,
	};

	if (cq->ibcq.event_handler)
		cq->ibcq.event_handler(&event, cq->ibcq.cq_context);
}

/* cq->lock held, there is room. */
static void put_cqe(struct srn_cq *cq, const struct srn_cqe *cqe, struct ib_qp *qp)
{
	struct srn_cqe *slot = slot_of(cq->cqes, cq->entries, cq->prod);

	lockdep_assert_held(&cq->lock);
	*slot = *cqe;
	if (cq->timestamps)
		slot->timestamp = ktime_get_ns();
	if (cq->kernel)
		cq->qps[cq->prod & (cq->entries - 1)] = qp;
	cq->prod++;
	/* Pairs with the acquire in the provider's poll: first the CQE. */
	smp_store_release(&page_of(cq)->prod, cq->prod);
}

/* Of @num completions as many as there is room for, which who polls meanwhile makes; cq->lock held. */
static u32 put_cqes(struct srn_cq *cq, const struct srn_cqe *cqes, u32 num, struct ib_qp *qp)
{
	u32 waiting, i;

	for (i = 0; i < num && !cq->overrun; i++) {
		waiting = unconsumed(cq);
		WRITE_ONCE(cq->waiting, waiting);
		if (unlikely(waiting >= cq->entries))
			break;
		put_cqe(cq, cqes + i, qp);
	}
	return i;
}

u32 srn_cq_post_many(struct srn_cq *cq, const struct srn_cqe *cqes, u32 num, bool solicited,
		     struct ib_qp *qp)
{
	bool armed = false, was_dead;
	unsigned long flags;
	u32 put;

	spin_lock_irqsave(&cq->lock, flags);
	was_dead = cq->overrun;
	put = put_cqes(cq, cqes, num, qp);
	if (likely(put))
		armed = take_arm(cq, put, solicited);
	if (unlikely(put != num)) {
		cq->overrun = true;
		smp_store_release(&page_of(cq)->dead, SRN_CQ_OVERRUN);
	}
	spin_unlock_irqrestore(&cq->lock, flags);

	if (armed)
		notify(cq);
	if (likely(put == num))
		return put;
	srn_count_add(to_srn_dev(cq->ibcq.device), SRN_CNT_CQ_OVERRUN, num - put);
	if (!was_dead)
		raise_overrun(cq);
	return put;
}
EXPORT_SYMBOL_IF_KUNIT(srn_cq_post_many);

bool srn_cq_post(struct srn_cq *cq, const struct srn_cqe *cqe, bool solicited, struct ib_qp *qp)
{
	return srn_cq_post_many(cq, cqe, 1, solicited, qp);
}
EXPORT_SYMBOL_IF_KUNIT(srn_cq_post);

u32 srn_cq_room(struct srn_cq *cq)
{
	unsigned long flags;
	u32 waiting, room;

	spin_lock_irqsave(&cq->lock, flags);
	waiting = unconsumed(cq);
	room = cq->overrun || waiting > cq->entries ? 0 : cq->entries - waiting;
	spin_unlock_irqrestore(&cq->lock, flags);
	return room;
}

bool srn_cq_is_armed(struct srn_cq *cq)
{
	unsigned long flags;
	bool armed;

	spin_lock_irqsave(&cq->lock, flags);
	armed = READ_ONCE(page_of(cq)->arm) != SRN_CQ_DISARMED;
	spin_unlock_irqrestore(&cq->lock, flags);
	return armed;
}
EXPORT_SYMBOL_IF_KUNIT(srn_cq_is_armed);

bool srn_cq_is_left(struct srn_cq *cq, u32 num)
{
	unsigned long flags;
	bool left;

	spin_lock_irqsave(&cq->lock, flags);
	left = unconsumed(cq) >= num;
	spin_unlock_irqrestore(&cq->lock, flags);
	return left;
}
EXPORT_SYMBOL_IF_KUNIT(srn_cq_is_left);

void srn_cq_forget_qp(struct srn_cq *cq, struct ib_qp *qp)
{
	u32 mask = cq->entries - 1, from, to;
	unsigned long flags;

	if (!cq->kernel)
		return;
	/* Move what stays up to the newer end, so that prod need not go back. */
	spin_lock_irqsave(&cq->lock, flags);
	for (from = to = cq->prod; from != cq->cons; ) {
		from--;
		if (cq->qps[from & mask] == qp)
			continue;
		to--;
		cq->qps[to & mask] = cq->qps[from & mask];
		cq->cqes[to & mask] = cq->cqes[from & mask];
	}
	cq->cons = to;
	spin_unlock_irqrestore(&cq->lock, flags);
}
EXPORT_SYMBOL_IF_KUNIT(srn_cq_forget_qp);

static int wc_flags(u32 flags)
{
	return (flags & SRN_WC_GRH ? IB_WC_GRH | IB_WC_WITH_NETWORK_HDR_TYPE : 0) |
	       (flags & SRN_WC_WITH_IMM ? IB_WC_WITH_IMM : 0) |
	       (flags & SRN_WC_WITH_INV ? IB_WC_WITH_INVALIDATE : 0) |
	       (flags & SRN_WC_WITH_VLAN ? IB_WC_WITH_VLAN : 0);
}

static void to_wc(const struct srn_cqe *cqe, struct ib_qp *qp, struct ib_wc *wc)
{
	*wc = (struct ib_wc) {
		.wr_id = cqe->wr_id,
		.status = cqe->status,
		.opcode = cqe->opcode,
		.vendor_err = cqe->vendor_err,
		.byte_len = cqe->byte_len,
		.qp = qp,
		.ex.imm_data = cqe->imm,	/* or the key: the same bytes */
		.src_qp = cqe->src_qp,
		.wc_flags = wc_flags(cqe->wc_flags),
		.pkey_index = cqe->pkey_index,
		.sl = cqe->sl,
		.port_num = cqe->port_num,
		.network_hdr_type = cqe->network_hdr_type,
		.vlan_id = cqe->vlan_id,
	};
}

int srn_poll_cq(struct ib_cq *ibcq, int n, struct ib_wc *wc)
{
	struct srn_cq *cq = to_srn_cq(ibcq);
	u32 mask = cq->entries - 1;
	unsigned long flags;
	int got = 0;

	if (!cq->kernel)	/* programs poll their mapping */
		return -EOPNOTSUPP;
	spin_lock_irqsave(&cq->lock, flags);
	while (got < n && cq->cons != cq->prod) {
		to_wc(&cq->cqes[cq->cons & mask], cq->qps[cq->cons & mask], &wc[got++]);
		cq->cons++;
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	return got;
}
EXPORT_SYMBOL_IF_KUNIT(srn_poll_cq);

int srn_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	u32 arm = (flags & IB_CQ_SOLICITED_MASK) == IB_CQ_SOLICITED ? SRN_CQ_ARM_SOLICITED :
								       SRN_CQ_ARM_NEXT;
	struct srn_cq *cq = to_srn_cq(ibcq);
	struct srn_cq_page *page;
	unsigned long irq;
	int missed = 0;

	spin_lock_irqsave(&cq->lock, irq);
	page = page_of(cq);
	/* A wider request that is pending stays. */
	if (READ_ONCE(page->arm) != SRN_CQ_ARM_NEXT)
		WRITE_ONCE(page->arm, arm);
	if (flags & IB_CQ_REPORT_MISSED_EVENTS)
		missed = unconsumed(cq) != 0;
	spin_unlock_irqrestore(&cq->lock, irq);
	return missed;
}
EXPORT_SYMBOL_IF_KUNIT(srn_req_notify_cq);

int srn_modify_cq(struct ib_cq *ibcq, u16 count, u16 period_us)
{
	struct srn_cq *cq = to_srn_cq(ibcq);
	int err;

	might_sleep();
	local_bh_disable();
	spin_lock_irq(&cq->lock);
	err = srn_moderation_set(&cq->moderation, count, period_us);
	/* Put off as was wanted before: it is never wrong to tell of it now. */
	if (!err)
		tell_put_off(cq);
	spin_unlock_irq(&cq->lock);
	local_bh_enable();	/* runs here what would wait for ksoftirqd */
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(srn_modify_cq);

static struct ib_ucontext *udata_ucontext(struct ib_udata *udata)
{
	return &rdma_udata_to_drv_context(udata, struct srn_ucontext, ibuc)->ibuc;
}

static int ring_create(struct srn_shmem *mem, struct ib_ucontext *uctx, u32 entries)
{
	return srn_shmem_create(mem, uctx, SRN_QUEUE_OFFSET +
				array_size(entries, sizeof(struct srn_cqe)));
}

static int init_user(struct srn_cq *cq, struct ib_udata *udata)
{
	struct srn_create_cq_resp resp = {};
	struct srn_create_cq_req req;
	int err;

	err = srn_udata_in(udata, &req, sizeof(req));
	if (err)
		return err;
	if (req.comp_mask || req.reserved)
		return -EOPNOTSUPP;
	err = ring_create(&cq->mem, udata_ucontext(udata), cq->entries);
	if (err)
		return err;

	resp.entries = cq->entries;
	resp.mmap_offset = srn_shmem_offset(&cq->mem);
	resp.mmap_len = srn_shmem_len(&cq->mem);
	err = srn_udata_out(udata, &resp, sizeof(resp));
	if (err)
		srn_shmem_destroy(&cq->mem);
	return err;
}

static int init_kernel(struct srn_cq *cq)
{
	int err;

	cq->kernel = true;
	cq->qps = kvcalloc(cq->entries, sizeof(*cq->qps), GFP_KERNEL);
	if (!cq->qps)
		return -ENOMEM;
	err = ring_create(&cq->mem, NULL, cq->entries);
	if (err)
		kvfree(cq->qps);
	return err;
}

static void set_ring(struct srn_cq *cq)
{
	cq->page = cq->mem.addr;
	cq->cqes = cq->mem.addr + SRN_QUEUE_OFFSET;
}

int srn_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		  struct uverbs_attr_bundle *attrs)
{
	struct srn_dev *dev = to_srn_dev(ibcq->device);
	struct srn_cq *cq = to_srn_cq(ibcq);
	int err;

	if (attr->flags & ~IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION)
		return -EOPNOTSUPP;
	if (!attr->cqe || attr->cqe > SRN_MAX_CQE ||
	    attr->comp_vector >= ibcq->device->num_comp_vectors)
		return -EINVAL;
	if (atomic_inc_return(&dev->num_cqs) > SRN_MAX_CQ + (attrs ? 0 : SRN_KERNEL_OBJECTS)) {
		atomic_dec(&dev->num_cqs);
		return -ENOMEM;
	}

	spin_lock_init(&cq->lock);
	mutex_init(&cq->resize_lock);
	INIT_WORK(&cq->notify_work, go_on_notifying);
	hrtimer_init(&cq->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	cq->timer.function = period_ends;
	cq->timestamps = attr->flags & IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION;
	cq->entries = roundup_pow_of_two(attr->cqe);
	cq->vector = srn_vectors_at(&dev->vectors, attr->comp_vector);
	err = attrs ? init_user(cq, &attrs->driver_udata) : init_kernel(cq);
	if (err) {
		atomic_dec(&dev->num_cqs);
		return err;
	}
	set_ring(cq);
	ibcq->cqe = cq->entries;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_create_cq);

/* Calls that end behind the first @since of them, until one has begun behind these: the first of the two may have been
 * under way.
 */
#define CALLS_SETTLE	2

/* Whether one is left to a softirq that is for what completed before @since of them had ended. */
static bool calls_left(struct srn_cq *cq, u32 since)
{
	bool left;

	spin_lock_irq(&cq->lock);
	left = cq->notify_left && cq->num_calls - since < CALLS_SETTLE;
	spin_unlock_irq(&cq->lock);
	return left;
}

/* The timer stays: other QPs' completions may need it. It finds nothing of those that are told. Returns how many
 * calls had ended by then.
 */
static u32 tell_rest(struct srn_cq *cq)
{
	u32 num;

	local_bh_disable();
	spin_lock_irq(&cq->lock);
	tell_put_off(cq);
	num = cq->num_calls;
	spin_unlock_irq(&cq->lock);
	local_bh_enable();	/* as in srn_modify_cq() */
	return num;
}

/* Looks at it in this time first, as long as another CPU takes to run a softirq, and then in longer ones: it
 * may be busy.
 */
#define SETTLE_US	20u
#define SETTLE_MOST_US	(8 * USEC_PER_MSEC)

/* No flush_work(): who reclaims memory may destroy QPs, and is not to wait for a queue that
 * is not for reclaim. This one is run by softirqs alone, which need no memory. Nor a
 * cancellation: calls that others leave meanwhile would be lost.
 */
void srn_cq_settle(struct srn_cq *cq)
{
	u32 since = tell_rest(cq), us = SETTLE_US;

	while (calls_left(cq, since)) {
		usleep_range(us, 2 * us);
		us = min(2 * us, SETTLE_MOST_US);
	}
}
EXPORT_SYMBOL_IF_KUNIT(srn_cq_settle);

int srn_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct srn_cq *cq = to_srn_cq(ibcq);

	/* Its QPs have gone before it. When the device goes, the program keeps
	 * the mapping, and polls it.
	 */
	smp_store_release(&cq->page->dead, SRN_CQ_GONE);
	hrtimer_cancel(&cq->timer);
	cancel_work_sync(&cq->notify_work);
	spin_lock_irq(&cq->lock);
	cq->page = NULL;	/* who still shows the CQ to somebody sees it */
	spin_unlock_irq(&cq->lock);
	srn_shmem_destroy(&cq->mem);
	kvfree(cq->qps);
	mutex_destroy(&cq->resize_lock);
	atomic_dec(&to_srn_dev(ibcq->device)->num_cqs);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_destroy_cq);

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
		*slot_of(cqes, new->entries, new->copied) =
			*slot_of(cq->cqes, cq->entries, new->copied);
}

/* How many CQEs are to be copied: those that the program consumed meanwhile are not; cq->lock
 * held. -EINVAL where they do not fit.
 */
static int to_copy(const struct srn_cq *cq, struct new_ring *new)
{
	u32 count = unconsumed(cq);

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
	page->arm = READ_ONCE(page_of(cq)->arm);
	page->dead = cq->overrun ? SRN_CQ_OVERRUN : 0;
	swap(cq->mem, new->mem);
	set_ring(cq);
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
			switch_ring(cq, new, unconsumed(cq));
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

	err = ring_create(&new.mem, udata_ucontext(udata), entries);
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
