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
#include <linux/refcount.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include <rdma/srn-abi.h>
#include <rdma/uverbs_ioctl.h>

#include "bell.h"
#include "device.h"
#include "limits.h"
#include "poller.h"
#include "qp.h"
#include "round.h"
#include "udata.h"

struct srn_doorbell {
	refcount_t refs;		/* the context, the descriptor, the poller */
	struct srn_dev __rcu *dev;	/* NULL once the context is gone */
	struct srn_poller __rcu *poller; /* likewise; or if there is none */
	bool polled;			/* there was one from the beginning */
	struct xarray links;		/* doorbell index -> struct srn_qp_ref, RCU */
};

/* An index that no QP has: for it the table keeps its first node, which else came and went with a
 * program's only QP.
 */
#define KEPT	63

/* How often a doorbell has softirqs run that took too long; each time for 2 ms, or somewhat more. */
#define SOFTIRQS	8

static void put_doorbell(struct srn_doorbell *db)
{
	if (!refcount_dec_and_test(&db->refs))
		return;
	xa_release(&db->links, KEPT);
	WARN_ON_ONCE(!xa_empty(&db->links));
	xa_destroy(&db->links);
	kfree(db);
}

/* False once there is no device to have it. */
static bool count(struct srn_doorbell *db, enum srn_counter c)
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

static struct srn_qp_ref *get_ref(struct srn_doorbell *db, unsigned long index)
{
	struct srn_qp_ref *ref;

	rcu_read_lock();
	ref = xa_load(&db->links, index);
	if (ref && !srn_qp_ref_get(ref))
		ref = NULL;
	rcu_read_unlock();
	return ref;
}

/* With BH on, a thread of no priority might lose its CPU in here for long, and whoever needs
 * the turn or the reference would wait for it.
 */
static enum srn_heard ring(struct srn_doorbell *db, unsigned long index,
			   enum srn_heard (*how)(struct srn_qp *qp))
{
	enum srn_heard heard = SRN_HEARD_NO_POST;
	struct srn_qp_ref *ref;

	local_bh_disable();
	ref = get_ref(db, index);
	if (ref) {
		heard = how(ref->qp);
		srn_qp_ref_put(ref);
	}
	local_bh_enable();
	return heard;
}

/* What leaves for this machine is received by softirqs of this CPU, before the call returns. What takes
 * longer than they may at once, as what was gathered often does, is left to ksoftirqd, to which a program
 * that polls for just that gives half of the CPU. So it is done here, too, but not without end: others
 * may have more received all the time.
 */
static void receive_here(void)
{
	bool more;
	int i = 0;

	do {
		cond_resched();
		local_bh_disable();
		more = local_softirq_pending();
		local_bh_enable();
	} while (more && ++i < SOFTIRQS && !fatal_signal_pending(current));
}

/* All parts of a flush. In between it holds neither turn nor reference: who destroys the QP waits for
 * both. What who is killed does not do, a worker does.
 */
static enum srn_heard ring_to_end(struct srn_doorbell *db, unsigned long index,
				  enum srn_heard (*how)(struct srn_qp *qp))
{
	enum srn_heard heard = ring(db, index, how);

	while (unlikely(heard == SRN_HEARD_PART)) {
		if (fatal_signal_pending(current))
			return ring(db, index, srn_round_give_away);
		cond_resched();
		heard = ring(db, index, srn_round_go_on);
	}
	return heard;
}

