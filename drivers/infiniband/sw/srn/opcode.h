/* SPDX-License-Identifier: GPL-2.0-only */
/* What each BTH opcode means: one const row per opcode (IBTA vol. 1, table 35;
 * annex A17 for CNP, annex A19 for atomic write).
 */
#ifndef SRN_OPCODE_H
#define SRN_OPCODE_H

#include <linux/bits.h>
#include <linux/types.h>

/* The opcodes that have a row, without RoCEv2's CNP: IB_OPCODE_... of ib_pack.h. */
#define SRN_OPCODE_NAMES(X)			\
	X(RC_SEND_FIRST) \
	X(RC_SEND_MIDDLE) \
	X(RC_SEND_LAST) \
	X(RC_SEND_LAST_WITH_IMMEDIATE) \
	X(RC_SEND_ONLY) \
	X(RC_SEND_ONLY_WITH_IMMEDIATE) \
	X(RC_RDMA_WRITE_FIRST) \
	X(RC_RDMA_WRITE_MIDDLE) \
	X(RC_RDMA_WRITE_LAST) \
	X(RC_RDMA_WRITE_LAST_WITH_IMMEDIATE) \
	X(RC_RDMA_WRITE_ONLY) \
	X(RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE) \
	X(RC_RDMA_READ_REQUEST) \
	X(RC_RDMA_READ_RESPONSE_FIRST) \
	X(RC_RDMA_READ_RESPONSE_MIDDLE) \
	X(RC_RDMA_READ_RESPONSE_LAST) \
	X(RC_RDMA_READ_RESPONSE_ONLY) \
	X(RC_ACKNOWLEDGE) \
	X(RC_ATOMIC_ACKNOWLEDGE) \
	X(RC_COMPARE_SWAP) \
	X(RC_FETCH_ADD) \
	X(RC_SEND_LAST_WITH_INVALIDATE) \
	X(RC_SEND_ONLY_WITH_INVALIDATE) \
	X(RC_ATOMIC_WRITE) \
	X(UC_SEND_FIRST) \
	X(UC_SEND_MIDDLE) \
	X(UC_SEND_LAST) \
	X(UC_SEND_LAST_WITH_IMMEDIATE) \
	X(UC_SEND_ONLY) \
	X(UC_SEND_ONLY_WITH_IMMEDIATE) \
	X(UC_RDMA_WRITE_FIRST) \
	X(UC_RDMA_WRITE_MIDDLE) \
	X(UC_RDMA_WRITE_LAST) \
	X(UC_RDMA_WRITE_LAST_WITH_IMMEDIATE) \
	X(UC_RDMA_WRITE_ONLY) \
	X(UC_RDMA_WRITE_ONLY_WITH_IMMEDIATE) \
	X(UD_SEND_ONLY) \
	X(UD_SEND_ONLY_WITH_IMMEDIATE)

/* IB_OPCODE_CNP (0x80) is that of native InfiniBand. */
#define SRN_OPCODE_CNP	0x81
/* Of the manufacturers' space: no service's, so that who does not know it drops it. */
#define SRN_OPCODE_SACK	0xc7

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
	SRN_OP_SACK,
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
	SRN_SVC_SACK = 6,
};

/**
 * struct srn_opcode - the facts of one BTH opcode
 * @op: operation
 * @pos: position in the message
 * @hdrs: SRN_HDR_* bits of the extension headers present
 * @hdr_len: bytes from the start of the BTH to the payload; follows from @hdrs
 * @access: IB_ACCESS_REMOTE_* that the QP and the key named must grant, or 0
 * @is_request: runs in the responder. Of the others all but CNP, which is
 *	nobody's request and nobody's answer, and SACK packets that answer a hello, run in the
 *	completer.
 * @has_payload: may carry bytes between the headers and the ICRC
 * @is_stream: SEND and WRITE: payload in one or more packets, and acknowledged by an ACK;
 *	other requests have an answer of their own, which is kept for a duplicate
 * @is_atomic: works on eight bytes at an aligned address
 *
 * ATOMIC_WRITE counts as carrying a payload: the eight bytes to be written. The
 * responder checks that there are eight. It is answered by READ RESPONSE ONLY
 * without a payload.
 */
struct srn_opcode {
	u8 op;
	u8 pos;
	u16 hdrs;
	u8 hdr_len;
	u8 access;
	bool is_request;
	bool has_payload;
	bool is_stream;
	bool is_atomic;
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

#endif
