/* SPDX-License-Identifier: GPL-2.0-only */
/* What the ICRC says of the IP and UDP headers in front of a packet. A queue pair's packets of one length
 * have the same, but for what is masked, so each CPU knows some that it has met, by all of their bytes.
 */
#ifndef SRN_FRONT_H
#define SRN_FRONT_H

#include <asm/byteorder.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/udp.h>
#include <linux/unaligned.h>

#define SRN_FRONT_V4	(sizeof(struct iphdr) + sizeof(struct udphdr))
#define SRN_FRONT_V6	(sizeof(struct ipv6hdr) + sizeof(struct udphdr))

/* Masked, as they stand in the packet, one behind the other. IPv4 has three and a half words: zeros follow in the
 * fourth, and the last two are not there.
 */
struct srn_front {
	u64 words[6];
};

static_assert(SRN_FRONT_V4 == 28);
static_assert(SRN_FRONT_V6 == sizeof(struct srn_front));

static inline u64 srn_front_word(const void *p, u64 mask)
{
	return get_unaligned((const u64 *)p) | (__force u64)cpu_to_be64(mask);
}

/* TOS; TTL and checksum; the UDP checksum. */
static inline void srn_front_mask_v4(struct srn_front *to, const u8 *ip, const u8 *udp)
{
	to->words[0] = srn_front_word(ip, 0x00ff000000000000);
	to->words[1] = srn_front_word(ip + 8, 0xff00ffff00000000);
	to->words[2] = (__force u64)cpu_to_be64((u64)get_unaligned_be32(ip + 16) << 32 |
						get_unaligned_be32(udp));
	to->words[3] = (__force u64)cpu_to_be64((u64)(get_unaligned_be32(udp + 4) | 0xffff) << 32);
}

/* Traffic class and flow label; hop limit; the UDP checksum. */
static inline void srn_front_mask_v6(struct srn_front *to, const u8 *ip, const u8 *udp)
{
	to->words[0] = srn_front_word(ip, 0x0fffffff000000ff);
	to->words[1] = srn_front_word(ip + 8, 0);
	to->words[2] = srn_front_word(ip + 16, 0);
	to->words[3] = srn_front_word(ip + 24, 0);
	to->words[4] = srn_front_word(ip + 32, 0);
	to->words[5] = srn_front_word(udp, 0xffff);
}

/**
 * srn_front_mask() - the headers, with ones in what routers may change
 * @to: result
 * @ip: as srn_icrc_hdr()
 * @udp: the UDP header, at any address
 * @is_v6: which IP version @ip is
 *
 * Return: how many bytes they are.
 */
static inline u32 srn_front_mask(struct srn_front *to, const void *ip, const void *udp, bool is_v6)
{
	if (is_v6) {
		srn_front_mask_v6(to, ip, udp);
		return SRN_FRONT_V6;
	}
	srn_front_mask_v4(to, ip, udp);
	return SRN_FRONT_V4;
}

/**
 * srn_front_crc() - CRC state after the pseudo LRH, IP and UDP
 * @ip: as srn_icrc_hdr()
 * @udp: the UDP header, at any address
 * @is_v6: which IP version @ip is
 *
 * Any context but an interrupt's; with BH enabled nothing is looked up. Return: the state.
 */
u32 srn_front_crc(const void *ip, const void *udp, bool is_v6);

/**
 * srn_front_init() - have something to know them by; without it all works, more slowly
 *
 * May sleep. Return: 0 or -ENOMEM.
 */
int srn_front_init(void);
/** srn_front_exit() - nobody may be in srn_front_crc(), nor come later */
void srn_front_exit(void);

#endif
