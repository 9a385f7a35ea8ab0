/* SPDX-License-Identifier: GPL-2.0-only */
/* The send queue from its ring to its completions: what is posted is copied once, marked
 * done in any order, completed in order, flushed, forgotten. What is sent of it the
 * requester decides.
 */
#ifndef SRN_SQ_H
#define SRN_SQ_H

#include <linux/spinlock.h>
#include <linux/types.h>

#include "psn.h"
#include "wqe.h"
#include "wr_op.h"

struct srn_qp;

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
	/* Owner of the turn only; free-running, una <= fetched <= posted. */
	u32 una;			/* oldest WQE not completed */
	u32 fetched;			/* WQEs copied into the private array */
	bool draining;			/* SQD: the end of what was begun is waited for */
	bool stale;			/* out of SQE: what was posted before is flushed first, */
	u32 stale_end;			/* up to here */
};

/** srn_wqe_is_answered() - whether data answers it: READs and atomics */
static inline bool srn_wqe_is_answered(const struct srn_wqe *wqe)
{
	return srn_wr_ops[wqe->opcode].what & SRN_WR_ANSWERED;
}

/** srn_wqe_is_read() - whether packets of data answer it: no atomic, no atomic write */
static inline bool srn_wqe_is_read(const struct srn_wqe *wqe)
{
	u16 what = srn_wr_ops[wqe->opcode].what;

	return what & SRN_WR_ANSWERED && !(what & (SRN_WR_FETCH | SRN_WR_WORD));
}

/** srn_wqe_takes_recv() - whether it takes a receive of the peer: SEND, WRITE with immediate */
static inline bool srn_wqe_takes_recv(const struct srn_wqe *wqe)
{
	return srn_wr_ops[wqe->opcode].what & SRN_WR_EVENT;
}

/** srn_wqe_is_local() - whether it is executed here, not sent */
static inline bool srn_wqe_is_local(const struct srn_wqe *wqe)
{
	return srn_wr_ops[wqe->opcode].what & SRN_WR_LOCAL;
}

/** srn_sq_wqe() - the private copy at free-running @index; kernel users' posts write it */
static inline struct srn_wqe *srn_sq_wqe(const struct srn_sq *sq, u32 index)
{
	return sq->wqes + (size_t)(index & (sq->entries - 1)) * sq->wqe_size;
}

/** srn_sq_oldest() - the oldest WQE not completed; srn_sq.una is not srn_sq.fetched */
static inline struct srn_wqe *srn_sq_oldest(const struct srn_sq *sq)
{
	return srn_sq_wqe(sq, sq->una);
}

/**
 * srn_sq_is_busy() - whether a request was begun and is not over
 *
 * One that is to be sent again is not in flight, and yet not over.
 */
static inline bool srn_sq_is_busy(const struct srn_sq *sq)
{
	return sq->una != sq->fetched && srn_sq_oldest(sq)->started;
}

/**
 * srn_sq_posted() - how many WQEs were posted
 * @tail: free-running count
 *
 * Return: false if the program wrote nonsense there.
 */
bool srn_sq_posted(struct srn_qp *qp, u32 *tail);

/**
 * srn_sq_fetch() - copy newly posted WQEs, up to @num of them
 *
 * Return: false if the program's tail was nonsense; the QP is in error then.
 */
bool srn_sq_fetch(struct srn_qp *qp, u32 num);

/** srn_sq_start() - @wqe takes @npsn PSNs from @psn on; a READ asks for @chunk at once */
static inline void srn_sq_start(struct srn_wqe *wqe, u32 psn, u32 npsn, u32 chunk)
{
	wqe->chunk = chunk;
	wqe->first_psn = psn;
	wqe->last_psn = srn_psn_add(psn, npsn - 1);
	wqe->done_psn = psn;
	wqe->placed_psn = psn;
	wqe->started = true;
}

/** srn_sq_did() - @wqe, which was executed here, takes no PSN; @psn follows it */
static inline void srn_sq_did(struct srn_wqe *wqe, u32 psn)
{
	wqe->last_psn = srn_psn_add(psn, -1);
	wqe->done = true;
}

/** srn_sq_find() - the index of the WQE that has @psn: started and not done, or next to start */
u32 srn_sq_find(const struct srn_sq *sq, u32 psn);

/**
 * srn_sq_acked() - everything up to and including @psn has reached the peer
 * @una: the oldest PSN not acknowledged; moved
 *
 * Marks what is done by it. Stops in front of a READ or atomic that was not answered: an
 * acknowledgment beyond it says that its answer was lost.
 *
 * Return: false if it stopped there; @una is where the missing answer begins.
 */
bool srn_sq_acked(struct srn_sq *sq, u32 psn, u32 *una);

/** srn_sq_answered() - one more packet of the answer to a READ or atomic was taken; the next PSN */
u32 srn_sq_answered(struct srn_wqe *wqe);

/** srn_sq_retire() - complete, in order, what is done at the head */
void srn_sq_retire(struct srn_qp *qp);

/**
 * srn_sq_fail() - the WQE at the head failed: complete it so and put the QP (or, for
 * UC and UD, its SQ) into the error state
 */
void srn_sq_fail(struct srn_qp *qp, struct srn_wqe *wqe, enum srn_verdict v);

/** srn_sq_drain() - to SQD: say when what was begun is done; from SQD: say nothing */
void srn_sq_drain(struct srn_qp *qp, bool wait);

/** srn_sq_end_error() - out of SQE: what is posted now is flushed, what comes later is sent */
void srn_sq_end_error(struct srn_qp *qp);

/**
 * srn_sq_flush() - complete what is posted (out of SQE: what was) with FLUSH_ERR;
 * srn_requester_reset() follows
 * @budget: WQEs left in this round, decremented
 *
 * Return: true if some are left.
 */
bool srn_sq_flush(struct srn_qp *qp, int *budget);

/** srn_sq_discard() - forget all that is posted (RESET, destroy); srn_requester_reset() follows */
void srn_sq_discard(struct srn_qp *qp);

#endif
