// SPDX-License-Identifier: GPL-2.0-only
/* Keys, bounds, rights, windows, fast registration. */
#include "../atomic.h"
#include "../mem.h"
#include "fake.h"

#include <linux/bottom_half.h>
#include <linux/scatterlist.h>

#define IOVA	0x7f0012345680ULL
#define LEN	10000
#define QPN	0x11
#define ALL	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | \
		 IB_ACCESS_REMOTE_ATOMIC | IB_ACCESS_MW_BIND)

struct ctx {
	struct srn_dev *dev;
	struct ib_pd *pd;
	struct ib_pd *other_pd;
};

static int mem_test_init(struct kunit *test)
{
	struct ctx *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, c);
	c->dev = fake_dev(test);
	c->pd = fake_pd(test, c->dev);
	c->other_pd = fake_pd(test, c->dev);
	test->priv = c;
	return 0;
}

/* Proves and lets go at once. */
static enum srn_verdict local(struct ctx *c, struct ib_pd *pd, u64 addr, u32 len, u32 lkey,
			      int access)
{
	struct ib_sge sge = { .addr = addr, .length = len, .lkey = lkey };
	struct srn_mem *mem;
	enum srn_verdict v;

	local_bh_disable();
	v = srn_mem_get_local(c->dev, pd, false, &sge, access, &mem);
	if (!v)
		srn_mem_put(mem);
	local_bh_enable();
	return v;
}

static enum srn_verdict remote(struct ctx *c, u32 qpn, u32 rkey, u64 addr, u64 len, int access)
{
	struct srn_mem *mem;
	enum srn_verdict v;

	local_bh_disable();
	v = srn_mem_get_remote(c->dev, c->pd, qpn, rkey, addr, len, access, &mem);
	if (!v)
		srn_mem_put(mem);
	local_bh_enable();
	return v;
}

struct bounds_row {
	const char *desc;
	u64 addr;
	u64 len;
	bool ok;
};

static const struct bounds_row bounds_rows[] = {
	{ "wraps the address space", U64_MAX, 2, false },
	{ "wraps and ends inside", U64_MAX, 0xfffffff0, false },
	{ "length that wraps to the start", IOVA + 1, U64_MAX, false },
	{ "all of it", IOVA, LEN, true },
	{ "first byte", IOVA, 1, true },
	{ "last byte", IOVA + LEN - 1, 1, true },
	{ "byte before", IOVA - 1, 1, false },
	{ "starts before", IOVA - 1, 2, false },
	{ "byte after", IOVA + LEN, 1, false },
	{ "ends after", IOVA + 1, LEN, false },
	{ "one byte too long", IOVA, LEN + 1, false },
	{ "address 0", 0, 1, false },
};

KUNIT_ARRAY_PARAM_DESC(bounds, bounds_rows, desc);

static void srn_mem_bounds_test(struct kunit *test)
{
	const struct bounds_row *row = test->param_value;
	struct ctx *c = test->priv;
	struct srn_mem *mr = fake_mr(test, c->dev, c->pd, IOVA, LEN, 0x680, ALL);

	KUNIT_EXPECT_EQ(test, remote(c, QPN, mr->key, row->addr, row->len, IB_ACCESS_REMOTE_READ),
			row->ok ? SRN_OK : SRN_V_REM_ACCESS);
	if (row->len <= U32_MAX)
		KUNIT_EXPECT_EQ(test, local(c, c->pd, row->addr, row->len, mr->key, 0),
				row->ok ? SRN_OK : SRN_V_LOC_PROT);
	KUNIT_EXPECT_EQ(test, refcount_read(&mr->refs), 1);
}

