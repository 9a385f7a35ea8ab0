/* SPDX-License-Identifier: GPL-2.0-only */
/* The requester's clock: local ACK timeout and RNR wait. One hrtimer per QP,
 * moved lazily: it is not touched for each packet, it looks at the deadline
 * when it fires and goes back to sleep if that has moved.
 */
#ifndef SRN_RETRY_H
#define SRN_RETRY_H

#include <linux/hrtimer.h>
#include <linux/types.h>

struct srn_qp;

struct srn_retry {
	struct hrtimer timer;
	ktime_t deadline;	/* owner of the turn; 0: nothing to wait for */
	ktime_t armed;		/* when the timer will fire; 0: not armed */
};

void srn_retry_init(struct srn_qp *qp);
/** srn_retry_stop() - after it returns the timer does not run; may sleep */
void srn_retry_stop(struct srn_qp *qp);

/** srn_retry_ack_timer() - packets are in flight: expect progress within the local ACK timeout from now */
void srn_retry_ack_timer(struct srn_qp *qp);
/** srn_retry_rnr_timer() - wait at least as long as timer code @code (IBTA table 45) tells */
void srn_retry_rnr_timer(struct srn_qp *qp, u8 code);
/** srn_retry_room_timer() - queues are full: run again when they may have room */
void srn_retry_room_timer(struct srn_qp *qp);
/** srn_retry_clear() - nothing in flight */
void srn_retry_clear(struct srn_qp *qp);
/** srn_retry_again() - send again from the oldest PSN on, or fail if that was done often enough */
void srn_retry_again(struct srn_qp *qp);
/** srn_retry_expired() - called in the QP's turn after the timer fired */
void srn_retry_expired(struct srn_qp *qp);

/** srn_rnr_ns() - nanoseconds of a RNR timer code 0..31 */
u64 srn_rnr_ns(u8 code);

#endif
