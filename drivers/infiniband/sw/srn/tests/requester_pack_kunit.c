// SPDX-License-Identifier: GPL-2.0-only
/* Which messages leave as a pack: those that would have left as packets, and as these would. */
#include "../limits.h"
#include "../pace.h"
#include "../requester.h"
#include "../score.h"
#include "fake_pack.h"

#include <linux/jhash.h>
#include <linux/skbuff.h>
#include <linux/sort.h>

#define WHOLE	(NETIF_F_GSO | NETIF_F_SG | NETIF_F_GSO_UDP_TUNNEL | NETIF_F_GSO_FRAGLIST)
#define MANY	40

/* What the wire was given, and by which netdev. */
static struct sk_buff_head sent;
static struct net_device *way;

static int collect(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	skb_dst_drop(skb);
	__skb_queue_tail(&sent, skb);
	return 0;
}

static void forget(void *nothing)
{
	__skb_queue_purge(&sent);
}

/* A kernel user's QP with @num messages of @len inline bytes, numbered, by a netdev that takes packs. */
static struct srn_qp *new_packer(struct kunit *test, u32 num, u32 len)
{
	struct srn_qp *qp = &new_owner(test)->qp;
	struct srn_wqe *wqe;
	u32 i;

	way = new_netdev(test, 0);
	way->features = WHOLE;
	way->hw_enc_features = WHOLE;
	way->gso_max_segs = GSO_MAX_SEGS;
	way->gso_ipv4_max_size = GSO_LEGACY_MAX_SIZE;
	__skb_queue_head_init(&sent);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, forget, NULL));
	qp->state = IB_QPS_RTS;
	qp->mtu = 1024;
	qp->dest_qpn = QPN;
	qp->sq_psn = PSN;
	qp->req.train.pace = &qp->pace;
	srn_pace_reset(&qp->pace);
	srn_pace_set_mtu(&qp->pace, qp->mtu);
	give_sends(test, qp, num);
	qp->sq.wqe_size = srn_wqe_size(1, SRN_MAX_INLINE);
	qp->sq.wqes = kunit_kcalloc(test, qp->sq.entries, qp->sq.wqe_size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, qp->sq.wqes);
	for (i = 0; i < num; i++) {
		wqe = srn_sq_wqe(&qp->sq, i);
		wqe->opcode = IB_WR_RDMA_WRITE;
		wqe->flags = IB_SEND_INLINE;
		wqe->length = len;
		wqe->rdma.addr = i;
		memset(wqe->data, i, len);
	}
	give_clock(test, qp);
	srn_requester_start(qp);
	qp->window.cwnd = SRN_RUN_MAX;
	fake_route(test, &qp->path, collect);
	give_netdev(test, &qp->path, way);
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_SQ));
	return qp;
}

static u64 count(const struct srn_qp *qp, enum srn_counter counter)
{
	return srn_stats_sum(qp->dev, counter);
}

/* One round. */
static void run(struct srn_qp *qp)
{
	int budget = SRN_ROUND_BUDGET;

	local_bh_disable();
	srn_requester_run(qp, &budget);
	local_bh_enable();
}

/* How many packets the next skb that left has; 0: none is left. */
static u32 next_skb(struct kunit *test, struct srn_pack_cut *cut, bool *packed)
{
	struct sk_buff *skb = skb_peek(&sent);

	if (!skb)
		return 0;
	*packed = srn_pack_cut_begin(cut, skb, sizeof(struct iphdr) + sizeof(struct udphdr));
	if (*packed)
		return cut->tail.num;
	return skb_is_gso(skb) ? skb_shinfo(skb)->gso_segs : 1;
}

/* What left: how many packets in each skb, in its order, then 0; packs have a minus. */
static void expect_sent(struct kunit *test, const int *want)
{
	struct srn_pack_cut cut;
	bool packed;
	int num;

	for (; *want; want++) {
		num = next_skb(test, &cut, &packed);
		KUNIT_EXPECT_EQ(test, packed ? -num : num, *want);
		kfree_skb(__skb_dequeue(&sent));
	}
	KUNIT_EXPECT_EQ(test, skb_queue_len(&sent), 0);
}

#define EXPECT_SENT(_test, ...)	expect_sent(_test, (const int []){ __VA_ARGS__, 0 })

