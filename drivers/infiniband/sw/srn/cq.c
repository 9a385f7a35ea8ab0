// SPDX-License-Identifier: GPL-2.0-only
/* Completion queues: the ring, who writes it, and who polls it in the kernel. */
#include "cq.h"

#include <kunit/visibility.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/slab.h>

#include "cq_event.h"
#include "cq_ring.h"
#include "device.h"
#include "stats.h"
#include "udata.h"

static_assert(sizeof(struct srn_cqe) == 64);
static_assert(SRN_CQE_IPV4 == RDMA_NETWORK_IPV4 && SRN_CQE_IPV6 == RDMA_NETWORK_IPV6);
static_assert(sizeof(struct srn_cq_page) <= SRN_QUEUE_OFFSET);

static void raise_overrun(struct srn_cq *cq)
{
	struct ib_event event = {
		.device = cq->ibcq.device,
		.element.cq = &cq->ibcq,
		.event = IB_EVENT_CQ_ERR,
	};

	if (cq->ibcq.event_handler)
		cq->ibcq.event_handler(&event, cq->ibcq.cq_context);
}

/* cq->lock held, there is room. */
static void put_cqe(struct srn_cq *cq, const struct srn_cqe *cqe, struct ib_qp *qp)
{
	struct srn_cqe *slot = srn_cq_slot(cq->cqes, cq->entries, cq->prod);

	lockdep_assert_held(&cq->lock);
	*slot = *cqe;
	if (cq->timestamps)
		slot->timestamp = ktime_get_ns();
	if (cq->kernel)
		cq->qps[cq->prod & (cq->entries - 1)] = qp;
	cq->prod++;
	/* Pairs with the acquire in the provider's poll: first the CQE. */
	smp_store_release(&srn_cq_page_of(cq)->prod, cq->prod);
}

/* Of @num completions as many as there is room for, which who polls meanwhile makes; cq->lock held. */
static u32 put_cqes(struct srn_cq *cq, const struct srn_cqe *cqes, u32 num, struct ib_qp *qp)
{
	u32 waiting, i;

	for (i = 0; i < num && !cq->overrun; i++) {
		waiting = srn_cq_unconsumed(cq);
		WRITE_ONCE(cq->waiting, waiting);
		if (unlikely(waiting >= cq->entries))
			break;
		put_cqe(cq, cqes + i, qp);
	}
	return i;
}

/* @spares: what there is no room for is left out. */
static u32 post(struct srn_cq *cq, const struct srn_cqe *cqes, u32 num, bool solicited,
		struct ib_qp *qp, bool spares)
{
	bool armed = false, tells, was_dead;
	unsigned long flags;
	u32 put;

	spin_lock_irqsave(&cq->lock, flags);
	was_dead = cq->overrun;
	put = put_cqes(cq, cqes, num, qp);
	if (likely(put))
		armed = srn_cq_take_arm(cq, put, solicited);
	if (unlikely(put != num) && !spares) {
		cq->overrun = true;
		smp_store_release(&srn_cq_page_of(cq)->dead, SRN_CQ_OVERRUN);
	}
	/* Who is told, perhaps at once on another CPU, finds all of it. */
	tells = armed && srn_cq_notify_begin(cq);
	spin_unlock_irqrestore(&cq->lock, flags);

	if (tells)
		srn_cq_notify(cq);
	if (likely(put == num) || spares)
		return put;
	srn_count_add(to_srn_dev(cq->ibcq.device), SRN_CNT_CQ_OVERRUN, num - put);
	if (!was_dead)
		raise_overrun(cq);
	return put;
}

u32 srn_cq_post_many(struct srn_cq *cq, const struct srn_cqe *cqes, u32 num, bool solicited,
		     struct ib_qp *qp)
{
	return post(cq, cqes, num, solicited, qp, false);
}
EXPORT_SYMBOL_IF_KUNIT(srn_cq_post_many);

u32 srn_cq_post_spare(struct srn_cq *cq, const struct srn_cqe *cqes, u32 num, struct ib_qp *qp)
{
	return post(cq, cqes, num, true, qp, true);
}
EXPORT_SYMBOL_IF_KUNIT(srn_cq_post_spare);

bool srn_cq_post(struct srn_cq *cq, const struct srn_cqe *cqe, bool solicited, struct ib_qp *qp)
{
	return srn_cq_post_many(cq, cqe, 1, solicited, qp);
}
EXPORT_SYMBOL_IF_KUNIT(srn_cq_post);

bool srn_cq_is_left(struct srn_cq *cq, u32 num)
{
	unsigned long flags;
	bool left;

	spin_lock_irqsave(&cq->lock, flags);
	left = srn_cq_unconsumed(cq) >= num;
	spin_unlock_irqrestore(&cq->lock, flags);
	return left;
}
EXPORT_SYMBOL_IF_KUNIT(srn_cq_is_left);

void srn_cq_forget_qp(struct srn_cq *cq, struct ib_qp *qp)
{
	u32 mask = cq->entries - 1, from, to;
	unsigned long flags;

	if (!cq->kernel)
		return;
	/* Move what stays up to the newer end, so that prod need not go back. */
	spin_lock_irqsave(&cq->lock, flags);
	for (from = to = cq->prod; from != cq->cons; ) {
		from--;
		if (cq->qps[from & mask] == qp)
			continue;
		to--;
		cq->qps[to & mask] = cq->qps[from & mask];
		cq->cqes[to & mask] = cq->cqes[from & mask];
	}
	cq->cons = to;
	spin_unlock_irqrestore(&cq->lock, flags);
}
EXPORT_SYMBOL_IF_KUNIT(srn_cq_forget_qp);