/* The top of the address space, where an end address would be 0. */
static void srn_mem_bounds_at_end_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct srn_mem *mr = fake_mr(test, c->dev, c->pd, U64_MAX - 4095, 4096, 0, ALL);

	KUNIT_EXPECT_EQ(test, local(c, c->pd, U64_MAX - 4095, 4096, mr->key, 0), SRN_OK);
	KUNIT_EXPECT_EQ(test, local(c, c->pd, U64_MAX, 1, mr->key, 0), SRN_OK);
	KUNIT_EXPECT_EQ(test, local(c, c->pd, U64_MAX, 2, mr->key, 0), SRN_V_LOC_PROT);
	KUNIT_EXPECT_EQ(test, local(c, c->pd, 0, 1, mr->key, 0), SRN_V_LOC_PROT);
}

struct right_row {
	const char *desc;
	int has;
	int asks;
	bool ok;
};

static const struct right_row right_rows[] = {
	{ "read without the right", IB_ACCESS_LOCAL_WRITE, IB_ACCESS_REMOTE_READ, false },
	{ "read with it", IB_ACCESS_REMOTE_READ, IB_ACCESS_REMOTE_READ, true },
	{ "write with the right to read", IB_ACCESS_REMOTE_READ, IB_ACCESS_REMOTE_WRITE, false },
	{ "write with the local right", IB_ACCESS_LOCAL_WRITE, IB_ACCESS_REMOTE_WRITE, false },
	{ "atomic with the right to write", IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE,
	  IB_ACCESS_REMOTE_ATOMIC, false },
	{ "atomic with it", IB_ACCESS_REMOTE_ATOMIC, IB_ACCESS_REMOTE_ATOMIC, true },
};

KUNIT_ARRAY_PARAM_DESC(right, right_rows, desc);

static void srn_mem_rights_test(struct kunit *test)
{
	const struct right_row *row = test->param_value;
	struct ctx *c = test->priv;
	struct srn_mem *mr = fake_mr(test, c->dev, c->pd, IOVA, LEN, 0, row->has);

	KUNIT_EXPECT_EQ(test, remote(c, QPN, mr->key, IOVA, 8, row->asks),
			row->ok ? SRN_OK : SRN_V_REM_ACCESS);
}

static void srn_mem_local_rights_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct srn_mem *ro = fake_mr(test, c->dev, c->pd, IOVA, LEN, 0, 0);

	KUNIT_EXPECT_EQ(test, local(c, c->pd, IOVA, 8, ro->key, 0), SRN_OK);
	KUNIT_EXPECT_EQ(test, local(c, c->pd, IOVA, 8, ro->key, IB_ACCESS_LOCAL_WRITE),
			SRN_V_LOC_PROT);
}

/* A key is right or wrong as a whole, and for one PD. */
static void srn_mem_keys_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct srn_mem *mr = fake_mr(test, c->dev, c->pd, IOVA, LEN, 0, ALL);

	KUNIT_EXPECT_NE(test, mr->key >> 8, 0);
	KUNIT_EXPECT_EQ(test, local(c, c->pd, IOVA, 8, mr->key ^ 1, 0), SRN_V_LOC_PROT);
	KUNIT_EXPECT_EQ(test, local(c, c->pd, IOVA, 8, mr->key + 0x100, 0), SRN_V_LOC_PROT);
	KUNIT_EXPECT_EQ(test, local(c, c->pd, IOVA, 8, 0, 0), SRN_V_LOC_PROT);
	KUNIT_EXPECT_EQ(test, local(c, c->pd, IOVA, 8, U32_MAX, 0), SRN_V_LOC_PROT);
	KUNIT_EXPECT_EQ(test, local(c, c->other_pd, IOVA, 8, mr->key, 0), SRN_V_LOC_PROT);
}

