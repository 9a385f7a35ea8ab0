// SPDX-License-Identifier: GPL-2.0-only
/* modify_qp and query_qp. A change is checked and prepared first (this may sleep
 * and fail), then applied as a whole with the turn in hand: attributes before
 * the state, so that no packet meets a state whose attributes are missing.
 */
#include "qp_modify.h"

#include "bell.h"
#include "cc.h"
#include "credit.h"
#include "ece.h"
#include "hello.h"
#include "note.h"
#include "pace.h"
#include "pd.h"
#include "psn.h"
#include "qp.h"
#include "rate.h"
#include "react.h"
#include "recovery.h"
#include "requester.h"
#include "rxq.h"
#include "shift.h"
#include "sq.h"
#include "udata.h"
#include "wire.h"

/* What a modification needs and apply() cannot fail to have. */
struct change {
	struct srn_path path;
	struct srn_known_user *known;
	struct srn_path_asked asked;
	bool has_path;
	u32 ece;		/* SRN_ECE_*, what the peer is said to have; or 0 */
};

#define MASK_UNSUPPORTED	(IB_QP_ALT_PATH | IB_QP_CAP)

static int check_values(struct srn_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	if (mask & IB_QP_PORT && attr->port_num != 1)
		return -EINVAL;
	if (mask & IB_QP_PKEY_INDEX && attr->pkey_index)
		return -EINVAL;
	if (mask & IB_QP_PATH_MTU &&
	    (attr->path_mtu < IB_MTU_256 || attr->path_mtu > srn_dev_mtu(qp->dev->ndev)))
		return -EINVAL;
	if (mask & IB_QP_TIMEOUT && attr->timeout > 31)
		return -EINVAL;
	if (mask & IB_QP_RETRY_CNT && attr->retry_cnt > 7)
		return -EINVAL;
	if (mask & IB_QP_RNR_RETRY && attr->rnr_retry > 7)
		return -EINVAL;
	if (mask & IB_QP_MIN_RNR_TIMER && attr->min_rnr_timer > 31)
		return -EINVAL;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC && attr->max_rd_atomic > SRN_MAX_RD_ATOMIC)
		return -EINVAL;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC && attr->max_dest_rd_atomic > SRN_MAX_RD_ATOMIC)
		return -EINVAL;
	if (mask & IB_QP_DEST_QPN && attr->dest_qp_num > SRN_QPN_MASK)
		return -EINVAL;
	if (mask & IB_QP_RATE_LIMIT && attr->rate_limit && attr->rate_limit < SRN_RATE_LIMIT_MIN)
		return -EINVAL;
	if (mask & IB_QP_AV && !srn_rate_is_static(rdma_ah_get_static_rate(&attr->ah_attr)))
		return -EINVAL;
	if (mask & IB_QP_PATH_MIG_STATE && attr->path_mig_state != IB_MIG_MIGRATED)
		return -EINVAL;	/* there is no alternate path */
	return 0;
}

/* The core's table knows rate limits of raw packets only. Here one may come with any change, and
 * alone in any state.
 */
static bool is_transition(const struct srn_qp *qp, int mask, enum ib_qp_state cur,
			  enum ib_qp_state next)
{
	if (mask == IB_QP_RATE_LIMIT)
		return true;
	return ib_modify_qp_is_ok(cur, next, qp->ibqp.qp_type, mask & ~IB_QP_RATE_LIMIT);
}

static int check(struct srn_qp *qp, const struct ib_qp_attr *attr, int mask,
		 enum ib_qp_state cur, enum ib_qp_state next)
{
	int known = IB_QP_ATTR_STANDARD_BITS | (qp->svc->connected ? IB_QP_RATE_LIMIT : 0);

	if (mask & ~known || mask & MASK_UNSUPPORTED)
		return -EOPNOTSUPP;
	if (mask & IB_QP_CUR_STATE && attr->cur_qp_state != cur)
		return -EINVAL;
	if (!is_transition(qp, mask, cur, next))
		return -EINVAL;
	return check_values(qp, attr, mask);
}

