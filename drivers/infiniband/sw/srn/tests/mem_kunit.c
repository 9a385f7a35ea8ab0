// SPDX-License-Identifier: GPL-2.0-only
/* Keys, bounds, rights, fast registration. */
#include "../atomic.h"
#include "../limits.h"
#include "../mr.h"
#include "fake_mem.h"

#include <linux/scatterlist.h>

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

static bool is_same(struct ctx *c, u32 key, u64 serial)
{
	struct srn_mem *mem;

	local_bh_disable();
	mem = srn_mem_get_same(c->dev, key, serial);
	if (mem)
		srn_mem_put(mem);
	local_bh_enable();
	return mem;
}

/* The same key later names another registration, though nothing else has changed. */
static void srn_mem_same_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct srn_mem *mr = fake_mr(test, c->dev, c->pd, IOVA, LEN, 0, ALL);
	struct srn_mem *other = fake_mr(test, c->dev, c->pd, IOVA, LEN, 0, ALL);
	u64 serial = mr->serial;

	KUNIT_EXPECT_TRUE(test, is_same(c, mr->key, serial));
	KUNIT_EXPECT_FALSE(test, is_same(c, mr->key, other->serial));
	KUNIT_EXPECT_FALSE(test, is_same(c, mr->key ^ 1, serial));
	srn_mem_set_state(mr, SRN_MEM_INVALID);
	KUNIT_EXPECT_FALSE(test, is_same(c, mr->key, serial));
	srn_mem_set_state(mr, SRN_MEM_VALID);
	KUNIT_EXPECT_FALSE(test, is_same(c, mr->key, serial));
	KUNIT_EXPECT_TRUE(test, is_same(c, mr->key, mr->serial));
	KUNIT_EXPECT_EQ(test, refcount_read(&mr->refs), 1);
}

/* All of the kernel's memory is for QPs of the kernel only. */
static void srn_mem_dma_lkey_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct ib_sge sge = { .addr = (uintptr_t)c, .length = 8, .lkey = SRN_LOCAL_DMA_LKEY };
	struct srn_who kernel = { .dev = c->dev, .pd = c->pd, .kernel = true };
	struct srn_mem *mem;
	u64 len;

	KUNIT_EXPECT_EQ(test, local(c, c->pd, sge.addr, 8, SRN_LOCAL_DMA_LKEY, 0),
			SRN_V_LOC_PROT);
	KUNIT_EXPECT_EQ(test, remote(c, QPN, SRN_LOCAL_DMA_LKEY, sge.addr, 8, 0),
			SRN_V_REM_ACCESS);
	KUNIT_ASSERT_EQ(test, srn_mem_get_local(&kernel, &sge, IB_ACCESS_LOCAL_WRITE, &mem),
			SRN_OK);
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

/* Programs may take as many keys as were promised, and leave the rest to the kernel. */
static void srn_mem_reserve_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct ib_pd *user_pd = fake_pd(test, c->dev);
	struct srn_mem *mr;

	user_pd->uobject = kunit_kzalloc(test, 1, GFP_KERNEL);
	c->dev->mems.next[true] = SRN_MAX_MR;
	mr = fake_mr(test, c->dev, user_pd, IOVA, LEN, 0, ALL);
	KUNIT_EXPECT_EQ(test, mr->key >> 8, SRN_MAX_MR);
	mr = fake_mr(test, c->dev, user_pd, IOVA, LEN, 0, ALL);
	KUNIT_EXPECT_EQ(test, mr->key >> 8, 1);

	c->dev->mems.next[false] = SRN_MAX_MR + 1;
	mr = fake_mr(test, c->dev, c->pd, IOVA, LEN, 0, ALL);
	KUNIT_EXPECT_EQ(test, mr->key >> 8, SRN_MAX_MR + 1);
}

/* As a REG_MR that is posted now. */
static enum srn_verdict fast_reg(struct ctx *c, struct ib_pd *pd, struct ib_mr *mr, u32 key,
				 int access)
{
	struct srn_who who = fake_who(c->dev, pd, QPN);

	return srn_mem_fast_reg(&who, mr, mr->iova, key, access);
}

