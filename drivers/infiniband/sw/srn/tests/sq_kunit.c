// SPDX-License-Identifier: GPL-2.0-only
/* The send queue of a kernel user whose ring is full: what is completed is its poster's. */
#include "../ah.h"
#include "../cq.h"
#include "../qp.h"
#include "../service.h"
#include "../sq.h"
#include "fake.h"

#define PAGE_AND(type)	(SRN_QUEUE_OFFSET + sizeof(type))

struct poster {
	struct srn_qp qp;
	struct srn_cq cq;
	struct srn_av first, next;
	unsigned int completions;
	u32 head;	/* as the handler saw it */
};

static void put(struct poster *u, struct srn_av *av, u64 wr_id)
{
	struct srn_wqe *wqe = srn_sq_wqe(&u->qp.sq, u->qp.sq.tail);

	refcount_inc(&av->refs);
	memset(wqe, 0, sizeof(*wqe));
	wqe->opcode = IB_WR_SEND;
	wqe->flags = IB_SEND_SIGNALED;
	wqe->wr_id = wr_id;
	wqe->ud.av = av;
	u->qp.sq.tail++;
}

/* As ib_mad does it: the handler posts what comes next into the only slot. */
static void on_comp(struct ib_cq *cq, void *arg)
{
	struct poster *u = arg;

	u->head = u->qp.sq.head;
	if (!u->completions++)
		put(u, &u->next, 2);
}

static void make_cq(struct kunit *test, struct poster *u, struct srn_dev *dev)
{
	struct srn_cq *cq = &u->cq;

	spin_lock_init(&cq->lock);
	cq->ibcq.device = &dev->ibdev;
	cq->ibcq.comp_handler = on_comp;
	cq->ibcq.cq_context = u;
	cq->entries = 1;
	cq->page = kunit_kzalloc(test, PAGE_AND(struct srn_cqe), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, cq->page);
	cq->cqes = (void *)cq->page + SRN_QUEUE_OFFSET;
}

/* A UD QP of one WQE. */
static struct poster *new_poster(struct kunit *test)
{
	struct poster *u = kunit_kzalloc(test, sizeof(*u), GFP_KERNEL);
	struct srn_dev *dev = fake_dev(test);
	struct srn_sq *sq = &u->qp.sq;

	KUNIT_ASSERT_NOT_NULL(test, u);
	make_cq(test, u, dev);
	u->qp.dev = dev;
	u->qp.scq = &u->cq;
	u->qp.who = (struct srn_who) { .dev = dev, .kernel = true };
	u->qp.ibqp.qp_type = IB_QPT_UD;
	u->qp.svc = srn_service_of(IB_QPT_UD);
	u->qp.state = IB_QPS_RTS;
	sq->entries = 1;
	sq->max_wr = 1;
	sq->lim.svc = srn_service_of(IB_QPT_UD);
	sq->lim.who = &u->qp.who;
	sq->wqe_size = srn_wqe_size(1, 0);
	sq->wqes = kunit_kzalloc(test, sq->wqe_size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, sq->wqes);
	refcount_set(&u->first.refs, 1);
	refcount_set(&u->next.refs, 1);
	return u;
}

static void srn_sq_retired_slot_is_the_posters_test(struct kunit *test)
{
	struct poster *u = new_poster(test);
	struct srn_sq *sq = &u->qp.sq;

	put(u, &u->first, 1);
	sq->fetched = 1;
	srn_sq_oldest(sq)->done = true;
	srn_req_notify_cq(&u->cq.ibcq, IB_CQ_NEXT_COMP);
	srn_sq_retire(&u->qp);
	KUNIT_EXPECT_EQ(test, u->completions, 1u);
	KUNIT_EXPECT_EQ(test, u->head, 1u);
	KUNIT_EXPECT_EQ(test, u->cq.cqes->wr_id, 1ull);
	KUNIT_EXPECT_EQ(test, refcount_read(&u->first.refs), 1u);
	/* What the handler posted is whole. */
	KUNIT_EXPECT_EQ(test, refcount_read(&u->next.refs), 2u);
	KUNIT_EXPECT_PTR_EQ(test, srn_sq_wqe(sq, 1)->ud.av, &u->next);
}

/* The same with two requests posted, of which @fetched were looked at. */
static struct poster *new_poster_of_two(struct kunit *test, u32 fetched)
{
	struct poster *u = new_poster(test);
	struct srn_sq *sq = &u->qp.sq;

	sq->entries = 2;
	sq->max_wr = 2;
	sq->wqes = kunit_kcalloc(test, 2, sq->wqe_size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, sq->wqes);
	u->cq.entries = 2;
	u->cq.cqes = kunit_kcalloc(test, 2, sizeof(*u->cq.cqes), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, u->cq.cqes);
	put(u, &u->first, 1);
	put(u, &u->next, 2);
	sq->fetched = fetched;
	return u;
}

