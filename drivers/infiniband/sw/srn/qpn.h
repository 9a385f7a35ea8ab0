/* SPDX-License-Identifier: GPL-2.0-only */
/* QPN to QP. QPNs are unique in the module, over all devices and namespaces. */
#ifndef SRN_QPN_H
#define SRN_QPN_H

#include <linux/completion.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>

struct srn_qp;

/* The reference that keeps a QP alive. An object of its own, since ib_core frees
 * the QP as soon as destroy_qp returns, while RCU readers may still look here.
 */
struct srn_qp_ref {
	struct srn_qp *qp;		/* valid while refs is not 0 */
	u32 qpn;
	refcount_t refs;
	struct completion released;
	struct rcu_head rcu;
};

/**
 * srn_qp_ref_create() - number a QP
 * @qp: QP; not found by anybody before srn_qp_ref_publish()
 * @qpn: 0 for any free number; 1 for QP1, which its device publishes
 *
 * May sleep. ERR_PTR(-ENOMEM) or ERR_PTR(-ENOSPC).
 */
struct srn_qp_ref *srn_qp_ref_create(struct srn_qp *qp, u32 qpn);
/** srn_qp_ref_publish() - the QP is complete: packets may find it; may sleep */
void srn_qp_ref_publish(struct srn_qp_ref *ref);
/** srn_qp_ref_unpublish() - nobody finds the QP any more; may sleep */
void srn_qp_ref_unpublish(struct srn_qp_ref *ref);
/** srn_qp_ref_destroy() - drop the first reference, wait for the others (short turns), free; may sleep */
void srn_qp_ref_destroy(struct srn_qp_ref *ref);

/** srn_qp_ref_get() - another reference; false once the QP is going away. RCU or an own reference. */
static inline bool srn_qp_ref_get(struct srn_qp_ref *ref)
{
	return refcount_inc_not_zero(&ref->refs);
}

void srn_qp_ref_put(struct srn_qp_ref *ref);

/** srn_qpn_get() - referenced link of a QPN (not QP1), NULL if there is none. RCU or BH. */
struct srn_qp_ref *srn_qpn_get(u32 qpn);

void srn_qpn_init(void);
void srn_qpn_exit(void);

#endif
