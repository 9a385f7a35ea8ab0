// SPDX-License-Identifier: GPL-2.0-only
/* Cutting runs, and packs as well. The run is only read: others may have clones of it. */
#include "run_cut.h"

#include <linux/bottom_half.h>
#include <linux/err.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/sizes.h>
#include <linux/udp.h>
#include <net/gso.h>
#include <net/sock.h>
#include <rdma/ib_pack.h>

#include "copy.h"
#include "head.h"
#include "icrc.h"
#include "limits.h"
#include "mem.h"
#include "opcode.h"
#include "psn.h"
#include "xmit.h"

#define WORD_LEN	sizeof(__be32)
/* Of what is cut from pages (head.h): headers, and what is linear of a payload. */
#define SHORT_MAX	SZ_1K
/* Pad and ICRC. */
#define TRAILER_MAX	(3 + SRN_ICRC_SIZE)

/* Nothing else is sent so, and every packet of these has payload. */
static bool may_begin(const struct srn_opcode *info)
{
	return (info->is_stream || info->op == SRN_OP_READ_RESP) &&
	       (info->pos == SRN_POS_FIRST || info->pos == SRN_POS_MIDDLE);
}

static bool may_end(const struct srn_run_cut *cut)
{
	const struct srn_opcode *first = &srn_opcodes[cut->bth.opcode];
	const struct srn_opcode *last = &srn_opcodes[cut->run.opcode];

	if (last->op != first->op ||
	    srn_opcode_svc(cut->run.opcode) != srn_opcode_svc(cut->bth.opcode))
		return false;
	if (last->pos == SRN_POS_MIDDLE)
		return cut->len == cut->run.num * cut->run.each;
	return last->pos == SRN_POS_LAST;
}

static bool is_sound(const struct srn_run_cut *cut)
{
	const struct srn_run *run = &cut->run;

	if (run->magic != SRN_RUN_MAGIC || run->num < 2 || run->num > SRN_RUN_MAX)
		return false;
	if (!run->each || run->each % 4 || run->each > SRN_MAX_PAYLOAD)
		return false;
	if ((srn_run_cut_is_lent(cut) || srn_run_cut_is_bare(cut)) &&
	    srn_opcodes[cut->bth.opcode].op != SRN_OP_READ_RESP)
		return false;
	return cut->len > (run->num - 1) * run->each && cut->len <= run->num * run->each &&
	       may_end(cut);
}

/* Behind the descriptor. */
static bool read_lease(struct srn_run_cut *cut)
{
	cut->mem = NULL;
	if (!srn_run_cut_is_lent(cut))
		return true;
	if (skb_copy_bits(cut->skb, cut->payload, &cut->lease, sizeof(cut->lease)))
		return false;
	cut->payload += sizeof(cut->lease);
	return true;
}

static bool begin_pack(struct srn_run_cut *cut, u32 start)
{
	if (!srn_pack_cut_begin(&cut->pack, cut->skb, start))
		return false;
	cut->mem = NULL;
	cut->run = (struct srn_run){
		.num = cut->pack.tail.num,
		.flags = cut->pack.tail.flags,
	};
	return true;
}

/* What it has, or, if that is nothing, says that it stands for: is_sound() proves either. */
static bool read_len(struct srn_run_cut *cut)
{
	cut->len = cut->skb->len - cut->payload;
	if (!srn_run_cut_is_bare(cut))
		return true;
	if (cut->len || srn_run_cut_is_lent(cut))
		return false;
	cut->len = (cut->run.num - 1u) * cut->run.each + cut->run.rest;
	return true;
}

static bool begin_run(struct srn_run_cut *cut, u32 start)
{
	const struct sk_buff *skb = cut->skb;

	if (!may_begin(&srn_opcodes[cut->bth.opcode]))
		return false;
	cut->start = start;
	cut->hdr_len = srn_opcode_hdr_len(cut->bth.opcode);
	if (skb_copy_bits(skb, start + cut->hdr_len, &cut->run, sizeof(cut->run)))
		return false;
	cut->payload = start + cut->hdr_len + sizeof(cut->run);
	return read_lease(cut) && read_len(cut) && is_sound(cut);
}

