// SPDX-License-Identifier: GPL-2.0-only
/* Which bytes the ICRC covers and how the mutable ones are masked. The CRC
 * itself is crc.c's.
 */
#include "crc.h"
#include "icrc.h"
#include "wire.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/highmem.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/udp.h>

/* State after ~0 was fed the eight 0xff bytes that stand for the LRH. */
#define CRC_AFTER_LRH	0xdebb20e3u

/* Offset of the byte that holds FECN, BECN and reserved bits: switches set them. */
#define BTH_RESV8A	offsetof(struct srn_bth, dqpn)

struct udp_bth {
	struct udphdr udp;
	struct srn_bth bth;
};

static void mask_udp_bth(struct udp_bth *to, const void *from)
{
	memcpy(to, from, sizeof(*to));
	to->udp.check = CSUM_MANGLED_0;
	((u8 *)&to->bth)[BTH_RESV8A] = 0xff;
}

static u32 hdr_v4(const void *ip, const void *udp_bth)
{
	struct {
		struct iphdr ip;
		struct udp_bth rest;
	} masked;

	static_assert(sizeof(masked) == 40);
	memcpy(&masked.ip, ip, sizeof(masked.ip));
	masked.ip.tos = 0xff;
	masked.ip.ttl = 0xff;
	masked.ip.check = CSUM_MANGLED_0;
	mask_udp_bth(&masked.rest, udp_bth);
	return srn_crc32(CRC_AFTER_LRH, &masked, sizeof(masked));
}

static u32 hdr_v6(const void *ip, const void *udp_bth)
{
	struct {
		struct ipv6hdr ip;
		struct udp_bth rest;
	} masked;

	static_assert(sizeof(masked) == 60);
	memcpy(&masked.ip, ip, sizeof(masked.ip));
	/* All of the first word but the version. */
	*(__be32 *)&masked.ip |= cpu_to_be32(0x0fffffff);
	masked.ip.hop_limit = 0xff;
	mask_udp_bth(&masked.rest, udp_bth);
	return srn_crc32(CRC_AFTER_LRH, &masked, sizeof(masked));
}

u32 srn_icrc_hdr(const void *ip, const void *udp_bth, bool is_v6)
{
	return is_v6 ? hdr_v6(ip, udp_bth) : hdr_v4(ip, udp_bth);
}
EXPORT_SYMBOL_IF_KUNIT(srn_icrc_hdr);

u32 srn_icrc_update(u32 crc, const void *p, size_t len)
{
	return srn_crc32(crc, p, len);
}
EXPORT_SYMBOL_IF_KUNIT(srn_icrc_update);

/* Pages of user memory may be anywhere, hence kmap_local. */
static u32 crc_frag(u32 crc, const skb_frag_t *frag, unsigned int offset, unsigned int len)
{
	struct page *page;
	u32 page_off, page_len, done;
	void *va;

	skb_frag_foreach_page(frag, skb_frag_off(frag) + offset, len,
			      page, page_off, page_len, done) {
		va = kmap_local_page(page);
		crc = srn_crc32(crc, va + page_off, page_len);
		kunmap_local(va);
	}
	return crc;
}

/* A piece of the packet that starts at @start and has @size bytes: how much of
 * it the window [*offset, *offset + *len) begins with. Moves the window past it.
 */
static unsigned int take(unsigned int start, unsigned int size,
			 unsigned int *offset, unsigned int *len, unsigned int *skip)
{
	unsigned int n;

	if (!*len || *offset >= start + size)
		return 0;
	*skip = *offset - start;
	n = min(*len, size - *skip);
	*offset += n;
	*len -= n;
	return n;
}

u32 srn_icrc_skb(u32 crc, const struct sk_buff *skb, unsigned int offset, unsigned int len)
{
	const struct skb_shared_info *info = skb_shinfo(skb);
	unsigned int start = skb_headlen(skb);
	const struct sk_buff *part;
	unsigned int n, skip, i;

	n = take(0, start, &offset, &len, &skip);
	if (n)
		crc = srn_crc32(crc, skb->data + skip, n);

	for (i = 0; len && i < info->nr_frags; i++) {
		const skb_frag_t *frag = &info->frags[i];

		n = take(start, skb_frag_size(frag), &offset, &len, &skip);
		if (n)
			crc = crc_frag(crc, frag, skip, n);
		start += skb_frag_size(frag);
	}

	/* One level of recursion: a frag list's members have none of their own. */
	skb_walk_frags(skb, part) {
		n = take(start, part->len, &offset, &len, &skip);
		if (n)
			crc = srn_icrc_skb(crc, part, skip, n);
		start += part->len;
	}
	return crc;
}
EXPORT_SYMBOL_IF_KUNIT(srn_icrc_skb);

__le32 srn_icrc_packet(const struct sk_buff *skb, const void *ip, const void *udp_bth, bool is_v6)
{
	int from = (const u8 *)udp_bth - skb->data + sizeof(struct udphdr) + sizeof(struct srn_bth);
	u32 crc = srn_icrc_hdr(ip, udp_bth, is_v6);

	return srn_icrc_final(srn_icrc_skb(crc, skb, from, skb->len - from - SRN_ICRC_SIZE));
}

int srn_icrc_init(void)
{
	return srn_crc32_init();
}

void srn_icrc_exit(void)
{
	srn_crc32_exit();
}
