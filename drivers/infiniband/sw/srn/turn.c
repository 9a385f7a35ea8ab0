// SPDX-License-Identifier: GPL-2.0-only
/* Turns, and the per-CPU NAPI that continues them. */
#include "turn.h"

#include <kunit/visibility.h>
#include <linux/bottom_half.h>
#include <linux/ktime.h>
#include <linux/netdevice.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/workqueue.h>

#include "fault.h"

/* Rounds in the context that took the turn, before the NAPI goes on: a doorbell
 * or a packet must not be held up by what others post meanwhile.
 */
#define ROUNDS_INLINE	4

/* A turn that was sent away and not begun after this long has met busy CPUs only; for
 * AWAY_PAUSE its kicks run where they are.
 */
#define AWAY_LATE_NS	NSEC_PER_MSEC
#define AWAY_PAUSE	(HZ / 4)

struct turn_cpu {
	struct napi_struct napi;
	struct llist_head turns;	/* newest first; any CPU's interrupt may add */
};

static DEFINE_PER_CPU(struct turn_cpu, turn_cpus);
static struct net_device *turn_netdev;
static struct workqueue_struct *turn_wq;

#ifdef CONFIG_PROVE_LOCKING
/* A task, or the softirqs that run in its time: they do not share a turn. */
static unsigned long context(void)
{
	return (unsigned long)current | !!in_serving_softirq();
}

static void set_owner(struct srn_turn *turn)
{
	turn->owner = context();
}

static void clear_owner(struct srn_turn *turn)
{
	turn->owner = 0;
}

void srn_turn_assert_owned(const struct srn_turn *turn)
{
	WARN_ON_ONCE(turn->run && turn->owner != context());
}
EXPORT_SYMBOL_IF_KUNIT(srn_turn_assert_owned);
#else
static inline void set_owner(struct srn_turn *turn) {}
static inline void clear_owner(struct srn_turn *turn) {}
#endif

void srn_turn_leave(struct srn_turn *turn)
{
	struct turn_cpu *cpu;
	unsigned long flags;

	clear_owner(turn);
	local_irq_save(flags);
	cpu = this_cpu_ptr(&turn_cpus);
	llist_add(&turn->node, &cpu->turns);
	napi_schedule_irqoff(&cpu->napi);
	local_irq_restore(flags);
}

/* False: there is more to do. Full barrier: a bit set before this fails it, one set after
 * finds us gone.
 */
static bool give_up(struct srn_turn *turn)
{
	clear_owner(turn);
	if (atomic_cmpxchg(&turn->bits, SRN_TURN_OWNED, 0) == SRN_TURN_OWNED)
		return true;
	set_owner(turn);
	return false;
}

/* A sleeper waits, and the round that was due is done: its turn. */
static bool grant(struct srn_turn *turn)
{
	if (!(atomic_read(&turn->bits) & SRN_TURN_WANTED))
		return false;
	atomic_andnot(SRN_TURN_WANTED, &turn->bits);
	clear_owner(turn);
	complete(&turn->grant);
	return true;
}

/* One round of an owned turn. Returns true while we still own it. */
static bool run_round(struct srn_turn *turn)
{
	/* Acquire: what was queued before a bit was set is seen by run(). */
	unsigned int bits = atomic_fetch_and(SRN_TURN_OWNED | SRN_TURN_WANTED, &turn->bits);

	set_owner(turn);
	if (turn->run(turn, bits & ~(SRN_TURN_OWNED | SRN_TURN_WANTED)))
		atomic_or(SRN_TURN_MORE, &turn->bits);
	return !give_up(turn) && !grant(turn);
}