bool srn_run_cut_begin(struct srn_run_cut *cut, const struct sk_buff *skb, u32 start)
{
	if (skb_has_frag_list(skb) || skb_copy_bits(skb, start, &cut->bth, sizeof(cut->bth)))
		return false;
	cut->skb = skb;
	cut->i = 0;
	cut->psn = be32_get_bits(cut->bth.apsn, SRN_BTH_PSN);
	cut->packed = srn_pack_may_have(cut->bth.opcode);
	return cut->packed ? begin_pack(cut, start) : begin_run(cut, start);
}

bool srn_run_cut_hold(struct srn_run_cut *cut)
{
	if (srn_run_cut_is_lent(cut))
		cut->mem = srn_lease_get(&cut->lease);
	return cut->mem || !srn_run_cut_is_lent(cut);
}

void srn_run_cut_release(struct srn_run_cut *cut)
{
	if (cut->mem)
		srn_mem_put(cut->mem);
	cut->mem = NULL;
}

/* MIDDLE follows FIRST in the table of the standard. */
static_assert(IB_OPCODE_SEND_MIDDLE == IB_OPCODE_SEND_FIRST + 1);
static_assert(IB_OPCODE_RDMA_WRITE_MIDDLE == IB_OPCODE_RDMA_WRITE_FIRST + 1);
static_assert(IB_OPCODE_RDMA_READ_RESPONSE_MIDDLE == IB_OPCODE_RDMA_READ_RESPONSE_FIRST + 1);

static bool is_last(const struct srn_run_cut *cut)
{
	return cut->i == cut->run.num - 1;
}

bool srn_run_cut_next(struct srn_run_cut *cut)
{
	cut->i++;
	return cut->packed ? srn_pack_cut_next(&cut->pack) : cut->i < cut->run.num;
}

u8 srn_run_cut_opcode(const struct srn_run_cut *cut)
{
	bool first = srn_opcodes[cut->bth.opcode].pos == SRN_POS_FIRST;

	if (cut->packed)
		return cut->pack.msg.opcode;
	if (!cut->i)
		return cut->bth.opcode;
	return is_last(cut) ? cut->run.opcode : cut->bth.opcode + first;
}

u8 srn_run_cut_flags(const struct srn_run_cut *cut)
{
	if (cut->packed)
		return cut->pack.msg.flags;
	return is_last(cut) ? cut->run.flags & (SRN_PKT_SE | SRN_PKT_ACKREQ) : 0;
}

u32 srn_run_cut_len(const struct srn_run_cut *cut)
{
	if (cut->packed)
		return cut->pack.msg.len;
	return min_t(u32, cut->run.each, cut->len - cut->i * cut->run.each);
}

u32 srn_run_cut_psn(const struct srn_run_cut *cut)
{
	return srn_psn_add(cut->psn, cut->i);
}

/* What of @len bytes from @from on is linear. */
static u32 linear_part(const struct sk_buff *skb, u32 from, u32 len)
{
	u32 head = skb_headlen(skb);

	return from < head ? min(len, head - from) : 0;
}

static void attach(struct sk_buff *to, const skb_frag_t *frag, u32 skip, u32 len)
{
	struct skb_shared_info *info = skb_shinfo(to);
	struct page *page = skb_frag_page(frag);

	get_page(page);
	skb_fill_page_desc_noacc(to, info->nr_frags, page, skb_frag_off(frag) + skip, len);
	info->flags |= SKBFL_SHARED_FRAG;
	to->len += len;
	to->data_len += len;
	to->truesize += len;
}

/* What of @len bytes from @from on is in pages. */
static void attach_pages(struct sk_buff *to, const struct sk_buff *skb, u32 from, u32 len)
{
	const struct skb_shared_info *info = skb_shinfo(skb);
	u32 at = skb_headlen(skb), i, skip, here;

	for (i = 0; len && i < info->nr_frags; i++) {
		const skb_frag_t *frag = &info->frags[i];
		u32 size = skb_frag_size(frag);

		if (from < at + size) {
			skip = from - at;
			here = min(len, size - skip);
			attach(to, frag, skip, here);
			from += here;
			len -= here;
		}
		at += size;
	}
}