/* A list goes at once, each message as it is, and only the last asks. */
static void srn_requester_pack_list_test(struct kunit *test)
{
	struct srn_pack_cut cut;
	struct srn_qp *qp;
	bool packed;
	u32 i = 0;

	migrate_disable();
	qp = new_packer(test, 8, 9);
	run(qp);
	migrate_enable();
	KUNIT_ASSERT_EQ(test, next_skb(test, &cut, &packed), 8);
	KUNIT_ASSERT_TRUE(test, packed);
	KUNIT_EXPECT_EQ(test, be32_get_bits(cut.bth.apsn, SRN_BTH_PSN), PSN);
	do {
		const u8 *at = cut.skb->data + cut.msg.at;
		const struct srn_reth *reth = (const void *)at;

		KUNIT_EXPECT_EQ(test, cut.msg.opcode, A_WRITE);
		KUNIT_EXPECT_EQ(test, cut.msg.len, 9);
		KUNIT_EXPECT_EQ(test, cut.msg.flags, i == 7 ? SRN_PKT_ACKREQ : 0);
		KUNIT_EXPECT_EQ(test, be64_to_cpu(reth->va), i);
		KUNIT_EXPECT_EQ(test, at[sizeof(*reth)], i);
		KUNIT_EXPECT_EQ(test, at[sizeof(*reth) + 8], i);
		i++;
	} while (srn_pack_cut_next(&cut));
	EXPECT_SENT(test, -8);
	KUNIT_EXPECT_EQ(test, count(qp, SRN_CNT_SENT_PKTS), 8);
	KUNIT_EXPECT_EQ(test, count(qp, SRN_CNT_SENT_BYTES), 8 * (12 + 16 + 12 + 4));
	KUNIT_EXPECT_EQ(test, count(qp, SRN_CNT_SENT_RUNS), 1);
	KUNIT_EXPECT_EQ(test, srn_window_inflight(&qp->window), 8);
	KUNIT_EXPECT_EQ(test, qp->window.unasked, 0);
	KUNIT_EXPECT_NULL(test, qp->req.pack.skb);
}

/* In a long one, each thirty-second asks, as if they went one by one. */
static void srn_requester_pack_asks_test(struct kunit *test)
{
	struct srn_pack_cut cut;
	struct srn_qp *qp;
	bool packed;
	u32 i = 0;

	migrate_disable();
	qp = new_packer(test, MANY, 8);
	run(qp);
	migrate_enable();
	KUNIT_ASSERT_EQ(test, next_skb(test, &cut, &packed), MANY);
	do {
		i++;
		KUNIT_EXPECT_EQ(test, cut.msg.flags, i == 32 || i == MANY ? SRN_PKT_ACKREQ : 0);
	} while (srn_pack_cut_next(&cut));
	EXPECT_SENT(test, -MANY);
}

/* That a young connection's goes on beyond the window lasts no longer than it does, and who fills it asks. */
static void srn_requester_pack_young_test(struct kunit *test)
{
	static const u32 lens[] = { 0, 8, 64, 200 };
	struct srn_pack_cut cut;
	struct srn_qp *qp;
	bool packed, asks;
	u32 i, num;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		migrate_disable();
		qp = new_packer(test, 100, lens[i]);
		qp->window.cwnd = SRN_WINDOW_FEW;
		run(qp);
		migrate_enable();
		num = next_skb(test, &cut, &packed);
		KUNIT_EXPECT_TRUE(test, packed);
		do
			asks = cut.msg.flags & SRN_PKT_ACKREQ;
		while (srn_pack_cut_next(&cut));
		KUNIT_EXPECT_EQ(test, asks, num >= SRN_WINDOW_FEW);
		__skb_queue_purge(&sent);
		KUNIT_EXPECT_EQ(test, srn_window_inflight(&qp->window), max(num, SRN_WINDOW_FEW));
		KUNIT_EXPECT_EQ(test, qp->window.lent, 0);
		KUNIT_EXPECT_EQ(test, qp->window.unasked, 0);
		KUNIT_EXPECT_EQ(test, count(qp, SRN_CNT_RETRANS), 0);
		/* What comes of it makes it grow as if it had not been lent: small packets say little of long ones. */
		srn_window_acked(&qp->window, qp->window.at.psn);
		KUNIT_EXPECT_EQ(test, qp->window.cwnd, 2 * SRN_WINDOW_FEW);
	}
}