/* All of the kernel's memory is for QPs of the kernel only. */
static void srn_mem_dma_lkey_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct ib_sge sge = { .addr = (uintptr_t)c, .length = 8, .lkey = SRN_LOCAL_DMA_LKEY };
	struct srn_mem *mem;
	u64 len;

	KUNIT_EXPECT_EQ(test, local(c, c->pd, sge.addr, 8, SRN_LOCAL_DMA_LKEY, 0),
			SRN_V_LOC_PROT);
	KUNIT_EXPECT_EQ(test, remote(c, QPN, SRN_LOCAL_DMA_LKEY, sge.addr, 8, 0),
			SRN_V_REM_ACCESS);
	KUNIT_ASSERT_EQ(test, srn_mem_get_local(c->dev, c->pd, true, &sge,
						IB_ACCESS_LOCAL_WRITE, &mem), SRN_OK);
	KUNIT_EXPECT_PTR_EQ(test, srn_mem_span(mem, sge.addr, &len), (void *)c);
	srn_mem_put(mem);
	srn_mem_put(mem);	/* counts nothing: it lives as long as the device */
	KUNIT_EXPECT_EQ(test, refcount_read(&mem->refs), 1);
}

/* Byte n of a region is byte n of its pages, for every n around a boundary. */
static void srn_mem_span_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct srn_mem *mr = fake_mr(test, c->dev, c->pd, IOVA, LEN, 0x680, ALL);
	u64 n;

	for (n = 0; n < LEN; n++) {
		u64 pos = n + 0x680, len;
		unsigned int off;
		char *want = mr->map.blocks[pos / PAGE_SIZE] + pos % PAGE_SIZE;

		KUNIT_ASSERT_PTR_EQ(test, srn_mem_span(mr, IOVA + n, &len), (void *)want);
		KUNIT_ASSERT_EQ(test, len, PAGE_SIZE - pos % PAGE_SIZE);
		KUNIT_ASSERT_PTR_EQ(test, srn_mem_page(mr, IOVA + n, &off), virt_to_page(want));
		KUNIT_ASSERT_EQ(test, off, offset_in_page(want));
	}
}

static void srn_mem_atomic_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct srn_mem *mr = fake_mr(test, c->dev, c->pd, IOVA, LEN, 0x680, ALL);
	u64 *word = mr->map.blocks[0] + 0x680;

	*word = U64_MAX;
	KUNIT_EXPECT_EQ(test, srn_atomic_fetch_add(mr, IOVA, 3), U64_MAX);
	KUNIT_EXPECT_EQ(test, *word, 2);
	KUNIT_EXPECT_EQ(test, srn_atomic_cmp_swap(mr, IOVA, 1, 9), 2);
	KUNIT_EXPECT_EQ(test, *word, 2);
	KUNIT_EXPECT_EQ(test, srn_atomic_cmp_swap(mr, IOVA, 2, 9), 2);
	KUNIT_EXPECT_EQ(test, *word, 9);
	srn_atomic_write(mr, IOVA, 0x0102030405060708ULL);
	KUNIT_EXPECT_EQ(test, *word, 0x0102030405060708ULL);
}

/* A key that was taken away names nothing, and its number does not come back at once. */
static void srn_mem_remove_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct srn_mem *mem = kunit_kzalloc(test, sizeof(*mem), GFP_KERNEL);
	struct srn_mem *next;
	u32 key;

	KUNIT_ASSERT_NOT_NULL(test, mem);
	srn_mem_init(mem, c->dev, c->pd, SRN_MEM_DMA);
	mem->map.length = U64_MAX;
	KUNIT_ASSERT_EQ(test, srn_mem_insert(mem), 0);
	key = mem->key;
	KUNIT_EXPECT_EQ(test, local(c, c->pd, 0, 8, key, 0), SRN_V_LOC_PROT);
	srn_mem_set_state(mem, SRN_MEM_VALID);
	KUNIT_EXPECT_EQ(test, local(c, c->pd, 0, 8, key, 0), SRN_OK);
	srn_mem_remove(mem);
	KUNIT_EXPECT_EQ(test, local(c, c->pd, 0, 8, key, 0), SRN_V_LOC_PROT);
	next = fake_mr(test, c->dev, c->pd, IOVA, LEN, 0, ALL);
	KUNIT_EXPECT_NE(test, next->key >> 8, key >> 8);
}

