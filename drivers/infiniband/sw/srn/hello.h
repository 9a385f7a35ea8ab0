/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether the peer of a RC connection understands SACK packets: it is asked, with requests that
 * leave behind its first answer, and now and then, a few times, if it does not answer. To who does not understand
 * it the question is a WRITE of no bytes that came a second time, of which nothing follows. The same here, of
 * what the peer asks: the requester asks, the responder answers. Then both know that the other one understands
 * SACKs, and who asked that the other one knows: the answer may be lost. What was told while they connected
 * (ece.h) spares the question.
 */
#ifndef SRN_HELLO_H
#define SRN_HELLO_H

#include <linux/jiffies.h>
#include <linux/limits.h>
#include <linux/types.h>

#include "psn.h"

struct sk_buff;
struct srn_qp;

/* Owner of the turn only. */
struct srn_peer {
	/* What is known of it. */
	bool sacks;		/* it understands SACKs, */
	bool knows;		/* and that this side does: until then it may hold no more than any peer */
	bool parts;		/* it answers all that is asked for again, in order */
	/* When it is asked. */
	bool due;		/* with what leaves next, if it may */
	u8 left;		/* so many times more, in vain */
	bool only_reads;	/* nothing but READs and atomics has begun, and few PSNs */
	bool fence;		/* it was asked beside them: nothing else begins until they are answered */
	bool owed;		/* an answer: its hello came in this round */
	u32 owed_psn;		/* with this PSN */
	u32 acked;		/* where this is the oldest PSN that was not acknowledged: the one in
				 * front of it is that of a SEND or WRITE; or SRN_HELLO_NO_PSN
				 */
	u32 ahead;		/* PSNs that it can hold */
	u32 asked;		/* the last time, in jiffies */
};

/* Between hellos to who answers them: as long as memory is scarce at least (hold.h). */
#define SRN_HELLO_PAUSE	HZ

/* Has more bits than one. */
#define SRN_HELLO_NO_PSN	U32_MAX

/** srn_hello_start() - INIT to RTR: nobody knows the peer */
void srn_hello_start(struct srn_qp *qp);

/**
 * srn_hello_introduce() - INIT to RTR, behind srn_hello_start(): others said that the peer understands SACKs,
 * and whether it @tells of marks and answers in @parts, so that it is not asked
 *
 * But where it matters that it has heard it of this side, too.
 */
void srn_hello_introduce(struct srn_qp *qp, bool tells, bool parts);

/** srn_hello_later() - the peer may not have heard the last one, if it did not answer: once more */
static inline void srn_hello_later(struct srn_peer *peer)
{
	peer->due = !peer->sacks && peer->left;
}

/** srn_hello_doubt() - it does not do what it said: that may have been somebody else */
static inline void srn_hello_doubt(struct srn_peer *peer)
{
	peer->knows = false;
}

/**
 * srn_hello_again() - more might be out if the peer were known to know us, or to have more room than it said: it is
 * asked
 *
 * Who answers is asked without end, so not at once again: what it said then may be over later.
 */
static inline void srn_hello_again(struct srn_peer *peer)
{
	peer->due = peer->left && !(peer->sacks && (u32)jiffies - peer->asked < SRN_HELLO_PAUSE);
}

/** srn_hello_after_ack() - an ACK has moved the oldest PSN to @una: a hello may leave there */
static inline void srn_hello_after_ack(struct srn_peer *peer, u32 una)
{
	peer->acked = una;
}

/**
 * srn_hello_after_answer() - that of a READ or atomic has: none may with the PSN in front of it
 *
 * Who has begun nothing else asks with another PSN.
 */
static inline void srn_hello_after_answer(struct srn_peer *peer)
{
	peer->acked = SRN_HELLO_NO_PSN;
}

/**
 * srn_hello_psn() - the PSN in front of the oldest that was not acknowledged, @una, if a WRITE of no bytes may have it
 *
 * To the peer that is a SEND or WRITE which comes a second time. Return: SRN_HELLO_NO_PSN if it may not.
 */
static inline u32 srn_hello_psn(const struct srn_peer *peer, u32 una)
{
	return peer->acked == una ? srn_psn_add(una, -1) : SRN_HELLO_NO_PSN;
}

/** srn_hello_begin() - a request has begun that is sent; @answered: it is a READ or an atomic */
static inline void srn_hello_begin(struct srn_peer *peer, bool answered)
{
	peer->only_reads &= answered;
	peer->fence &= answered;
}

/**
 * srn_hello_send() - what is due, if it may leave: to a peer that is sent a new request right
 * behind it, and so is there
 *
 * What had no memory stays due.
 */
void srn_hello_send(struct srn_qp *qp);

/**
 * srn_hello_draws_any() - whether an ACK with any PSN may be the peer's to a hello
 *
 * Who had READs alone has none to name (rxe: that of an older connection, or 0xffffff).
 */
bool srn_hello_draws_any(const struct srn_qp *qp);

/**
 * srn_hello_heard() - the peer sent a SACK of what is in flight: an answer to the hello, too
 * @skb: that; not consumed
 *
 * The other one may be lost, and the peer sends no NAKs any more. Return: false if nobody is asked.
 */
bool srn_hello_heard(struct srn_qp *qp, struct sk_buff *skb);

/**
 * srn_hello_rx_answer() - a SACK packet of another kind than SRN_SACK_HELD, from RTR on; not consumed
 *
 * What is no answer to a hello of ours is not heard.
 */
void srn_hello_rx_answer(struct srn_qp *qp, struct sk_buff *skb);

/**
 * srn_hello_take() - a RC request with a PSN behind the expected one, from RTR on; not consumed
 *
 * Return: true if it was a hello, which srn_hello_answer() is to answer. False: it is what it seems
 * to be.
 */
bool srn_hello_take(struct srn_qp *qp, struct sk_buff *skb);

/**
 * srn_hello_answer() - one answer to all hellos of a round, if any came
 * @receives: whether the QP still takes requests: behind its last NAK it says nothing
 *
 * BH disabled.
 */
void srn_hello_answer(struct srn_qp *qp, bool receives);

#endif