/* What is forgotten is let go of, looked at or not, and its slots are free. */
static void srn_sq_discard_test(struct kunit *test)
{
	u32 fetched;

	for (fetched = 0; fetched <= 2; fetched++) {
		struct poster *u = new_poster_of_two(test, fetched);

		srn_sq_discard(&u->qp);
		KUNIT_EXPECT_EQ(test, refcount_read(&u->first.refs), 1u);
		KUNIT_EXPECT_EQ(test, refcount_read(&u->next.refs), 1u);
		KUNIT_EXPECT_EQ(test, u->qp.sq.head, 2u);
		KUNIT_EXPECT_EQ(test, u->qp.sq.fetched, 2u);
		KUNIT_EXPECT_EQ(test, u->cq.prod, 0u);
	}
}

/* What was done before the error is told as done, of what was not it is told whose it is. */
static void srn_sq_flush_test(struct kunit *test)
{
	struct poster *u = new_poster_of_two(test, 2);
	int budget = 2, i;

	srn_sq_wqe(&u->qp.sq, 1)->done = true;
	u->qp.state = IB_QPS_ERR;
	u->qp.port_num = 1;
	u->qp.ibqp.qp_num = 0x11;
	KUNIT_EXPECT_FALSE(test, srn_sq_flush(&u->qp, &budget));
	KUNIT_EXPECT_EQ(test, u->cq.prod, 2u);
	KUNIT_EXPECT_EQ(test, u->cq.cqes[0].status, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, u->cq.cqes[1].status, IB_WC_SUCCESS);
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, u->cq.cqes[i].wr_id, i + 1);
		KUNIT_EXPECT_EQ(test, u->cq.cqes[i].port_num, 1);
		KUNIT_EXPECT_EQ(test, u->cq.cqes[i].qp_num, 0x11);
	}
}

#define MANY	64

/* What the handler finds when it is called first: as many slots are free as there are completions. */
static void on_many(struct ib_cq *cq, void *arg)
{
	struct poster *u = arg;

	u->completions++;
	u->head = u->qp.sq.head - u->cq.prod;
}

/* @num SENDs, numbered, of which those of @quiet ask for no completion, and all are done but the last. */
static struct poster *new_poster_of_many(struct kunit *test, u32 num, u64 quiet)
{
	struct poster *u = new_poster(test);
	struct srn_sq *sq = &u->qp.sq;
	u32 i;

	u->qp.svc = srn_service_of(IB_QPT_RC);
	sq->lim.svc = u->qp.svc;
	sq->entries = MANY;
	sq->wqes = kunit_kcalloc(test, MANY, sq->wqe_size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, sq->wqes);
	u->cq.ibcq.comp_handler = on_many;
	u->cq.entries = MANY;
	u->cq.cqes = kunit_kcalloc(test, MANY, sizeof(*u->cq.cqes), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, u->cq.cqes);
	for (i = 0; i < num; i++) {
		struct srn_wqe *wqe = srn_sq_wqe(sq, i);

		wqe->wr_id = i;
		wqe->opcode = IB_WR_SEND;
		wqe->flags = quiet & BIT_ULL(i) ? 0 : IB_SEND_SIGNALED;
		wqe->done = i != num - 1;
	}
	sq->tail = num;
	sq->fetched = num;
	return u;
}

/* However many are done, each that asks for it has its completion, in order; what is not done has none. */
static void srn_sq_retire_many_test(struct kunit *test)
{
	static const u64 quiets[] = { 0, ~0ull, 0x5555555555555555, 0xff00ff00ff00ff00, 0x7fff };
	u32 num, q, i, told;

	for (q = 0; q < ARRAY_SIZE(quiets); q++) {
		for (num = 1; num <= MANY; num += num < 20 ? 1 : 11) {
			struct poster *u = new_poster_of_many(test, num, quiets[q]);

			srn_req_notify_cq(&u->cq.ibcq, IB_CQ_NEXT_COMP);
			srn_sq_retire(&u->qp);
			KUNIT_EXPECT_EQ(test, u->qp.sq.una, num - 1);
			KUNIT_EXPECT_EQ(test, u->qp.sq.head, num - 1);
			for (i = 0, told = 0; i < num - 1; i++) {
				if (quiets[q] & BIT_ULL(i))
					continue;
				KUNIT_EXPECT_EQ(test, u->cq.cqes[told].wr_id, i);
				told++;
			}
			KUNIT_EXPECT_EQ(test, u->cq.prod, told);
			KUNIT_EXPECT_EQ(test, u->completions, !!told);
			KUNIT_EXPECT_GE(test, (s32)u->head, 0);
		}
	}
}