/* Windows. */

static struct srn_mw *make_mw(struct kunit *test, struct ib_pd *pd, enum ib_mw_type type)
{
	struct srn_mw *mw = kunit_kzalloc(test, sizeof(*mw), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, mw);
	mw->ibmw.device = pd->device;
	mw->ibmw.pd = pd;
	mw->ibmw.type = type;
	KUNIT_ASSERT_EQ(test, srn_alloc_mw(&mw->ibmw, NULL), 0);
	return mw;
}

static struct srn_mw_bind bind_of(const struct srn_mem *mr, const struct srn_mw *mw)
{
	return (struct srn_mw_bind) {
		.addr = IOVA + 100, .length = 200, .mr_lkey = mr->key,
		.mw_rkey = mw->mem->key, .new_rkey = mw->mem->key ^ 0x55,
		.access = IB_ACCESS_REMOTE_READ,
	};
}

static void srn_mem_window_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct srn_mem *mr = fake_mr(test, c->dev, c->pd, IOVA, LEN, 0, ALL);
	struct srn_mw *mw = make_mw(test, c->pd, IB_MW_TYPE_2);
	struct srn_mw_bind b = bind_of(mr, mw);
	u32 old = mw->mem->key;

	KUNIT_EXPECT_EQ(test, remote(c, QPN, old, b.addr, 1, IB_ACCESS_REMOTE_READ),
			SRN_V_REM_ACCESS);
	KUNIT_ASSERT_EQ(test, srn_mem_bind(c->dev, c->pd, QPN, &b), SRN_OK);
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
	KUNIT_EXPECT_EQ(test, srn_mem_invalidate(c->dev, c->pd, QPN + 1, b.new_rkey, true),
			SRN_V_REM_ACCESS);
	KUNIT_EXPECT_EQ(test, srn_mem_invalidate(c->dev, c->other_pd, QPN, b.new_rkey, false),
			SRN_V_MW_BIND);
	KUNIT_EXPECT_EQ(test, srn_mem_invalidate(c->dev, c->pd, QPN, old, true),
			SRN_V_REM_ACCESS);
	KUNIT_EXPECT_EQ(test, srn_mem_invalidate(c->dev, c->pd, QPN, b.new_rkey, true), SRN_OK);
	KUNIT_EXPECT_EQ(test, atomic_read(&mr->windows), 0);
	KUNIT_EXPECT_EQ(test, remote(c, QPN, b.new_rkey, b.addr, 1, IB_ACCESS_REMOTE_READ),
			SRN_V_REM_ACCESS);
	KUNIT_EXPECT_EQ(test, srn_mem_invalidate(c->dev, c->pd, QPN, b.new_rkey, false),
			SRN_V_MW_BIND);

	b.mw_rkey = b.new_rkey;
	KUNIT_EXPECT_EQ(test, srn_mem_bind(c->dev, c->pd, QPN, &b), SRN_OK);
	srn_dealloc_mw(&mw->ibmw);
	KUNIT_EXPECT_EQ(test, atomic_read(&mr->windows), 0);
}

