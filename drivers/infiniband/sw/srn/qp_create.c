// SPDX-License-Identifier: GPL-2.0-only
/* Making and unmaking QPs. */
#include "qp_create.h"

#include <kunit/visibility.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <rdma/uverbs_ioctl.h>

#include "doorbell.h"
#include "ece.h"
#include "fault.h"
#include "gaps.h"
#include "known.h"
#include "lost.h"
#include "mw.h"
#include "net.h"
#include "qp.h"
#include "round.h"
#include "rq.h"
#include "rxq.h"
#include "shift.h"
#include "sq.h"
#include "ucontext.h"

static_assert(sizeof(struct srn_qp_page) <= SRN_QUEUE_OFFSET);

static int check_cap(const struct ib_qp_cap *cap, bool has_srq)
{
	if (cap->max_send_wr > SRN_MAX_QP_WR || cap->max_send_sge > SRN_MAX_SGE ||
	    cap->max_inline_data > SRN_MAX_INLINE)
		return -EINVAL;
	if (!has_srq && (cap->max_recv_wr > SRN_MAX_QP_WR || cap->max_recv_sge > SRN_MAX_SGE))
		return -EINVAL;
	return 0;
}

static int check_init(struct srn_dev *dev, const struct ib_qp_init_attr *attr)
{
	const struct srn_service *svc = srn_service_of(attr->qp_type);

	if (!svc || attr->create_flags || attr->rwq_ind_tbl)
		return -EOPNOTSUPP;
	if (svc->is_gsi && (attr->port_num != 1 || rcu_access_pointer(dev->gsi)))
		return -EINVAL;
	if (!attr->send_cq || !attr->recv_cq)
		return -EINVAL;
	if (attr->srq && attr->qp_type != IB_QPT_RC && attr->qp_type != IB_QPT_UD)
		return -EINVAL;
	return check_cap(&attr->cap, attr->srq);
}

/* What is promised: at least what was asked, and what the layout gives anyway. */
static void init_queues(struct srn_qp *qp, const struct ib_qp_init_attr *attr)
{
	const struct ib_qp_cap *cap = &attr->cap;
	u32 max_sge = max(cap->max_send_sge, 1u);
	u32 max_inline = max_t(u32, cap->max_inline_data, max_sge * sizeof(struct srn_sge));

	qp->sq.max_wr = max(cap->max_send_wr, 1u);
	qp->sq.entries = roundup_pow_of_two(qp->sq.max_wr);
	qp->sq.stride = srn_send_stride(max_sge, max_inline);
	qp->sq.wqe_size = srn_wqe_size(max_sge, max_inline);
	qp->sq.lim = (struct srn_wqe_limits){
		.who = &qp->who, .svc = qp->svc, .max_sge = max_sge, .max_inline = max_inline,
	};
	spin_lock_init(&qp->sq.lock);
	spin_lock_init(&qp->rq.lock);
	if (attr->srq)
		return;
	qp->rq.max_wr = max(cap->max_recv_wr, 1u);
	qp->rq.max_sge = max(cap->max_recv_sge, 1u);
	qp->rq.entries = roundup_pow_of_two(qp->rq.max_wr);
	qp->rq.stride = srn_recv_stride(qp->rq.max_sge);
}

static size_t sq_bytes(const struct srn_qp *qp)
{
	/* Kernel users write the private array; they have no slots. */
	return qp->who.kernel ? 0 : (size_t)qp->sq.entries * qp->sq.stride;
}

/* Small ones in a page at most, large ones in pages. No warning: any program can ask for more than
 * it may have.
 */
static void *alloc_wqes(size_t size)
{
	const gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN;

	return size <= PAGE_SIZE ? kmalloc(size, gfp) : __vmalloc(size, gfp);
}

/* What a program does not see: its requests, proven. */
static int alloc_private(struct srn_qp *qp)
{
	u32 max_sge = qp->srq ? qp->srq->max_sge : qp->rq.max_sge;

	qp->sq.wqes = alloc_wqes(array_size(qp->sq.entries, qp->sq.wqe_size));
	qp->rq.wqe = kzalloc(struct_size(qp->rq.wqe, sge, max_sge), GFP_KERNEL_ACCOUNT);
	return qp->sq.wqes && qp->rq.wqe ? 0 : -ENOMEM;
}

static void free_queues(struct srn_qp *qp)
{
	srn_shmem_destroy(&qp->mem);
	kfree(qp->rq.wqe);
	kvfree(qp->sq.wqes);
}

