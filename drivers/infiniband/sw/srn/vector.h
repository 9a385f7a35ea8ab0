/* SPDX-License-Identifier: GPL-2.0-only */
/* Completion vectors: the CPUs that events of CQs come on, as a NIC's interrupts do. Which they are is
 * decided once, when the link is made.
 */
#ifndef SRN_VECTOR_H
#define SRN_VECTOR_H

#include <linux/cpumask.h>
#include <linux/smp.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "limits.h"

/* A CPU and one, so that 0 is any: the one that something completes on. */
struct srn_vector {
	u32 cpu_1;
};

/* Of a device. */
struct srn_vectors {
	u32 num;	/* 1 at least */
	struct srn_vector all[SRN_MAX_COMP_VECTORS];
};

/* Whose CQs have their events there, as the parameter "vectors" says: each of them, and those before it. */
enum srn_vectors_for {
	SRN_VECTORS_OFF,
	SRN_VECTORS_SOFTIRQ,	/* of kernel users, if the core polls them in a softirq */
	SRN_VECTORS_KERNEL,
	SRN_VECTORS_ALL,	/* of programs, too */
	SRN_VECTORS_FOR
};

/** srn_vectors_for() - what the parameter says now; any context */
enum srn_vectors_for srn_vectors_for(void);

/**
 * srn_vectors_init() - which CPUs there are for it now: online, and not isolated
 * @node: NUMA node of the netdev, or NUMA_NO_NODE
 *
 * May sleep. 0 or -ENOMEM.
 */
int srn_vectors_init(struct srn_vectors *v, int node);

/**
 * srn_vectors_pick() - the same of any CPUs
 * @usable: these
 * @near: those that are taken first, where there are more than may be
 * @num: bits of both
 */
void srn_vectors_pick(struct srn_vectors *v, const unsigned long *usable, const unsigned long *near,
		      unsigned int num);

/** srn_vectors_at() - vector @number; where there is no other to choose it is any CPU */
struct srn_vector srn_vectors_at(const struct srn_vectors *v, u32 number);

/** srn_vector_is_elsewhere() - whether it is another CPU, which is there; a hint unless preemption is off */
static inline bool srn_vector_is_elsewhere(struct srn_vector v)
{
	u32 cpu = v.cpu_1 - 1;

	return v.cpu_1 && cpu != raw_smp_processor_id() && cpu_online(cpu);
}

/** srn_vector_queue() - run @work in a softirq there, or here if that CPU is not there; any context */
void srn_vector_queue(struct srn_vector v, struct work_struct *work);

#endif
