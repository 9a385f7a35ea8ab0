/* SPDX-License-Identifier: GPL-2.0-only */
/* The one ACK or NAK that a round of a RC QP ends with. Decisions are collected
 * while packets are executed and go out together, behind the READ and atomic
 * answers that come before them in PSN order. Owner of the turn only.
 */
#ifndef SRN_ACK_H
#define SRN_ACK_H

#include <linux/types.h>

#include "hold.h"

struct srn_qp;

/* Written by ack.c only. */
struct srn_ack {
	bool pending;		/* an ACK or NAK goes out at the end of the round */
	bool fatal;		/* it is a NAK and the QP's last word */
	u8 done_any : 1;
	u8 untold : 1;		/* of done_psn nobody asked, and nothing told since */
	u8 next_came : 1;	/* the packet behind the refused one, since the NAK */
	u8 dropped : 1;		/* packets came ahead of the expected one, up to @ahead */
	u8 holed : 1;		/* the NAK that would have brought them again was withdrawn */
	u8 again_any : 1;	/* @again came: the last packet behind this gap of those that came
				 * again and are held, and after a RNR NAK of all
				 */
	u8 news : 1;		/* the peer was not told all of what is held: it has SACKs */
	u8 gone_any : 1;
	u8 syndrome;		/* of what is pending */
	u8 nak_sent;		/* syndrome of the NAK out for this PSN, one per gap; or 0 */
	u8 naks;		/* NAKs of gaps since the last ACK */
	u8 sacks;		/* of this gap, as far as they are counted */
	u32 gone;		/* if gone_any, the first of what was let go of and is not asked for
				 * yet: the peer sends nothing again that it was told is here
				 */
	u32 twice;		/* request packets that came a second time in vain */
	u64 sacks_ns;		/* ktime of the first of @sacks */
	u64 tells_ns;		/* not before this (ktime) is the next one sent */
	u64 resumes_ns;		/* RNR NAK: when it has left, the peer does not go on before this
				 * (ktime)
				 */
	u32 psn;		/* of what is pending */
	u32 ahead;
	u32 again;
	u32 done_psn;		/* newest SEND or WRITE packet executed, if done_any */
};

/** srn_ack_reset() - as in RESET: nothing was received, nothing is owed */
void srn_ack_reset(struct srn_qp *qp);

/**
 * srn_ack_leave() - tell what was executed, whether or not somebody asked: who asks later finds nobody
 *
 * The peer may have asked for no ACK yet, and has a QP that works. Owner of the turn, in RTR, RTS or SQD, or in
 * ERR, if no NAK tells of that.
 */
void srn_ack_leave(struct srn_qp *qp);

/**
 * srn_ack_done() - SEND or WRITE packets up to @psn were executed, one or several that followed
 * each other
 * @asked: how many of them want an ACK
 */
void srn_ack_done(struct srn_qp *qp, u32 psn, u32 asked);

/**
 * srn_ack_again() - the SEND or WRITE packet @psn came a second time: say again how far we are
 *
 * Up to the READ or atomic that came after it, if one did: its answer says the rest.
 */
void srn_ack_again(struct srn_qp *qp, u32 psn);

/**
 * srn_ack_gap() - @psn came, which is ahead of the expected PSN: NAK, sequence error
 * @held: what became of it
 *
 * One for each gap: what else is in flight draws nothing. What the peer sends again
 * and is lost again draws another.
 */
void srn_ack_gap(struct srn_qp *qp, u32 psn, enum srn_held held);

/**
 * srn_ack_filled() - what had been held up to the expected PSN was executed
 * @done: there were SENDs or WRITEs among it; of others the answers say how far we are
 *
 * The peer, which may wait for nothing else, is told at once how far we are.
 */
void srn_ack_filled(struct srn_qp *qp, bool done);

/**
 * srn_ack_shed() - of what was held the requests from @first to @last were let go of
 *
 * Who was told that they were held is asked for them when @first is expected.
 */
void srn_ack_shed(struct srn_qp *qp, u32 first, u32 last);

/** srn_ack_twice() - a request came that was executed; @vain: and it asks for no answer again */
void srn_ack_twice(struct srn_qp *qp, bool vain);

/** srn_ack_rnr() - the expected packet finds no receive WQE; what follows it draws nothing */
void srn_ack_rnr(struct srn_qp *qp);

/** srn_ack_fatal() - the last word of this QP, about the request at @psn */
void srn_ack_fatal(struct srn_qp *qp, u8 syndrome, u32 psn);

/**
 * srn_ack_expected() - the expected packet is here: no gap any more
 *
 * A NAK that has not left yet is withdrawn. If a packet was dropped for being ahead, and
 * does not come again by itself, srn_ack_send() asks for it.
 * Return: true if an ACK has to leave: the peer is owed one in place of it.
 */
bool srn_ack_expected(struct srn_qp *qp);

/** srn_ack_is_calm() - whether srn_ack_expected() would change nothing, and does not if packets follow */
bool srn_ack_is_calm(const struct srn_ack *ack);

/** srn_ack_implied() - an answer with @psn went out, which acknowledges all before it */
void srn_ack_implied(struct srn_qp *qp, u32 psn);

/** srn_ack_conclude() - all packets at hand have had their say; part of srn_ack_send() */
void srn_ack_conclude(struct srn_qp *qp);

/** srn_ack_send() - send what is pending */
void srn_ack_send(struct srn_qp *qp);

#endif
