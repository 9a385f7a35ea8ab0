// SPDX-License-Identifier: GPL-2.0-only
/* The doorbell descriptor: one system call that runs the QPs of a program. It
 * reaches the QPs of its own context and nothing else, whoever it is passed to.
 *
 * Descriptor, context and poller end in any order (close, exit, removal of the device).
 * What they share, struct srn_doorbell, lives as long as any of them.
 */
#include "doorbell.h"

#include <kunit/visibility.h>
#include <linux/anon_inodes.h>
#include <linux/bitops.h>
#include <linux/bottom_half.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/interrupt.h>
#include <linux/nospec.h>
#include <linux/preempt.h>
#include <linux/sched/clock.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <rdma/srn-abi.h>

#include "device.h"
#include "limits.h"
#include "poller.h"
#include "qp.h"

/* An index that no QP has: for it the table keeps its first node, which else came and went with a
 * program's only QP.
 */
#define KEPT	63

/* After so long a doorbell has no more softirqs run that took too long; each ends after 2 ms or two ticks. */
#define SOFTIRQS_NS	(16 * NSEC_PER_MSEC)

void srn_doorbell_put(struct srn_doorbell *db)
{
	if (!refcount_dec_and_test(&db->refs))
		return;
	xa_release(&db->links, KEPT);
	WARN_ON_ONCE(!xa_empty(&db->links));
	xa_destroy(&db->links);
	kfree(db);
}
EXPORT_SYMBOL_IF_KUNIT(srn_doorbell_put);

/* False once there is no device to have it. */
bool srn_doorbell_count(struct srn_doorbell *db, enum srn_counter c)
{
	struct srn_dev *dev;

	/* The device waits for RCU readers before it frees its counters. */
	rcu_read_lock();
	dev = rcu_dereference(db->dev);
	if (dev)
		srn_count(dev, c);
	rcu_read_unlock();
	return dev;
}

void srn_doorbell_end(struct srn_doorbell *db)
{
	RCU_INIT_POINTER(db->dev, NULL);
}

void srn_doorbell_set_poller(struct srn_doorbell *db, struct srn_poller *poller)
{
	if (poller)
		db->polled = true;
	rcu_assign_pointer(db->poller, poller);
}

static struct srn_qp_ref *find(struct srn_doorbell *db, unsigned long index)
{
	if (likely(index < SRN_DOORBELL_FIRST))
		return rcu_dereference(db->first[array_index_nospec(index, SRN_DOORBELL_FIRST)]);
	return xa_load(&db->links, index);
}

static struct srn_qp_ref *get_ref(struct srn_doorbell *db, unsigned long index)
{
	struct srn_qp_ref *ref;

	rcu_read_lock();
	ref = find(db, index);
	if (ref && !srn_qp_ref_get(ref))
		ref = NULL;
	rcu_read_unlock();
	return ref;
}

/* Softirqs that have to run do so as BH are enabled: what they bring is waited for before an alarm is set. */
static enum srn_heard ring(struct srn_qp *qp, enum srn_heard (*how)(struct srn_qp *qp))
{
	enum srn_heard heard;

	srn_clock_put_off(&qp->clock);
	local_bh_disable();
	heard = how(qp);
	local_bh_enable();
	srn_clock_end_put_off(&qp->clock);
	return heard;
}

/* With preemption a thread of no priority might lose its CPU in here for long, and whoever needs the turn or the
 * reference would wait for it. (In PREEMPT_RT it may.)
 */
static void keep_cpu(void)
{
	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		preempt_disable();
}

static void let_cpu_go(void)
{
	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		preempt_enable();
}

enum srn_heard srn_doorbell_ring(struct srn_doorbell *db, unsigned long index,
				 enum srn_heard (*how)(struct srn_qp *qp))
{
	enum srn_heard heard = SRN_HEARD_NO_POST;
	struct srn_qp_ref *ref;

	keep_cpu();
	ref = get_ref(db, index);
	if (ref) {
		heard = ring(ref->qp, how);
		srn_qp_ref_put(ref);
	}
	let_cpu_go();
	return heard;
}
EXPORT_SYMBOL_IF_KUNIT(srn_doorbell_ring);

/* What leaves for this machine is received by softirqs of this CPU, before the call returns. What takes
 * longer than they may at once, as what was gathered or a long message often does, is left to
 * ksoftirqd, to which a program that polls for just that gives half of the CPU. So it is done here,
 * too, but not without end: others may have more received all the time.
 */
static void receive_here(void)
{
	u64 until = local_clock() + SOFTIRQS_NS;
	bool more;

	do {
		cond_resched();
		local_bh_disable();
		more = local_softirq_pending() & (BIT(NET_RX_SOFTIRQ) | BIT(NET_TX_SOFTIRQ));
		local_bh_enable();
	} while (more && local_clock() < until && !signal_pending(current));
}

