// SPDX-License-Identifier: GPL-2.0-only
/* Any messages at all leave as packs what they leave as packets, and the same behind. */
#include "fake_packer.h"

#include <linux/jhash.h>
#include <linux/sort.h>

/* A message as it left, however it did. */
struct seen {
	u16 opcode, flags;	/* no gap: they are compared as bytes */
	u32 psn;
	u32 bytes;	/* a hash of all behind the BTH */
};

struct all_seen {
	u32 num;
	u8 behind[SRN_PACK_BYTES];	/* what stands behind the BTH of one */
	struct seen msg[2 * MANY];
};

static void see(struct all_seen *all, u8 opcode, u32 psn, u8 flags, const void *behind, u32 len)
{
	all->msg[all->num++] = (struct seen){
		.opcode = opcode, .psn = psn, .flags = flags, .bytes = jhash(behind, len, 0),
	};
}

/* Part of it may be in pages. */
static void see_pack(struct all_seen *all, struct srn_pack_cut *cut)
{
	u32 psn = be32_get_bits(cut->bth.apsn, SRN_BTH_PSN), len;

	do {
		len = srn_opcode_hdr_len(cut->msg.opcode) - sizeof(cut->bth) + cut->msg.len;
		if (len > sizeof(all->behind) || skb_copy_bits(cut->skb, cut->msg.at, all->behind, len))
			len = 0;
		see(all, cut->msg.opcode, psn, cut->msg.flags, all->behind, len);
		psn = srn_psn_add(psn, 1);
	} while (srn_pack_cut_next(cut));
}

/* Of @len bytes, with pad and ICRC, unless these are in pages. */
static void see_packet(struct all_seen *all, const struct srn_bth *bth, u32 len)
{
	u32 least = sizeof(*bth) + u8_get_bits(bth->flags, SRN_BTH_PAD) + SRN_ICRC_SIZE;

	see(all, bth->opcode, be32_get_bits(bth->apsn, SRN_BTH_PSN),
	    (bth->flags & SRN_BTH_SE ? SRN_PKT_SE : 0) |
	    (be32_get_bits(bth->apsn, SRN_BTH_ACKREQ) ? SRN_PKT_ACKREQ : 0), bth + 1,
	    len - min(len, least));
}

static int by_psn(const void *one, const void *other)
{
	const struct seen *a = one, *b = other;

	return srn_psn_diff(a->psn, b->psn) ?: a->flags - b->flags;
}

/* What has left, by PSN: what goes again to ask may overtake a train that waits. */
static void see_all(struct all_seen *all)
{
	const u32 outer = sizeof(struct iphdr) + sizeof(struct udphdr);
	struct sk_buff *skb, *part;
	struct srn_pack_cut cut;

	all->num = 0;
	while ((skb = __skb_dequeue(&sent))) {
		if (srn_pack_cut_begin(&cut, skb, outer)) {
			see_pack(all, &cut);
		} else {
			see_packet(all, (void *)skb->data + outer, skb_headlen(skb) - outer);
			skb_walk_frags(skb, part)
				see_packet(all, (void *)part->data, skb_headlen(part));
		}
		kfree_skb(skb);
	}
	sort(all->msg, all->num, sizeof(all->msg[0]), by_psn, NULL);
}

static u32 seed;

/* Below @num. */
static u32 any(u32 num)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % num;
}

static void make_any(struct srn_wqe *wqe, u32 mtu, u32 lkey)
{
	static const u8 others[] = { IB_WR_SEND, IB_WR_SEND_WITH_IMM, IB_WR_RDMA_WRITE_WITH_IMM, IB_WR_RDMA_READ };

	wqe->opcode = any(8) ? IB_WR_RDMA_WRITE : others[any(ARRAY_SIZE(others))];
	wqe->flags |= (any(3) ? 0 : IB_SEND_SOLICITED) | (any(12) ? 0 : IB_SEND_FENCE);
	wqe->length = any(65);
	wqe->imm = cpu_to_be32(any(1000));
	if (!any(20))
		wqe->length = 300;
	if (any(3) && wqe->opcode != IB_WR_RDMA_READ)
		return;
	wqe->flags &= ~IB_SEND_INLINE;
	wqe->num_sge = 1;
	if (mtu > 600 && !any(12))
		wqe->length = 600;	/* its pages are referenced */
	wqe->sge[0] = (struct ib_sge){ .addr = VA + any(100), .length = wqe->length, .lkey = lkey };
	if (!any(30))
		wqe->sge[0].lkey ^= 1;
}

/* Any list, and any state that it finds: the same for the same @n. In two rounds. */
static struct srn_qp *send_any(struct kunit *test, u32 n, bool whole)
{
	struct srn_qp *qp;
	struct srn_mem *mem;
	u32 i, num, at;
	int budget;
	u64 here;

