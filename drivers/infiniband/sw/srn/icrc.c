// SPDX-License-Identifier: GPL-2.0-only
/* Which bytes the ICRC covers and how the mutable ones are masked. The CRC
 * itself is crc.c's.
 */
#include "crc.h"
#include "front.h"
#include "icrc.h"
#include "wire.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <linux/unaligned.h>

/* Offset of the byte that holds FECN, BECN and reserved bits: switches set them. */
#define BTH_RESV8A	offsetof(struct srn_bth, dqpn)

/* The BTH, behind a UDP header. */
static void mask_bth(u8 *to, const void *udp_bth)
{
	memcpy(to, udp_bth + sizeof(struct udphdr), sizeof(struct srn_bth));
	to[BTH_RESV8A] = 0xff;
}

u32 srn_icrc_hdr(const void *ip, const void *udp_bth, bool is_v6)
{
	u8 bth[sizeof(struct srn_bth)];

	mask_bth(bth, udp_bth);
	return srn_crc32(srn_front_crc(ip, udp_bth, is_v6), bth, sizeof(bth));
}
EXPORT_SYMBOL_IF_KUNIT(srn_icrc_hdr);

/* Of a packet's pieces. */
struct sum {
	struct srn_crc crc;
	bool section;	/* of the FPU: what was fed may be in its registers */
};

static void add(struct sum *sum, const void *p, size_t len)
{
	if (sum->section)
		srn_crc32_add(&sum->crc, p, len);
	else
		sum->crc.state = srn_crc32(sum->crc.state, p, len);
}

static u32 state_of(struct sum *sum)
{
	return sum->section ? srn_crc32_state(&sum->crc) : sum->crc.state;
}

static void add_skb(struct sum *sum, const struct sk_buff *skb, u32 from, u32 len)
{
	const skb_frag_t *frag = skb_shinfo(skb)->frags, *end = frag + skb_shinfo(skb)->nr_frags;
	u32 here = skb_headlen(skb);
	const struct sk_buff *part;

	if (from < here) {
		here = min(len, here - from);
		add(sum, skb->data + from, here);
		len -= here;
		from = 0;
	} else {
		from -= here;
	}
	for (; len && frag < end; frag++) {
		here = skb_frag_size(frag);
		if (from >= here) {
			from -= here;
			continue;
		}
		here = min(len, here - from);
		/* Each page has an address (mem.h). */
		add(sum, skb_frag_address(frag) + from, here);
		len -= here;
		from = 0;
	}
	if (likely(!len))
		return;

	/* One level of recursion: a frag list's members have none of their own. */
	for (part = skb_shinfo(skb)->frag_list; part && len; part = part->next) {
		if (from >= part->len) {
			from -= part->len;
			continue;
		}
		here = min(len, part->len - from);
		add_skb(sum, part, from, here);
		len -= here;
		from = 0;
	}
}

#if IS_ENABLED(CONFIG_KUNIT)
u32 srn_icrc_skb(u32 crc, const struct sk_buff *skb, unsigned int offset, unsigned int len)
{
	struct sum sum = { .crc.state = crc };

	add_skb(&sum, skb, offset, len);
	return sum.crc.state;
}
EXPORT_SYMBOL_IF_KUNIT(srn_icrc_skb);
#endif

/* Whole lanes of 16 bytes are fed for less. Zeros do not change a state of 0, and the first four bytes of
 * the LRH, which ~0 makes zeros, are such. So the masked headers, and as much of what stands behind them
 * as leaves whole lanes of the rest that is linear, end where a lane does.
 */
#define LANE		16
#define LRH_LEFT	4
#define UDP_BTH		(sizeof(struct udphdr) + sizeof(struct srn_bth))
#define FRONT_MAX	(LRH_LEFT + sizeof(struct srn_front) + sizeof(struct srn_bth) + LANE)

/* Returns how many bytes are behind @ip's headers in it. */
static u32 add_front(struct sum *sum, const void *ip, const void *udp_bth, bool is_v6, u32 linear)
{
	u32 more = linear % LANE;
	struct srn_front masked __uninitialized;
	u32 front_len = srn_front_mask(&masked, ip, udp_bth, is_v6);
	u32 len = LRH_LEFT + front_len + sizeof(struct srn_bth) + more;
	u8 front[round_up(FRONT_MAX, LANE)] __uninitialized, *end = front + round_up(len, LANE);
	u8 *at = end - len;

	memset(front, 0, LANE);		/* the most that is in front of them */
	memset(at, 0xff, LRH_LEFT);
	at += LRH_LEFT;
	/* Not @front_len: of a length that it knows the compiler copies words. */
	memcpy(at, &masked, is_v6 ? SRN_FRONT_V6 : SRN_FRONT_V4);
	mask_bth(at + front_len, udp_bth);
	if (more)
		memcpy(end - more, udp_bth + UDP_BTH, more);
	srn_crc32_add(&sum->crc, front, end - front);
	return more;
}

