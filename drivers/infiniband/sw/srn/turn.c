// SPDX-License-Identifier: GPL-2.0-only
/* Turns: who runs a QP, where, and for how long. */
#include "turn.h"

#include <kunit/visibility.h>
#include <linux/bottom_half.h>
#include <linux/completion.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/workqueue.h>

#include "due.h"
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

/* How long the kicks of a turn that was late run where they are. */
#define AWAY_PAUSE	(HZ / 4)

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

/* An owned turn. */
static void leave(struct srn_turn *turn, enum srn_due_kind kind)
{
	clear_owner(turn);
	srn_due_add(&turn->due, kind);
}

void srn_turn_leave(struct srn_turn *turn)
{
	leave(turn, SRN_DUE_NEWS);
}

/* Full barrier: a bit set before this fails it, one set after finds us gone. */
bool srn_turn_give_up(struct srn_turn *turn)
{
	clear_owner(turn);
	if (atomic_cmpxchg(&turn->bits, SRN_TURN_OWNED, 0) == SRN_TURN_OWNED)
		return true;
	set_owner(turn);
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(srn_turn_give_up);

/* With what nobody waits for left undone, and what was rung for meanwhile: who caused it comes
 * back, or whoever is sooner does it. False: a packet, an alarm or a sleeper came.
 */
static bool put_down(struct srn_turn *turn)
{
	const int may_wait = SRN_TURN_MORE | SRN_TURN_FLUSH | SRN_TURN_SQ | SRN_TURN_GATHER;
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
	struct completion *grant;

	/* Pairs with the full barrier in srn_turn_own(): it is his who waits now. It lies on his
	 * stack, and only while the bit is set does that tell that he is there: first it is read.
	 * Once it is completed it is gone, and all of the turn is his.
	 */
	if (!(atomic_read_acquire(&turn->bits) & SRN_TURN_WANTED))
		return false;
	grant = turn->grant;
	atomic_andnot(SRN_TURN_WANTED, &turn->bits);
	clear_owner(turn);
	complete(grant);
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
	if (srn_turn_give_up(turn) || grant(turn))
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

static enum srn_due_kind kind_of(enum next next)
{
	return next == AGAIN ? SRN_DUE_NEWS : SRN_DUE_REST;
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
	if (!srn_due_remove(&turn->due))
		return false;
	set_owner(turn);
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(srn_turn_take_out);

bool srn_turn_borrow(struct srn_turn *turn, bool *listed)
{
	int bits = atomic_cmpxchg(&turn->bits, 0, SRN_TURN_OWNED);

	*listed = bits;
	if (bits && ((bits & (SRN_TURN_OWNED | SRN_TURN_WANTED)) != SRN_TURN_OWNED ||
		     !srn_due_remove(&turn->due)))
		return false;
	set_owner(turn);
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(srn_turn_borrow);

/* A turn that was in a list has a round due, though no bit may say so. */
void srn_turn_return(struct srn_turn *turn, bool listed)
{
	if (listed || !srn_turn_give_up(turn))
		leave(turn, atomic_read(&turn->bits) & SRN_TURN_MORE ? SRN_DUE_REST : SRN_DUE_NEWS);
}
EXPORT_SYMBOL_IF_KUNIT(srn_turn_return);

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
		leave(turn, bits & SRN_TURN_TIMER ? SRN_DUE_ALARM : SRN_DUE_NEWS);
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
	/* With the turn it keeps its CPU: nobody could take it from there. Only before
	 * this it may lose it. (In PREEMPT_RT a round itself may.)
	 */
	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		preempt_disable();
	come_back(turn);
	do {
		local_bh_disable();
		next = run_round(turn);
		if (next == LISTED) {
			leave(turn, SRN_DUE_REST);
			next = GONE;
		}
		local_bh_enable();
	} while (next != GONE && ++round < ROUNDS_AWAY && !need_resched());
	if (next != GONE) {
		local_bh_disable();
		srn_turn_send_away(turn);
		local_bh_enable();
	}
	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		preempt_enable();
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
	if (srn_due_remove(&turn->due) || take_back(turn, atomic_read(&turn->bits)))
		run_round(turn);
	local_bh_enable();
}

void srn_turn_own(struct srn_turn *turn)
{
	DECLARE_COMPLETION_ONSTACK(grant);
	unsigned int old;

	turn->grant = &grant;
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
	} while (!wait_for_completion_timeout(&grant, 1));
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

	if (srn_turn_give_up(turn))
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
	srn_due_init(&turn->due);
	INIT_WORK(&turn->away, run_away);
	turn->away_pause = jiffies;
	turn->run = run;
	clear_owner(turn);
}
EXPORT_SYMBOL_IF_KUNIT(srn_turn_init);

/* One round of a turn that its NAPI took out; who is not done queues up again behind the others. */
static enum srn_due_kind run_due(struct srn_due *due)
{
	struct srn_turn *turn = container_of(due, struct srn_turn, due);
	enum next next = run_round(turn);

	if (next == GONE)
		return SRN_DUE_NOT;
	if (next == LATER) {
		srn_turn_send_away(turn);
		return SRN_DUE_NOT;
	}
	clear_owner(turn);
	return kind_of(next);
}

int srn_turn_setup(void)
{
	int err;

	/* No more workers than CPUs: who else wants to run here has half of one at least. */
	turn_wq = alloc_workqueue("srn", WQ_UNBOUND | WQ_SYSFS | WQ_MEM_RECLAIM,
				  num_possible_cpus());
	if (!turn_wq)
		return -ENOMEM;
	err = srn_due_setup(run_due);
	if (err)
		destroy_workqueue(turn_wq);
	return err;
}

void srn_turn_teardown(void)
{
	destroy_workqueue(turn_wq);	/* may leave turns to the NAPIs */
	srn_due_teardown();
}