/* Until nothing is left to be done in this thread's time. Returns true if much left that was gathered. */
static bool ring_until_heard(struct srn_doorbell *db, unsigned long index)
{
	enum srn_heard (*how)(struct srn_qp *qp) = db->polled ? srn_round_post : srn_round_doorbell;
	enum srn_heard heard = ring_to_end(db, index, how);

	while (unlikely(heard == SRN_HEARD_BUSY)) {
		schedule_timeout_killable(1);
		if (fatal_signal_pending(current))
			how = srn_round_give_away;
		heard = ring_to_end(db, index, how);
	}
	return heard == SRN_HEARD_GATHERED;
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
	if (!count(db, SRN_CNT_DOORBELLS))
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

static enum srn_heard forget(struct srn_qp *qp)
{
	srn_bell_forget(qp);
	return SRN_HEARD_BUSY;
}

/* Who has the turn of a QP in error is not waited for: other QPs have posts, too. Returns whether there
 * was anything that could be served.
 */
static bool serve_post(struct srn_doorbell *db, unsigned long index)
{
	enum srn_heard heard = ring_to_end(db, index, srn_round_poll);

	if (unlikely(heard == SRN_HEARD_BUSY))
		ring(db, index, forget);
	return heard != SRN_HEARD_NO_POST && heard != SRN_HEARD_BUSY;
}

/* Each QP of the context, in turn; what is posted to one while another is served is found by the next
 * look.
 */
static bool serve_posts(void *arg)
{
	struct srn_doorbell *db = arg;
	struct srn_qp_ref *ref;
	unsigned long index;
	bool found = false;

	xa_for_each(&db->links, index, ref) {
		found |= serve_post(db, index);
		/* Of a program that is stopped or frozen it is the threads that are waited for. */
		if (signal_pending(current))
			break;
		cond_resched_tasks_rcu_qs();
	}
	return found;
}

static enum srn_heard look_at(struct srn_qp *qp)
{
	return srn_bell_is_due(qp) ? SRN_HEARD : SRN_HEARD_NO_POST;
}

static bool find_posts(void *arg)
{
	struct srn_doorbell *db = arg;
	struct srn_qp_ref *ref;
	unsigned long index;

	xa_for_each(&db->links, index, ref) {
		if (ring(db, index, look_at) == SRN_HEARD || signal_pending(current))
			return true;
		/* Not a sleep, whatever the state: there may be many. */
		cond_resched();
	}
	return false;
}

static void count_sleep(void *arg)
{
	count(arg, SRN_CNT_POLLER_SLEEPS);
}

static void release_poller(void *arg)
{
	put_doorbell(arg);
}

static const struct srn_poller_ops poller_ops = {
	.serve = serve_posts,
	.posted = find_posts,
	.sleeps = count_sleep,
	.release = release_poller,
};

static int start_poller(struct srn_ucontext *uc)
{
	struct srn_poller *poller;

	refcount_inc(&uc->db->refs);
	poller = srn_poller_start(&uc->ibuc, &poller_ops, uc->db);
	if (IS_ERR(poller)) {
		put_doorbell(uc->db);
		return PTR_ERR(poller);
	}
	uc->poller = poller;
	uc->db->polled = true;
	rcu_assign_pointer(uc->db->poller, poller);
	return 0;
}

static void stop_poller(struct srn_ucontext *uc)
{
	if (!uc->poller)
		return;
	RCU_INIT_POINTER(uc->db->poller, NULL);
	srn_poller_stop(uc->poller);
	uc->poller = NULL;
}

static int doorbell_release(struct inode *inode, struct file *file)
{
	put_doorbell(file->private_data);
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

static struct srn_doorbell *create_doorbell(struct srn_dev *dev)
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

/* A file that no program sees yet; it has a reference of its own. */
static struct file *open_doorbell(struct srn_doorbell *db)
{
	struct file *file = anon_inode_getfile("[srn_doorbell]", &doorbell_fops, db,
					       O_RDWR | O_CLOEXEC);

	if (!IS_ERR(file))
		refcount_inc(&db->refs);
	return file;
}

int srn_doorbell_add(struct srn_ucontext *uc, struct srn_qp_ref *ref, u32 *index)
{
	/* Lowest first: the bitmap of a program with few QPs is one word. */
	int err = xa_alloc(&uc->db->links, index, ref, XA_LIMIT(0, SRN_MAX_QP),
			   GFP_KERNEL_ACCOUNT);

	return err == -EBUSY ? -ENOSPC : err;
}

void srn_doorbell_del(struct srn_ucontext *uc, u32 index)
{
	/* A doorbell that found the QP a moment ago holds its reference, for which
	 * the QP's destruction waits.
	 */
	xa_erase(&uc->db->links, index);
}

static int check_request(struct ib_udata *udata, struct srn_alloc_ucontext_req *req)
{
	size_t least = offsetofend(struct srn_alloc_ucontext_resp, reserved);
	int err;

	err = srn_udata_in(udata, req, sizeof(*req));
	if (err)
		return err;
	if (req->comp_mask & ~SRN_UCONTEXT_POLLER || req->reserved)
		return -EOPNOTSUPP;
	/* A program that cannot take the doorbell could not post, nor without the page know when to ring. */
	if (req->comp_mask & SRN_UCONTEXT_POLLER)
		least = sizeof(struct srn_alloc_ucontext_resp);
	return udata->outlen < least ? -EINVAL : 0;
}

/* The descriptor appears in the program last, since it cannot be taken back. */
static int give_doorbell(struct srn_ucontext *uc, struct ib_udata *udata)
{
	struct srn_alloc_ucontext_resp resp = { .max_inline = SRN_MAX_INLINE };
	struct file *file;
	int err, fd;

	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0)
		return fd;
	file = open_doorbell(uc->db);
	if (IS_ERR(file)) {
		err = PTR_ERR(file);
		goto err_fd;
	}
	resp.doorbell_fd = fd;
	if (uc->poller) {
		resp.comp_mask = SRN_UCONTEXT_POLLER;
		resp.poller_offset = srn_poller_offset(uc->poller);
		resp.poller_len = srn_poller_len(uc->poller);
	}
	err = srn_udata_out(udata, &resp, sizeof(resp));
	if (err)
		goto err_file;
	fd_install(fd, file);
	return 0;

err_file:
	fput(file);
err_fd:
	put_unused_fd(fd);
	return err;
}

static int alloc_ucontext(struct srn_ucontext *uc, struct ib_udata *udata)
{
	struct srn_alloc_ucontext_req req;
	int err;

	err = check_request(udata, &req);
	if (err)
		return err;
	uc->db = create_doorbell(to_srn_dev(uc->ibuc.device));
	if (!uc->db)
		return -ENOMEM;
	err = req.comp_mask & SRN_UCONTEXT_POLLER ? start_poller(uc) : 0;
	if (err)
		goto err_db;
	err = give_doorbell(uc, udata);
	if (err)
		goto err_poller;
	return 0;

err_poller:
	stop_poller(uc);
	/* It may look on for a moment. */
	RCU_INIT_POINTER(uc->db->dev, NULL);
err_db:
	put_doorbell(uc->db);
	return err;
}

/* The ioctl that opens a device frees what was refused, and in Linux 6.12 puts no reference to its task. Where that
 * is done, none is found.
 */
static void put_task(struct rdma_restrack_entry *res)
{
	if (!res->task)
		return;
	put_task_struct(res->task);
	res->task = NULL;
}

int srn_alloc_ucontext(struct ib_ucontext *ibuc, struct ib_udata *udata)
{
	int err = alloc_ucontext(to_srn_ucontext(ibuc), udata);

	if (err)
		put_task(&ibuc->res);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(srn_alloc_ucontext);

/* The poller may look on for a moment, and finds no QPs. */
void srn_dealloc_ucontext(struct ib_ucontext *ibuc)
{
	struct srn_ucontext *uc = to_srn_ucontext(ibuc);

	RCU_INIT_POINTER(uc->db->dev, NULL);
	stop_poller(uc);
	put_doorbell(uc->db);
}

/* The device goes while the program runs. ib_core has destroyed the objects;
 * the program keeps their pages, which say so, and a descriptor that answers EIO.
 */
void srn_disassociate_ucontext(struct ib_ucontext *ibuc)
{
	RCU_INIT_POINTER(to_srn_ucontext(ibuc)->db->dev, NULL);
}