struct row {
	const char *desc;
	u32 num, len;
	void (*prepare)(struct srn_qp *qp);
	int sent[8];
};

static void a_fence(struct srn_qp *qp)
{
	srn_sq_wqe(&qp->sq, 3)->flags |= IB_SEND_FENCE;
}

static void a_read(struct srn_qp *qp)
{
	srn_sq_wqe(&qp->sq, 3)->opcode = IB_WR_RDMA_READ;
	qp->max_rd_atomic = 1;
}

static void a_long_one(struct srn_qp *qp)
{
	srn_sq_wqe(&qp->sq, 3)->length = 1500;
}

/* As it begins, and as little as it may get. */
static void young(struct srn_qp *qp)
{
	qp->window.cwnd = SRN_WINDOW_FEW;
}

static void young_a_long_one(struct srn_qp *qp)
{
	young(qp);
	srn_sq_wqe(&qp->sq, 20)->length = 600;
}

static void young_a_long_one_in_time(struct srn_qp *qp)
{
	young(qp);
	a_long_one(qp);
}

static void young_a_read(struct srn_qp *qp)
{
	young(qp);
	srn_sq_wqe(&qp->sq, 20)->opcode = IB_WR_RDMA_READ;
	qp->max_rd_atomic = 1;
}

static void young_longer_ones(struct srn_qp *qp)
{
	u32 i;

	young(qp);
	for (i = 20; i < 32; i++)
		srn_sq_wqe(&qp->sq, i)->length = 200;
}

static void young_few_segments(struct srn_qp *qp)
{
	young(qp);
	way->gso_max_segs = 20;
}

static void young_little_reach(struct srn_qp *qp)
{
	young(qp);
	srn_window_set_reach(&qp->window, 24);
}

static void young_stopped(struct srn_qp *qp)
{
	young(qp);
	WRITE_ONCE(srn_run_stopped, true);
}

static void young_and_busy(struct srn_qp *qp)
{
	young(qp);
	qp->window.una = srn_psn_add(PSN, -4);
}

static void grew_and_lost(struct srn_qp *qp)
{
	young(qp);
	qp->window.ssthresh = SRN_WINDOW_FEW;
}

static void a_little_window(struct srn_qp *qp)
{
	qp->window.cwnd = 3;
}

/* Of those before it none is done. */
static void many_begun(struct srn_qp *qp)
{
	qp->sq.una -= SRN_WINDOW_WQES - 3;
}

static void a_doubt(struct srn_qp *qp)
{
	qp->window.doubt = SRN_RUN_DOUBT;
}

static void an_end_of_doubt(struct srn_qp *qp)
{
	qp->window.doubt = 2;
}

static void stopped(struct srn_qp *qp)
{
	WRITE_ONCE(srn_run_stopped, true);
}

static void no_features(struct srn_qp *qp)
{
	way->hw_enc_features = 0;
}

static void few_segments(struct srn_qp *qp)
{
	way->gso_max_segs = 3;
}

/* There is room for more than three, as these are shorter than the first. */
static void few_segments_of_less(struct srn_qp *qp)
{
	u32 i;

	few_segments(qp);
	for (i = 1; i < 7; i++)
		srn_sq_wqe(&qp->sq, i)->length = 0;
}

/* Who begins it asks for room for those behind it. */
static void a_short_one_first(struct srn_qp *qp)
{
	srn_sq_wqe(&qp->sq, 0)->length = 8;
}

static void short_datagrams(struct srn_qp *qp)
{
	way->gso_ipv4_max_size = SRN_PACK_BYTES;
}

static void probing(struct srn_qp *qp)
{
	qp->retry.probing = true;
}

/* Nothing but what is begun goes. */
static void sqd(struct srn_qp *qp)
{
	qp->state = IB_QPS_SQD;
}

