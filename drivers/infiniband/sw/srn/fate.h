/* SPDX-License-Identifier: GPL-2.0-only */
/* The fate of a packet on its way, for tests: a channel that loses, doubles, delays, damages
 * and marks exactly the packets that it is told to.
 *
 * It stands in front of the gate (recv.c), behind the cut of trains: each packet meets it as a
 * wire would bring it, also those of a train that crossed the stack as one skb, of which what
 * drops skbs would take all or none. What is damaged is proven, or refused, as everything that arrives.
 *
 * Only in kernels for debugging, which have CONFIG_FAULT_INJECTION or CONFIG_PROVE_LOCKING, and
 * where CONFIG_RDMA_SRN_FATE asks for it ("make module FATE=1"); elsewhere there is nothing of
 * it. A module's parameter that only root may write has the rules,
 * one a line, and "clear", which forgets all rules and what they hold back:
 *
 *	echo 'drop class=request qpn=0x1234 psn=7' >/sys/module/srn/parameters/fate
 *	cat /sys/module/srn/parameters/fate
 *
 * A rule is an action and what it is meant for:
 *
 *	drop          lose it
 *	dup           let it pass twice
 *	hold=K        let it pass behind the next K packets that pass to the same QP
 *	corrupt=N     flip a bit of byte N from the BTH on, or, N < 0, from the end of the ICRC
 *	mark          congestion experienced, whether the sender is capable of ECN or not
 *
 *	class=C       request, response (of a READ or an atomic), ack, nak, rnr, cnp or any
 *	qpn=N         to this QP
 *	psn=N         with this PSN
 *	skip=N        not the first N of those
 *	times=N       but the N after them: 1 where it is not said, 0: without end
 *	permille=N    and of those only as many, by a generator that starts from
 *	seed=N
 *
 * Every rule counts what it is meant for, "seen", whatever became of it; the first that would act
 * on a packet decides, and counts it as "met". So two rules may be meant for the first and for the
 * second try of a PSN.
 */
#ifndef SRN_FATE_H
#define SRN_FATE_H

#include <linux/kconfig.h>
#include <linux/types.h>

struct sk_buff;
struct srn_net;

/**
 * typedef srn_fate_pass_fn - takes what passes
 * @snet: namespace that the packet arrived in
 * @skb: as it was given to srn_fate(); consumed
 */
typedef void (*srn_fate_pass_fn)(struct srn_net *snet, struct sk_buff *skb);

#define SRN_HAS_FATES	(IS_ENABLED(CONFIG_FAULT_INJECTION) || \
			 IS_ENABLED(CONFIG_PROVE_LOCKING) || \
			 IS_ENABLED(CONFIG_RDMA_SRN_FATE))

#if SRN_HAS_FATES

#include <linux/jump_label.h>

DECLARE_STATIC_KEY_FALSE(srn_fate_rules);

/** srn_fate_decide() - srn_fate() where there are rules */
void srn_fate_decide(struct srn_net *snet, struct sk_buff *skb, srn_fate_pass_fn pass);

/** srn_fate_set() - rules, or "clear", one a line; those before a bad one hold; may sleep */
int srn_fate_set(const char *text);
/** srn_fate_get() - the rules and what became of them, into a page; returns its length */
int srn_fate_get(char *page);
/** srn_fate_exit() - when nothing arrives any more; may sleep */
void srn_fate_exit(void);

/** srn_fate_is_on() - whether there are rules */
static inline bool srn_fate_is_on(void)
{
	return static_branch_unlikely(&srn_fate_rules);
}

/**
 * srn_fate() - a packet arrived: @pass it on, now, twice, later, changed, or never
 * @skb: at the UDP header, which may be all that is sound about it; consumed
 *
 * Softirq.
 */
static inline void srn_fate(struct srn_net *snet, struct sk_buff *skb, srn_fate_pass_fn pass)
{
	if (static_branch_unlikely(&srn_fate_rules))
		srn_fate_decide(snet, skb, pass);
	else
		pass(snet, skb);
}

#else

static inline bool srn_fate_is_on(void)
{
	return false;
}

static inline void srn_fate(struct srn_net *snet, struct sk_buff *skb, srn_fate_pass_fn pass)
{
	pass(snet, skb);
}

static inline void srn_fate_exit(void) {}

#endif

#endif
