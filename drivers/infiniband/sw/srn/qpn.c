// SPDX-License-Identifier: GPL-2.0-only
/* The table of QP numbers. */
#include "qpn.h"

#include <kunit/visibility.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "wire.h"

/* 0 and 1 are the management QPs, the highest number is the multicast QP. */
#define QPN_FIRST	0x10
#define QPN_LAST	(SRN_QPN_MULTICAST - 1)

static DEFINE_XARRAY_ALLOC(qps);
static u32 next_qpn;

struct srn_qp_ref *srn_qp_ref_create(struct srn_qp *qp, u32 qpn)
{
	struct srn_qp_ref *ref = kzalloc(sizeof(*ref), GFP_KERNEL_ACCOUNT);
	int err;

	if (!ref)
		return ERR_PTR(-ENOMEM);
	ref->qp = qp;
	ref->qpn = qpn;
	init_completion(&ref->released);
	if (qpn)
		return ref;	/* QP1 is found through its device */

	/* Cyclic: a late packet for a dead QP shall not find its successor. */
	err = xa_alloc_cyclic(&qps, &ref->qpn, ref, XA_LIMIT(QPN_FIRST, QPN_LAST), &next_qpn,
			      GFP_KERNEL_ACCOUNT);
	if (err < 0) {
		kfree(ref);
		return ERR_PTR(err == -EBUSY ? -ENOSPC : err);
	}
	return ref;
}
EXPORT_SYMBOL_IF_KUNIT(srn_qp_ref_create);

void srn_qp_ref_cancel(struct srn_qp_ref *ref)
{
	srn_qp_ref_unpublish(ref);
	kfree_rcu(ref, rcu);
}
EXPORT_SYMBOL_IF_KUNIT(srn_qp_ref_cancel);

void srn_qp_ref_publish(struct srn_qp_ref *ref)
{
	/* Pairs with the acquire in srn_qp_ref_get(): it is in the tables before the QP is complete,
	 * which who has a reference sees.
	 */
	smp_wmb();
	refcount_set(&ref->refs, 1);
}
EXPORT_SYMBOL_IF_KUNIT(srn_qp_ref_publish);

void srn_qp_ref_unpublish(struct srn_qp_ref *ref)
{
	if (ref->qpn >= QPN_FIRST)
		xa_erase(&qps, ref->qpn);
}
EXPORT_SYMBOL_IF_KUNIT(srn_qp_ref_unpublish);

void srn_qp_ref_destroy(struct srn_qp_ref *ref)
{
	srn_qp_ref_put(ref);
	wait_for_completion(&ref->released);
	kfree_rcu(ref, rcu);
}
EXPORT_SYMBOL_IF_KUNIT(srn_qp_ref_destroy);

void srn_qp_ref_put(struct srn_qp_ref *ref)
{
	if (refcount_dec_and_test(&ref->refs))
		complete(&ref->released);
}
EXPORT_SYMBOL_IF_KUNIT(srn_qp_ref_put);

struct srn_qp_ref *srn_qpn_get(u32 qpn)
{
	struct srn_qp_ref *ref;

	rcu_read_lock();
	ref = xa_load(&qps, qpn);
	if (ref && !srn_qp_ref_get(ref))
		ref = NULL;
	rcu_read_unlock();
	return ref;
}
EXPORT_SYMBOL_IF_KUNIT(srn_qpn_get);

void srn_qpn_init(void)
{
	next_qpn = get_random_u32_inclusive(QPN_FIRST, QPN_LAST);
}

void srn_qpn_exit(void)
{
	WARN_ON_ONCE(!xa_empty(&qps));
	xa_destroy(&qps);
}
