/* SPDX-License-Identifier: GPL-2.0-only */
/* The outcome of a check, and what follows from it. Checks return a verdict; the table
 * in verdict.c says which NAK, completion status, event and effect on the QP it has, and
 * the rooms that act upon a verdict ask the table.
 */
#ifndef SRN_VERDICT_H
#define SRN_VERDICT_H

#include <linux/types.h>

enum srn_verdict {
	SRN_OK = 0,
	/* Local: a work request of ours is wrong. */
	SRN_V_LOC_LEN,		/* message longer than the service or the port carries */
	SRN_V_LOC_PROT,		/* lkey, bounds, PD or rights of a local SGE */
	SRN_V_LOC_QP_OP,	/* malformed WQE: opcode, SGE count, inline length */
	SRN_V_MW_BIND,		/* memory window operation refused */
	/* Responder: the peer's request is refused. */
	SRN_V_SEQ,		/* PSN ahead of the expected one */
	SRN_V_DUP,		/* PSN behind the expected one */
	SRN_V_RNR,		/* no receive WQE */
	SRN_V_LATER,		/* right, but an answer that is under way has to leave first */
	SRN_V_INV_REQ,		/* opcode, length or order that the transport forbids */
	SRN_V_REM_ACCESS,	/* rkey, bounds, PD or rights of a remote access */
	SRN_V_REM_OP,		/* the responder could not do it for a reason of its own */
	SRN_V_RESP_LEN,		/* SEND longer than the receive WQE: owner and peer are told */
	SRN_V_RESP_PROT,	/* receive WQE's own SGE is bad: likewise */
	/* Requester: what the peer or the clock told us. */
	SRN_V_NAK_INV_REQ,
	SRN_V_NAK_ACCESS,
	SRN_V_NAK_OP,
	SRN_V_RETRY_EXC,
	SRN_V_RNR_EXC,
	SRN_V_BAD_RESP,		/* response that does not fit the request */
	SRN_V_FLUSH,		/* QP left its working state */
	/* Nothing reached the QP. */
	SRN_V_DROP,		/* silently, counted by the caller */
	SRN_V_AGAIN,		/* local resources (memory): as if the packet had been lost */
	/* Not the last word: it comes again, in parts. */
	SRN_V_EACH,		/* one of several packets that were joined: each is looked at by itself */
	SRN_V_MAX,
};

/* For people: `rdma resource show qp`, traces. */
#define SRN_VERDICT_NAMES(X)	\
	X(SRN_OK, "ok") \
	X(SRN_V_LOC_LEN, "local length") \
	X(SRN_V_LOC_PROT, "local protection") \
	X(SRN_V_LOC_QP_OP, "local QP operation") \
	X(SRN_V_MW_BIND, "memory window bind") \
	X(SRN_V_SEQ, "PSN sequence") \
	X(SRN_V_DUP, "duplicate") \
	X(SRN_V_RNR, "receiver not ready") \
	X(SRN_V_LATER, "behind an answer") \
	X(SRN_V_INV_REQ, "invalid request") \
	X(SRN_V_REM_ACCESS, "remote access") \
	X(SRN_V_REM_OP, "responder failure") \
	X(SRN_V_RESP_LEN, "receive buffer too short") \
	X(SRN_V_RESP_PROT, "receive buffer protection") \
	X(SRN_V_NAK_INV_REQ, "NAK: invalid request") \
	X(SRN_V_NAK_ACCESS, "NAK: remote access") \
	X(SRN_V_NAK_OP, "NAK: remote operation") \
	X(SRN_V_RETRY_EXC, "transport retries exceeded") \
	X(SRN_V_RNR_EXC, "RNR retries exceeded") \
	X(SRN_V_BAD_RESP, "bad response") \
	X(SRN_V_FLUSH, "flushed") \
	X(SRN_V_DROP, "dropped") \
	X(SRN_V_AGAIN, "no local resources") \
	X(SRN_V_EACH, "packet by packet")

/* What a verdict does to the QP it was reached on. */
enum srn_effect {
	SRN_EFF_NONE,
	SRN_EFF_SQ_ERROR,	/* of a send WR: UC and UD go to SQE, RC as ERROR */
	SRN_EFF_ERROR,
};

/**
 * struct srn_verdict_row - what follows from a verdict
 * @nak: AETH syndrome that a RC responder answers with, 0 for none; an RNR NAK's
 *	timer code is to be added
 * @wc: status of the work completion of the WR concerned (enum ib_wc_status);
 *	IB_WC_SUCCESS where the verdict completes nothing
 * @effect: enum srn_effect on the QP
 * @event: enum ib_event_type that a responder raises where no completion tells
 * @own_fault: the owner's receive WQE is bad, not the peer's request
 *
 * In the responder's part @wc is the status of the receive WQE in use, if there
 * is one, and @nak and @effect are those of RC. A UC or UD responder that refuses
 * what a peer sent tells nobody and stays up (9.9.3, class D); only an @own_fault
 * means there what it says.
 */
struct srn_verdict_row {
	u8 nak;
	u8 wc;
	u8 effect;
	u8 event;
	bool own_fault;
};

extern const struct srn_verdict_row srn_verdicts[SRN_V_MAX];

/**
 * srn_verdict_name() - name of a verdict for traces and `rdma resource show`
 * @v: below SRN_V_MAX
 *
 * Return: a constant string.
 */
const char *srn_verdict_name(enum srn_verdict v);

#endif
