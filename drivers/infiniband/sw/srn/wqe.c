// SPDX-License-Identifier: GPL-2.0-only
/* Fetch and prove. A slot of a ring may change while it is read: each word is
 * read once, into a copy, and only the copy is judged and used.
 */
#include "ah.h"
#include "device.h"
#include "wqe.h"

#include <kunit/visibility.h>
#include <linux/log2.h>
#include <linux/overflow.h>

#define SEND_FLAGS	(IB_SEND_FENCE | IB_SEND_SIGNALED | IB_SEND_SOLICITED | IB_SEND_INLINE)

static_assert(sizeof(struct srn_send_wqe) == 64);
static_assert(sizeof(struct srn_recv_wqe) == 16);
static_assert(sizeof(struct srn_sge) == sizeof(struct ib_sge));
static_assert(offsetof(struct srn_sge, length) == offsetof(struct ib_sge, length));
static_assert(offsetof(struct srn_sge, lkey) == offsetof(struct ib_sge, lkey));

/* What a work request carries, and who may post it. */
enum {
	HAS_DATA	= BIT(0),	/* SGEs go out */
	HAS_INLINE	= BIT(1),	/* or bytes in the WQE */
	HAS_RESULT	= BIT(2),	/* SGEs come in */
	IS_ATOMIC	= BIT(3),	/* result of 8 bytes */
	IS_UD_OK	= BIT(4),
	IS_UC_OK	= BIT(5),
	IS_KERNEL	= BIT(6),
	IS_KNOWN	= BIT(7),	/* on RC at least */
};

struct op_row {
	u8 what;
	u8 wc;
};

#define OUT	(IS_KNOWN | HAS_DATA | HAS_INLINE)

static const struct op_row ops[] = {
	[IB_WR_RDMA_WRITE] = { OUT | IS_UC_OK, IB_WC_RDMA_WRITE },
	[IB_WR_RDMA_WRITE_WITH_IMM] = { OUT | IS_UC_OK, IB_WC_RDMA_WRITE },
	[IB_WR_SEND] = { OUT | IS_UC_OK | IS_UD_OK, IB_WC_SEND },
	[IB_WR_SEND_WITH_IMM] = { OUT | IS_UC_OK | IS_UD_OK, IB_WC_SEND },
	[IB_WR_SEND_WITH_INV] = { OUT, IB_WC_SEND },
	[IB_WR_RDMA_READ] = { IS_KNOWN | HAS_RESULT, IB_WC_RDMA_READ },
	[IB_WR_ATOMIC_CMP_AND_SWP] = { IS_KNOWN | HAS_RESULT | IS_ATOMIC, IB_WC_COMP_SWAP },
	[IB_WR_ATOMIC_FETCH_AND_ADD] = { IS_KNOWN | HAS_RESULT | IS_ATOMIC, IB_WC_FETCH_ADD },
	[IB_WR_ATOMIC_WRITE] = { IS_KNOWN, IB_WC_ATOMIC_WRITE },
	[IB_WR_LOCAL_INV] = { IS_KNOWN | IS_UC_OK, IB_WC_LOCAL_INV },
	[IB_WR_BIND_MW] = { IS_KNOWN | IS_UC_OK, IB_WC_BIND_MW },
	[IB_WR_REG_MR] = { IS_KNOWN | IS_UC_OK | IS_KERNEL, IB_WC_REG_MR },
};

static bool is_ud(const struct srn_wqe_limits *lim)
{
	return lim->type == IB_QPT_UD || lim->type == IB_QPT_GSI;
}

/* The row of an opcode that the queue takes, or NULL. */
static const struct op_row *op_find(u32 opcode, const struct srn_wqe_limits *lim)
{
	const struct op_row *op;

	if (opcode >= ARRAY_SIZE(ops))
		return NULL;
	op = &ops[array_index_nospec(opcode, ARRAY_SIZE(ops))];
	if (!(op->what & IS_KNOWN) || (op->what & IS_KERNEL && !lim->kernel))
		return NULL;
	if (is_ud(lim) && !(op->what & IS_UD_OK))
		return NULL;
	if (lim->type == IB_QPT_UC && !(op->what & IS_UC_OK))
		return NULL;
	return op;
}

