// SPDX-License-Identifier: GPL-2.0-only
/* Events of completion queues: armed, put off, left to a softirq or to another CPU. */
#include "cq_event.h"

#include <kunit/visibility.h>
#include <linux/ktime.h>

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
	return srn_cq_unconsumed(cq) > cq->entries / 2 ? 0 : cq->entries / 2;
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
bool srn_cq_take_armed(struct srn_cq *cq, u32 num, bool solicited)
{
	struct srn_cq_page *page = srn_cq_page_of(cq);

	if (READ_ONCE(page->arm) == SRN_CQ_ARM_SOLICITED)
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

bool srn_cq_notify_begin(struct srn_cq *cq)
{
	if (!cq->ibcq.comp_handler || !begin_notifying(cq))
		return false;
	if (!srn_vector_is_elsewhere(vector_of(cq)))
		return true;
	leave_call(cq);
	return false;
}

void srn_cq_notify(struct srn_cq *cq)
{
	if (call_handler(cq))
		srn_vector_queue(vector_of(cq), &cq->notify_work);
}

/* What was put off is told of, if the CQ is still armed; cq->lock held. The call is left to a
 * softirq: handlers are used to that, and any number of timers may fire in one go.
 */
static void tell_put_off(struct srn_cq *cq)
{
	if (!srn_moderation_take(&cq->moderation) || !disarm(srn_cq_page_of(cq)))
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

bool srn_cq_is_armed(struct srn_cq *cq)
{
	unsigned long flags;
	bool armed;

	spin_lock_irqsave(&cq->lock, flags);
	armed = READ_ONCE(srn_cq_page_of(cq)->arm) != SRN_CQ_DISARMED;
	spin_unlock_irqrestore(&cq->lock, flags);
	return armed;
}
EXPORT_SYMBOL_IF_KUNIT(srn_cq_is_armed);

int srn_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	u32 arm = (flags & IB_CQ_SOLICITED_MASK) == IB_CQ_SOLICITED ? SRN_CQ_ARM_SOLICITED :
								       SRN_CQ_ARM_NEXT;
	struct srn_cq *cq = to_srn_cq(ibcq);
	struct srn_cq_page *page;
	unsigned long irq;
	int missed = 0;

	spin_lock_irqsave(&cq->lock, irq);
	page = srn_cq_page_of(cq);
	/* A wider request that is pending stays. */
	if (READ_ONCE(page->arm) != SRN_CQ_ARM_NEXT)
		WRITE_ONCE(page->arm, arm);
	if (flags & IB_CQ_REPORT_MISSED_EVENTS)
		missed = srn_cq_unconsumed(cq) != 0;
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

void srn_cq_event_init(struct srn_cq *cq)
{
	INIT_WORK(&cq->notify_work, go_on_notifying);
	hrtimer_init(&cq->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	cq->timer.function = period_ends;
}

void srn_cq_event_stop(struct srn_cq *cq)
{
	hrtimer_cancel(&cq->timer);
	cancel_work_sync(&cq->notify_work);
}
