// SPDX-License-Identifier: GPL-2.0-only
#include "../payer.h"
#include "../cq.h"
#include "../limits.h"
#include "../qp.h"
#include "../qp_create.h"
#include "../requester.h"
#include "fake_round.h"

#include <linux/skbuff.h>
#include <net/inet_sock.h>
#include <net/net_namespace.h>

static struct sk_buff *charged(struct kunit *test, struct srn_payer *payer)
{
	struct sk_buff *skb = alloc_skb(1024, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	srn_payer_charge(payer, skb);
	return skb;
}

/* One that is full leaves another's room alone, and has room once packets have gone. */
static void srn_payer_room_test(struct kunit *test)
{
	struct srn_payer full = {}, other = {};
	struct sk_buff_head waiting;
	int n;

	KUNIT_ASSERT_EQ(test, srn_payer_open(&full, &init_net, NULL), 0);
	KUNIT_ASSERT_EQ(test, srn_payer_open(&other, &init_net, NULL), 0);
	/* An inode for each would be memory of which nobody makes use. */
	KUNIT_EXPECT_NULL(test, full.sk->sk_socket);
	/* What a program's socket is to the stack. */
	KUNIT_EXPECT_EQ(test, full.sk->sk_type, SOCK_DGRAM);
	KUNIT_EXPECT_EQ(test, full.sk->sk_protocol, IPPROTO_UDP);
	KUNIT_EXPECT_TRUE(test, inet_test_bit(MC_LOOP, full.sk));
	skb_queue_head_init(&waiting);
	for (n = 0; n < SRN_UNSENT_BYTES / 1024 && srn_payer_has_room(&full); n++)
		__skb_queue_tail(&waiting, charged(test, &full));
	KUNIT_EXPECT_FALSE(test, srn_payer_has_room(&full));
	KUNIT_EXPECT_TRUE(test, srn_payer_has_room(&other));
	kfree_skb(__skb_dequeue(&waiting));
	KUNIT_EXPECT_TRUE(test, srn_payer_has_room(&full));
	/* Packets may be there longer than who paid. */
	srn_payer_close(&full);
	srn_payer_close(&other);
	__skb_queue_purge(&waiting);
}

/* Each look in vain makes the next wait longer, up to a bound; room makes it short. */
static void srn_payer_wait_test(struct kunit *test)
{
	struct srn_payer payer = {};
	u32 last = 0;
	int i;

	KUNIT_ASSERT_EQ(test, srn_payer_open(&payer, &init_net, NULL), 0);
	for (i = 0; i < 20; i++) {
		u32 wait = srn_payer_wait(&payer);

		KUNIT_EXPECT_GE(test, wait, last);
		KUNIT_EXPECT_LE(test, wait, SRN_UNSENT_WAIT_MAX_NS);
		last = wait;
	}
	KUNIT_EXPECT_EQ(test, last, SRN_UNSENT_WAIT_MAX_NS);
	KUNIT_EXPECT_TRUE(test, srn_payer_has_room(&payer));
	KUNIT_EXPECT_EQ(test, srn_payer_wait(&payer), SRN_UNSENT_WAIT_NS);
	srn_payer_close(&payer);
}

struct pays_row {
	const char *desc;
	enum ib_qp_type type;
	bool pays;
};

static const struct pays_row pays_rows[] = {
	{ "RC has a window", IB_QPT_RC, false },
	{ "UC", IB_QPT_UC, true },
	{ "UD", IB_QPT_UD, true },
	/* Nobody connects without it: a full queue must not stop it. */
	{ "the GSI", IB_QPT_GSI, false },
};

KUNIT_ARRAY_PARAM_DESC(pays, pays_rows, desc);

static struct srn_cq *new_dev_cq(struct kunit *test, struct srn_dev *dev)
{
	struct srn_cq *cq = kunit_kzalloc(test, sizeof(*cq), GFP_KERNEL);
	const struct ib_cq_init_attr attr = { .cqe = 1 };

	KUNIT_ASSERT_NOT_NULL(test, cq);
	cq->ibcq.device = &dev->ibdev;
	KUNIT_ASSERT_EQ(test, srn_create_cq(&cq->ibcq, &attr, NULL), 0);
	return cq;
}

static void srn_payer_of_qp_test(struct kunit *test)
{
	struct srn_qp *qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);
	const struct pays_row *row = test->param_value;
	struct srn_dev *dev = fake_dev(test);
	struct srn_cq *cq = new_dev_cq(test, dev);
	struct ib_qp_init_attr attr = {
		.qp_type = row->type, .port_num = 1, .send_cq = &cq->ibcq, .recv_cq = &cq->ibcq,
	};

	KUNIT_ASSERT_NOT_NULL(test, qp);
	dev->net = &init_net;
	qp->ibqp.device = &dev->ibdev;
	qp->ibqp.pd = fake_pd(test, dev);
	KUNIT_ASSERT_EQ(test, srn_create_qp(&qp->ibqp, &attr, NULL), 0);
	KUNIT_EXPECT_EQ(test, !!qp->payer.sk, row->pays);
	KUNIT_EXPECT_PTR_EQ(test, qp->req.train.payer, row->pays ? &qp->payer : NULL);
	KUNIT_EXPECT_TRUE(test, srn_payer_has_room(&qp->payer));
	srn_destroy_qp(&qp->ibqp, NULL);
	srn_destroy_cq(&cq->ibcq, NULL);
}

/* Nobody tells when there is room again: the QP looks, when its alarm has come. */
static void srn_payer_alarm_test(struct kunit *test)
{
	struct srn_qp *qp = &new_owner(test)->qp;
	struct sk_buff_head waiting;
	int budget = 1;

	qp->state = IB_QPS_RTS;
	qp->svc = srn_service_of(IB_QPT_UC);
	qp->mtu = 1024;
	give_sends(test, qp, 1);
	give_clock(test, qp);
	srn_window_start(&qp->window, 0, qp->mtu);
	KUNIT_ASSERT_EQ(test, srn_payer_open(&qp->payer, &init_net, NULL), 0);
	skb_queue_head_init(&waiting);
	while (srn_payer_has_room(&qp->payer))
		__skb_queue_tail(&waiting, charged(test, &qp->payer));
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_SQ));
	local_bh_disable();
	KUNIT_EXPECT_FALSE(test, srn_requester_run(qp, &budget));
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, budget, 1);
	KUNIT_EXPECT_TRUE(test, srn_clock_is_set(&qp->clock, SRN_ALARM_ROOM));
	srn_clock_stop(&qp->clock);
	srn_payer_close(&qp->payer);
	__skb_queue_purge(&waiting);
}

static struct kunit_case srn_payer_cases[] = {
	KUNIT_CASE(srn_payer_room_test),
	KUNIT_CASE(srn_payer_wait_test),
	KUNIT_CASE(srn_payer_alarm_test),
	KUNIT_CASE_PARAM(srn_payer_of_qp_test, pays_gen_params),
	{}
};

static struct kunit_suite srn_payer_suite = {
	.name = "srn_payer",
	.test_cases = srn_payer_cases,
};

kunit_test_suite(srn_payer_suite);