/* The same in pages of its own. */
static bool copy_pages(struct sk_buff *to, const struct sk_buff *skb, u32 from, u32 len)
{
	void *at;
	u32 here;

	for (; len; from += here, len -= here) {
		at = srn_head_add_page(to, len, &here);
		if (!at)
			return false;
		srn_copy_skb(skb, from, at, here);
	}
	return true;
}

static void put_headers(struct sk_buff *to, const struct srn_run_cut *cut)
{
	struct srn_bth *bth = skb_put_data(to, &cut->bth, sizeof(*bth));
	u8 opcode = srn_run_cut_opcode(cut), flags = srn_run_cut_flags(cut);
	u32 psn = srn_run_cut_psn(cut), rest = srn_opcode_hdr_len(opcode) - sizeof(*bth);

	bth->opcode = opcode;
	bth->flags &= ~(SRN_BTH_SE | SRN_BTH_PAD);
	if (flags & SRN_PKT_SE)
		bth->flags |= SRN_BTH_SE;
	if (flags & SRN_PKT_ACKREQ)
		psn |= SRN_BTH_ACKREQ;
	bth->apsn = cpu_to_be32(psn);
	if (!rest)
		return;
	if (cut->i)
		skb_put_data(to, &cut->run.word, WORD_LEN);
	else	/* they are there, since what stands behind them is */
		skb_copy_bits(cut->skb, cut->start + sizeof(*bth), skb_put(to, rest), rest);
}

/* From pages that are at hand, where it is short; else the stack clears what it allocates. */
static struct sk_buff *alloc(u32 size)
{
	return size <= SHORT_MAX ? srn_head_alloc(size) : alloc_skb(size, GFP_ATOMIC | __GFP_NOWARN);
}

static struct sk_buff *run_packet(const struct srn_run_cut *cut, u32 headroom, bool refs)
{
	u32 from = cut->payload + cut->i * cut->run.each, len = srn_run_cut_len(cut);
	u32 copied = refs ? linear_part(cut->skb, from, len) : len;
	struct sk_buff *skb;

	skb = alloc(headroom + SRN_MAX_HDR_LEN + copied + TRAILER_MAX);
	if (!skb)
		return NULL;
	skb_reserve(skb, headroom);
	put_headers(skb, cut);
	if (srn_run_cut_is_bare(cut))
		return skb;
	if (copied)
		srn_copy_skb(cut->skb, from, skb_put(skb, copied), copied);
	if (!srn_run_cut_is_lent(cut)) {
		attach_pages(skb, cut->skb, from + copied, len - copied);
	} else if (!copy_pages(skb, cut->skb, from + copied, len - copied)) {
		kfree_skb(skb);
		return NULL;
	}
	return skb;
}

struct sk_buff *srn_run_cut_packet(const struct srn_run_cut *cut, u32 headroom, bool refs)
{
	if (cut->packed)
		return srn_pack_cut_packet(&cut->pack, srn_run_cut_psn(cut), headroom);
	return run_packet(cut, headroom, refs);
}

/* The headers in front of the BTH, as who sent the run, and whoever changed them since, left them;
 * with the lengths of this packet. The stack will write those, and the id, once more, the same.
 */
static void put_outer(struct sk_buff *skb, const struct sk_buff *from, u32 outer, bool is_v6, u32 i)
{
	struct udphdr *udp = (void *)skb->data - sizeof(*udp);
	struct ipv6hdr *ip6 = (void *)udp - sizeof(*ip6);
	struct iphdr *ip = (void *)udp - sizeof(*ip);

	memcpy(skb->data - outer, from->data - outer, outer);
	udp->len = htons(sizeof(*udp) + skb->len);
	if (is_v6) {
		ip6->payload_len = udp->len;
		return;
	}
	ip->tot_len = htons(sizeof(*ip) + sizeof(*udp) + skb->len);
	ip->id = htons(ntohs(ip->id) + i);
}

/* Last: all else is final. Trailers are in one piece (srn_xmit_trailer()). All of them are some 64 KiB, by
 * SRN_RUN_BYTES and their headers. @num: how many; those of a run are of about one length, of a pack it is a guess.
 */
