// SPDX-License-Identifier: GPL-2.0-only
/* The doorbell descriptor: one system call that runs the QPs of a program. It
 * reaches the QPs of its own context and nothing else, whoever it is passed to.
 *
 * Descriptor and context end in any order (close, exit, removal of the device).
 * What they share, struct srn_doorbell, lives as long as either.
 */
#include "doorbell.h"

#include <linux/anon_inodes.h>
#include <linux/bitops.h>
#include <linux/bottom_half.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/interrupt.h>
#include <linux/refcount.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include <rdma/srn-abi.h>
#include <rdma/uverbs_ioctl.h>

#include "device.h"
#include "limits.h"
#include "qp.h"
#include "round.h"
#include "udata.h"

struct srn_doorbell {
	refcount_t refs;		/* the context, the descriptor */
	struct srn_dev __rcu *dev;	/* NULL once the context is gone */
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

/* One system call was made; false once there is no device to have it. */
static bool count_call(struct srn_doorbell *db)
{
	struct srn_dev *dev;

	/* The device waits for RCU readers before it frees its counters. */
	rcu_read_lock();
	dev = rcu_dereference(db->dev);
	if (dev)
		srn_count(dev, SRN_CNT_DOORBELLS);
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
	enum srn_heard heard = SRN_HEARD;
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

/* Until nothing is left to be done in this thread's time. In between it holds neither turn nor
 * reference: who destroys the QP waits for both. What who is killed does not do, a worker does.
 * Returns true if much left that was gathered.
 */
static bool ring_until_heard(struct srn_doorbell *db, unsigned long index)
{
	enum srn_heard heard = ring(db, index, srn_round_doorbell);

	while (unlikely(heard == SRN_HEARD_PART || heard == SRN_HEARD_BUSY)) {
		if (fatal_signal_pending(current)) {
			ring(db, index, srn_round_give_away);
			return false;
		}
		if (heard == SRN_HEARD_PART) {
			cond_resched();
			heard = ring(db, index, srn_round_go_on);
		} else {
			schedule_timeout_killable(1);
			heard = ring(db, index, srn_round_doorbell);
		}
	}
	return heard == SRN_HEARD_GATHERED;
}

static long doorbell_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct srn_doorbell *db = file->private_data;
	unsigned long base = upper_32_bits((u64)arg) * 32UL;
	u32 bits = lower_32_bits(arg);
	bool much = false;

	if (cmd != SRN_IOC_DOORBELL)
		return -EINVAL;
	if (!count_call(db))
		return -EIO;
	while (bits) {
		much |= ring_until_heard(db, base + __ffs(bits));
		bits &= bits - 1;
		if (bits)
			cond_resched();
	}
	if (much)
		receive_here();
	return 0;
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

static int check_request(struct ib_udata *udata)
{
	struct srn_alloc_ucontext_req req;
	int err;

	/* A program that cannot take the doorbell could not post. */
	if (udata->outlen < sizeof(struct srn_alloc_ucontext_resp))
		return -EINVAL;
	err = srn_udata_in(udata, &req, sizeof(req));
	if (err)
		return err;
	return req.comp_mask || req.reserved ? -EOPNOTSUPP : 0;
}

/* The descriptor appears in the program last, since it cannot be taken back. */
static int give_doorbell(struct srn_doorbell *db, struct ib_udata *udata)
{
	struct srn_alloc_ucontext_resp resp = { .max_inline = SRN_MAX_INLINE };
	struct file *file;
	int err, fd;

	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0)
		return fd;
	file = open_doorbell(db);
	if (IS_ERR(file)) {
		err = PTR_ERR(file);
		goto err_fd;
	}
	resp.doorbell_fd = fd;
	err = ib_copy_to_udata(udata, &resp, sizeof(resp));
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

int srn_alloc_ucontext(struct ib_ucontext *ibuc, struct ib_udata *udata)
{
	struct srn_ucontext *uc = to_srn_ucontext(ibuc);
	int err;

	err = check_request(udata);
	if (err)
		return err;
	uc->db = create_doorbell(to_srn_dev(ibuc->device));
	if (!uc->db)
		return -ENOMEM;
	err = give_doorbell(uc->db, udata);
	if (err)
		put_doorbell(uc->db);
	return err;
}

void srn_dealloc_ucontext(struct ib_ucontext *ibuc)
{
	struct srn_doorbell *db = to_srn_ucontext(ibuc)->db;

	RCU_INIT_POINTER(db->dev, NULL);
	put_doorbell(db);
}

/* The device goes while the program runs. ib_core has destroyed the objects;
 * the program keeps their pages, which say so, and a descriptor that answers EIO.
 */
void srn_disassociate_ucontext(struct ib_ucontext *ibuc)
{
	RCU_INIT_POINTER(to_srn_ucontext(ibuc)->db->dev, NULL);
}
