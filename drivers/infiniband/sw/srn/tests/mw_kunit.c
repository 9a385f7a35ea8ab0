// SPDX-License-Identifier: GPL-2.0-only
/* Windows: what may be bound, what they show, and whose they are. */
#include "../mr.h"
#include "fake_mem.h"

static struct srn_mw_bind bind_of(const struct srn_mem *mr, const struct srn_mw *mw)
{
	return (struct srn_mw_bind) {
		.addr = IOVA + 100, .length = 200, .mr_lkey = mr->key,
		.mw_rkey = mw->mem->key, .new_rkey = mw->mem->key ^ 0x55,
		.access = IB_ACCESS_REMOTE_READ,
	};
}

static void srn_mw_window_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct srn_mem *mr = fake_mr(test, c->dev, c->pd, IOVA, LEN, 0, ALL);
	struct srn_mw *mw = make_mw(test, c->pd, IB_MW_TYPE_2);
	struct srn_mw_bind b = bind_of(mr, mw);
	u32 old = mw->mem->key;

	KUNIT_EXPECT_EQ(test, remote(c, QPN, old, b.addr, 1, IB_ACCESS_REMOTE_READ),
			SRN_V_REM_ACCESS);
	KUNIT_ASSERT_EQ(test, srn_mem_bind(&c->own, &b), SRN_OK);
	KUNIT_EXPECT_EQ(test, atomic_read(&mr->windows), 1);

	/* Inside, with the new key, on the QP: and nothing else. */
	KUNIT_EXPECT_EQ(test, remote(c, QPN, b.new_rkey, b.addr, 200, IB_ACCESS_REMOTE_READ),
			SRN_OK);
	KUNIT_EXPECT_EQ(test, remote(c, QPN, old, b.addr, 200, IB_ACCESS_REMOTE_READ),
			SRN_V_REM_ACCESS);
	KUNIT_EXPECT_EQ(test, remote(c, QPN + 1, b.new_rkey, b.addr, 1, IB_ACCESS_REMOTE_READ),
			SRN_V_REM_ACCESS);
	KUNIT_EXPECT_EQ(test, remote(c, QPN, b.new_rkey, b.addr - 1, 1, IB_ACCESS_REMOTE_READ),
			SRN_V_REM_ACCESS);
	KUNIT_EXPECT_EQ(test, remote(c, QPN, b.new_rkey, b.addr, 201, IB_ACCESS_REMOTE_READ),
			SRN_V_REM_ACCESS);
	KUNIT_EXPECT_EQ(test, remote(c, QPN, b.new_rkey, b.addr, 1, IB_ACCESS_REMOTE_WRITE),
			SRN_V_REM_ACCESS);
	/* A window is no lkey. */
	KUNIT_EXPECT_EQ(test, local(c, c->pd, b.addr, 1, b.new_rkey, 0), SRN_V_LOC_PROT);

	/* Only its QP, and only its key, invalidates it; then it may be bound again. */
	KUNIT_EXPECT_EQ(test, srn_mem_invalidate(&c->other, b.new_rkey, true),
			SRN_V_REM_ACCESS);
	KUNIT_EXPECT_EQ(test, srn_mem_invalidate(&c->foreign, b.new_rkey, false),
			SRN_V_MW_BIND);
	KUNIT_EXPECT_EQ(test, srn_mem_invalidate(&c->own, old, true),
			SRN_V_REM_ACCESS);
	KUNIT_EXPECT_EQ(test, srn_mem_invalidate(&c->own, b.new_rkey, true), SRN_OK);
	KUNIT_EXPECT_EQ(test, atomic_read(&mr->windows), 0);
	KUNIT_EXPECT_EQ(test, remote(c, QPN, b.new_rkey, b.addr, 1, IB_ACCESS_REMOTE_READ),
			SRN_V_REM_ACCESS);
	KUNIT_EXPECT_EQ(test, srn_mem_invalidate(&c->own, b.new_rkey, false),
			SRN_V_MW_BIND);

	b.mw_rkey = b.new_rkey;
	KUNIT_EXPECT_EQ(test, srn_mem_bind(&c->own, &b), SRN_OK);
	srn_dealloc_mw(&mw->ibmw);
	KUNIT_EXPECT_EQ(test, atomic_read(&mr->windows), 0);
}

