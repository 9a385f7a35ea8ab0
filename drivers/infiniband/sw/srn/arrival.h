/* SPDX-License-Identifier: GPL-2.0-only */
/* A RC or UC request packet on its way through checks and execution. */
#ifndef SRN_ARRIVAL_H
#define SRN_ARRIVAL_H

#include <linux/skbuff.h>

#include "opcode.h"
#include "parse.h"
#include "verdict.h"

struct srn_mem;
struct srn_qp;
struct srn_responder;

struct srn_arrival {
	struct srn_qp *qp;
	struct srn_responder *resp;
	struct sk_buff *skb;
	const struct srn_pkt *pkt;
	const struct srn_opcode *info;
	bool start;		/* begins a message */
	bool end;		/* ends one */
	bool ack_owed;		/* a NAK was withdrawn for it */
	/* Remote range: from the packet's header or the message's first one. */
	u64 va;
	u32 rkey;
	u32 total;		/* bytes of the message; unknown (0) for SEND */
	u32 offset;		/* of this packet's payload in it */
	struct srn_mem *mem;	/* proven and referenced, or NULL */
};

static inline bool srn_arrival_has_imm(const struct srn_arrival *a)
{
	return a->info->hdrs & SRN_HDR_IMM;
}

/** srn_arrival_init() - from a packet that is next in its message, or begins one */
void srn_arrival_init(struct srn_arrival *a, struct srn_qp *qp, struct sk_buff *skb);

/**
 * srn_arrival_check() - everything but the PSN; the first check that fails decides
 *
 * May open a receive WQE. a->mem is referenced in any case, if it is set.
 */
enum srn_verdict srn_arrival_check(struct srn_arrival *a);

/**
 * srn_arrival_execute() - do what was checked, and move PSN and MSN on
 *
 * SRN_OK, or a verdict that ends the QP: the peer's key to be invalidated, or a
 * local SGE, was bad.
 */
enum srn_verdict srn_arrival_execute(struct srn_arrival *a);

/** srn_arrival_is_atomic() - operations that work on eight bytes at an aligned address */
static inline bool srn_arrival_is_atomic(const struct srn_arrival *a)
{
	return a->info->op == SRN_OP_CMP_SWAP || a->info->op == SRN_OP_FETCH_ADD ||
	       a->info->op == SRN_OP_ATOMIC_WRITE;
}

#endif
