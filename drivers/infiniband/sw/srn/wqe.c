// SPDX-License-Identifier: GPL-2.0-only
/* Fetch and prove. A slot of a ring may change while it is read: each word is
 * read once, into a copy, and only the copy is judged and used.
 */
#include "wqe.h"

#include "ah.h"
#include "mem.h"
#include "service.h"
#include "wire.h"
#include "wr_op.h"

#include <kunit/visibility.h>
#include <linux/log2.h>
#include <linux/overflow.h>

#define SEND_FLAGS	(IB_SEND_FENCE | IB_SEND_SIGNALED | IB_SEND_SOLICITED | IB_SEND_INLINE)

static_assert(sizeof(struct srn_send_wqe) == 64);
static_assert(sizeof(struct srn_recv_wqe) == 16);
static_assert(sizeof(struct srn_sge) == sizeof(struct ib_sge));
static_assert(offsetof(struct srn_sge, length) == offsetof(struct ib_sge, length));
static_assert(offsetof(struct srn_sge, lkey) == offsetof(struct ib_sge, lkey));

/* The row of an opcode that the queue takes, or NULL. */
static const struct srn_wr_op *op_find(u32 opcode, const struct srn_wqe_limits *lim)
{
	const struct srn_wr_op *op;

	if (opcode >= ARRAY_SIZE(srn_wr_ops))
		return NULL;
	op = &srn_wr_ops[array_index_nospec(opcode, ARRAY_SIZE(srn_wr_ops))];
	if (!op->what || op->what & (lim->who->kernel ? SRN_WR_USER : SRN_WR_KERNEL))
		return NULL;
	return (op->what & lim->svc->takes) == lim->svc->takes ? op : NULL;
}

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
static enum srn_verdict prove_length(struct srn_wqe *wqe, const struct srn_wr_op *op)
{
	u64 total;

	if (!sge_total(wqe->sge, wqe->num_sge, &total))
		return SRN_V_LOC_LEN;
	if (op->what & SRN_WR_FETCH) {
		if (total < sizeof(u64))
			return SRN_V_LOC_LEN;
		total = sizeof(u64);
	}
	wqe->length = total;
	return SRN_OK;
}

static enum srn_verdict fetch_inline(const struct srn_send_wqe *slot, u32 len,
				     const struct srn_wqe_limits *lim, const struct srn_wr_op *op,
				     struct srn_wqe *wqe)
{
	if (!(op->what & SRN_WR_INLINE) || len > lim->max_inline)
		return SRN_V_LOC_QP_OP;
	memcpy(wqe->data, slot + 1, len);
	wqe->length = len;
	return SRN_OK;
}

static enum srn_verdict fetch_sges(const struct srn_send_wqe *slot, u32 num,
				   const struct srn_wqe_limits *lim, const struct srn_wr_op *op,
				   struct srn_wqe *wqe)
{
	if (num > lim->max_sge)
		return SRN_V_LOC_QP_OP;
	wqe->num_sge = num;
	copy_once(wqe->sge, slot + 1, num * sizeof(struct srn_sge));
	return prove_length(wqe, op);
}

static enum srn_verdict fetch_data(const struct srn_send_wqe *slot, u32 flags,
				   const struct srn_wqe_limits *lim, const struct srn_wr_op *op,
				   struct srn_wqe *wqe)
{
	u32 num_sge = READ_ONCE(slot->num_sge), inline_len = READ_ONCE(slot->inline_len);

	if (op->what & SRN_WR_WORD) {
		wqe->length = sizeof(u64);
		return num_sge || inline_len ? SRN_V_LOC_QP_OP : SRN_OK;
	}
	if (!(op->what & (SRN_WR_DATA | SRN_WR_RESULT)))
		return SRN_OK;
	if (flags & IB_SEND_INLINE)
		return fetch_inline(slot, inline_len, lim, op, wqe);
	return fetch_sges(slot, num_sge, lim, op, wqe);
}

static enum srn_verdict fetch_ud(const struct srn_send_wqe *slot, const struct srn_wqe_limits *lim,
				 struct srn_wqe *wqe)
{
	/* Other bits would be FECN, BECN. */
	wqe->ud.qpn = READ_ONCE(slot->ud.remote_qpn) & SRN_BTH_QPN;
	wqe->ud.qkey = READ_ONCE(slot->ud.remote_qkey);
	wqe->ud.av = srn_av_get(lim->who, READ_ONCE(slot->ud.ah));
	return wqe->ud.av ? SRN_OK : SRN_V_LOC_QP_OP;
}

static enum srn_verdict fetch_window(const struct srn_send_wqe *slot, struct srn_wqe *wqe)
{
	wqe->bind.addr = READ_ONCE(slot->bind.addr);
	wqe->bind.length = READ_ONCE(slot->bind.length);
	wqe->bind.mr_lkey = READ_ONCE(slot->bind.mr_lkey);
	wqe->bind.mw_rkey = READ_ONCE(slot->bind.mw_rkey);
	wqe->bind.new_rkey = READ_ONCE(slot->bind.new_rkey);
	wqe->bind.access = READ_ONCE(slot->bind.access);
	return wqe->bind.access & ~IB_ACCESS_SUPPORTED ? SRN_V_MW_BIND : SRN_OK;
}

