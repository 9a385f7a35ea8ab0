/* SPDX-License-Identifier: GPL-2.0-only */
/* A requester that waits for answers: time is what its alarms are set to, the clock does not go. What the tests of
 * silence share.
 */
#ifndef SRN_TESTS_FAKE_WAITER_H
#define SRN_TESTS_FAKE_WAITER_H

#include "../completer.h"
#include "../recovery.h"
#include "../retry.h"
#include "fake_sender.h"
#include "fake_rx.h"

#include <linux/unaligned.h>
#include <rdma/ib_pack.h>

#define NUM	40u
#define MS	((u64)NSEC_PER_MSEC)
/* Code 14. */
#define TIMEOUT	(4096ull << 14)

static inline void run(struct srn_qp *qp)
{
	int budget = SRN_ROUND_BUDGET;

	srn_requester_run(qp, &budget);
}

/* It has sent what it begins with. */
static inline struct srn_qp *new_waiter(struct kunit *test, enum srn_recovery recovery, u8 retry_cnt)
{
	struct srn_qp *qp;

	migrate_disable();
	qp = new_sender(test, NUM);
	qp->recovery = recovery;
	qp->timeout = 14;
	qp->retry_cnt = retry_cnt;
	srn_retry_refill(qp);
	qp->scq = new_cq(test, qp, 4);
	qp->window.cwnd = SRN_WINDOW_FEW;
	qp->window.floor = 1;
	local_bh_disable();
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_SQ));
	qp->sq.tail = SRN_WINDOW_FEW;	/* of more one pack would have more than the window */
	run(qp);
	qp->sq.tail = NUM;
	KUNIT_EXPECT_EQ(test, srn_window_inflight(&qp->window), SRN_WINDOW_FEW);
	return qp;
}

static inline void end(void)
{
	local_bh_enable();
	migrate_enable();
}

static inline u64 timeouts(const struct srn_qp *qp)
{
	return srn_stats_sum(qp->dev, SRN_CNT_TIMEOUT);
}

static inline void age(struct srn_qp *qp, u64 ns)
{
	qp->window.timed_ns -= ns;
}

/* What is waited for does not come. Returns how long that was. */
static inline u64 wait(struct srn_qp *qp)
{
	u64 ns = qp->retry.step_ns;

	age(qp, ns);
	srn_retry_alarm(qp, BIT(SRN_ALARM_ACK));
	if (qp->state == IB_QPS_RTS)
		run(qp);
	return ns;
}

/* An ACK or a NAK, in a round that has nothing else to do. */
static inline void say(struct kunit *test, struct srn_qp *qp, u8 syndrome, u32 psn)
{
	struct sk_buff *skb = new_packet(test, IB_OPCODE_RC_ACKNOWLEDGE, srn_psn_add(qp->sq_psn, psn));

	put_unaligned_be32((u32)syndrome << 24,
			   skb->data + srn_pkt(skb)->bth + sizeof(struct srn_bth));
	rx_answer(qp, skb);
	if (srn_window_inflight(&qp->window))
		srn_retry_sent(qp);
}

/* So much time passes in all, and an ACK of all up to @psn comes. */
static inline void answer(struct kunit *test, struct srn_qp *qp, u64 after, u32 psn)
{
	while (after >= qp->retry.step_ns)
		after -= wait(qp);
	age(qp, after);
	say(test, qp, SRN_SYN_ACK_UNLIMITED, psn);
}

/* All is silent until the timeout is over. Returns how long that was. */
static inline u64 time_out(struct kunit *test, struct srn_qp *qp)
{
	u64 before = timeouts(qp), waited = 0;
	int i;

	for (i = 0; i < 100 && timeouts(qp) == before; i++)
		waited += wait(qp);
	KUNIT_EXPECT_EQ(test, timeouts(qp), before + 1);
	return waited;
}

#endif
