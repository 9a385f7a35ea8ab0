/* SPDX-License-Identifier: GPL-2.0-only */
/* A QP to which convoys come from a NAPI. */
#ifndef SRN_TESTS_FAKE_TARGET_H
#define SRN_TESTS_FAKE_TARGET_H

#include "../hold.h"
#include "../recv.h"
#include "../stats.h"
#include "fake_napi.h"

/* A QP that can be found, in the namespace of a NAPI. */
struct target {
	struct receiver r;
	struct srn_qp_ref *ref;
	struct napi *napi;
};

static inline void unpublish(void *ref)
{
	srn_qp_ref_unpublish(ref);
	srn_qp_ref_destroy(ref);
}

/* With memory for what is of shape @s. */
static inline struct target new_target(struct kunit *test, const struct shape *s)
{
	struct target t = { .r = new_receiver_of(test, s->each, payload_len(s)) };
	struct srn_qp *qp = t.r.qp;

	qp->path.v4.saddr = htonl(HERE);
	qp->path.v4.daddr = htonl(PEER);
	t.napi = new_napi(test, qp->dev);
	t.ref = srn_qp_ref_create(qp, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(t.ref));
	srn_qp_ref_publish(t.ref);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, unpublish, t.ref));
	return t;
}

static inline void to_target(struct kunit *test, const struct target *t, struct sk_buff *skb)
{
	rcu_read_lock();
	local_bh_disable();
	srn_recv(t->napi->sk, to_socket(skb));
	local_bh_enable();
	rcu_read_unlock();
}

static inline void take(struct kunit *test, const struct target *t, struct sk_buff **packets,
		 const struct shape *s)
{
	to_target(test, t, couple(test, t->napi, packets, s->num));
	KUNIT_EXPECT_TRUE(test, wait_idle(t->r.qp));
}

static inline u64 count(const struct target *t, enum srn_counter counter)
{
	return srn_stats_sum(t->r.qp->dev, counter);
}

static inline void expect_memory(struct kunit *test, const struct srn_mem *mem, u32 from, u32 to)
{
	u32 i, wrong = 0;
	u64 here;

	for (i = from; i < to; i++)
		wrong += *(u8 *)srn_mem_span(mem, VA + i, &here) != byte_at(i);
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

#endif
