/* SPDX-License-Identifier: GPL-2.0-only */
/* Invariant CRC of RoCEv2 (annex A17.3.3): CRC-32 over the packet with its
 * mutable fields set to ones.
 */
#ifndef SRN_ICRC_H
#define SRN_ICRC_H

#include <asm/byteorder.h>
#include <linux/types.h>

struct sk_buff;

/**
 * srn_icrc_hdr() - CRC state after the pseudo LRH, IP, UDP and BTH
 * @ip: IPv4 or IPv6 header, final (lengths, id and addresses included)
 * @udp_bth: UDP header followed by the BTH, contiguous
 * @is_v6: which IP version @ip is
 *
 * Masks what routers may change: IPv4 TOS, TTL and checksum; IPv6 traffic
 * class, flow label and hop limit; the UDP checksum; BTH byte 4.
 * The IPv4 header must have no options. Any context but an interrupt's, and so it is for all
 * below that looks at a whole packet. Return: the state.
 */
u32 srn_icrc_hdr(const void *ip, const void *udp_bth, bool is_v6);

/**
 * srn_icrc_skb() - feed a part of a packet into a CRC state; only there for tests
 * @crc: state
 * @skb: linear data, page frags and frag list are all walked
 * @offset: first byte, from skb->data
 * @len: how many, at most what lies behind @offset
 *
 * Does not allocate. Any context. Return: the new state.
 */
u32 srn_icrc_skb(u32 crc, const struct sk_buff *skb, unsigned int offset, unsigned int len);

/**
 * srn_icrc_final() - what the trailer carries
 * @crc: state after the last byte of payload and pad
 */
static inline __le32 srn_icrc_final(u32 crc)
{
	return cpu_to_le32(~crc);
}

/**
 * srn_icrc_packet() - what the trailer of a whole packet is to carry
 * @skb: ends with room for the ICRC, which is not looked at
 * @ip: its IP header, as srn_icrc_hdr()
 * @udp_bth: its UDP header in linear data, as srn_icrc_hdr()
 * @is_v6: which IP version @ip is
 *
 * Where skb->data stands does not matter, in front of @udp_bth or behind. Any context.
 */
__le32 srn_icrc_packet(const struct sk_buff *skb, const void *ip, const void *udp_bth, bool is_v6);

/**
 * srn_icrc_is_good() - whether a whole packet's trailer is what it is to carry
 * @skb: ends with the ICRC
 * @ip: as srn_icrc_packet()
 * @udp_bth: as srn_icrc_packet()
 * @is_v6: as srn_icrc_packet()
 *
 * Any context. Return: false, too, where the CPU can't read it.
 */
bool srn_icrc_is_good(const struct sk_buff *skb, const void *ip, const void *udp_bth, bool is_v6);

/**
 * srn_icrc_begin() - several packets follow, in one section of the FPU
 * @len: bytes of all, more or less: 64 KiB, no more
 *
 * What is between here and srn_icrc_end() is not preempted, with PREEMPT_RT neither, which is the time of all of them,
 * not of one. It may not sleep, nor look at any packet by srn_icrc_packet() or srn_icrc_is_good(). Any context.
 * Return: what the functions below are to be told.
 */
bool srn_icrc_begin(size_t len);
void srn_icrc_end(bool section);

/** srn_icrc_has_sections() - whether this CPU has such, with which packets that are at hand take less; any context */
bool srn_icrc_has_sections(void);

/**
 * srn_icrc_place() - where a packet's ICRC is
 * @skb: ends with it; its pages can be read
 *
 * Return: NULL where its bytes are apart.
 */
void *srn_icrc_place(const struct sk_buff *skb);

/** srn_icrc_packet_in() - srn_icrc_packet() within a section */
__le32 srn_icrc_packet_in(bool section, const struct sk_buff *skb, const void *ip, const void *udp_bth,
			  bool is_v6);
/** srn_icrc_is_good_in() - srn_icrc_is_good() within a section */
bool srn_icrc_is_good_in(bool section, const struct sk_buff *skb, const void *ip, const void *udp_bth,
			 bool is_v6);

/**
 * srn_icrc_init() - choose the fastest CRC-32 of this CPU by a short measurement
 *
 * The functions above work before it, more slowly. May sleep. Return: 0 or -errno.
 */
int srn_icrc_init(void);

/** srn_icrc_exit() - undoes srn_icrc_init(); nothing above may run or be called later */
void srn_icrc_exit(void);

#endif
