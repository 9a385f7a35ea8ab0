/* SPDX-License-Identifier: GPL-2.0-only */
/* Who pays for packets that have been sent and wait in the queues of this host: before
 * a qdisc, for a neighbour's address, in a driver's ring. A QP without a window is stopped
 * by nothing else; it has a payer of its own, so that what a dead neighbour holds back
 * stops nobody but who sends there.
 *
 * A payer is a sock, that packets can be charged to it by the core's code: they may
 * outlive QP and module. For the same reason nobody is called when they are gone; who
 * waits for room looks again.
 */
#ifndef SRN_PAYER_H
#define SRN_PAYER_H

#include <linux/types.h>

struct net;
struct sk_buff;
struct sock;

struct srn_payer {
	struct sock *sk;	/* NULL: nobody pays, there is always room */
	u32 wait_ns;		/* before the next look; owner of the turn */
};

/**
 * srn_payer_open() - make one
 * @payer: zeroed or closed
 * @net: of its packets
 * @like: to security modules its packets are that socket's; NULL in unit tests, where none look
 *
 * May sleep. 0 or -ENOMEM.
 */
int srn_payer_open(struct srn_payer *payer, struct net *net, const struct sock *like);
/** srn_payer_close() - what is charged is still counted, by the core */
void srn_payer_close(struct srn_payer *payer);

/** srn_payer_pays() - whether packets are charged at all; @payer may be NULL */
static inline bool srn_payer_pays(const struct srn_payer *payer)
{
	return payer && payer->sk;
}

/** srn_payer_charge() - a packet as it will be sent; its truesize must not change any more */
void srn_payer_charge(struct srn_payer *payer, struct sk_buff *skb);

/**
 * srn_payer_has_room() - whether little enough waits (SRN_UNSENT_BYTES)
 *
 * If not, srn_payer_wait() says when to look again: soon, and later each time. While
 * queues move at all, the next look finds room.
 */
bool srn_payer_has_room(struct srn_payer *payer);
/** srn_payer_wait() - nanoseconds until it makes sense to look again */
u32 srn_payer_wait(struct srn_payer *payer);

#endif
