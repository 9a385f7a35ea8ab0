// SPDX-License-Identifier: GPL-2.0-only
/* Pollers: their threads, when these sleep, and how they end.
 *
 * A thread ends in one of two ways, and who ends it waits for neither: a program may be stopped for as
 * long as it likes, and its device goes nevertheless.
 *
 * - The context goes (the program closes it or exits, or its device goes): "gone" is set. The thread
 *   sees it before its next look, and kills itself: never looks again.
 * - The program is killed, or calls exec().
 *
 * Either way vhost_task says so, and "dead" is set. Both are under the lock, and whoever is second has
 * the thread reaped, of which nothing is left then but a few instructions that nothing stops. What the
 * thread looks at counts references (doorbell.c), and whoever destroys a QP waits for these, which are
 * short, not for the thread.
 */
#include "poller.h"

#include <linux/err.h>
#include <linux/moduleparam.h>

static unsigned int poller_us = 1000;
module_param_named(poller, poller_us, uint, 0644);
MODULE_PARM_DESC(poller, "microseconds that a poller looks in vain before it sleeps, at most; 0: no pollers (default: 1000)");

#ifdef CONFIG_VHOST_TASK
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/processor.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/rt.h>
#include <linux/sched/signal.h>
#include <linux/sched/stat.h>
#include <linux/sched/vhost_task.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/time64.h>
#include <linux/workqueue.h>
#include <rdma/srn-abi.h>

#include "fault.h"
#include "shmem.h"
#include "vigil.h"

struct srn_poller {
	const struct srn_poller_ops *ops;
	void *arg;
	struct vhost_task *task;
	struct srn_vigil vigil;		/* the thread only */
	unsigned long switches;		/* of its CPU to others, at its last look; likewise */
	bool left;			/* posts, when it was time to sleep; the thread only */
	bool asleep;			/* what the page says; the thread, or who ends it */
	spinlock_t lock;
	struct srn_shmem mem;		/* the page, until the context goes */
	bool gone;			/* so it has; the lock, but for a look */
	bool dead;			/* the thread does not look any more */
	struct work_struct reap;
};

static struct workqueue_struct *poller_wq;

/* Whoever may write the parameter may write anything. */
static u32 most_ns(void)
{
	return min(READ_ONCE(poller_us), USEC_PER_SEC) * NSEC_PER_USEC;
}

/* The page is for the program to read, and is never read here. */
static void tell_locked(struct srn_poller *p, bool asleep)
{
	struct srn_poller_page *page = p->mem.addr;

	lockdep_assert_held(&p->lock);
	if (page)
		WRITE_ONCE(page->asleep, asleep);
	WRITE_ONCE(p->asleep, asleep);
}

/* Not if it is over: then the program rings. */
static void tell(struct srn_poller *p, bool asleep)
{
	spin_lock(&p->lock);
	if (!p->gone && !p->dead)
		tell_locked(p, asleep);
	spin_unlock(&p->lock);
}

/* Waits for no program, since the thread is dead. */
static void reap(struct work_struct *work)
{
	struct srn_poller *p = container_of(work, struct srn_poller, reap);

	/* For who may be about to wake it. */
	synchronize_rcu();
	vhost_task_stop(p->task);
	p->ops->release(p->arg);
	kfree(p);
	module_put(THIS_MODULE);	/* srn_poller_teardown() waits for the rest */
}

static void have_reaped(struct srn_poller *p)
{
	queue_work(poller_wq, &p->reap);
}

/* Returns true if posts came, or it is over: then it does not sleep. */
static bool stays_awake(struct srn_poller *p)
{
	srn_delay(SRN_DELAY_POLLER_SLEEPS);
	/* Who wakes us, or ends it, after this finds us so, and makes us run. */
	set_current_state(TASK_INTERRUPTIBLE);
	tell(p, true);
	/* Pairs with the provider's barrier between sq_tail and asleep: either it sees that we sleep,
	 * and rings, or we see what it posted.
	 */
	smp_mb();
	/* Pairs with srn_poller_stop(), as in look(). */
	if (!smp_load_acquire(&p->gone) && !p->ops->posted(p->arg)) {
		p->ops->sleeps(p->arg);
		return false;
	}
	__set_current_state(TASK_RUNNING);
	tell(p, false);
	return true;
}

