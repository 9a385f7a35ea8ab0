// SPDX-License-Identifier: GPL-2.0-only
/* What is left of a context that is refused. */
#include "../ucontext.h"

#include <kunit/test.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/sched/task.h>

/* A program that asks for a poller may be refused one each time that it opens the device. */
static void srn_ucontext_refused_test(struct kunit *test)
{
	struct srn_ucontext *uc = kunit_kzalloc(test, sizeof(*uc), GFP_KERNEL);
	struct ib_udata udata = {};
	int i;

	KUNIT_ASSERT_NOT_NULL(test, uc);
	for (i = 0; i < 3; i++) {
		unsigned int before = refcount_read(&current->usage);

		uc->ibuc.res.task = get_task_struct(current);
		KUNIT_EXPECT_EQ(test, srn_alloc_ucontext(&uc->ibuc, &udata), -EINVAL);
		KUNIT_EXPECT_NULL(test, uc->ibuc.res.task);
		KUNIT_EXPECT_EQ(test, refcount_read(&current->usage), before);
	}
	/* As it is where the core puts it. */
	KUNIT_EXPECT_EQ(test, srn_alloc_ucontext(&uc->ibuc, &udata), -EINVAL);
}

static struct kunit_case srn_ucontext_cases[] = {
	KUNIT_CASE(srn_ucontext_refused_test),
	{}
};

static struct kunit_suite srn_ucontext_suite = {
	.name = "srn_ucontext",
	.test_cases = srn_ucontext_cases,
};

kunit_test_suite(srn_ucontext_suite);
