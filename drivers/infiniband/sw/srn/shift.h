/* SPDX-License-Identifier: GPL-2.0-only */
/* A QP's part in the rota of those of its protection domain that go to the same address (rota.h): it asks for a
 * place before it sends, and gives it up at the end of a round. What goes again goes without one, and so does what
 * asks after silence. Owner of the turn only; BH disabled, but for srn_shift_leave().
 */
#ifndef SRN_SHIFT_H
#define SRN_SHIFT_H

/* For srn_shift_may(), which is asked before each packet. qp.h has no use for this. */
#include "known.h"
#include "qp.h"

/** srn_shift_ask() - srn_shift_may(), where there are not few */
bool srn_shift_ask(struct srn_qp *qp, const struct srn_wqe *wqe);

/** srn_shift_yield() - srn_shift_end_round() of one that has a place, or had to wait */
void srn_shift_yield(struct srn_qp *qp);

/**
 * srn_shift_share() - where turns are taken only since something was lost, who has, or had, a place has what 16 share: it
 * goes on with its part of that, as all do; on a path that is far it is one of few
 */
static inline void srn_shift_share(struct srn_qp *qp)
{
	u32 users = srn_known_users(qp->known->path);	/* once: it changes without a lock */

	if (READ_ONCE(qp->dev->rota) == SRN_ROTA_LOSSY && users > SRN_ROTA_PLACES &&
	    !srn_rota_is_far(&qp->known->path->rota))
		srn_window_share(&qp->window, SRN_ROTA_PLACES, users);
}

/** srn_shift_is_wanted() - whether turns are taken at all on its path, which is known */
static inline bool srn_shift_is_wanted(const struct srn_qp *qp)
{
	enum srn_rota_when when = READ_ONCE(qp->dev->rota);

	return when && !srn_rota_is_free(&qp->known->path->rota, when);
}

/** srn_shift_are_few() - whether they have no use for turns; who takes no part is one of few as well */
static inline bool srn_shift_are_few(const struct srn_qp *qp)
{
	return likely(!qp->known || srn_known_users(qp->known->path) <= SRN_ROTA_FEW);
}

/** srn_shift_is_on_loss() - whether turns are taken once something is lost, and they are more than have a place each */
static inline bool srn_shift_is_on_loss(const struct srn_qp *qp)
{
	return qp->known && READ_ONCE(qp->dev->rota) == SRN_ROTA_LOSSY &&
	       srn_known_users(qp->known->path) > SRN_ROTA_PLACES;
}

/** srn_shift_begins() - whether @wqe is the first of one of many that is not small */
static inline bool srn_shift_begins(const struct srn_qp *qp, const struct srn_wqe *wqe)
{
	return unlikely(qp->known->shift.fresh) && wqe->length > SRN_ROTA_SMALL;
}

/** srn_shift_may() - whether @wqe, or its next packet, may go; if not a round begins when it may */
static inline bool srn_shift_may(struct srn_qp *qp, const struct srn_wqe *wqe)
{
	if (srn_shift_are_few(qp))
		return true;
	/* Who has a place from when turns were taken is to give it up. */
	if (!srn_shift_is_wanted(qp) && !READ_ONCE(qp->known->shift.on) && !srn_shift_begins(qp, wqe))
		return true;
	return srn_shift_ask(qp, wqe);
}

/** srn_shift_packs() - whether what follows a small message may join it, without being asked for */
static inline bool srn_shift_packs(const struct srn_qp *qp)
{
	return srn_shift_are_few(qp) || READ_ONCE(qp->known->shift.on) || !srn_shift_is_wanted(qp);
}

/** srn_shift_is_on() - whether it has a place */
static inline bool srn_shift_is_on(const struct srn_qp *qp)
{
	return likely(qp->known) && unlikely(READ_ONCE(qp->known->shift.on));
}

/* Of @bytes of payload in @num packets. */
static inline u32 srn_shift_bytes(u32 bytes, u32 num)
{
	return bytes + num * SRN_PACE_HEADERS;
}

/* That it may have out at a time, without what is lent for a pack. */
static inline u32 srn_shift_out(const struct srn_qp *qp)
{
	return (qp->window.cwnd - qp->window.lent) * qp->mtu;
}

/** srn_shift_ends() - whether these are the last before a wait: what is said of them is not to wait as well */
static inline bool srn_shift_ends(const struct srn_qp *qp, u32 bytes, u32 num)
{
	return srn_shift_is_on(qp) && srn_rota_is_wanted(&qp->known->path->rota) &&
	       srn_rota_is_over(&qp->known->path->rota, &qp->known->shift,
				srn_shift_bytes(bytes, num), srn_shift_out(qp));
}

/** srn_shift_charge() - @bytes of payload left in @num packets, or are asked for */
static inline void srn_shift_charge(struct srn_qp *qp, u32 bytes, u32 num)
{
	/* Pairs with who gave the place: what was sent is zero since then. */
	if (likely(qp->known) && unlikely(smp_load_acquire(&qp->known->shift.on)))
		qp->known->shift.sent += srn_shift_bytes(bytes, num);
}

/** srn_shift_end_round() - nothing more goes now: who has nothing out, or is not answered, needs no place */
static inline void srn_shift_end_round(struct srn_qp *qp)
{
	if (srn_shift_is_on(qp) || (likely(qp->known) && unlikely(qp->known->shift.stopped)))
		srn_shift_yield(qp);
}

/** srn_shift_leave() - nothing more goes on this path; any context but interrupts */
void srn_shift_leave(struct srn_qp *qp);

#endif