/* Spreads QPs over paths and queues; from the flow label where there is one. */
static u16 source_port(struct srn_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	u32 dqpn = mask & IB_QP_DEST_QPN ? attr->dest_qp_num : qp->dest_qpn;

	return rdma_get_udp_sport(rdma_ah_read_grh(&attr->ah_attr)->flow_label,
				  qp->ibqp.qp_num, dqpn);
}

/* Of who sends and is answered. */
static int prepare_known(struct srn_qp *qp, struct change *c)
{
	if (!qp->svc->reliable)
		return 0;
	c->known = srn_known_get(&to_srn_pd(qp->ibqp.pd)->known, &c->path, &qp->turn);
	return c->known ? 0 : -ENOMEM;
}

/* The other command for it brings nothing, nor do older providers. */
static int prepare_ece(const struct srn_qp *qp, int mask, struct ib_udata *udata, struct change *c)
{
	struct srn_modify_qp_req req;
	int err = srn_udata_in(udata, &req, sizeof(req));

	if (err || !req.comp_mask)
		return err;
	if (req.comp_mask & ~SRN_MODIFY_QP_ECE)
		return -EOPNOTSUPP;
	/* RTR alone takes the peer's first PSN. */
	if (!qp->ece || !(mask & IB_QP_RQ_PSN))
		return -EINVAL;
	c->ece = req.ece;
	return 0;
}

static int prepare(struct srn_qp *qp, const struct ib_qp_attr *attr, int mask, struct change *c)
{
	int err;

	if (mask & IB_QP_AV) {
		if (!(rdma_ah_get_ah_flags(&attr->ah_attr) & IB_AH_GRH))
			return -EINVAL;
		err = srn_path_init(&c->path, qp->dev, &attr->ah_attr,
				    source_port(qp, attr, mask));
		if (err)
			return err;
		srn_path_ask(&c->asked, &attr->ah_attr);
		c->has_path = true;
		return prepare_known(qp, c);
	}
	return 0;
}

static void apply_av(struct srn_qp *qp, struct change *c)
{
	if (!c->has_path)
		return;
	/* The caller releases what is in the change. */
	swap(qp->path, c->path);
	swap(qp->known, c->known);
	swap(qp->has_path, c->has_path);
	qp->asked = c->asked;
	srn_retry_move(qp);
	srn_pace_limit(&qp->pace, SRN_PACE_PATH,
		       srn_rate_of_static(qp->asked.static_rate, READ_ONCE(qp->dev->mbps)));
}

/* The peer is known by its number, and by what it was said to have. */
static void begin(struct srn_qp *qp, u32 psn, u32 ece)
{
	u8 both = srn_ece_both(qp, ece, qp->dest_qpn);

	qp->rq_psn = psn & SRN_PSN_MASK;
	srn_ece_begin(qp, both);
	srn_hello_start(qp);
	srn_react_start(qp);
	srn_ece_meet(qp, both);
	srn_credit_start(&qp->credit, qp->svc->reliable && srn_credit_wanted());
	srn_responder_start(qp, qp->rq_psn);
}

static void apply_attrs(struct srn_qp *qp, const struct ib_qp_attr *attr, int mask, u32 ece)
{
	if (mask & IB_QP_PKEY_INDEX)
		qp->pkey_index = attr->pkey_index;
	if (mask & IB_QP_ACCESS_FLAGS)
		qp->access = attr->qp_access_flags;
	if (mask & IB_QP_QKEY)
		qp->qkey = attr->qkey;
	if (mask & IB_QP_PATH_MTU) {
		qp->mtu_enum = attr->path_mtu;
		qp->mtu = ib_mtu_enum_to_int(attr->path_mtu);
		srn_pace_set_mtu(&qp->pace, qp->mtu);
	}
	if (mask & IB_QP_TIMEOUT)
		qp->timeout = attr->timeout;
	if (mask & IB_QP_RETRY_CNT)
		qp->retry_cnt = attr->retry_cnt;
	if (mask & IB_QP_RNR_RETRY)
		qp->rnr_retry = attr->rnr_retry;
	if (mask & (IB_QP_RETRY_CNT | IB_QP_RNR_RETRY))
		srn_retry_refill(qp);
	if (mask & IB_QP_DEST_QPN)
		qp->dest_qpn = attr->dest_qp_num;
	if (mask & IB_QP_RQ_PSN)
		begin(qp, attr->rq_psn, ece);
	if (mask & IB_QP_SQ_PSN)
		qp->sq_psn = attr->sq_psn & SRN_PSN_MASK;
	if (mask & IB_QP_MIN_RNR_TIMER)
		qp->min_rnr_timer = attr->min_rnr_timer;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		qp->max_rd_atomic = attr->max_rd_atomic;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		qp->max_dest_rd_atomic = attr->max_dest_rd_atomic;
	if (mask & IB_QP_RATE_LIMIT) {
		qp->rate_limit = attr->rate_limit;
		srn_pace_limit(&qp->pace, SRN_PACE_USER, srn_rate_of_kbps(qp->rate_limit));
	}
}

