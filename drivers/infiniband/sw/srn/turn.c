// SPDX-License-Identifier: GPL-2.0-only
/* Turns, and the per-CPU NAPI that continues them. */
#include "turn.h"

#include <kunit/visibility.h>
#include <linux/bottom_half.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/netdevice.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "fault.h"
#include "limits.h"

/* Rounds in the context that took the turn, before the NAPI goes on: a doorbell
 * or a packet must not be held up by what others post meanwhile.
 */
#define ROUNDS_INLINE	4

/* How often who runs a turn in his own time tries to put it down, while news keep coming. */
#define TRIES_HERE	4

/* Parts of what nobody waits for, at least, in the time of who gives a turn back: as many as
 * flush the longest queues.
 */
#define PARTS_HERE	(2 * SRN_MAX_QP_WR / SRN_ROUND_BUDGET)

/* Rounds of a worker before it looks after other turns. */
#define ROUNDS_AWAY	16

/* Turns are run by one poll for this long; the core decides whether it polls again. */
#define POLL_NS		(200 * NSEC_PER_USEC)

/* How long the kicks of a turn that was late run where they are. */
#define AWAY_PAUSE	(HZ / 4)

/* Why a turn is in a list. One of each kind is run in turn, so that none of them has to
 * wait for all the others: who has news for a QP would, for those whose work never ends.
 */
enum kind {
	NEWS,		/* a post or a packet */
	ALARM,		/* its clock */
	REST,		/* what a round's budget did not reach */
	KINDS
};

struct srn_turn_cpu {
	struct napi_struct napi;
	raw_spinlock_t lock;		/* the lists, and which turns are in them */
	struct list_head come[KINDS];	/* what the next poll runs; interrupts may add */
	struct list_head due[KINDS];	/* what this poll runs, oldest first */
	enum kind last;			/* what was run last; the NAPI only */
};

static DEFINE_PER_CPU(struct srn_turn_cpu, turn_cpus);
static struct net_device *turn_netdev;
static struct workqueue_struct *turn_wq;
static atomic_t num_away;	/* turns that no worker has begun */

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

/* An owned turn to a list. Whoever takes it out is its owner: no two can. */
static void put_in(struct srn_turn_cpu *cpu, struct srn_turn *turn, enum kind kind)
{
	unsigned long flags;

	clear_owner(turn);
	raw_spin_lock_irqsave(&cpu->lock, flags);
	list_add_tail(&turn->node, &cpu->come[kind]);
	WRITE_ONCE(turn->cpu, cpu);
	raw_spin_unlock_irqrestore(&cpu->lock, flags);
}

static void take_out(struct srn_turn_cpu *cpu, struct srn_turn *turn)
{
	lockdep_assert_held(&cpu->lock);
	list_del(&turn->node);
	WRITE_ONCE(turn->cpu, NULL);
}

/* Out of whichever list it is in. Only under a CPU's lock does turn->cpu become that CPU, or
 * cease to be it.
 */
static bool unlist(struct srn_turn *turn)
{
	struct srn_turn_cpu *cpu = READ_ONCE(turn->cpu);
	unsigned long flags;
	bool listed;

	if (!cpu)
		return false;
	raw_spin_lock_irqsave(&cpu->lock, flags);
	listed = READ_ONCE(turn->cpu) == cpu;
	if (listed)
		take_out(cpu, turn);
	raw_spin_unlock_irqrestore(&cpu->lock, flags);
	return listed;
}

static void leave(struct srn_turn *turn, enum kind kind)
{
	struct srn_turn_cpu *cpu;
	unsigned long flags;

	local_irq_save(flags);
	cpu = this_cpu_ptr(&turn_cpus);
	put_in(cpu, turn, kind);
	napi_schedule_irqoff(&cpu->napi);
	local_irq_restore(flags);
}

