/* SPDX-License-Identifier: GPL-2.0-only */
/* The reaction point: a QP that is told of marks sends less, requests and answers alike. Owner of
 * the turn only.
 */
#ifndef SRN_REACT_H
#define SRN_REACT_H

#include <linux/types.h>

#include "pace.h"

struct srn_qp;

/** srn_react_start() - INIT to RTR: nobody knows what the peer does about marks */
void srn_react_start(struct srn_qp *qp);

/**
 * srn_react_mark() - whether what the QP sends may be marked, by its path: of RC, to a peer that is
 * known to tell of marks, see srn_react_meet(), or where "cc" says that all do
 *
 * To who does not tell, a mark is a packet that should have been dropped and was not.
 */
void srn_react_mark(struct srn_qp *qp);

/** srn_react_meet() - the peer tells of marks: it says so, or has */
void srn_react_meet(struct srn_qp *qp);

/** srn_react_cnp() - a congestion notification has come from the peer; counts it */
void srn_react_cnp(struct srn_qp *qp);

/**
 * srn_react_ask() - srn_pace_ask(), at the rate that it is by now
 *
 * On a pace that is on, which may be off after it.
 */
u32 srn_react_ask(struct srn_qp *qp, enum srn_pace_side side, u64 now_ns);

/** srn_react_wait() - what @side has to send waits for the pace: counts that, and sets an alarm */
void srn_react_wait(struct srn_qp *qp, enum srn_pace_side side, u64 now_ns);

/** srn_react_woken() - that alarm has come */
void srn_react_woken(struct srn_qp *qp, u64 now_ns);

/** srn_react_reset() - nothing is known of congestion */
void srn_react_reset(struct srn_qp *qp);

#endif
