// SPDX-License-Identifier: GPL-2.0-only
/* Which CPU a vector is, and how one gets there; the parameter "vectors". */
#include "vector.h"

#include <kunit/visibility.h>
#include <linux/bitmap.h>
#include <linux/moduleparam.h>
#include <linux/preempt.h>
#include <linux/sched/isolation.h>
#include <linux/topology.h>

#include "choice.h"

static const char * const names[SRN_VECTORS_FOR] = {
	[SRN_VECTORS_OFF]	= "off",
	[SRN_VECTORS_SOFTIRQ]	= "softirq",
	[SRN_VECTORS_KERNEL]	= "kernel",
	[SRN_VECTORS_ALL]	= "all",
};

static struct srn_choice vectors = {
	.names = names, .num = SRN_VECTORS_FOR, .at = SRN_VECTORS_SOFTIRQ,
};

module_param_cb(vectors, &srn_choice_ops, &vectors, 0644);
MODULE_PARM_DESC(vectors,
		 "whose events come on the CPU of the completion vector: softirq (default), kernel, all, off");

enum srn_vectors_for srn_vectors_for(void)
{
	return srn_choice_at(&vectors);
}
EXPORT_SYMBOL_IF_KUNIT(srn_vectors_for);

/* Neither taken from the scheduler nor from the tick, by the command line or by a cpuset, nor from
 * interrupts of queues: who has isolated a CPU has not done so for others' completions.
 */
static bool is_usable(int cpu)
{
	return !cpu_is_isolated(cpu) && housekeeping_cpu(cpu, HK_TYPE_MANAGED_IRQ);
}

/* In the order of their numbers: where there is room for all, and none is isolated, a vector is the CPU
 * of its number.
 */
void srn_vectors_pick(struct srn_vectors *v, const unsigned long *usable, const unsigned long *near,
		      unsigned int num)
{
	unsigned int close = bitmap_weight_and(usable, near, num), cpu;
	unsigned int far = SRN_MAX_COMP_VECTORS - min(close, SRN_MAX_COMP_VECTORS);

	v->num = 0;
	for_each_set_bit(cpu, usable, num) {
		if (!test_bit(cpu, near)) {
			if (!far)
				continue;
			far--;
		}
		v->all[v->num++].cpu_1 = cpu + 1;
		if (v->num == SRN_MAX_COMP_VECTORS)
			return;
	}
	if (!v->num)
		v->all[v->num++].cpu_1 = 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_vectors_pick);

/* A CPU that goes or comes meanwhile is as one that does later. */
int srn_vectors_init(struct srn_vectors *v, int node)
{
	const struct cpumask *near = node == NUMA_NO_NODE ? cpu_none_mask : cpumask_of_node(node);
	cpumask_var_t usable;
	int cpu;

	if (!zalloc_cpumask_var(&usable, GFP_KERNEL))
		return -ENOMEM;
	for_each_online_cpu(cpu)
		if (is_usable(cpu))
			cpumask_set_cpu(cpu, usable);
	srn_vectors_pick(v, cpumask_bits(usable), cpumask_bits(near), nr_cpu_ids);
	free_cpumask_var(usable);
	return 0;
}

struct srn_vector srn_vectors_at(const struct srn_vectors *v, u32 number)
{
	return v->num > 1 && number < v->num ? v->all[number] : (struct srn_vector){};
}
EXPORT_SYMBOL_IF_KUNIT(srn_vectors_at);

/* queue_work_on() leaves it to its caller that the CPU stays: what is queued on one that has gone lies
 * there until it comes back, since nobody raises its softirq, and the interrupt by which it would be
 * raised is warned of. cpus_read_lock() sleeps, but a CPU goes in stop_machine(), for which a thread has
 * to run on every other one first. So one that is seen online with preemption off stays until that is on
 * again: it has got the work and the interrupt by then. What of these it has not run when it goes, it
 * raises on its way (smpcfd_dying_cpu()), and others run it (workqueue_softirq_dead()).
 */
void srn_vector_queue(struct srn_vector v, struct work_struct *work)
{
	preempt_disable();
	if (srn_vector_is_elsewhere(v))
		queue_work_on(v.cpu_1 - 1, system_bh_wq, work);
	else
		queue_work(system_bh_wq, work);
	preempt_enable();
}
