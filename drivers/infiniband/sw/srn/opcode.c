// SPDX-License-Identifier: GPL-2.0-only
/* The rows are written once per service, from the tables of the specification;
 * lengths follow from the headers that a row names.
 */
#include "opcode.h"
#include "wire.h"

#include <kunit/visibility.h>
#include <linux/build_bug.h>
#include <linux/export.h>
#include <rdma/ib_pack.h>
#include <rdma/ib_verbs.h>

#define HDR_LEN(hdrs)								\
	(sizeof(struct srn_bth) +						\
	 ((hdrs) & SRN_HDR_DETH ? sizeof(struct srn_deth) : 0) +		\
	 ((hdrs) & SRN_HDR_RETH ? sizeof(struct srn_reth) : 0) +		\
	 ((hdrs) & SRN_HDR_ATOMIC ? sizeof(struct srn_atomic_eth) : 0) +	\
	 ((hdrs) & SRN_HDR_AETH ? sizeof(struct srn_aeth) : 0) +		\
	 ((hdrs) & SRN_HDR_ATOMIC_ACK ? sizeof(struct srn_atomic_ack_eth) : 0) +	\
	 ((hdrs) & SRN_HDR_IMM ? sizeof(struct srn_imm) : 0) +			\
	 ((hdrs) & SRN_HDR_IETH ? sizeof(struct srn_ieth) : 0))

#define REQ	0x1
#define DATA	0x2
#define ATOMIC	0x4

#define ROW(_op, _pos, _hdrs, _kind, ...) {		\
	.op = SRN_OP_##_op,				\
	.pos = SRN_POS_##_pos,				\
	.hdrs = (_hdrs),				\
	.hdr_len = HDR_LEN(_hdrs),			\
	.is_request = (_kind) & REQ,			\
	.has_payload = (_kind) & DATA,			\
	.is_stream = SRN_OP_##_op == SRN_OP_SEND || SRN_OP_##_op == SRN_OP_WRITE,	\
	.is_atomic = (_kind) & ATOMIC,			\
	__VA_ARGS__					\
}

#define MAY(_right)	.access = IB_ACCESS_REMOTE_##_right

#define RETH	SRN_HDR_RETH
#define DETH	SRN_HDR_DETH
#define AETH	SRN_HDR_AETH
#define IMM	SRN_HDR_IMM
#define IETH	SRN_HDR_IETH

