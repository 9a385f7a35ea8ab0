// SPDX-License-Identifier: GPL-2.0-only
/* READ responses: packets, or runs of them. */
#include "response.h"

#include "mem.h"
#include "parse.h"
#include "psn.h"
#include "qp.h"
#include "run.h"
#include "sgl.h"
#include "sq.h"
#include "stats.h"

static u32 offset_of(const struct srn_qp *qp, const struct srn_wqe *wqe, u32 psn)
{
	return srn_psn_diff(psn, wqe->first_psn) * qp->mtu;
}

/* A READ that was asked for again in the middle goes on with FIRST or ONLY, or, as
 * rxe does it, with MIDDLE or LAST; its start and the ends of its chunks are
 * unmistakable. It may end before that where parts of it are asked for.
 */
static bool fits_position(const struct srn_qp *qp, const struct srn_wqe *wqe, struct sk_buff *skb)
{
	u8 first = srn_pkt_info(skb)->pos, last = srn_pkt_last(skb)->pos;
	u32 index = srn_psn_diff(srn_pkt(skb)->psn, wqe->first_psn);
	u32 next = index + srn_pkt_num(skb);
	bool ends = last == SRN_POS_LAST || last == SRN_POS_ONLY;
	bool end = srn_pkt_last_psn(skb) == wqe->last_psn || next % wqe->chunk == 0;
	bool starts = first == SRN_POS_FIRST || first == SRN_POS_ONLY;

	if (srn_psn_diff(srn_pkt_last_psn(skb), wqe->last_psn) > 0 ||
	    index / wqe->chunk != (next - 1) / wqe->chunk)
		return false;
	if (ends != end && (end || !qp->peer.parts))
		return false;
	return starts || index % wqe->chunk;
}

static bool is_ack(u8 syndrome)
{
	return u8_get_bits(syndrome, SRN_SYN_CLASS) == SRN_SYN_ACK;
}

bool srn_response_says_ack(struct sk_buff *skb)
{
	if (srn_pkt_info(skb)->hdrs & SRN_HDR_AETH && !is_ack(srn_pkt_syndrome(skb)))
		return false;
	if (!srn_pkt_is_run(skb) || !(srn_pkt_last(skb)->hdrs & SRN_HDR_AETH))
		return true;
	return is_ack(be32_get_bits(srn_pkt(skb)->word, SRN_AETH_SYNDROME));
}

bool srn_response_fits(const struct srn_qp *qp, const struct srn_wqe *wqe, struct sk_buff *skb)
{
	const struct srn_pkt *pkt = srn_pkt(skb);
	u32 left = wqe->length - offset_of(qp, wqe, pkt->psn);

	return srn_wqe_is_read(wqe) && pkt->len == min(srn_pkt_num(skb) * qp->mtu, left) &&
	       fits_position(qp, wqe, skb) && srn_response_says_ack(skb);
}

/* Whoever may send on this host can say so. What comes a second time was placed then. */
static bool was_placed(const struct srn_wqe *wqe, struct sk_buff *skb)
{
	return srn_psn_diff(srn_pkt_last_psn(skb), wqe->placed_psn) < 0;
}

enum srn_verdict srn_response_place(struct srn_qp *qp, const struct srn_wqe *wqe,
				    struct sk_buff *skb)
{
	const struct srn_pkt *pkt = srn_pkt(skb);
	struct srn_sgl sgl = srn_qp_sgl(qp, wqe->sge, wqe->num_sge);
	enum srn_verdict v;
	struct srn_mem *mem;

	if (pkt->flags & SRN_PKT_BARE) {
		if (was_placed(wqe, skb))
			return SRN_OK;
		srn_count(qp->dev, SRN_CNT_UNPLACED);
		return SRN_V_DROP;
	}
	if (!srn_run_hold(skb, &mem))
		return SRN_V_DROP;
	v = srn_sgl_write_skb(&sgl, offset_of(qp, wqe, pkt->psn), skb, srn_pkt_payload(skb),
			      pkt->len);
	if (mem)
		srn_mem_put(mem);
	return v;
}

/* Whether it asked for so much with them, in one request. */
static bool asks_for(const struct srn_qp *qp, const struct srn_wqe *wqe, u32 psn, u32 num, u32 len)
{
	u32 first = srn_psn_diff(psn, wqe->first_psn);

	return srn_psn_diff(srn_psn_add(psn, num), qp->window.end) <= 0 &&
	       first / wqe->chunk == (first + num - 1) / wqe->chunk &&
	       len == min(num * qp->mtu, wqe->length - first * qp->mtu);
}

/* The READ that waits for @len bytes in the @num packets from @psn on, all before being answered or
 * placed; or NULL.
 */
static struct srn_wqe *awaiting(struct srn_qp *qp, u32 psn, u32 num, u32 len)
{
	struct srn_wqe *wqe;
	u32 index;

	if (!srn_window_has(&qp->window, psn))
		return NULL;
	index = srn_sq_find(&qp->sq, psn);
	if (index == qp->sq.fetched)
		return NULL;
	wqe = srn_sq_wqe(&qp->sq, index);
	if (!wqe->started || !srn_wqe_is_read(wqe) ||
	    srn_psn_diff(srn_psn_add(psn, num - 1), wqe->last_psn) > 0)
		return NULL;
	/* What came in packets is as good as placed. */
	if (srn_psn_diff(wqe->placed_psn, wqe->done_psn) < 0)
		wqe->placed_psn = wqe->done_psn;
	if (srn_psn_diff(psn, wqe->done_psn) < 0 || srn_psn_diff(psn, wqe->placed_psn) > 0)
		return NULL;
	return asks_for(qp, wqe, psn, num, len) ? wqe : NULL;
}

bool srn_response_place_mem(struct srn_qp *qp, u32 psn, u32 num, const struct srn_mem *mem, u64 va,
			    u32 len)
{
	struct srn_wqe *wqe = awaiting(qp, psn, num, len);
	u32 end = srn_psn_add(psn, num);
	struct srn_sgl sgl;

	if (!wqe)
		return false;
	sgl = srn_qp_sgl(qp, wqe->sge, wqe->num_sge);
	if (srn_sgl_write_mem(&sgl, offset_of(qp, wqe, psn), mem, va, len))
		return false;
	if (srn_psn_diff(end, wqe->placed_psn) > 0)
		wqe->placed_psn = end;
	return true;
}
