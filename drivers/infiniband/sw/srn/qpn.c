// SPDX-License-Identifier: GPL-2.0-only
/* The table of QP numbers, and where they were found lately. */
#include "qpn.h"

#include <kunit/visibility.h>
#include <linux/bits.h>
#include <linux/percpu.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "wire.h"

/* 0 and 1 are the management QPs, the highest number is the multicast QP. */
#define QPN_FIRST	0x10
#define QPN_LAST	(SRN_QPN_MULTICAST - 1)

static DEFINE_XARRAY_ALLOC(qps);
static u32 next_qpn;

/* Who is taken away keeps the number that it had, with a bit that none has. */
#define GONE	BIT(31)

/* Where each CPU found QPs lately: packets are of a few QPs again and again, and the table takes four steps. A slot proves
 * nothing: the number, which says whether it goes, and a reference are looked at each time. Numbers are given one after
 * the other, so that neighbours do not share a slot. Only who has a reference writes one. When the last reference is gone
 * all CPUs forget the QP, and only then a grace period begins that ends with its link.
 */
struct recent {
	struct srn_qp_ref *refs[SRN_QPN_RECENT];
};

/* Not a static one: modules share few bytes for those (PERCPU_MODULE_RESERVE). */
static struct recent __percpu *recent __read_mostly;

static struct srn_qp_ref **slot_of(struct recent *r, u32 qpn)
{
	return &r->refs[qpn & (SRN_QPN_RECENT - 1)];
}

static void forget(struct srn_qp_ref *ref)
{
	struct srn_qp_ref **slot;
	int cpu;

	for_each_possible_cpu(cpu) {
		slot = slot_of(per_cpu_ptr(recent, cpu), ref->qpn);
		/* Not what another QP has put there meanwhile. */
		if (READ_ONCE(*slot) == ref)
			cmpxchg(slot, ref, NULL);
	}
}

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
	u32 qpn = ref->qpn;

	WRITE_ONCE(ref->qpn, qpn | GONE);	/* wherever it is remembered */
	if (qpn >= QPN_FIRST)
		xa_erase(&qps, qpn);
}
EXPORT_SYMBOL_IF_KUNIT(srn_qp_ref_unpublish);

void srn_qp_ref_destroy(struct srn_qp_ref *ref)
{
	srn_qp_ref_put(ref);
	wait_for_completion(&ref->released);
	forget(ref);
	kfree_rcu(ref, rcu);
}
EXPORT_SYMBOL_IF_KUNIT(srn_qp_ref_destroy);

void srn_qp_ref_put(struct srn_qp_ref *ref)
{
	if (refcount_dec_and_test(&ref->refs))
		complete(&ref->released);
}
EXPORT_SYMBOL_IF_KUNIT(srn_qp_ref_put);

/* Apart, so that who finds it at once saves no registers for this. RCU. */
static noinline struct srn_qp_ref *look_up(u32 qpn, struct srn_qp_ref **slot)
{
	struct srn_qp_ref *ref = xa_load(&qps, qpn);

	if (!ref || !srn_qp_ref_get(ref))
		return NULL;
	/* Pairs with the dependency in srn_qpn_get(), which may be on another CPU by now. */
	smp_store_release(slot, ref);
	return ref;
}

struct srn_qp_ref *srn_qpn_get(u32 qpn)
{
	struct srn_qp_ref **slot, *ref;

	rcu_read_lock();
	slot = slot_of(raw_cpu_ptr(recent), qpn);
	ref = READ_ONCE(*slot);
	if (unlikely(!ref || READ_ONCE(ref->qpn) != qpn || !srn_qp_ref_get(ref)))
		ref = look_up(qpn, slot);
	rcu_read_unlock();
	return ref;
}
EXPORT_SYMBOL_IF_KUNIT(srn_qpn_get);

int srn_qpn_init(void)
{
	next_qpn = get_random_u32_inclusive(QPN_FIRST, QPN_LAST);
	recent = alloc_percpu(struct recent);
	return recent ? 0 : -ENOMEM;
}

void srn_qpn_exit(void)
{
	WARN_ON_ONCE(!xa_empty(&qps));
	xa_destroy(&qps);
	free_percpu(recent);
}