/* Bytes through a window are the bytes of the MR. */
static void srn_mem_window_bytes_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct srn_mem *mr = fake_mr(test, c->dev, c->pd, IOVA, LEN, 0x680, ALL);
	struct srn_mw *mw = make_mw(test, c->pd, IB_MW_TYPE_1);
	struct srn_mw_bind b = bind_of(mr, mw);
	struct srn_mem *mem;
	u64 len;

	KUNIT_ASSERT_EQ(test, srn_mem_bind(c->dev, c->pd, QPN, &b), SRN_OK);
	KUNIT_ASSERT_EQ(test, srn_mem_get_remote(c->dev, c->pd, QPN + 1, b.new_rkey, b.addr + 5,
						 7, IB_ACCESS_REMOTE_READ, &mem), SRN_OK);
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
	{ "zero-based window", ALL, IB_MW_TYPE_2, { .access = IB_ZERO_BASED } },
	{ "window rights to bind", ALL, IB_MW_TYPE_2, { .access = IB_ACCESS_MW_BIND } },
	{ "starts before the MR", ALL, IB_MW_TYPE_2, { .addr = -101 } },
	{ "ends after the MR", ALL, IB_MW_TYPE_2, { .length = LEN - 299 } },
	{ "length that wraps", ALL, IB_MW_TYPE_2, { .length = -201 } },
	{ "unknown MR", ALL, IB_MW_TYPE_2, { .mr_lkey = 0x10000 } },
	{ "MR's old key", ALL, IB_MW_TYPE_2, { .mr_lkey = 1 } },
	{ "window's old key", ALL, IB_MW_TYPE_2, { .mw_rkey = 1 } },
	{ "new key of another index", ALL, IB_MW_TYPE_2, { .new_rkey = 0x100 } },
	{ "type 2 bound to no bytes", ALL, IB_MW_TYPE_2, { .length = -200 } },
	{ "another PD", ALL, IB_MW_TYPE_1, {}, true },
};

KUNIT_ARRAY_PARAM_DESC(bind, bind_rows, desc);

static void srn_mem_bind_refused_test(struct kunit *test)
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
	KUNIT_EXPECT_EQ(test, srn_mem_bind(c->dev, row->other_pd ? c->other_pd : c->pd, QPN, &b),
			SRN_V_MW_BIND);
	KUNIT_EXPECT_EQ(test, atomic_read(&mr->windows), 0);
	/* The refusal left the window as it was. */
	if ((row->mr_access & (IB_ACCESS_MW_BIND | IB_ZERO_BASED)) == IB_ACCESS_MW_BIND)
		KUNIT_EXPECT_EQ(test, srn_mem_bind(c->dev, c->pd, QPN, &good), SRN_OK);
	srn_dealloc_mw(&mw->ibmw);
}

/* Type 1 is bound over and over, and unbound by length 0. */
static void srn_mem_window1_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct srn_mem *mr = fake_mr(test, c->dev, c->pd, IOVA, LEN, 0, ALL);
	struct srn_mw *mw = make_mw(test, c->pd, IB_MW_TYPE_1);
	struct srn_mw_bind b = bind_of(mr, mw);
	u32 first;

	KUNIT_ASSERT_EQ(test, srn_mem_bind(c->dev, c->pd, QPN, &b), SRN_OK);
	first = b.new_rkey;
	/* Not bound to a QP, and not to be invalidated. */
	KUNIT_EXPECT_EQ(test, remote(c, QPN + 1, first, b.addr, 1, IB_ACCESS_REMOTE_READ), SRN_OK);
	KUNIT_EXPECT_EQ(test, srn_mem_invalidate(c->dev, c->pd, QPN, first, false),
			SRN_V_MW_BIND);
	KUNIT_EXPECT_EQ(test, srn_mem_invalidate(c->dev, c->pd, QPN, first, true),
			SRN_V_REM_ACCESS);

	b.mw_rkey = first;
	b.new_rkey = first ^ 0x0f;
	b.addr = IOVA;
	KUNIT_ASSERT_EQ(test, srn_mem_bind(c->dev, c->pd, QPN, &b), SRN_OK);
	KUNIT_EXPECT_EQ(test, atomic_read(&mr->windows), 1);
	KUNIT_EXPECT_EQ(test, remote(c, QPN, b.new_rkey, IOVA, 1, IB_ACCESS_REMOTE_READ), SRN_OK);
	KUNIT_EXPECT_EQ(test, remote(c, QPN, b.new_rkey, IOVA + 250, 1, IB_ACCESS_REMOTE_READ),
			SRN_V_REM_ACCESS);

	b.mw_rkey = b.new_rkey;
	b.length = 0;
	KUNIT_ASSERT_EQ(test, srn_mem_bind(c->dev, c->pd, QPN, &b), SRN_OK);
	KUNIT_EXPECT_EQ(test, atomic_read(&mr->windows), 0);
	KUNIT_EXPECT_EQ(test, remote(c, QPN, b.new_rkey, IOVA, 1, IB_ACCESS_REMOTE_READ),
			SRN_V_REM_ACCESS);
	srn_dealloc_mw(&mw->ibmw);
}

