/* SPDX-License-Identifier: GPL-2.0-only */
/* Recovery of a requester: what a NAK, a missing answer and silence lead to, and how
 * often. Owns the retry counts; the alarms are the clock's.
 */
#ifndef SRN_RETRY_H
#define SRN_RETRY_H

#include <linux/types.h>

struct srn_qp;

/* Owner of the turn only. */
struct srn_retry {
	u8 retries;		/* left before RETRY_EXC */
	u8 rnr_retries;
	bool rewound;		/* dealt with a loss of the oldest PSN, no progress since */
	bool probing;		/* after a timeout: one packet, then wait for the answer */
	bool rnr_wait;		/* told to wait; an alarm ends it */
	bool refused;		/* was told to wait, no progress since */
	bool excused;		/* what waits for the pace was waited for, no progress since */
	bool late;		/* since it waits something answered what was answered before */
	u8 late_num;		/* timeouts that were not charged for that, no progress since */
	u32 probes;		/* sent since the last progress */
	u64 waited_ns;		/* for progress, when the alarm was set last */
	u64 step_ns;		/* that it was set to */
	u64 resent_ns;		/* ktime at which a gap was last dealt with */
};

/** srn_retry_refill() - the QP's retry counts were set */
void srn_retry_refill(struct srn_qp *qp);

/** srn_retry_move() - the QP has another path: nothing is known of it */
void srn_retry_move(struct srn_qp *qp);

/** srn_retry_reset() - nothing is in flight, nothing is waited for */
void srn_retry_reset(struct srn_qp *qp);

/**
 * srn_retry_sent() - packets are in flight: expect progress, or ask, and give up at the local ACK timeout
 *
 * At the end of the requester's rounds: where a host is slow, what one ACK lets go may take longer to leave than a
 * probe waits.
 */
void srn_retry_sent(struct srn_qp *qp);

/** srn_retry_asks_first() - in silence a probe is answered before the local ACK timeout, and it is known when */
bool srn_retry_asks_first(const struct srn_qp *qp);

/** srn_retry_progress() - the oldest PSN moved and the SQ retired what was done by it */
void srn_retry_progress(struct srn_qp *qp);

/**
 * srn_retry_late() - an answer came to a copy of what was answered before
 *
 * The path may be longer than the local ACK timeout: the next timeout is not charged if something is waited
 * for, retry_cnt in a row at most.
 */
void srn_retry_late(struct srn_qp *qp);

/** srn_retry_go_back() - the oldest packet cannot be made again: let the cursor meet it */
void srn_retry_go_back(struct srn_qp *qp);

/** srn_retry_implied_nak() - the answer with @psn is missing, as a later one is here */
void srn_retry_implied_nak(struct srn_qp *qp, u32 psn);

/** srn_retry_implied_again() - and so is the one that was asked for again */
void srn_retry_implied_again(struct srn_qp *qp, u32 psn);

/** srn_retry_resent() - what is lost went again beside that, at @now_ns, ktime */
static inline void srn_retry_resent(struct srn_retry *retry, u64 now_ns)
{
	retry->resent_ns = now_ns;
}

/** srn_retry_early() - the answer with @psn came, though others in front of it are missing */
void srn_retry_early(struct srn_qp *qp, u32 psn);

/** srn_retry_asked() - the answer to the oldest PSN was asked for again, for the first time */
void srn_retry_asked(struct srn_qp *qp);

/** srn_retry_nak() - the peer misses the oldest PSN */
void srn_retry_nak(struct srn_qp *qp);

/** srn_retry_heard() - the peer has more than was known, beyond the oldest PSN */
void srn_retry_heard(struct srn_qp *qp);

/** srn_retry_rnr() - the peer is not ready for the oldest PSN; @code: IBTA vol. 1, table 45 */
void srn_retry_rnr(struct srn_qp *qp, u8 code);

/** srn_retry_alarm() - @due: BIT(alarm) of what was waited for and is due */
void srn_retry_alarm(struct srn_qp *qp, unsigned int due);

#endif