/* Bytes through a window are the bytes of the MR. */
static void srn_mw_window_bytes_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct srn_mem *mr = fake_mr(test, c->dev, c->pd, IOVA, LEN, 0x680, ALL);
	struct srn_mw *mw = make_mw(test, c->pd, IB_MW_TYPE_1);
	struct srn_mw_bind b = bind_of(mr, mw);
	struct srn_mem *mem;
	u64 len;

	KUNIT_ASSERT_EQ(test, srn_mem_bind(&c->own, &b), SRN_OK);
	KUNIT_ASSERT_EQ(test, srn_mem_get_remote(&c->other_who, b.new_rkey, b.addr + 5, 7,
						 IB_ACCESS_REMOTE_READ, &mem), SRN_OK);
	KUNIT_EXPECT_PTR_EQ(test, srn_mem_span(mem, b.addr + 5, &len),
			    mr->map.blocks[0] + 0x680 + 105);
	srn_mem_put(mem);
	srn_dealloc_mw(&mw->ibmw);
}

struct bind_row {
	const char *desc;
	int mr_access;
	enum ib_mw_type type;
	struct srn_mw_bind delta;	/* added to a bind that is right */
	bool other_pd;
};

static const struct bind_row bind_rows[] = {
	{ "MR without the bind right", ALL & ~IB_ACCESS_MW_BIND, IB_MW_TYPE_2 },
	{ "zero-based MR", ALL | IB_ZERO_BASED, IB_MW_TYPE_2 },
	{ "write window on a read-only MR", IB_ACCESS_MW_BIND | IB_ACCESS_REMOTE_READ,
	  IB_MW_TYPE_2, { .access = IB_ACCESS_REMOTE_WRITE } },
	{ "atomic window on a read-only MR", IB_ACCESS_MW_BIND | IB_ACCESS_REMOTE_READ,
	  IB_MW_TYPE_1, { .access = IB_ACCESS_REMOTE_ATOMIC } },
	{ "zero-based window of type 1", ALL, IB_MW_TYPE_1, { .access = IB_ZERO_BASED } },
	{ "window rights to bind", ALL, IB_MW_TYPE_2, { .access = IB_ACCESS_MW_BIND } },
	{ "starts before the MR", ALL, IB_MW_TYPE_2, { .addr = -101 } },
	{ "ends after the MR", ALL, IB_MW_TYPE_2, { .length = LEN - 299 } },
	{ "length that wraps", ALL, IB_MW_TYPE_2, { .length = -201 } },
	{ "unknown MR", ALL, IB_MW_TYPE_2, { .mr_lkey = 0x10000 } },
	{ "MR's old key", ALL, IB_MW_TYPE_2, { .mr_lkey = 1 } },
	{ "unknown window", ALL, IB_MW_TYPE_2, { .mw_rkey = 0x10000 } },
	{ "type 2 bound to no bytes", ALL, IB_MW_TYPE_2, { .length = -200 } },
	{ "another PD", ALL, IB_MW_TYPE_1, {}, true },
};

KUNIT_ARRAY_PARAM_DESC(bind, bind_rows, desc);

static void srn_mw_bind_refused_test(struct kunit *test)
{
	const struct bind_row *row = test->param_value;
	struct ctx *c = test->priv;
	struct srn_mem *mr = fake_mr(test, c->dev, c->pd, IOVA, LEN, 0, row->mr_access);
	struct srn_mw *mw = make_mw(test, c->pd, row->type);
	struct srn_mw_bind b = bind_of(mr, mw), good = b;

	b.addr += row->delta.addr;
	b.length += row->delta.length;
	b.mr_lkey += row->delta.mr_lkey;
	b.mw_rkey += row->delta.mw_rkey;
	b.new_rkey += row->delta.new_rkey;
	b.access |= row->delta.access;
	KUNIT_EXPECT_EQ(test, srn_mem_bind(row->other_pd ? &c->foreign : &c->own, &b),
			SRN_V_MW_BIND);
	KUNIT_EXPECT_EQ(test, atomic_read(&mr->windows), 0);
	/* The refusal left the window as it was. */
	if ((row->mr_access & (IB_ACCESS_MW_BIND | IB_ZERO_BASED)) == IB_ACCESS_MW_BIND)
		KUNIT_EXPECT_EQ(test, srn_mem_bind(&c->own, &good), SRN_OK);
	srn_dealloc_mw(&mw->ibmw);
}

/* The consumer chooses the key byte; what else it says of the new key is not looked at, nor
 * is the byte of the key that goes: many programs know the one that the window began with.
 */
