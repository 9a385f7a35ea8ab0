/* SPDX-License-Identifier: GPL-2.0-only */
/* The QP: assembly of queues, path and engines. */
#ifndef SRN_QP_H
#define SRN_QP_H

#include <linux/mutex.h>
#include <linux/skbuff.h>
#include <rdma/ib_verbs.h>
#include <rdma/srn-abi.h>

#include "clock.h"
#include "cc.h"
#include "cq.h"
#include "credit.h"
#include "dcqcn.h"
#include "device.h"
#include "early.h"
#include "hello.h"
#include "mw.h"
#include "note.h"
#include "qpn.h"
#include "pace.h"
#include "path.h"
#include "payer.h"
#include "recovery.h"
#include "reorder.h"
#include "requester.h"
#include "resend.h"
#include "responder.h"
#include "retry.h"
#include "rq.h"
#include "rtt.h"
#include "service.h"
#include "turn.h"
#include "sgl.h"
#include "shmem.h"
#include "sq.h"
#include "srq.h"
#include "verdict.h"
#include "window.h"
#include "wqe.h"

struct srn_score;
struct srn_tally;

struct srn_qp {
	struct ib_qp ibqp;
	struct srn_dev *dev;
	struct srn_tally __rcu *tally;	/* what counts for it, too (tally.h); NULL: nothing */
	const struct srn_service *svc;
	struct srn_qp_ref *ref;
	struct srn_cq *scq;
	struct srn_cq *rcq;
	struct srn_srq *srq;
	struct srn_who who;
	struct srn_shmem mem;
	struct srn_qp_page *page;	/* kernel users: one of their own, unmapped */
	struct mutex lock;		/* modify and destroy: one of them asks for the turn */
	u32 db_index;			/* user QPs */

	/* Attributes. Written in process context by the owner of the turn, under attr_lock,
	 * which is for who reads without the turn (query_qp). Engines change the state only, and
	 * last_error.
	 */
	spinlock_t attr_lock;
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
	u8 recovery;			/* enum srn_recovery; of RC; as it was at INIT to RTR */
	u8 cc;				/* enum srn_cc; of RC and UC; likewise */
	u8 ece;				/* SRN_ECE_*, what it offers; as it was when the QP was made */
	bool sig_all;
	bool sqd_notify;		/* raise SQ_DRAINED when drained */
	bool has_path;
	struct srn_path_asked asked;	/* of path */
	u8 last_error;			/* enum srn_verdict: why the QP went to error, for humans */
	u32 mtu;			/* bytes */
	u32 qkey;
	u32 dest_qpn;
	u32 sq_psn;			/* as set; the engines have their own */
	u32 rq_psn;
	u32 rate_limit;			/* kb/s; 0: none. Of RC and UC, until RESET */
	int access;			/* IB_ACCESS_REMOTE_* */
	struct srn_path path;
	struct srn_known_user *known;	/* of it, and a part in turns (shift.c); RC's, or NULL */
	struct srn_payer payer;		/* of what UC and UD send, of RC's answers; QP1 has none */

	/* Engines: the owner of the turn only. */
	struct srn_sq sq;
	struct srn_rq rq;
	struct srn_window window;
	struct srn_retry retry;
	struct srn_credit credit;
	struct srn_resend resend;
	struct srn_rtt rtt;
	struct srn_early early;
	struct srn_peer peer;
	struct srn_reorder order;
	int flush_left;			/* WQEs; of a program: see srn_qp_allow_flush(); SRN_QP_GONE */
	struct srn_score *score;	/* of requests: lost.c */
	struct srn_score *gaps;		/* of answers: gaps.c */
	struct srn_pace pace;		/* of all that it sends but ACKs and the like */
	struct srn_requester req;
	struct srn_responder resp;
	struct srn_clock clock;
	struct srn_dcqcn dcqcn;		/* react.c */
	u64 cnp_next_ns;		/* notify.c: not before, on ktime_get_ns() */
	bool notifies;			/* the peer, of marks; react.c */
	bool parked;			/* round.c: what comes has a smaller share */
	bool answered;			/* the peer's answers may have opened the window, or ended a wait */
	bool answer_later;		/* set by the responder's side: see srn_round_rx() */
	atomic_t rxq_bytes;		/* of rxq and noticeq, truesize; at most SRN_RXQ_BYTES; any context */
	struct srn_notes notes;		/* what else went wrong, for humans */