/* Returns how many of them found room. */
static int try_map(struct kunit *test, struct ib_mr *mr, void **pages, unsigned int num,
		   unsigned int *offset)
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
	return srn_map_mr_sg(mr, sg, num, offset);
}

static void map_pages_from(struct kunit *test, struct ib_mr *mr, void **pages, unsigned int num,
			   unsigned int *offset)
{
	KUNIT_ASSERT_EQ(test, try_map(test, mr, pages, num, offset), num);
}

static void map_pages(struct kunit *test, struct ib_mr *mr, void **pages, unsigned int num)
{
	map_pages_from(test, mr, pages, num, NULL);
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
	KUNIT_EXPECT_EQ(test, fast_reg(c, c->pd, mr, key, ALL), SRN_V_MW_BIND);

	map_pages(test, mr, old, 2);
	first = mr->iova;
	KUNIT_EXPECT_EQ(test, remote(c, QPN, key, first, 1, 0), SRN_V_REM_ACCESS);
	KUNIT_EXPECT_EQ(test, fast_reg(c, c->other_pd, mr, key, ALL), SRN_V_MW_BIND);
	KUNIT_EXPECT_EQ(test, fast_reg(c, c->pd, mr, key + 0x100, ALL),
			SRN_V_MW_BIND);
	KUNIT_EXPECT_EQ(test, fast_reg(c, c->pd, mr, key, ALL | IB_ZERO_BASED), SRN_V_MW_BIND);
	KUNIT_EXPECT_EQ(test, fast_reg(c, c->pd, mr, key ^ 0xff,
					       IB_ACCESS_REMOTE_READ), SRN_OK);
	key ^= 0xff;
	KUNIT_EXPECT_EQ(test, remote(c, QPN, key ^ 0xff, first, 1, 0), SRN_V_REM_ACCESS);
	KUNIT_EXPECT_EQ(test, remote(c, QPN, key, first, 2 * PAGE_SIZE, IB_ACCESS_REMOTE_READ),
			SRN_OK);
	KUNIT_EXPECT_EQ(test, remote(c, QPN, key, first, 2 * PAGE_SIZE + 1, 0), SRN_V_REM_ACCESS);
	KUNIT_EXPECT_EQ(test, remote(c, QPN, key, first, 1, IB_ACCESS_REMOTE_WRITE),
			SRN_V_REM_ACCESS);
	/* Valid: has to be invalidated first. */
	KUNIT_EXPECT_EQ(test, fast_reg(c, c->pd, mr, key, ALL), SRN_V_MW_BIND);

	/* Mapping the next list leaves the one in use alone. */
	map_pages(test, mr, new, 1);
	KUNIT_ASSERT_EQ(test, srn_mem_get_remote(&c->who, key, first + PAGE_SIZE, 1,
						 IB_ACCESS_REMOTE_READ, &mem), SRN_OK);
	KUNIT_EXPECT_PTR_EQ(test, srn_mem_span(mem, first + PAGE_SIZE, &len), old[1]);
	srn_mem_put(mem);

	KUNIT_EXPECT_EQ(test, srn_mem_invalidate(&c->foreign, key, true),
			SRN_V_REM_ACCESS);
	KUNIT_EXPECT_EQ(test, srn_mem_invalidate(&c->own, key, false), SRN_OK);
	KUNIT_EXPECT_EQ(test, srn_mem_invalidate(&c->own, key, false), SRN_V_MW_BIND);
	KUNIT_EXPECT_EQ(test, remote(c, QPN, key, first, 1, 0), SRN_V_REM_ACCESS);

	KUNIT_EXPECT_EQ(test, fast_reg(c, c->pd, mr, key, ALL), SRN_OK);
	KUNIT_ASSERT_EQ(test, srn_mem_get_remote(&c->who, key, mr->iova, PAGE_SIZE,
						 IB_ACCESS_REMOTE_WRITE, &mem), SRN_OK);
	KUNIT_EXPECT_PTR_EQ(test, srn_mem_span(mem, mr->iova, &len), new[0]);
	srn_mem_put(mem);

	/* The same list again, without mapping. */
	KUNIT_EXPECT_EQ(test, srn_mem_invalidate(&c->own, key, true), SRN_OK);
	KUNIT_EXPECT_EQ(test, fast_reg(c, c->pd, mr, key, ALL), SRN_OK);
	KUNIT_ASSERT_EQ(test, srn_mem_get_remote(&c->who, key, mr->iova, PAGE_SIZE,
						 IB_ACCESS_REMOTE_WRITE, &mem), SRN_OK);
	KUNIT_EXPECT_PTR_EQ(test, srn_mem_span(mem, mr->iova, &len), new[0]);
	srn_mem_put(mem);
	KUNIT_EXPECT_EQ(test, remote(c, QPN, key, mr->iova, PAGE_SIZE + 1, 0), SRN_V_REM_ACCESS);
	KUNIT_EXPECT_EQ(test, srn_dereg_mr(mr, NULL), 0);
	KUNIT_EXPECT_EQ(test, remote(c, QPN, key, first, 1, 0), SRN_V_REM_ACCESS);
}

