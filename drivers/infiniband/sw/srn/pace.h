/* SPDX-License-Identifier: GPL-2.0-only */
/* Pace: when what a QP sends may go, that it is no more than so many bytes a second. What may
 * go at once is a quantum: what goes in 100 us, two packets at least, a run at most; of packets that
 * take more than 200 us each one. Then it is closed until all that has left has had its time; a
 * sender that took so long that half a quantum has had its time goes on without that. Pure
 * arithmetic: times in, packets out.
 */
#ifndef SRN_PACE_H
#define SRN_PACE_H

#include <linux/compiler.h>
#include <linux/types.h>

#define SRN_PACE_QUANTUM_NS	100000u		/* of sending, at once */
#define SRN_PACE_QUANTUM_MAX	61440u		/* bytes: as a run */
/* Who waited and was woken late makes up for it, and this at most; who had nothing to send does
 * not.
 */
#define SRN_PACE_LATE_NS	1000000u
/* That a packet takes beside its payload, at most: Ethernet, IPv6, UDP, BTH, AtomicETH, ICRC. */
#define SRN_PACE_HEADERS	112u

/* Who sets a limit; the least counts. */
enum srn_pace_limit {
	SRN_PACE_USER,		/* the rate limit of the QP */
	SRN_PACE_PATH,		/* the static rate of its address vector */
	SRN_PACE_CC,		/* congestion control */
	SRN_PACE_LIMITS
};

/* Who sends: two share what a QP may. */
enum srn_pace_side {
	SRN_PACE_REQUESTS,
	SRN_PACE_ANSWERS,
};

/* Owner of the turn only. */
struct srn_pace {
	u64 rate;		/* bytes per second; 0: no limit, and the rest means nothing */
	u64 next_ns;		/* when what has left has had its time */
	u64 late_ns;		/* by which an alarm was late: that may be made up for */
	u64 quantum_ns;		/* that a quantum takes */
	u64 rest;		/* of the last division by the rate */
	u32 packet;		/* bytes: the longest */
	u32 left;		/* bytes of the quantum that may go on */
	u32 sent;		/* bytes that have left, free-running, whether it is on or not */
	bool closed;		/* until next_ns */
	u8 waits;		/* BIT(side) of who was refused when it was last closed */
	u64 limit[SRN_PACE_LIMITS];	/* bytes per second; 0: none */
};

/** srn_pace_reset() - no limit, and nothing is known of the path */
void srn_pace_reset(struct srn_pace *p);

/** srn_pace_set_mtu() - packets have at most @mtu bytes of payload */
void srn_pace_set_mtu(struct srn_pace *p, u32 mtu);

/**
 * srn_pace_limit() - no more than @rate bytes per second; 0: whatever the others say
 *
 * Bytes are those of Ethernet frames, from the address to the ICRC, as a netdev counts them. Who
 * raises a limit starts a round: what waits does not find out before its alarm.
 */
void srn_pace_limit(struct srn_pace *p, enum srn_pace_limit who, u64 rate);

/** srn_pace_is_on() - whether there is a limit */
static inline bool srn_pace_is_on(const struct srn_pace *p)
{
	return p->rate;
}

/**
 * srn_pace_ask() - how many packets @side may send at @now_ns, however long they are
 *
 * Half of them while the other one waits: for who asks first in a round, which are the answers.
 * Where packets go one by one each has one then. On a pace that is on. Return: 0: it waits, see srn_pace_wait().
 */
u32 srn_pace_ask(struct srn_pace *p, enum srn_pace_side side, u64 now_ns);

/**
 * srn_pace_run() - the same for who was just told that he may send: one at least, all there are
 *
 * For requests, which go last in a round: the answers have had their half by then.
 */
u32 srn_pace_run(const struct srn_pace *p);

/** srn_pace_ends() - whether @bytes are the last that go before a wait, since srn_pace_ask() */
static inline bool srn_pace_ends(const struct srn_pace *p, u32 bytes)
{
	return p->left < bytes + p->packet;
}

/**
 * srn_pace_wait() - close it; an alarm is to ring after so many ns, which are returned:
 * srn_pace_woken()
 */
u64 srn_pace_wait(struct srn_pace *p, enum srn_pace_side side, u64 now_ns);

/**
 * srn_pace_woken() - that alarm has come: whoever asks from here on, and when, waits no more
 *
 * Return: 0, or, since something has left unasked meanwhile (a probe), in how many ns it is to ring
 * again: else it stayed closed, and the time until somebody asks would be taken for lateness.
 */
u64 srn_pace_woken(struct srn_pace *p, u64 now_ns);

/** srn_pace_is_closed() - whether somebody waits, and the alarm has not come */
static inline bool srn_pace_is_closed(const struct srn_pace *p)
{
	return p->closed;
}

/** srn_pace_opens_in() - so many ns until what has left has had its time */
static inline u64 srn_pace_opens_in(const struct srn_pace *p, u64 now_ns)
{
	return p->next_ns > now_ns ? p->next_ns - now_ns : 0;
}

/** srn_pace_charge() - @bytes left; on a pace that is on */
void srn_pace_charge(struct srn_pace *p, u32 bytes);

/** srn_pace_sent() - @bytes left, whether it is on or not */
static inline void srn_pace_sent(struct srn_pace *p, u32 bytes)
{
	p->sent += bytes;
	if (unlikely(srn_pace_is_on(p)))
		srn_pace_charge(p, bytes);
}

#endif