bool srn_turn_take(struct srn_turn *turn, unsigned int bits)
{
	if (atomic_fetch_or(bits | SRN_TURN_OWNED, &turn->bits) & SRN_TURN_OWNED)
		return false;
	set_owner(turn);
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(srn_turn_take);

void srn_turn_run(struct srn_turn *turn)
{
	int round;

	for (round = 0; round < ROUNDS_INLINE; round++)
		if (!run_round(turn))
			return;
	srn_turn_leave(turn);
}
EXPORT_SYMBOL_IF_KUNIT(srn_turn_run);

void srn_turn_kick(struct srn_turn *turn, unsigned int bits)
{
	if (!srn_turn_take(turn, bits))
		return;
	local_bh_disable();
	srn_turn_run(turn);
	local_bh_enable();
}
EXPORT_SYMBOL_IF_KUNIT(srn_turn_kick);

void srn_turn_defer(struct srn_turn *turn, unsigned int bits)
{
	if (srn_turn_take(turn, bits))
		srn_turn_leave(turn);
}
EXPORT_SYMBOL_IF_KUNIT(srn_turn_defer);

/* The turn is owned. Packets that a round sends to this machine are received between
 * the rounds, so that what they bring is seen by the next.
 */
static void run_away(struct work_struct *work)
{
	struct srn_turn *turn = container_of(work, struct srn_turn, away);
	bool owned;

	srn_delay(SRN_DELAY_AWAY);
	if (ktime_get_ns() - turn->away_since > AWAY_LATE_NS)
		WRITE_ONCE(turn->away_pause, jiffies + AWAY_PAUSE);
	do {
		local_bh_disable();
		owned = run_round(turn);
		local_bh_enable();
		cond_resched();
	} while (owned);
}

bool srn_turn_may_go_away(const struct srn_turn *turn)
{
	return num_online_cpus() > 1 &&
	       time_after_eq(jiffies, READ_ONCE(turn->away_pause));
}
EXPORT_SYMBOL_IF_KUNIT(srn_turn_may_go_away);

void srn_turn_send_away(struct srn_turn *turn)
{
	clear_owner(turn);
	turn->away_since = ktime_get_ns();
	queue_work(turn_wq, &turn->away);
}
EXPORT_SYMBOL_IF_KUNIT(srn_turn_send_away);

void srn_turn_own(struct srn_turn *turn)
{
	unsigned int old;

	reinit_completion(&turn->grant);
	old = atomic_fetch_or(SRN_TURN_OWNED | SRN_TURN_WANTED, &turn->bits);
	if (!(old & SRN_TURN_OWNED)) {
		atomic_andnot(SRN_TURN_WANTED, &turn->bits);
		goto owned;
	}
	/* Bounded: the owner looks after each round, and rounds have a budget. */
	wait_for_completion(&turn->grant);
owned:
	set_owner(turn);
	srn_delay(SRN_DELAY_OWNED);
}
EXPORT_SYMBOL_IF_KUNIT(srn_turn_own);

void srn_turn_disown(struct srn_turn *turn)
{
	local_bh_disable();
	if (!give_up(turn))
		srn_turn_run(turn);
	local_bh_enable();
}
EXPORT_SYMBOL_IF_KUNIT(srn_turn_disown);

void srn_turn_init(struct srn_turn *turn, bool (*run)(struct srn_turn *turn, unsigned int bits))
{
	atomic_set(&turn->bits, 0);
	init_completion(&turn->grant);
	INIT_WORK(&turn->away, run_away);
	turn->away_pause = jiffies;
	turn->run = run;
	clear_owner(turn);
}
EXPORT_SYMBOL_IF_KUNIT(srn_turn_init);

/* Each turn in the list gets one round; who is not done queues up again behind
 * the others. Returning @budget makes the core poll us again.
 */
static int turn_poll(struct napi_struct *napi, int budget)
{
	struct turn_cpu *cpu = container_of(napi, struct turn_cpu, napi);
	struct llist_node *list = llist_reverse_order(llist_del_all(&cpu->turns));
	struct srn_turn *turn, *next;

	llist_for_each_entry_safe(turn, next, list, node) {
		if (!run_round(turn))
			continue;
		clear_owner(turn);
		llist_add(&turn->node, &cpu->turns);
	}

	if (!llist_empty(&cpu->turns))
		return budget;
	napi_complete_done(napi, 0);
	/* An entry added between the test and the completion found the NAPI
	 * still scheduled and left the kick to us.
	 */
	if (!llist_empty(&cpu->turns))
		napi_schedule(napi);
	return 0;
}

int srn_turn_setup(void)
{
	int i;

	turn_wq = alloc_workqueue("srn", WQ_UNBOUND | WQ_HIGHPRI | WQ_SYSFS | WQ_MEM_RECLAIM, 0);
	if (!turn_wq)
		return -ENOMEM;
	turn_netdev = alloc_netdev_dummy(0);
	if (!turn_netdev) {
		destroy_workqueue(turn_wq);
		return -ENOMEM;
	}
	for_each_possible_cpu(i) {
		struct turn_cpu *cpu = per_cpu_ptr(&turn_cpus, i);

		init_llist_head(&cpu->turns);
		netif_napi_add_tx(turn_netdev, &cpu->napi, turn_poll);
		napi_enable(&cpu->napi);
	}
	return 0;
}

void srn_turn_teardown(void)
{
	int i;

	destroy_workqueue(turn_wq);	/* may leave turns to the NAPIs */
	for_each_possible_cpu(i) {
		struct turn_cpu *cpu = per_cpu_ptr(&turn_cpus, i);

		napi_disable(&cpu->napi);
		netif_napi_del(&cpu->napi);
	}
	free_netdev(turn_netdev);
}
