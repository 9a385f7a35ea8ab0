/* SPDX-License-Identifier: GPL-2.0-only */
/* The two scoreboards of a connection: of its requests, of which the peer says what it has (lost.h),
 * and of the answers to its READs (gaps.h). Each exists while something is missing, and is charged to
 * the device as what is held is.
 */
#ifndef SRN_BOARD_H
#define SRN_BOARD_H

#include <linux/types.h>

#include "score.h"

struct srn_qp;

/** srn_board_wait() - when something is lost on this path */
struct srn_score_wait srn_board_wait(const struct srn_qp *qp);

/**
 * srn_board_get() - the scoreboard at @board, of the QP, which begins now if there is none
 *
 * It begins with the oldest PSN that is in flight. Return: NULL without memory, or room for it.
 */
struct srn_score *srn_board_get(struct srn_qp *qp, struct srn_score **board);

/** srn_board_drop() - the one at @board, if there is one, is over */
void srn_board_drop(struct srn_qp *qp, struct srn_score **board);

/**
 * srn_board_acked() - the oldest PSN moved
 *
 * Return: false if nothing is missing any more, and the scoreboard at @board is to be dropped.
 */
bool srn_board_acked(struct srn_qp *qp, struct srn_score *board);

/**
 * srn_board_pick() - of what is lost the next run that is in flight: @psn and the length, or 0
 *
 * As srn_score_pick(): what is on its way may be less after it.
 */
u32 srn_board_pick(struct srn_qp *qp, struct srn_score *board, u64 now_ns, u32 *psn);

/** srn_board_sent() - of what is lost, @len PSNs from @psn on went again at @now_ns, ktime */
void srn_board_sent(struct srn_qp *qp, struct srn_score *board, u64 now_ns, u32 psn, u32 len);

/** srn_board_heard() - @board knows more: it may tell how long the path is */
void srn_board_heard(struct srn_qp *qp, struct srn_score *board);

/** srn_board_watch() - nothing more goes again now: an alarm looks when that changes by itself */
void srn_board_watch(struct srn_qp *qp, u64 now_ns);

#endif