	seed = n;
	num = 2 + any(MANY - 1);
	qp = new_packer(test, num, 64);
	qp->mtu = any(4) ? 1024 : 256;
	qp->ibqp.pd = fake_pd(test, qp->dev);
	qp->who.pd = qp->ibqp.pd;
	mem = fake_mr(test, qp->dev, qp->ibqp.pd, VA, 1024, 0, 0);
	for (at = 0; at < 1024; at++)
		*(u8 *)srn_mem_span(mem, VA + at, &here) = byte_at(at);
	for (i = 0; i < num; i++)
		make_any(srn_sq_wqe(&qp->sq, i), qp->mtu, mem->key);
	qp->max_rd_atomic = 1;
	qp->window.cwnd = any(2) ? SRN_RUN_MAX : 2 + any(40);
	qp->window.ssthresh = qp->window.cwnd;	/* a young one lets packs go further */
	qp->rtt.srtt_ns = any(2) ? 1000 : 0;
	if (!any(6))
		srn_credit_start(&qp->credit, true);
	budget = any(2) ? SRN_ROUND_BUDGET : 1 + any(20);
	WRITE_ONCE(srn_run_stopped, !whole);
	local_bh_disable();
	srn_requester_run(qp, &budget);
	local_bh_enable();
	run(qp);
	WRITE_ONCE(srn_run_stopped, false);
	return qp;
}

static void expect_same_window(struct kunit *test, const struct srn_window *a, const struct srn_window *b)
{
	KUNIT_EXPECT_EQ(test, a->una, b->una);
	KUNIT_EXPECT_EQ(test, a->end, b->end);
	KUNIT_EXPECT_EQ(test, a->at.psn, b->at.psn);
	KUNIT_EXPECT_EQ(test, a->at.index, b->at.index);
	KUNIT_EXPECT_EQ(test, a->unasked, b->unasked);
	KUNIT_EXPECT_EQ(test, a->doubt, b->doubt);
	KUNIT_EXPECT_EQ(test, a->timed, b->timed);
	KUNIT_EXPECT_EQ(test, a->timed_psn, b->timed_psn);
	KUNIT_EXPECT_EQ(test, srn_window_reads(a), srn_window_reads(b));
}

static void expect_same(struct kunit *test, struct srn_qp *a, struct srn_qp *b)
{
	static const enum srn_counter counters[] = {
		SRN_CNT_SENT_PKTS, SRN_CNT_SENT_BYTES, SRN_CNT_RDMA_SENDS, SRN_CNT_LIMITED, SRN_CNT_RETRANS,
	};
	u32 i;

	expect_same_window(test, &a->window, &b->window);
	for (i = 0; i < a->sq.entries; i++) {
		const struct srn_wqe *one = srn_sq_wqe(&a->sq, i), *other = srn_sq_wqe(&b->sq, i);

		KUNIT_EXPECT_EQ(test, one->started, other->started);
		KUNIT_EXPECT_EQ(test, one->status, other->status);
		KUNIT_EXPECT_EQ(test, one->first_psn, other->first_psn);
		KUNIT_EXPECT_EQ(test, one->last_psn, other->last_psn);
		KUNIT_EXPECT_EQ(test, one->done_psn, other->done_psn);
		KUNIT_EXPECT_EQ(test, one->chunk, other->chunk);
	}
	for (i = 0; i < ARRAY_SIZE(counters); i++)
		KUNIT_EXPECT_EQ_MSG(test, count(a, counters[i]), count(b, counters[i]), "counter %u", i);
	KUNIT_EXPECT_EQ(test, a->state, b->state);
	KUNIT_EXPECT_EQ(test, a->pace.sent, b->pace.sent);
	KUNIT_EXPECT_EQ(test, a->credit.ssn, b->credit.ssn);
	KUNIT_EXPECT_EQ(test, srn_clock_is_set(&a->clock, SRN_ALARM_ACK),
			srn_clock_is_set(&b->clock, SRN_ALARM_ACK));
}

/* Whatever list it is: what leaves as packs is what would leave as packets, and leaves the same behind. */
static void srn_requester_pack_does_as_packets_test(struct kunit *test)
{
	struct all_seen *whole, *single;
	struct srn_qp *a, *b;
	u32 n, packs = 0;

	whole = kunit_kzalloc(test, sizeof(*whole), GFP_KERNEL);
	single = kunit_kzalloc(test, sizeof(*single), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, whole);
	KUNIT_ASSERT_NOT_NULL(test, single);
	migrate_disable();
	for (n = 0; n < 150 && test->status != KUNIT_FAILURE; n++) {
		a = send_any(test, n, true);
		see_all(whole);
		b = send_any(test, n, false);
		see_all(single);
		expect_same(test, a, b);
		KUNIT_EXPECT_EQ(test, whole->num, single->num);
		KUNIT_EXPECT_MEMEQ(test, whole->msg, single->msg, sizeof(whole->msg[0]) * whole->num);
		packs += count(a, SRN_CNT_SENT_RUNS);
		KUNIT_EXPECT_EQ(test, count(b, SRN_CNT_SENT_RUNS), 0);
	}
	migrate_enable();
	KUNIT_EXPECT_EQ_MSG(test, n, 150, "the first that differs, and one");
	KUNIT_EXPECT_GT(test, packs, 100);
}

static struct kunit_case srn_requester_pack_same_cases[] = {
	KUNIT_CASE(srn_requester_pack_does_as_packets_test),
	{}
};

static struct kunit_suite srn_requester_pack_same_suite = {
	.name = "srn_requester_pack_same",
	.test_cases = srn_requester_pack_same_cases,
};

kunit_test_suite(srn_requester_pack_same_suite);