/* The operation's own words. Last, as it takes the reference. */
static enum srn_verdict fetch_words(const struct srn_send_wqe *slot,
				    const struct srn_wqe_limits *lim, const struct srn_wr_op *op,
				    struct srn_wqe *wqe)
{
	if (!lim->svc->connected)
		return fetch_ud(slot, lim, wqe);
	switch (op->form) {
	case SRN_WR_WINDOW:
		return fetch_window(slot, wqe);
	case SRN_WR_OPERANDS:
		wqe->rdma.compare_add = READ_ONCE(slot->rdma.compare_add);
		wqe->rdma.swap = READ_ONCE(slot->rdma.swap);
		fallthrough;
	case SRN_WR_ADDRESS:
		wqe->rdma.addr = READ_ONCE(slot->rdma.remote_addr);
		wqe->rdma.rkey = READ_ONCE(slot->rdma.rkey);
		fallthrough;
	default:
		return SRN_OK;
	}
}

/* Of the request that was there before nothing may show where this one fails: what it completes as,
 * and what it holds.
 */
static void clear(struct srn_wqe *wqe)
{
	wqe->opcode = 0;
	wqe->num_sge = 0;
	wqe->length = 0;
	wqe->ud.av = NULL;
	wqe->started = false;
	wqe->pieces = false;
	wqe->done = false;
}

static enum srn_verdict fetch(const struct srn_send_wqe *slot, const struct srn_wqe_limits *lim,
			      struct srn_wqe *wqe)
{
	u32 opcode = READ_ONCE(slot->opcode), flags = READ_ONCE(slot->flags);
	const struct srn_wr_op *op;

	clear(wqe);
	wqe->wr_id = READ_ONCE(slot->wr_id);
	wqe->flags = flags & SEND_FLAGS;
	wqe->imm = READ_ONCE(slot->imm);
	wqe->inv_rkey = READ_ONCE(slot->inv_rkey);

	op = op_find(opcode, lim);
	if (!op)
		return SRN_V_LOC_QP_OP;
	wqe->opcode = opcode;
	if (flags & ~SEND_FLAGS)
		return SRN_V_LOC_QP_OP;
	return fetch_data(slot, flags, lim, op, wqe) ?: fetch_words(slot, lim, op, wqe);
}

enum srn_verdict srn_wqe_fetch(const struct srn_send_wqe *slot, const struct srn_wqe_limits *lim,
			       struct srn_wqe *wqe)
{
	wqe->status = fetch(slot, lim, wqe);
	return wqe->status;
}
EXPORT_SYMBOL_IF_KUNIT(srn_wqe_fetch);

static int copy_inline(const struct ib_send_wr *wr, const struct srn_wqe_limits *lim,
		       const struct srn_wr_op *op, struct srn_wqe *wqe)
{
	u32 done = 0;
	int i;

	if (!(op->what & SRN_WR_INLINE))
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
		     const struct srn_wr_op *op, struct srn_wqe *wqe)
{
	if (!(op->what & (SRN_WR_DATA | SRN_WR_RESULT)))
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
	wqe->ud.qpn = wr->remote_qpn & SRN_BTH_QPN;
	wqe->ud.qkey = wr->remote_qkey;
	wqe->ud.av = srn_av_hold(wr->ah);
	return wqe->ud.av ? 0 : -EINVAL;
}

static int copy_reg(const struct ib_reg_wr *wr, struct srn_wqe *wqe)
{
	if (!wr->mr)
		return -EINVAL;
	wqe->reg.mr = wr->mr;
	/* Now, not when it was mapped: NFS numbers its regions, SMC and RDS start at 0. */
	wqe->reg.iova = wr->mr->iova;
	wqe->reg.key = wr->key;
	wqe->reg.access = wr->access;
	return 0;
}

static int copy_words(const struct ib_send_wr *wr, const struct srn_wqe_limits *lim,
		      const struct srn_wr_op *op, struct srn_wqe *wqe)
{
	if (!lim->svc->connected)
		return copy_ud(ud_wr(wr), wqe);
	switch (op->form) {
	case SRN_WR_ADDRESS:
		wqe->rdma.addr = rdma_wr(wr)->remote_addr;
		wqe->rdma.rkey = rdma_wr(wr)->rkey;
		return 0;
	case SRN_WR_OPERANDS:
		wqe->rdma.addr = atomic_wr(wr)->remote_addr;
		wqe->rdma.rkey = atomic_wr(wr)->rkey;
		wqe->rdma.compare_add = atomic_wr(wr)->compare_add;
		wqe->rdma.swap = atomic_wr(wr)->swap;
		return 0;
	case SRN_WR_REGION:
		return copy_reg(reg_wr(wr), wqe);
	default:
		return 0;
	}
}

int srn_wqe_from_wr(const struct ib_send_wr *wr, const struct srn_wqe_limits *lim,
		    struct srn_wqe *wqe)
{
	const struct srn_wr_op *op = op_find(wr->opcode, lim);

	if (!op || wr->send_flags & ~SEND_FLAGS)
		return -EINVAL;
	memset(wqe, 0, sizeof(*wqe));
	wqe->wr_id = wr->wr_id;
	wqe->opcode = wr->opcode;
	wqe->flags = wr->send_flags;
	if (op->what & SRN_WR_INV)
		wqe->inv_rkey = wr->ex.invalidate_rkey;
	else
		wqe->imm = wr->ex.imm_data;
	return copy_data(wr, lim, op, wqe) ?: copy_words(wr, lim, op, wqe);
}
EXPORT_SYMBOL_IF_KUNIT(srn_wqe_from_wr);

void srn_wqe_release(const struct srn_wqe_limits *lim, struct srn_wqe *wqe)
{
	if (lim->svc->connected || !wqe->ud.av)
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
