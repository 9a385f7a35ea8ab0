// SPDX-License-Identifier: GPL-2.0-only
/* The table of QP numbers. */
#include "qpn.h"

#include <linux/random.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "wire.h"

/* 0 and 1 are the management QPs, the highest number is the multicast QP. */
#define QPN_FIRST	0x10
#define QPN_LAST	(SRN_QPN_MULTICAST - 1)

static DEFINE_XARRAY_ALLOC(qps);
static u32 next_qpn;

struct srn_qp_link *srn_link_create(struct srn_qp *qp, u32 qpn)
{
	struct srn_qp_link *link = kzalloc(sizeof(*link), GFP_KERNEL_ACCOUNT);
	int err;

	if (!link)
		return ERR_PTR(-ENOMEM);
	link->qp = qp;
	link->qpn = qpn;
	refcount_set(&link->refs, 1);
	init_completion(&link->released);
	if (qpn)
		return link;	/* QP1 is found through its device */

	/* Cyclic: a late packet for a dead QP shall not find its successor. */
	err = xa_alloc_cyclic(&qps, &link->qpn, NULL, XA_LIMIT(QPN_FIRST, QPN_LAST), &next_qpn,
			      GFP_KERNEL_ACCOUNT);
	if (err < 0) {
		kfree(link);
		return ERR_PTR(err == -EBUSY ? -ENOSPC : err);
	}
	return link;
}

void srn_link_publish(struct srn_qp_link *link)
{
	xa_store(&qps, link->qpn, link, GFP_KERNEL_ACCOUNT);
}

void srn_link_unpublish(struct srn_qp_link *link)
{
	if (link->qpn >= QPN_FIRST)
		xa_erase(&qps, link->qpn);
}

void srn_link_destroy(struct srn_qp_link *link)
{
	srn_link_put(link);
	wait_for_completion(&link->released);
	kfree_rcu(link, rcu);
}

void srn_link_put(struct srn_qp_link *link)
{
	if (refcount_dec_and_test(&link->refs))
		complete(&link->released);
}

struct srn_qp_link *srn_lookup_get(u32 qpn)
{
	struct srn_qp_link *link;

	rcu_read_lock();
	link = xa_load(&qps, qpn);
	if (link && !srn_link_get(link))
		link = NULL;
	rcu_read_unlock();
	return link;
}

void srn_lookup_init(void)
{
	next_qpn = get_random_u32_inclusive(QPN_FIRST, QPN_LAST);
}

void srn_lookup_exit(void)
{
	WARN_ON_ONCE(!xa_empty(&qps));
	xa_destroy(&qps);
}
