/* SPDX-License-Identifier: GPL-2.0-only */
/* One packet of the answer to a READ: whether it is right, and where its bytes go. When it is
 * taken is the completer's to know.
 */
#ifndef SRN_RESPONSE_H
#define SRN_RESPONSE_H

#include <linux/types.h>

#include "verdict.h"

struct sk_buff;
struct srn_mem;
struct srn_qp;
struct srn_wqe;

/** srn_response_says_ack() - data with a NAK is no answer; MIDDLE has no AETH */
bool srn_response_says_ack(struct sk_buff *skb);

/** srn_response_fits() - whether a packet, of one of its PSNs, is what a READ of @wqe is answered with */
bool srn_response_fits(const struct srn_qp *qp, const struct srn_wqe *wqe, struct sk_buff *skb);

/**
 * srn_response_place() - its bytes, which fit, to their place
 *
 * Return: SRN_OK, also where they are there already; SRN_V_DROP if they may not be read, or were never
 * placed, though it says so; or what is wrong with an SGE.
 */
enum srn_verdict srn_response_place(struct srn_qp *qp, const struct srn_wqe *wqe,
				    struct sk_buff *skb);

/**
 * srn_response_place_mem() - what the @num packets from @psn on will stand for, before they come
 * @mem: the answer's region, proven for @len bytes from @va on
 *
 * BH disabled; owner of the turn. Return: false if nobody asked @qp's peer for these, or they are behind some
 * that have not come, or an SGE is wrong: they have to come with their bytes.
 */
bool srn_response_place_mem(struct srn_qp *qp, u32 psn, u32 num, const struct srn_mem *mem, u64 va,
			    u32 len);

#endif