static const struct row rows[] = {
	{ "all that fit", 64, 8, NULL, { -64 } },
	{ "one alone", 1, 8, NULL, { 1 } },
	{ "two", 2, 8, NULL, { -2 } },
	{ "of no bytes", 5, 0, NULL, { -5 } },
	{ "as long as may be", 7, 512, NULL, { -3, -3, 1 } },
	{ "longer", 2, 513, NULL, { 2 } },
	{ "longer than fits", 9, 256, NULL, { -7, -2 } },
	{ "a fence ends it", 6, 8, a_fence, { -3, -3 } },
	{ "a READ ends it", 6, 8, a_read, { -3, 1, -2 } },
	{ "what is long ends it", 6, 8, a_long_one, { -3, 2, -2 } },
	{ "the window ends it", 6, 8, a_little_window, { -3 } },
	{ "a young connection's goes at once", 32, 8, young, { -32 } },
	{ "as much of it as is one", 100, 8, young, { -64 } },
	{ "or as there is room for", 32, 64, young, { -24 } },
	{ "what is long is not in it", 32, 8, young_a_long_one, { -20 } },
	{ "and ends it", 32, 8, young_a_long_one_in_time, { -3, 2, -11 } },
	{ "nor a READ", 32, 8, young_a_read, { -20 } },
	{ "nor one that it has no room for", 32, 8, young_longer_ones, { -21 } },
	{ "nor more than the netdev takes", 32, 8, young_few_segments, { -20 } },
	{ "nor than the peer keeps", 32, 8, young_little_reach, { -24 } },
	{ "packets go as many as may", 32, 8, young_stopped, { 16 } },
	{ "beside others as many as may", 32, 8, young_and_busy, { -12 } },
	{ "and after a loss", 32, 8, grew_and_lost, { -16 } },
	{ "no more than may have begun", 6, 8, many_begun, { -3 } },
	{ "none after a loss", 4, 8, a_doubt, { 4 } },
	{ "some later", 6, 8, an_end_of_doubt, { 2, -4 } },
	{ "none where tests see packets", 4, 8, stopped, { 4 } },
	{ "none where they would be cut", 4, 8, no_features, { 4 } },
	{ "no more than the netdev takes", 7, 8, few_segments, { -3, -3, 1 } },
	{ "nor of less", 7, 64, few_segments_of_less, { -3, -3, 1 } },
	{ "longer ones behind a short one", 6, 64, a_short_one_first, { -6 } },
	{ "none where they are too long", 4, 8, short_datagrams, { 4 } },
	{ "a probe goes by itself", 4, 8, probing, { 1 } },
	{ "nothing", 4, 8, sqd, { 0 } },
};

KUNIT_ARRAY_PARAM_DESC(row, rows, desc);

static void srn_requester_pack_rows_test(struct kunit *test)
{
	const struct row *row = test->param_value;
	struct srn_qp *qp;

	migrate_disable();
	qp = new_packer(test, row->num, row->len);
	if (row->prepare)
		row->prepare(qp);
	run(qp);
	WRITE_ONCE(srn_run_stopped, false);
	migrate_enable();
	expect_sent(test, row->sent);
	KUNIT_EXPECT_NULL(test, qp->req.pack.skb);
}

/* What goes again goes as packets. */
static void srn_requester_pack_again_test(struct kunit *test)
{
	struct srn_qp *qp;

	migrate_disable();
	qp = new_packer(test, 5, 8);
	qp->sq.tail = 3;
	run(qp);
	EXPECT_SENT(test, -3);
	srn_window_seek(&qp->window, (struct srn_cursor){ .psn = PSN });
	qp->sq.tail = 5;
	run(qp);
	migrate_enable();
	EXPECT_SENT(test, 3, -2);
	KUNIT_EXPECT_EQ(test, count(qp, SRN_CNT_RETRANS), 3);
}

/* One that can't be read is not in it, nor what is behind it. */
static void srn_requester_pack_bad_key_test(struct kunit *test)
{
	struct srn_pack_cut cut;
	struct srn_wqe *wqe;
	struct srn_qp *qp;
	bool packed;

	migrate_disable();
	qp = new_packer(test, 5, 3);
	wqe = srn_sq_wqe(&qp->sq, 2);
	wqe->flags = 0;
	wqe->num_sge = 1;
	wqe->sge[0] = (struct ib_sge){ .addr = VA, .length = 3, .lkey = 0x1234 };
	run(qp);
	migrate_enable();
	KUNIT_EXPECT_EQ(test, next_skb(test, &cut, &packed), 2);
	KUNIT_EXPECT_TRUE(test, packed);
	/* Somebody is asked what has become of those that are. */
	KUNIT_EXPECT_EQ(test, qp->window.unasked, 0);
	EXPECT_SENT(test, -2, 1);
	KUNIT_EXPECT_EQ(test, wqe->status, SRN_V_LOC_PROT);
}