void srn_turn_leave(struct srn_turn *turn)
{
	leave(turn, NEWS);
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

/* With what nobody waits for left undone, and what was rung for meanwhile: who caused it comes
 * back, or whoever is sooner does it. False: a packet, an alarm or a sleeper came.
 */
static bool put_down(struct srn_turn *turn)
{
	const int may_wait = SRN_TURN_MORE | SRN_TURN_FLUSH | SRN_TURN_SQ;
	int bits = atomic_read(&turn->bits);

	clear_owner(turn);
	do {
		if (bits & ~(SRN_TURN_OWNED | may_wait)) {
			set_owner(turn);
			return false;
		}
	} while (!atomic_try_cmpxchg(&turn->bits, &bits, bits & ~SRN_TURN_OWNED));
	return true;
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

/* What a round led to. */
enum next {
	GONE,		/* not ours any more */
	AGAIN,		/* news came */
	MORE,		/* its budget ran out */
	LISTED,		/* so it did, and the rest is the NAPI's */
	LATER,		/* so it did, but nobody waits for the rest */
};

static enum next next_of(enum srn_left left)
{
	switch (left) {
	case SRN_LEFT_URGENT:
		return MORE;
	case SRN_LEFT_LISTED:
		return LISTED;
	case SRN_LEFT_LATER:
		return LATER;
	default:
		return AGAIN;
	}
}

/* One round of an owned turn. */
static enum next run_round(struct srn_turn *turn)
{
	/* Acquire: what was queued before a bit was set is seen by run(). */
	unsigned int bits = atomic_fetch_and(SRN_TURN_OWNED | SRN_TURN_WANTED, &turn->bits);
	enum srn_left left;

	set_owner(turn);
	left = turn->run(turn, bits & ~(SRN_TURN_OWNED | SRN_TURN_WANTED));
	if (left)
		atomic_or(SRN_TURN_MORE, &turn->bits);
	if (give_up(turn) || grant(turn))
		return GONE;
	return next_of(left);
}

/* In a softirq one budget is enough: what else waits there goes in between. */
static enum next run_rounds(struct srn_turn *turn)
{
	bool softirq = in_serving_softirq();
	enum next next;
	int round = 0;

	do {
		next = run_round(turn);
	} while (++round < ROUNDS_INLINE && (next == AGAIN || (next == MORE && !softirq)));
	return next;
}

static enum kind kind_of(enum next next)
{
	return next == AGAIN ? NEWS : REST;
}

static void pass_on(struct srn_turn *turn, enum next next)
{
	if (next == LATER)
		srn_turn_send_away(turn);
	else if (next != GONE)
		leave(turn, kind_of(next));
}

static void go_away(struct srn_turn *turn)
{
	turn->away_since = ktime_get_ns();
	atomic_inc(&num_away);
	atomic_or(SRN_TURN_AWAY, &turn->bits);
}

static void come_back(struct srn_turn *turn)
{
	atomic_andnot(SRN_TURN_AWAY, &turn->bits);
	atomic_dec(&num_away);
	if (ktime_get_ns() - turn->away_since > SRN_TURN_LATE_NS)
		WRITE_ONCE(turn->away_pause, jiffies + AWAY_PAUSE);
}

/* A worker has the turn and has not begun: who comes is sooner. */
static bool take_back(struct srn_turn *turn, unsigned int bits)
{
	if (!(bits & SRN_TURN_AWAY) || !cancel_work(&turn->away))
		return false;
	come_back(turn);
	return true;
}

bool srn_turn_take(struct srn_turn *turn, unsigned int bits)
{
	unsigned int old = atomic_fetch_or(bits | SRN_TURN_OWNED, &turn->bits);

	if ((old & SRN_TURN_OWNED) && !take_back(turn, old))
		return false;
	set_owner(turn);
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(srn_turn_take);

bool srn_turn_take_out(struct srn_turn *turn, unsigned int bits)
{
	if (srn_turn_take(turn, bits))
		return true;
	if (!unlist(turn))
		return false;
	set_owner(turn);
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(srn_turn_take_out);

void srn_turn_run(struct srn_turn *turn)
{
	pass_on(turn, run_rounds(turn));
}
EXPORT_SYMBOL_IF_KUNIT(srn_turn_run);

void srn_turn_kick(struct srn_turn *turn, unsigned int bits)
{
	local_bh_disable();
	if (srn_turn_take(turn, bits))
		srn_turn_run(turn);
	local_bh_enable();
}
EXPORT_SYMBOL_IF_KUNIT(srn_turn_kick);

bool srn_turn_run_here(struct srn_turn *turn)
{
	enum next next;
	int try;

	lockdep_assert_in_softirq();
	for (try = 0; try < TRIES_HERE; try++) {
		next = run_rounds(turn);
		if (next != LATER)
			break;
		if (put_down(turn))
			return true;
	}
	pass_on(turn, next);
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(srn_turn_run_here);

bool srn_turn_kick_here(struct srn_turn *turn, unsigned int bits)
{
	lockdep_assert_in_softirq();
	return srn_turn_take(turn, bits) && srn_turn_run_here(turn);
}
EXPORT_SYMBOL_IF_KUNIT(srn_turn_kick_here);

void srn_turn_defer(struct srn_turn *turn, unsigned int bits)
{
	if (srn_turn_take(turn, bits))
		leave(turn, bits & SRN_TURN_TIMER ? ALARM : NEWS);
}
EXPORT_SYMBOL_IF_KUNIT(srn_turn_defer);

/* The turn is owned. Packets that a round sends to this machine are received between
 * the rounds, so that what they bring is seen by the next.
 */
static void run_away(struct work_struct *work)
{
	struct srn_turn *turn = container_of(work, struct srn_turn, away);
	enum next next;
	int round = 0;

	srn_delay(SRN_DELAY_AWAY);
	come_back(turn);
	do {
		local_bh_disable();
		next = run_round(turn);
		if (next == LISTED) {
			leave(turn, REST);
			next = GONE;
		}
		local_bh_enable();
		cond_resched();
	} while (next != GONE && ++round < ROUNDS_AWAY);
	if (next != GONE)
		srn_turn_send_away(turn);
}

bool srn_turn_may_go_away(const struct srn_turn *turn)
{
	unsigned int cpus = num_online_cpus();

	return cpus > 1 && atomic_read(&num_away) < cpus &&
	       time_after_eq(jiffies, READ_ONCE(turn->away_pause));
}
EXPORT_SYMBOL_IF_KUNIT(srn_turn_may_go_away);

void srn_turn_send_away(struct srn_turn *turn)
{
	clear_owner(turn);
	go_away(turn);
	if (queue_work(turn_wq, &turn->away))
		return;
	/* Somebody looks just now whether it can be taken back, and finds that it can't. */
	come_back(turn);
	srn_turn_leave(turn);
}
EXPORT_SYMBOL_IF_KUNIT(srn_turn_send_away);

void srn_turn_give_away(struct srn_turn *turn)
{
	lockdep_assert_in_softirq();
	if (srn_turn_take(turn, 0))
		srn_turn_send_away(turn);
}
EXPORT_SYMBOL_IF_KUNIT(srn_turn_give_away);

/* A turn that waits in a queue has the round that is due at once, which grants. */
static void fetch(struct srn_turn *turn)
{
	local_bh_disable();
	if (unlist(turn) || take_back(turn, atomic_read(&turn->bits)))
		run_round(turn);
	local_bh_enable();
}

void srn_turn_own(struct srn_turn *turn)
{
	unsigned int old;

	reinit_completion(&turn->grant);
	old = atomic_fetch_or(SRN_TURN_OWNED | SRN_TURN_WANTED, &turn->bits);
	if (!(old & SRN_TURN_OWNED)) {
		atomic_andnot(SRN_TURN_WANTED, &turn->bits);
		goto owned;
	}
	/* Bounded: the owner grants after this round, and rounds have a budget; or it had
	 * looked just before and is on its way into a queue, where the next look finds it.
	 */
	do {
		fetch(turn);
	} while (!wait_for_completion_timeout(&turn->grant, 1));
owned:
	set_owner(turn);
	srn_delay(SRN_DELAY_OWNED);
}
EXPORT_SYMBOL_IF_KUNIT(srn_turn_own);

/* Others run behind each part, with the turn in nobody's hand if it returns true. */
static bool run_part(struct srn_turn *turn, bool owned)
{
	bool left;

	local_bh_disable();
	left = owned ? srn_turn_run_here(turn) : srn_turn_kick_here(turn, 0);
	local_bh_enable();
	cond_resched();
	return left;
}

/* Who posts beside us, and rings, must not keep us here; nor do we come back for what he took. */
void srn_turn_disown(struct srn_turn *turn)
{
	int parts = 1;
	bool left;

	if (give_up(turn))
		return;
	left = run_part(turn, true);
	while (left && parts++ < PARTS_HERE)
		left = run_part(turn, false);
	if (!left)
		return;
	local_bh_disable();
	srn_turn_give_away(turn);
	local_bh_enable();
}
EXPORT_SYMBOL_IF_KUNIT(srn_turn_disown);

void srn_turn_init(struct srn_turn *turn,
		   enum srn_left (*run)(struct srn_turn *turn, unsigned int bits))
{
	atomic_set(&turn->bits, 0);
	init_completion(&turn->grant);
	turn->cpu = NULL;
	INIT_WORK(&turn->away, run_away);
	turn->away_pause = jiffies;
	turn->run = run;
	clear_owner(turn);
}
EXPORT_SYMBOL_IF_KUNIT(srn_turn_init);

static bool has_turns(const struct srn_turn_cpu *cpu)
{
	int i;

	for (i = 0; i < KINDS; i++)
		if (!list_empty(&cpu->come[i]) || !list_empty(&cpu->due[i]))
			return true;
	return false;
}

/* What has come since the last poll is due now. */
static void begin_poll(struct srn_turn_cpu *cpu)
{
	unsigned long flags;
	int i;

	raw_spin_lock_irqsave(&cpu->lock, flags);
	for (i = 0; i < KINDS; i++)
		list_splice_tail_init(&cpu->come[i], &cpu->due[i]);
	raw_spin_unlock_irqrestore(&cpu->lock, flags);
}

/* Of the kind whose turn it is, or of the next one that there is; else NULL. */
static struct srn_turn *first_due(struct srn_turn_cpu *cpu)
{
	struct srn_turn *turn;
	int i;

	lockdep_assert_held(&cpu->lock);
	for (i = 0; i < KINDS; i++) {
		cpu->last = (cpu->last + 1) % KINDS;
		turn = list_first_entry_or_null(&cpu->due[cpu->last], struct srn_turn, node);
		if (turn)
			return turn;
	}
	return NULL;
}

static struct srn_turn *next_due(struct srn_turn_cpu *cpu)
{
	struct srn_turn *turn;
	unsigned long flags;

	raw_spin_lock_irqsave(&cpu->lock, flags);
	turn = first_due(cpu);
	if (turn)
		take_out(cpu, turn);
	raw_spin_unlock_irqrestore(&cpu->lock, flags);
	return turn;
}

static void run_listed(struct srn_turn_cpu *cpu, struct srn_turn *turn)
{
	enum next next = run_round(turn);

	if (next == LATER)
		srn_turn_send_away(turn);
	else if (next != GONE)
		put_in(cpu, turn, kind_of(next));
}

/* Each turn in the lists gets one round; who is not done queues up again behind the others of
 * its kind. What does not fit into this poll's time, or @budget, is the first of the next.
 * Returning @budget makes the core poll us again.
 */
static int turn_poll(struct napi_struct *napi, int budget)
{
	struct srn_turn_cpu *cpu = container_of(napi, struct srn_turn_cpu, napi);
	u64 end = local_clock() + POLL_NS;
	struct srn_turn *turn;
	int done = 0;

	begin_poll(cpu);
	while ((turn = next_due(cpu))) {
		run_listed(cpu, turn);
		if (++done >= budget || local_clock() > end)
			break;
	}
	if (has_turns(cpu))
		return budget;
	napi_complete_done(napi, 0);
	/* An entry added between the test and the completion found the NAPI
	 * still scheduled and left the kick to us.
	 */
	if (has_turns(cpu))
		napi_schedule(napi);
	return 0;
}

static void setup_cpu(struct srn_turn_cpu *cpu)
{
	int i;

	raw_spin_lock_init(&cpu->lock);
	for (i = 0; i < KINDS; i++) {
		INIT_LIST_HEAD(&cpu->come[i]);
		INIT_LIST_HEAD(&cpu->due[i]);
	}
	netif_napi_add_tx(turn_netdev, &cpu->napi, turn_poll);
	napi_enable(&cpu->napi);
}

int srn_turn_setup(void)
{
	int i;

	/* No more workers than CPUs: who else wants to run here has half of one at least. */
	turn_wq = alloc_workqueue("srn", WQ_UNBOUND | WQ_SYSFS | WQ_MEM_RECLAIM,
				  num_possible_cpus());
	if (!turn_wq)
		return -ENOMEM;
	turn_netdev = alloc_netdev_dummy(0);
	if (!turn_netdev) {
		destroy_workqueue(turn_wq);
		return -ENOMEM;
	}
	for_each_possible_cpu(i)
		setup_cpu(per_cpu_ptr(&turn_cpus, i));
	return 0;
}

void srn_turn_teardown(void)
{
	int i;

	destroy_workqueue(turn_wq);	/* may leave turns to the NAPIs */
	for_each_possible_cpu(i) {
		struct srn_turn_cpu *cpu = per_cpu_ptr(&turn_cpus, i);

		napi_disable(&cpu->napi);
		WARN_ON_ONCE(has_turns(cpu));
		netif_napi_del(&cpu->napi);
	}
	free_netdev(turn_netdev);
}