static void srn_mem_unbind_qp_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct srn_mem *mr = fake_mr(test, c->dev, c->pd, IOVA, LEN, 0, ALL);
	struct srn_mw *mine = make_mw(test, c->pd, IB_MW_TYPE_2);
	struct srn_mw *other = make_mw(test, c->pd, IB_MW_TYPE_2);
	struct srn_mw_bind b1 = bind_of(mr, mine), b2 = bind_of(mr, other);

	KUNIT_ASSERT_EQ(test, srn_mem_bind(c->dev, c->pd, QPN, &b1), SRN_OK);
	KUNIT_ASSERT_EQ(test, srn_mem_bind(c->dev, c->pd, QPN + 1, &b2), SRN_OK);
	srn_mem_unbind_qp(c->dev, QPN);
	KUNIT_EXPECT_EQ(test, atomic_read(&mr->windows), 1);
	KUNIT_EXPECT_EQ(test, remote(c, QPN, b1.new_rkey, b1.addr, 1, IB_ACCESS_REMOTE_READ),
			SRN_V_REM_ACCESS);
	KUNIT_EXPECT_EQ(test, remote(c, QPN + 1, b2.new_rkey, b2.addr, 1, IB_ACCESS_REMOTE_READ),
			SRN_OK);
	srn_dealloc_mw(&mine->ibmw);
	srn_dealloc_mw(&other->ibmw);
}

/* Fast registration. */

static void map_pages(struct kunit *test, struct ib_mr *mr, void **pages, unsigned int num)
{
	struct scatterlist *sg = kunit_kcalloc(test, num, sizeof(*sg), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, sg);
	sg_init_table(sg, num);
	for (i = 0; i < num; i++) {
		sg_set_buf(&sg[i], pages[i], PAGE_SIZE);
		sg_dma_address(&sg[i]) = (uintptr_t)pages[i];
		sg_dma_len(&sg[i]) = PAGE_SIZE;
	}
	mr->page_size = PAGE_SIZE;
	KUNIT_ASSERT_EQ(test, srn_map_mr_sg(mr, sg, num, NULL), num);
}