/* All parts of a flush. In between it holds neither turn nor reference: who destroys the QP waits for
 * both. What who is killed does not do, a worker does.
 */
enum srn_heard srn_doorbell_ring_to_end(struct srn_doorbell *db, unsigned long index,
					enum srn_heard (*how)(struct srn_qp *qp))
{
	enum srn_heard heard = srn_doorbell_ring(db, index, how);

	while (unlikely(heard == SRN_HEARD_PART)) {
		if (fatal_signal_pending(current))
			return srn_doorbell_ring(db, index, srn_round_give_away);
		cond_resched();
		heard = srn_doorbell_ring(db, index, srn_round_go_on);
	}
	return heard;
}

/* Until nothing is left to be done in this thread's time. Returns true if much left. */
static bool ring_until_heard(struct srn_doorbell *db, unsigned long index)
{
	enum srn_heard (*how)(struct srn_qp *qp) = db->polled ? srn_round_post : srn_round_doorbell;
	enum srn_heard heard = srn_doorbell_ring_to_end(db, index, how);

	while (unlikely(heard == SRN_HEARD_BUSY)) {
		schedule_timeout_killable(1);
		if (fatal_signal_pending(current))
			how = srn_round_give_away;
		heard = srn_doorbell_ring_to_end(db, index, how);
	}
	return heard == SRN_HEARD_MUCH;
}

/* Who rings serves himself, and has the poller look after what follows. */
static void wake_poller(struct srn_doorbell *db)
{
	struct srn_poller *poller;

	rcu_read_lock();
	poller = rcu_dereference(db->poller);
	if (poller)
		srn_poller_wake(poller);
	rcu_read_unlock();
}

static long doorbell_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct srn_doorbell *db = file->private_data;
	unsigned long base = upper_32_bits((u64)arg) * 32UL;
	u32 bits = lower_32_bits(arg);
	bool much = false;

	if (cmd != SRN_IOC_DOORBELL)
		return -EINVAL;
	if (!srn_doorbell_count(db, SRN_CNT_DOORBELLS))
		return -EIO;
	while (bits) {
		much |= ring_until_heard(db, base + __ffs(bits));
		bits &= bits - 1;
		if (bits)
			cond_resched();
	}
	if (much)
		receive_here();
	if (db->polled)
		wake_poller(db);
	return 0;
}

static int doorbell_release(struct inode *inode, struct file *file)
{
	srn_doorbell_put(file->private_data);
	return 0;
}

/* A 32-bit program reaches the first word of its bitmap. */
static const struct file_operations doorbell_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = doorbell_ioctl,
	.compat_ioctl = doorbell_ioctl,
	.release = doorbell_release,
	.llseek = noop_llseek,
};

struct srn_doorbell *srn_doorbell_create(struct srn_dev *dev)
{
	struct srn_doorbell *db = kzalloc(sizeof(*db), GFP_KERNEL_ACCOUNT);

	if (!db)
		return NULL;
	refcount_set(&db->refs, 1);
	RCU_INIT_POINTER(db->dev, dev);
	xa_init_flags(&db->links, XA_FLAGS_ALLOC);
	if (xa_reserve(&db->links, KEPT, GFP_KERNEL_ACCOUNT)) {
		kfree(db);
		return NULL;
	}
	return db;
}
EXPORT_SYMBOL_IF_KUNIT(srn_doorbell_create);

/* A file that no program sees yet; it has a reference of its own. */
struct file *srn_doorbell_open(struct srn_doorbell *db)
{
	struct file *file = anon_inode_getfile("[srn_doorbell]", &doorbell_fops, db,
					       O_RDWR | O_CLOEXEC);

	if (!IS_ERR(file))
		srn_doorbell_get(db);
	return file;
}

int srn_doorbell_add(struct srn_doorbell *db, struct srn_qp_ref *ref, u32 *index)
{
	/* Lowest first: the bitmap of a program with few QPs is one word. */
	int err = xa_alloc(&db->links, index, ref, XA_LIMIT(0, SRN_MAX_QP),
			   GFP_KERNEL_ACCOUNT);

	if (err < 0)
		return err == -EBUSY ? -ENOSPC : err;
	if (*index < SRN_DOORBELL_FIRST)
		rcu_assign_pointer(db->first[*index], ref);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_doorbell_add);

void srn_doorbell_del(struct srn_doorbell *db, u32 index)
{
	/* A doorbell that found the QP a moment ago holds its reference, for which
	 * the QP's destruction waits.
	 */
	if (index < SRN_DOORBELL_FIRST)		/* before it is another's */
		RCU_INIT_POINTER(db->first[index], NULL);
	xa_erase(&db->links, index);
}
EXPORT_SYMBOL_IF_KUNIT(srn_doorbell_del);
