// SPDX-License-Identifier: GPL-2.0-only
/* Commits one fault when it is loaded, of the kind that the kernel's checkers and the harness
 * look for: modprobe srn_fault fault=NAME. Never part of anything that is installed.
 */
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

static char *fault = "none";
module_param(fault, charp, 0444);

static int none(void)
{
	return 0;
}

/* Many: what a scan finds of one of them in a register or on a stack is no leak to it. */
static int leak(void)
{
	int i;

	for (i = 0; i < 32; i++)
		if (!kmalloc(100, GFP_KERNEL))
			return -ENOMEM;
	return 0;
}

static int use_after_free(void)
{
	char *p = kmalloc(100, GFP_KERNEL);

	if (!p)
		return -ENOMEM;
	kfree(p);
	OPTIMIZER_HIDE_VAR(p);
	return READ_ONCE(p[50]) == 1 ? -EIO : 0;
}

static int beyond_the_end(void)
{
	char *p = kmalloc(100, GFP_KERNEL);

	if (!p)
		return -ENOMEM;
	OPTIMIZER_HIDE_VAR(p);
	WRITE_ONCE(p[100], 1);
	kfree(p);
	return 0;
}

static DEFINE_MUTEX(one);
static DEFINE_MUTEX(two);

static int inverted_locks(void)
{
	mutex_lock(&one);
	mutex_lock(&two);
	mutex_unlock(&two);
	mutex_unlock(&one);
	mutex_lock(&two);
	mutex_lock(&one);
	mutex_unlock(&one);
	mutex_unlock(&two);
	return 0;
}

static unsigned long raced;
static bool race_is_over;

/* By this name the harness takes the race for one of srn's. */
static noinline void srn_race_step(void)
{
	raced++;
	barrier();
}

static void race_there(struct work_struct *work)
{
	while (!READ_ONCE(race_is_over)) {
		srn_race_step();
		cond_resched();
	}
}

/* Two that write one word, and know nothing of each other; often, as KCSAN looks at one access in a
 * thousand.
 */
static int racing_writes(void)
{
	static DECLARE_WORK(there, race_there);
	unsigned long end = jiffies + 5 * HZ;

	queue_work(system_unbound_wq, &there);
	while (time_before(jiffies, end)) {
		srn_race_step();
		cond_resched();
	}
	WRITE_ONCE(race_is_over, true);
	flush_work(&there);
	return 0;
}

static DEFINE_SPINLOCK(spin);

static int sleep_in_atomic(void)
{
	spin_lock(&spin);
	might_sleep();
	spin_unlock(&spin);
	return 0;
}

static int warning(void)
{
	WARN_ON(1);
	return 0;
}

static int bug(void)
{
	BUG();
	return 0;
}

static void nothing(struct rcu_head *head)
{
}

/* Longer than the detectors of CPUs that do not schedule wait, where their limits are the least
 * that they take. RCU has to have somebody who waits.
 */
static int no_schedule(void)
{
	const ktime_t end = ktime_add_ms(ktime_get(), 12000);
	static struct rcu_head head;

	call_rcu(&head, nothing);
	preempt_disable();
	while (ktime_before(ktime_get(), end))
		cpu_relax();
	preempt_enable();
	rcu_barrier();
	return 0;
}

/* A reference to srn's module that nobody gives back. */
static int kept_module(void)
{
	struct ib_device *dev = ib_device_get_by_name("srn0", RDMA_DRIVER_UNKNOWN);
	bool got;

	if (!dev)
		return -ENODEV;
	got = try_module_get(dev->ops.owner);
	ib_device_put(dev);
	return got ? 0 : -ENODEV;
}

static const struct {
	const char *name;
	int (*commit)(void);
} faults[] = {
	{ "none", none },
	{ "leak", leak },
	{ "use_after_free", use_after_free },
	{ "beyond_the_end", beyond_the_end },
	{ "inverted_locks", inverted_locks },
	{ "racing_writes", racing_writes },
	{ "sleep_in_atomic", sleep_in_atomic },
	{ "warning", warning },
	{ "bug", bug },
	{ "no_schedule", no_schedule },
	{ "kept_module", kept_module },
};

static int __init commit(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(faults); i++)
		if (!strcmp(faults[i].name, fault))
			return faults[i].commit();
	return -EINVAL;
}
module_init(commit);

static void __exit leave(void)
{
}
module_exit(leave);

MODULE_DESCRIPTION("Faults that the test harness must report");
MODULE_LICENSE("GPL");
