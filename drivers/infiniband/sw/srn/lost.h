/* SPDX-License-Identifier: GPL-2.0-only */
/* What a peer that sends SACKs has of what is in flight, and what is lost of it. The scoreboard
 * exists while something is missing in front of something that the peer has.
 */
#ifndef SRN_LOST_H
#define SRN_LOST_H

#include <linux/types.h>

struct sk_buff;
struct srn_qp;

/**
 * srn_lost_heard() - a SACK that says that @expected is missing, everything before it having been
 * acknowledged as far as it can be
 *
 * Return: true if it has news.
 */
bool srn_lost_heard(struct srn_qp *qp, u32 expected, struct sk_buff *skb);

/**
 * srn_lost_answered() - @psn, less than SRN_EARLY behind the oldest PSN, was answered before its turn
 *
 * So the peer has its request and all in front of that, which no SACK may say: none of it goes again for
 * being unheard of.
 */
void srn_lost_answered(struct srn_qp *qp, u32 psn);

/** srn_lost_acked() - the oldest PSN moved */
void srn_lost_acked(struct srn_qp *qp);

/**
 * srn_lost_missed() - the peer misses the oldest PSN: it names it, or is silent though nothing else
 * could keep it from acknowledging that
 *
 * If it had said that it has it, it has let it go since, and nothing that it said counts any more; unless
 * it had acknowledged it, and only the answer of a READ or an atomic is missing.
 */
void srn_lost_missed(struct srn_qp *qp);

/** srn_lost_stop() - the cursor goes back, or nothing is in flight: forget what the peer has */
void srn_lost_stop(struct srn_qp *qp);

/**
 * srn_lost_next() - the next run that goes again now, if the window lets it
 * @now_ns: ktime
 * @psn: set to its first PSN
 *
 * Return: its length, or 0.
 */
u32 srn_lost_next(struct srn_qp *qp, u64 now_ns, u32 *psn);

/** srn_lost_sent() - @len PSNs of it went */
void srn_lost_sent(struct srn_qp *qp, u64 now_ns, u32 psn, u32 len);

#endif
