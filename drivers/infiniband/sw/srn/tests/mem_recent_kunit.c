// SPDX-License-Identifier: GPL-2.0-only
/* Keys that were used lately, where they were found: such a key is a key like any other, and one
 * that was taken away is not remembered.
 */
#include "fake_mem.h"

/* What a key of a QP in @pd leads to, or NULL. */
static const struct srn_mem *found(struct srn_dev *dev, struct ib_pd *pd, u32 key)
{
	struct srn_who who = fake_who(dev, pd, QPN);
	struct srn_mem *mem = NULL;

	local_bh_disable();
	if (srn_mem_get_remote(&who, key, IOVA, 8, IB_ACCESS_REMOTE_READ, &mem))
		mem = NULL;
	if (mem)
		srn_mem_put(mem);
	local_bh_enable();
	return mem;
}

/* A key that was just used is found without the table, and is a key like any other. */
static void srn_mem_recent_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct srn_mem *mr = fake_mr(test, c->dev, c->pd, IOVA, LEN, 0, ALL);
	u32 index = mr->key >> 8;

	local_bh_disable();
	KUNIT_EXPECT_PTR_EQ(test, found(c->dev, c->pd, mr->key), mr);
	KUNIT_EXPECT_PTR_EQ(test, xa_erase(&c->dev->mems.mems, index), mr);
	KUNIT_EXPECT_PTR_EQ(test, found(c->dev, c->pd, mr->key), mr);
	KUNIT_EXPECT_NULL(test, found(c->dev, c->pd, mr->key ^ 1));
	KUNIT_EXPECT_NULL(test, found(c->dev, c->other_pd, mr->key));
	srn_mem_set_state(mr, SRN_MEM_FREE);
	KUNIT_EXPECT_NULL(test, found(c->dev, c->pd, mr->key));
	srn_mem_set_state(mr, SRN_MEM_VALID);
	KUNIT_EXPECT_PTR_EQ(test, found(c->dev, c->pd, mr->key), mr);
	mr->key ^= 1;
	KUNIT_EXPECT_NULL(test, found(c->dev, c->pd, mr->key ^ 1));
	KUNIT_EXPECT_EQ(test, refcount_read(&mr->refs), 1);
	KUNIT_EXPECT_NULL(test, xa_store(&c->dev->mems.mems, index, mr, GFP_ATOMIC));
	KUNIT_EXPECT_PTR_EQ(test, found(c->dev, c->pd, mr->key), mr);
	local_bh_enable();
}

/* Many in turn, whatever takes whose place. */
static void srn_mem_recent_many_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct srn_mem *mr[40];
	int i, round;

	for (i = 0; i < ARRAY_SIZE(mr); i++)
		mr[i] = fake_mr(test, c->dev, c->pd, IOVA, LEN, 0, ALL);
	for (round = 0; round < 3; round++)
		for (i = 0; i < ARRAY_SIZE(mr); i++) {
			KUNIT_EXPECT_PTR_EQ(test, found(c->dev, c->pd, mr[i]->key), mr[i]);
			KUNIT_EXPECT_PTR_EQ(test, found(c->dev, c->pd, mr[0]->key), mr[0]);
		}
}

/* Two devices may have handed out one key. */
static void srn_mem_recent_device_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct srn_dev *dev = fake_dev(test);
	struct ib_pd *pd = fake_pd(test, dev);
	struct srn_mem *mr = fake_mr(test, c->dev, c->pd, IOVA, LEN, 0, ALL);
	struct srn_mem *other = fake_mr(test, dev, pd, IOVA, LEN, 0, ALL);
	int i;

	KUNIT_ASSERT_EQ(test, mr->key >> 8, other->key >> 8);
	other->key = mr->key;
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_PTR_EQ(test, found(c->dev, c->pd, mr->key), mr);
		KUNIT_EXPECT_PTR_EQ(test, found(dev, pd, mr->key), other);
		KUNIT_EXPECT_NULL(test, found(dev, c->pd, mr->key));
		KUNIT_EXPECT_NULL(test, found(c->dev, pd, mr->key));
	}
}

/* Of a key that was taken away nobody remembers where it was: anything may be there by now, such as
 * what looks like it.
 */
static void srn_mem_recent_forgotten_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct srn_mem *mem = kunit_kzalloc(test, sizeof(*mem), GFP_KERNEL), *next;

	KUNIT_ASSERT_NOT_NULL(test, mem);
	srn_mem_init(mem, c->dev, c->pd, SRN_MEM_DMA);
	mem->map.length = U64_MAX;
	mem->access = ALL;
	KUNIT_ASSERT_EQ(test, srn_mem_insert(mem), 0);
	srn_mem_set_state(mem, SRN_MEM_VALID);
	KUNIT_EXPECT_PTR_EQ(test, found(c->dev, c->pd, mem->key), mem);
	srn_mem_remove(mem);
	refcount_set(&mem->refs, 1);
	mem->state = SRN_MEM_VALID;
	KUNIT_EXPECT_NULL(test, found(c->dev, c->pd, mem->key));

	c->dev->mems.next[false] = mem->key >> 8;
	next = fake_mr(test, c->dev, c->pd, IOVA, LEN, 0, ALL);
	KUNIT_ASSERT_EQ(test, next->key >> 8, mem->key >> 8);
	next->key = mem->key;
	KUNIT_EXPECT_PTR_EQ(test, found(c->dev, c->pd, mem->key), next);
}

/* Who takes a key away is half through when its number is given out again. */
static void srn_mem_recent_moved_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct srn_mem *mr = fake_mr(test, c->dev, c->pd, IOVA, LEN, 0, ALL), *next;
	u32 key = mr->key;

	KUNIT_EXPECT_PTR_EQ(test, found(c->dev, c->pd, key), mr);
	srn_mem_set_state(mr, SRN_MEM_INVALID);
	xa_erase(&c->dev->mems.mems, key >> 8);
	c->dev->mems.next[false] = key >> 8;
	next = fake_mr(test, c->dev, c->pd, IOVA, LEN, 0, ALL);
	KUNIT_ASSERT_EQ(test, next->key >> 8, key >> 8);
	next->key = key;
	KUNIT_EXPECT_PTR_EQ(test, found(c->dev, c->pd, key), next);
	KUNIT_EXPECT_EQ(test, refcount_read(&mr->refs), 1);
}

static struct kunit_case mem_recent_cases[] = {
	KUNIT_CASE(srn_mem_recent_test),
	KUNIT_CASE(srn_mem_recent_many_test),
	KUNIT_CASE(srn_mem_recent_device_test),
	KUNIT_CASE(srn_mem_recent_forgotten_test),
	KUNIT_CASE(srn_mem_recent_moved_test),
	{}
};

static struct kunit_suite mem_recent_suite = {
	.name = "srn_mem_recent",
	.init = mem_test_init,
	.test_cases = mem_recent_cases,
};

kunit_test_suite(mem_recent_suite);