static void srn_mem_fast_reg_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	void *old[] = { fake_page(test), fake_page(test) }, *new[] = { fake_page(test) };
	struct ib_mr *mr = srn_alloc_mr(c->pd, IB_MR_TYPE_MEM_REG, 2);
	u64 first, len;
	struct srn_mem *mem;
	u32 key;

	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	mr->device = &c->dev->ibdev;
	mr->pd = c->pd;
	key = mr->rkey;
	KUNIT_EXPECT_EQ(test, srn_mem_fast_reg(c->dev, c->pd, mr, key, ALL), SRN_V_MW_BIND);

	map_pages(test, mr, old, 2);
	first = mr->iova;
	KUNIT_EXPECT_EQ(test, remote(c, QPN, key, first, 1, 0), SRN_V_REM_ACCESS);
	KUNIT_EXPECT_EQ(test, srn_mem_fast_reg(c->dev, c->other_pd, mr, key, ALL), SRN_V_MW_BIND);
	KUNIT_EXPECT_EQ(test, srn_mem_fast_reg(c->dev, c->pd, mr, key + 0x100, ALL),
			SRN_V_MW_BIND);
	KUNIT_EXPECT_EQ(test, srn_mem_fast_reg(c->dev, c->pd, mr, key ^ 0xff,
					       IB_ACCESS_REMOTE_READ), SRN_OK);
	key ^= 0xff;
	KUNIT_EXPECT_EQ(test, remote(c, QPN, key ^ 0xff, first, 1, 0), SRN_V_REM_ACCESS);
	KUNIT_EXPECT_EQ(test, remote(c, QPN, key, first, 2 * PAGE_SIZE, IB_ACCESS_REMOTE_READ),
			SRN_OK);
	KUNIT_EXPECT_EQ(test, remote(c, QPN, key, first, 2 * PAGE_SIZE + 1, 0), SRN_V_REM_ACCESS);
	KUNIT_EXPECT_EQ(test, remote(c, QPN, key, first, 1, IB_ACCESS_REMOTE_WRITE),
			SRN_V_REM_ACCESS);
	/* Valid: has to be invalidated first. */
	KUNIT_EXPECT_EQ(test, srn_mem_fast_reg(c->dev, c->pd, mr, key, ALL), SRN_V_MW_BIND);

	/* Mapping the next list leaves the one in use alone. */
	map_pages(test, mr, new, 1);
	KUNIT_ASSERT_EQ(test, srn_mem_get_remote(c->dev, c->pd, QPN, key, first + PAGE_SIZE, 1,
						 IB_ACCESS_REMOTE_READ, &mem), SRN_OK);
	KUNIT_EXPECT_PTR_EQ(test, srn_mem_span(mem, first + PAGE_SIZE, &len), old[1]);
	srn_mem_put(mem);

	KUNIT_EXPECT_EQ(test, srn_mem_invalidate(c->dev, c->other_pd, QPN, key, true),
			SRN_V_REM_ACCESS);
	KUNIT_EXPECT_EQ(test, srn_mem_invalidate(c->dev, c->pd, QPN, key, false), SRN_OK);
	KUNIT_EXPECT_EQ(test, srn_mem_invalidate(c->dev, c->pd, QPN, key, false), SRN_V_MW_BIND);
	KUNIT_EXPECT_EQ(test, remote(c, QPN, key, first, 1, 0), SRN_V_REM_ACCESS);

	KUNIT_EXPECT_EQ(test, srn_mem_fast_reg(c->dev, c->pd, mr, key, ALL), SRN_OK);
	KUNIT_ASSERT_EQ(test, srn_mem_get_remote(c->dev, c->pd, QPN, key, mr->iova, PAGE_SIZE,
						 IB_ACCESS_REMOTE_WRITE, &mem), SRN_OK);
	KUNIT_EXPECT_PTR_EQ(test, srn_mem_span(mem, mr->iova, &len), new[0]);
	srn_mem_put(mem);

	/* The same list again, without mapping. */
	KUNIT_EXPECT_EQ(test, srn_mem_invalidate(c->dev, c->pd, QPN, key, true), SRN_OK);
	KUNIT_EXPECT_EQ(test, srn_mem_fast_reg(c->dev, c->pd, mr, key, ALL), SRN_OK);
	KUNIT_EXPECT_EQ(test, remote(c, QPN, key, mr->iova, PAGE_SIZE, IB_ACCESS_REMOTE_WRITE),
			SRN_OK);
	KUNIT_EXPECT_EQ(test, srn_dereg_mr(mr, NULL), 0);
	KUNIT_EXPECT_EQ(test, remote(c, QPN, key, first, 1, 0), SRN_V_REM_ACCESS);
}