static int alloc_queues(struct srn_qp *qp, struct ib_ucontext *uctx)
{
	size_t rq = (size_t)qp->rq.entries * qp->rq.stride;
	int err;

	err = alloc_private(qp) ?:
	      srn_shmem_create(&qp->mem, uctx, SRN_QUEUE_OFFSET + sq_bytes(qp) + rq);
	if (err) {
		free_queues(qp);
		return err;
	}
	qp->page = qp->mem.addr;
	qp->page->status = SRN_QP_NEED_DB;
	qp->req.bell.rings = true;
	qp->sq.slots = qp->mem.addr + SRN_QUEUE_OFFSET;
	qp->rq.slots = qp->sq.slots + sq_bytes(qp);
	return 0;
}

static int respond(struct srn_qp *qp, struct ib_udata *udata)
{
	struct srn_create_qp_resp resp = {
		.db_index = qp->db_index,
		.mmap_offset = srn_shmem_offset(&qp->mem),
		.mmap_len = srn_shmem_len(&qp->mem),
		.sq_offset = SRN_QUEUE_OFFSET,
		.sq_entries = qp->sq.entries,
		.sq_stride = qp->sq.stride,
		.rq_offset = SRN_QUEUE_OFFSET + sq_bytes(qp),
		.rq_entries = qp->rq.entries,
		.rq_stride = qp->rq.stride,
		.ece = qp->ece,
	};

	return ib_copy_to_udata(udata, &resp, min(sizeof(resp), udata->outlen));
}

static int check_udata(struct ib_udata *udata)
{
	struct srn_create_qp_req req = {};
	int err;

	if (!udata)
		return 0;
	if (udata->outlen < offsetofend(struct srn_create_qp_resp, rq_stride))
		return -EINVAL;	/* not our provider: it could not map the queues */
	if (udata->inlen > sizeof(req) &&
	    !ib_is_udata_cleared(udata, sizeof(req), udata->inlen - sizeof(req)))
		return -EOPNOTSUPP;
	err = ib_copy_from_udata(&req, udata, min(sizeof(req), udata->inlen));
	if (err)
		return err;
	return req.comp_mask || req.reserved ? -EOPNOTSUPP : 0;
}

static void init_fields(struct srn_qp *qp, struct srn_dev *dev, struct ib_qp_init_attr *attr,
			struct ib_udata *udata)
{
	qp->dev = dev;
	qp->svc = srn_service_of(attr->qp_type);
	qp->who = (struct srn_who){ .dev = dev, .pd = qp->ibqp.pd, .kernel = !udata };
	qp->ece = srn_ece_offer(qp);
	qp->sig_all = attr->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->scq = to_srn_cq(attr->send_cq);
	qp->rcq = to_srn_cq(attr->recv_cq);
	qp->srq = attr->srq ? to_srn_srq(attr->srq) : NULL;
	qp->port_num = 1;
	qp->mtu_enum = IB_MTU_256;
	qp->mtu = 256;
	mutex_init(&qp->lock);
	srn_mw_owner_init(&qp->windows, &qp->who);
	spin_lock_init(&qp->attr_lock);
	srn_round_init(qp);
	srn_clock_init(&qp->clock, &qp->turn);
	srn_pace_reset(&qp->pace);
	if (qp->svc->connected) {
		qp->req.train.pace = &qp->pace;
		qp->resp.train.pace = &qp->pace;
	}
	init_queues(qp, attr);
}

/* Tell the program. It can guess what it is told, and ring: nothing reaches the QP
 * before publish(), after which creation cannot fail.
 */
static int announce(struct srn_qp *qp, struct srn_ucontext *uctx, struct ib_udata *udata)
{
	int err = srn_doorbell_add(uctx->db, qp->ref, &qp->db_index);

	if (err)
		return err;
	err = respond(qp, udata);
	srn_delay(SRN_DELAY_QP_ANSWERED);
	if (err)
		srn_doorbell_del(uctx->db, qp->db_index);
	return err;
}

static void publish(struct srn_qp *qp)
{
	qp->ibqp.qp_num = qp->ref->qpn;
	qp->who.qpn = qp->ref->qpn;
	srn_qp_ref_publish(qp->ref);
	if (qp->svc->is_gsi)
		rcu_assign_pointer(qp->dev->gsi, qp->ref);
}

static void unpublish(struct srn_qp *qp)
{
	if (qp->svc->is_gsi) {
		RCU_INIT_POINTER(qp->dev->gsi, NULL);
		return;
	}
	srn_qp_ref_unpublish(qp->ref);
}

static struct srn_ucontext *qp_ucontext(struct ib_udata *udata)
{
	return rdma_udata_to_drv_context(udata, struct srn_ucontext, ibuc);
}

