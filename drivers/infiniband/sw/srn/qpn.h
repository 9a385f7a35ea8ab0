/* SPDX-License-Identifier: GPL-2.0-only */
/* QPN to QP. QPNs are unique in the module, over all devices and namespaces. */
#ifndef SRN_QPN_H
#define SRN_QPN_H

#include <linux/completion.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>

struct srn_qp;

/* Of so many a CPU remembers where it found them: 2 KiB for each CPU that may be. A power of two. */
#define SRN_QPN_RECENT	256

/* The reference that keeps a QP alive. An object of its own, since ib_core frees
 * the QP as soon as destroy_qp returns, while RCU readers may still look here.
 */
struct srn_qp_ref {
	struct srn_qp *qp;		/* valid while refs is not 0 */
	u32 qpn;			/* with a bit that none has from srn_qp_ref_unpublish() on */
	refcount_t refs;		/* 0 before it is published, and at the end */
	struct completion released;
	struct rcu_head rcu;
};

/**
 * srn_qp_ref_create() - number a QP
 * @qp: QP; whoever finds it gets no reference before srn_qp_ref_publish()
 * @qpn: 0 for any free number; 1 for QP1, which its device publishes
 *
 * May sleep. ERR_PTR(-ENOMEM) or ERR_PTR(-ENOSPC).
 */
struct srn_qp_ref *srn_qp_ref_create(struct srn_qp *qp, u32 qpn);
/** srn_qp_ref_cancel() - as if it had never been made; it was not published; may sleep */
void srn_qp_ref_cancel(struct srn_qp_ref *ref);
/** srn_qp_ref_publish() - the QP is complete: wherever it is found it may be used */
void srn_qp_ref_publish(struct srn_qp_ref *ref);
/** srn_qp_ref_unpublish() - no packet finds the QP any more; may sleep */
void srn_qp_ref_unpublish(struct srn_qp_ref *ref);
/** srn_qp_ref_destroy() - drop the first reference, wait for others (turns, softirqs of who rings), free; may sleep */
void srn_qp_ref_destroy(struct srn_qp_ref *ref);

/**
 * srn_qp_ref_get() - another reference; RCU or an own one
 *
 * False while the QP is not complete, and once it is going away.
 */
static inline bool srn_qp_ref_get(struct srn_qp_ref *ref)
{
	if (!refcount_inc_not_zero(&ref->refs))
		return false;
	/* Pairs with the barrier in srn_qp_ref_publish(). */
	smp_acquire__after_ctrl_dep();
	return true;
}

void srn_qp_ref_put(struct srn_qp_ref *ref);

/** srn_qpn_get() - referenced link of a QPN (not QP1) of 24 bits, NULL if there is none. RCU or BH. */
struct srn_qp_ref *srn_qpn_get(u32 qpn);

/** srn_qpn_init() - before anybody looks for a QP, also one who cuts what an earlier module left; 0 or -ENOMEM */
int srn_qpn_init(void);
/** srn_qpn_exit() - after that */
void srn_qpn_exit(void);

#endif
