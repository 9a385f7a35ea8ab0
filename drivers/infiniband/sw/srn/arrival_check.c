// SPDX-License-Identifier: GPL-2.0-only
/* What a RC or UC request must be to be executed: one visible list of checks, at
 * the end. Two leave something behind: rights a reference, receive an open WQE.
 */
#include "arrival.h"

#include <linux/align.h>

#include "limits.h"
#include "mem.h"
#include "qp.h"
#include "rq.h"

/* Reserved opcodes have no operation and may follow nothing. */
static enum srn_verdict check_sequence(const struct srn_arrival *a)
{
	return srn_arrival_may_follow(a->msg->op, a->info->op, a->info->pos) ?
		SRN_OK : SRN_V_INV_REQ;
}

/* Those of a run were proven: srn_responder_takes_run(). */
static bool len_fits(const struct srn_arrival *a)
{
	return a->pkt->more || srn_arrival_len_fits(a->info->pos, a->pkt->len, a->qp->mtu);
}

/* offset is at most SRN_MAX_MSG_SIZE and len less than 64 KiB here: no overflow. */
static bool message_fits(const struct srn_arrival *a)
{
	u32 sum = a->offset + a->pkt->len;

	if (a->info->op == SRN_OP_SEND)
		return sum <= SRN_MAX_MSG_SIZE;
	if (a->range.len > SRN_MAX_MSG_SIZE)
		return false;
	return a->end ? sum == a->range.len : sum < a->range.len;
}

static enum srn_verdict check_length(const struct srn_arrival *a)
{
	bool fits;

	switch (a->info->op) {
	case SRN_OP_SEND:
	case SRN_OP_WRITE:
		fits = len_fits(a) && message_fits(a);
		break;
	case SRN_OP_READ_REQ:
		fits = a->range.len <= SRN_MAX_MSG_SIZE;
		break;
	case SRN_OP_ATOMIC_WRITE:
		fits = a->pkt->len == sizeof(u64) && a->range.len == sizeof(u64);
		break;
	default:
		fits = true;
	}
	return fits ? SRN_OK : SRN_V_INV_REQ;
}

/* The start of a message proves its whole range, so that it fails before it has
 * done half its work; the others prove their part again: the key may have gone.
 */
static enum srn_verdict get_mem(struct srn_arrival *a)
{
	u64 from = a->start ? a->range.va : a->range.va + a->offset;
	u32 len = a->start ? a->range.len : a->pkt->len;

	if (!len)
		return SRN_OK;	/* C9-88: no bytes, no key */
	return srn_mem_get_remote(&a->qp->who, a->range.rkey, from, len, a->info->access, &a->mem);
}

/* By address as the standard has it, and in memory, where a region that begins
 * anywhere may put an aligned address.
 */
static bool is_aligned(const struct srn_arrival *a)
{
	unsigned int off;

	srn_mem_page(a->mem, a->range.va, &off);
	return IS_ALIGNED(a->range.va, sizeof(u64)) && IS_ALIGNED(off, sizeof(u64));
}

/* A right that the QP lacks is an unsupported request; one that the region lacks
 * is an access error.
 */
static enum srn_verdict check_rights(struct srn_arrival *a)
{
	enum srn_verdict v;

	if (!a->info->access)
		return SRN_OK;
	if (!(a->qp->access & a->info->access))
		return SRN_V_INV_REQ;
	if (a->info->is_atomic && !IS_ALIGNED(a->range.va, sizeof(u64)))
		return SRN_V_INV_REQ;
	v = get_mem(a);
	if (v)
		return v;
	return a->info->is_atomic && !is_aligned(a) ? SRN_V_INV_REQ : SRN_OK;
}

/* Where the payload of a SEND goes, and whom an immediate is told. Whether it fits there is
 * found out when it is placed, before any of its bytes are.
 */
static enum srn_verdict check_receive(const struct srn_arrival *a)
{
	if (a->info->op != SRN_OP_SEND && !srn_arrival_has_imm(a))
		return SRN_OK;
	return srn_rq_open(a->qp);
}

/* A peer with more READs and atomics open than was agreed on, rounded up. */
static enum srn_verdict check_replay(const struct srn_arrival *a)
{
	if (a->info->is_stream)
		return SRN_OK;
	return srn_replay_has_room(&a->qp->resp.replay) ? SRN_OK : SRN_V_INV_REQ;
}

/* In the order of the standard (9.7.4). Rights come before the receive WQE, since
 * taking one cannot be undone.
 */
enum srn_verdict srn_arrival_check(struct srn_arrival *a)
{
	return check_sequence(a) ?:
	       check_length(a) ?:
	       check_rights(a) ?:
	       check_replay(a) ?:
	       check_receive(a);
}