static void to_reset(struct srn_qp *qp)
{
	srn_qp_set_state(qp, IB_QPS_RESET);
	srn_rxq_purge(qp);
	srn_sq_discard(qp);
	srn_requester_reset(qp);
	srn_responder_reset(qp);
	srn_pace_reset(&qp->pace);
	qp->rate_limit = 0;
	srn_react_reset(qp);
	qp->last_error = SRN_OK;
	srn_note_reset(qp);
	if (qp->who.kernel) {
		srn_cq_forget_qp(qp->scq, &qp->ibqp);
		srn_cq_forget_qp(qp->rcq, &qp->ibqp);
	}
}

/* Rounds flush what was posted before; what is posted from now on is rung for. */
static void end_sq_error(struct srn_qp *qp)
{
	srn_bell_listen(qp);
	srn_sq_end_error(qp);
	srn_qp_allow_flush(qp);
}

/* The event is asked for with each drain, by a bit of the mask and its value. */
static void start_drain(struct srn_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	qp->sqd_notify = (mask & IB_QP_EN_SQD_ASYNC_NOTIFY) && attr->en_sqd_async_notify;
	srn_sq_drain(qp, true);
}

static void apply_state(struct srn_qp *qp, const struct ib_qp_attr *attr, int mask,
			enum ib_qp_state cur)
{
	enum ib_qp_state next = attr->qp_state;

	if (next == IB_QPS_ERR || next == IB_QPS_RESET)
		srn_responder_leave(qp);
	switch (next) {
	case IB_QPS_RESET:
		to_reset(qp);
		return;
	case IB_QPS_RTS:
		if (cur == IB_QPS_RTR)
			srn_requester_start(qp);
		if (cur == IB_QPS_SQE)
			end_sq_error(qp);
		srn_sq_drain(qp, false);
		break;
	case IB_QPS_SQD:
		if (cur == IB_QPS_RTS)
			start_drain(qp, attr, mask);
		break;
	case IB_QPS_ERR:
		srn_qp_error(qp, SRN_V_FLUSH);
		return;
	default:
		break;
	}
	srn_qp_set_state(qp, next);
}

/* An idle SQ is drained at once. */
static void check_drained(struct srn_qp *qp)
{
	if (qp->state == IB_QPS_SQD && qp->sq.draining)
		srn_sq_retire(qp);
}

/* With the turn in hand, since the engines use what this replaces. Who is refused may have room for
 * more than is asked for.
 */
static int alloc_owned(struct srn_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	int err = 0;

	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		err = srn_requester_alloc(qp, attr->max_rd_atomic);
	if (!err && mask & IB_QP_MAX_DEST_RD_ATOMIC)
		err = srn_responder_alloc(qp, attr->max_dest_rd_atomic);
	return err;
}

/* @seen: the state that the change was found right for. */
static int modify_owned(struct srn_qp *qp, const struct ib_qp_attr *attr, int mask,
			enum ib_qp_state seen, struct change *c)
{
	enum ib_qp_state cur = qp->state;
	enum ib_qp_state next = mask & IB_QP_STATE ? attr->qp_state : cur;
	int err;

	lockdep_assert_held(&qp->lock);
	srn_turn_assert_owned(&qp->turn);
	/* Again, where the QP has failed since. */
	err = likely(cur == seen) ? 0 : check(qp, attr, mask, cur, next);
	if (err)
		return err;
	err = alloc_owned(qp, attr, mask);
	if (err)
		return err;
	if (c->has_path)
		srn_shift_leave(qp);
	spin_lock(&qp->attr_lock);
	apply_av(qp, c);
	apply_attrs(qp, attr, mask, c->ece);
	srn_react_mark(qp);
	spin_unlock(&qp->attr_lock);
	if (mask & IB_QP_STATE)
		apply_state(qp, attr, mask, cur);
	check_drained(qp);
	return 0;
}

