/* SPDX-License-Identifier: GPL-2.0-only */
/* A QP that packets can be given to, without a netdev: what the tests of rounds share. */
#ifndef SRN_TESTS_FAKE_ROUND_H
#define SRN_TESTS_FAKE_ROUND_H

#include "../cq.h"
#include "../parse.h"
#include "../qp.h"
#include "../round.h"
#include "../rxq.h"
#include "fake.h"
#include "fake_window.h"

#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/ip.h>
#include <linux/log2.h>
#include <linux/udp.h>
#include <net/net_namespace.h>

/* 192.0.2.x (RFC 5737) */
#define HERE	0xc0000201
#define PEER	0xc0000202
#define OTHER	0xc0000203

/* A QP, and the thread that owns its turn where a test has one. */
struct owner {
	struct srn_qp qp;
	struct completion has_it;
};

/* Ready to receive. Its address is nobody's: answers are counted and end there. */
static inline struct owner *new_owner(struct kunit *test)
{
	struct owner *o = kunit_kzalloc(test, sizeof(*o), GFP_KERNEL);
	struct srn_qp *qp;

	KUNIT_ASSERT_NOT_NULL(test, o);
	init_completion(&o->has_it);
	qp = &o->qp;
	qp->dev = fake_dev(test);
	qp->dev->net = &init_net;
	qp->known = fake_known(test);
	qp->ibqp.qp_type = IB_QPT_RC;
	qp->svc = srn_service_of(IB_QPT_RC);
	qp->who = (struct srn_who) { .dev = qp->dev, .kernel = true };
	qp->state = IB_QPS_RTR;
	qp->path.dev = qp->dev;
	qp->path.v4.saddr = htonl(HERE);
	qp->path.v4.daddr = htonl(PEER);
	srn_path_set_ip4(&qp->path);
	qp->rq.wqe = fake_rwqe(test);
	fake_reads_room(test, &qp->window);
	srn_round_init(qp);
	return o;
}

/* Some answers came, and none of them was late: what is lost now is lost by chance. */
static inline void know_path(struct srn_qp *qp)
{
	srn_window_start(&qp->window, 0, qp->mtu);
	qp->window.cwnd = qp->window.full / 4;
	srn_crowd_sample(&qp->window.crowd, NSEC_PER_MSEC, NSEC_PER_MSEC, 0, qp->window.cwnd,
			 false);
}

static inline void put_ip(struct sk_buff *skb)
{
	struct iphdr *ip;

	skb_reset_network_header(skb);
	ip = skb_put_zero(skb, sizeof(*ip));
	ip->version = 4;
	ip->saddr = htonl(PEER);
	ip->daddr = htonl(HERE);
	skb_pull(skb, sizeof(*ip));
}

/* A packet of the peer as the parser leaves it: headers of zeros, no payload. */
static inline struct sk_buff *new_packet(struct kunit *test, u8 opcode, u32 psn)
{
	u32 hdr_len = srn_opcode_hdr_len(opcode);
	struct sk_buff *skb = alloc_skb(256, GFP_ATOMIC);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	put_ip(skb);
	skb_put_zero(skb, sizeof(struct udphdr) + hdr_len);
	*srn_pkt(skb) = (struct srn_pkt) {
		.opcode = opcode, .hdr_len = hdr_len, .bth = sizeof(struct udphdr), .psn = psn,
	};
	return skb;
}

static inline struct srn_cq *new_cq(struct kunit *test, struct srn_qp *qp, u32 entries)
{
	struct srn_cq *cq = kunit_kzalloc(test, sizeof(*cq), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, cq);
	spin_lock_init(&cq->lock);
	cq->ibcq.device = &qp->dev->ibdev;
	cq->entries = entries;
	cq->page = fake_page(test);
	cq->cqes = kunit_kcalloc(test, entries, sizeof(*cq->cqes), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, cq->cqes);
	return cq;
}

/* For receives. */
static inline void give_cq(struct kunit *test, struct srn_qp *qp)
{
	qp->rcq = new_cq(test, qp, 4);
}

/* A kernel user's SENDs without bytes, posted. */
static inline void give_sends(struct kunit *test, struct srn_qp *qp, u32 num)
{
	struct srn_sq *sq = &qp->sq;
	u32 i, entries = roundup_pow_of_two(num + 1);

	*sq = (struct srn_sq){ .entries = entries, .max_wr = entries, .tail = num };
	sq->lim = (struct srn_wqe_limits){ .who = &qp->who, .svc = qp->svc };
	sq->wqe_size = srn_wqe_size(1, 0);
	sq->wqes = kunit_kcalloc(test, entries, sq->wqe_size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, sq->wqes);
	for (i = 0; i < num; i++)
		srn_sq_wqe(sq, i)->opcode = IB_WR_SEND;
}

/* Until the NAPI has run all that was left to it. */
static inline bool wait_idle(struct srn_qp *qp)
{
	int i;

	for (i = 0; i < 1000 && atomic_read(&qp->turn.bits); i++)
		msleep(1);
	return i < 1000;
}

static inline void stop_clock(void *qp)
{
	srn_clock_stop(&((struct srn_qp *)qp)->clock);
}

static inline void give_clock(struct kunit *test, struct srn_qp *qp)
{
	srn_clock_init(&qp->clock, &qp->turn);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, stop_clock, qp));
}

#endif