/* What a peer has no right to access it may not invalidate; a registered MR nobody. */
static void srn_mem_invalidate_refused_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct srn_mem *user = fake_mr(test, c->dev, c->pd, IOVA, LEN, 0, ALL);
	struct ib_mr *mr = srn_alloc_mr(c->pd, IB_MR_TYPE_MEM_REG, 1);
	void *page = fake_page(test);

	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	mr->device = &c->dev->ibdev;
	mr->pd = c->pd;
	map_pages(test, mr, &page, 1);
	KUNIT_ASSERT_EQ(test, srn_mem_fast_reg(c->dev, c->pd, mr, mr->rkey,
					       IB_ACCESS_LOCAL_WRITE), SRN_OK);
	KUNIT_EXPECT_EQ(test, srn_mem_invalidate(c->dev, c->pd, QPN, mr->rkey, true),
			SRN_V_REM_ACCESS);
	KUNIT_EXPECT_EQ(test, srn_mem_invalidate(c->dev, c->pd, QPN, user->key, false),
			SRN_V_MW_BIND);
	KUNIT_EXPECT_EQ(test, srn_mem_invalidate(c->dev, c->pd, QPN, user->key, true),
			SRN_V_REM_ACCESS);
	KUNIT_EXPECT_EQ(test, srn_mem_invalidate(c->dev, c->pd, QPN, 0xffffff00, true),
			SRN_V_REM_ACCESS);
	KUNIT_EXPECT_EQ(test, srn_dereg_mr(mr, NULL), 0);
}

/* An MR stays while windows show it. */
static void srn_mem_dereg_with_window_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct ib_mr *mr = srn_alloc_mr(c->pd, IB_MR_TYPE_MEM_REG, 1);
	struct srn_mw *mw = make_mw(test, c->pd, IB_MW_TYPE_2);
	void *page = fake_page(test);
	struct srn_mw_bind b;

	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	mr->device = &c->dev->ibdev;
	mr->pd = c->pd;
	map_pages(test, mr, &page, 1);
	KUNIT_ASSERT_EQ(test, srn_mem_fast_reg(c->dev, c->pd, mr, mr->rkey, ALL), SRN_OK);
	b = (struct srn_mw_bind) { mr->iova, 64, mr->rkey, mw->mem->key, mw->mem->key,
				   IB_ACCESS_REMOTE_READ };
	KUNIT_ASSERT_EQ(test, srn_mem_bind(c->dev, c->pd, QPN, &b), SRN_OK);
	KUNIT_EXPECT_EQ(test, srn_dereg_mr(mr, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, srn_mem_invalidate(c->dev, c->pd, QPN, mr->rkey, false),
			SRN_V_MW_BIND);
	KUNIT_EXPECT_EQ(test, remote(c, QPN, b.new_rkey, b.addr, 64, IB_ACCESS_REMOTE_READ),
			SRN_OK);
	srn_dealloc_mw(&mw->ibmw);
	KUNIT_EXPECT_EQ(test, srn_dereg_mr(mr, NULL), 0);
}

static struct kunit_case mem_cases[] = {
	KUNIT_CASE_PARAM(srn_mem_bounds_test, bounds_gen_params),
	KUNIT_CASE(srn_mem_bounds_at_end_test),
	KUNIT_CASE_PARAM(srn_mem_rights_test, right_gen_params),
	KUNIT_CASE(srn_mem_local_rights_test),
	KUNIT_CASE(srn_mem_keys_test),
	KUNIT_CASE(srn_mem_dma_lkey_test),
	KUNIT_CASE(srn_mem_span_test),
	KUNIT_CASE(srn_mem_atomic_test),
	KUNIT_CASE(srn_mem_remove_test),
	KUNIT_CASE(srn_mem_window_test),
	KUNIT_CASE(srn_mem_window_bytes_test),
	KUNIT_CASE_PARAM(srn_mem_bind_refused_test, bind_gen_params),
	KUNIT_CASE(srn_mem_window1_test),
	KUNIT_CASE(srn_mem_unbind_qp_test),
	KUNIT_CASE(srn_mem_fast_reg_test),
	KUNIT_CASE(srn_mem_invalidate_refused_test),
	KUNIT_CASE(srn_mem_dereg_with_window_test),
	{}
};

static struct kunit_suite mem_suite = {
	.name = "srn_mem",
	.init = mem_test_init,
	.test_cases = mem_cases,
};

kunit_test_suite(mem_suite);