const struct srn_opcode srn_opcodes[256] = {
	[IB_OPCODE_RC_SEND_FIRST] = ROW(SEND, FIRST, 0, REQ | DATA),
	[IB_OPCODE_RC_SEND_MIDDLE] = ROW(SEND, MIDDLE, 0, REQ | DATA),
	[IB_OPCODE_RC_SEND_LAST] = ROW(SEND, LAST, 0, REQ | DATA),
	[IB_OPCODE_RC_SEND_LAST_WITH_IMMEDIATE] = ROW(SEND, LAST, IMM, REQ | DATA),
	[IB_OPCODE_RC_SEND_ONLY] = ROW(SEND, ONLY, 0, REQ | DATA),
	[IB_OPCODE_RC_SEND_ONLY_WITH_IMMEDIATE] = ROW(SEND, ONLY, IMM, REQ | DATA),
	[IB_OPCODE_RC_RDMA_WRITE_FIRST] = ROW(WRITE, FIRST, RETH, REQ | DATA, MAY(WRITE)),
	[IB_OPCODE_RC_RDMA_WRITE_MIDDLE] = ROW(WRITE, MIDDLE, 0, REQ | DATA, MAY(WRITE)),
	[IB_OPCODE_RC_RDMA_WRITE_LAST] = ROW(WRITE, LAST, 0, REQ | DATA, MAY(WRITE)),
	[IB_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE] =
		ROW(WRITE, LAST, IMM, REQ | DATA, MAY(WRITE)),
	[IB_OPCODE_RC_RDMA_WRITE_ONLY] = ROW(WRITE, ONLY, RETH, REQ | DATA, MAY(WRITE)),
	[IB_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE] =
		ROW(WRITE, ONLY, RETH | IMM, REQ | DATA, MAY(WRITE)),
	[IB_OPCODE_RC_RDMA_READ_REQUEST] = ROW(READ_REQ, ONLY, RETH, REQ, MAY(READ)),
	[IB_OPCODE_RC_RDMA_READ_RESPONSE_FIRST] = ROW(READ_RESP, FIRST, AETH, DATA),
	[IB_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE] = ROW(READ_RESP, MIDDLE, 0, DATA),
	[IB_OPCODE_RC_RDMA_READ_RESPONSE_LAST] = ROW(READ_RESP, LAST, AETH, DATA),
	[IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY] = ROW(READ_RESP, ONLY, AETH, DATA),
	[IB_OPCODE_RC_ACKNOWLEDGE] = ROW(ACK, ONLY, AETH, 0),
	[IB_OPCODE_RC_ATOMIC_ACKNOWLEDGE] = ROW(ATOMIC_ACK, ONLY, AETH | SRN_HDR_ATOMIC_ACK, 0),
	[IB_OPCODE_RC_COMPARE_SWAP] =
		ROW(CMP_SWAP, ONLY, SRN_HDR_ATOMIC, REQ | ATOMIC, MAY(ATOMIC)),
	[IB_OPCODE_RC_FETCH_ADD] = ROW(FETCH_ADD, ONLY, SRN_HDR_ATOMIC, REQ | ATOMIC, MAY(ATOMIC)),
	[IB_OPCODE_RC_SEND_LAST_WITH_INVALIDATE] = ROW(SEND, LAST, IETH, REQ | DATA),
	[IB_OPCODE_RC_SEND_ONLY_WITH_INVALIDATE] = ROW(SEND, ONLY, IETH, REQ | DATA),
	[IB_OPCODE_RC_ATOMIC_WRITE] =
		ROW(ATOMIC_WRITE, ONLY, RETH, REQ | DATA | ATOMIC, MAY(WRITE)),

	[IB_OPCODE_UC_SEND_FIRST] = ROW(SEND, FIRST, 0, REQ | DATA),
	[IB_OPCODE_UC_SEND_MIDDLE] = ROW(SEND, MIDDLE, 0, REQ | DATA),
	[IB_OPCODE_UC_SEND_LAST] = ROW(SEND, LAST, 0, REQ | DATA),
	[IB_OPCODE_UC_SEND_LAST_WITH_IMMEDIATE] = ROW(SEND, LAST, IMM, REQ | DATA),
	[IB_OPCODE_UC_SEND_ONLY] = ROW(SEND, ONLY, 0, REQ | DATA),
	[IB_OPCODE_UC_SEND_ONLY_WITH_IMMEDIATE] = ROW(SEND, ONLY, IMM, REQ | DATA),
	[IB_OPCODE_UC_RDMA_WRITE_FIRST] = ROW(WRITE, FIRST, RETH, REQ | DATA, MAY(WRITE)),
	[IB_OPCODE_UC_RDMA_WRITE_MIDDLE] = ROW(WRITE, MIDDLE, 0, REQ | DATA, MAY(WRITE)),
	[IB_OPCODE_UC_RDMA_WRITE_LAST] = ROW(WRITE, LAST, 0, REQ | DATA, MAY(WRITE)),
	[IB_OPCODE_UC_RDMA_WRITE_LAST_WITH_IMMEDIATE] =
		ROW(WRITE, LAST, IMM, REQ | DATA, MAY(WRITE)),
	[IB_OPCODE_UC_RDMA_WRITE_ONLY] = ROW(WRITE, ONLY, RETH, REQ | DATA, MAY(WRITE)),
	[IB_OPCODE_UC_RDMA_WRITE_ONLY_WITH_IMMEDIATE] =
		ROW(WRITE, ONLY, RETH | IMM, REQ | DATA, MAY(WRITE)),

	[IB_OPCODE_UD_SEND_ONLY] = ROW(SEND, ONLY, DETH, REQ | DATA),
	[IB_OPCODE_UD_SEND_ONLY_WITH_IMMEDIATE] = ROW(SEND, ONLY, DETH | IMM, REQ | DATA),

	[SRN_OPCODE_CNP] = ROW(CNP, ONLY, 0, DATA),
};
EXPORT_SYMBOL_IF_KUNIT(srn_opcodes);

static_assert(HDR_LEN(SRN_HDR_ATOMIC) == SRN_MAX_HDR_LEN);
static_assert((IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC) <= U8_MAX);

#define NAME(op)	[IB_OPCODE_##op] = #op,

/* Apart from the rows, which every packet touches. */
static const char *const names[256] = {
	SRN_OPCODE_NAMES(NAME)
	[SRN_OPCODE_CNP] = "CNP",
};

const char *srn_opcode_name(u8 opcode)
{
	return names[opcode] ?: "?";
}
EXPORT_SYMBOL_IF_KUNIT(srn_opcode_name);