static void put_icrcs(struct sk_buff *skb, u32 num, bool is_v6)
{
	bool section = srn_icrc_begin(num * skb->len);
	__le32 icrc;
	u8 *udp;

	for (; skb; skb = skb->next) {
		udp = skb->data - sizeof(struct udphdr);
		icrc = srn_icrc_packet_in(section, skb, udp - (is_v6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr)),
					  udp, is_v6);
		memcpy(srn_icrc_place(skb), &icrc, sizeof(icrc));
	}
	srn_icrc_end(section);
}

/* One packet, behind as much room as the run has in front of its BTH; whole, but for its ICRC. */
static struct sk_buff *segment(const struct srn_run_cut *cut, u32 outer,
			       netdev_features_t features)
{
	bool is_v6 = cut->run.flags & SRN_PKT_V6;
	u32 trailer = (-srn_run_cut_len(cut) & 3) + SRN_ICRC_SIZE;
	struct sk_buff *skb;
	u8 *end;

	skb = srn_run_cut_packet(cut, skb_headroom(cut->skb), features & NETIF_F_SG);
	if (!skb)
		return NULL;
	((struct srn_bth *)skb->data)->flags |=
		u8_encode_bits(trailer - SRN_ICRC_SIZE, SRN_BTH_PAD);
	end = srn_xmit_trailer(skb, trailer);
	if (!end) {
		kfree_skb(skb);
		return NULL;
	}
	memset(end, 0, SRN_ICRC_SIZE);	/* the pad, of 3 bytes at most */
	put_outer(skb, cut->skb, outer, is_v6, cut->i);
	skb_copy_header(skb, cut->skb);
	skb_gso_reset(skb);
	skb->encapsulation = 0;
	skb_reset_mac_len(skb);
	return skb;
}

/* Whether the headers in front are those that the run left with. */
static bool outer_is_sound(const struct sk_buff *skb, const struct srn_run_cut *cut, u32 outer)
{
	const u8 *ip = skb->data - sizeof(struct udphdr);

	if (cut->run.flags & SRN_PKT_V6) {
		ip -= sizeof(struct ipv6hdr);
		return outer >= sizeof(struct ipv6hdr) + sizeof(struct udphdr) &&
		       ((const struct ipv6hdr *)ip)->version == 6;
	}
	ip -= sizeof(struct iphdr);
	return outer >= sizeof(struct iphdr) + sizeof(struct udphdr) && ip[0] == 0x45;
}

/* As skb_segment(): who paid for all is told when the last packet is gone. */
static void hand_over(struct sk_buff *skb, struct sk_buff *last)
{
	if (skb->destructor != sock_wfree)
		return;
	swap(last->truesize, skb->truesize);
	swap(last->destructor, skb->destructor);
	swap(last->sk, skb->sk);
}

/* Without memory those behind are lost, as on a wire. */
static struct sk_buff *segment_all(struct sk_buff *skb, struct srn_run_cut *cut, u32 outer,
				   netdev_features_t features)
{
	struct sk_buff *first = NULL, **next = &first, *last = NULL;

	do {
		*next = segment(cut, outer, features);
		if (unlikely(!*next))
			break;
		last = *next;
		next = &last->next;
	} while (srn_run_cut_next(cut));
	if (unlikely(!first))
		return ERR_PTR(-ENOMEM);
	put_icrcs(first, cut->i, cut->run.flags & SRN_PKT_V6);
	hand_over(skb, last);
	first->prev = last;
	return first;
}

/* Here the BTH is at skb->data. Others may get here with what is not ours. */
struct sk_buff *srn_run_segment(struct sk_buff *skb, netdev_features_t features)
{
	int outer = skb_tnl_header_len(skb);
	struct srn_run_cut cut __uninitialized;
	struct sk_buff *segments;

	if (!srn_run_is_type(skb) || outer <= 0 ||
	    outer > skb_headroom(skb) || !srn_run_cut_begin(&cut, skb, 0) ||
	    srn_run_cut_is_bare(&cut) || !outer_is_sound(skb, &cut, outer))
		return ERR_PTR(-EINVAL);
	local_bh_disable();
	segments = srn_run_cut_hold(&cut) ? segment_all(skb, &cut, outer, features) :
					    ERR_PTR(-ESTALE);
	srn_run_cut_release(&cut);
	local_bh_enable();
	return segments;
}