/* Whether a round has to look what can go now. On its way to RTS a QP has sent nothing that could
 * wait for this; what is posted or comes says so itself, and so does an error.
 */
static bool leaves_work(const struct srn_qp *qp, int mask)
{
	return !(mask & IB_QP_STATE) || qp->state > IB_QPS_RTR;
}

int srn_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata)
{
	struct srn_qp *qp = to_srn_qp(ibqp);
	struct change c = {};
	enum ib_qp_state seen;
	bool owned, more;
	int err;

	mutex_lock(&qp->lock);
	seen = READ_ONCE(qp->state);
	err = check(qp, attr, mask, seen, mask & IB_QP_STATE ? attr->qp_state : seen);
	if (!err)
		err = prepare_ece(qp, mask, udata, &c) ?: prepare(qp, attr, mask, &c);
	owned = !err;
	if (owned) {
		srn_turn_own(&qp->turn);
		more = leaves_work(qp, mask);
		err = modify_owned(qp, attr, mask, seen, &c);
		if (more)
			atomic_or(SRN_TURN_MORE, &qp->turn.bits);
	}
	mutex_unlock(&qp->lock);
	/* Without the lock, since rounds call handlers of completions. Who wants to own the
	 * turn next waits until it is given back.
	 */
	if (owned)
		srn_turn_disown(&qp->turn);
	if (c.has_path) {
		srn_known_put(c.known);
		srn_path_destroy(&c.path);
	}
	return err;
}

static void get_attrs(struct srn_qp *qp, struct ib_qp_attr *attr)
{
	lockdep_assert_held(&qp->attr_lock);
	attr->path_mtu = qp->mtu_enum;
	attr->path_mig_state = IB_MIG_MIGRATED;
	attr->qkey = qp->qkey;
	attr->dest_qp_num = qp->dest_qpn;
	attr->qp_access_flags = qp->access;
	if (qp->has_path)
		srn_path_query(&qp->path, &qp->asked, &attr->ah_attr);
	attr->pkey_index = qp->pkey_index;
	attr->max_rd_atomic = qp->max_rd_atomic;
	attr->max_dest_rd_atomic = qp->max_dest_rd_atomic;
	attr->min_rnr_timer = qp->min_rnr_timer;
	attr->port_num = qp->port_num;
	attr->timeout = qp->timeout;
	attr->retry_cnt = qp->retry_cnt;
	attr->rnr_retry = qp->rnr_retry;
	attr->rate_limit = qp->rate_limit;
}

/* Without the turn: anybody may ask, through netlink, and then be kept from running while
 * he holds it. What the engines write is of the moment of each look.
 */
int srn_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		 struct ib_qp_init_attr *init)
{
	struct srn_qp *qp = to_srn_qp(ibqp);

	memset(attr, 0, sizeof(*attr));
	memset(init, 0, sizeof(*init));
	spin_lock(&qp->attr_lock);
	get_attrs(qp, attr);
	spin_unlock(&qp->attr_lock);
	attr->qp_state = READ_ONCE(qp->state);
	attr->cur_qp_state = attr->qp_state;
	attr->rq_psn = READ_ONCE(qp->resp.msg.psn);
	attr->sq_psn = READ_ONCE(qp->window.at.psn);
	attr->sq_draining = READ_ONCE(qp->sq.draining);
	srn_qp_get_cap(qp, &attr->cap);

	init->event_handler = ibqp->event_handler;
	init->qp_context = ibqp->qp_context;
	init->send_cq = ibqp->send_cq;
	init->recv_cq = ibqp->recv_cq;
	init->srq = ibqp->srq;
	init->cap = attr->cap;
	init->sq_sig_type = qp->sig_all ? IB_SIGNAL_ALL_WR : IB_SIGNAL_REQ_WR;
	init->qp_type = ibqp->qp_type;
	init->port_num = qp->port_num;
	return 0;
}