static int wc_flags(u32 flags)
{
	return (flags & SRN_WC_GRH ? IB_WC_GRH | IB_WC_WITH_NETWORK_HDR_TYPE : 0) |
	       (flags & SRN_WC_WITH_IMM ? IB_WC_WITH_IMM : 0) |
	       (flags & SRN_WC_WITH_INV ? IB_WC_WITH_INVALIDATE : 0) |
	       (flags & SRN_WC_WITH_VLAN ? IB_WC_WITH_VLAN : 0);
}

static void to_wc(const struct srn_cqe *cqe, struct ib_qp *qp, struct ib_wc *wc)
{
	*wc = (struct ib_wc) {
		.wr_id = cqe->wr_id,
		.status = cqe->status,
		.opcode = cqe->opcode,
		.vendor_err = cqe->vendor_err,
		.byte_len = cqe->byte_len,
		.qp = qp,
		.ex.imm_data = cqe->imm,	/* or the key: the same bytes */
		.src_qp = cqe->src_qp,
		.wc_flags = wc_flags(cqe->wc_flags),
		.pkey_index = cqe->pkey_index,
		.sl = cqe->sl,
		.port_num = cqe->port_num,
		.network_hdr_type = cqe->network_hdr_type,
		.vlan_id = cqe->vlan_id,
	};
}

int srn_poll_cq(struct ib_cq *ibcq, int n, struct ib_wc *wc)
{
	struct srn_cq *cq = to_srn_cq(ibcq);
	u32 mask = cq->entries - 1;
	unsigned long flags;
	int got = 0;

	if (!cq->kernel)	/* programs poll their mapping */
		return -EOPNOTSUPP;
	spin_lock_irqsave(&cq->lock, flags);
	while (got < n && cq->cons != cq->prod) {
		to_wc(&cq->cqes[cq->cons & mask], cq->qps[cq->cons & mask], &wc[got++]);
		cq->cons++;
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	return got;
}
EXPORT_SYMBOL_IF_KUNIT(srn_poll_cq);

static int init_user(struct srn_cq *cq, struct ib_udata *udata)
{
	struct srn_create_cq_resp resp = {};
	struct srn_create_cq_req req;
	int err;

	err = srn_udata_in(udata, &req, sizeof(req));
	if (err)
		return err;
	if (req.comp_mask || req.reserved)
		return -EOPNOTSUPP;
	err = srn_cq_ring_create(&cq->mem, srn_cq_ucontext(udata), cq->entries);
	if (err)
		return err;

	resp.entries = cq->entries;
	resp.mmap_offset = srn_shmem_offset(&cq->mem);
	resp.mmap_len = srn_shmem_len(&cq->mem);
	err = srn_udata_out(udata, &resp, sizeof(resp));
	if (err)
		srn_shmem_destroy(&cq->mem);
	return err;
}

static int init_kernel(struct srn_cq *cq)
{
	int err;

	cq->kernel = true;
	cq->qps = kvcalloc(cq->entries, sizeof(*cq->qps), GFP_KERNEL);
	if (!cq->qps)
		return -ENOMEM;
	err = srn_cq_ring_create(&cq->mem, NULL, cq->entries);
	if (err)
		kvfree(cq->qps);
	return err;
}

int srn_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		  struct uverbs_attr_bundle *attrs)
{
	struct srn_dev *dev = to_srn_dev(ibcq->device);
	struct srn_cq *cq = to_srn_cq(ibcq);
	int err;

	if (attr->flags & ~IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION)
		return -EOPNOTSUPP;
	if (!attr->cqe || attr->cqe > SRN_MAX_CQE ||
	    attr->comp_vector >= ibcq->device->num_comp_vectors)
		return -EINVAL;
	if (atomic_inc_return(&dev->num_cqs) > SRN_MAX_CQ + (attrs ? 0 : SRN_KERNEL_OBJECTS)) {
		atomic_dec(&dev->num_cqs);
		return -ENOMEM;
	}

	spin_lock_init(&cq->lock);
	mutex_init(&cq->resize_lock);
	srn_cq_event_init(cq);
	cq->timestamps = attr->flags & IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION;
	cq->entries = roundup_pow_of_two(attr->cqe);
	cq->vector = srn_vectors_at(&dev->vectors, attr->comp_vector);
	err = attrs ? init_user(cq, &attrs->driver_udata) : init_kernel(cq);
	if (err) {
		atomic_dec(&dev->num_cqs);
		return err;
	}
	srn_cq_set_ring(cq);
	ibcq->cqe = cq->entries;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_create_cq);

int srn_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct srn_cq *cq = to_srn_cq(ibcq);

	/* Its QPs have gone before it. When the device goes, the program keeps
	 * the mapping, and polls it.
	 */
	smp_store_release(&cq->page->dead, SRN_CQ_GONE);
	srn_cq_event_stop(cq);
	spin_lock_irq(&cq->lock);
	cq->page = NULL;	/* who still shows the CQ to somebody sees it */
	spin_unlock_irq(&cq->lock);
	srn_shmem_destroy(&cq->mem);
	kvfree(cq->qps);
	mutex_destroy(&cq->resize_lock);
	atomic_dec(&to_srn_dev(ibcq->device)->num_cqs);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_destroy_cq);
