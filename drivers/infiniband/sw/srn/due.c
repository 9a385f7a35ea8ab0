// SPDX-License-Identifier: GPL-2.0-only
/* Lists of what waits, for each CPU, and the NAPI that runs it. */
#include "due.h"

#include <linux/netdevice.h>
#include <linux/percpu.h>
#include <linux/sched/clock.h>
#include <linux/spinlock.h>

/* One poll lasts this long; the core decides whether it polls again. */
#define POLL_NS		(200 * NSEC_PER_USEC)

struct srn_due_cpu {
	struct napi_struct napi;
	raw_spinlock_t lock;				/* the lists, and what is in them */
	struct list_head come[SRN_DUE_KINDS];		/* what the next poll runs; interrupts may add */
	struct list_head due[SRN_DUE_KINDS];		/* what this poll runs, oldest first */
	enum srn_due_kind last;				/* what was run last; the NAPI only */
};

static DEFINE_PER_CPU(struct srn_due_cpu, due_cpus);
static struct net_device *due_netdev;
static enum srn_due_kind (*run_one)(struct srn_due *due);

static void put_in(struct srn_due_cpu *cpu, struct srn_due *due, enum srn_due_kind kind)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&cpu->lock, flags);
	list_add_tail(&due->node, &cpu->come[kind]);
	WRITE_ONCE(due->cpu, cpu);
	raw_spin_unlock_irqrestore(&cpu->lock, flags);
}

static void take_out(struct srn_due_cpu *cpu, struct srn_due *due)
{
	lockdep_assert_held(&cpu->lock);
	list_del(&due->node);
	WRITE_ONCE(due->cpu, NULL);
}

void srn_due_add(struct srn_due *due, enum srn_due_kind kind)
{
	struct srn_due_cpu *cpu;
	unsigned long flags;

	local_irq_save(flags);
	cpu = this_cpu_ptr(&due_cpus);
	put_in(cpu, due, kind);
	napi_schedule_irqoff(&cpu->napi);
	local_irq_restore(flags);
}

/* Only under a CPU's lock does due->cpu become that CPU, or cease to be it. */
bool srn_due_remove(struct srn_due *due)
{
	struct srn_due_cpu *cpu = READ_ONCE(due->cpu);
	unsigned long flags;
	bool listed;

	if (!cpu)
		return false;
	raw_spin_lock_irqsave(&cpu->lock, flags);
	listed = READ_ONCE(due->cpu) == cpu;
	if (listed)
		take_out(cpu, due);
	raw_spin_unlock_irqrestore(&cpu->lock, flags);
	return listed;
}

static bool is_empty(const struct srn_due_cpu *cpu)
{
	int i;

	for (i = 0; i < SRN_DUE_KINDS; i++)
		if (!list_empty(&cpu->come[i]) || !list_empty(&cpu->due[i]))
			return false;
	return true;
}

/* What has come since the last poll is due now. */
static void begin_poll(struct srn_due_cpu *cpu)
{
	unsigned long flags;
	int i;

	raw_spin_lock_irqsave(&cpu->lock, flags);
	for (i = 0; i < SRN_DUE_KINDS; i++)
		list_splice_tail_init(&cpu->come[i], &cpu->due[i]);
	raw_spin_unlock_irqrestore(&cpu->lock, flags);
}

/* Of the kind whose turn it is, or of the next one that there is; else NULL. */
static struct srn_due *first(struct srn_due_cpu *cpu)
{
	struct srn_due *due;
	int i;

	lockdep_assert_held(&cpu->lock);
	for (i = 0; i < SRN_DUE_KINDS; i++) {
		cpu->last = (cpu->last + 1) % SRN_DUE_KINDS;
		due = list_first_entry_or_null(&cpu->due[cpu->last], struct srn_due, node);
		if (due)
			return due;
	}
	return NULL;
}

static struct srn_due *take_first(struct srn_due_cpu *cpu)
{
	struct srn_due *due;
	unsigned long flags;

	raw_spin_lock_irqsave(&cpu->lock, flags);
	due = first(cpu);
	if (due)
		take_out(cpu, due);
	raw_spin_unlock_irqrestore(&cpu->lock, flags);
	return due;
}

/* All that waits is run once; what is put back stands behind the others of its kind. What does not
 * fit into this poll's time, or @budget, is the first of the next. Returning @budget makes the core
 * poll us again.
 */
static int poll(struct napi_struct *napi, int budget)
{
	struct srn_due_cpu *cpu = container_of(napi, struct srn_due_cpu, napi);
	u64 end = local_clock() + POLL_NS;
	enum srn_due_kind kind;
	struct srn_due *due;
	int done = 0;

	begin_poll(cpu);
	while ((due = take_first(cpu))) {
		kind = run_one(due);
		if (kind != SRN_DUE_NOT)
			put_in(cpu, due, kind);
		if (++done >= budget || local_clock() > end)
			break;
	}
	if (!is_empty(cpu))
		return budget;
	napi_complete_done(napi, 0);
	/* An entry added between the test and the completion found the NAPI
	 * still scheduled and left the kick to us.
	 */
	if (!is_empty(cpu))
		napi_schedule(napi);
	return 0;
}

static void setup_cpu(struct srn_due_cpu *cpu)
{
	int i;

	raw_spin_lock_init(&cpu->lock);
	for (i = 0; i < SRN_DUE_KINDS; i++) {
		INIT_LIST_HEAD(&cpu->come[i]);
		INIT_LIST_HEAD(&cpu->due[i]);
	}
	netif_napi_add_tx(due_netdev, &cpu->napi, poll);
	napi_enable(&cpu->napi);
}

int srn_due_setup(enum srn_due_kind (*run)(struct srn_due *due))
{
	int i;

	due_netdev = alloc_netdev_dummy(0);
	if (!due_netdev)
		return -ENOMEM;
	run_one = run;
	for_each_possible_cpu(i)
		setup_cpu(per_cpu_ptr(&due_cpus, i));
	return 0;
}

void srn_due_teardown(void)
{
	int i;

	for_each_possible_cpu(i) {
		struct srn_due_cpu *cpu = per_cpu_ptr(&due_cpus, i);

		napi_disable(&cpu->napi);
		WARN_ON_ONCE(!is_empty(cpu));
		netif_napi_del(&cpu->napi);
	}
	free_netdev(due_netdev);
}
