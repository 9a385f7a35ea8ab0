// SPDX-License-Identifier: GPL-2.0-only
/* A row for each WR opcode. */
#include "wr_op.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <rdma/ib_pack.h>

#define OUT	(SRN_WR_DATA | SRN_WR_INLINE)

#define SEND_ROW(_last, _only)				\
	.wc = IB_WC_SEND,				\
	.first = IB_OPCODE_SEND_FIRST,			\
	.middle = IB_OPCODE_SEND_MIDDLE,		\
	.last = IB_OPCODE_SEND_##_last,			\
	.only = IB_OPCODE_SEND_##_only

#define WRITE_ROW(_last, _only)				\
	.wc = IB_WC_RDMA_WRITE,				\
	.form = SRN_WR_ADDRESS,				\
	.first = IB_OPCODE_RDMA_WRITE_FIRST,		\
	.middle = IB_OPCODE_RDMA_WRITE_MIDDLE,		\
	.last = IB_OPCODE_RDMA_WRITE_##_last,		\
	.only = IB_OPCODE_RDMA_WRITE_##_only

const struct srn_wr_op srn_wr_ops[256] = {
	[IB_WR_SEND] = {
		.what = OUT | SRN_WR_EVENT | SRN_WR_UC | SRN_WR_UD,
		SEND_ROW(LAST, ONLY),
	},
	[IB_WR_SEND_WITH_IMM] = {
		.what = OUT | SRN_WR_EVENT | SRN_WR_UC | SRN_WR_UD,
		SEND_ROW(LAST_WITH_IMMEDIATE, ONLY_WITH_IMMEDIATE),
	},
	[IB_WR_SEND_WITH_INV] = {
		.what = OUT | SRN_WR_EVENT | SRN_WR_INV,
		SEND_ROW(LAST_WITH_INVALIDATE, ONLY_WITH_INVALIDATE),
	},
	[IB_WR_RDMA_WRITE] = {
		.what = OUT | SRN_WR_UC,
		WRITE_ROW(LAST, ONLY),
	},
	[IB_WR_RDMA_WRITE_WITH_IMM] = {
		.what = OUT | SRN_WR_EVENT | SRN_WR_UC,
		WRITE_ROW(LAST_WITH_IMMEDIATE, ONLY_WITH_IMMEDIATE),
	},
	[IB_WR_RDMA_READ] = {
		.what = SRN_WR_RESULT | SRN_WR_ANSWERED,
		.wc = IB_WC_RDMA_READ,
		.form = SRN_WR_ADDRESS,
		.only = IB_OPCODE_RDMA_READ_REQUEST,
	},
	[IB_WR_ATOMIC_CMP_AND_SWP] = {
		.what = SRN_WR_RESULT | SRN_WR_FETCH | SRN_WR_ANSWERED | SRN_WR_PACKET,
		.wc = IB_WC_COMP_SWAP,
		.form = SRN_WR_OPERANDS,
		.only = IB_OPCODE_COMPARE_SWAP,
	},
	[IB_WR_ATOMIC_FETCH_AND_ADD] = {
		.what = SRN_WR_RESULT | SRN_WR_FETCH | SRN_WR_ANSWERED | SRN_WR_PACKET,
		.wc = IB_WC_FETCH_ADD,
		.form = SRN_WR_OPERANDS,
		.only = IB_OPCODE_FETCH_ADD,
	},
	[IB_WR_ATOMIC_WRITE] = {
		.what = SRN_WR_ANSWERED | SRN_WR_PACKET | SRN_WR_WORD | SRN_WR_USER,
		.wc = IB_WC_ATOMIC_WRITE,
		.form = SRN_WR_OPERANDS,
		.only = IB_OPCODE_ATOMIC_WRITE,
	},
	/* What was sent before may have to be sent again, out of the memory that goes. */
	[IB_WR_LOCAL_INV] = {
		.what = SRN_WR_LOCAL | SRN_WR_ORDER | SRN_WR_INV | SRN_WR_UC,
		.wc = IB_WC_LOCAL_INV,
	},
	[IB_WR_BIND_MW] = {
		.what = SRN_WR_LOCAL | SRN_WR_UC | SRN_WR_USER,
		.wc = IB_WC_BIND_MW,
		.form = SRN_WR_WINDOW,
	},
	[IB_WR_REG_MR] = {
		.what = SRN_WR_LOCAL | SRN_WR_KERNEL | SRN_WR_UC,
		.wc = IB_WC_REG_MR,
		.form = SRN_WR_REGION,
	},
};
EXPORT_SYMBOL_IF_KUNIT(srn_wr_ops);