enum ib_wc_opcode srn_wc_opcode(u8 wr_opcode)
{
	return wr_opcode < ARRAY_SIZE(ops) ? ops[wr_opcode].wc : IB_WC_SEND;
}
EXPORT_SYMBOL_IF_KUNIT(srn_wc_opcode);

size_t srn_wqe_size(u32 max_sge, u32 max_inline)
{
	size_t room = max_t(size_t, size_mul(max_sge, sizeof(struct ib_sge)), max_inline);

	return ALIGN(struct_size_t(struct srn_wqe, data, room), __alignof__(struct srn_wqe));
}
EXPORT_SYMBOL_IF_KUNIT(srn_wqe_size);

u32 srn_send_stride(u32 max_sge, u32 max_inline)
{
	return roundup_pow_of_two(sizeof(struct srn_send_wqe) +
				  max_t(u32, max_sge * sizeof(struct srn_sge), max_inline));
}
EXPORT_SYMBOL_IF_KUNIT(srn_send_stride);

u32 srn_recv_stride(u32 max_sge)
{
	return roundup_pow_of_two(sizeof(struct srn_recv_wqe) +
				  max_sge * sizeof(struct srn_sge));
}
EXPORT_SYMBOL_IF_KUNIT(srn_recv_stride);

/* Reads shared memory once, word by word: the compiler may not read it again. */
static void copy_once(void *to, const void *from, size_t len)
{
	const u64 *src = from;
	u64 *dst = to;

	for (; len; len -= sizeof(*src))
		*dst++ = READ_ONCE(*src++);
}

/* Sum of a private list; false over the largest message. */
static bool sge_total(const struct ib_sge *sge, u32 num, u64 *total)
{
	u32 i;

	*total = 0;	/* at most 32 times 32 bits: no overflow */
	for (i = 0; i < num; i++)
		*total += sge[i].length;
	return *total <= SRN_MAX_MSG_SIZE;
}

/* The message length that follows from the copied list. */
static enum srn_verdict prove_length(struct srn_wqe *wqe, const struct op_row *op)
{
	u64 total;

	if (!sge_total(wqe->sge, wqe->num_sge, &total))
		return SRN_V_LOC_LEN;
	if (op->what & IS_ATOMIC) {
		if (total < sizeof(u64))
			return SRN_V_LOC_LEN;
		total = sizeof(u64);
	}
	wqe->length = total;
	return SRN_OK;
}

static enum srn_verdict fetch_inline(const struct srn_send_wqe *slot,
				     const struct srn_send_wqe *hdr,
				     const struct srn_wqe_limits *lim, const struct op_row *op,
				     struct srn_wqe *wqe)
{
	if (!(op->what & HAS_INLINE) || hdr->inline_len > lim->max_inline)
		return SRN_V_LOC_QP_OP;
	memcpy(wqe->data, slot + 1, hdr->inline_len);
	wqe->length = hdr->inline_len;
	return SRN_OK;
}

static enum srn_verdict fetch_sges(const struct srn_send_wqe *slot,
				   const struct srn_send_wqe *hdr,
				   const struct srn_wqe_limits *lim, const struct op_row *op,
				   struct srn_wqe *wqe)
{
	if (hdr->num_sge > lim->max_sge)
		return SRN_V_LOC_QP_OP;
	wqe->num_sge = hdr->num_sge;
	copy_once(wqe->sge, slot + 1, hdr->num_sge * sizeof(struct srn_sge));
	return prove_length(wqe, op);
}

static enum srn_verdict fetch_data(const struct srn_send_wqe *slot,
				   const struct srn_send_wqe *hdr,
				   const struct srn_wqe_limits *lim, const struct op_row *op,
				   struct srn_wqe *wqe)
{
	if (wqe->opcode == IB_WR_ATOMIC_WRITE) {
		wqe->length = sizeof(u64);	/* in the header */
		return hdr->num_sge || hdr->inline_len ? SRN_V_LOC_QP_OP : SRN_OK;
	}
	if (!(op->what & (HAS_DATA | HAS_RESULT)))
		return SRN_OK;
	if (hdr->flags & IB_SEND_INLINE)
		return fetch_inline(slot, hdr, lim, op, wqe);
	return fetch_sges(slot, hdr, lim, op, wqe);
}