/* One of them that failed is told of who waits for errors alone, and so is what finds no room. */
static void srn_sq_retire_failed_test(struct kunit *test)
{
	struct poster *u = new_poster_of_many(test, 7, 0);

	srn_req_notify_cq(&u->cq.ibcq, IB_CQ_SOLICITED);
	srn_sq_retire(&u->qp);
	KUNIT_EXPECT_EQ(test, u->completions, 0);
	u = new_poster_of_many(test, 7, 0);
	srn_sq_wqe(&u->qp.sq, 3)->status = SRN_V_LOC_PROT;
	srn_req_notify_cq(&u->cq.ibcq, IB_CQ_SOLICITED);
	srn_sq_retire(&u->qp);
	KUNIT_EXPECT_EQ(test, u->completions, 1);
	KUNIT_EXPECT_EQ(test, u->cq.prod, 6);
	KUNIT_EXPECT_EQ(test, u->cq.cqes[3].wr_id, 3);
	KUNIT_EXPECT_EQ(test, u->cq.cqes[3].status, IB_WC_LOC_PROT_ERR);
	KUNIT_EXPECT_EQ(test, u->cq.cqes[5].status, IB_WC_SUCCESS);
}

/* Those that found no room are lost: the QP is in error, and its slots are free. */
static void srn_sq_retire_overrun_test(struct kunit *test)
{
	struct poster *u = new_poster_of_many(test, 20, 0);

	u->cq.entries = 4;
	srn_sq_retire(&u->qp);
	KUNIT_EXPECT_EQ(test, u->cq.prod, 4);
	KUNIT_EXPECT_EQ(test, u->qp.sq.head, 19);
	KUNIT_EXPECT_EQ(test, u->qp.state, IB_QPS_ERR);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(u->qp.dev, SRN_CNT_CQ_OVERRUN), 15);
}

/* Looks at all of them. */
static u32 find_slowly(const struct srn_sq *sq, u32 psn)
{
	const struct srn_wqe *wqe;
	u32 i;

	for (i = sq->una; i != sq->fetched; i++) {
		wqe = srn_sq_wqe(sq, i);
		if (!wqe->done && (!wqe->started || srn_psn_diff(psn, wqe->last_psn) <= 0))
			break;
	}
	return i;
}

/* Requests of 1 to 3 packets, what is executed here between them, and in the end what was not
 * begun.
 */
static u32 fill(struct srn_sq *sq, u32 psn)
{
	struct srn_wqe *wqe;
	u32 i, npsn;

	for (i = 0; i < 50; i++) {
		wqe = srn_sq_wqe(sq, sq->una + i);
		if (i % 5 == 3 || i % 7 == 2) {
			srn_sq_did(wqe, psn);
			continue;
		}
		npsn = 1 + i % 3;
		srn_sq_start(wqe, psn, npsn, 1);
		psn = srn_psn_add(psn, npsn);
	}
	return psn;
}

static void srn_sq_find_test(struct kunit *test)
{
	struct poster *u = new_poster(test);
	struct srn_sq *sq = &u->qp.sq;
	u32 psn, end, first = 0xffffe0;

	sq->entries = 64;
	sq->wqes = kunit_kcalloc(test, 64, sq->wqe_size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, sq->wqes);
	sq->una = 0xfffffff0;
	sq->fetched = sq->una + 60;
	end = fill(sq, first);
	for (psn = srn_psn_add(first, -3); psn != srn_psn_add(end, 3); psn = srn_psn_add(psn, 1))
		KUNIT_EXPECT_EQ(test, srn_sq_find(sq, psn), find_slowly(sq, psn));
	sq->fetched = sq->una + 50;
	KUNIT_EXPECT_EQ(test, srn_sq_find(sq, end), sq->fetched);
	sq->fetched = sq->una;
	KUNIT_EXPECT_EQ(test, srn_sq_find(sq, first), sq->una);
}

static struct kunit_case srn_sq_cases[] = {
	KUNIT_CASE(srn_sq_retired_slot_is_the_posters_test),
	KUNIT_CASE(srn_sq_retire_many_test),
	KUNIT_CASE(srn_sq_retire_failed_test),
	KUNIT_CASE(srn_sq_retire_overrun_test),
	KUNIT_CASE(srn_sq_discard_test),
	KUNIT_CASE(srn_sq_flush_test),
	KUNIT_CASE(srn_sq_find_test),
	{}
};

static struct kunit_suite srn_sq_suite = {
	.name = "srn_sq",
	.test_cases = srn_sq_cases,
};

kunit_test_suite(srn_sq_suite);