static void srn_mw_bind_key_byte_test(struct kunit *test)
{
	static const u32 keys[] = { 0, 0x400, U32_MAX, 0x12345678 };
	struct ctx *c = test->priv;
	struct srn_mem *mr = fake_mr(test, c->dev, c->pd, IOVA, LEN, 0, ALL);
	struct srn_mw *mw = make_mw(test, c->pd, IB_MW_TYPE_2);
	u32 first = mw->mem->key, index = first & ~0xffu, key;
	struct srn_mw_bind b;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		b = bind_of(mr, mw);
		b.mw_rkey = first;
		b.new_rkey = keys[i];
		key = index | (keys[i] & 0xff);
		KUNIT_ASSERT_EQ(test, srn_mem_bind(&c->own, &b), SRN_OK);
		KUNIT_EXPECT_EQ(test, remote(c, QPN, key, b.addr, 200, IB_ACCESS_REMOTE_READ),
				SRN_OK);
		KUNIT_EXPECT_EQ(test, srn_mem_invalidate(&c->own, key, false), SRN_OK);
	}
	srn_dealloc_mw(&mw->ibmw);
}

/* Addresses count from the window's first byte, whose place in the MR stays the same. */
static void srn_mw_zero_based_window_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct srn_mem *mr = fake_mr(test, c->dev, c->pd, IOVA, LEN, 0x680, ALL);
	struct srn_mw *mw = make_mw(test, c->pd, IB_MW_TYPE_2);
	struct srn_mw_bind b = bind_of(mr, mw);
	struct srn_mem *mem;
	u64 len;

	b.addr = IOVA + 5000;
	b.access |= IB_ZERO_BASED;
	KUNIT_ASSERT_EQ(test, srn_mem_bind(&c->own, &b), SRN_OK);
	KUNIT_EXPECT_EQ(test, remote(c, QPN, b.new_rkey, 0, 201, IB_ACCESS_REMOTE_READ),
			SRN_V_REM_ACCESS);
	KUNIT_EXPECT_EQ(test, remote(c, QPN, b.new_rkey, b.addr, 1, IB_ACCESS_REMOTE_READ),
			SRN_V_REM_ACCESS);
	KUNIT_EXPECT_EQ(test, remote(c, QPN, b.new_rkey, U64_MAX, 1, IB_ACCESS_REMOTE_READ),
			SRN_V_REM_ACCESS);
	KUNIT_ASSERT_EQ(test, srn_mem_get_remote(&c->who, b.new_rkey, 0, 200,
						 IB_ACCESS_REMOTE_READ, &mem), SRN_OK);
	KUNIT_EXPECT_PTR_EQ(test, srn_mem_span(mem, 7, &len),
			    mr->map.blocks[1] + (5007 + 0x680 - PAGE_SIZE));
	srn_mem_put(mem);
	srn_dealloc_mw(&mw->ibmw);
}

/* A QP has a list of its own: its end concerns nobody else's windows. */
static void srn_mw_owner_list_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct srn_mem *mr = fake_mr(test, c->dev, c->pd, IOVA, LEN, 0, ALL);
	struct srn_mw *one = make_mw(test, c->pd, IB_MW_TYPE_1);
	struct srn_mw *two = make_mw(test, c->pd, IB_MW_TYPE_2);
	struct srn_mw_bind b1 = bind_of(mr, one), b2 = bind_of(mr, two);

	KUNIT_ASSERT_EQ(test, srn_mem_bind(&c->own, &b1), SRN_OK);
	KUNIT_EXPECT_TRUE(test, list_empty(&c->own.bound));	/* type 1 is nobody's */
	KUNIT_ASSERT_EQ(test, srn_mem_bind(&c->own, &b2), SRN_OK);
	KUNIT_EXPECT_TRUE(test, list_is_singular(&c->own.bound));
	KUNIT_EXPECT_TRUE(test, list_empty(&c->other.bound));
	srn_mem_unbind_qp(&c->other);
	KUNIT_EXPECT_EQ(test, atomic_read(&mr->windows), 2);
	srn_dealloc_mw(&two->ibmw);
	KUNIT_EXPECT_TRUE(test, list_empty(&c->own.bound));
	srn_mem_unbind_qp(&c->own);
	KUNIT_EXPECT_EQ(test, atomic_read(&mr->windows), 1);
	srn_dealloc_mw(&one->ibmw);
}