static int open_payer(struct srn_qp *qp)
{
	qp->req.train.payer = &qp->payer;
	return srn_payer_open(&qp->payer, qp->dev->net, srn_net_sock(qp->dev->snet));
}

int srn_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	struct srn_ucontext *uctx = udata ? qp_ucontext(udata) : NULL;
	struct srn_dev *dev = to_srn_dev(ibqp->device);
	struct srn_qp *qp = to_srn_qp(ibqp);
	int err;

	err = check_init(dev, attr) ?: check_udata(udata);
	if (err)
		return err;
	if (atomic_inc_return(&dev->num_qps) > SRN_MAX_QP + (udata ? 0 : SRN_KERNEL_OBJECTS)) {
		err = -ENOMEM;
		goto err_count;
	}
	init_fields(qp, dev, attr, udata);
	err = alloc_queues(qp, uctx ? &uctx->ibuc : NULL);
	if (err)
		goto err_count;
	err = qp->svc->paced ? open_payer(qp) : 0;
	if (err)
		goto err_queues;
	qp->ref = srn_qp_ref_create(qp, qp->svc->is_gsi ? 1 : 0);
	if (IS_ERR(qp->ref)) {
		err = PTR_ERR(qp->ref);
		goto err_payer;
	}
	err = uctx ? announce(qp, uctx, udata) : 0;
	if (err)
		goto err_ref;
	srn_qp_get_cap(qp, &attr->cap);
	publish(qp);
	return 0;

err_ref:
	srn_qp_ref_cancel(qp->ref);
err_payer:
	srn_payer_close(&qp->payer);
err_queues:
	free_queues(qp);
err_count:
	atomic_dec(&dev->num_qps);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(srn_create_qp);

/* ib_core destroys the objects of programs that run on, under this lock: the device
 * goes, or to another network namespace. Also true for a program that destroys a QP of
 * its own at this moment, or while any namespace goes, for which the core takes the lock of
 * each device; it takes the completions out of the CQ itself.
 */
static bool device_goes(const struct srn_qp *qp)
{
	return mutex_is_locked(&qp->ibqp.device->unregistration_lock);
}

/* The program sees its requests end, as after a modify to ERR. The turn is ours. No
 * more than the rings hold: what is posted behind that finds the CQ dead. Nor more than the
 * CQs have room for: where the device stays, other QPs need them.
 */
static void flush_for_good(struct srn_qp *qp)
{
	int sq = qp->sq.entries, rq = qp->rq.entries + 1;	/* one may be open */

	WRITE_ONCE(qp->page->gone, 1);
	if (qp->state == IB_QPS_RESET)
		return;
	srn_qp_error(qp, SRN_V_FLUSH);
	qp->flush_left = SRN_QP_GONE;
	srn_sq_flush(qp, &sq);
	srn_rq_flush(qp, &rq);
}

/* The order in which a QP ends, the only place that has it: nobody finds it,
 * nothing runs it, nobody refers to it, its memory goes. Each wait is for turns
 * and look-ups, which are short, and for softirqs of a CPU that rings, which end
 * after 2 ms or two ticks; none is for a peer, a program or a qdisc.
 */
int srn_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct srn_qp *qp = to_srn_qp(ibqp);

	if (udata)
		srn_doorbell_del(qp_ucontext(udata)->db, qp->db_index);
	unpublish(qp);

	mutex_lock(&qp->lock);
	srn_turn_own(&qp->turn);	/* for good */
	srn_responder_leave(qp);
	srn_shift_leave(qp);
	mutex_unlock(&qp->lock);
	srn_clock_stop(&qp->clock);
	srn_qp_ref_destroy(qp->ref);

	srn_rxq_purge(qp);
	if (!qp->who.kernel && device_goes(qp))
		flush_for_good(qp);
	srn_sq_discard(qp);
	srn_lost_stop(qp);
	srn_gaps_stop(qp);
	srn_mem_unbind_qp(&qp->windows);
	srn_responder_free(qp);
	srn_requester_free(qp);
	if (qp->who.kernel) {
		srn_cq_settle(qp->scq);
		srn_cq_settle(qp->rcq);
		srn_cq_forget_qp(qp->scq, ibqp);
		srn_cq_forget_qp(qp->rcq, ibqp);
	}
	if (qp->has_path) {
		srn_known_put(qp->known);
		srn_path_destroy(&qp->path);
	}
	srn_payer_close(&qp->payer);
	free_queues(qp);
	atomic_dec(&qp->dev->num_qps);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_destroy_qp);
