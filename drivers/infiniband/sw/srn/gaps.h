/* SPDX-License-Identifier: GPL-2.0-only */
/* What is missing of the answers to READs and atomics, of a peer that answers all that is asked for
 * again, in order: each gap is asked for by itself, all of them at once, and again when it is lost.
 */
#ifndef SRN_GAPS_H
#define SRN_GAPS_H

#include <linux/types.h>

struct srn_qp;

/**
 * srn_gaps_reached() - the peer has sent its answers to all up to @psn, the oldest one or behind it
 *
 * Return: false if gaps are not asked for one by one: it is another peer, or there is no memory.
 */
bool srn_gaps_reached(struct srn_qp *qp, u32 psn);

/** srn_gaps_came() - the answer with @psn, behind the oldest that is missing, was taken */
void srn_gaps_came(struct srn_qp *qp, u32 psn);

/** srn_gaps_twice() - one came a second time; returns as srn_gaps_reached() */
bool srn_gaps_twice(struct srn_qp *qp);

/** srn_gaps_acked() - the oldest PSN moved */
void srn_gaps_acked(struct srn_qp *qp);

/** srn_gaps_stop() - the cursor goes back, or nothing is in flight: all is asked for anew */
void srn_gaps_stop(struct srn_qp *qp);

/**
 * srn_gaps_next() - the next run of PSNs that is to be asked for now, if the window lets it
 * @now_ns: ktime
 * @psn: set to its first one, which may be that of a request without an answer; see srn_gaps_skip()
 *
 * Return: its length, or 0.
 */
u32 srn_gaps_next(struct srn_qp *qp, u64 now_ns, u32 *psn);

/** srn_gaps_skip() - to @len PSNs of it no data is the answer */
void srn_gaps_skip(struct srn_qp *qp, u32 psn, u32 len);

/**
 * srn_gaps_sent() - @len PSNs of it were asked for
 *
 * Return: true if that is the oldest one of all, for the first time.
 */
bool srn_gaps_sent(struct srn_qp *qp, u64 now_ns, u32 psn, u32 len);

/** srn_gaps_oldest() - PSNs that are missing from the oldest one on, as far as is known */
u32 srn_gaps_oldest(const struct srn_qp *qp);

#endif