/* So posts ring for as long as others have the CPU. */
static void yield_asleep(struct srn_poller *p)
{
	tell(p, true);
	/* As in stays_awake(). */
	smp_mb();
	if (!p->ops->posted(p->arg))
		yield();
	tell(p, false);
}

/* To others, if there are any that want this CPU: the program that is to post may be one of them. With a
 * real time policy it gives the CPU back when it likes, and may first wait for what it posts.
 */
static void let_others_run(struct srn_poller *p)
{
	if (single_task_running())
		cpu_relax();
	else if (rt_task(current))
		yield_asleep(p);
	else
		yield();
}

/* Posts that were left are those to a QP in error which another is busy with, and may be for long: it may
 * sleep, or have less priority than we. Meanwhile posts ring.
 */
static void let_another_end(struct srn_poller *p)
{
	tell(p, true);
	schedule_timeout_interruptible(1);
	tell(p, false);
}

/* Had vhost_task been asked to stop it instead, who asked would wait, and for a program that is stopped
 * (SIGSTOP) without end. So the thread is killed as the program would be, but it alone: threads of a
 * vhost_task end by themselves when they find SIGKILL. Stopped before that it ends later; nobody waits.
 */
static void kill_self(void)
{
	/* Nobody takes ours away. */
	struct sighand_struct *sighand = rcu_dereference_protected(current->sighand, true);

	spin_lock_irq(&sighand->siglock);
	sigaddset(&current->pending.signal, SIGKILL);
	recalc_sigpending();
	spin_unlock_irq(&sighand->siglock);
}

/* Whether others had the CPU since the last time. */
static bool was_shared(struct srn_poller *p)
{
	unsigned long switches = current->nvcsw + current->nivcsw;
	bool shared = switches != p->switches;

	p->switches = switches;
	return shared;
}

static bool is_over(struct srn_poller *p)
{
	return srn_vigil_is_over(&p->vigil, ktime_get_ns(), was_shared(p), most_ns());
}

/* A look found nothing that could be served. Returns as look(). */
static bool look_on(struct srn_poller *p)
{
	bool left = p->left;

	p->left = false;
	if (!is_over(p)) {
		let_others_run(p);
		return true;
	}
	if (left) {
		let_another_end(p);
		return true;
	}
	p->left = stays_awake(p);
	return p->left;
}

/* It was woken, or runs for the first time. */
static void begin_to_look(struct srn_poller *p)
{
	tell(p, false);
	if (p->vigil.limit_ns)
		srn_vigil_woken(&p->vigil, ktime_get_ns(), most_ns());
	else
		srn_vigil_begin(&p->vigil, ktime_get_ns(), most_ns());
}

/* A look. Called in TASK_INTERRUPTIBLE, and in this state, if it returns false, the thread is put to
 * sleep.
 */
static bool look(void *data)
{
	struct srn_poller *p = data;

	__set_current_state(TASK_RUNNING);
	/* On a CPU of its own it might never leave that, and who waits for the RCU of tasks (kprobes, ftrace,
	 * BPF) would wait for as long as the program posts.
	 */
	cond_resched_tasks_rcu_qs();
	/* Pairs with srn_poller_stop(). */
	if (unlikely(smp_load_acquire(&p->gone))) {
		srn_delay(SRN_DELAY_POLLER_ENDS);
		kill_self();
		return true;
	}
	if (READ_ONCE(p->asleep))
		begin_to_look(p);
	if (p->ops->serve(p->arg)) {
		srn_vigil_found(&p->vigil, ktime_get_ns());
		p->left = false;
		return true;
	}
	return look_on(p);
}

/* It, or its program, was killed: the thread does not look again. */
static void killed(void *data)
{
	struct srn_poller *p = data;
	bool gone;

	spin_lock(&p->lock);
	tell_locked(p, true);
	WRITE_ONCE(p->dead, true);	/* srn_poller_wake() looks */
	gone = p->gone;
	spin_unlock(&p->lock);
	if (gone)
		have_reaped(p);
}

