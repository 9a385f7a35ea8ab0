// SPDX-License-Identifier: GPL-2.0-only
/* On which CPU the event handlers of kernel users run: that of the completion vector. */
#include "../cq.h"
#include "../vector.h"
#include "fake.h"

#include <linux/bottom_half.h>
#include <linux/cpu.h>

struct ctx {
	struct srn_dev *dev;
	unsigned int comps;
	unsigned int cpu;	/* that the handler ran on */
};

static void on_comp(struct ib_cq *cq, void *arg)
{
	struct ctx *c = arg;

	c->cpu = raw_smp_processor_id();
	c->comps++;
}

/* With the second vector of a device that has two, the first CPUs that are online. */
static struct srn_cq *create_vector_cq(struct kunit *test, struct ctx *c, enum ib_poll_context poll)
{
	const struct ib_cq_init_attr attr = { .cqe = 4, .comp_vector = 1 };
	struct srn_cq *cq = kunit_kzalloc(test, sizeof(*cq), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, cq);
	c->dev->ibdev.num_comp_vectors = 2;
	c->dev->vectors = (struct srn_vectors){
		.num = 2,
		.all = { { cpumask_first(cpu_online_mask) + 1 }, { cpumask_nth(1, cpu_online_mask) + 1 } },
	};
	cq->ibcq.device = &c->dev->ibdev;
	cq->ibcq.comp_handler = on_comp;
	cq->ibcq.cq_context = c;
	cq->ibcq.poll_ctx = poll;
	KUNIT_ASSERT_EQ(test, srn_create_cq(&cq->ibcq, &attr, NULL), 0);
	return cq;
}

/* A completion on @cpu; returns how often the handler had been called when that was done. */
static unsigned int complete_on(struct kunit *test, struct ctx *c, struct srn_cq *cq, unsigned int cpu)
{
	struct srn_cqe cqe = {};
	unsigned int at_once;
	struct ib_wc wc;

	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(cpu)), 0);
	srn_req_notify_cq(&cq->ibcq, IB_CQ_NEXT_COMP);
	local_bh_disable();
	KUNIT_EXPECT_TRUE(test, srn_cq_post(cq, &cqe, false, NULL));
	at_once = READ_ONCE(c->comps);
	local_bh_enable();
	srn_cq_settle(cq);
	KUNIT_EXPECT_EQ(test, srn_poll_cq(&cq->ibcq, 1, &wc), 1);
	set_cpus_allowed_ptr(current, cpu_possible_mask);
	return at_once;
}

/* Skips the test where there is one CPU. */
static unsigned int second_cpu(struct kunit *test)
{
	unsigned int second = cpumask_nth(1, cpu_online_mask);

	if (second >= nr_cpu_ids)
		kunit_skip(test, "one CPU");
	return second;
}

/* A kernel user's handler runs on the CPU of its vector: at once, where that is where something completes. */
static void srn_cq_vector_test(struct kunit *test)
{
	unsigned int first = cpumask_first(cpu_online_mask), second = second_cpu(test);
	struct ctx *c = test->priv;
	struct srn_cq *cq = create_vector_cq(test, c, IB_POLL_SOFTIRQ);

	complete_on(test, c, cq, first);
	KUNIT_EXPECT_EQ(test, c->comps, 1);
	KUNIT_EXPECT_EQ(test, c->cpu, second);
	KUNIT_EXPECT_EQ(test, complete_on(test, c, cq, second), 2);
	KUNIT_EXPECT_EQ(test, c->cpu, second);
	srn_destroy_cq(&cq->ibcq, NULL);
}

/* The next one that something completes on is where it runs if it has no vector, or one of a CPU that is
 * not there.
 */
static void srn_cq_vector_anywhere_test(struct kunit *test)
{
	unsigned int last = cpumask_last(cpu_online_mask), i;
	struct ctx *c = test->priv;
	struct srn_cq *cq = create_vector_cq(test, c, IB_POLL_SOFTIRQ);
	const u32 anywhere[] = { 0, last + 1, NR_CPUS == 1 ? 2 : 0 };

	for (i = 0; i < ARRAY_SIZE(anywhere); i++) {
		cq->vector.cpu_1 = anywhere[i];
		KUNIT_EXPECT_EQ(test, complete_on(test, c, cq, last), i + 1);
		KUNIT_EXPECT_EQ(test, c->cpu, last);
	}
	srn_destroy_cq(&cq->ibcq, NULL);
}

