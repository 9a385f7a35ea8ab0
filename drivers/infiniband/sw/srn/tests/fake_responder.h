/* SPDX-License-Identifier: GPL-2.0-only */
/* A QP that has a responder's state and nothing else. */
#ifndef SRN_TESTS_FAKE_RESPONDER_H
#define SRN_TESTS_FAKE_RESPONDER_H

#include "../qp.h"
#include "../replay.h"
#include "fake.h"

#define MTU	1024
#define VA	0x7000000010ull
#define RKEY	0x1234

static inline void fake_free_slots(void *qp)
{
	srn_replay_resize(&((struct srn_qp *)qp)->resp.replay, 0);
}

static inline struct srn_qp *fake_qp(struct kunit *test, u32 slots)
{
	struct srn_qp *qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, qp);
	qp->dev = fake_dev(test);
	qp->known = fake_known(test);
	qp->who = fake_who(qp->dev, NULL, 0);
	qp->mtu = MTU;
	KUNIT_ASSERT_EQ(test, 0, srn_replay_resize(&qp->resp.replay, slots));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, fake_free_slots, qp));
	return qp;
}

static inline void add_read(struct srn_qp *qp, u32 psn, u32 len)
{
	struct srn_range range = { .va = VA, .rkey = RKEY, .len = len };

	srn_replay_add_read(&qp->resp.replay, psn, srn_replay_npsn(len, MTU), 0, &range);
}

#endif