	/* Any context. */
	struct srn_mw_owner windows;	/* of type 2; own lock */
	struct srn_turn turn;
	struct sk_buff_head rxq;	/* own lock */
	struct sk_buff_head noticeq;	/* likewise; CNPs, which wait for nothing but the turn */
};

/* ib_core allocates it by kzalloc(), which would take twice as much: so some members stand where they take no room.
 * Locks are longer where they are looked after.
 */
#if defined(CONFIG_64BIT) && !defined(CONFIG_DEBUG_SPINLOCK) && !defined(CONFIG_DEBUG_MUTEXES) && \
	!defined(CONFIG_DEBUG_LOCK_ALLOC) && !defined(CONFIG_PREEMPT_RT)
static_assert(sizeof(struct srn_qp) <= 2048);
#endif

static inline struct srn_qp *to_srn_qp(struct ib_qp *qp)
{
	return container_of(qp, struct srn_qp, ibqp);
}

/** srn_qp_holds() - whether what comes early is kept, here and, it seems, by the peer; RC */
static inline bool srn_qp_holds(const struct srn_qp *qp)
{
	return qp->recovery != SRN_RECOVERY_GBN;
}

/** srn_qp_sacks() - whether the peer understands SACKs, and they are wanted; RC */
static inline bool srn_qp_sacks(const struct srn_qp *qp)
{
	return qp->peer.sacks;
}

/** srn_qp_signals() - whether @wqe of the SQ leaves a completion, unless it fails: then each does */
static inline bool srn_qp_signals(const struct srn_qp *qp, const struct srn_wqe *wqe)
{
	return qp->sig_all || (wqe->flags & IB_SEND_SIGNALED);
}

static inline struct srn_sgl srn_qp_sgl(struct srn_qp *qp, const struct ib_sge *sge,
					unsigned int num)
{
	return (struct srn_sgl){ .sge = sge, .num = num, .who = &qp->who };
}

/** srn_qp_get_cap() - what the queues take; the other fields of @cap stay as they are */
static inline void srn_qp_get_cap(const struct srn_qp *qp, struct ib_qp_cap *cap)
{
	cap->max_send_wr = qp->sq.max_wr;
	cap->max_send_sge = qp->sq.lim.max_sge;
	cap->max_inline_data = qp->sq.lim.max_inline;
	cap->max_recv_wr = qp->rq.max_wr;
	cap->max_recv_sge = qp->rq.max_sge;
}

/**
 * srn_qp_allow_flush() - as much may be flushed as the queues hold, and the receive that is open; owner of the turn
 *
 * A program's indices may move without end. What is flushed for it by others than itself is
 * bounded by this, which the change to an error state does once.
 */
static inline void srn_qp_allow_flush(struct srn_qp *qp)
{
	srn_turn_assert_owned(&qp->turn);
	qp->flush_left = qp->sq.entries + qp->rq.entries + qp->rq.open;
}

/* In the place of flush_left: it is being destroyed, and what it flushes overruns no CQ. */
#define SRN_QP_GONE	INT_MIN

static inline bool srn_qp_is_gone(const struct srn_qp *qp)
{
	return qp->flush_left == SRN_QP_GONE;
}

/**
 * srn_qp_error() - to the error state, from within the QP's turn
 * @v: why; kept for humans
 *
 * The flush of both queues follows, as the turn leaves it (see architecture.rst).
 */
void srn_qp_error(struct srn_qp *qp, enum srn_verdict v);

/** srn_qp_sq_error() - UC and UD: only the send queue fails (SQE); RC: as srn_qp_error() */
void srn_qp_sq_error(struct srn_qp *qp, enum srn_verdict v);

/** srn_qp_lost_cqe() - a completion with verdict @v found no room: the QP can't go on */
void srn_qp_lost_cqe(struct srn_qp *qp, enum srn_verdict v);

/** srn_qp_event() - raise an affiliated asynchronous event; BH context allowed */
void srn_qp_event(struct srn_qp *qp, enum ib_event_type type);

/** srn_qp_set_state() - change and publish the state; owner of the turn */
void srn_qp_set_state(struct srn_qp *qp, enum ib_qp_state state);

#endif
