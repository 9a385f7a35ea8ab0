// SPDX-License-Identifier: GPL-2.0-only
/* What packets are made of, and which way they take. */
#include "../build_request.h"
#include "../psn.h"
#include "../qp.h"
#include "../segment.h"
#include "../xmit.h"
#include "fake.h"

#include <kunit/test.h>

/* What is sent again is copied: the program may be writing it. */
static void srn_build_again_test(struct kunit *test)
{
	struct srn_qp *qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);
	struct srn_wqe *wqe = kunit_kzalloc(test, srn_wqe_size(1, 0), GFP_KERNEL);
	struct srn_plan plan;
	struct sk_buff *skb;
	struct srn_mem *mr;
	int again;

	KUNIT_ASSERT_NOT_NULL(test, qp);
	KUNIT_ASSERT_NOT_NULL(test, wqe);
	qp->dev = fake_dev(test);
	qp->ibqp.pd = fake_pd(test, qp->dev);
	qp->svc = srn_service_of(IB_QPT_RC);
	mr = fake_mr(test, qp->dev, qp->ibqp.pd, 0x1000, PAGE_SIZE, 0, 0);
	wqe->opcode = IB_WR_RDMA_WRITE;
	wqe->length = 2048;
	wqe->num_sge = 1;
	wqe->sge[0] = (struct ib_sge){ 0x1000, 2048, mr->key };
	wqe->first_psn = wqe->last_psn = 0xffffff;
	srn_segment(wqe, qp->svc, 4096, wqe->first_psn, &plan);

	for (again = 0; again < 2; again++) {
		qp->window.end = srn_psn_add(wqe->first_psn, again);
		KUNIT_ASSERT_EQ(test, srn_build_request(qp, wqe, &plan, 0, &skb), SRN_OK);
		KUNIT_ASSERT_EQ(test, skb_shinfo(skb)->nr_frags, 1);
		KUNIT_EXPECT_EQ(test, again, skb_frag_page(&skb_shinfo(skb)->frags[0]) !=
				virt_to_page(mr->map.blocks[0]));
		kfree_skb(skb);
	}
}

/* The same for all packets of a flow, whoever sends them. */
static void srn_xmit_steer_test(struct kunit *test)
{
	static const u32 hashes[] = { 0, 1, 0x9e3779b1, U32_MAX };
	struct sk_buff *skb = alloc_skb(64, GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	for (i = 0; i < ARRAY_SIZE(hashes); i++) {
		srn_xmit_steer(skb, hashes[i]);
		KUNIT_EXPECT_EQ(test, skb_get_hash_raw(skb), hashes[i]);
#ifdef CONFIG_XPS
		/* 0 and what is beyond the CPUs would have the stack take the sender's. */
		KUNIT_EXPECT_GT(test, skb->sender_cpu, 0);
		KUNIT_EXPECT_LE(test, skb->sender_cpu, nr_cpu_ids);
#endif
	}
	kfree_skb(skb);
}

static struct kunit_case srn_build_cases[] = {
	KUNIT_CASE(srn_build_again_test),
	KUNIT_CASE(srn_xmit_steer_test),
	{}
};

static struct kunit_suite srn_build_suite = {
	.name = "srn_build",
	.test_cases = srn_build_cases,
};

kunit_test_suite(srn_build_suite);
