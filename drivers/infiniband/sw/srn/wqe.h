/* SPDX-License-Identifier: GPL-2.0-only */
/* Work requests: from a shared ring or an ib_send_wr into a private struct that
 * is proven once and never read from user memory again.
 */
#ifndef SRN_WQE_H
#define SRN_WQE_H

#include <rdma/ib_verbs.h>
#include <rdma/srn-abi.h>

#include "limits.h"
#include "verdict.h"

struct srn_av;
struct srn_service;
struct srn_who;

/* What a queue takes. */
struct srn_wqe_limits {
	const struct srn_who *who;
	const struct srn_service *svc;
	u32 max_sge;
	u32 max_inline;		/* bytes */
};

/* A send WQE, proven. Lives in the SQ's private array from fetch to completion. */
struct srn_wqe {
	u64 wr_id;
	u8 opcode;		/* enum ib_wr_opcode */
	u8 flags;		/* IB_SEND_* */
	u8 num_sge;
	u8 status;		/* enum srn_verdict; not SRN_OK: fails when its turn comes */
	u32 length;		/* message bytes */
	__be32 imm;
	u32 inv_rkey;
	union {
		struct {
			u64 addr;
			u64 compare_add;
			u64 swap;
			u32 rkey;
		} rdma;
		struct {
			struct srn_av *av;	/* referenced; dropped at completion */
			u32 qpn;
			u32 qkey;
		} ud;
		struct {
			u64 addr;
			u64 length;
			u32 mr_lkey;
			u32 mw_rkey;
			u32 new_rkey;
			int access;
		} bind;
		struct {			/* kernel only */
			struct ib_mr *mr;
			u64 iova;
			u32 key;
			int access;
		} reg;
	};
	/* Requester only, valid once started. */
	u32 first_psn;
	u32 last_psn;
	u32 done_psn;		/* READ: next response PSN expected */
	u16 chunk;		/* READ: PSNs that one request asks for */
	bool started;
	bool pieces;		/* it has too many for a run */
	bool done;		/* acknowledged, or executed (local operation) */
	u32 placed_psn;		/* READ: those before it were answered, or their bytes are placed (straight.h) */
	union {
		DECLARE_FLEX_ARRAY(struct ib_sge, sge);
		DECLARE_FLEX_ARRAY(u8, data);
	};
};

/* A receive WQE, proven. */
struct srn_rwqe {
	u64 wr_id;
	u64 length;		/* room, bytes */
	u32 num_sge;
	struct ib_sge sge[];	/* as many as its queue takes */
};

/** srn_wqe_size() - bytes of struct srn_wqe with @max_sge elements or @max_inline bytes */
size_t srn_wqe_size(u32 max_sge, u32 max_inline);
/** srn_send_stride() - bytes of a slot of the shared SQ, a power of two */
u32 srn_send_stride(u32 max_sge, u32 max_inline);
/** srn_recv_stride() - bytes of a slot of the shared RQ or SRQ, a power of two */
u32 srn_recv_stride(u32 max_sge);

/**
 * srn_wqe_fetch() - copy a slot of a user's SQ and prove it
 * @slot: the slot, in shared memory: may change at any moment
 * @lim: limits of the queue
 * @wqe: filled; wr_id and flags also on failure
 *
 * BH disabled. SRN_OK or SRN_V_LOC_QP_OP / SRN_V_LOC_LEN / SRN_V_MW_BIND; also stored in
 * wqe->status. For UD takes a reference on the address vector.
 */
enum srn_verdict srn_wqe_fetch(const struct srn_send_wqe *slot, const struct srn_wqe_limits *lim,
			       struct srn_wqe *wqe);

/**
 * srn_wqe_from_wr() - the same for a kernel user's WR
 *
 * Any context. 0 or -EINVAL; nothing is held on failure.
 */
int srn_wqe_from_wr(const struct ib_send_wr *wr, const struct srn_wqe_limits *lim,
		    struct srn_wqe *wqe);

/** srn_wqe_release() - drop what a fetched WQE holds (the address vector) */
void srn_wqe_release(const struct srn_wqe_limits *lim, struct srn_wqe *wqe);

/**
 * srn_rwqe_fetch() - copy a slot of an RQ or SRQ and prove it
 * @max_sge: elements that the queue takes, and that @rwqe has room for
 * @rwqe: filled; wr_id in any case
 */
enum srn_verdict srn_rwqe_fetch(const struct srn_recv_wqe *slot, u32 max_sge,
				struct srn_rwqe *rwqe);

/** srn_rwqe_store() - a kernel user's receive WR into a slot; 0 or -EINVAL */
int srn_rwqe_store(const struct ib_recv_wr *wr, u32 max_sge, struct srn_recv_wqe *slot);

#endif
