// SPDX-License-Identifier: GPL-2.0-only
/* Building packets from the BTH on. */
#include "build.h"

#include <kunit/visibility.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>

#include "head.h"
#include "limits.h"

/* Pad and ICRC stand behind linear payloads. */
#define TRAILER_MAX	(3 + SRN_ICRC_SIZE)
#define IP_UDP		(sizeof(struct ipv6hdr) + sizeof(struct udphdr))

struct sk_buff *srn_build(u8 opcode, unsigned int flags, u32 dqpn, u32 psn, u32 linear)
{
	/* What is alone needs little: the stack makes more room where it has to. */
	u32 room = (flags & SRN_BUILD_ALONE ? LL_MAX_HEADER : SRN_BUILD_LOWER) + IP_UDP;
	struct srn_bth *bth;
	struct sk_buff *skb;

	if (linear > SRN_BUILD_LINEAR && !(flags & SRN_BUILD_PACK))
		linear = 0;
	skb = srn_head_alloc(room + SRN_MAX_HDR_LEN + linear + TRAILER_MAX);
	if (!skb)
		return NULL;
	skb_reserve(skb, room);
	bth = __skb_put(skb, sizeof(*bth));	/* the room is there */
	bth->opcode = opcode;
	/* MigReq set: the path is the migrated one, as it is without APM. */
	bth->flags = SRN_BTH_MIGREQ | (flags & SRN_BUILD_SE ? SRN_BTH_SE : 0);
	bth->pkey = cpu_to_be16(SRN_PKEY_DEFAULT);
	bth->dqpn = cpu_to_be32(dqpn);
	bth->apsn = cpu_to_be32(psn | (flags & SRN_BUILD_ACKREQ ? SRN_BTH_ACKREQ : 0));
	return skb;
}
EXPORT_SYMBOL_IF_KUNIT(srn_build);

void srn_build_deth(struct sk_buff *skb, u32 qkey, u32 sqpn)
{
	struct srn_deth *deth = skb_put(skb, sizeof(*deth));

	deth->qkey = cpu_to_be32(qkey);
	deth->sqpn = cpu_to_be32(sqpn);
}

void srn_build_reth(struct sk_buff *skb, u64 va, u32 rkey, u32 len)
{
	srn_reth_set(skb_put(skb, sizeof(struct srn_reth)), va, rkey, len);
}
EXPORT_SYMBOL_IF_KUNIT(srn_build_reth);

void srn_build_atomic(struct sk_buff *skb, u64 va, u32 rkey, u64 swap_add, u64 compare)
{
	struct srn_atomic_eth *atomic = skb_put(skb, sizeof(*atomic));

	atomic->va = cpu_to_be64(va);
	atomic->rkey = cpu_to_be32(rkey);
	atomic->swap_add = cpu_to_be64(swap_add);
	atomic->compare = cpu_to_be64(compare);
}

void srn_build_aeth(struct sk_buff *skb, u8 syndrome, u32 msn)
{
	struct srn_aeth *aeth = skb_put(skb, sizeof(*aeth));

	aeth->smsn = srn_build_smsn(syndrome, msn);
}
EXPORT_SYMBOL_IF_KUNIT(srn_build_aeth);

void srn_build_atomic_ack(struct sk_buff *skb, u64 orig)
{
	struct srn_atomic_ack_eth *ack = skb_put(skb, sizeof(*ack));

	ack->orig = cpu_to_be64(orig);
}

void srn_build_imm(struct sk_buff *skb, __be32 imm)
{
	struct srn_imm *eth = skb_put(skb, sizeof(*eth));

	eth->data = imm;
}
EXPORT_SYMBOL_IF_KUNIT(srn_build_imm);

void srn_build_ieth(struct sk_buff *skb, u32 rkey)
{
	struct srn_ieth *eth = skb_put(skb, sizeof(*eth));

	eth->rkey = cpu_to_be32(rkey);
}
EXPORT_SYMBOL_IF_KUNIT(srn_build_ieth);

void *srn_build_payload(struct sk_buff *skb, u32 len)
{
	struct page *page;

	static_assert(PAGE_SIZE >= SRN_MAX_PAYLOAD);
	if (len <= SRN_BUILD_LINEAR)
		return skb_put(skb, len);
	page = srn_head_page();
	if (!page)
		return NULL;
	skb_add_rx_frag(skb, 0, page, 0, len, PAGE_SIZE);
	return page_address(page);
}
EXPORT_SYMBOL_IF_KUNIT(srn_build_payload);