/* Each has its time at the pace, the same as by itself; and what is not to go yet does not. */
static u32 paced(struct kunit *test, bool whole)
{
	struct srn_qp *qp = new_packer(test, MANY, 200);

	srn_pace_limit(&qp->pace, SRN_PACE_USER, 100);	/* two packets of the MTU at once, and no more soon */
	WRITE_ONCE(srn_run_stopped, !whole);
	run(qp);
	WRITE_ONCE(srn_run_stopped, false);
	KUNIT_EXPECT_EQ(test, !!count(qp, SRN_CNT_SENT_RUNS), whole);
	KUNIT_EXPECT_TRUE(test, srn_pace_is_closed(&qp->pace));
	KUNIT_EXPECT_EQ(test, qp->window.unasked, 0);
	KUNIT_EXPECT_LT(test, count(qp, SRN_CNT_SENT_PKTS), MANY);
	__skb_queue_purge(&sent);
	return qp->pace.sent;
}

static void srn_requester_pack_pace_test(struct kunit *test)
{
	u32 whole, single;

	migrate_disable();
	whole = paced(test, true);
	single = paced(test, false);
	migrate_enable();
	KUNIT_EXPECT_EQ(test, whole, single);
}

/* One that asks for credits is the last. */
static void srn_requester_pack_credits_test(struct kunit *test)
{
	struct srn_qp *qp;
	u32 i;

	migrate_disable();
	qp = new_packer(test, 6, 8);
	for (i = 0; i < 6; i++)
		srn_sq_wqe(&qp->sq, i)->opcode = IB_WR_SEND;
	srn_credit_start(&qp->credit, true);
	srn_credit_heard(&qp->credit, srn_credit_code(3), 0, PSN);
	run(qp);
	migrate_enable();
	KUNIT_EXPECT_EQ(test, srn_window_inflight(&qp->window), 4);
	KUNIT_EXPECT_EQ(test, count(qp, SRN_CNT_LIMITED), 1);
	KUNIT_EXPECT_EQ(test, qp->window.unasked, 0);
	EXPECT_SENT(test, -4);
}

static struct srn_score *give_score(struct kunit *test, u32 una)
{
	struct srn_score *score = kunit_kzalloc(test, sizeof(*score), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, score);
	srn_score_start(score, una);
	score->owed = 10;
	return score;
}

/* A scoreboard, of requests or of answers, counts each as it does a packet. */
static void srn_requester_pack_owed_test(struct kunit *test)
{
	struct srn_qp *qp;
	u32 i;

	for (i = 0; i < 2; i++) {
		struct srn_score *score = give_score(test, PSN);

		migrate_disable();
		qp = new_packer(test, 6, 8);
		*(i ? &qp->gaps : &qp->score) = score;
		run(qp);
		qp->score = NULL;
		qp->gaps = NULL;
		migrate_enable();
		KUNIT_EXPECT_EQ(test, srn_window_inflight(&qp->window), 6);
		KUNIT_EXPECT_EQ(test, score->owed, 4);
		EXPECT_SENT(test, -6);
	}
}

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

static struct kunit_case srn_requester_pack_cases[] = {
	KUNIT_CASE(srn_requester_pack_list_test),
	KUNIT_CASE(srn_requester_pack_asks_test),
	KUNIT_CASE(srn_requester_pack_young_test),
	KUNIT_CASE_PARAM(srn_requester_pack_rows_test, row_gen_params),
	KUNIT_CASE(srn_requester_pack_again_test),
	KUNIT_CASE(srn_requester_pack_bad_key_test),
	KUNIT_CASE(srn_requester_pack_pace_test),
	KUNIT_CASE(srn_requester_pack_credits_test),
	KUNIT_CASE(srn_requester_pack_owed_test),
	KUNIT_CASE(srn_requester_pack_does_as_packets_test),
	{}
};

static struct kunit_suite srn_requester_pack_suite = {
	.name = "srn_requester_pack",
	.test_cases = srn_requester_pack_cases,
};
kunit_test_suite(srn_requester_pack_suite);
