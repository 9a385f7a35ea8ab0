// SPDX-License-Identifier: GPL-2.0-only
// As much of the kernel as the module's gate wants (parse.c, icrc.c, opcode.c, crc_fold.c), and its
// reader of SACKs (sack.c), beyond what others do: bit fields, headers of IP, and a struct sk_buff
// whose linear part is exactly as long as it says, in memory of its own, so that AddressSanitizer
// sees each byte too far.
#pragma once

#include <asm/byteorder.h>
#include <linux/in6.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <stdlib.h>

#include <share/kernel.h>

#define __packed __attribute__((packed))
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#define IPPROTO_UDP 17
#define CSUM_MANGLED_0 ((__sum16)0xffff)
#define BUILD_BUG_ON(condition) static_assert(!(condition), #condition)
#define FIELD_GET(mask, value) (((value) & (mask)) >> __builtin_ctzl(mask))

#define U8_MAX 0xff
#define cpu_to_le32 __cpu_to_le32
#define cpu_to_be32 __cpu_to_be32
#define be16_to_cpu __be16_to_cpu
#define be32_get_bits(value, field) ((u32)FIELD_GET(field, (u64)__be32_to_cpu(value)))
#define be32_to_cpu __be32_to_cpu
#define be32_encode_bits(value, field) \
  __cpu_to_be32((u32)(((u64)(value) << __builtin_ctzl(field)) & (field)))
#define ntohs __be16_to_cpu
#define __force
#define min3(a, b, c) min(min(a, b), c)
#define INET_ECN_is_ce(field) (((field)&3) == 3)

static inline u64 get_unaligned_le64(const void* p) {
  u64 value;

  memcpy(&value, p, sizeof(value));
  return value;
}

static inline void put_unaligned_le64(u64 value, void* p) { memcpy(p, &value, sizeof(value)); }

u32 crc32_le(u32 crc, const void* p, size_t len);

static inline void bitmap_zero(unsigned long* map, unsigned int bits) {
  memset(map, 0, BITS_TO_LONGS(bits) * sizeof(*map));
}

// A fragment is in one page, however long that must be.
struct page {
  u8 byte;
};

typedef struct {
  struct page* page;
  unsigned int len;
} skb_frag_t;

struct skb_shared_info {
  unsigned int nr_frags;
  skb_frag_t frags[1];
};

#define skb_frag_off(frag) ((void)(frag), 0)
#define skb_frag_size(frag) ((frag)->len)
#define kmap_local_page(page) ((void*)(page))
#define kunmap_local(va) ((void)(va))
#define skb_frag_foreach_page(frag, offset, size, to, to_off, to_len, done)                        \
  for ((to) = (frag)->page, (to_off) = (offset), (to_len) = (size), (done) = 0; (done) < (to_len); \
       (done) += (to_len))
#define skb_walk_frags(skb, part) for ((part) = NULL; (part);)

// The network header and everything from the UDP header on, of which the first bytes, head_len,
// are linear; the rest is in the fragment.
struct sk_buff {
  u8 cb[48];
  u8* data;
  unsigned int len;
  unsigned int head_len;
  u8* network;
  int network_offset;
  struct skb_shared_info info;
};

#define skb_shinfo(skb) (&(skb)->info)
#define skb_headlen(skb) ((skb)->head_len)

bool pskb_may_pull(struct sk_buff* skb, unsigned int len);
int skb_copy_bits(const struct sk_buff* skb, int offset, void* to, int len);

static inline u8* skb_network_header(const struct sk_buff* skb) { return skb->network; }
static inline int skb_network_offset(const struct sk_buff* skb) { return skb->network_offset; }
static inline struct iphdr* ip_hdr(const struct sk_buff* skb) { return (void*)skb->network; }
static inline struct ipv6hdr* ipv6_hdr(const struct sk_buff* skb) { return (void*)skb->network; }

static inline u8 ipv6_get_dsfield(const struct ipv6hdr* ip) {
  __be16 begin;

  memcpy(&begin, ip, sizeof(begin));
  return __be16_to_cpu(begin) >> 4;
}

static inline void ipv6_addr_set_v4mapped(__be32 addr, struct in6_addr* to) {
  memset(to, 0, sizeof(*to));
  memcpy((u8*)to + 12, &addr, 4);
}