static struct srn_poller *create(struct ib_ucontext *uc)
{
	struct srn_poller *p = kzalloc(sizeof(*p), GFP_KERNEL_ACCOUNT);
	int err;

	if (!p)
		return ERR_PTR(-ENOMEM);
	spin_lock_init(&p->lock);
	INIT_WORK(&p->reap, reap);
	err = srn_shmem_create(&p->mem, uc, sizeof(struct srn_poller_page));
	if (err) {
		kfree(p);
		return ERR_PTR(err);
	}
	/* Posts ring until the thread has its CPU. Nobody else has it yet. */
	spin_lock(&p->lock);
	tell_locked(p, true);
	spin_unlock(&p->lock);
	return p;
}

static void discard(struct srn_poller *p)
{
	srn_shmem_destroy(&p->mem);
	kfree(p);
}

/* The limits of processes and of the cgroup hold for it as for any thread that a program makes. */
static int create_thread(struct srn_poller *p)
{
	struct vhost_task *task = vhost_task_create(look, killed, p, "srn-poller");

	if (IS_ERR_OR_NULL(task))
		return task ? PTR_ERR(task) : -EAGAIN;
	p->task = task;
	return 0;
}

struct srn_poller *srn_poller_start(struct ib_ucontext *uc, const struct srn_poller_ops *ops,
				    void *arg)
{
	struct srn_poller *p;
	int err;

	if (!most_ns())
		return ERR_PTR(-EOPNOTSUPP);
	/* The code that the thread runs stays until it has ended. */
	if (!try_module_get(THIS_MODULE))
		return ERR_PTR(-ENODEV);
	p = create(uc);
	err = PTR_ERR_OR_ZERO(p);
	if (err)
		goto err_module;
	p->ops = ops;
	p->arg = arg;
	err = create_thread(p);
	if (err)
		goto err_poller;
	vhost_task_start(p->task);
	return p;

err_poller:
	discard(p);
err_module:
	module_put(THIS_MODULE);
	return ERR_PTR(err);
}

void srn_poller_stop(struct srn_poller *p)
{
	struct srn_shmem mem;
	bool dead;

	/* As soon as it is gone and dead it may be reaped, which waits for this. */
	rcu_read_lock();
	spin_lock(&p->lock);
	tell_locked(p, true);
	mem = p->mem;
	memset(&p->mem, 0, sizeof(p->mem));
	/* Pairs with look(): who sees it, sees what was told before. */
	smp_store_release(&p->gone, true);
	dead = p->dead;
	spin_unlock(&p->lock);
	if (dead)
		have_reaped(p);
	else
		vhost_task_wake(p->task);
	rcu_read_unlock();
	srn_shmem_destroy(&mem);
}

void srn_poller_wake(struct srn_poller *p)
{
	/* With 0 it would sleep again at once. One that is dead is asleep for good, and not every 6.12 keeps its task
	 * until srn_poller_stop(); if it dies now the caller's RCU section does.
	 */
	if (READ_ONCE(p->asleep) && !READ_ONCE(p->dead) && most_ns())
		vhost_task_wake(p->task);
}

u64 srn_poller_offset(const struct srn_poller *p)
{
	return srn_shmem_offset(&p->mem);
}

size_t srn_poller_len(const struct srn_poller *p)
{
	return srn_shmem_len(&p->mem);
}

int srn_poller_setup(void)
{
	poller_wq = alloc_workqueue("srn_poller", WQ_UNBOUND, 0);
	return poller_wq ? 0 : -ENOMEM;
}

void srn_poller_teardown(void)
{
	destroy_workqueue(poller_wq);
}

#else /* a kernel without such threads */

struct srn_poller *srn_poller_start(struct ib_ucontext *uc, const struct srn_poller_ops *ops,
				    void *arg)
{
	return ERR_PTR(-EOPNOTSUPP);
}

void srn_poller_stop(struct srn_poller *p) {}

void srn_poller_wake(struct srn_poller *p) {}

u64 srn_poller_offset(const struct srn_poller *p)
{
	return 0;
}

size_t srn_poller_len(const struct srn_poller *p)
{
	return 0;
}

int srn_poller_setup(void)
{
	return 0;
}

void srn_poller_teardown(void) {}
#endif
