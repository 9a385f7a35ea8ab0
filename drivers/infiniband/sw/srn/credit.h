/* SPDX-License-Identifier: GPL-2.0-only */
/* End-to-end credits (IBTA vol. 1, 9.7.7.2): a RC responder says with each ACK how many receives
 * are posted; a requester that keeps to that begins no SEND that would find none, but for one
 * at a time that asks. Pure arithmetic: nothing here knows of WQEs or packets.
 *
 * Requests are numbered by both ends, from 1 on: the requester's count of those that it has
 * begun is the SSN, the responder's of those that it has done the MSN. So the last one that may
 * begin, the LSN, is MSN plus credits, of the ACK that says most. To learn of credits when
 * there are none, a request may begin without one, with its first packet only (a limited
 * request).
 */
#ifndef SRN_CREDIT_H
#define SRN_CREDIT_H

#include <linux/types.h>

#include "psn.h"

/* What a requester knows of its peer's receives. Owner of the turn only. */
struct srn_credit {
	bool on;		/* it keeps to them */
	bool limited;		/* the last request began without one, and still has none, nor an
				 * answer to its first packet
				 */
	u32 first_psn;		/* of that request */
	u32 ssn;		/* of the last request; 24 bits, as PSNs */
	u32 lsn;		/* of the last one that may begin; no ACK takes it back */
};

/** srn_credit_code() - the code (0 to 30) that promises most of @receives, and no more */
u8 srn_credit_code(u32 receives);

/** srn_credit_count() - the receives that a @code below 31 promises (table 44) */
u32 srn_credit_count(u8 code);

/** srn_credit_wanted() - whether connections that begin now keep to them; any context */
bool srn_credit_wanted(void);

/** srn_credit_start() - a new connection; nothing is known. @on: srn_credit.on */
void srn_credit_start(struct srn_credit *c, bool on);

/**
 * srn_credit_begin() - a request that takes a receive of the peer begins with @psn
 *
 * This, srn_credit_pass() and srn_credit_heard(): of who keeps to credits (srn_credit.on) alone.
 */
void srn_credit_begin(struct srn_credit *c, u32 psn);

/**
 * srn_credit_pass() - a WQE that takes no receive of the peer begins
 * @num: the requests that it is: of a READ more than one
 */
void srn_credit_pass(struct srn_credit *c, u32 num);

/**
 * srn_credit_heard() - an ACK came
 * @code: its credits; 31: the peer does not tell of them, and nothing waits for any from now on
 * @msn: its MSN
 * @una: the oldest PSN that is not acknowledged, now that it came
 *
 * One that says less than another before it, as one that was overtaken does, takes nothing back.
 */
void srn_credit_heard(struct srn_credit *c, u8 code, u32 msn, u32 una);

/**
 * srn_credit_waits() - whether the next request waits for credits before it begins
 * @takes: it takes a receive of the peer
 * @out: something is in flight, whose answer may bring some
 *
 * The first beyond the LSN does not: it asks for more. Another one asks only when nothing is in
 * flight that could bring some.
 */
static inline bool srn_credit_waits(const struct srn_credit *c, bool takes, bool out)
{
	return c->on && takes && out && srn_psn_diff(c->ssn, c->lsn) > 0;
}

/**
 * srn_credit_stops() - whether @psn, of a limited request, waits for credits, or for the answer to
 * the request's first packet
 * @una: as above
 */
static inline bool srn_credit_stops(const struct srn_credit *c, u32 psn, u32 una)
{
	return c->limited && srn_psn_diff(psn, c->first_psn) > 0 &&
	       srn_psn_diff(una, c->first_psn) <= 0;
}

/**
 * srn_credit_asks() - whether the packet with @psn asks for credits, and nothing goes with it
 *
 * That is of the request that began without one; what is sent again in front of it had some.
 */
static inline bool srn_credit_asks(const struct srn_credit *c, u32 psn)
{
	return c->limited && srn_psn_diff(psn, c->first_psn) >= 0;
}

#endif
