/* SPDX-License-Identifier: GPL-2.0-only */
/* The QP: assembly of queues, path and engines. */
#ifndef SRN_QP_H
#define SRN_QP_H

#include <linux/mutex.h>
#include <linux/skbuff.h>
#include <rdma/ib_verbs.h>
#include <rdma/srn-abi.h>

#include "sgl.h"
#include "cq.h"
#include "device.h"
#include "qpn.h"
#include "path.h"
#include "requester.h"
#include "responder.h"
#include "retry.h"
#include "turn.h"
#include "shmem.h"
#include "srq.h"
#include "verdict.h"
#include "wqe.h"

/* Send queue. Slots are shared with a program; kernel users write the private
 * array directly and have no slots.
 */
struct srn_sq {
	void *slots;
	u32 stride;
	u32 entries;			/* power of two */
	u32 max_wr;			/* what was promised */
	spinlock_t lock;		/* kernel users' posts */
	u32 tail;			/* kernel users: posted; store release */
	u32 head;			/* kernel users: completed; store release */
	void *wqes;			/* private array of struct srn_wqe */
	size_t wqe_size;
	struct srn_wqe_limits lim;
};

/* Receive queue; slots in every case, user or kernel. */
struct srn_rq {
	void *slots;
	u32 stride;
	u32 entries;			/* 0 with a SRQ */
	u32 max_wr;
	u32 max_sge;
	spinlock_t lock;		/* kernel users' posts */
	u32 tail;			/* kernel users */
};

struct srn_qp {
	struct ib_qp ibqp;
	struct srn_dev *dev;
	struct srn_qp_ref *ref;
	struct srn_cq *scq;
	struct srn_cq *rcq;
	struct srn_srq *srq;
	bool kernel;
	bool sig_all;
	u32 db_index;			/* user QPs */
	struct srn_shmem mem;
	struct srn_qp_page *page;	/* kernel users: page of their own, unmapped */
	struct mutex lock;		/* modify, query, destroy */
	struct ib_qp_cap cap;

	/* Attributes. Written in process context by the owner of the turn. */
	enum ib_qp_state state;
	u8 mtu_enum;			/* enum ib_mtu */
	u8 timeout;			/* local ACK timeout code */
	u8 retry_cnt;
	u8 rnr_retry;
	u8 min_rnr_timer;
	u8 max_rd_atomic;
	u8 max_dest_rd_atomic;
	u8 port_num;
	u16 pkey_index;
	u32 mtu;			/* bytes */
	u32 qkey;
	u32 dest_qpn;
	u32 sq_psn;			/* as set; the engines have their own */
	u32 rq_psn;
	int access;			/* IB_ACCESS_REMOTE_* */
	bool sqd_notify;		/* raise SQ_DRAINED when drained */
	bool sq_draining;
	bool has_path;
	struct srn_path path;
	struct rdma_ah_attr ah_attr;	/* for query; holds its sgid_attr */

	/* Engines: the owner of the turn only. */
	struct srn_sq sq;
	struct srn_rq rq;
	struct srn_requester req;
	struct srn_responder resp;
	struct srn_retry retry;
	bool answered;			/* the peer's answers may have opened the window */
	enum srn_verdict last_error;	/* why the QP went to error, for humans */

	/* Any context. */
	struct srn_turn turn;
	struct sk_buff_head rxq;	/* own lock; at most SRN_RXQ_MAX packets */
};

static inline struct srn_qp *to_srn_qp(struct ib_qp *qp)
{
	return container_of(qp, struct srn_qp, ibqp);
}

static inline struct srn_sgl srn_qp_sgl(struct srn_qp *qp, const struct ib_sge *sge,
					unsigned int num)
{
	return (struct srn_sgl){
		.sge = sge, .num = num, .dev = qp->dev, .pd = qp->ibqp.pd, .kernel = qp->kernel,
	};
}

/** srn_round_init() - a new QP's turn and packet queue; it runs nothing in RESET */
void srn_round_init(struct srn_qp *qp);

/**
 * srn_round_own() - own the turn, to change or destroy the QP; srn_turn_disown() gives it back
 *
 * Sends what is pending for the peer first: the completion is seen before the ACK has
 * left, and whoever destroys the QP on it would have the peer repeat to nobody.
 * May sleep; qp->lock held.
 */
void srn_round_own(struct srn_qp *qp);

/** srn_round_rx() - queue a packet for a QP and run it; consumes @skb; softirq; caller holds a reference */
void srn_round_rx(struct srn_qp *qp, struct sk_buff *skb);

/** srn_round_doorbell() - a program posted; process context; caller holds a reference */
void srn_round_doorbell(struct srn_qp *qp);

/**
 * srn_qp_error() - to the error state, from within the QP's turn
 * @v: why; kept for humans
 *
 * The flush of both queues follows in this turn. qp.c
 */
void srn_qp_error(struct srn_qp *qp, enum srn_verdict v);

/** srn_qp_sq_error() - UC and UD: only the send queue fails (SQE); RC: as srn_qp_error() */
void srn_qp_sq_error(struct srn_qp *qp, enum srn_verdict v);

/** srn_qp_event() - raise an affiliated asynchronous event; BH context allowed */
void srn_qp_event(struct srn_qp *qp, enum ib_event_type type);

/** srn_qp_set_state() - change and publish the state; owner of the turn */
void srn_qp_set_state(struct srn_qp *qp, enum ib_qp_state state);

/* ib_device_ops */
int srn_create_qp(struct ib_qp *qp, struct ib_qp_init_attr *attr, struct ib_udata *udata);
int srn_modify_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata);
int srn_query_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
		 struct ib_qp_init_attr *init);
int srn_destroy_qp(struct ib_qp *qp, struct ib_udata *udata);
int srn_post_send(struct ib_qp *qp, const struct ib_send_wr *wr,
		  const struct ib_send_wr **bad_wr);
int srn_post_recv(struct ib_qp *qp, const struct ib_recv_wr *wr,
		  const struct ib_recv_wr **bad_wr);

#endif