/* What the core polls in a softirq has one, what it polls in a thread has none, unless somebody asks for it. */
static void srn_cq_vector_of_softirqs_test(struct kunit *test)
{
	static const enum ib_poll_context contexts[] = {
		IB_POLL_DIRECT, IB_POLL_WORKQUEUE, IB_POLL_UNBOUND_WORKQUEUE, IB_POLL_SOFTIRQ,
	};
	unsigned int first = cpumask_first(cpu_online_mask), second = second_cpu(test), i;
	struct ctx *c = test->priv;
	struct srn_cq *cq;

	if (srn_vectors_for() != SRN_VECTORS_SOFTIRQ)
		kunit_skip(test, "somebody has asked");
	for (i = 0; i < ARRAY_SIZE(contexts); i++) {
		cq = create_vector_cq(test, c, contexts[i]);
		complete_on(test, c, cq, first);
		KUNIT_EXPECT_EQ(test, c->comps, i + 1);
		KUNIT_EXPECT_EQ(test, c->cpu, contexts[i] == IB_POLL_SOFTIRQ ? second : first);
		srn_destroy_cq(&cq->ibcq, NULL);
	}
}

/* Who waits for a handler that another CPU runs does not wait for a tick. */
static void srn_cq_vector_settles_test(struct kunit *test)
{
	unsigned int first = cpumask_first(cpu_online_mask), i;
	u64 begun, least = U64_MAX;
	struct ctx *c = test->priv;
	struct srn_cq *cq;

	second_cpu(test);
	cq = create_vector_cq(test, c, IB_POLL_SOFTIRQ);
	for (i = 0; i < 100; i++) {
		begun = ktime_get_ns();
		complete_on(test, c, cq, first);
		least = min(least, ktime_get_ns() - begun);
	}
	kunit_info(test, "%llu us", least / NSEC_PER_USEC);
	/* Where timers are as coarse as ticks, the next one is soon enough. */
	KUNIT_EXPECT_LT(test, least, max_t(u64, TICK_NSEC / 2, 2 * (u64)hrtimer_resolution));
	srn_destroy_cq(&cq->ibcq, NULL);
}

struct traveller {
	struct work_struct work;
	unsigned int cpu;
	int err;
	bool back;
};

static void go_and_come(struct work_struct *work)
{
	struct traveller *t = container_of(work, struct traveller, work);
	int i;

	for (i = 0; i < 10 && !t->err; i++)
		t->err = remove_cpu(t->cpu) ?: add_cpu(t->cpu);
	smp_store_release(&t->back, true);
}

/* While the CPU of its vector goes and comes, each event is told of; where it has gone, where something
 * completes, and where it has come back, there again.
 */
static void srn_cq_vector_hotplug_test(struct kunit *test)
{
	unsigned int first = cpumask_first(cpu_online_mask), second = second_cpu(test), posted = 0;
	struct traveller t = { .cpu = second };
	struct ctx *c = test->priv;
	struct srn_cq *cq = create_vector_cq(test, c, IB_POLL_SOFTIRQ);

	KUNIT_ASSERT_EQ(test, remove_cpu(second), 0);
	complete_on(test, c, cq, first);
	KUNIT_EXPECT_EQ(test, c->comps, ++posted);
	KUNIT_EXPECT_EQ(test, c->cpu, first);
	KUNIT_ASSERT_EQ(test, add_cpu(second), 0);
	complete_on(test, c, cq, first);
	KUNIT_EXPECT_EQ(test, c->comps, ++posted);
	KUNIT_EXPECT_EQ(test, c->cpu, second);

	INIT_WORK_ONSTACK(&t.work, go_and_come);
	queue_work(system_unbound_wq, &t.work);
	while (!smp_load_acquire(&t.back) && c->comps == posted) {
		complete_on(test, c, cq, first);
		posted++;
	}
	flush_work(&t.work);
	destroy_work_on_stack(&t.work);
	kunit_info(test, "%u events", posted);
	KUNIT_EXPECT_EQ(test, t.err, 0);
	KUNIT_EXPECT_EQ(test, c->comps, posted);
	srn_destroy_cq(&cq->ibcq, NULL);
}

static int cq_vector_test_init(struct kunit *test)
{
	struct ctx *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, c);
	c->dev = fake_dev(test);
	test->priv = c;
	return 0;
}

static struct kunit_case cq_vector_cases[] = {
	KUNIT_CASE(srn_cq_vector_test),
	KUNIT_CASE(srn_cq_vector_anywhere_test),
	KUNIT_CASE(srn_cq_vector_of_softirqs_test),
	KUNIT_CASE(srn_cq_vector_settles_test),
	KUNIT_CASE(srn_cq_vector_hotplug_test),
	{}
};

static struct kunit_suite cq_vector_suite = {
	.name = "srn_cq_vector",
	.init = cq_vector_test_init,
	.test_cases = cq_vector_cases,
};

kunit_test_suite(cq_vector_suite);