/* The operation's own words. Last, as it takes the reference. */
static enum srn_verdict fetch_op(const struct srn_send_wqe *hdr,
				 const struct srn_wqe_limits *lim, struct srn_wqe *wqe)
{
	if (is_ud(lim)) {
		wqe->ud.qpn = hdr->ud.remote_qpn;
		wqe->ud.qkey = hdr->ud.remote_qkey;
		wqe->ud.pkey_index = 0;
		wqe->ud.av = srn_av_get(lim->dev, lim->pd, hdr->ud.ah);
		return wqe->ud.av ? SRN_OK : SRN_V_LOC_QP_OP;
	}
	if (wqe->opcode == IB_WR_BIND_MW) {
		wqe->bind.addr = hdr->bind.addr;
		wqe->bind.length = hdr->bind.length;
		wqe->bind.mr_lkey = hdr->bind.mr_lkey;
		wqe->bind.mw_rkey = hdr->bind.mw_rkey;
		wqe->bind.new_rkey = hdr->bind.new_rkey;
		wqe->bind.access = hdr->bind.access;
		return hdr->bind.access & ~IB_ACCESS_SUPPORTED ? SRN_V_MW_BIND : SRN_OK;
	}
	wqe->rdma.addr = hdr->rdma.remote_addr;
	wqe->rdma.compare_add = hdr->rdma.compare_add;
	wqe->rdma.swap = hdr->rdma.swap;
	wqe->rdma.rkey = hdr->rdma.rkey;
	return SRN_OK;
}

static enum srn_verdict fetch(const struct srn_send_wqe *slot, const struct srn_wqe_limits *lim,
			      struct srn_wqe *wqe)
{
	struct srn_send_wqe hdr;
	const struct op_row *op;

	copy_once(&hdr, slot, sizeof(hdr));
	memset(wqe, 0, sizeof(*wqe));
	wqe->wr_id = hdr.wr_id;
	wqe->flags = hdr.flags & SEND_FLAGS;
	wqe->imm = hdr.imm;
	wqe->inv_rkey = hdr.inv_rkey;

	op = op_find(hdr.opcode, lim);
	if (!op)
		return SRN_V_LOC_QP_OP;
	wqe->opcode = hdr.opcode;
	if (hdr.flags & ~SEND_FLAGS)
		return SRN_V_LOC_QP_OP;
	return fetch_data(slot, &hdr, lim, op, wqe) ?: fetch_op(&hdr, lim, wqe);
}

enum srn_verdict srn_wqe_fetch(const struct srn_send_wqe *slot, const struct srn_wqe_limits *lim,
			       struct srn_wqe *wqe)
{
	wqe->status = fetch(slot, lim, wqe);
	return wqe->status;
}
EXPORT_SYMBOL_IF_KUNIT(srn_wqe_fetch);

static int copy_inline(const struct ib_send_wr *wr, const struct srn_wqe_limits *lim,
		       const struct op_row *op, struct srn_wqe *wqe)
{
	u32 done = 0;
	int i;

	if (!(op->what & HAS_INLINE))
		return -EINVAL;
	for (i = 0; i < wr->num_sge; i++) {
		const struct ib_sge *sge = &wr->sg_list[i];

		if (sge->length > lim->max_inline - done)
			return -EINVAL;
		memcpy(wqe->data + done, (void *)(uintptr_t)sge->addr, sge->length);
		done += sge->length;
	}
	wqe->length = done;
	return 0;
}

static int copy_data(const struct ib_send_wr *wr, const struct srn_wqe_limits *lim,
		     const struct op_row *op, struct srn_wqe *wqe)
{
	if (!(op->what & (HAS_DATA | HAS_RESULT)))
		return 0;
	if (wr->num_sge < 0 || wr->num_sge > lim->max_sge)
		return -EINVAL;
	if (wr->send_flags & IB_SEND_INLINE)
		return copy_inline(wr, lim, op, wqe);
	wqe->num_sge = wr->num_sge;
	memcpy(wqe->sge, wr->sg_list, array_size(wr->num_sge, sizeof(*wqe->sge)));
	return prove_length(wqe, op) ? -EINVAL : 0;
}

