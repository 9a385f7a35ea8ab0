// SPDX-License-Identifier: GPL-2.0-only
/* Address handles: the table of address vectors, and the verbs on it. */
#include "ah.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/jhash.h>
#include <linux/slab.h>
#include <rdma/srn-abi.h>
#include <rdma/uverbs_ioctl.h>

#include "device.h"
#include "mem.h"
#include "udata.h"

static void free_av(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct srn_av, rcu));
}

void srn_av_put(struct srn_av *av)
{
	if (!refcount_dec_and_test(&av->refs))
		return;
	srn_path_destroy(&av->path);
	call_rcu(&av->rcu, free_av);	/* srn_av_get() may look at it still */
}

struct srn_av *srn_av_get(const struct srn_who *who, u32 index)
{
	struct srn_av *av;

	rcu_read_lock();
	av = xa_load(&who->dev->avs, index);
	if (av && (av->pd != who->pd || !refcount_inc_not_zero(&av->refs)))
		av = NULL;
	rcu_read_unlock();
	return av;
}

struct srn_av *srn_av_hold(struct ib_ah *ah)
{
	struct srn_av *av;

	/* srn_modify_ah() may swap it meanwhile: then the next one is found. */
	rcu_read_lock();
	do {
		av = READ_ONCE(to_srn_ah(ah)->av);
	} while (!refcount_inc_not_zero(&av->refs));
	rcu_read_unlock();
	return av;
}

/* Without a flow label the packets of an AH still take one way, and those to
 * other hosts other ways.
 */
static u16 make_sport(const struct rdma_ah_attr *attr)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(attr);
	u32 hash = jhash(&grh->dgid, sizeof(grh->dgid), grh->sgid_index);

	return rdma_get_udp_sport(grh->flow_label, (hash >> 12) | 1, (hash & 0xfff) | 1);
}

static struct srn_av *create_av(struct ib_ah *ah, const struct rdma_ah_attr *attr, gfp_t gfp)
{
	struct srn_av *av = kzalloc(sizeof(*av), gfp);
	int err;

	if (!av)
		return ERR_PTR(-ENOMEM);
	err = srn_path_init(&av->path, to_srn_dev(ah->device), attr, make_sport(attr)) ?:
	      srn_path_share(&av->path, gfp);
	if (err) {
		kfree(av);
		return ERR_PTR(err);
	}
	refcount_set(&av->refs, 1);
	av->pd = ah->pd;
	av->attr = *attr;
	av->attr.grh.sgid_attr = NULL;	/* ib_core holds that one in the handle */
	return av;
}

int srn_av_number(struct srn_dev *dev, struct srn_av *av, bool user, gfp_t gfp)
{
	u32 max = user ? SRN_MAX_AH : SRN_AH_INDICES;
	unsigned long flags;
	int err;

	/* Cyclic: a WQE that names a dead handle shall not find its successor.
	 * Kernel users may come with interrupts off.
	 */
	xa_lock_irqsave(&dev->avs, flags);
	err = __xa_alloc_cyclic(&dev->avs, &av->index, av, XA_LIMIT(1, max),
				&dev->av_next[user], gfp);
	xa_unlock_irqrestore(&dev->avs, flags);
	if (err < 0)
		return err == -EBUSY ? -ENOMEM : err;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_av_number);

static void remove_av(struct srn_dev *dev, struct srn_av *av)
{
	unsigned long flags;

	xa_lock_irqsave(&dev->avs, flags);
	__xa_erase(&dev->avs, av->index);
	xa_unlock_irqrestore(&dev->avs, flags);
	srn_av_put(av);
}

static int tell_user(const struct srn_av *av, struct ib_udata *udata)
{
	struct srn_create_ah_resp resp = { .ah = av->index };

	return ib_copy_to_udata(udata, &resp, sizeof(resp));
}

int srn_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init, struct ib_udata *udata)
{
	gfp_t gfp = init->flags & RDMA_CREATE_AH_SLEEPABLE ? GFP_KERNEL_ACCOUNT : GFP_ATOMIC;
	struct srn_dev *dev = to_srn_dev(ibah->device);
	struct srn_av *av;
	int err;

	err = srn_udata_in(udata, NULL, 0);
	if (err)
		return err;
	if (udata && udata->outlen < sizeof(struct srn_create_ah_resp))
		return -EINVAL;
	av = create_av(ibah, init->ah_attr, gfp);
	if (IS_ERR(av))
		return PTR_ERR(av);
	err = srn_av_number(dev, av, udata, gfp);
	if (err) {
		srn_av_put(av);
		return err;
	}
	if (udata) {
		err = tell_user(av, udata);
		if (err) {
			remove_av(dev, av);
			return err;
		}
	}
	to_srn_ah(ibah)->av = av;
	return 0;
}

/* WQEs on their way keep the old vector, later ones find the new. */
int srn_modify_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	struct srn_dev *dev = to_srn_dev(ibah->device);
	struct srn_ah *ah = to_srn_ah(ibah);
	struct srn_av *old, *new;
	unsigned long flags;

	new = create_av(ibah, attr, GFP_ATOMIC);
	if (IS_ERR(new))
		return PTR_ERR(new);
	xa_lock_irqsave(&dev->avs, flags);
	old = ah->av;
	new->index = old->index;
	__xa_store(&dev->avs, new->index, new, GFP_ATOMIC);	/* occupied: needs no memory */
	WRITE_ONCE(ah->av, new);
	xa_unlock_irqrestore(&dev->avs, flags);
	srn_av_put(old);
	return 0;
}

int srn_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	struct srn_av *av = srn_av_hold(ibah);

	*attr = av->attr;
	srn_av_put(av);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_query_ah);

int srn_destroy_ah(struct ib_ah *ibah, u32 flags)
{
	remove_av(to_srn_dev(ibah->device), to_srn_ah(ibah)->av);
	return 0;
}
