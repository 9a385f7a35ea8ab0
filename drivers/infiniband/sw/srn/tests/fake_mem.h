/* SPDX-License-Identifier: GPL-2.0-only */
/* A device with two PDs and the QPs that windows are bound on, and accesses to its keys. */
#ifndef SRN_TESTS_FAKE_MEM_H
#define SRN_TESTS_FAKE_MEM_H

#include "../mem.h"
#include "../mw.h"
#include "fake.h"

#include <linux/bottom_half.h>

#define IOVA	0x7f0012345680ULL
#define LEN	10000
#define QPN	0x11
#define ALL	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | \
		 IB_ACCESS_REMOTE_ATOMIC | IB_ACCESS_MW_BIND)

struct ctx {
	struct srn_dev *dev;
	struct ib_pd *pd;
	struct ib_pd *other_pd;
	/* QPs, as far as memory knows them. */
	struct srn_who who;
	struct srn_who other_who;	/* of the same PD */
	struct srn_who foreign_who;	/* of the other one */
	struct srn_mw_owner own;
	struct srn_mw_owner other;
	struct srn_mw_owner foreign;
};

static inline int mem_test_init(struct kunit *test)
{
	struct ctx *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, c);
	c->dev = fake_dev(test);
	c->pd = fake_pd(test, c->dev);
	c->other_pd = fake_pd(test, c->dev);
	c->who = fake_who(c->dev, c->pd, QPN);
	c->other_who = fake_who(c->dev, c->pd, QPN + 1);
	c->foreign_who = fake_who(c->dev, c->other_pd, QPN);
	srn_mw_owner_init(&c->own, &c->who);
	srn_mw_owner_init(&c->other, &c->other_who);
	srn_mw_owner_init(&c->foreign, &c->foreign_who);
	test->priv = c;
	return 0;
}

/* Proves and lets go at once. */
static inline enum srn_verdict local(struct ctx *c, struct ib_pd *pd, u64 addr, u32 len, u32 lkey,
				     int access)
{
	struct ib_sge sge = { .addr = addr, .length = len, .lkey = lkey };
	struct srn_who who = fake_who(c->dev, pd, QPN);
	struct srn_mem *mem;
	enum srn_verdict v;

	local_bh_disable();
	v = srn_mem_get_local(&who, &sge, access, &mem);
	if (!v)
		srn_mem_put(mem);
	local_bh_enable();
	return v;
}

static inline enum srn_verdict remote(struct ctx *c, u32 qpn, u32 rkey, u64 addr, u64 len,
				      int access)
{
	struct srn_who who = fake_who(c->dev, c->pd, qpn);
	struct srn_mem *mem;
	enum srn_verdict v;

	local_bh_disable();
	v = srn_mem_get_remote(&who, rkey, addr, len, access, &mem);
	if (!v)
		srn_mem_put(mem);
	local_bh_enable();
	return v;
}

static inline struct srn_mw *make_mw(struct kunit *test, struct ib_pd *pd, enum ib_mw_type type)
{
	struct srn_mw *mw = kunit_kzalloc(test, sizeof(*mw), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, mw);
	mw->ibmw.device = pd->device;
	mw->ibmw.pd = pd;
	mw->ibmw.type = type;
	KUNIT_ASSERT_EQ(test, srn_alloc_mw(&mw->ibmw, NULL), 0);
	return mw;
}

#endif
