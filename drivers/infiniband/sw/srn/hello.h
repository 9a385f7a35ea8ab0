/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether the peer of a RC connection understands SACK packets: it is asked, with the first data
 * and now and then, a few times, and who does not understand drops the question.
 */
#ifndef SRN_HELLO_H
#define SRN_HELLO_H

#include <linux/types.h>

struct sk_buff;
struct srn_qp;

/* Owner of the turn only. */
struct srn_peer {
	bool sacks;		/* it understands them */
	bool due;		/* ask with what leaves next */
	u8 left;		/* so many times more */
	bool parts;		/* it answers all that is asked for again, in order */
	u32 ahead;		/* PSNs that it can hold */
};

/** srn_hello_start() - INIT to RTR: nobody knows the peer */
void srn_hello_start(struct srn_qp *qp);

/** srn_hello_later() - the peer may not have heard the last one, if it did not answer: once more */
static inline void srn_hello_later(struct srn_peer *peer)
{
	peer->due = !peer->sacks && peer->left;
}

/** srn_hello_send() - what is due, to a peer that is sent requests just now */
void srn_hello_send(struct srn_qp *qp);

/**
 * srn_hello_heard() - the peer sent a SACK of what is in flight: an answer to the hello, too
 *
 * The other one may be lost, and the peer sends no NAKs any more. Return: false if nobody is asked.
 */
bool srn_hello_heard(struct srn_qp *qp);

/** srn_hello_rx() - a SACK packet of another kind than SRN_SACK_HELD, from RTR on; not consumed */
void srn_hello_rx(struct srn_qp *qp, struct sk_buff *skb);

#endif