/* Type 1 is bound over and over, and unbound by length 0. */
static void srn_mw_window1_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct srn_mem *mr = fake_mr(test, c->dev, c->pd, IOVA, LEN, 0, ALL);
	struct srn_mw *mw = make_mw(test, c->pd, IB_MW_TYPE_1);
	struct srn_mw_bind b = bind_of(mr, mw);
	u32 first;

	KUNIT_ASSERT_EQ(test, srn_mem_bind(&c->own, &b), SRN_OK);
	first = b.new_rkey;
	/* Not bound to a QP, and not to be invalidated. */
	KUNIT_EXPECT_EQ(test, remote(c, QPN + 1, first, b.addr, 1, IB_ACCESS_REMOTE_READ), SRN_OK);
	KUNIT_EXPECT_EQ(test, srn_mem_invalidate(&c->own, first, false),
			SRN_V_MW_BIND);
	KUNIT_EXPECT_EQ(test, srn_mem_invalidate(&c->own, first, true),
			SRN_V_REM_ACCESS);

	b.mw_rkey = first;
	b.new_rkey = first ^ 0x0f;
	b.addr = IOVA;
	KUNIT_ASSERT_EQ(test, srn_mem_bind(&c->own, &b), SRN_OK);
	KUNIT_EXPECT_EQ(test, atomic_read(&mr->windows), 1);
	KUNIT_EXPECT_EQ(test, remote(c, QPN, b.new_rkey, IOVA, 1, IB_ACCESS_REMOTE_READ), SRN_OK);
	KUNIT_EXPECT_EQ(test, remote(c, QPN, b.new_rkey, IOVA + 250, 1, IB_ACCESS_REMOTE_READ),
			SRN_V_REM_ACCESS);

	b.mw_rkey = b.new_rkey;
	b.length = 0;
	KUNIT_ASSERT_EQ(test, srn_mem_bind(&c->own, &b), SRN_OK);
	KUNIT_EXPECT_EQ(test, atomic_read(&mr->windows), 0);
	KUNIT_EXPECT_EQ(test, remote(c, QPN, b.new_rkey, IOVA, 1, IB_ACCESS_REMOTE_READ),
			SRN_V_REM_ACCESS);
	srn_dealloc_mw(&mw->ibmw);
}

static void srn_mw_unbind_qp_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct srn_mem *mr = fake_mr(test, c->dev, c->pd, IOVA, LEN, 0, ALL);
	struct srn_mw *mine = make_mw(test, c->pd, IB_MW_TYPE_2);
	struct srn_mw *other = make_mw(test, c->pd, IB_MW_TYPE_2);
	struct srn_mw_bind b1 = bind_of(mr, mine), b2 = bind_of(mr, other);

	KUNIT_ASSERT_EQ(test, srn_mem_bind(&c->own, &b1), SRN_OK);
	KUNIT_ASSERT_EQ(test, srn_mem_bind(&c->other, &b2), SRN_OK);
	srn_mem_unbind_qp(&c->own);
	KUNIT_EXPECT_EQ(test, atomic_read(&mr->windows), 1);
	KUNIT_EXPECT_EQ(test, remote(c, QPN, b1.new_rkey, b1.addr, 1, IB_ACCESS_REMOTE_READ),
			SRN_V_REM_ACCESS);
	KUNIT_EXPECT_EQ(test, remote(c, QPN + 1, b2.new_rkey, b2.addr, 1, IB_ACCESS_REMOTE_READ),
			SRN_OK);
	srn_dealloc_mw(&mine->ibmw);
	srn_dealloc_mw(&other->ibmw);
}

static struct kunit_case mw_cases[] = {
	KUNIT_CASE(srn_mw_window_test),
	KUNIT_CASE(srn_mw_window_bytes_test),
	KUNIT_CASE_PARAM(srn_mw_bind_refused_test, bind_gen_params),
	KUNIT_CASE(srn_mw_bind_key_byte_test),
	KUNIT_CASE(srn_mw_zero_based_window_test),
	KUNIT_CASE(srn_mw_owner_list_test),
	KUNIT_CASE(srn_mw_window1_test),
	KUNIT_CASE(srn_mw_unbind_qp_test),
	{}
};

static struct kunit_suite mw_suite = {
	.name = "srn_mw",
	.init = mem_test_init,
	.test_cases = mw_cases,
};

kunit_test_suite(mw_suite);
