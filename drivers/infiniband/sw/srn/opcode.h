/* SPDX-License-Identifier: GPL-2.0-only */
/* What each BTH opcode means: one const row per opcode (IBTA vol. 1, table 35;
 * annex A17 for CNP, annex A19 for atomic write).
 */
#ifndef SRN_OPCODE_H
#define SRN_OPCODE_H

#include <linux/bits.h>
#include <linux/types.h>

/* The operation that a packet is part of. */
enum srn_op {
	SRN_OP_NONE,		/* no row: unknown or unsupported opcode */
	SRN_OP_SEND,
	SRN_OP_WRITE,
	SRN_OP_READ_REQ,
	SRN_OP_READ_RESP,
	SRN_OP_ACK,
	SRN_OP_ATOMIC_ACK,
	SRN_OP_CMP_SWAP,
	SRN_OP_FETCH_ADD,
	SRN_OP_ATOMIC_WRITE,
	SRN_OP_CNP,
};

/* Where in its message a packet stands. */
enum srn_pos {
	SRN_POS_ONLY,
	SRN_POS_FIRST,
	SRN_POS_MIDDLE,
	SRN_POS_LAST,
};

/* Extension headers, in the order in which they follow the BTH. */
#define SRN_HDR_DETH		BIT(0)
#define SRN_HDR_RETH		BIT(1)
#define SRN_HDR_ATOMIC		BIT(2)
#define SRN_HDR_AETH		BIT(3)
#define SRN_HDR_ATOMIC_ACK	BIT(4)
#define SRN_HDR_IMM		BIT(5)
#define SRN_HDR_IETH		BIT(6)

/* Transport service: the three upper bits of the opcode. */
enum srn_svc {
	SRN_SVC_RC = 0,
	SRN_SVC_UC = 1,
	SRN_SVC_UD = 3,
	SRN_SVC_CNP = 4,
};

/**
 * struct srn_opcode - the facts of one BTH opcode
 * @op: operation
 * @pos: position in the message
 * @hdrs: SRN_HDR_* bits of the extension headers present
 * @hdr_len: bytes from the start of the BTH to the payload; follows from @hdrs
 * @is_request: runs in the responder. Of the others all but CNP, which is
 *	nobody's request and nobody's answer, run in the completer.
 * @has_payload: may carry bytes between the headers and the ICRC
 *
 * ATOMIC_WRITE counts as carrying a payload: the eight bytes to be written. The
 * responder checks that there are eight. It is answered by READ RESPONSE ONLY
 * without a payload.
 */
struct srn_opcode {
	u8 op;
	u8 pos;
	u8 hdrs;
	u8 hdr_len;
	bool is_request;
	bool has_payload;
};

extern const struct srn_opcode srn_opcodes[256];

/**
 * srn_opcode_svc() - transport service of an opcode
 * @opcode: any byte
 *
 * Return: an enum srn_svc, or a value that is none of them (RD, XRC and the
 * manufacturers' space).
 */
static inline unsigned int srn_opcode_svc(u8 opcode)
{
	return opcode >> 5;
}

/**
 * srn_opcode_hdr_len() - length of BTH and extension headers
 * @opcode: any byte
 *
 * Return: bytes from the start of the BTH to the payload; 0 for an opcode
 * without a row.
 */
static inline unsigned int srn_opcode_hdr_len(u8 opcode)
{
	return srn_opcodes[opcode].hdr_len;
}

/**
 * srn_opcode_name() - name of an opcode for traces and messages
 * @opcode: any byte
 *
 * Return: a constant string; "?" for an opcode without a row.
 */
const char *srn_opcode_name(u8 opcode);

#endif