/* BTH and what is behind it, where that is in one piece and short: fed at once it is whole words but for the last. */
#define SHORT		64

static u32 short_state(const void *ip, const void *udp_bth, bool is_v6, u32 len)
{
	u64 words[SHORT / sizeof(u64)] __uninitialized;
	u8 *bytes = (u8 *)words;

	memcpy(bytes, udp_bth + sizeof(struct udphdr), len);
	bytes[BTH_RESV8A] = 0xff;
	return srn_crc32(srn_front_crc(ip, udp_bth, is_v6), bytes, len);
}

bool srn_icrc_has_sections(void)
{
	return srn_crc32_has_sections();
}

bool srn_icrc_begin(size_t len)
{
	return srn_crc32_begin(len);
}
EXPORT_SYMBOL_IF_KUNIT(srn_icrc_begin);

void srn_icrc_end(bool section)
{
	if (section)
		srn_crc32_end();
}
EXPORT_SYMBOL_IF_KUNIT(srn_icrc_end);

__le32 srn_icrc_packet_in(bool section, const struct sk_buff *skb, const void *ip, const void *udp_bth,
			  bool is_v6)
{
	u32 from = (const u8 *)udp_bth - skb->data + UDP_BTH, end = skb->len - SRN_ICRC_SIZE;
	u32 linear = min(end, skb_headlen(skb)), whole = sizeof(struct srn_bth) + end - from;
	struct sum sum = { .section = section };

	if (!section && linear == end && whole <= SHORT)
		return srn_icrc_final(short_state(ip, udp_bth, is_v6, whole));
	if (section)
		from += add_front(&sum, ip, udp_bth, is_v6, linear > from ? linear - from : 0);
	else
		sum.crc.state = srn_icrc_hdr(ip, udp_bth, is_v6);
	add_skb(&sum, skb, from, end - from);
	return srn_icrc_final(state_of(&sum));
}
EXPORT_SYMBOL_IF_KUNIT(srn_icrc_packet_in);

void *srn_icrc_place(const struct sk_buff *skb)
{
	const struct skb_shared_info *info = skb_shinfo(skb);
	const skb_frag_t *last;

	if (!skb_is_nonlinear(skb))
		return skb_tail_pointer(skb) - SRN_ICRC_SIZE;
	if (skb_has_frag_list(skb))
		return NULL;
	last = &info->frags[info->nr_frags - 1];
	if (skb_frag_size(last) < SRN_ICRC_SIZE)
		return NULL;
	return skb_frag_address(last) + skb_frag_size(last) - SRN_ICRC_SIZE;
}

/* What lies in a device's own memory (a queue that is bound to some) the CPU has no address of. */
static bool is_readable(const struct sk_buff *skb)
{
	const struct sk_buff *part;

	if (unlikely(!skb_frags_readable(skb)))
		return false;
	for (part = skb_shinfo(skb)->frag_list; unlikely(part); part = part->next)
		if (!skb_frags_readable(part))
			return false;
	return true;
}

bool srn_icrc_is_good_in(bool section, const struct sk_buff *skb, const void *ip, const void *udp_bth,
			 bool is_v6)
{
	const void *at;
	__le32 got;

	if (!is_readable(skb))
		return false;
	at = srn_icrc_place(skb);
	if (likely(at))
		memcpy(&got, at, sizeof(got));
	else if (skb_copy_bits(skb, skb->len - SRN_ICRC_SIZE, &got, sizeof(got)))
		return false;
	return srn_icrc_packet_in(section, skb, ip, udp_bth, is_v6) == got;
}
EXPORT_SYMBOL_IF_KUNIT(srn_icrc_is_good_in);

__le32 srn_icrc_packet(const struct sk_buff *skb, const void *ip, const void *udp_bth, bool is_v6)
{
	bool section = srn_icrc_begin(skb->len);
	__le32 icrc = srn_icrc_packet_in(section, skb, ip, udp_bth, is_v6);

	srn_icrc_end(section);
	return icrc;
}
EXPORT_SYMBOL_IF_KUNIT(srn_icrc_packet);

bool srn_icrc_is_good(const struct sk_buff *skb, const void *ip, const void *udp_bth, bool is_v6)
{
	bool section = srn_icrc_begin(skb->len);
	bool good = srn_icrc_is_good_in(section, skb, ip, udp_bth, is_v6);

	srn_icrc_end(section);
	return good;
}
EXPORT_SYMBOL_IF_KUNIT(srn_icrc_is_good);

int srn_icrc_init(void)
{
	int ret = srn_front_init();

	if (ret)
		return ret;
	ret = srn_crc32_init();
	if (ret)
		srn_front_exit();
	return ret;
}

void srn_icrc_exit(void)
{
	srn_crc32_exit();
	srn_front_exit();
}