/* A list has room for what it was made for, and takes no page more. */
static void srn_mem_map_too_many_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	void *pages[] = { fake_page(test), fake_page(test), fake_page(test) };
	struct ib_mr *mr = srn_alloc_mr(c->pd, IB_MR_TYPE_MEM_REG, 2);

	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	mr->device = &c->dev->ibdev;
	mr->pd = c->pd;
	KUNIT_EXPECT_EQ(test, try_map(test, mr, pages, 3, NULL), 2);
	KUNIT_EXPECT_EQ(test, srn_dereg_mr(mr, NULL), 0);
}

/* Users choose the address after they mapped the pages; bytes stay where they are. */
static void srn_mem_fast_reg_iova_test(struct kunit *test)
{
	static const u64 iovas[] = { 0, 0x500000080ULL, U64_MAX - 4 * PAGE_SIZE };
	struct ctx *c = test->priv;
	struct ib_mr *mr = srn_alloc_mr(c->pd, IB_MR_TYPE_MEM_REG, 2);
	void *pages[] = { fake_page(test), fake_page(test) };
	unsigned int i, offset = 0x680;
	struct srn_mem *mem;
	u64 len;

	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	mr->device = &c->dev->ibdev;
	mr->pd = c->pd;
	for (i = 0; i < ARRAY_SIZE(iovas); i++) {
		offset = 0x680;
		map_pages_from(test, mr, pages, 2, &offset);
		mr->iova = iovas[i];
		KUNIT_ASSERT_EQ(test, fast_reg(c, c->pd, mr, mr->rkey, ALL), SRN_OK);
		KUNIT_ASSERT_EQ(test, srn_mem_get_remote(&c->who, mr->rkey, iovas[i],
							 2 * PAGE_SIZE - 0x680,
							 IB_ACCESS_REMOTE_READ, &mem), SRN_OK);
		KUNIT_EXPECT_PTR_EQ(test, srn_mem_span(mem, iovas[i], &len), pages[0] + 0x680);
		KUNIT_EXPECT_PTR_EQ(test, srn_mem_span(mem, iovas[i] + PAGE_SIZE, &len),
				    pages[1] + 0x680);
		srn_mem_put(mem);
		KUNIT_EXPECT_EQ(test, remote(c, QPN, mr->rkey, iovas[i] + 1,
					     2 * PAGE_SIZE - 0x680, IB_ACCESS_REMOTE_READ),
				SRN_V_REM_ACCESS);
		KUNIT_EXPECT_EQ(test, srn_mem_invalidate(&c->own, mr->rkey, false),
				SRN_OK);
	}
	KUNIT_EXPECT_EQ(test, srn_dereg_mr(mr, NULL), 0);
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
	KUNIT_ASSERT_EQ(test, fast_reg(c, c->pd, mr, mr->rkey,
					       IB_ACCESS_LOCAL_WRITE), SRN_OK);
	KUNIT_EXPECT_EQ(test, srn_mem_invalidate(&c->own, mr->rkey, true),
			SRN_V_REM_ACCESS);
	KUNIT_EXPECT_EQ(test, srn_mem_invalidate(&c->own, user->key, false),
			SRN_V_MW_BIND);
	KUNIT_EXPECT_EQ(test, srn_mem_invalidate(&c->own, user->key, true),
			SRN_V_REM_ACCESS);
	KUNIT_EXPECT_EQ(test, srn_mem_invalidate(&c->own, 0xffffff00, true),
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
	KUNIT_ASSERT_EQ(test, fast_reg(c, c->pd, mr, mr->rkey, ALL), SRN_OK);
	b = (struct srn_mw_bind) { mr->iova, 64, mr->rkey, mw->mem->key, mw->mem->key,
				   IB_ACCESS_REMOTE_READ };
	KUNIT_ASSERT_EQ(test, srn_mem_bind(&c->own, &b), SRN_OK);
	KUNIT_EXPECT_EQ(test, srn_dereg_mr(mr, NULL), -EBUSY);
	KUNIT_EXPECT_EQ(test, srn_mem_invalidate(&c->own, mr->rkey, false),
			SRN_V_MW_BIND);
	KUNIT_EXPECT_EQ(test, remote(c, QPN, b.new_rkey, b.addr, 64, IB_ACCESS_REMOTE_READ),
			SRN_OK);
	srn_dealloc_mw(&mw->ibmw);
	KUNIT_EXPECT_EQ(test, srn_dereg_mr(mr, NULL), 0);
}

/* Lists of whole pages, as many as are promised. */
static void srn_mem_alloc_mr_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct ib_mr *mr;

	KUNIT_EXPECT_EQ(test, PTR_ERR(srn_alloc_mr(c->pd, IB_MR_TYPE_SG_GAPS, 2)), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, PTR_ERR(srn_alloc_mr(c->pd, IB_MR_TYPE_INTEGRITY, 2)), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, PTR_ERR(srn_alloc_mr(c->pd, IB_MR_TYPE_MEM_REG, 0)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(srn_alloc_mr(c->pd, IB_MR_TYPE_MEM_REG,
						   SRN_MAX_FRMR_PAGES + 1)), -EINVAL);
	mr = srn_alloc_mr(c->pd, IB_MR_TYPE_MEM_REG, SRN_MAX_FRMR_PAGES);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	KUNIT_EXPECT_EQ(test, srn_dereg_mr(mr, NULL), 0);
}

static struct kunit_case mem_cases[] = {
	KUNIT_CASE_PARAM(srn_mem_bounds_test, bounds_gen_params),
	KUNIT_CASE(srn_mem_bounds_at_end_test),
	KUNIT_CASE_PARAM(srn_mem_rights_test, right_gen_params),
	KUNIT_CASE(srn_mem_local_rights_test),
	KUNIT_CASE(srn_mem_keys_test),
	KUNIT_CASE(srn_mem_same_test),
	KUNIT_CASE(srn_mem_dma_lkey_test),
	KUNIT_CASE(srn_mem_span_test),
	KUNIT_CASE(srn_mem_atomic_test),
	KUNIT_CASE(srn_mem_remove_test),
	KUNIT_CASE(srn_mem_reserve_test),
	KUNIT_CASE(srn_mem_fast_reg_test),
	KUNIT_CASE(srn_mem_map_too_many_test),
	KUNIT_CASE(srn_mem_fast_reg_iova_test),
	KUNIT_CASE(srn_mem_invalidate_refused_test),
	KUNIT_CASE(srn_mem_dereg_with_window_test),
	KUNIT_CASE(srn_mem_alloc_mr_test),
	{}
};

static struct kunit_suite mem_suite = {
	.name = "srn_mem",
	.init = mem_test_init,
	.test_cases = mem_cases,
};

kunit_test_suite(mem_suite);