static int copy_ud(const struct ib_ud_wr *wr, struct srn_wqe *wqe)
{
	if (!wr->ah)
		return -EINVAL;
	wqe->ud.qpn = wr->remote_qpn;
	wqe->ud.qkey = wr->remote_qkey;
	wqe->ud.pkey_index = wr->pkey_index;
	wqe->ud.av = srn_av_hold(wr->ah);
	return wqe->ud.av ? 0 : -EINVAL;
}

static int copy_op(const struct ib_send_wr *wr, const struct srn_wqe_limits *lim,
		   struct srn_wqe *wqe)
{
	if (is_ud(lim))
		return copy_ud(ud_wr(wr), wqe);

	switch (wr->opcode) {
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
	case IB_WR_RDMA_READ:
		wqe->rdma.addr = rdma_wr(wr)->remote_addr;
		wqe->rdma.rkey = rdma_wr(wr)->rkey;
		return 0;
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		wqe->rdma.addr = atomic_wr(wr)->remote_addr;
		wqe->rdma.rkey = atomic_wr(wr)->rkey;
		wqe->rdma.compare_add = atomic_wr(wr)->compare_add;
		wqe->rdma.swap = atomic_wr(wr)->swap;
		return 0;
	case IB_WR_REG_MR:
		wqe->reg.mr = reg_wr(wr)->mr;
		wqe->reg.key = reg_wr(wr)->key;
		wqe->reg.access = reg_wr(wr)->access;
		return wqe->reg.mr ? 0 : -EINVAL;
	case IB_WR_ATOMIC_WRITE:
	case IB_WR_BIND_MW:
		return -EINVAL;	/* the kernel's verbs have no form for them */
	default:
		return 0;
	}
}

int srn_wqe_from_wr(const struct ib_send_wr *wr, const struct srn_wqe_limits *lim,
		    struct srn_wqe *wqe)
{
	const struct op_row *op = op_find(wr->opcode, lim);

	if (!op || wr->send_flags & ~SEND_FLAGS)
		return -EINVAL;
	memset(wqe, 0, sizeof(*wqe));
	wqe->wr_id = wr->wr_id;
	wqe->opcode = wr->opcode;
	wqe->flags = wr->send_flags;
	if (wr->opcode == IB_WR_SEND_WITH_INV || wr->opcode == IB_WR_LOCAL_INV)
		wqe->inv_rkey = wr->ex.invalidate_rkey;
	else
		wqe->imm = wr->ex.imm_data;
	return copy_data(wr, lim, op, wqe) ?: copy_op(wr, lim, wqe);
}
EXPORT_SYMBOL_IF_KUNIT(srn_wqe_from_wr);

void srn_wqe_release(const struct srn_wqe_limits *lim, struct srn_wqe *wqe)
{
	if (!is_ud(lim) || !wqe->ud.av)
		return;
	srn_av_put(wqe->ud.av);
	wqe->ud.av = NULL;
}
EXPORT_SYMBOL_IF_KUNIT(srn_wqe_release);

enum srn_verdict srn_rwqe_fetch(const struct srn_recv_wqe *slot, u32 max_sge,
				struct srn_rwqe *rwqe)
{
	struct srn_recv_wqe hdr;

	copy_once(&hdr, slot, sizeof(hdr));
	rwqe->wr_id = hdr.wr_id;
	rwqe->length = 0;
	rwqe->num_sge = 0;
	if (hdr.num_sge > min_t(u32, max_sge, SRN_MAX_SGE))
		return SRN_V_LOC_QP_OP;
	rwqe->num_sge = hdr.num_sge;
	copy_once(rwqe->sge, slot + 1, hdr.num_sge * sizeof(struct srn_sge));
	/* More room than a message can fill is no error. */
	sge_total(rwqe->sge, rwqe->num_sge, &rwqe->length);
	return SRN_OK;
}
EXPORT_SYMBOL_IF_KUNIT(srn_rwqe_fetch);

int srn_rwqe_store(const struct ib_recv_wr *wr, u32 max_sge, struct srn_recv_wqe *slot)
{
	if (wr->num_sge < 0 || wr->num_sge > max_sge)
		return -EINVAL;
	slot->wr_id = wr->wr_id;
	slot->num_sge = wr->num_sge;
	slot->reserved = 0;
	memcpy(slot + 1, wr->sg_list, array_size(wr->num_sge, sizeof(struct srn_sge)));
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_rwqe_store);
