/* SPDX-License-Identifier: GPL-2.0-only */
/* What the rooms below the device need of one, without a netdev or ib_core. */
#ifndef SRN_TESTS_FAKE_H
#define SRN_TESTS_FAKE_H

#include "../device.h"
#include "../known.h"
#include "../path.h"
#include "../wqe.h"

#include <kunit/test.h>
#include <linux/mm.h>

static inline void fake_free_stats(void *stats)
{
	free_percpu((struct srn_stats __percpu __force *)stats);
}

static inline struct srn_dev *fake_dev(struct kunit *test)
{
	struct srn_dev *dev = kunit_kzalloc(test, sizeof(*dev), GFP_KERNEL);
	struct srn_stats __percpu *stats = alloc_percpu(struct srn_stats);

	KUNIT_ASSERT_NOT_NULL(test, dev);
	KUNIT_ASSERT_TRUE(test, (__force void *)stats);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, fake_free_stats,
							   (__force void *)stats));
	dev->stats = stats;
	dev->ibdev.num_comp_vectors = 1;
	srn_mem_table_init(&dev->mems);
	xa_init_flags(&dev->avs, XA_FLAGS_ALLOC);
	xa_init_flags(&dev->tallies, XA_FLAGS_ALLOC1);
	return dev;
}

static inline struct ib_pd *fake_pd(struct kunit *test, struct srn_dev *dev)
{
	struct ib_pd *pd = kunit_kzalloc(test, sizeof(*pd), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, pd);
	pd->device = &dev->ibdev;
	return pd;
}

static inline void fake_put_known(void *p)
{
	srn_known_put(p);
}

/* What is known of a path on which nobody else goes. */
static inline struct srn_known_user *fake_known(struct kunit *test)
{
	struct srn_known *known = kunit_kzalloc(test, sizeof(*known), GFP_KERNEL);
	const struct srn_path path = {};
	struct srn_known_user *p;

	KUNIT_ASSERT_NOT_NULL(test, known);
	srn_known_init(known);
	p = srn_known_get(known, &path, NULL);
	KUNIT_ASSERT_NOT_NULL(test, p);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, fake_put_known, p));
	return p;
}

/* Who asks for memory in the name of @qpn. */
static inline struct srn_who fake_who(struct srn_dev *dev, struct ib_pd *pd, u32 qpn)
{
	return (struct srn_who) { .dev = dev, .pd = pd, .qpn = qpn };
}

/* Where a receive WQE is kept while it is open. */
static inline struct srn_rwqe *fake_rwqe(struct kunit *test)
{
	struct srn_rwqe *r = kunit_kzalloc(test, struct_size(r, sge, SRN_MAX_SGE), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, r);
	return r;
}

static inline void fake_free_page(void *page)
{
	free_page((unsigned long)page);
}

static inline void *fake_page(struct kunit *test)
{
	void *page = (void *)__get_free_page(GFP_KERNEL | __GFP_ZERO);

	KUNIT_ASSERT_NOT_NULL(test, page);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, fake_free_page, page));
	return page;
}

static inline void fake_remove(void *mem)
{
	srn_mem_remove(mem);
}

/* A registered region that begins @offset bytes into the first of its pages. */
static inline struct srn_mem *fake_mr(struct kunit *test, struct srn_dev *dev, struct ib_pd *pd,
				      u64 iova, u64 length, u64 offset, int access)
{
	struct srn_mem *mem = kunit_kzalloc(test, sizeof(*mem), GFP_KERNEL);
	u32 n = DIV_ROUND_UP(offset + length, PAGE_SIZE), i;

	KUNIT_ASSERT_NOT_NULL(test, mem);
	srn_mem_init(mem, dev, pd, SRN_MEM_USER);
	mem->access = access;
	mem->map = (struct srn_mem_map) {
		.iova = iova, .length = length, .offset = offset,
		.nblocks = n, .block_shift = PAGE_SHIFT,
		.blocks = kunit_kcalloc(test, n, sizeof(void *), GFP_KERNEL),
	};
	KUNIT_ASSERT_NOT_NULL(test, mem->map.blocks);
	/* Backwards: pages that follow in the region do not follow in memory. */
	for (i = n; i-- > 0; )
		mem->map.blocks[i] = fake_page(test);
	KUNIT_ASSERT_EQ(test, 0, srn_mem_insert(mem));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, fake_remove, mem));
	srn_mem_set_state(mem, SRN_MEM_VALID);
	return mem;
}

#endif
