/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared receive queues. */
#ifndef SRN_SRQ_H
#define SRN_SRQ_H

#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>
#include <rdma/srn-abi.h>

#include "mem.h"
#include "shmem.h"
#include "verdict.h"

struct srn_rwqe;

/* A ring of another size, that may become the queue's. */
struct srn_srq_ring {
	struct srn_shmem mem;
	u32 entries;
	u32 copied;			/* slots before this index are there */
};

struct srn_srq {
	struct ib_srq ibsrq;
	struct srn_shmem mem;
	struct srn_srq_page *page;	/* lock; NULL once it is destroyed */
	spinlock_t lock;		/* the ring, head, limit and, for kernel users, tail */
	u32 entries;			/* power of two; as much as there is room for */
	u32 stride;
	u32 max_sge;
	u32 head;
	u32 limit;			/* 0: no limit event armed */
	u32 srqn;
	struct srn_who who;
	bool error;
	struct mutex resize_lock;	/* next, and one resize at a time */
	struct srn_srq_ring next;	/* made, and not gone over to */
};

static inline struct srn_srq *to_srn_srq(struct ib_srq *srq)
{
	return container_of(srq, struct srn_srq, ibsrq);
}

/**
 * srn_srq_fetch() - take the next receive WQE
 *
 * SRN_OK, SRN_V_RNR when empty, SRN_V_LOC_QP_OP when the slot is malformed or the tail
 * is out of range. Raises the limit event. BH disabled.
 */
enum srn_verdict srn_srq_fetch(struct srn_srq *srq, struct srn_rwqe *rwqe);

/** srn_srq_is_empty() - whether there was none just now. BH disabled. */
bool srn_srq_is_empty(struct srn_srq *srq);

/* ib_device_ops */
int srn_create_srq(struct ib_srq *srq, struct ib_srq_init_attr *attr, struct ib_udata *udata);
int srn_modify_srq(struct ib_srq *srq, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
		   struct ib_udata *udata);
int srn_query_srq(struct ib_srq *srq, struct ib_srq_attr *attr);
int srn_destroy_srq(struct ib_srq *srq, struct ib_udata *udata);
int srn_post_srq_recv(struct ib_srq *srq, const struct ib_recv_wr *wr,
		      const struct ib_recv_wr **bad_wr);

#endif
