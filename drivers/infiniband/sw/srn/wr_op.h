/* SPDX-License-Identifier: GPL-2.0-only */
/* What each work request opcode means: one const row per send WR opcode. */
#ifndef SRN_WR_OP_H
#define SRN_WR_OP_H

#include <linux/bits.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>

#define SRN_WR_DATA	BIT(0)	/* SGEs go out */
#define SRN_WR_INLINE	BIT(1)	/* or bytes in the WQE */
#define SRN_WR_RESULT	BIT(2)	/* SGEs come in */
#define SRN_WR_FETCH	BIT(3)	/* the result is eight bytes: what the atomic found */
#define SRN_WR_ANSWERED	BIT(4)	/* by data: takes one of the peer's READ and atomic resources */
#define SRN_WR_LOCAL	BIT(5)	/* executed here, no packet */
#define SRN_WR_INV	BIT(6)	/* names a key to invalidate where others have immediate data */
#define SRN_WR_EVENT	BIT(7)	/* ends in a CQE of the peer, which may be a solicited event */
#define SRN_WR_KERNEL	BIT(8)	/* for kernel users only */
#define SRN_WR_UC	BIT(9)	/* UC takes it; RC takes all (srn_service.takes) */
#define SRN_WR_UD	BIT(10)	/* UD and GSI take it */
#define SRN_WR_PACKET	BIT(11)	/* one request packet, whatever its length */
#define SRN_WR_WORD	BIT(12)	/* eight bytes of payload, in the WQE's own words */
#define SRN_WR_USER	BIT(13)	/* for programs only: the kernel's verbs have no form for it */
#define SRN_WR_ORDER	BIT(14)	/* starts when all before it is done */

/* The operation's own words in a WQE. */
enum srn_wr_form {
	SRN_WR_NO_WORDS,
	SRN_WR_ADDRESS,		/* remote address and key */
	SRN_WR_OPERANDS,	/* and the operands of an atomic */
	SRN_WR_WINDOW,		/* a memory window and its bounds */
	SRN_WR_REGION,		/* a fast registration */
};

/**
 * struct srn_wr_op - the facts of one WR opcode
 * @what: SRN_WR_*; 0 in a row of no opcode
 * @wc: enum ib_wc_opcode of its completion
 * @form: enum srn_wr_form
 * @only: BTH opcode, without the service's bits, of a message of one packet
 * @first: of the first of several packets
 * @middle: of those between
 * @last: of the last
 */
struct srn_wr_op {
	u16 what;
	u8 wc;
	u8 form;
	u8 only;
	u8 first;
	u8 middle;
	u8 last;
};

/* An opcode is any byte; those that are none have an empty row. */
extern const struct srn_wr_op srn_wr_ops[256];

#endif
