/* SPDX-License-Identifier: GPL-2.0-only */
/* Completion queues: one ring of struct srn_cqe, consumed by a program through
 * its mapping or by ib_poll_cq().
 */
#ifndef SRN_CQ_H
#define SRN_CQ_H

#include <linux/hrtimer.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include <rdma/srn-abi.h>

#include "moderation.h"
#include "shmem.h"
#include "vector.h"

struct srn_cq {
	struct ib_cq ibcq;
	struct srn_shmem mem;
	struct srn_cq_page *page;	/* NULL once it is destroyed; lock */
	struct srn_cqe *cqes;
	struct ib_qp **qps;		/* kernel CQs: wc.qp of each slot */
	spinlock_t lock;		/* ring below; taken with interrupts off */
	u32 entries;			/* power of two */
	u32 prod;
	u32 cons;			/* kernel CQs; else page->cons */
	u32 waiting;			/* unpolled when the newest was added; read as a hint */
	bool kernel;
	bool timestamps;		/* the program asked for them */
	bool overrun;
	/* The event handler runs in one context at a time; see srn_cq_notify_begin(). */
	bool notifying;
	bool notify_again;
	bool notify_left;		/* notify_work is to go on; lock */
	u32 num_calls;			/* of the event handler, that have ended; lock */
	struct work_struct notify_work;	/* goes on with it, in a softirq */
	struct srn_vector vector;	/* where the event handler runs */
	struct mutex resize_lock;	/* one resize at a time */
	struct srn_moderation moderation;	/* events that are put off; lock */
	/* Fires no later than what waits there is due; started with lock held. */
	struct hrtimer timer;
};

static inline struct srn_cq *to_srn_cq(struct ib_cq *cq)
{
	return container_of(cq, struct srn_cq, ibcq);
}

/* struct srn_cqe.wc_flags: user numbering (the kernel's differs for WITH_INV). */
#define SRN_WC_GRH		BIT(0)
#define SRN_WC_WITH_IMM		BIT(1)
#define SRN_WC_WITH_INV		BIT(3)
#define SRN_WC_WITH_VLAN	BIT(16)	/* kernel users only */

/**
 * srn_cq_post() - add a completion and notify if armed: now, or later where that is moderated
 * @cq: CQ
 * @cqe: copied; timestamp is filled here
 * @solicited: the completion is a solicited one, or an error
 * @qp: for wc.qp of kernel users
 *
 * Any context but hard interrupts; the event handler runs after the lock is dropped, or, where the CQ's
 * vector is another CPU, there, in a softirq.
 * Return: false when there was no room: the CQ is overrun, an IB_EVENT_CQ_ERR
 * was raised (once) and the caller moves the QP to the error state.
 */
bool srn_cq_post(struct srn_cq *cq, const struct srn_cqe *cqe, bool solicited, struct ib_qp *qp);

/**
 * srn_cq_post_many() - the same for several that come together, in their order: one event for all
 * @cqes: @num of them, as few as may be copied with interrupts off
 * @solicited: one of them is a solicited one, or an error
 *
 * Return: how many there was room for. What is missing is lost, as one is: the CQ is overrun.
 */
u32 srn_cq_post_many(struct srn_cq *cq, const struct srn_cqe *cqes, u32 num, bool solicited,
		     struct ib_qp *qp);

/**
 * srn_cq_post_spare() - as srn_cq_post_many(), what a QP flushes that is being destroyed
 *
 * What finds no room is left out, and overruns nothing: other QPs have their completions there, and nobody has made
 * the CQ large enough for these.
 */
u32 srn_cq_post_spare(struct srn_cq *cq, const struct srn_cqe *cqes, u32 num, struct ib_qp *qp);

/**
 * srn_cq_settle() - until the event handler was called for what has completed, where that is left to a softirq
 *
 * What moderation has put off is told of at once. Behind the last QP nothing is put off any more:
 * the timer calls nobody, nor does a change of the moderation.
 *
 * Kernel users' handlers start work of the CQ's own, which the core stops before it destroys
 * the CQ: so each QP that may complete there waits for its own, and behind the last one there are no others. Two
 * calls at most are waited for, however many other QPs have left. May sleep.
 */
void srn_cq_settle(struct srn_cq *cq);

/** srn_cq_is_armed() - whether the program is to be told of what completes next: it may sleep */
bool srn_cq_is_armed(struct srn_cq *cq);

/** srn_cq_is_left() - whether the program has left @num completions or more, by what it says */
bool srn_cq_is_left(struct srn_cq *cq, u32 num);

/** srn_cq_forget_qp() - kernel CQs: remove the completions of a QP that goes away */
void srn_cq_forget_qp(struct srn_cq *cq, struct ib_qp *qp);

/* ib_device_ops */
int srn_create_cq(struct ib_cq *cq, const struct ib_cq_init_attr *attr,
		  struct uverbs_attr_bundle *attrs);
int srn_destroy_cq(struct ib_cq *cq, struct ib_udata *udata);
int srn_modify_cq(struct ib_cq *cq, u16 count, u16 period_us);
int srn_resize_cq(struct ib_cq *cq, int cqe, struct ib_udata *udata);
int srn_poll_cq(struct ib_cq *cq, int n, struct ib_wc *wc);
int srn_req_notify_cq(struct ib_cq *cq, enum ib_cq_notify_flags flags);

#endif
